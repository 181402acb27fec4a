"""How much too good the training error is: the expected optimism, as a covariance penalty.

With new outcomes Y' at the same rows x_i, the in-sample error of a fit exceeds its training error
on average by the optimism, which for the squared loss is

    (2/n) sum_i cov(y_i, prediction_i)  =  2 sigma^2 df / n,

df the effective degrees of freedom: for prediction = H y the trace of H (Efron 2004, Ye 1998).
For a loss L of classes it is  -(1/n) sum_i sum_k cov(1{y_i = k}, L(k, prediction_i)).
"""

from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Literal

import numpy as np

from empirisk.charts.intervals import draw_intervals
from empirisk.losses import Loss
from empirisk.risk.estimate import RiskEstimate
from empirisk.risk.foreign import share_out
from empirisk.risk.learner import learner_of
from empirisk.risk.penalties.linear_smoothers import known_freedom
from empirisk.risk.penalties.noise_model import (
    GaussianNoise,
    NoiseModel,
    Resampling,
    as_copies,
    noise_model,
)
from empirisk.risk.penalties.training_error import FIXED_ROWS, TrainingFit, fitted_values
from empirisk.risk.problem import Problem
from empirisk.runtime.arrays import Array
from empirisk.runtime.digits import few_digits
from empirisk.runtime.errors import DataError, ParameterError
from empirisk.runtime.progress import track
from empirisk.runtime.scalars import is_number, is_whole
from empirisk.runtime.streams import generator, settled

Method = Literal["auto", "closed_form", "bootstrap"]


@dataclass(frozen=True, eq=False)
class Optimism:
    """The expected optimism of a learner at the rows it was fitted to.

    Attributes
    ----------
    value : float
        The mean in-sample error less the training error.
    standard_error : float
        Monte Carlo error of `value`; 0 in closed form.
    degrees_of_freedom : float or None
        n value / (2 sigma^2) for the squared loss, n value for the log loss; None for others, and
        where there is no noise.
    noise_variance : float or None
        sigma^2; None for classes.
    training, in_sample : RiskEstimate
        The training error, and with the optimism added to it.
    method, reason : str

    Examples
    --------
    >>> import numpy as np
    >>> from empirisk import LinearRegression, risk
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(40, 3))
    >>> found = risk.optimism(LinearRegression(), X, X[:, 0] + rng.normal(size=40))
    >>> round(found.degrees_of_freedom, 6), round(found.value, 3)
    (4.0, 0.183)
    >>> round(found.in_sample.value - found.training.value, 3)
    0.183
    """

    value: float
    standard_error: float
    degrees_of_freedom: float | None
    noise_variance: float | None
    training: RiskEstimate
    in_sample: RiskEstimate
    method: str
    reason: str

    @property
    def sentence(self) -> str:
        """The numbers in words."""
        error = f" ± {few_digits(self.standard_error, 2)}" if self.standard_error else ""
        text = (
            f"The {self.training.loss} training error {self.training.value:.4g} is too good by "
            f"{self.value:.4g}{error}: with new outcomes at the same rows expect "
            f"{self.in_sample.value:.4g}"
        )
        if self.degrees_of_freedom is not None:
            text += f" ({self.degrees_of_freedom:.4g} effective degrees of freedom"
            noise = self.noise_variance
            text += ")" if noise is None else f", noise of variance {noise:.4g})"
        return f"{text}. {self.method.capitalize()}: {self.reason}."

    def __str__(self) -> str:
        return self.sentence

    def __float__(self) -> float:
        return self.value

    def plot(self, ax: Any = None) -> Any:
        """Training and in-sample error beside each other."""
        values = [self.training.value, self.in_sample.value]
        names = ["training", "in-sample"]
        label = f"{self.training.loss} risk"
        return draw_intervals(names, values, [None, None], label=label, ax=ax)


