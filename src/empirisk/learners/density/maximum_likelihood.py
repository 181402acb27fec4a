"""Maximum likelihood in a family of densities on the line, by a formula or by Newton's method.

    maximise  sum_i w_i log f_theta(x_i),    w_i the share of row i in all weight.

Numbers are first divided by a power of two, so that no unit is felt. Where there is no formula, a
few starts are followed on 200 quantiles of the values, which are the same for a row of weight w and
w copies of it, and the best of them is carried on by Newton's method on all rows. Parameters are
then unbounded: logarithms of what is positive, logits of what lies in an interval.
"""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from typing import Any
from warnings import catch_warnings, simplefilter, warn

import numpy as np
from scipy.special import expit, logit

from empirisk.data.scaling import power_of_two
from empirisk.learners.density.closed_forms import FORMULAS
from empirisk.learners.density.families import Family, Parameters
from empirisk.learners.density.numeric_newton import is_valley, newton
from empirisk.learners.density.simplex import along_kinks, downhill
from empirisk.losses.weighted import weighted_quantile
from empirisk.runtime.arrays import Floats
from empirisk.runtime.errors import ConvergenceWarning, DataError

N_QUANTILES = 200
STATIONARY = 1e-10  # what another step of Newton's method would add to the mean log-likelihood
AT_THE_END = 1e-7  # of the spread: where the likelihood has no maximum, loc goes to the least value
MOST_DOUBLINGS = 12  # of the scale of a start
FAR, FARTHEST = 12.0, 16.0
"""A logarithm beyond the one is on its way to infinity, as is a shape of either sign beyond its
exponential; none is beyond the other."""


def fit_family(family: Family, x: Floats, weight: Floats, column: Any) -> Parameters:
    """The parameters of the largest likelihood; `column` is named where there are none."""
    share = weight / weight.sum()
    unit = float(power_of_two(np.abs(x).max()))
    fixed = {name: value / unit if name in UNITS else value for name, value in family.fixed}
    _refuse_impossible(family, x, column)
    formula = FORMULAS.get(family.name)
    found = None if formula is None else formula(x / unit, share, fixed)
    _refuse_constant(family, x, column, found)
    if found is None:
        found = _Search(family, fixed, x / unit, share, column).maximum()
    if not all(np.isfinite(value) for value in found.values()) or not found["scale"] > 0:
        raise _no_maximum(family, column, found)
    _refuse_outside(family, x / unit, column, found, unit)
    named = {name: found[name] * unit if name in UNITS else found[name] for name in family.names}
    if not all(np.isfinite(value) for value in named.values()):
        raise DataError(
            f"the parameters of {family.name!r} for {_named(column)} are too large for float64: "
            "divide the column by a large number"
        )
    return named


UNITS = ("loc", "scale")


