"""A learning curve carried on as an inverse power law, R(n) = a + b n^-c.

a is the risk of the learner with all the data in the world, b n^-c what its training set costs it
(c = 1 for a parametric model near its limit). Fitted by generalised least squares with
a >= the least loss there can be and b >= 0,

    minimise  r' V^-1 r + (log(c / 0.7) / 0.7)^2,     r = risks less the law,

where V is the covariance of the risks plus (1 % of the risk)^2 for what the law itself misses, and
the second term favours a little the exponents that are common. The band comes from risks drawn with
that V and exponents drawn with that scatter, each fitted again. The law is refused where the risks
depart from it by more than the draws do; the smallest sizes are given up first, since near them
other laws hold.
"""

from dataclasses import dataclass, replace
from typing import Any, Literal, NamedTuple

import numpy as np
from scipy.linalg import cholesky, solve_triangular

from empirisk.risk.estimate import RiskEstimate
from empirisk.risk.fingerprints import digest
from empirisk.runtime.arrays import Floats
from empirisk.runtime.errors import DataError, ParameterError
from empirisk.runtime.streams import generator, spawn

EXPONENTS = np.geomspace(0.05, 4, 150)
COMMON, SCATTER = 0.7, 0.7
"""The exponents that are favoured: log c has this centre and this spread."""
APPROXIMATE = 0.01
"""The law holds to this share of the risk."""
LEAST_SIZES = 4
LEAST_RATIO = 2.0
REFUSED = 0.01
"""Share of draws that depart from the law as far as the risks, below which it is refused."""
TINY = 1e-16
WORTHWHILE = 0.03
"""A fall of the risk by this share, if the rows are doubled, is worth gathering them."""


class PowerLaw(NamedTuple):
    """a + b (n / unit)^-c, one of each for every curve that was fitted."""

    a: Floats
    b: Floats
    c: Floats
    unit: float

    def at(self, n: Any) -> Floats:
        """Risks (curves, sizes); the limit at n = infinity."""
        share = (np.asarray(n, dtype=float) / self.unit)[None]
        return self.a[:, None] + self.b[:, None] * share ** -self.c[:, None]


@dataclass(frozen=True, eq=False)
class Extrapolation:
    """What a learning curve says of training sets that are not there yet.

    Attributes
    ----------
    a, b, c : float
        R(n) = a + b n^-c.
    n : int
        The rows there are.
    sizes : array
        Those that the law was fitted to.
    p_value : float
        How often draws of the law itself depart from it as far as the risks do.
    bayes_risk : float or None
    """

    a: float
    b: float
    c: float
    n: int
    sizes: Floats
    p_value: float
    bayes_risk: float | None
    _fitted: PowerLaw
    _drawn: PowerLaw
    _of: RiskEstimate

    def at(self, n: float) -> RiskEstimate:
        """The risk to be expected with n training rows, with a band at the level of the curve."""
        if not n > 0:
            raise ParameterError(f"n is {n}; give a number of rows > 0, or infinity")
        value, low, high = (float(found[0]) for found in self.band(np.array([n])))
        size = max(abs(low), abs(high)) or 1.0  # squares of risks may be out of range
        error = size * float((self._drawn.at([n]) / size).std())
        reason = (
            f"a + b n^-c fitted from {self.sizes[0]:.0f} to {self.sizes[-1]:.0f} rows, valid as "
            "far as that law goes on"
        )
        return replace(
            self._of,
            value=value,
            standard_error=error,
            interval=(low, high),
            method="power law",
            reason=reason,
            cautions=(),
            table=None,
            fingerprint=digest(self._of.fingerprint, f"power law at {n}"),
        )

    def band(self, n: Floats) -> tuple[Floats, Floats, Floats]:
        """Risk, low and high end of the band at each n."""
        tail = (1 - self._of.level) / 2
        low, high = np.quantile(self._drawn.at(n), [tail, 1 - tail], axis=0)
        value = self._fitted.at(n)[0]
        return value, np.minimum(low, value), np.maximum(high, value)

    @property
    def asymptote(self) -> RiskEstimate:
        """The risk with all the data in the world."""
        return self.at(np.inf)

    @property
    def verdict(self) -> Literal["more data", "a better model"]:
        """What would lower the risk more.

        With the Bayes risk known, the larger of two gaps: from here to the asymptote, which data
        close, and from there to the Bayes risk, which only another model can. Else more data, if
        twice as many rows would lower the risk by 3 % or more, and surely lower it.
        """
        here = self._fitted.at([self.n])[0, 0]
        if self.bayes_risk is not None:
            return "more data" if here - self.a >= self.a - self.bayes_risk else "a better model"
        gain, least, _ = self._gain_of_doubling
        return "more data" if gain >= WORTHWHILE * here and least > 0 else "a better model"

    @property
    def _gain_of_doubling(self) -> tuple[float, float, float]:
        tail = (1 - self._of.level) / 2
        ends = np.array([self.n, 2 * self.n])
        gains = -np.diff(self._drawn.at(ends))[:, 0]
        low, high = np.quantile(gains, [tail, 1 - tail])
        return -float(np.diff(self._fitted.at(ends))[0, 0]), float(low), float(high)

    @property
    def sentence(self) -> str:
        """More data or a better model?"""

        def words(n: float) -> str:
            value, low, high = (float(found[0]) for found in self.band(np.array([n])))
            return f"{value:.4g} ({low:.4g} to {high:.4g})"

        text = (
            f"With all {self.n} rows expect {words(self.n)}, with twice as many "
            f"{words(2 * self.n)}, with ten times as many {words(10 * self.n)}, in the limit "
            f"{words(np.inf)}"
        )
        if self.bayes_risk is None:
            gain, low, high = self._gain_of_doubling
            return (
                f"{text}. Twice the rows save {gain:.3g} ({low:.3g} to {high:.3g}): what it needs "
                f"is {self.verdict}."
            )
        here = float(self._fitted.at([self.n])[0, 0])
        return (
            f"{text}. More rows can save {here - self.a:.3g}, a model without error "
            f"{self.a - self.bayes_risk:.3g} on top of it: what it needs is {self.verdict}."
        )

    def __str__(self) -> str:
        return self.sentence