def optimism(
    learner: Any,
    X: Any,
    y: Any,
    *,
    loss: Loss | str | None = None,
    method: Method = "auto",
    noise_variance: float | None = None,
    n_resamples: int = 200,
    sample_weight: Any = None,
    n_jobs: int | None = None,
    random_state: Any = None,
) -> Optimism:
    """The expected optimism of the training error, and the in-sample error.

    The rows x_i are taken as fixed and the outcomes as independent given them. Under
    the squared loss in closed form for learners that are linear in y (see `hat_matrix`; up to 1,000
    rows of those that do not tell their degrees of freedom, 300 if they take one outcome at a
    time), and for the lasso, the elastic net and coefficients held at 0 or more, whose degrees of
    freedom are those of the columns in use (Zou, Hastie and Tibshirani 2007); for all others by
    drawing new outcomes around out-of-fold predictions and fitting again.

    Parameters
    ----------
    learner : estimator, ours or not
    X, y : the training rows
    loss : Loss or str, optional
        Any; the one at which the learner aims (`own_loss`), else "squared" for a regressor and
        "zero_one" for a classifier, unless given.
    method : {"auto", "closed_form", "bootstrap"}
    noise_variance : float, optional
        sigma^2 of a regression. Unless given it is the residual sum of squares over n - df in
        closed form; else the mean square of out-of-fold residuals, which is no less than the noise
        and makes the penalty a careful one.
    n_resamples : int
        Draws of new outcomes.
    sample_weight : array, optional
        A row of weight w counts as w copies, so n is their sum.
    n_jobs, random_state

    Examples
    --------
    >>> import numpy as np
    >>> from empirisk import LinearRegression
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(40, 3))
    >>> y = X[:, 0] + rng.normal(size=40)
    >>> print(optimism(LinearRegression(), X, y))
    The squared training error 0.8249 is too good by 0.1833: with new outcomes at the same rows
    expect 1.008 (4 effective degrees of freedom, noise of variance 0.9166). Closed form:
    2 s^2 df/n, s^2 from the residuals.
    """
    if method not in ("auto", "closed_form", "bootstrap"):
        raise ParameterError(f"method is {method!r}; choose 'auto', 'closed_form' or 'bootstrap'")
    problem = Problem.of(learner, X, y, loss=loss, sample_weight=sample_weight)
    resampling = Resampling(n_resamples, n_jobs, settled(random_state))
    return optimism_of(learner, problem, method, noise_variance, resampling)


def effective_degrees_of_freedom(learner: Any, X: Any, y: Any, **options: Any) -> float:
    """sum_i cov(y_i, prediction_i) / sigma^2: the trace of the hat matrix of a linear learner.

    Of a classifier it is n times the optimism of the log loss, which for a likelihood that was
    maximised counts the parameters.

    Parameters
    ----------
    learner, X, y, **options
        As in `optimism`.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.neighbors import KNeighborsRegressor
    >>> X, y = np.arange(10.0)[:, None], np.arange(10.0) ** 2
    >>> effective_degrees_of_freedom(KNeighborsRegressor(2), X, y)
    5.0
    """
    found = optimism(learner, X, y, **options).degrees_of_freedom
    if found is None:
        raise ParameterError(
            "degrees of freedom are those of the squared loss (of outcomes with some noise) or of "
            "the log loss: give loss='squared' or loss='log'"
        )
    return found


def check_noise(noise_variance: float | None) -> None:
    """Raise a ParameterError unless it is a variance, or not given."""
    if noise_variance is not None and not (is_number(noise_variance) and noise_variance >= 0):
        raise ParameterError(f"noise_variance is {noise_variance!r}; give a number >= 0")