@dataclass(frozen=True, eq=False)
class _Search:
    """The search for the maximum over the free parameters."""

    family: Family
    fixed: Parameters
    x: Floats
    share: Floats
    column: Any

    def maximum(self) -> Parameters:
        if not self.family.free:
            return dict(self.fixed)
        quantiles = _quantiles(self.x, self.share)
        coarse = self.objective(quantiles, np.full(len(quantiles), 1 / len(quantiles)))
        starts = [self._widened(coarse, start) for start in self.starts(quantiles)]
        ends = [downhill(coarse, start) for start in starts]
        ends = [end for end in ends if np.isfinite(coarse(end))]
        fine = self.objective(self.x, self.share)
        ends = [end for end in ends if np.isfinite(fine(end))]
        if not ends:
            raise _no_maximum(self.family, self.column, self.fixed)
        near, _, curvature = newton(coarse, min(ends, key=fine))
        near = near if np.isfinite(fine(near)) else min(ends, key=fine)
        theta, left, curvature = newton(fine, near, curvature)
        smooth = left <= STATIONARY and is_valley(curvature)
        if not smooth:
            theta, left = along_kinks(fine, theta)
        self.judge(theta, left, smooth=smooth)
        return self.parameters(theta)

    def judge(self, theta: Floats, left: float, *, smooth: bool) -> None:
        """Raise an error where there is no maximum, and warn of one that was not reached."""
        found = self.parameters(theta)
        spread = float(self.x.max() - self.x.min()) or self._unit[1]
        low, high = self.family.support(found)
        near = min(self.x.min() - low, high - self.x.max()) < AT_THE_END * spread
        if near and not smooth:
            raise _no_maximum(self.family, self.column, found)
        far = [
            name for j, name in enumerate(self.family.free)
            if abs(theta[j]) > (FAR if j in self._bounded else np.exp(FAR)) and name != "loc"
        ]  # fmt: skip
        if far:
            warn(
                f"{self.family.name!r}, {_named(self.column)}: the likelihood goes on rising with "
                f"{far[0]} near {found[far[0]]:.3g}: a limit of the family fits better",
                ConvergenceWarning,
            )
        elif not left <= STATIONARY:
            warn(
                f"{self.family.name!r}, {_named(self.column)}: no maximum of the likelihood was "
                f"reached; another step would add about {left:.2g} to its mean logarithm: fix some "
                "parameter, or choose another family",
                ConvergenceWarning,
            )

    @cached_property
    def _unit(self) -> tuple[float, float]:
        """The middle of the values, and their spread; of one value alone that of the family."""
        quartiles = [float(weighted_quantile(self.x, self.share, q)) for q in (0.25, 0.5, 0.75)]
        spread = quartiles[2] - quartiles[0]
        spread = spread if spread > 0 else float(self.x.max() - self.x.min())
        return quartiles[1], spread if spread > 0 else self.fixed.get("scale", 1.0)

    def objective(self, x: Floats, share: Floats) -> Callable[[Floats], float]:
        """Minus the mean log-likelihood at unbounded parameters; infinite where it is none."""

        ends = float(x.min()), float(x.max())

        def cost(theta: Floats) -> float:
            with np.errstate(all="ignore"):
                if not (np.abs(theta[self._bounded]) <= FARTHEST).all():
                    return np.inf
                parameters = self.parameters(theta)
                value = -self.family.mean_log_density(x, share, parameters, ends)
            return value if np.isfinite(value) else np.inf

        return cost

    @cached_property
    def _bounded(self) -> list[int]:
        """Which of the free parameters are logarithms or logits."""
        free = self.family.free
        ends = {name: self.family.domain(name) for name in free if name in self.family.shapes}
        return [
            j for j, name in enumerate(free)
            if name == "scale" or (name != "loc" and np.isfinite(ends[name]).any())
        ]  # fmt: skip

    def parameters(self, theta: Floats) -> Parameters:
        """All parameters, from the unbounded free ones."""
        middle, spread = self._unit
        found = dict(self.fixed)
        for name, value in zip(self.family.free, theta, strict=True):
            if name == "loc":
                found[name] = middle + spread * float(value)
            elif name == "scale":
                found[name] = spread * float(np.exp(value))
            else:
                found[name] = _bounded(float(value), *self.family.domain(name))
        return found

    def starts(self, quantiles: Floats) -> list[Floats]:
        """What scipy starts from, and shapes of 1/2, 1 and 4 with the quartiles of the values, or
        on an interval that holds them all."""
        found = []
        with np.errstate(all="ignore"), catch_warnings():
            simplefilter("ignore")  # of scipy: a start is no more than a start
            try:
                given = self.family.distribution._fitstart(quantiles)
            except Exception:  # a rule of thumb of one family, of which nothing depends
                given = None
            if given is not None:
                found.append(self._unbounded(dict(zip(self.family.names, given, strict=True))))
            for size in (0.5, 1.0, 4.0) if self.family.shapes else (1.0,):
                with suppress(ValueError, RuntimeError):  # of scipy, without quantiles
                    found.append(self._unbounded(self._by_quartiles(size)))
                if "loc" in self.family.free and "scale" in self.family.free:
                    found.append(self._unbounded(self._covering(size)))
        return [start for start in found if np.isfinite(start).all()]

    def _widened(self, cost: Callable[[Floats], float], start: Floats) -> Floats:
        """A start at which no value is impossible, of those with larger scales, if there is one."""
        theta = start.copy()
        if "scale" in self.family.free:
            for _ in range(MOST_DOUBLINGS):
                if np.isfinite(cost(theta)):
                    break
                theta[self.family.free.index("scale")] += np.log(2)
        return theta

    def _by_quartiles(self, size: float) -> Parameters:
        middle, spread = self._unit
        shapes = self._shapes(size)
        low, half, high = self.family.distribution.ppf([0.25, 0.5, 0.75], *shapes.values())
        if "loc" in self.fixed:
            scale = (middle - self.fixed["loc"]) / half
            return {**shapes, "loc": self.fixed["loc"], "scale": scale if scale > 0 else spread}
        scale = spread / (high - low)
        return {**shapes, "loc": middle - scale * half, "scale": scale}

    def _covering(self, size: float) -> Parameters:
        """An interval that all values lie in; no number where the family has no such interval."""
        shapes = self._shapes(size)
        low, high = self.family.distribution.support(*shapes.values())
        least, most = float(self.x.min()), float(self.x.max())
        scale = 1.2 * (most - least) / (high - low)
        middle = (low + high) / 2 if np.isfinite([low, high]).all() else np.nan
        return {**shapes, "loc": (least + most) / 2 - scale * middle, "scale": scale}

    def _shapes(self, size: float) -> Parameters:
        shapes = {name: _inside(size, *self.family.domain(name)) for name in self.family.shapes}
        return shapes | {name: value for name, value in self.fixed.items() if name in shapes}

    def _unbounded(self, parameters: Parameters) -> Floats:
        middle, spread = self._unit
        theta = []
        for name in self.family.free:
            value = float(parameters[name])
            if name == "loc":
                theta.append((value - middle) / spread)
            elif name == "scale":
                theta.append(float(np.log(value / spread)))
            else:
                theta.append(_free(value, *self.family.domain(name)))
        return np.array(theta)


