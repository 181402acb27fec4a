"""Held-out predictions of least squares and ridge for a whole plan, without refitting.

Leave-one-out, for every penalty from one factorisation: with the leverage h_i (the i-th diagonal
element of the hat matrix, weights and intercept included) and the residual r_i,

    y_i - prediction without row i = r_i / (1 - h_i)

Other partitions: the moments of a training part are those of all rows less those of the fold, and
one spectral decomposition gives all penalties. One penalty goes without it: see `fold_sums`.
"""

from collections.abc import Callable, Iterator, Sequence
from functools import partial, reduce
from operator import add
from typing import Any

import numpy as np

from empirisk.data.blocks import Rows
from empirisk.data.encode import FoldDesign, FoldMap
from empirisk.data.moments import Moments
from empirisk.data.scaling import Scales, ordinary_rows, scaled_penalty
from empirisk.learners.linear.fold_sums import trained_rules
from empirisk.learners.linear.linear_rule import LinearPath, LinearRule, as_columns, predict_all
from empirisk.risk.axis import Block, CannotSubtractError, HeldOut, refuse_no_partition
from empirisk.risk.plans.parts import parts_of
from empirisk.risk.plans.plan import Plan
from empirisk.runtime.arrays import Array, Floats, Ints
from empirisk.runtime.deadlines import check_deadline
from empirisk.runtime.parallel import one_blas_thread
from empirisk.solvers.normal_equations import NormalEquations
from empirisk.solvers.spectrum import (
    Spectrum,
    gram_spectrum,
    row_side,
    spectrum_of_rows,
    without_constants,
)

CONDITION_LIMIT = 1e3
"""Moments less a fold's give 10 correct digits up to this condition number of the design."""
EXACT = 1e-11
"""Relative error that 1 - h_i may have."""
TINY = np.finfo(float).tiny
MOST_NUMBERS = 2**27
"""Statistics of all folds that are held in memory together: 1 GB."""


def held_out(
    learner: LinearRule,
    X: Floats | FoldDesign,
    y: Array,
    sample_weight: Floats,
    plan: Plan,
    values: Sequence[Any],
    *,
    alphas: Floats | None,
    rows_per_block: int,
) -> HeldOut:
    """Predictions (rows, alphas[, outputs]) of held-out rows; alphas None is least squares.

    Raises `CannotSubtractError` at once where fitting each fold would be more exact.
    """
    refuse_no_partition(plan)
    intercept, flat = bool(learner.fit_intercept), y.ndim == 1
    alone = plan.n_splits == plan.n * plan.repeats
    Z, fold_map = (X.Z, X.fold_map) if isinstance(X, FoldDesign) else (X, None)
    if alone and fold_map is not None:
        raise CannotSubtractError("without each row in turn the encoder is another one")
    rows = Rows(Z, as_columns(y), sample_weight)
    if fold_map is None:
        rows = without_constants(rows, intercept)
    rows, scales = ordinary_rows(rows, each=alphas is None)
    penalties = np.zeros(1)
    if alphas is not None:
        penalties = scaled_penalty(alphas, scales.X[0], scales.weight)
    with one_blas_thread():
        if alone:
            predict, whole = _leave_one_out(rows, penalties, intercept)
            parts = [(repeat, np.arange(plan.n), predict) for repeat in range(plan.repeats)]
        else:
            if len(penalties) == 1 and fold_map is None:
                found = _by_parts(rows, plan, float(penalties[0]), intercept, rows_per_block)
                if found is not None:
                    return HeldOut(_scaled(found, scales.y, flat))
            parts, whole = _folds(rows, plan, penalties, intercept, fold_map), None
    path = None
    exact = whole is not None and whole.condition(float(penalties.min())) <= CONDITION_LIMIT
    if whole is not None and exact and rows.X.shape == Z.shape:
        coef, level = scales.raw(*whole.coefficients(penalties))
        freedom = whole.degrees_of_freedom(penalties) + intercept
        rise = None if alphas is None else mean_rise(whole, penalties, rows, scales)
        path = LinearPath(learner, values, coef, level, freedom, flat=flat, rise=rise)
    return HeldOut(_blocks(parts, scales.y, flat, rows_per_block), path)


