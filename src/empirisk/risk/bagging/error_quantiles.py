"""Between which errors of old rows that of a new row lies: quantiles of conformal prediction.

The new row may stand anywhere among the old ones, each place being as likely as any other.
"""

import numpy as np

from empirisk.risk.intervals.loss_table import LossTable
from empirisk.runtime.arrays import Bools, Floats, Ints
from empirisk.runtime.errors import DataError

ROUNDING = 1e-12


def error_quantiles(errors: LossTable, level: float) -> tuple[float, float]:
    """The errors between which that of a new row lies with the probability `level`.

    With the shares s_i of the weight and the share m = 1/U of one of U units more, the lower end is
    the largest error e with m + sum of s_i over e_i < e at most (1 - level)/2 (1 + m); the upper
    end likewise from above. For rows of equal weight these are the k-th smallest and the k-th
    largest of n, k = floor((n + 1) (1 - level)/2).

    Examples
    --------
    >>> import numpy as np
    >>> rows, ones = np.arange(19), np.ones(19)
    >>> errors = LossTable(np.arange(19.0), ones, rows, rows, 19, "out_of_bag")
    >>> error_quantiles(errors, 0.9), error_quantiles(errors, 0.8)
    ((0.0, 18.0), (1.0, 17.0))
    """
    order = np.argsort(errors.losses, kind="stable")
    share, m = errors.share[order], 1 / errors.effective_units
    limit = (1 - level) / 2 * (1 + m) * (1 + ROUNDING)
    below = int(np.count_nonzero(m + np.cumsum(share) - share <= limit))
    above = int(np.count_nonzero(m + np.cumsum(share[::-1]) - share[::-1] <= limit))
    if not (below and above):
        what = "groups" if errors.is_grouped else "rows"
        raise DataError(
            f"{100 * level:g} % prediction intervals take the errors of {2 / (1 - level) - 1:.0f} "
            f"{what} at least, and those out of bag are worth {errors.effective_units:.3g}: give "
            "more, or ask for a lower level"
        )
    return float(errors.losses[order[below - 1]]), float(errors.losses[order[-above]])


def covered_by_the_others(errors: LossTable, level: float) -> Bools:
    """Whether each error lies between the quantiles of the errors of all other units, or on one."""
    inside = np.ones(len(errors.losses), dtype=bool)
    of_unit = np.bincount(errors.unit, errors.share)[errors.unit]
    m = 1 / (errors.effective_units - 1)
    limit = (1 - level) / 2 * (1 + m) * (1 + ROUNDING)
    for sign in (1.0, -1.0):
        order = np.argsort(sign * errors.losses, kind="stable")
        tie = np.cumsum(np.diff(errors.losses[order], prepend=errors.losses[order[0]]) != 0)
        last = np.searchsorted(tie, tie, side="right") - 1
        others = np.cumsum(errors.share[order])[last] - _running_sums(errors, order, tie)
        inside[order] &= m + others / (1 - of_unit[order]) > limit
    return inside


def _running_sums(errors: LossTable, order: Ints, tie: Ints) -> Floats:
    """The shares of each row's own unit, summed along the order up to the last of its ties."""
    unit, share = errors.unit[order], errors.share[order]
    place = unit.astype(np.int64) * (int(tie[-1]) + 1) + tie
    by_unit = np.argsort(place, kind="stable")
    unit, place, share = unit[by_unit], place[by_unit], share[by_unit]
    sums = np.cumsum(share)
    last = np.searchsorted(place, place, side="right") - 1
    found = np.empty(len(order))
    found[by_unit] = sums[last] - (sums - share)[np.searchsorted(unit, unit)]
    return found
