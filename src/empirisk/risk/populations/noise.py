"""How y scatters about the regression function: Y = f(x) + scale(x) e, E e = 0.

The scale is a number, or a function of X where the noise is heteroscedastic.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import stats
from scipy.special import gammaln
from sklearn.utils.validation import _num_samples

from empirisk.losses import Absolute, Loss, Quantile, Squared
from empirisk.risk.populations.features import as_rows
from empirisk.runtime.arrays import Array, Floats
from empirisk.runtime.errors import ParameterError
from empirisk.runtime.scalars import is_number, real_numbers

Scale = float | Callable[[Any], Any]


class Noise:
    """Noise of any distribution with a mean, which is moved to 0.

    Parameters
    ----------
    law : frozen distribution of `scipy.stats`
        Of e.
    scale : float or callable
        A number, or a function from X of shape (n, p) to n numbers >= 0.

    Examples
    --------
    >>> waiting = Noise(stats.expon(), scale=2.0)
    >>> waiting.variance(np.zeros((3, 1)))
    array([4., 4., 4.])
    """

    def __init__(self, law: Any, scale: Scale = 1.0) -> None:
        if not hasattr(law, "mean"):
            raise ParameterError(
                f"law is {law!r:.60}; give a frozen distribution such as scipy.stats.expon()"
            )
        mean = float(law.mean())
        if not np.isfinite(mean):
            raise ParameterError(
                "the noise has no finite mean, so there is no regression function: give a "
                "distribution that has one"
            )
        if not callable(scale) and not (is_number(scale) and scale >= 0):
            raise ParameterError(
                f"scale is {scale!r:.60}; it must be a number >= 0 or a function of X"
            )
        self.law = law
        self.centre = mean
        self.scale = scale

    @property
    def is_constant(self) -> bool:
        """Whether the noise is the same at all x: homoscedastic."""
        return not callable(self.scale)

    def scale_at(self, X: Any) -> Floats:
        """The scale at each row of X."""
        if not callable(self.scale):
            return np.full(_num_samples(X), float(self.scale))
        scale = real_numbers(self.scale(as_rows(X)), "what scale gives")
        if scale.shape != (_num_samples(X),) or not (np.isfinite(scale) & (scale >= 0)).all():
            raise ParameterError(
                f"scale(X) gave an array of shape {scale.shape} for {_num_samples(X)} rows; "
                "wanted one finite number >= 0 for each row"
            )
        return scale

    def draw(self, X: Any, rng: np.random.Generator) -> Floats:
        """One draw for each row of X."""
        return self.scale_at(X) * (self.draw_law(_num_samples(X), rng) - self.centre)

    def draw_law(self, n: int, rng: np.random.Generator) -> Floats:
        """n draws of e, before it is centred."""
        return self.law.rvs(size=n, random_state=rng)

    def variance(self, X: Any) -> Floats:
        """Var(Y | x), infinite where the tails are so heavy."""
        scale = self.scale_at(X)
        with np.errstate(over="ignore", invalid="ignore"):
            return np.where(scale > 0, scale * (scale * float(self.law.var())), 0.0)

    def quantile(self, X: Any, q: float) -> Floats:
        """The q-quantile of Y - f(x)."""
        return self.scale_at(X) * (float(self.law.ppf(q)) - self.centre)

    def expected_loss(self, X: Any, error: Array, loss: Loss) -> Floats | None:
        """E[L(Y, f(x) + error) | x] in closed form; None where there is none."""
        if isinstance(loss, Squared):
            with np.errstate(over="ignore"):
                return self.variance(X) + np.square(error)
        if isinstance(loss, Absolute):
            half = self._pinball(X, error, 0.5)
            return None if half is None else 2 * half
        return self._pinball(X, error, loss.q) if isinstance(loss, Quantile) else None

    def _pinball(self, X: Any, error: Array, q: float) -> Floats | None:
        """E max(q r, (q - 1) r), r = e - t: with F and m(t) = E[e; e <= t], t (F(t) - q) - m(t)."""
        scale = self.scale_at(X)
        with np.errstate(divide="ignore", over="ignore"):  # without noise t is infinite
            t = np.divide(error, scale, out=np.zeros(len(scale)), where=(scale > 0) | (error != 0))
        below = self.mean_below(t)
        if below is None:
            return None
        return error * (self.law.cdf(t + self.centre) - q) - scale * below

    def mean_below(self, t: Array) -> Floats | None:
        """m(t) = E[e; e <= t]; None where no formula is known."""
        return None


class Normal(Noise):
    """Gaussian noise; `scale` is its standard deviation.

    Examples
    --------
    >>> Normal(lambda X: X[:, 0]).variance(np.array([[1.0], [3.0]]))
    array([1., 9.])
    """

    def __init__(self, scale: Scale = 1.0) -> None:
        super().__init__(stats.norm(), scale)

    def draw_law(self, n: int, rng: np.random.Generator) -> Floats:
        return rng.standard_normal(n)

    def mean_below(self, t: Array) -> Floats:
        """-phi(t)."""
        return -stats.norm.pdf(t)


class Laplace(Noise):
    """Density exp(-|e|) / 2; its variance is 2 scale^2.

    Examples
    --------
    >>> Laplace(3.0).variance(np.zeros((2, 1)))
    array([18., 18.])
    """

    def __init__(self, scale: Scale = 1.0) -> None:
        super().__init__(stats.laplace(), scale)

    def mean_below(self, t: Array) -> Floats:
        """-(1 + |t|) exp(-|t|) / 2."""
        size = np.minimum(np.abs(t), 1e3)  # exp(-1000) is 0
        return -0.5 * (1 + size) * np.exp(-size)


class StudentT(Noise):
    """Heavy tails: Student's t with df > 1 degrees of freedom.

    Its variance is scale^2 df / (df - 2), infinite for df <= 2.

    Examples
    --------
    >>> StudentT(3).variance(np.zeros((1, 1))), StudentT(2).variance(np.zeros((1, 1)))
    (array([3.]), array([inf]))
    """

    def __init__(self, df: float, scale: Scale = 1.0) -> None:
        if not (is_number(df) and df > 1):
            raise ParameterError(
                f"df is {df!r}; Student's t has a mean, and y a regression function, for df > 1"
            )
        super().__init__(stats.t(float(df)), scale)
        self.df = df

    def mean_below(self, t: Array) -> Floats:
        """-c (1 + t^2/df)^(-(df - 1)/2) df / (df - 1), c the density at 0."""
        df = self.df
        log_density = gammaln((df + 1) / 2) - gammaln(df / 2) - 0.5 * np.log(df * np.pi)
        with np.errstate(over="ignore"):
            tail = (1 + np.square(t / np.sqrt(df))) ** (-(df - 1) / 2)
        return -np.exp(log_density) * df / (df - 1) * tail


def as_noise(noise: Noise | Scale) -> Noise:
    """The noise itself; a number or a function is the standard deviation of Gaussian noise."""
    return noise if isinstance(noise, Noise) else Normal(noise)
