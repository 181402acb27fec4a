"""What an interval does not guarantee, in words: too few rows, too many parameters, heavy tails."""

from math import ceil, sqrt

import numpy as np

from empirisk.risk.intervals.loss_table import LossTable
from empirisk.runtime.arrays import Floats

FEW = 50
FEW_CHOSEN = 250
"""Of 0-1 losses after a choice, where the freedom of the learner is not known: simulated intervals
at 90 % of pruned trees covered 84 to 94 % with 100 rows of four populations, 83 to 93 % with 150,
91 to 93 % with 300."""
PER_PARAMETER = 5
LEAST_HILL_INDEX = {50: 0.95, 100: 1.7}
"""From so many rows on. With 50 rows, 2,500 samples each: squares of lognormal errors are doubted
in about 60 %, of normal ones in 1 %. A higher index would doubt half of the samples with Laplace
errors, and leave without a word those that lack large losses, whose intervals are shorter."""
HEAVY_TAIL = (
    "a few rows dominate the mean, so that the level is not guaranteed: consider a loss that "
    "grows more slowly, where there is one (absolute for squared, brier for log)"
)

FAR = 2.0
"""Times the error of the losses that rows may move a share through the model, to first order;
simulated at 90 %, where some training sets give a constant rule intervals contained the risk of
the procedure in 72 to 77 %, and half of them are beyond it; elsewhere 0 to 26 %."""
NEAR_A_CONSTANT = "other rows may give quite another rule, so that the interval is approximate"

MODELS_DIFFER = (
    "the models of the folds differ in risk by more than their rows explain, and so may that of "
    "all rows: rows kept for a test tell its own (risk.holdout)"
)
"""Where that adds more to the error than the rows are. At 90 %, of 12 settings in which chance
decides (docs/coverage.md), intervals contained the risk of the procedure in 91 to 99 %, but of
shallow trees in 60 and 64 %, and of boosting in 78 %, where nothing is seen before the third split:
there the models of all folds may have missed alike what others find, as one in three had."""


def cautions(table: LossTable, *, is_exact: bool = False) -> tuple[str, ...]:
    """Each a clause that can follow "but"; none where the interval covers as simulated.

    An interval that is exact is not approximate, however few the rows are.
    """
    found = []
    n, df = table.effective_units, table.degrees_of_freedom
    kind = "group" if table.is_grouped else "row"
    what = f"{n:.0f} {kind}{'s' * (n > 1.5)}"
    if n < 0.99 * table.units:
        what = f"{kind}s worth {n:.0f} of equal weight"
    few = FEW_CHOSEN if table.is_best and table.is_share and df is None else FEW
    if n < few - 0.5 and not is_exact:
        found.append(f"with {what} the interval is approximate")
    if df is not None and not table.is_model and n < 0.999 * PER_PARAMETER * df:
        found.append(f"{what} are few for {df:.3g} effective parameters")
    if np.isinf(table.bounds[1]) and has_heavy_tail(table.losses):
        found.append(HEAVY_TAIL)
    if table.is_share and (table.moved.through > FAR or abs(table.moved.shift) > 1):
        found.append(NEAR_A_CONSTANT)
    if table.apart.error > (table.standard_error() or 0.0):
        found.append(MODELS_DIFFER)
    if table.kind == "time":
        found.append("rows in time order depend on one another, which it does not allow for")
    return (*found, *table.doubts)


def has_heavy_tail(losses: Floats) -> bool:
    """Whether the largest losses fall off so slowly that the variance may be infinite."""
    least = [index for rows, index in LEAST_HILL_INDEX.items() if len(losses) >= rows]
    return bool(least) and hill_index(losses) < least[-1]


def hill_index(losses: Floats) -> float:
    """The index a of a tail P(|L| > x) ~ x^-a, from the k largest (Hill 1975):

        1/a = mean of log(l_(i) / l_(k+1)), i = 1..k.

    Infinite where the largest losses are equal, 0 where no more than k are not 0. The variance is
    finite only above 2.

    Examples
    --------
    >>> round(hill_index(np.array([4.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0])), 2)
    3.61
    """
    size = np.abs(losses)
    k = min(max(5, ceil(sqrt(len(size)))), len(size) - 1)
    top = np.sort(np.partition(size, len(size) - k - 1)[-k - 1 :])
    if not top[0] > 0:
        return 0.0
    mean_log = float(np.mean(np.log(top[1:] / top[0])))
    return 1 / mean_log if mean_log > 0 else np.inf