def optimism_of(
    learner: Any,
    problem: Problem,
    method: Method,
    noise_variance: float | None,
    resampling: Resampling,
) -> Optimism:
    """`optimism` of a problem that was checked."""
    if problem.target is None or problem.target.ndim > 1:
        raise DataError("optimism is that of predictions of one outcome: give y with one column")
    if not is_whole(resampling.n, 2):
        raise ParameterError(f"n_resamples is {resampling.n!r}; 2 or more are needed")
    check_noise(noise_variance)
    squared = problem.loss.name == "squared"
    freedom = known_freedom(learner, problem) if squared and method != "bootstrap" else None
    if freedom is not None:
        return _closed_form(learner, problem, freedom, noise_variance, resampling)
    if method == "closed_form":
        raise ParameterError(
            f"no closed form is known for {type(learner_of(learner)).__name__} and the "
            f"{problem.loss} loss: take method='bootstrap'"
        )
    problem = problem if squared else as_copies(problem)
    return _bootstrapped(learner, problem, noise_variance, resampling)


def _closed_form(
    learner: Any,
    problem: Problem,
    freedom: float,
    noise_variance: float | None,
    resampling: Resampling,
) -> Optimism:
    """2 sigma^2 df / n."""
    fit = TrainingFit.of(learner, problem, resampling.seed)
    source = "as given"
    if noise_variance is None:
        noise_variance, source = _residual_variance(learner, fit, freedom, resampling)
    value = 2 * noise_variance * freedom / fit.n
    reason = f"2 s^2 df/n, s^2 {source}"
    return _result(fit, value, 0.0, freedom, noise_variance, "closed form", reason)


def _residual_variance(
    learner: Any, fit: TrainingFit, freedom: float, resampling: Resampling
) -> tuple[float, str]:
    if fit.n - freedom >= 1:
        return fit.error * fit.n / (fit.n - freedom), "from the residuals"
    noise = noise_model(learner, fit.problem, None, resampling)
    assert isinstance(noise, GaussianNoise)
    return noise.variance, "from out-of-fold residuals, since the fit leaves none"


def _bootstrapped(
    learner: Any,
    problem: Problem,
    noise_variance: float | None,
    resampling: Resampling,
) -> Optimism:
    """The mean over draws of new outcomes."""
    fit = TrainingFit.of(learner, problem, resampling.seed)
    noise = noise_model(learner, problem, noise_variance, resampling)
    work = partial(_drawn_optimism, learner, problem, noise, fit.prediction)
    seeds = track(resampling.draws(), "resamples")
    gaps = np.array(share_out(work, seeds, n_jobs=resampling.n_jobs))
    size = float(np.abs(gaps).max()) or 1.0  # squares of y may be too large to be squared again
    value = float(gaps.mean())
    error = size * float((gaps / size).std(ddof=1)) / np.sqrt(resampling.n)
    variance = noise.variance if isinstance(noise, GaussianNoise) else None
    freedom = _freedom(problem.loss, fit.n, value, variance)
    reason = f"{resampling.n} draws of new outcomes around out-of-fold predictions, each fitted"
    return _result(fit, value, error, freedom, variance, "parametric bootstrap", reason)


def _drawn_optimism(
    learner: Any, problem: Problem, noise: NoiseModel, start: Array, seed: int
) -> float:
    rng = generator(seed)
    y = noise.draw(rng)
    labels = y if problem.classes is None else problem.classes[y]
    prediction = fitted_values(learner, replace(problem, y=labels, target=y), seed)
    of_rows = noise.optimism(problem.loss, y, prediction, start, rng)
    return float(np.average(of_rows, weights=problem.weight))


def _freedom(loss: Loss, n: float, value: float, variance: float | None) -> float | None:
    if loss.name == "log":
        return n * value
    if loss.name != "squared" or not variance:
        return None
    return n * value / (2 * variance)


def _result(
    fit: TrainingFit,
    value: float,
    error: float,
    freedom: float | None,
    variance: float | None,
    method: str,
    reason: str,
) -> Optimism:
    in_sample = fit.estimate(value, method, FIXED_ROWS)
    return Optimism(value, error, freedom, variance, fit.training(), in_sample, method, reason)