def mean_rise(spectrum: Spectrum, penalties: Floats, rows: Rows, scales: Scales) -> Floats:
    """The `rise` of a path, from the spectrum of scaled rows: a mean over rows and outputs."""
    with np.errstate(over="ignore", invalid="ignore"):  # as the losses themselves
        squares = (spectrum.rise(penalties) * scales.y * scales.y).mean(axis=1)
    return squares / float(rows.weight.sum())


Values = Iterator[tuple[int, Ints, Floats]]


def _by_parts(
    rows: Rows, plan: Plan, penalty: float, intercept: bool, rows_per_block: int
) -> Values | None:
    """All splits at once, at one penalty; None where there is no exact way."""
    parts = parts_of(plan)
    if parts is None:
        return None
    rules = trained_rules(rows, parts, penalty, intercept, CONDITION_LIMIT)
    return None if rules is None else parts.linear(rows.X, *rules, rows_per_block)


def _scaled(values: Values, scale: Floats, flat: bool) -> Iterator[Block]:
    for repeat, rows, value in values:
        prediction = value * scale
        yield repeat, rows, prediction if flat else prediction[:, np.newaxis]


Predict = Callable[[Ints], Floats]
Part = tuple[int, Ints, Predict]


def _blocks(parts: list[Part], scale: Floats, flat: bool, rows_per_block: int) -> Iterator[Block]:
    for repeat, rows, predict in parts:
        for start in range(0, len(rows), rows_per_block):
            check_deadline()
            some = rows[start : start + rows_per_block]
            with one_blas_thread():
                prediction = predict(some)
                prediction *= scale
            yield repeat, some, prediction[:, :, 0] if flat else prediction


def _leave_one_out(rows: Rows, penalties: Floats, intercept: bool) -> tuple[Predict, Spectrum]:
    """The prediction of each row by all others, and the spectrum of all rows."""
    n, p = rows.X.shape
    least = float(penalties.min())
    root = np.sqrt(rows.weight)[:, np.newaxis]
    if n < p + intercept:
        whole, left = row_side(rows, intercept)
        spectrum = whole
    else:
        whole = spectrum_of_rows(rows, intercept, least)
        spectrum, left = whole.left((rows.X - whole.centre) * root, least)
    target = (rows.y - spectrum.level) * root
    along = left.T @ target
    rest = target - left @ along
    squared = left**2
    gap = 1.0 - squared.sum(axis=1) - rows.weight / rows.weight.sum() * intercept
    if left.shape[1] == n - intercept:  # U is complete: what seems left is rounding error
        rest, gap = np.zeros_like(rest), np.zeros_like(gap)
    shrunk = penalties / (spectrum.square[:, np.newaxis] + penalties)
    _refuse_inexact(squared, gap, shrunk[:, penalties.argmin()])
    outputs, n_penalties = rows.y.shape[1], len(penalties)
    weights = shrunk[:, :, np.newaxis] * along[:, np.newaxis, :]
    weights = weights.reshape(len(shrunk), n_penalties * outputs)

    def predict(some: Ints) -> Floats:
        run = slice(some[0], some[-1] + 1)  # the blocks are cut from all rows in order
        residual = (left[run] @ weights).reshape(len(some), n_penalties, outputs)
        residual += rest[run, np.newaxis]
        remaining = squared[run] @ shrunk
        remaining += gap[run, np.newaxis]
        remaining *= root[run]
        residual /= remaining[:, :, np.newaxis]
        return np.subtract(rows.y[run, np.newaxis], residual, out=residual)

    return predict, whole


def _refuse_inexact(squared: Floats, gap: Floats, shrunk: Floats) -> None:
    """Refuse where rounding errors of the leverages are too large against 1 - leverage.

    The left vectors, here `squared`, have length 1; by how much they miss it tells their errors.
    `shrunk` belongs to the least penalty, where the leverages are largest.
    """
    length = squared.sum(axis=0)
    error = float(((1 - shrunk) * np.abs(length - 1)).max(initial=0.0)) + 2e-15
    gaps = gap + squared @ shrunk
    smallest = float(gaps.min())
    # Where U is complete, 1 - leverage is a sum of positive terms and as exact as each of them.
    scale = smallest if gap.any() else float(smallest > 0)
    if not error <= EXACT * scale:
        raise CannotSubtractError(
            f"1 - leverage is {smallest:.1e} for row {int(gaps.argmin())}: the row all but "
            "determines its own fit, and its leave-one-out prediction would lose digits"
        )


