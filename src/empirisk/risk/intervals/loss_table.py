"""The table of held-out losses that every interval is computed from, and its standard error."""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple, Self

import numpy as np
from scipy.sparse import csr_array

from empirisk.risk.intervals.fold_models import ALIKE, Apart, how_far_apart
from empirisk.runtime.arrays import Floats, Ints
from empirisk.runtime.parallel import slices

NUMBERS_AT_ONCE = 2**15  # a quarter of a megabyte of float64 stays in the cache
LEAST_SQUARE = 1e-200  # smaller ones may have lost digits to underflow
FEW_DIFFERENT = 6  # rows: simulated at 90 %, rivals expected to differ on 3 to 6: 82 to 84 %
ROUNDING = 1e-12  # equal losses may come out that far apart, relative to their size


class Moved(NamedTuple):
    """In units of the standard error: that of losses and `through` together, `shift`, and that of
    losses and `through_other` together; 0 where they are not known."""

    through: float
    shift: float
    through_other: float


@dataclass(frozen=True, eq=False)
class LossTable:
    """The losses of held-out rows: one entry for each held-out prediction.

    `unit` counts what was sampled independently (rows, or groups); `split` the split that held the
    entry out; `n_train` the training rows behind it; `kind` the kind of plan, "test" for a model
    judged on rows given as ones it never saw. `bounds` is the range of the loss.
    `degrees_of_freedom` are those of the learner when all rows train, None where they are not
    known. `is_best` says that it is the best of many, whose mean is corrected by an estimate, or of
    a procedure that chooses anew in every training part. `how` says how the rows came to be judged
    where that is not by folds, and `doubts` what is not guaranteed for a reason that the losses do
    not show. `through` is how the row of each entry moves the risk through the model, and `shift`
    what it costs that training parts are smaller than all rows (see `influence.py`);
    `through_other` the same as `through` of a model that aims at another loss. `beside` are
    the losses of the model of all rows on the rows of the entries, where that model is known and
    the learner may find something else in each fold (see `fold_models.py`). `of_folds` are losses
    by which folds compare, where these do not: those of ranks count twice what a fold has more.
    """

    losses: Floats
    weight: Floats
    unit: Ints
    split: Ints
    n_train: float
    kind: str
    bounds: tuple[float, float] = (-np.inf, np.inf)
    degrees_of_freedom: float | None = None
    is_best: bool = False
    how: str = ""
    doubts: tuple[str, ...] = ()
    through: Floats | None = None
    shift: float = 0.0
    through_other: Floats | None = None
    beside: Floats | None = None
    of_folds: Floats | None = None

    @classmethod
    def of_test_rows(
        cls, losses: Floats, weight: Floats, unit: Ints, bounds: tuple[float, float]
    ) -> Self:
        """The losses of one model on rows it never saw."""
        split = np.zeros(len(losses), dtype=np.int64)
        return cls(losses, weight, unit, split, n_train=np.inf, kind="test", bounds=bounds)

    @cached_property
    def share(self) -> Floats:
        """The weights, made to sum to one."""
        return self.weight / self.weight.sum()

    def mean(self) -> float:
        """The weighted mean over all entries: rows are pooled, folds are not averaged."""
        mean = self.share @ self.losses
        return float(np.clip(mean, self.losses.min(), self.losses.max()))  # equal losses: exact

    def standard_error(self) -> float | None:
        """Of the mean, with the unit as the independent observation; None where it is unknown."""
        error = float(standard_errors(self.losses[:, None], self.weight, self.unit)[0])
        return None if np.isnan(error) else error

    @cached_property
    def moved(self) -> Moved:
        """By how much rows move the risk in other ways than by their losses."""
        error = self.standard_error()
        if not error:
            return Moved(0.0, 0.0, 0.0)
        both = [
            0.0
            if through is None
            else float(standard_errors((self.losses + through)[:, None], self.weight, self.unit)[0])
            for through in (self.through, self.through_other)
        ]
        return Moved(both[0] / error, self.shift / error, both[1] / error)

    @cached_property
    def apart(self) -> Apart:
        """How far the risks of the folds' models lie apart; not at all where one model is judged.

        Nor where the degrees of freedom are known, as of rules that change little by little.
        """
        if self.is_model or self.degrees_of_freedom is not None:
            return ALIKE
        losses = self.losses if self.of_folds is None else self.of_folds
        return how_far_apart(losses, self.beside, self.share, self.unit, self.split)

    @cached_property
    def units(self) -> int:
        """How many independent observations there are."""
        return int(np.count_nonzero(np.bincount(self.unit)))

    @cached_property
    def is_grouped(self) -> bool:
        """Whether some split holds out several rows of one unit."""
        if np.bincount(self.unit).max() == 1:
            return False
        pairs = self.split.astype(np.int64) * (int(self.unit.max()) + 1) + self.unit
        return len(np.unique(pairs)) < len(pairs)

    @property
    def are_equal(self) -> bool:
        """Whether all losses are the same number, up to rounding."""
        largest = np.abs(self.losses).max()
        return bool(np.ptp(self.losses) <= ROUNDING * largest)

    @cached_property
    def skewness(self) -> float:
        """Of the mean: sum d^3 / (sum d^2)^(3/2), d the deviations of the units, weighted."""
        largest = float(np.abs(self.losses).max()) or 1.0
        deviation = self.share * (self.losses / largest - self.mean() / largest)
        sums = np.bincount(self.unit, deviation)
        of_unit = sums / (float(np.abs(sums).max()) or 1.0)
        squares = np.square(of_unit)
        square = float(squares.sum())
        return float((squares * of_unit).sum()) / square**1.5 if square > 0 else 0.0

    @property
    def is_model(self) -> bool:
        """Whether one model is judged, on rows that took no part in it."""
        return self.kind in ("test", "holdout") or (self.kind == "time" and not self.split.any())

    @property
    def are_plain(self) -> bool:
        """Whether each entry is a row of its own, and all have the same weight."""
        return self.units == len(self.unit) and bool((self.weight == self.weight[0]).all())

    @property
    def is_share(self) -> bool:
        """Whether every loss is nothing or all there can be, as with the 0-1 loss."""
        low, high = self.bounds
        if low != 0 or not 0 < high < np.inf:
            return False
        return bool(((self.losses == 0) | (self.losses == high)).all())

    def minus(self, other: Self) -> Self:
        """The differences of the losses of the same rows; none where they are all rounding."""
        most = self.bounds[1] - self.bounds[0]
        one, two = self.degrees_of_freedom, other.degrees_of_freedom
        losses = _differences(self.losses, other.losses)
        differ = int(np.count_nonzero(np.bincount(self.unit, np.abs(losses))))
        what = f"{differ} {'group' if self.is_grouped else 'row'}{'s' * (differ > 1)}"
        few = (f"they differ on {what} only",) if differ < FEW_DIFFERENT else ()
        return replace(
            self,
            losses=losses,
            bounds=(-most, most),
            degrees_of_freedom=None if one is None or two is None else max(one, two),
            is_best=False,
            doubts=tuple(dict.fromkeys((*self.doubts, *other.doubts, *few))),
            through=_difference(self.through, other.through),
            shift=self.shift - other.shift,
            through_other=_difference(self.through_other, other.through_other),
            beside=_difference(self.beside, other.beside),
            of_folds=_difference(self.of_folds, other.of_folds),
        )

    @cached_property
    def effective_units(self) -> float:
        """The number of equal units with the same variance of a mean: (sum w)^2 / sum w^2."""
        of_unit = np.bincount(self.unit, self.share)
        return float(1 / np.square(of_unit).sum())


