"""Early stopping: rounds end where the score of held-out rows no longer grows.

The model keeps all the rounds that there were, as in scikit-learn: `n_iter_` is their number, and
the scores say after which of them the held-out rows were predicted best.
"""

from copy import copy
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.metrics import check_scoring
from sklearn.model_selection import GroupShuffleSplit, train_test_split

from empirisk.learners.ensembles.boosting.bins import BinnedTable
from empirisk.learners.ensembles.boosting.boosting_settings import Stopping
from empirisk.learners.ensembles.boosting.rounds import Rounds
from empirisk.runtime.arrays import Array, Floats, Ints
from empirisk.runtime.errors import DataError, ParameterError
from empirisk.runtime.streams import generator, seed32

MOST_SCORED = 10_000  # training rows that a scorer looks at, as in scikit-learn


@dataclass(frozen=True, eq=False)
class JudgedRows:
    """Rows whose scores are looked at after each round.

    X, y, given
        As they came, for scorers; `given` is None where there were no weights.
    target, weight
        As the loss takes them.
    places
        In bins of the training table, or as trees compare them.
    """

    X: Any
    y: Array
    given: Floats | None
    target: Array
    weight: Floats
    places: BinnedTable | Floats


class Judge:
    """Scores before the first round and after each, and whether to go on.

    By the loss, all training rows are judged; by a scorer, those that `train` has.
    """

    def __init__(
        self,
        learner: Any,
        rounds: Rounds,
        stopping: Stopping,
        train: JudgedRows | None,
        held_out: JudgedRows | None,
        classes: Array | None,
    ) -> None:
        self.rounds, self.stopping, self.classes = rounds, stopping, classes
        self.train, self.held_out = train, held_out
        self.train_score: list[float] = []
        self.validation_score: list[float] = []
        self.scores = {
            id(rows): rounds.watch(rows.places) for rows in (train, held_out) if rows is not None
        }
        self.model = copy(learner)
        if train is not None:
            self.scorer = check_scoring(self.model, learner.scoring)
        if rounds.before is None:
            self._note()
        else:
            self.train_score = learner.train_score_.tolist()
            self.validation_score = learner.validation_score_.tolist()

    def stops(self) -> bool:
        """Look at the scores after a round; whether it was the last one."""
        self._note()
        scores = self.train_score if self.held_out is None else self.validation_score
        return no_longer_grows(scores, self.stopping)

    def _note(self) -> None:
        if self.train is None:
            self.train_score.append(-self.rounds.training_loss())
        else:
            self.model._write(self.rounds.grown(late=True), self.classes)
            self.train_score.append(self._score(self.train))
        if self.held_out is not None:
            self.validation_score.append(self._score(self.held_out))

    def _score(self, rows: JudgedRows) -> float:
        rounds, scores = self.rounds, self.scores[id(rows)]
        if self.train is None:
            y = rows.target if rounds.unit == 1.0 else rows.target / rounds.unit
            return -rounds.mean_loss(y, scores, rows.weight)
        self.model._known_scores = (rows.X, rounds.in_units(scores))
        weight = {} if rows.given is None else {"sample_weight": rows.given}
        return float(self.scorer(self.model, rows.X, rows.y, **weight))


def no_longer_grows(scores: list[float], stopping: Stopping) -> bool:
    """Whether none of the last so many scores is above the one before them, by more than `tol`.

    Examples
    --------
    >>> no_longer_grows([0.1, 0.5, 0.5, 0.4], Stopping(None, patience=2, tolerance=0.0))
    True
    """
    if len(scores) <= stopping.patience:
        return False
    reference = scores[-stopping.patience - 1] + stopping.tolerance
    return not any(score > reference for score in scores[-stopping.patience :])


def split_rows(
    y: Array, stopping: Stopping, seed: int, n_classes: int, groups: Ints | None
) -> tuple[Ints, Ints | None]:
    """Rows to train on, and rows that are held out: None where training rows judge.

    Classes keep their shares; of groups, whole ones are held out, and the share is one of groups.
    """
    rows = np.arange(len(y))
    if stopping.share is None:
        return rows, None
    state = seed32(seed)
    try:
        if groups is not None:
            split = GroupShuffleSplit(1, test_size=stopping.share, random_state=state)
            train, held_out = next(split.split(rows, groups=groups))
        else:
            train, held_out = train_test_split(
                rows,
                test_size=stopping.share,
                stratify=y if n_classes else None,
                random_state=state,
            )
    except ValueError as error:
        raise DataError(
            f"early_stopping cannot set rows aside ({error}): switch it off, or change "
            "validation_fraction"
        ) from error
    if n_classes and len(np.unique(y[train])) < n_classes:
        raise DataError(
            "early_stopping would hold out all rows of a class: switch it off, or give X_val and "
            "y_val"
        )
    return np.sort(train), np.sort(held_out)


def scored_rows(n: int, seed: int) -> Ints:
    """The training rows that a scorer looks at."""
    rows = np.arange(n)
    return rows if n <= MOST_SCORED else np.sort(generator(seed).permutation(n)[:MOST_SCORED])


def refuse_half_validation(X_val: Any, y_val: Any, weight_val: Any, early_stopping: Any) -> None:
    """Raise a ParameterError where held-out rows were given in part, or to no use."""
    if (X_val is None) != (y_val is None):
        given, lacking = ("X_val", "y_val") if y_val is None else ("y_val", "X_val")
        raise ParameterError(f"{given} was given and {lacking} was not: give both, or none")
    if X_val is None and weight_val is not None:
        raise ParameterError("sample_weight_val was given and X_val was not: give X_val and y_val")
    if X_val is not None and isinstance(early_stopping, bool) and not early_stopping:
        raise ParameterError(
            "X_val and y_val were given and early_stopping is False: set it to True or 'auto'"
        )
