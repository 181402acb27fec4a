"""What boosted classification and regression trees share."""

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from typing import Any, ClassVar, Literal, Self

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from empirisk.data.coded_column import CodedColumn
from empirisk.data.table_door import check_places, table_of
from empirisk.learners.ensembles.boosting.bins import BinnedTable
from empirisk.learners.ensembles.boosting.boosted_path import BoostedPath
from empirisk.learners.ensembles.boosting.boosted_trees import BoostedTrees
from empirisk.learners.ensembles.boosting.boosting_loss import INVERSE_LINKS, BoostingLoss, OwnLoss
from empirisk.learners.ensembles.boosting.boosting_settings import (
    checked_subsample,
    goes_on,
    growth_limits,
    stopping_of,
    stops_early,
)
from empirisk.learners.ensembles.boosting.boosting_soundness import check_boosted
from empirisk.learners.ensembles.boosting.number_of_rounds import checked_rounds, rounds_grid
from empirisk.learners.ensembles.boosting.rounds import (
    EarlierRounds,
    Grown,
    Rounds,
    TrainingRows,
)
from empirisk.learners.ensembles.boosting.stopping import (
    Judge,
    refuse_half_validation,
    scored_rows,
    split_rows,
)
from empirisk.learners.ensembles.boosting.training_table import TrainingTable, bin_table
from empirisk.learners.ensembles.warm_start import refuse_other_columns
from empirisk.learners.soundness import has_state
from empirisk.learners.trees.tree_sums import TreeSums
from empirisk.risk.axis import Axis, PathMixin
from empirisk.risk.plans.groups import group_codes
from empirisk.runtime.arrays import Array, Floats, Ints
from empirisk.runtime.deadlines import check_deadline
from empirisk.runtime.errors import DataError, ParameterError
from empirisk.runtime.progress import track
from empirisk.runtime.streams import spawn

RAW = {"identity": "prediction", "log": "log of the prediction", "logit": "log-odds"}
Others = tuple[Any, Any, Any]
"""X, y and weights of rows to judge by, or None."""


