"""Families of densities on the line: those of scipy.stats, by name, and what of them is fixed.

Each has shapes of its own, and a location and a scale: f(x) = g((x - loc) / scale) / scale.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy import stats

from empirisk.runtime.arrays import Floats
from empirisk.runtime.errors import ParameterError
from empirisk.runtime.scalars import is_number

Parameters = dict[str, float]

CIRCULAR = ("vonmises",)
"""Densities of angles, which scipy lets repeat: a scale would make them turn faster."""

LOGARITHMS: dict[str, Callable[[Floats], Floats]] = {
    "hypsecant": lambda z: np.log(2 / np.pi) - np.abs(z) - np.log1p(np.exp(-2 * np.abs(z))),
    "laplace": lambda z: -np.abs(z) - np.log(2),
    "moyal": lambda z: -(z + np.exp(-z) + np.log(2 * np.pi)) / 2,
}
"""Of standard densities on the line whose logarithm scipy takes after they underflowed."""


@dataclass(frozen=True)
class Family:
    """A continuous family of scipy.stats, some of whose parameters are fixed.

    Attributes
    ----------
    name : str
    fixed : tuple of (str, float)
    """

    name: str
    fixed: tuple[tuple[str, float], ...] = ()

    @classmethod
    def of(cls, name: Any, fixed: Any) -> "Family":
        """The family that a user names; `fixed` is "auto", None or a dict."""
        known = getattr(stats, name, None) if isinstance(name, str) else None
        if not isinstance(known, stats.rv_continuous):
            raise ParameterError(
                f"family is {name!r:.50}; give 'gaussian', or the name of a continuous family of "
                "scipy.stats, such as 'gamma', 'lognorm', 't' or 'weibull_min'"
            )
        family = cls(name)
        if isinstance(fixed, str) and fixed == "auto":
            return cls(name, tuple(family._by_convention().items()))
        return cls(name, tuple(family._checked(fixed).items()))

    @cached_property
    def distribution(self) -> Any:
        return getattr(stats, self.name)

    @property
    def shapes(self) -> tuple[str, ...]:
        return tuple(part.strip() for part in (self.distribution.shapes or "").split(",") if part)

    @property
    def names(self) -> tuple[str, ...]:
        """Of all parameters, in scipy's order."""
        return (*self.shapes, "loc", "scale")

    @property
    def free(self) -> tuple[str, ...]:
        """Of those that are to be found."""
        fixed = dict(self.fixed)
        return tuple(name for name in self.names if name not in fixed)

    def domain(self, shape: str) -> tuple[float, float]:
        """Between which numbers a shape lies."""
        about = {each.name: each for each in self.distribution._shape_info()}
        low, high = about[shape].domain if shape in about else (-np.inf, np.inf)
        return float(low), float(high)

    def log_density(self, x: Floats, parameters: Mapping[str, float]) -> Floats:
        """log f(x), minus infinity where f is 0."""
        given = [parameters[name] for name in self.names]
        with np.errstate(all="ignore"):
            if self.name in LOGARITHMS:
                z = (x - parameters["loc"]) / parameters["scale"]
                return LOGARITHMS[self.name](z) - np.log(parameters["scale"])
            return np.asarray(self.distribution.logpdf(x, *given), dtype=float)

    def mean_log_density(
        self, x: Floats, share: Floats, parameters: Mapping[str, float], ends: tuple[float, float]
    ) -> float:
        """sum_i share_i log f(x_i), where the least and the largest x are `ends`; quick, for it is
        asked again and again. Minus infinity where a value is impossible."""
        loc, scale = parameters["loc"], parameters["scale"]
        shapes = [parameters[name] for name in self.shapes]
        if not (scale > 0 and np.all(self.distribution._argcheck(*shapes))):
            return -np.inf
        low, high = self.distribution._get_support(*shapes)
        if (ends[0] - loc) / scale < low or (ends[1] - loc) / scale > high:
            return -np.inf
        formula = LOGARITHMS.get(self.name, self.distribution._logpdf)
        found = formula((x - loc) / scale, *shapes)
        return float(share @ found) - float(np.log(scale))

    def support(self, parameters: Mapping[str, float]) -> tuple[float, float]:
        """The ends of the interval on which f is positive."""
        given = [parameters[name] for name in self.names]
        low, high = self.distribution.support(*given)
        return float(low), float(high)

    def _by_convention(self) -> Parameters:
        """A half line begins at 0; an interval with shapes is [0, 1], or what the shapes say."""
        if self.name in CIRCULAR:
            return {"scale": 1.0}
        low, high = np.isfinite(self.distribution.a), np.isfinite(self.distribution.b)
        if low and high and self.shapes:
            return {"loc": 0.0, "scale": 1.0}
        return {"loc": 0.0} if low != high else {}

    def _checked(self, fixed: Any) -> Parameters:
        if fixed is None:
            return {}
        if not isinstance(fixed, Mapping):
            raise ParameterError(
                f"fixed is {fixed!r:.60}; give 'auto', None, or a dict such as {{'loc': 0}}"
            )
        for name, value in fixed.items():
            if name not in self.names:
                raise ParameterError(
                    f"fixed has {name!r:.50}; the parameters of {self.name!r} are "
                    f"{', '.join(self.names)}"
                )
            if not is_number(value) or (name == "scale" and value <= 0):
                raise ParameterError(
                    f"fixed has {value!r:.50} for {name}; give a finite number"
                    + (" above 0" if name == "scale" else "")
                )
        return {name: float(fixed[name]) for name in self.names if name in fixed}
