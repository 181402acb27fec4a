"""Whether large losses are so rare that held-out rows may lack them, as the loss itself tells.

What the largest losses are is not seen in a sample that lacks them: of a cost that no row met the
spread tells nothing, and of a high quantile nearly all that there is to lose lies in the few rows
beyond it.
"""

from dataclasses import replace

from empirisk.losses import Loss, Quantile
from empirisk.losses.costs import MatrixLoss
from empirisk.risk.intervals.loss_table import LossTable

UNSEEN = 3.0
"""What happens to a share of 3/n of all rows is missed by n of them in 5 % of samples."""
NOTABLE = 2.0
"""Standard errors of the mean. Simulated at 90 %, 50 to 1,000 rows, costs of 1 and of 2 to 100: of
samples in which the larger one is seen 89 to 99 % cover; of all of them 17 to 71 % where it is 20
or more and expected in up to 1 row, since the others miss it."""
FEW_BEYOND = 10.5
"""Rows. Simulated at 90 % of a test set, normal and exponential errors: 53 to 57 % where 1 row is
expected beyond the quantile, 75 to 80 % of 2.5 or 3, 84 to 89 % of 5, 88 to 90 % of 10, 90 to 93 %
of 20."""


def with_doubts(table: LossTable, loss: Loss) -> LossTable:
    """The table with what rare losses leave in doubt, each a clause that can follow "but"."""
    return replace(table, doubts=(*table.doubts, *_rare_costs(table, loss), *_beyond(table, loss)))


def _rare_costs(table: LossTable, loss: Loss) -> tuple[str, ...]:
    """Where no row met the largest cost, and a share that may well be missed would count."""
    if not isinstance(loss, MatrixLoss):
        return ()
    costs = loss.costs()
    largest, next_largest = costs.max(), costs[costs < costs.max()].max(initial=0.0)
    error = table.standard_error() if table.losses.max() <= next_largest else None
    if not error or UNSEEN * largest / table.effective_units <= NOTABLE * error:
        return ()
    return (f"no held-out row met the largest cost of {largest:g}, which may be rare, not absent",)


def _beyond(table: LossTable, loss: Loss) -> tuple[str, ...]:
    """Where the quantile leaves few rows on one side."""
    if not isinstance(loss, Quantile):
        return ()
    expected = table.effective_units * min(loss.q, 1 - loss.q)
    if expected >= FEW_BEYOND:
        return ()
    where = f"only about {expected:.2g} rows are expected beyond the {loss.q:g} quantile"
    return (f"{where}, and they make much of the risk",)
