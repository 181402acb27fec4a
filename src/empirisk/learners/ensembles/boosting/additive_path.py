"""An additive model after any number of rounds, from one run."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.utils.validation import _num_samples

from empirisk.data.coded_column import CodedColumn
from empirisk.data.rank_coding import RankCoding
from empirisk.learners.ensembles.boosting.forward_stagewise import Stages
from empirisk.risk.axis import Output
from empirisk.runtime.arrays import Array, Floats


@dataclass(frozen=True, eq=False)
class Sum:
    """What a run has found.

    Attributes
    ----------
    start : float64 array of shape (columns,)
        f before the first round.
    stages : Stages
    losses : float64 array of shape (rounds,)
        The mean loss of the training rows after each round.
    freedom, aicc : float64 arrays of shape (rounds + 1,), or None
        Degrees of freedom and the corrected AIC after 0, 1, ... rounds.
    stops : bool
        Whether the rounds end where the AIC is least.
    """

    start: Floats
    stages: Stages
    losses: Floats
    freedom: Floats | None = None
    aicc: Floats | None = None
    stops: bool = False

    def rounds(self, asked: int) -> int:
        """How many rounds a learner has that is asked for so many."""
        asked = min(asked, len(self.losses))
        return (
            int(self.aicc[: asked + 1].argmin()) if self.stops and self.aicc is not None else asked
        )


class AdditivePath:
    """The path of a learner along `n_estimators`.

    Attributes
    ----------
    values : list of int
    rounds : list of int
        The rounds at each value: fewer where nothing was left to fit, or where the AIC stops.
    """

    same_as_fit = True

    def __init__(
        self,
        learner: Any,
        values: list[int],
        found: Sum,
        columns: list[CodedColumn] | None,
        n_features: int,
        n_classes: int,
    ) -> None:
        self.learner, self.values, self.found = learner, values, found
        self.columns, self.n_features, self.n_classes = columns, n_features, n_classes
        self.rounds = [found.rounds(value) for value in values]

    def predict_path(self, X: Any, output: Output) -> Array:
        """(rows, values), or (rows, values, classes)."""
        seen = X.places() if isinstance(X, RankCoding) else X
        increasing = sorted(set(self.rounds))
        at: dict[int, Array] = {}
        staged = self.found.stages.staged(seen, self.found.start, increasing, None)
        for t, f in zip(increasing, staged, strict=True):
            at[t] = np.array(self.learner._output(f, output))
        if not increasing:
            return np.empty((_num_samples(seen), 0))
        return np.stack([at[t] for t in self.rounds], axis=1)

    @property
    def degrees_of_freedom(self) -> Floats:
        """Of each value, where they are known."""
        if self.found.freedom is None:
            raise NotImplementedError("the degrees of freedom of these rounds are not known")
        return self.found.freedom[self.rounds]

    def at(self, j: int) -> Any:
        classes = np.arange(self.n_classes) if self.n_classes else None
        learner = clone(self.learner).set_params(n_estimators=self.values[j])
        return self.write(j, learner, classes)

    def write(self, j: int, learner: Any, classes: Array | None) -> Any:
        """The fitted attributes at the j-th value."""
        found, rounds = self.found, self.rounds[j]
        run = min(self.values[j], len(found.losses))
        learner.estimator_ = clone(self.learner._prototype(), safe=False)
        learner.stages_ = found.stages.first(rounds, len(found.start))
        learner._start = found.start
        learner.n_estimators_ = rounds
        learner.train_score_ = found.losses[:run].copy()
        learner.columns_ = self.columns
        learner.n_features_in_ = self.n_features
        if classes is not None:
            learner.classes_, learner.n_classes_ = classes, len(classes)
        else:
            learner.degrees_of_freedom_ = _part(found.freedom, run)
            learner.aicc_ = _part(found.aicc, run)
        return learner


def _part(numbers: Floats | None, rounds: int) -> Floats | None:
    return None if numbers is None else numbers[: rounds + 1].copy()
