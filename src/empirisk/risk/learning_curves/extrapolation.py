"""A learning curve carried on as an inverse power law, R(n) = a + b n^-c.

a is the risk of the learner with all the data in the world, b n^-c what its training set costs it
(c = 1 for a parametric model near its limit). The law is refused where the risks depart from it by
more than draws of the law do; the smallest sizes are given up first, since near them other laws
hold.
"""

from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from empirisk.risk.intervals.cautions import cautions
from empirisk.risk.learning_curves.power_law import PowerLaw, fit_and_draw
from empirisk.risk.learning_curves.risk_at_size import RiskAtSize
from empirisk.risk.plans.fingerprints import digest
from empirisk.runtime.arrays import Floats
from empirisk.runtime.errors import DataError, ParameterError
from empirisk.runtime.scalars import is_number, is_whole, real
from empirisk.runtime.streams import generator, spawn

LEAST_SIZES = 4
LEAST_RATIO = 2.0
REFUSED = 0.01
"""Share of draws that depart from the law as far as the risks, below which it is refused."""
WORTHWHILE = 0.03
"""A fall of the risk by this share is worth the rows, or the model."""
CONSIDERABLE = 0.1
"""Where a fall by this share may be, it is not said that there is hardly any."""

Verdict = Literal["more data", "a better model", "not more data", "neither", "open"]
Banded = tuple[float, float, float]
"""A number, and the ends of its band."""


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
        Only with it, it is known whether a better model would help.

    Examples
    --------
    >>> import numpy as np
    >>> from empirisk import LinearRegression, risk
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(300, 5))
    >>> y = X[:, 0] + np.abs(X[:, 1]) + 0.5 * rng.normal(size=300)
    >>> curve = risk.learning_curve(LinearRegression(), X, y, sizes=[20, 40, 80, 160, 270])
    >>> law = curve.extrapolate(bayes_risk=0.25)
    >>> law.verdict, round(law.a, 2)
    ('a better model', 0.55)
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
    _of: RiskAtSize

    def at(self, n: float) -> RiskAtSize:
        """The risk to be expected with n training rows, with a band at the level of the curve."""
        rows = real(n)
        if rows is None or not rows > 0:
            raise ParameterError(f"n is {n!r:.60}; give a number of rows > 0, or infinity")
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
            cautions=self.cautions,
            table=None,
            rows=n,
            fingerprint=digest(self._of.fingerprint, f"power law at {n}"),
        )

    def band(self, n: Floats) -> tuple[Floats, Floats, Floats]:
        """Risk, low and high end of the band at each n."""
        low, high = np.quantile(self._drawn.at(n), self._tails, axis=0)
        value = self._fitted.at(n)[0]
        return value, np.minimum(low, value), np.maximum(high, value)

    @property
    def _tails(self) -> tuple[float, float]:
        return (1 - self._of.level) / 2, (1 + self._of.level) / 2

    @property
    def asymptote(self) -> RiskAtSize:
        """The risk with all the data in the world."""
        return self.at(np.inf)

    @property
    def verdict(self) -> Verdict:
        """More data or a better model?

        With the Bayes risk known, the larger of two gaps: from here to the limit, which data close,
        and from there to the Bayes risk, which only another model can; "neither" where both
        together are 3 % of the risk or less. Without it, "more data" if twice as many rows would
        lower the risk by more than 3 %, else "not more data": whether a better model would, is not
        known. "open" where the errors of the risks do not tell, or the Bayes risk given is above
        the limit and its band.
        """
        here = abs(float(self._fitted.at([self.n])[0, 0]))
        if self.bayes_risk is None:
            gain, least, most = self._gain_of_doubling
            if gain <= WORTHWHILE * here:
                return "not more data" if most <= CONSIDERABLE * here else "open"
            return "more data" if least > 0 else "open"
        if self._contradicts:
            return "open"
        (rows, rows_least, _), (model, model_least, _) = self._gaps(self.bayes_risk)
        if rows + model <= WORTHWHILE * here:
            return "neither"
        if rows >= model:
            return "more data" if rows_least > 0 else "open"
        return "a better model" if model_least > 0 else "open"

    @property
    def _contradicts(self) -> bool:
        """Whether the Bayes risk is above the limit and its band, which cannot be."""
        return self.bayes_risk is not None and self.bayes_risk > self.band(np.array([np.inf]))[2][0]

    @property
    def _gain_of_doubling(self) -> Banded:
        here, later = self._fitted.at([self.n, 2 * self.n])[0]
        drawn = self._drawn.at([self.n, 2 * self.n])
        return self._banded(here - later, drawn[:, 0] - drawn[:, 1])

    def _gaps(self, bayes_risk: float) -> tuple[Banded, Banded]:
        """What more rows can save, and a model without error on top; no limit is below Bayes."""

        def gaps(law: PowerLaw) -> tuple[Floats, Floats]:
            limit = np.maximum(law.a, bayes_risk)
            return np.maximum(law.at([self.n])[:, 0] - limit, 0.0), limit - bayes_risk

        (rows, model), (rows_drawn, model_drawn) = gaps(self._fitted), gaps(self._drawn)
        return self._banded(rows[0], rows_drawn), self._banded(model[0], model_drawn)

    def _banded(self, value: float, drawn: Floats) -> Banded:
        low, high = np.quantile(drawn, self._tails)
        return float(value), min(float(low), float(value)), max(float(high), float(value))

    @property
    def cautions(self) -> tuple[str, ...]:
        """What the bands do not guarantee."""
        table = self._of.table
        if table is None:
            return ()
        given = ("what the splits given have in common is not known",)
        return (*cautions(table), *(given if table.kind == "given" else ()))

    @property
    def sentence(self) -> str:
        """More data or a better model?"""
        risks = (
            _in_words(*(float(found[0]) for found in self.band(np.array([n]))))
            for n in (self.n, 2 * self.n, 10 * self.n, np.inf)
        )
        text = (
            "With all {} rows expect {}, with twice as many {}, with ten times as many {}, in the "
            "limit {}. "
        ).format(self.n, *risks)
        text += self._without_bayes if self.bayes_risk is None else self._with_bayes
        if not self.cautions:
            return text
        level = f"{100 * self._of.level:g} %"
        return f"{text} Each band is an interval at {level}; but {', and '.join(self.cautions)}."

    @property
    def _without_bayes(self) -> str:
        conclusion = {
            "more data": "what it needs is more data",
            "not more data": (
                "more rows will hardly help, and whether a better model would is not known "
                "without the Bayes risk"
            ),
        }.get(self.verdict, "whether more rows would help, the errors of the risks do not tell")
        return f"Twice the rows save {_in_words(*self._gain_of_doubling, digits=3)}: {conclusion}."

    @property
    def _with_bayes(self) -> str:
        assert self.bayes_risk is not None
        text = ""
        if self.bayes_risk > self.a:
            text = f"The Bayes risk given, {self.bayes_risk:.4g}, lies above the estimated limit"
            if self._contradicts:
                return (
                    f"{text} and its band; no risk can be below it, so that one of the two is "
                    "wrong and there is no verdict."
                )
            text += ", though inside its band. "
        rows, model = (_in_words(*gap, digits=3) for gap in self._gaps(self.bayes_risk))
        verdict = self.verdict
        conclusion = {
            "neither": "it is near the Bayes risk, and neither will help much",
            "open": "which of the two it needs, the errors of the risks do not tell",
        }.get(verdict, f"what it needs is {verdict}")
        return (
            f"{text}More rows can save {rows}, a model without error {model} on top of it: "
            f"{conclusion}."
        )

    def __str__(self) -> str:
        return self.sentence


