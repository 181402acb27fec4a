"""Kernel densities at all bandwidths: of rows held out, and of whole plans."""

from collections.abc import Callable, Iterator, Sequence
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import clone

from empirisk.learners.density.bandwidth_matrix import HUGE, numbers_of, power_of_two
from empirisk.learners.density.bandwidth_rules import LARGE
from empirisk.learners.density.pair_sums import pair_logs
from empirisk.learners.density.support import checked_support, inside
from empirisk.risk.axis import (
    Block,
    CannotSubtractError,
    HeldOut,
    Output,
    Path,
    refuse_no_partition,
)
from empirisk.risk.plans.plan import Plan
from empirisk.runtime.arrays import Floats, Ints
from empirisk.runtime.parallel import slices

ROWS_AT_ONCE = 256  # held out, so that threads have something to share
NARROWEST = "the narrowest bandwidth that was tried has the least risk"
OF_EQUAL_ROWS = (
    f"{NARROWEST}, as equal rows on both sides of a split make it: give copies as weights or as "
    "`groups`, or a bandwidth by the rule 'cv'"
)
OF_THE_GRID = f"{NARROWEST}, and narrower ones may have less: give `values`"

if TYPE_CHECKING:
    from empirisk.learners.density.kernel_density import KernelDensity


class KernelDensityPath(Path):
    """A kernel density for each bandwidth, of one training set.

    Densities of several columns are found from one pass over the distances; on a line a density of
    many rows is faster alone.
    """

    same_as_fit = True

    def __init__(
        self, learner: "KernelDensity", rows: Floats, weight: Floats, values: Sequence[Any]
    ) -> None:
        self.learner, self.values = learner, values
        self.rows, self.weight = rows.copy(), weight.copy()  # a model of the path keeps them
        learner._check_parameters(rows.shape[1])
        if self._numbers is None:
            for j in range(len(values)):
                self.at(j)

    @cached_property
    def _numbers(self) -> Floats | None:
        return numbers_of(self.values)

    @cached_property
    def _models(self) -> dict[int, "KernelDensity"]:
        return {}

    def at(self, j: int) -> "KernelDensity":
        """The fitted learner at the j-th bandwidth."""
        if j not in self._models:
            model = clone(self.learner).set_params(bandwidth=self.values[j])
            self._models[j] = model._keep(self.rows, self.weight)
        return self._models[j]

    def doubts(self, j: int, output: Output) -> tuple[str, ...]:
        """What is doubtful of the narrowest of several bandwidths, as a clause after "but"."""
        numbers = self._numbers
        if numbers is None or not numbers[j] == numbers.min() < numbers.max():
            return ()
        differ = len(np.unique(self.rows, axis=0)) == len(self.rows)
        return (OF_THE_GRID,) if differ else (OF_EQUAL_ROWS,)

    def predict_path(self, X: Floats, output: Output) -> Floats:
        """-log f(x) of each row, a column for each bandwidth."""
        if self._numbers is None or alone_is_faster(self.learner, self.rows):
            logs = [self.at(j)._log_density(X) for j in range(len(self.values))]
            return 0.0 - np.column_stack(logs)
        pairs = Pairs(self.learner, self.rows, self.weight, self._numbers)
        nobody, everybody = np.full(len(X), -1), np.zeros(len(self.rows), np.int64)
        return 0.0 - pairs.logs(X, nobody, everybody, self.weight.sum())


class Pairs:
    """Densities at many bandwidths, from the distances of targets and rows."""

    def __init__(
        self, learner: "KernelDensity", rows: Floats, weight: Floats, values: Floats
    ) -> None:
        self.kernel, self.d = learner._kernel, rows.shape[1]
        widest = clone(learner).set_params(bandwidth=float(values.max()))._keep(rows, weight)
        images = widest._images
        self.ends = checked_support(learner.support, self.d)
        largest = float(np.abs(rows).max())
        fine = values.min() > 1 / HUGE and max(values.max(), largest) < HUGE
        self.unit = 1.0 if fine else power_of_two(max(largest, float(values.max())))
        self.rows, self.origin = images.rows / self.unit, images.origin
        self.weight, self.values = weight[images.origin], values
        self.n_jobs = learner.n_jobs

    def logs(self, targets: Floats, group: Ints, groups: Ints, n: Any) -> Floats:
        """log f of targets, from the rows of other groups, whose weights sum to n."""
        logs = pair_logs(
            self.kernel, np.ascontiguousarray(targets / self.unit), group, self.rows,
            groups[self.origin], self.weight, np.maximum(self.values / self.unit, 1e-140),
            self.n_jobs,
        )  # fmt: skip
        logs += self.kernel.log_constant(self.d) - self.d * np.log(self.values)
        logs -= np.log(np.reshape(n, (-1, 1)))
        if self.ends is not None:
            logs[~inside(targets, self.ends)] = -np.inf
        return logs


def held_out_densities(
    learner: "KernelDensity",
    rows: Floats,
    weight: Floats,
    plan: Plan,
    values: Sequence[Any],
    rows_per_block: int,
) -> HeldOut:
    """Losses of held-out rows: each pair of rows of different folds counts for both."""
    learner._check_parameters(rows.shape[1])
    numbers = numbers_of(values)
    refuse_no_partition(plan)
    if numbers is None:
        raise CannotSubtractError("the bandwidth depends on the training rows")
    if alone_is_faster(learner, rows) and plan.n_splits <= 100 * plan.repeats:
        raise CannotSubtractError("on a line, boxes of each training part are faster than pairs")
    pairs = Pairs(learner, rows, weight, numbers)

    def block(repeat: int, part: slice) -> Block:
        fold = plan.fold[repeat].astype(np.int64)
        held = np.bincount(fold, weight)[fold[part]]
        logs = pairs.logs(rows[part], fold[part], fold, weight.sum() - held)
        return repeat, np.arange(len(rows))[part], 0.0 - logs

    def blocks() -> Iterator[Callable[[], Block]]:
        for repeat in range(plan.repeats):
            for part in slices(len(rows), min(rows_per_block, ROWS_AT_ONCE)):
                yield partial(block, repeat, part)

    return HeldOut(blocks())


def alone_is_faster(learner: "KernelDensity", rows: Floats) -> bool:
    """Whether boxes on a line beat a pass over all pairs."""
    return rows.shape[1] == 1 and learner.kernel == "gaussian" and len(rows) > LARGE
