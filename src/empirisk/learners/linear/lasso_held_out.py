"""Held-out predictions of the lasso and the elastic net for a whole plan, from Gram matrices.

Each fold is summarised once by its moments. Those of a training part are the sum of the moments of
the folds before and of the folds after its own, so that nothing is subtracted and nothing cancels;
they hold all that the path of penalties needs.
"""

from collections.abc import Callable, Iterator, Sequence
from functools import partial, reduce
from itertools import accumulate
from operator import add
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from empirisk.data.blocks import ROWS_PER_BLOCK, Blocks, Rows
from empirisk.data.encode import FoldDesign, FoldMap
from empirisk.data.moments import Moments, total_moments
from empirisk.data.scaling import Scales, have_ordinary_sizes, ordinary_rows
from empirisk.learners.linear.lasso_path import SparsePath
from empirisk.learners.linear.lasso_problem import MANY_COLUMNS, Task, fit_all
from empirisk.learners.linear.linear_rule import as_columns
from empirisk.learners.linear.sparse_lines import SparseLines
from empirisk.risk.axis import Block, CannotSubtractError, HeldOut, refuse_no_partition
from empirisk.risk.plans.plan import Plan
from empirisk.runtime.arrays import Array, Floats, Ints, slice_if_in_a_row
from empirisk.runtime.parallel import one_blas_thread, parallel, slices

if TYPE_CHECKING:
    from empirisk.learners.linear.sparse_rule import SparseRule

MOST_NUMBERS = 2**27
"""Statistics and coefficients of all folds that are held in memory together: 1 GB."""


class Part(NamedTuple):
    """A split: the rows it holds out, and the rules of the path without them."""

    repeat: int
    test: Ints
    lines: SparseLines


def lasso_held_out(
    learner: "SparseRule",
    X: Floats | FoldDesign,
    y: Array,
    sample_weight: Floats,
    plan: Plan,
    values: Sequence[Any],
    alphas: Floats,
    rows_per_block: int,
) -> HeldOut:
    """Predictions (rows, alphas[, outputs]) of held-out rows.

    Raises `CannotSubtractError` at once where fitting each fold costs less.
    """
    Z, fold_map = (X.Z, X.fold_map) if isinstance(X, FoldDesign) else (X, None)
    rows = Rows(Z, as_columns(y), sample_weight)
    _refuse(plan, Z.shape[1], rows.y.shape[1], len(alphas))
    flat = y.ndim == 1
    parts: list[Part] = []
    path: SparsePath | None = None
    for repeat, tests in _repeats(plan):
        folds, scales = _ordinary_folds(rows, tests, learner.n_jobs)
        if fold_map is not None and not scales.are_ones:
            raise CannotSubtractError(
                "the numbers are too large or too small to be encoded by sums"
            )
        with one_blas_thread():
            before = list(accumulate(folds, add))
            after = list(accumulate(reversed(folds), add))[::-1]
            train = partial(_trained, learner, alphas, fold_map, scales, before, after)
            work: list[Callable[[], Any]] = [partial(train, k) for k in range(len(tests))]
            if fold_map is None and path is None:
                task = Task.of_moments(learner._terms(Z.shape[1]), after[0], scales)
                work.append(partial(learner._path, task, values, flat=flat))
            found = parallel(lambda fit: fit(), work, n_jobs=learner.n_jobs)
        path = found.pop() if len(found) > len(tests) else path
        parts += [Part(repeat, *fit) for fit in zip(tests, found, strict=True)]
    return HeldOut(_blocks(parts, Z, flat, rows_per_block), path)


def _refuse(plan: Plan, p: int, outputs: int, n_alphas: int) -> None:
    refuse_no_partition(plan)
    if p > MANY_COLUMNS:
        raise CannotSubtractError(f"{p} columns: each fold is best solved through its columns")
    if plan.n_splits * p * (3 * p + n_alphas * outputs) > MOST_NUMBERS:
        raise CannotSubtractError(f"the moments of {plan.n_splits} folds do not fit into memory")


def _repeats(plan: Plan) -> Iterator[tuple[int, list[Ints]]]:
    splits = range(plan.n_splits)
    for repeat in range(plan.repeats):
        yield repeat, [plan.test(s) for s in splits if plan.repeat(s) == repeat]


def _ordinary_folds(
    rows: Rows, tests: list[Ints], n_jobs: int | None
) -> tuple[list[Moments], Scales]:
    """The moments of each fold, of rows that were scaled if they had to be, with the scales."""
    with one_blas_thread(), np.errstate(over="ignore", invalid="ignore"):
        folds = parallel(partial(_moments, rows), tests, n_jobs=n_jobs)
        total = reduce(add, folds)
    if have_ordinary_sizes(total):
        return folds, Scales.ones(rows.X.shape[1], len(total.mean))
    scaled, scales = ordinary_rows(rows, each=True)
    if scaled is rows:
        return folds, scales
    with one_blas_thread():
        return parallel(partial(_moments, scaled), tests, n_jobs=n_jobs), scales


def _moments(rows: Rows, test: Ints) -> Moments:
    places = [slice_if_in_a_row(test[cut]) for cut in slices(len(test), ROWS_PER_BLOCK)]
    return total_moments(
        Blocks(lambda: (Rows(*(column[place] for column in rows)) for place in places))
    )


def _other_folds(before: list[Moments], after: list[Moments], k: int) -> Moments:
    if k == 0:
        return after[1]
    return before[k - 1] if k + 1 == len(after) else before[k - 1] + after[k + 1]


def _trained(
    learner: "SparseRule",
    alphas: Floats,
    fold_map: FoldMap | None,
    scales: Scales,
    before: list[Moments],
    after: list[Moments],
    k: int,
) -> SparseLines:
    """The rules of the training part of fold k."""
    training = _other_folds(before, after, k)
    if fold_map is None:
        task = Task.of_moments(learner._terms(len(scales.X)), training, scales)
        fits = fit_all(task, alphas)
        learner._warn(fits)
        return SparseLines(fits.coef, fits.intercept)
    A, b = fold_map(training.of_first(len(scales.X)))
    width = A.shape[1]
    encoded = Scales(np.ones(width), scales.y, scales.weight)
    task = Task.of_moments(learner._terms(width), training.mapped(A, b), encoded)
    fits = fit_all(task, alphas)
    learner._warn(fits)
    return SparseLines(fits.coef @ A.T, fits.intercept + fits.coef @ b)


def _blocks(
    parts: list[Part], Z: Floats, flat: bool, rows_per_block: int
) -> Iterator[Callable[[], Block]]:
    for part in parts:
        for cut in slices(len(part.test), rows_per_block):
            yield partial(_predict, part, part.test[cut], Z, flat)


def _predict(part: Part, rows: Ints, Z: Floats, flat: bool) -> Block:
    X = Z[slice_if_in_a_row(rows)]
    return part.repeat, rows, part.lines.predict(X, flat=flat)
