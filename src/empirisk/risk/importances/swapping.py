"""Permute only: models as they are, judged on rows that swap their values of a feature."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from sklearn.utils import _safe_indexing

from empirisk.losses import as_loss
from empirisk.risk.foreign import foreign_prediction, share_out
from empirisk.risk.importances.asked import Asked, Permutations
from empirisk.risk.importances.error import Rise, of_swapped_rows
from empirisk.risk.importances.features import Features
from empirisk.risk.importances.judging import Judge
from empirisk.risk.importances.permuting import draw_donors, take_from
from empirisk.risk.importances.result import Importance
from empirisk.risk.intervals.loss_table import LossTable
from empirisk.risk.measures.of_classifier import kind_of
from empirisk.risk.plans.fingerprints import data_key
from empirisk.risk.predictor import as_predictor, known_classes
from empirisk.runtime.arrays import Array, Ints
from empirisk.runtime.deadlines import check_deadline
from empirisk.runtime.errors import DataError
from empirisk.runtime.progress import track
from empirisk.runtime.streams import generator


@dataclass(frozen=True, eq=False)
class JudgedModels:
    """Fitted models, each of which judges a part of the entries: that of its split, all in a row.

    A single model on test rows, or the models of the folds.
    """

    models: Sequence[Any]
    parts: Sequence[slice]
    judge: Judge

    def predict(self, columns: Ints | None = None, donors: Ints | None = None) -> Array:
        """Predictions of all entries; with donors, these give the values of the columns."""
        problem, found = self.judge.problem, []
        for model, part in zip(self.models, self.parts, strict=True):
            X = problem.X
            if len(self.models) > 1 or len(self.judge.row) < problem.n:
                X = _safe_indexing(X, self.judge.row[part])
            if columns is not None and donors is not None:
                X = take_from(X, columns, donors[part] - part.start)
            found.append(foreign_prediction(model, X, problem, self.judge.asks))
        return np.concatenate(found)

    def donors(self, seed: int) -> Ints:
        """The entry from which each entry takes: another of the same split."""
        rng, table, found = generator(seed), self.judge.table, []
        for part in self.parts:
            weight, unit = table.weight[part], table.unit[part]
            if (unit == unit[0]).all():
                what = "row" if len(unit) == 1 else "group"
                raise DataError(
                    f"there is one {what} only, with no other to take values from: give more rows, "
                    "or fewer folds"
                )
            found.append(part.start + draw_donors(weight, unit, rng))
        return np.concatenate(found)


def on_test_rows(predictor: Any, asked: Asked, by: Permutations) -> Importance:
    """The importance for one fitted predictor, on rows it has not seen."""
    loss = None if asked.loss is None or asked.measure else as_loss(asked.loss)
    kind = None if not asked.measure else kind_of(str(asked.measure), asked.options)
    task = "classification" if kind else None if loss is None else loss.task
    gives = kind.asks if kind else "value" if loss is None else loss.output
    predictor = as_predictor(predictor, asked.y, task=task, gives=gives)
    problem = asked.problem(predictor, loss, classes=known_classes(predictor))
    table = LossTable.of_test_rows(
        np.zeros(problem.n), problem.weight, problem.unit, problem.loss.bounds
    )
    key = data_key(asked.y, asked.sample_weight, asked.groups)
    judge = Judge(
        problem=problem,
        row=np.arange(problem.n),
        table=table,
        estimates="this model",
        fingerprint=key,
        level=asked.level,
        measure=asked.kind(predictor),
        options=asked.options,
    )
    judged = JudgedModels([predictor], [slice(0, problem.n)], judge)
    return by_swapping(judged, by)


def by_swapping(judged: JudgedModels, by: Permutations) -> Importance:
    """The importance for models as they are."""
    judge = judged.judge
    found = Features.of(by.features, judge.problem.X)
    before = judged.predict()
    rises = rises_of_swapping(judged, before, found.columns, by.seeds, by.n_jobs)
    return by.result(found, rises, judge, judge.baseline(before))


def rises_of_swapping(
    judged: JudgedModels,
    baseline: Array,
    columns: Sequence[Ints],
    seeds: Sequence[int],
    n_jobs: int | None,
) -> list[Rise]:
    """The importance of each group of columns; the permutations are the same for all of them."""
    judge = judged.judge
    donors = np.array([judged.donors(seed) for seed in seeds])
    work = partial(_rise, judged, judge.losses(baseline), donors)
    return share_out(work, track(columns, "features"), n_jobs=n_jobs)


def _rise(judged: JudgedModels, before: Array, donors: Ints, columns: Ints) -> Rise:
    judge, rises = judged.judge, np.empty(donors.shape)
    for r, own in enumerate(donors):
        check_deadline()
        rises[r] = judge.losses(judged.predict(columns, own)) - before
    return of_swapped_rows(rises, donors, judge.table, judge.bounds, judge.level)
