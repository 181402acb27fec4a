"""What was done, and what the errors cover, in sentences that can be read out."""

from empirisk.risk.estimate import RiskEstimate
from empirisk.risk.importances.error import shared_when_refitted
from empirisk.risk.importances.result import How
from empirisk.risk.intervals.interval import NO_INTERVAL, shared_training
from empirisk.risk.intervals.loss_table import LossTable

SWAP = {
    "test": "when the test rows swap their values of a feature",
    "out_of_fold": "when the rows that a fold held out swap their values of a feature",
    "out_of_bag": "when rows swap their values of a feature, each judged by the members that did "
    "not draw it, together",
    "members": "when rows swap their values of a feature, each judged by the members that did not "
    "draw it, one by one",
    "retrain": "when the training rows swap their values of a feature and it is fitted again",
}
BIAS = (
    "The share of the impurity that the splits of the tree{s} by a feature take away, on the "
    "training rows: biased towards features of many different values, of which noise has a share, "
    "too; permuting on other rows tells them apart."
)


def what_rises(is_measure: bool, baseline: RiskEstimate) -> str:
    """The importance as an axis calls it."""
    return f"{'fall' if is_measure else 'rise'} in {baseline.quantity}"


def done(how: How, quantity: str) -> str:
    """What was done, before the table of what came of it."""
    whose = {"test": " of this model", "members": " of the members"}.get(how, " of the procedure")
    return f"The {quantity}{whose} {SWAP[how]}:"


def covered(how: How, table: LossTable, repeats: int) -> str:
    """Which sources of chance the errors have in them."""
    if table.kind in NO_INTERVAL:
        return f"There are no intervals: {NO_INTERVAL[table.kind]}."
    what = f"{table.units} {'groups' if table.is_grouped else 'rows'}"
    times = f"{repeats} permutation{'s' * (repeats > 1)}"
    text = f"The intervals cover the choice of the {what} and of the {times}"
    if how == "retrain" and repeats == 1:
        text = f"The intervals cover the choice of the {what}; a single permutation hides its own"
    if table.is_model:
        return f"{text}, not that of the model."
    lam = (shared_when_refitted if how == "retrain" else shared_training)(table) ** 0.5
    shared = "members" if how in ("out_of_bag", "members") else "folds"
    return (
        f"{text}, for the model of these rows, not of others; the {shared} share training rows, so "
        f"{lam:.2f} times the error of independent {'groups' if table.is_grouped else 'rows'}."
    )


def of_impurity(members: int, *, one_tree: bool) -> dict[str, str]:
    """The sentences for what so many bagged trees tell of themselves; 0 for a single model."""
    if members > 1:
        covers = f"The intervals cover the draw of the {members} trees alone, not that of the rows."
    else:
        covers = "There are no intervals: one model shows no spread."
    return {"method": BIAS.format(s="" if one_tree else "s"), "covers": covers}
