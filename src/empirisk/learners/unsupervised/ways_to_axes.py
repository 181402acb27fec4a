"""Which way to the principal axes is taken, and in which units the columns are on the way."""

from dataclasses import dataclass, replace
from functools import partial
from types import SimpleNamespace
from typing import Any

import numpy as np

from empirisk.data.blocks import Blocks
from empirisk.data.shifted_moments import ShiftedMoments, shifted_moments, sizes, units_of
from empirisk.runtime.arrays import Floats
from empirisk.runtime.column_names import column_names
from empirisk.runtime.complaints import refuse_not_finite
from empirisk.runtime.errors import DataError, ParameterError
from empirisk.runtime.scalars import is_flag, is_number, is_whole
from empirisk.runtime.streams import spawn
from empirisk.solvers.principal_axes import (
    PrincipalAxes,
    by_arpack,
    by_covariance,
    by_gram,
    by_randomised_svd,
    by_svd,
    completed,
    covariance_is_exact,
)

SOLVERS = ("auto", "full", "covariance_eigh", "gram", "arpack", "randomized")

EPSILON = float(np.finfo(float).eps)

VERY_MANY = 2000
"""Rows and columns from which "auto" takes the first few by random directions."""


@dataclass(frozen=True, eq=False)
class ScaledAxes:
    """Principal axes of (x - mean) / (scale * unit).

    `unit` is a power of two that brings squares of extreme numbers into range; `scale` are the
    standard deviations of the columns if axes of the correlation matrix are meant, otherwise 1.
    `rows` is how many rows there were, a row of weight w being w rows, and `weight` what they weigh
    together; they differ where weights are fractions.
    """

    axes: PrincipalAxes
    mean: Floats
    scale: Floats
    unit: float
    rows: int
    weight: float
    solver: str


def scaled_axes(learner: Any, X: Floats, weight: Floats, number: int) -> ScaledAxes:
    """The first axes of rows in memory, by the way that the learner's parameters name."""
    check_parameters(learner)
    refuse_one_row(len(X), float(weight.sum()))
    names = SimpleNamespace(column_names=column_names(X))
    complain = partial(refuse_not_finite, X, names, "X", type(learner).__name__)
    way = _way(learner.svd_solver, X.shape, number)
    if way == "covariance_eigh":
        blocks = Blocks.of_arrays(X, np.empty((len(X), 0)), weight)
        shifted = shifted_moments(
            blocks, learner.n_jobs, each=learner.correlation, suspect=complain
        )
        found = axes_of_moments(shifted, number, correlation=learner.correlation)
        exact = covariance_is_exact(found.axes, shifted.moments)
        if exact or learner.svd_solver == "covariance_eigh":
            return found
        way = "full"
    elif way == "gram" and not learner.correlation:
        axes = by_gram(X, weight, number, n_jobs=learner.n_jobs)
        if axes is not None:
            return _scaled(axes, number, X.shape, weight, "gram")
    complain()
    return _axes_of_rows(learner, X, weight, number, way)


def axes_of_moments(shifted: ShiftedMoments, number: int, *, correlation: bool) -> ScaledAxes:
    """The first axes of rows that have these moments."""
    if not correlation:
        shifted = shifted.in_units(np.full_like(shifted.unit, shifted.unit.max()))
    moments, unit = shifted.moments, float(shifted.unit[0])
    scale, mean = np.ones(len(moments.mean)), shifted.shift + moments.mean * shifted.unit
    if correlation:
        deviation = _deviations(np.diagonal(moments.scatter), moments.weight)
        moments = replace(moments, scatter=moments.scatter / deviation / deviation[:, None])
        scale, unit = deviation * shifted.unit, 1.0
    axes = completed(by_covariance(moments, number), number, EPSILON * len(scale))
    rows = copies(moments.rows, moments.weight)
    return ScaledAxes(axes, mean, scale, unit, rows, moments.weight, "covariance_eigh")


def copies(rows: int, weight: float) -> int:
    """How many rows there are if one of weight w is w rows; not fewer for being weighed less."""
    return max(rows, int(weight))


def refuse_one_row(rows: int, weight: float) -> None:
    """A variance has the divisor n - 1."""
    if weight > 1:
        return
    if rows == 1:
        raise DataError("X has 1 sample; PCA needs 2 rows or more to have a variance")
    raise DataError(
        f"the weights sum to {weight:.3g}, and a row of weight w is w copies of it: multiply them, "
        f"such that they sum to the number of rows ({rows})"
    )