class HistGradientBoosting(PathMixin, BaseEstimator):
    """The sum of many small trees, each grown to the gradients of a loss, on features in bins."""

    axis: ClassVar[Axis | None] = Axis(("max_iter",), larger="richer", scale="integer")
    feature_scaling: ClassVar[Literal["each", "common"] | None] = "each"
    settings_along_axis: ClassVar[dict[str, Any]] = {"early_stopping": False}
    takes_groups: ClassVar[bool] = True

    loss: Any
    max_iter: int
    n_jobs: int | None
    random_state: Any
    trees_: BoostedTrees
    columns_: list[CodedColumn]
    n_trees_per_iteration_: int
    train_score_: Floats
    validation_score_: Floats

    def fit(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        groups: Any = None,
        *,
        X_val: Any = None,
        y_val: Any = None,
        sample_weight_val: Any = None,
    ) -> Self:
        """Grow the trees.

        Parameters
        ----------
        X : array-like or frame of shape (n, p)
            NaN and None are missing values.
        y : array-like of shape (n,)
            Labels or numbers.
        sample_weight : array-like of shape (n,), optional
        groups : array-like of shape (n,), optional
            Whole groups of rows are held out for early stopping.
        X_val, y_val, sample_weight_val : optional
            Rows to judge by for early stopping; then no training rows are held out. With
            `early_stopping="auto"` they count from 10,001 training rows on, as in scikit-learn.

        Returns
        -------
        self
        """
        others = X_val, y_val, sample_weight_val
        refuse_half_validation(*others, self.early_stopping)
        most, going_on = checked_rounds(self.max_iter, "max_iter"), goes_on(self)
        table = TrainingTable.of(self, X, y, sample_weight, reset=not going_on)
        before = self._earlier(table, most) if going_on else None
        if before is None:
            self._seed = spawn(self.random_state, 1)[0]
        self.do_early_stopping_ = stops_early(self, len(table.kept()))
        grown = self._boosted(table, most, self.do_early_stopping_, groups, others, before)
        return self._write(grown, table.classes)

    def check_loaded(self) -> None:
        """Raise a DataError unless what a file has of a fitted model belongs together."""
        if has_state(self):
            check_boosted(self)

    @property
    def n_iter_(self) -> int:
        """How many rounds there are."""
        return len(self.trees_)

    @property
    def feature_importances_(self) -> Floats:
        """The gains of the splits by each feature, in all trees, as parts of their sum.

        Features of many values are favoured: see `risk.importance` for measures that do not.
        """
        check_is_fitted(self)
        gains = self.trees_.trees.gains.sum(axis=0)
        return gains / gains.sum() if gains.sum() > 0 else gains

    def design(self, X: Any) -> BinnedTable:
        """X in bins, which all folds share: their edges are of X alone, and know no y.

        With at most `max_bins` distinct values in each column the trees of a fold are those that
        it would grow on bins of its own. With more, thresholds may differ: edges of a fold are
        quantiles of its own rows, by their weights.
        """
        return bin_table(table_of(X, self, reset=None), self)

    def axis_values(
        self, X: Any, y: Array, sample_weight: Floats, *, n_train: int
    ) -> Sequence[int]:
        """Numbers of rounds from 1 to `max_iter`, at most 100 of them."""
        return rounds_grid(checked_rounds(self.max_iter, "max_iter"))

    def fit_path(
        self,
        X: Any,
        y: Array,
        sample_weight: Floats,
        values: Sequence[Any],
        *,
        n_classes: int,
        groups: Ints | None = None,
    ) -> BoostedPath:
        """All values from one fit to the largest of them.

        Early stopping is off, unless the only value is that of the parameter: then this is `fit`.
        """
        bins = X if isinstance(X, BinnedTable) else self.design(X)
        wanted, weight = [checked_rounds(value, "max_iter") for value in values], sample_weight
        if n_classes:
            weight = self._class_weighted(y, sample_weight, np.arange(n_classes))
        table = TrainingTable(
            X=None,
            y=y,
            target=y,
            given=sample_weight,
            weighted=not bool((sample_weight == 1.0).all()),
            weight=weight,
            bins=bins,
            classes=np.arange(n_classes) if n_classes else None,
        )
        self._seed = spawn(self.random_state, 1)[0]
        early = wanted == [self.max_iter] and stops_early(self, len(y))
        grown = self._boosted(table, max(wanted), early, groups)
        same = not (early or table.weighted)  # `fit` has bins of about the same weight
        return BoostedPath(self, grown, values, n_classes, same_as_fit=same)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = True
        tags.target_tags.required = True
        return tags

    @abstractmethod
    def _loss(self, n_classes: int) -> BoostingLoss:
        """The loss that the parameters mean."""

    def _boosted(
        self,
        table: TrainingTable,
        most: int,
        early: bool,
        groups: Any = None,
        others: Others = (None, None, None),
        before: EarlierRounds | None = None,
    ) -> Grown:
        """All rounds, or with `early` those until the judged rows are no longer predicted better.

        The scores are noted.
        """
        train, held_out = table.kept(), None
        if early and others[0] is None:
            train, held_out = self._set_aside(table, train, groups)
        rounds = self._rounds(table.training(train), table.n_classes, before)
        judge = None
        if early:
            judged = None if held_out is None else table.judged(held_out)
            if others[0] is not None:
                judged = table.judged_others(self, *others)
            seen = None
            if not (isinstance(self.scoring, str) and self.scoring == "loss"):
                seen = table.judged(train[scored_rows(len(train), self._seed)])
            judge = Judge(self, rounds, stopping_of(self), seen, judged, table.classes)
        self._boost(rounds, judge, most)
        return rounds.grown()

    def _set_aside(self, table: TrainingTable, rows: Ints, groups: Any) -> tuple[Ints, Ints | None]:
        """The rows to train on, and those to judge by."""
        unit = group_codes(groups, len(table.target))
        train, held_out = split_rows(
            table.target[rows],
            stopping_of(self),
            spawn(self._seed, 1)[0],
            table.n_classes,
            None if unit is None else unit[rows],
        )
        return rows[train], None if held_out is None else rows[held_out]

    def _rounds(self, rows: TrainingRows, n_classes: int, before: EarlierRounds | None) -> Rounds:
        """The rounds to come, of values or class codes."""
        n_trees = n_classes if n_classes > 2 else 1
        return Rounds(
            rows,
            self._loss(n_classes),
            growth_limits(self, rows.bins, n_trees),
            n_trees=n_trees,
            subsample=checked_subsample(self),
            n_jobs=self.n_jobs,
            before=before,
        )

    def _boost(self, rounds: Rounds, judge: Judge | None, most: int) -> None:
        """All rounds up to `most`, or until the judge says so."""
        done = 0 if rounds.before is None else len(rounds.before.trees)
        seeds = spawn(self._seed, 1 + most)[1 + done :]
        for seed in track(seeds, "rounds", len(seeds)):
            check_deadline()
            rounds.boost(seed)
            if judge is not None and judge.stops():
                break
        self.train_score_ = np.array([] if judge is None else judge.train_score)
        self.validation_score_ = np.array([] if judge is None else judge.validation_score)

    def _write(self, grown: Grown, classes: Array | None, n_rounds: int | None = None) -> Self:
        """The fitted attributes, after all rounds or the first so many."""
        trees: Any = grown.trees
        self.trees_ = trees if n_rounds is None else trees.first(n_rounds)
        self._baseline_prediction = grown.baseline
        self.n_trees_per_iteration_ = grown.n_trees
        own = isinstance(grown.loss, OwnLoss)
        self._link = None if own else grown.loss.link
        self._own_loss = self.loss if own else None
        self.columns_ = list(grown.columns)
        self.n_features_in_ = len(self.columns_)
        category = np.array([column.kind == "category" for column in self.columns_])
        self.is_categorical_ = category if category.any() else None
        if classes is not None:
            self.classes_ = classes
        return self

    def _earlier(self, table: TrainingTable, most: int) -> EarlierRounds:
        """What fitting goes on from, if it belongs to these rows."""
        if most < self.n_iter_:
            raise ParameterError(
                f"max_iter is {most} and there are {self.n_iter_} rounds: with warm_start=True "
                "give as many at least"
            )
        refuse_other_columns(self.columns_, table.bins.columns)
        if table.classes is not None and not np.array_equal(table.classes, self.classes_):
            raise DataError(
                f"y has the classes {table.classes.tolist()[:10]}, and before it had "
                f"{self.classes_.tolist()[:10]}: fit anew with warm_start=False"
            )
        loss = self._loss(table.n_classes)
        link = None if isinstance(loss, OwnLoss) else loss.link
        if link != self._link:
            raise ParameterError(
                f"loss is {self.loss!r:.60}, whose scores mean something else than those that "
                "there are: fit anew with warm_start=False"
            )
        return EarlierRounds(self.trees_, self._baseline_prediction, self._raw(table.X))

    def _raw(self, X: Any) -> Floats:
        """The scores of rows: (rows, trees of a round)."""
        known = getattr(self, "_known_scores", None)
        if known is not None and X is known[0]:
            return known[1]
        places = check_places(self, X)
        raw = np.tile(self._baseline_prediction, (len(places), 1))
        if self.trees_ is not None:
            self.trees_.add_to(raw, places, n_jobs=self.n_jobs)
        return raw

    def _tree_sums(self) -> TreeSums:
        trees = self.trees_.trees
        return trees.sums(
            scale=1.0,
            quantity=RAW.get(self._link or "", "raw score"),
            constant=self._baseline_prediction.reshape(-1),
            column=np.arange(len(trees)) % self.n_trees_per_iteration_,
        )

    def _staged_raw(self, X: Any) -> Iterator[Floats]:
        """The scores after each round."""
        places = check_places(self, X)
        raw = np.tile(self._baseline_prediction, (len(places), 1))
        yield from self.trees_.stages(raw, places, n_jobs=self.n_jobs)

    def _inverse_link(self, raw: Floats) -> Floats:
        if self._link is None:
            return OwnLoss(self._own_loss).inverse_link(raw)
        return INVERSE_LINKS[self._link](raw)

    def _class_weighted(self, y: Ints, weight: Floats, classes: Array) -> Floats:
        """The weights of the rows, with factors of their classes."""
        return weight
