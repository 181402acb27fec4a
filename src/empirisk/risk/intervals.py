"""From a table of held-out losses to a standard error and a confidence interval.

Each method is a short function of the table and the level. `choose_method` says which one is valid
for which plan; where none is known, there is no interval, and the reason says so.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np
from scipy import stats
from scipy.sparse import csr_array

from empirisk.runtime.arrays import Floats, Ints
from empirisk.runtime.errors import ParameterError
from empirisk.runtime.parallel import slices

NUMBERS_AT_ONCE = 2**16  # half a megabyte of float64 stays in the cache


@dataclass(frozen=True, eq=False)
class LossTable:
    """The losses of held-out rows: one entry for each held-out prediction.

    `unit` counts what was sampled independently (rows, or groups); `split` the split that held
    the entry out; `n_train` the training rows behind it; `kind` the kind of plan, "test" for a
    model judged on rows it never saw. `bounds` is the range of the loss.
    """

    losses: Floats
    weight: Floats
    unit: Ints
    split: Ints
    n_train: float
    kind: str
    bounds: tuple[float, float] = (-np.inf, np.inf)

    def mean(self) -> float:
        """The weighted mean over all entries: rows are pooled, folds are not averaged."""
        return float(np.average(self.losses, weights=self.weight))

    def standard_error(self) -> float | None:
        """Of the mean, with the unit as the independent observation; None where it is unknown."""
        error = float(standard_errors(self.losses[:, None], self.weight, self.unit)[0])
        return None if np.isnan(error) else error


def standard_errors(losses: Floats, weight: Floats, unit: Ints) -> Floats:
    """Of the weighted means of the columns, with the unit as the independent observation:

        Var = U/(U-1) sum_u (sum_{i in u} w_i (l_i - mean))^2 / (sum_i w_i)^2.

    NaN for a single unit, or where a loss is infinite.
    """
    units = int(np.count_nonzero(np.bincount(unit)))
    if units < 2:
        return np.full(losses.shape[1], np.nan)
    share = weight / weight.sum()
    size = np.maximum(np.maximum(losses.max(axis=0), -losses.min(axis=0)), np.finfo(float).tiny)
    with np.errstate(invalid="ignore"):  # infinite losses end as NaN
        mean = share @ losses
        if units < len(unit):
            sums = csr_array((share, (unit, np.arange(len(unit))))) @ ((losses - mean) / size)
            square = np.einsum("ij,ij->j", sums, sums)
        else:
            square = _weighted_squares(losses, mean, size, share**2)
        return size * np.sqrt(units / (units - 1) * square)


def _weighted_squares(losses: Floats, mean: Floats, size: Floats, weight: Floats) -> Floats:
    """sum_i weight_i ((losses_i - mean) / size)^2 of each column, block by block of rows."""
    total = np.zeros(losses.shape[1])
    for block in slices(len(losses), max(1, NUMBERS_AT_ONCE // losses.shape[1])):
        deviation = losses[block] - mean
        deviation /= size
        total += weight[block] @ np.square(deviation, out=deviation)
    return total


@dataclass(frozen=True)
class Interval:
    """What a method found: None for the ends where it gives no interval."""

    ends: tuple[float, float] | None
    standard_error: float | None
    method: str
    reason: str


def per_row_normal(table: LossTable, level: float) -> Interval:
    """Held-out losses as if independent: mean ± z s/sqrt(n) (Bayle et al. 2020).

    Exact in the limit for the rows of a test set; for cross-validation it is short at small n,
    since the folds share training rows.
    """
    error = table.standard_error()
    z = float(stats.norm.ppf((1 + level) / 2))
    return _symmetric(table, z, error, "per-row normal", "the held-out rows are independent")


def corrected_t(table: LossTable, level: float) -> Interval:
    """Folds share training rows, so 1/J becomes 1/J + n_test/n_train (Nadeau and Bengio 2003)."""
    splits, codes = np.unique(table.split, return_inverse=True)
    J = len(splits)
    if J < 2:
        return _none(table, "corrected t", "there is one split only")
    weight = np.bincount(codes.reshape(-1), table.weight)
    fold_mean = np.bincount(codes.reshape(-1), table.weight * table.losses) / weight
    scale = float(np.abs(fold_mean).max()) or 1.0
    spread = np.average(((fold_mean - table.mean()) / scale) ** 2, weights=weight) * J / (J - 1)
    n_test = len(table.losses) / J
    error = scale * float(np.sqrt(spread * (1 / J + n_test / table.n_train)))
    t = float(stats.t.ppf((1 + level) / 2, J - 1))
    reason = "the splits share training rows, which widens the interval"
    return _symmetric(table, t, error, "corrected t", reason)


METHODS: dict[str, Callable[[LossTable, float], Interval]] = {
    "per_row_normal": per_row_normal,
    "corrected_t": corrected_t,
}
Method = Literal["auto", "per_row_normal", "corrected_t"]

NO_INTERVAL = {
    "time": "the rows are ordered in time, and no valid interval is known for dependent rows",
    "given": "the splits were given, and what they share is not known: name a method to get one",
}


def interval(table: LossTable, level: float, method: str = "auto") -> Interval:
    """The interval by the named method, or by the one that is valid for the table's plan."""
    if not 0 < level < 1:
        raise ParameterError(f"level is {level}; it must lie between 0 and 1, such as 0.95")
    if method != "auto" and method not in METHODS:
        raise ParameterError(f"method is {method!r}; choose 'auto' or one of {sorted(METHODS)}")
    if not np.isfinite(table.losses).all():
        return _none(table, "none", "some losses are not finite")
    if method == "auto" and table.kind in NO_INTERVAL:
        return _none(table, "none", NO_INTERVAL[table.kind])
    if method == "auto":
        method = "per_row_normal" if table.kind in ("test", "holdout") else "corrected_t"
    return METHODS[method](table, level)


def _symmetric(
    table: LossTable, quantile: float, error: float | None, method: str, reason: str
) -> Interval:
    mean = table.mean()
    if error is None:
        return _none(table, method, "a single held-out unit shows no spread")
    if error == 0:
        return _none(table, method, "all held-out losses are equal, so their spread is unknown")
    low, high = mean - quantile * error, mean + quantile * error
    ends = (max(low, table.bounds[0]), min(high, table.bounds[1]))
    return Interval(ends, error, method, reason)


def _none(table: LossTable, method: str, reason: str) -> Interval:
    return Interval(None, table.standard_error() or None, method, reason)