def check_parameters(learner: Any) -> None:
    """Complain of a solver that there is not, or of numbers and flags it cannot use."""
    for name in ("whiten", "correlation"):
        if not is_flag(getattr(learner, name)):
            raise ParameterError(f"{name} is {getattr(learner, name)!r}; give True or False")
    if learner.svd_solver not in SOLVERS:
        raise ParameterError(
            f"svd_solver is {learner.svd_solver!r}; choose one of {', '.join(map(repr, SOLVERS))}"
        )
    if learner.power_iteration_normalizer not in ("auto", "QR", "LU", "none"):
        raise ParameterError(
            f"power_iteration_normalizer is {learner.power_iteration_normalizer!r}; choose "
            "'auto', 'QR', 'LU' or 'none'"
        )
    power = learner.iterated_power
    for name, sound, wanted in (
        ("n_oversamples", is_whole(learner.n_oversamples, 0), "a whole number >= 0"),
        ("iterated_power", is_whole(power, 0) or _is_auto(power), "a whole number >= 0 or 'auto'"),
        ("tol", is_number(learner.tol) and learner.tol >= 0, "a number >= 0"),
    ):
        if not sound:
            raise ParameterError(f"{name} is {getattr(learner, name)!r}; give {wanted}")


def _is_auto(value: Any) -> bool:
    return isinstance(value, str) and value == "auto"


def _way(solver: str, shape: tuple[int, int], number: int) -> str:
    """How "auto" goes to the axes, where nothing speaks against it; otherwise as the user says."""
    if solver != "auto":
        return solver
    if number and min(shape) >= VERY_MANY and number <= 0.1 * min(shape):
        return "randomized"
    return "covariance_eigh" if shape[0] >= shape[1] else "gram"


def _axes_of_rows(learner: Any, X: Floats, weight: Floats, number: int, way: str) -> ScaledAxes:
    """By a way that goes through the rows themselves, in units that bring squares into range."""
    unit = units_of(sizes(X), each=learner.correlation)
    Z = X if (unit == 1.0).all() else X / unit
    if not learner.correlation:
        way = "full" if way == "gram" and Z is X else way  # it has been tried
        axes, solver = _solved(learner, Z, weight, number, way)
        return _scaled(axes, number, X.shape, weight, solver, unit=float(unit[0]))
    total = float(weight.sum())
    apart = Z - np.where((Z[0] == Z).all(axis=0), Z[0], weight @ Z / total)
    squares = weight @ apart**2 - (weight @ apart) ** 2 / total
    deviation = _deviations(squares, total)
    axes, solver = _solved(learner, Z / deviation, weight, number, way)
    return _scaled(axes, number, X.shape, weight, solver, scale=deviation * unit)


def _solved(
    learner: Any, Z: Floats, weight: Floats, number: int, way: str
) -> tuple[PrincipalAxes, str]:
    if way == "gram":
        found = by_gram(Z, weight, number, n_jobs=learner.n_jobs)
        return (by_svd(Z, weight, number), "full") if found is None else (found, "gram")
    if way == "full":
        return by_svd(Z, weight, number), way
    seed = spawn(learner.random_state, 1)[0]
    if way == "arpack":
        few = min(number, min(Z.shape) - 1)
        return by_arpack(Z, weight, few, tolerance=learner.tol, seed=seed), way
    axes = by_randomised_svd(
        Z, weight, number,
        oversamples=learner.n_oversamples, iterations=learner.iterated_power,
        normalizer=learner.power_iteration_normalizer, seed=seed,
    )  # fmt: skip
    return axes, way


def _scaled(
    axes: PrincipalAxes,
    number: int,
    shape: tuple[int, int],
    weight: Floats,
    solver: str,
    *,
    scale: Floats | None = None,
    unit: float = 1.0,
) -> ScaledAxes:
    """Axes of rows that were divided by scale and unit."""
    axes = completed(axes, number, (EPSILON * max(shape)) ** 2)
    scale, total = np.ones(shape[1]) if scale is None else scale, float(weight.sum())
    mean, rows = axes.mean * scale * unit, copies(shape[0], total)
    return ScaledAxes(axes, mean, scale, unit, rows, total, solver)


def _deviations(squares: Floats, weight: float) -> Floats:
    """Standard deviations; 1 for a column that is constant."""
    deviation = np.sqrt(np.maximum(squares, 0.0) / (weight - 1))
    return np.where(deviation > 0, deviation, 1.0)
