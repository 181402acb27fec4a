"""What the parameters of a basis may be."""

from collections.abc import Callable, Sequence
from typing import Any, Literal, get_args

import numpy as np

from empirisk.learners.linear.bases import Extrapolation
from empirisk.runtime.arrays import Array, Floats
from empirisk.runtime.errors import ParameterError
from empirisk.runtime.scalars import is_whole

Function = Callable[[Floats], Array]
Basis = Literal["polynomial", "spline", "natural_spline", "steps"] | Sequence[Function]
DEFAULT_DEGREE = 3
OUTSIDE: dict[str, Extrapolation] = {
    "polynomial": "continue",
    "spline": "constant",
    "natural_spline": "linear",
    "steps": "constant",
}
"""What each basis does outside of the training range, unless told otherwise."""


def check_basis(basis: Any, extrapolation: Any) -> None:
    """A known name or callables; a known way to extrapolate."""
    if isinstance(basis, str):
        if basis not in OUTSIDE:
            raise ParameterError(
                f"basis is {basis!r}; give one of {list(OUTSIDE)}, or a list of callables"
            )
    elif not (isinstance(basis, Sequence) and len(basis) and all(map(callable, basis))):
        raise ParameterError(
            f"basis is {basis!r}; give one of {list(OUTSIDE)}, or a list of callables, not empty"
        )
    known = isinstance(extrapolation, str) and extrapolation in get_args(Extrapolation)
    if not (extrapolation is None or known):
        raise ParameterError(
            f"extrapolation is {extrapolation!r}; give one of {get_args(Extrapolation)}"
        )


def check_degree(degree: Any, basis: Basis) -> int:
    """A whole number from 1 on, at most as many as there are callables; None is the default."""
    if degree is None:
        return DEFAULT_DEGREE if isinstance(basis, str) else len(basis)
    if not is_whole(degree, 1):
        raise ParameterError(f"degree is {degree!r}; it must be a whole number, 1 or more")
    if not isinstance(basis, str) and degree > len(basis):
        raise ParameterError(f"degree is {degree}, and there are only {len(basis)} callables")
    return int(degree)


def check_knots(knots: Any, low: Floats, high: Floats) -> list[Floats]:
    """The knots of each feature, in order, inside of its training range."""
    try:
        flat = all(np.ndim(knot) == 0 for knot in knots)
        found = [np.unique(np.asarray(own, dtype=float)) for own in ([knots] if flat else knots)]
    except (TypeError, ValueError):
        raise ParameterError(
            f"knots is {knots!r}; give a list of numbers for one feature, or a list of such lists"
        ) from None
    if len(found) != len(low):
        raise ParameterError(
            f"knots has {len(found)} list(s) for {len(low)} feature(s); give a list for each"
        )
    for j, own in enumerate(found):
        if not ((own > low[j]) & (own < high[j])).all():
            raise ParameterError(
                f"the knots of feature {j} are {own.tolist()}; they must lie inside of its "
                f"training range, {low[j]} to {high[j]}"
            )
    return found


def refuse_knots(knots: Any, basis: Basis, degree: Any) -> None:
    """Knots go to splines or steps, in place of a degree."""
    if knots is None:
        return
    if degree is not None or not isinstance(basis, str) or basis == "polynomial":
        raise ParameterError(
            "knots were given together with a degree, or to a basis without knots: give them to "
            "splines or steps, and no degree"
        )
