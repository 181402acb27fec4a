"""Where a partial dependence looks at rows that do not occur."""

from typing import Any

import numpy as np

from empirisk.data.table import Table
from empirisk.risk.dependence.grid import Grid
from empirisk.risk.importances.association import STRONG, associations_with
from empirisk.risk.importances.features import names_of
from empirisk.runtime.errors import DataTypeError

NAMED = 3  # of the columns that a feature goes with


def cautions_of(X: Any, grids: list[Grid]) -> tuple[str, ...]:
    """A sentence for each feature that goes with others that are not set with it."""
    try:
        table = X if isinstance(X, Table) else Table.of(X, names=names_of(X))
    except DataTypeError:  # a sparse matrix, or columns that the predictor alone understands
        return ()
    together = {grid.column for grid in grids}
    found = []
    for grid in grids:
        strength = associations_with(table, grid.column)
        others = [k for k in np.argsort(-strength).tolist() if k not in together]
        strong = [k for k in others if strength[k] >= STRONG]
        if strong:
            named = ", ".join(f"{table.names[k]} ({strength[k]:.2f})" for k in strong[:NAMED])
            more = f" and {len(strong) - NAMED} more" if len(strong) > NAMED else ""
            found.append(
                f"{grid.name} goes together with {named}{more}: some of the rows that are averaged "
                "over do not occur, and there the model is not held to any data."
            )
    if len(grids) == 2:
        strength = associations_with(table, grids[0].column)[grids[1].column]
        if strength >= STRONG:
            found.append(
                f"{grids[0].name} and {grids[1].name} go together ({strength:.2f}): some pairs of "
                "their values do not occur."
            )
    return tuple(found)