def _quantiles(x: Floats, share: Floats) -> Floats:
    """Quantiles at equal distances of level, and the least and the largest value."""
    order = np.argsort(x, kind="stable")
    cumulative = np.cumsum(share[order])
    levels = (np.arange(N_QUANTILES) + 0.5) / N_QUANTILES
    # Sums of shares carry rounding errors, of which a quantile must not depend.
    place = np.searchsorted(cumulative, levels * cumulative[-1] - 1e-12)
    found = x[order][np.minimum(place, len(x) - 1)]
    found[0], found[-1] = x.min(), x.max()
    return found


def _bounded(value: float, low: float, high: float) -> float:
    """From the line to the interval (low, high)."""
    if np.isfinite(low) and np.isfinite(high):
        return low + (high - low) * float(expit(value))
    if np.isfinite(low):
        return low + float(np.exp(value))
    return high - float(np.exp(-value)) if np.isfinite(high) else value


def _free(value: float, low: float, high: float) -> float:
    """From the interval (low, high) to the line."""
    if np.isfinite(low) and np.isfinite(high):
        return float(logit((value - low) / (high - low)))
    if np.isfinite(low):
        return float(np.log(value - low))
    return -float(np.log(high - value)) if np.isfinite(high) else value


def _inside(size: float, low: float, high: float) -> float:
    """A number of about this size between low and high."""
    if np.isfinite(low) and np.isfinite(high):
        return low + (high - low) * size / (1 + size)
    if np.isfinite(low):
        return low + size
    return high - size if np.isfinite(high) else size - 1


def _refuse_impossible(family: Family, x: Floats, column: Any) -> None:
    """Raise a DataError where a value lies outside whatever the free parameters are."""
    fixed = dict(family.fixed)
    a, b = family.distribution.a, family.distribution.b
    if "loc" not in fixed or (family.free and np.isfinite(b) and b and "scale" not in fixed):
        return
    low = fixed["loc"] + a * fixed.get("scale", 1.0) if a == 0 or "scale" in fixed else -np.inf
    high = fixed["loc"] + b * fixed.get("scale", 1.0) if b == 0 or "scale" in fixed else np.inf
    bad = (x < low) | (x > high)
    if bad.any():
        raise DataError(
            f"{_named(column)} has the value {x[bad][0]:g}, and with {fixed} {family.name!r} is a "
            f"density on [{low:g}, {high:g}]: choose another family, or fixed=None"
        )


def _refuse_outside(family: Family, x: Floats, column: Any, found: Parameters, unit: float) -> None:
    """Raise a DataError where, with what is fixed, no parameters hold all values."""
    low, high = family.support(found)
    room = 1e-9 * max(abs(low), abs(high)) if np.isfinite([low, high]).all() else 0.0  # rounding
    bad = (x < low - room) | (x > high + room)
    if bad.any():
        raise DataError(
            f"{_named(column)} has the value {x[bad][0] * unit:g}, and with {dict(family.fixed)} "
            f"no density of {family.name!r} holds all values: fix other parameters, or none"
        )


def _refuse_constant(family: Family, x: Floats, column: Any, found: Parameters | None) -> None:
    """Raise a DataError where there is one value, and no formula has found a scale for it."""
    if "scale" in family.free and x.min() == x.max() and not (found and found["scale"] > 0):
        raise DataError(
            f"{_named(column)} has one value only, {x[0]:g} (n_samples={len(x)}): the likelihood "
            f"of {family.name!r} has no maximum; leave the column out, or fix the scale"
        )


def _no_maximum(family: Family, column: Any, found: Parameters) -> DataError:
    shown = ", ".join(f"{name} = {value:.4g}" for name, value in found.items())
    return DataError(
        f"the likelihood of {family.name!r} has no maximum for {_named(column)} (near {shown}): "
        "fix a parameter, as in fixed={'loc': 0}, or choose another family"
    )


def _named(column: Any) -> str:
    return f"column {column!r}"
