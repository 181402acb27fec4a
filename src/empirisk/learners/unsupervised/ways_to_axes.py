"""Which way to the principal axes is taken, and in which units the columns are on the way."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from types import SimpleNamespace
from typing import Any

import numpy as np

from empirisk.data.blocks import Blocks
from empirisk.data.moments import Moments
from empirisk.data.scaling import ORDINARY, power_of_two
from empirisk.data.shifted_sums import shifted_sums
from empirisk.runtime.arrays import Floats
from empirisk.runtime.column_names import column_names
from empirisk.runtime.complaints import refuse_not_finite
from empirisk.runtime.errors import DataError, ParameterError
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

FAR = 100.0
"""Squared mean about the shift over variance from which there is another shift."""

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
    total = float(weight.sum())
    check_parameters(learner)
    refuse_one_row(len(X), total)
    names = SimpleNamespace(column_names=column_names(X))
    complain = partial(refuse_not_finite, X, names, "X", type(learner).__name__)
    if not _by_columns(learner.svd_solver, X.shape, number):
        complain()
    else:
        blocks = Blocks.of_arrays(X, np.empty((len(X), 0)), weight)
        shifted = shifted_moments(blocks, learner.n_jobs, suspect=complain)
        found = axes_of_moments(shifted, number, correlation=learner.correlation)
        exact = covariance_is_exact(found.axes, shifted.moments)
        if exact or learner.svd_solver == "covariance_eigh":
            return found
    return _axes_of_rows(learner, X, weight, number)


@dataclass(frozen=True, eq=False)
class ShiftedMoments:
    """Moments of (x - shift) / unit: a shift close to the mean, and a unit close to the size."""

    moments: Moments
    shift: Floats
    unit: float


def axes_of_moments(shifted: ShiftedMoments, number: int, *, correlation: bool) -> ScaledAxes:
    """The first axes of rows that have these moments."""
    moments, unit = shifted.moments, shifted.unit
    scale, mean = np.ones(len(moments.mean)), shifted.shift + moments.mean * unit
    if correlation:
        scale = _deviations(np.diagonal(moments.scatter), moments.weight)
        scatter = moments.scatter / scale / scale[:, None]
        moments, scale, unit = replace(moments, scatter=scatter), scale * unit, 1.0
    axes = completed(by_covariance(moments, number), number, EPSILON * len(scale))
    rows = copies(moments.rows, moments.weight)
    return ScaledAxes(axes, mean, scale, unit, rows, moments.weight, "covariance_eigh")


def shifted_moments(
    blocks: Blocks,
    n_jobs: int | None = None,
    *,
    shift: Floats | None = None,
    suspect: Callable[[], None] | None = None,
) -> ShiftedMoments:
    """Moments of all blocks, shifted and divided where the numbers would lose digits otherwise.

    The shift is 0 or the mean of the first block, unless one is given. One pass is enough unless
    the mean turns out to be FAR from it, or the numbers to be extreme. `suspect` is called where
    the sums look as if the rows were not all finite.
    """
    found = shift
    if found is None:
        found = _first_shift(next(iter(blocks)).X)
    moments, unit = shifted_sums(blocks, found, 1.0, n_jobs=n_jobs).moments, 1.0
    if not _in_range(moments):
        if suspect is not None:
            suspect()
        unit = max(unit_of(rows.X, found) for rows in blocks)
        if unit != 1.0:
            moments = shifted_sums(blocks, found, unit, n_jobs=n_jobs).moments
    if shift is None and _is_far(moments):
        found = found + moments.mean * unit
        moments = shifted_sums(blocks, found, unit, n_jobs=n_jobs).moments
    return ShiftedMoments(moments, found, unit)


def _first_shift(X: Floats) -> Floats:
    """0 if it is among the rows of every column, otherwise their means."""
    with np.errstate(over="ignore", invalid="ignore"):
        mean = X.mean(axis=0)
        near = (mean**2 <= X.var(axis=0)).all() or not np.isfinite(mean).all()
    # The mean of a number that repeats may differ from it in the last digit.
    return np.zeros(X.shape[1]) if near else np.where((X[0] == X).all(axis=0), X[0], mean)


def _in_range(moments: Moments) -> bool:
    """Whether squares neither overflow nor vanish; false if all rows are alike."""
    with np.errstate(over="ignore", invalid="ignore"):
        size = np.sqrt(np.diagonal(moments.scatter).max() / moments.weight)
    return bool(ORDINARY[0] < size < ORDINARY[1])


def _is_far(moments: Moments) -> bool:
    """Whether the mean, about the shift, is large against the spread of its column."""
    variance = np.diagonal(moments.scatter) / moments.weight
    return bool((moments.mean**2 > FAR * variance).any())


def unit_of(*parts: Floats) -> float:
    """The power of two next above the largest number, if that is beyond ordinary sizes, or 1."""
    size = max(max(float(part.max()), -float(part.min())) for part in parts)
    ordinary = size == 0 or ORDINARY[0] < size < ORDINARY[1]
    return 1.0 if ordinary else float(power_of_two(np.array([size]))[0])


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
    """Complain of a solver that there is not, or of numbers it cannot use."""
    if learner.svd_solver not in SOLVERS:
        raise ParameterError(
            f"svd_solver is {learner.svd_solver!r}; choose one of {', '.join(map(repr, SOLVERS))}"
        )
    if learner.power_iteration_normalizer not in ("auto", "QR", "LU", "none"):
        raise ParameterError(
            f"power_iteration_normalizer is {learner.power_iteration_normalizer!r}; choose "
            "'auto', 'QR', 'LU' or 'none'"
        )
    for name, value in (
        ("n_oversamples", learner.n_oversamples),
        ("iterated_power", learner.iterated_power),
        ("tol", learner.tol),
    ):
        if value != "auto" and (isinstance(value, str) or not value >= 0):
            raise ParameterError(f"{name} is {value!r}; give a number >= 0")


def _by_columns(solver: str, shape: tuple[int, int], number: int) -> bool:
    n, p = shape
    if solver == "auto":
        return n >= p and not _very_many(shape, number)
    return solver == "covariance_eigh"


def _very_many(shape: tuple[int, int], number: int) -> bool:
    return min(shape) >= VERY_MANY and number <= 0.1 * min(shape)


def _axes_of_rows(learner: Any, X: Floats, weight: Floats, number: int) -> ScaledAxes:
    """By a way that goes through the rows themselves."""
    unit = unit_of(X)
    scale, Z = np.ones(X.shape[1]), X if unit == 1.0 else X / unit
    total = float(weight.sum())
    if learner.correlation:
        mean = weight @ Z / total
        squares = weight @ (Z - mean) ** 2 - (weight @ (Z - mean)) ** 2 / total
        scale = _deviations(squares, total)
        Z = Z / scale
    axes, solver = _solved(learner, Z, weight, number)
    axes = completed(axes, number, (EPSILON * max(X.shape)) ** 2)
    mean = axes.mean * scale * unit
    if learner.correlation:
        scale, unit = scale * unit, 1.0
    return ScaledAxes(axes, mean, scale, unit, copies(len(X), total), total, solver)


def _solved(learner: Any, Z: Floats, weight: Floats, number: int) -> tuple[PrincipalAxes, str]:
    solver, (n, p) = learner.svd_solver, Z.shape
    if solver == "randomized" or (solver == "auto" and number and _very_many(Z.shape, number)):
        seed = spawn(learner.random_state, 1)[0]
        axes = by_randomised_svd(
            Z, weight, number,
            oversamples=learner.n_oversamples, iterations=learner.iterated_power,
            normalizer=learner.power_iteration_normalizer, seed=seed,
        )  # fmt: skip
        return axes, "randomized"
    if solver == "arpack":
        seed = spawn(learner.random_state, 1)[0]
        most = min(n, p) - 1
        return by_arpack(Z, weight, min(number, most), tolerance=learner.tol, seed=seed), "arpack"
    if solver == "gram" or (solver == "auto" and n < p):
        found = by_gram(Z, weight, number, n_jobs=learner.n_jobs)
        if found is not None:
            return found, "gram"
    return by_svd(Z, weight, number), "full"


def _deviations(squares: Floats, weight: float) -> Floats:
    """Standard deviations; 1 for a column that is constant."""
    deviation = np.sqrt(np.maximum(squares, 0.0) / (weight - 1))
    return np.where(deviation > 0, deviation, 1.0)
