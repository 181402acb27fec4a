"""What the chosen model assumes, tested on the table it was learned from."""

import numpy as np

from empirisk.data.table import Table
from empirisk.report.chosen_model import fitted_model
from empirisk.selection.select import Selection

MOST_ROWS, MOST_COLUMNS = 20_000, 200


def independence_sentence(
    selection: Selection, table: Table, target: str
) -> tuple[bool, str] | None:
    """Whether the columns look independent within classes, and what a test says of it.

    None for models that do not assume it, and for tables too wide to test every pair. Of a long
    table some rows, evenly spread, are tested.
    """
    model = fitted_model(selection.model)
    names = getattr(model, "feature_names_in_", None)
    if not hasattr(model, "independence_test") or names is None or len(names) > MOST_COLUMNS:
        return None
    if target not in table or not set(names) <= set(table.names):
        return None
    codes = {label: k for k, label in enumerate(model.classes_.tolist())}
    spelled = {str(label): k for label, k in codes.items()}
    labels = [  # the table may have 0.0 for the class 0, and 0.5 for the class "0.5"
        codes.get(value, spelled.get(str(value), -1)) for value in table[target].values().tolist()
    ]
    rows = np.flatnonzero(np.array(labels) >= 0)
    rows = rows[:: max(1, -(-len(rows) // MOST_ROWS))]
    if not len(rows):
        return None
    y = model.classes_[np.array(labels)[rows]]
    found = model.independence_test(table.select(names).take(rows), y)
    return not found.dependent(), found.sentence