def _folds(
    rows: Rows, plan: Plan, penalties: Floats, intercept: bool, fold_map: FoldMap | None
) -> list[Part]:
    p, outputs = rows.X.shape[1], rows.y.shape[1]
    numbers = plan.n_splits * p * (p + len(penalties) * outputs)
    if numbers > MOST_NUMBERS:
        raise CannotSubtractError(f"the moments of {plan.n_splits} folds do not fit into memory")
    parts: list[Part] = []
    first = 0
    while first < plan.n_splits:
        repeat = plan.repeat(first)
        splits = [s for s in range(first, plan.n_splits) if plan.repeat(s) == repeat]
        tests = [plan.test(s) for s in splits]
        parts += _repeat(rows, repeat, tests, penalties, intercept, fold_map)
        first = splits[-1] + 1
    return parts


def _repeat(
    rows: Rows,
    repeat: int,
    tests: list[Ints],
    penalties: Floats,
    intercept: bool,
    fold_map: FoldMap | None,
) -> list[Part]:
    """The folds of one repeat: moments of all rows less those of each fold."""
    moments = [Moments.of(*(column[test] for column in rows)) for test in tests]
    total = reduce(add, moments)
    least = float(penalties.min())
    parts: list[Part] = []
    for test, part in zip(tests, moments, strict=True):
        check_deadline()
        if fold_map is None:
            coef, level = _training_spectrum(total, part, least, rows, intercept).coefficients(
                penalties
            )
        else:
            coef, level = _encoded(total, part, rows, penalties, intercept, fold_map)
        parts.append((repeat, test, partial(_predict, rows.X, coef, level)))
    return parts


def _encoded(
    total: Moments,
    part: Moments,
    rows: Rows,
    penalties: Floats,
    intercept: bool,
    fold_map: FoldMap,
) -> tuple[Floats, Floats]:
    """Coefficients for Z where the training part is encoded as X = Z A + b."""
    A, b = fold_map((total - part).of_first(rows.X.shape[1]))
    total, part = total.mapped(A, b), part.mapped(A, b)
    spectrum = _training_spectrum(total, part, float(penalties.min()), rows, intercept)
    coef, level = spectrum.coefficients(penalties)
    return coef @ A.T, level + coef @ b


def _predict(X: Floats, coef: Floats, intercept: Floats, some: Ints) -> Floats:
    return predict_all(X[some], coef, intercept, flat=False)


def _training_spectrum(
    total: Moments, part: Moments, penalty: float, rows: Rows, intercept: bool
) -> Spectrum:
    """The spectrum of all rows but those of one fold, or a refusal."""
    p = len(total.mean) - rows.y.shape[1]
    if total.rows - part.rows < p + intercept:
        raise CannotSubtractError(
            f"{p} columns for {total.rows - part.rows} training rows: each fold is best solved "
            "through its rows"
        )
    equations = NormalEquations.of(total - part, p, intercept)
    everything = np.diagonal(NormalEquations.of(total, p, intercept).gram) + penalty
    training = np.diagonal(equations.gram) + penalty
    # What the fold takes away leaves its rounding errors behind.
    with np.errstate(over="ignore"):
        lost = float((everything / np.maximum(training, TINY)).max(initial=1.0))
    spectrum = gram_spectrum(equations, penalty, CONDITION_LIMIT / np.sqrt(lost))
    if isinstance(spectrum, float):
        condition = min(spectrum * np.sqrt(lost), 1 / TINY)
        raise CannotSubtractError(
            f"the condition number of a training design is {condition:.1e}; moments less a fold's "
            f"are exact up to {CONDITION_LIMIT:.0e}"
        )
    return spectrum
