"""The measures that have a name, as losses have: of rows together, not means of losses of each."""

from typing import Literal, get_args

Name = Literal[
    "accuracy", "precision", "recall", "specificity", "f_score", "auc", "average_precision"
]
MEASURES: tuple[str, ...] = get_args(Name)