def extrapolate(
    sizes: Floats,
    risk: Floats,
    standard_error: Floats,
    correlation: Floats,
    *,
    of: RiskEstimate,
    n: int,
    bayes_risk: float | None,
    n_draws: int,
    random_state: Any,
) -> Extrapolation:
    """Fit the law to as many of the largest sizes as follow it; `of` says what the risks are of."""
    if n_draws < 100:
        raise ParameterError(f"n_draws is {n_draws}; a band needs 100 or more")
    if not (np.isfinite(risk).all() and np.isfinite(standard_error).all()):
        raise DataError("some risks are infinite")
    least = of.table.bounds[0] if of.table is not None else -np.inf
    noise = generator(spawn(random_state, 1)[0]).standard_normal((n_draws, len(sizes) + 1))
    why = f"there are {len(sizes)} sizes, and the law needs {LEAST_SIZES} or more"
    for first in range(len(sizes) - LEAST_SIZES + 1):
        used = slice(first, None)
        if sizes[-1] < LEAST_RATIO * sizes[first]:
            why = f"sizes from {sizes[first]:.0f} to {sizes[-1]:.0f} rows show too little"
            break
        fitted, drawn, p_value = _fit_and_draw(
            sizes[used], risk[used], standard_error[used], correlation[used, used], least,
            noise[:, first:],
        )  # fmt: skip
        if p_value >= REFUSED:
            return Extrapolation(
                a=float(fitted.a[0]),
                b=float(fitted.b[0] * fitted.unit ** fitted.c[0]),
                c=float(fitted.c[0]),
                n=n,
                sizes=sizes[used],
                p_value=p_value,
                bayes_risk=bayes_risk,
                _fitted=fitted,
                _drawn=drawn,
                _of=of,
            )
        why = "the risks do not fall as a + b n^-c does"
    raise DataError(why)


def _fit_and_draw(
    sizes: Floats,
    risk: Floats,
    standard_error: Floats,
    correlation: Floats,
    least: float,
    noise: Floats,
) -> tuple[PowerLaw, PowerLaw, float]:
    """The law, the laws of drawn risks, and the share of draws that depart from it as far."""
    size = float(np.abs(risk).max()) or 1.0
    risk, error = risk / size, standard_error / size
    V = correlation * np.outer(error, error) + np.diag((APPROXIMATE * risk) ** 2 + TINY)
    root = cholesky(V, lower=True)
    fitted, departure = power_law(sizes, risk[None], root, least / size, np.array([COMMON]))
    curves = fitted.at(sizes) + noise[:, :-1] @ root.T
    centres = COMMON * np.exp(SCATTER * noise[:, -1])
    drawn, chance = power_law(sizes, curves, root, least / size, centres)
    p_value = float(np.mean(chance >= departure * (1 - 1e-9)))
    return _scaled(fitted, size), _scaled(drawn, size), p_value


def _scaled(law: PowerLaw, size: float) -> PowerLaw:
    return law._replace(a=law.a * size, b=law.b * size)


def power_law(
    sizes: Floats, risks: Floats, root: Floats, least: float, centres: Floats
) -> tuple[PowerLaw, Floats]:
    """The law of each row of risks, and how far the risks depart from it, r' V^-1 r.

    Parameters
    ----------
    sizes : array of shape (S,)
    risks : array of shape (curves, S)
    root : lower triangle of V
    least : float
        a is no less.
    centres : array of shape (curves,)
        The exponents that are favoured.

    Examples
    --------
    >>> n = np.array([10.0, 20.0, 40.0, 80.0])
    >>> law, departure = power_law(n, 1 + 5 / n[None], 1e-3 * np.eye(4), 0.0, np.ones(1))
    >>> law.a.round(2), law.at([100.0]).round(2)
    (array([1.]), array([[1.05]]))
    """
    white = solve_triangular(root, risks.T, lower=True)
    level = solve_triangular(root, np.ones(len(sizes)), lower=True)
    best = np.full(len(risks), np.inf)
    found = np.zeros((4, len(risks)))
    for c in EXPONENTS:
        slope = solve_triangular(root, (sizes / sizes[0]) ** -c, lower=True)
        a, b = _constrained(white, level, slope, least)
        square = ((white - np.outer(level, a) - np.outer(slope, b)) ** 2).sum(axis=0)
        total = square + (np.log(c / centres) / SCATTER) ** 2
        better = total < best
        best = np.minimum(best, total)
        found = np.where(better, [a, b, np.full(len(a), c), square], found)
    return PowerLaw(found[0], found[1], found[2], float(sizes[0])), found[3]


def _constrained(
    white: Floats, level: Floats, slope: Floats, least: float
) -> tuple[Floats, Floats]:
    """a >= least and b >= 0 of least |white - a level - b slope|^2, for each column."""
    across = slope - level * (level @ slope) / (level @ level)
    b = np.maximum(across @ white / (across @ across), 0.0)
    a = level @ (white - np.outer(slope, b)) / (level @ level)
    low = a < least
    held = slope @ (white - least * level[:, None]) / (slope @ slope) if low.any() else b
    return np.where(low, least, a), np.where(low, np.maximum(held, 0.0), b)
