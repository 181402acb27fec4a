"""The rows of a fit, as they came and as trees and losses take them."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import is_classifier
from sklearn.utils import _safe_indexing

from empirisk.data.raw_columns import chosen_categories, column_names, is_frame, with_rows
from empirisk.data.table_door import places_in, table_of
from empirisk.learners.class_codes import codes_among
from empirisk.learners.ensembles.boosting.bins import BinnedTable
from empirisk.learners.ensembles.boosting.boosting_settings import checked_bins
from empirisk.learners.ensembles.boosting.rounds import TrainingRows
from empirisk.learners.ensembles.boosting.stopping import JudgedRows
from empirisk.runtime.arrays import Array, Floats, Ints
from empirisk.runtime.column_names import default_names
from empirisk.runtime.complaints import refuse_one_class
from empirisk.runtime.errors import DataError
from empirisk.runtime.targets import check_target


def bin_table(table: Any, learner: Any, weight: Floats | None = None) -> BinnedTable:
    """The bins of what `table_of` gave."""
    p = table.shape[1]
    names = column_names(table) if is_frame(table) else default_names(p)
    return BinnedTable.of(
        table,
        chosen_categories(learner.categorical_features, names, p),
        max_bins=checked_bins(learner.max_bins),
        weight=weight,
        n_jobs=learner.n_jobs,
    )


@dataclass(frozen=True, eq=False)
class TrainingTable:
    """All rows of a fit.

    X, y
        As they came; y as numbers or labels. X may be None where only bins are known.
    target
        Numbers, or codes of the classes.
    given, weighted
        Weights, which are 1 unless they were given.
    weight
        Those of the loss, in which classes have factors.
    bins
    classes : array or None
    """

    X: Any
    y: Array
    target: Array
    given: Floats
    weighted: bool
    weight: Floats
    bins: BinnedTable
    classes: Array | None

    @classmethod
    def of(
        cls, learner: Any, X: Any, y: Any, sample_weight: Any, *, reset: bool
    ) -> "TrainingTable":
        """The rows that a learner is given; `reset` notes their columns in it."""
        table = table_of(X, learner, reset=reset)
        classifier = is_classifier(learner)
        labels, given = check_target(learner, y, table, sample_weight, classifier=classifier)
        weighted, weight, target, classes = sample_weight is not None, given, labels, None
        if classifier:
            classes = np.unique(labels[given > 0])
            refuse_one_class(classes, type(learner).__name__)
            target, _ = codes_among(labels, classes)  # those of weight 0 may be none of them
            coded = learner.for_classes(classes)
            weight = coded._class_weighted(target, given, np.arange(len(classes)))
        bins = bin_table(table, learner, given if weighted else None)
        return cls(X, labels, target, given, weighted, weight, bins, classes)

    @property
    def n_classes(self) -> int:
        return 0 if self.classes is None else len(self.classes)

    def kept(self) -> Ints:
        """The rows of positive weight."""
        return np.flatnonzero(self.given > 0)

    def training(self, rows: Ints) -> TrainingRows:
        """Some rows, to be boosted."""
        every = TrainingRows(self.bins, self.target, self.given, self.weight)
        return every if len(rows) == len(self.target) else every[rows]

    def judged(self, rows: Ints) -> JudgedRows:
        """Some rows, to be looked at after each round."""
        bins = self.bins[rows]
        return JudgedRows(
            X=bins.places() if self.X is None else _safe_indexing(with_rows(self.X), rows),
            y=self.y[rows],
            given=self.given[rows] if self.weighted else None,
            target=self.target[rows],
            weight=self.weight[rows],
            places=bins,
        )

    def judged_others(self, learner: Any, X: Any, y: Any, sample_weight: Any) -> JudgedRows:
        """Rows that were given to judge by; their classes have no factors, as in scikit-learn."""
        table = table_of(X, learner, reset=False)
        labels, weight = check_target(
            learner, y, table, sample_weight, classifier=self.classes is not None
        )
        target = labels
        if self.classes is not None:
            target, strange = codes_among(labels, self.classes)
            if strange.any():
                raise DataError(
                    f"y_val has a class {labels[strange].tolist()[0]!r} that y does not have"
                )
        given = None if sample_weight is None else weight
        places = places_in(table, list(self.bins.columns))
        return JudgedRows(X, labels, given, target, weight, places)