def extrapolate(
    sizes: Floats,
    risk: Floats,
    standard_error: Floats,
    correlation: Floats,
    *,
    of: RiskAtSize,
    n: int,
    bayes_risk: float | None,
    n_draws: int,
    random_state: Any,
) -> Extrapolation:
    """Fit the law to as many of the largest sizes as follow it; `of` says what the risks are of."""
    if not is_whole(n_draws, 100):
        raise ParameterError(f"n_draws is {n_draws!r}; a band needs 100 or more")
    if not (np.isfinite(risk).all() and np.isfinite(standard_error).all()):
        raise DataError("some risks are infinite")
    if not standard_error.any():
        raise DataError("at each size all held-out losses are equal, so their spread is unknown")
    least = of.table.bounds[0] if of.table is not None else -np.inf
    if bayes_risk is not None and not (is_number(bayes_risk) and bayes_risk >= least):
        raise ParameterError(f"bayes_risk is {bayes_risk!r}; give a finite number >= {least:g}")
    noise = generator(spawn(random_state, 1)[0]).standard_normal((n_draws, len(sizes) + 1))
    why = f"there are {len(sizes)} sizes, and the law needs {LEAST_SIZES} or more"
    for first in range(len(sizes) - LEAST_SIZES + 1):
        used = slice(first, None)
        if sizes[-1] < LEAST_RATIO * sizes[first]:
            why = f"sizes from {sizes[first]:.0f} to {sizes[-1]:.0f} rows show too little"
            break
        fitted, drawn, p_value = fit_and_draw(
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


def _in_words(value: float, low: float, high: float, *, digits: int = 4) -> str:
    return f"{value:.{digits}g} ({low:.{digits}g} to {high:.{digits}g})"