def _differences(one: Floats, other: Floats) -> Floats:
    """Two programs for one rule differ by rounding, of which no error can be told."""
    difference, rounding = one - other, ROUNDING * np.abs(one)
    if (np.abs(difference) <= rounding + rounding.mean()).all():
        return np.zeros(len(difference))
    return difference


def _difference(one: Floats | None, other: Floats | None) -> Floats | None:
    """What is not known counts as nothing."""
    if one is None or other is None:
        return one if other is None else -other
    return one - other


def standard_errors(
    losses: Floats, weight: Floats, unit: Ints, mean: Floats | None = None
) -> Floats:
    """Of the weighted means of the columns, with the unit as the independent observation:

        Var = U/(U-1) sum_u (sum_{i in u} w_i (l_i - mean))^2 / (sum_i w_i)^2.

    NaN for a single unit, or where a loss is infinite. `mean` is that of each column if known.
    """
    units = int(np.count_nonzero(np.bincount(unit)))
    if units < 2:
        return np.full(losses.shape[1], np.nan)
    share = weight / weight.sum()
    with np.errstate(invalid="ignore", over="ignore"):  # infinite losses end as NaN
        mean = share @ losses if mean is None else mean
        gather = None
        if units < len(unit):
            gather = csr_array((share, (unit, np.arange(len(unit)))))
        square = _squares(losses, mean, None, share, gather)
        if ((square > LEAST_SQUARE) & (square < np.inf)).all():
            return np.sqrt(units / (units - 1) * square)
        largest = np.maximum(losses.max(axis=0), -losses.min(axis=0))
        size = np.maximum(largest, np.finfo(float).tiny)
        return size * np.sqrt(units / (units - 1) * _squares(losses, mean, size, share, gather))


def _squares(
    losses: Floats, mean: Floats, size: Floats | None, share: Floats, gather: csr_array | None
) -> Floats:
    """sum_u (sum_{i in u} share_i (losses_i - mean) / size)^2 of each column; no size is 1."""
    if gather is not None:
        sums = gather @ ((losses - mean) / (1.0 if size is None else size))
        return np.einsum("ij,ij->j", sums, sums)
    total, weight = np.zeros(losses.shape[1]), share**2
    for block in slices(len(losses), max(1, NUMBERS_AT_ONCE // losses.shape[1])):
        deviation = losses[block] - mean
        if size is not None:
            deviation *= 1 / size
        total += weight[block] @ np.square(deviation, out=deviation)
    return total
