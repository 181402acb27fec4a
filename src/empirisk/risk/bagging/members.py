"""The members of a bagged ensemble, and what they say of rows they lack.

In scikit-learn's form the ensemble has its members in `estimators_`, the rows that each drew in
`estimators_samples_` (numbers, with repeats) and their columns, if not all, in
`estimators_features_`. Members of a classifier know the classes by their codes, the places in the
ensemble's `classes_`. An ensemble of this library prepares X once for all members (`members_of`).
"""

from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from sklearn.utils import _safe_indexing

from empirisk.data.table import Table
from empirisk.risk.bagging.same_rows import refuse_other_targets
from empirisk.risk.problem import Problem
from empirisk.runtime.arrays import Array, Floats, Ints
from empirisk.runtime.errors import DataError, ParameterError


@dataclass(frozen=True, eq=False)
class BaggedMembers:
    """Members, the rows each drew (numbers among the n rows of the fit) and the columns it sees.

    `kept` are the rows of the fit that the problem still has, `codes` the codes that the problem
    gives to the classes of the ensemble, None for regression. `asked` is what `members_of` of an
    ensemble of this library gives; else it is None, and `estimators` are asked themselves.
    """

    estimators: list[Any]
    samples: list[Ints]
    columns: list[Ints] | None
    X: Any
    n: int
    kept: Ints | None
    codes: Ints | None
    n_classes: int
    asked: Any = None

    @classmethod
    def of(cls, ensemble: Any, problem: Problem, n: int) -> Self:
        """The members of a fitted ensemble, to judge the rows of a problem."""
        name = type(ensemble).__name__
        asked = ensemble.members_of(problem.X) if hasattr(ensemble, "members_of") else None
        known = asked is not None or hasattr(ensemble, "estimators_")
        if not (known and hasattr(ensemble, "estimators_samples_")):
            raise ParameterError(
                f"{name} does not tell which rows its members drew (estimators_samples_; one from "
                "a file does not know): give a bagged ensemble or a random forest as it was "
                "fitted, or use risk.cross_validate"
            )
        samples = list(ensemble.estimators_samples_)
        fitted = _rows_of_fit(samples, n, ensemble)
        if problem.kept is not None and fitted == problem.n:  # it never saw rows of weight 0
            problem, n = replace(problem, kept=None), fitted
        if fitted != n:
            raise DataError(
                f"{n} rows came, and {name} was fitted on {fitted}: give the rows it was fitted "
                "on, all of them and in the same order"
            )
        codes = None
        if problem.classes is not None:
            codes = np.searchsorted(problem.classes, ensemble.classes_)
        if problem.target is not None and problem.kept is None:
            refuse_other_targets(ensemble, _as_fitted(problem.target, codes, problem.n_classes))
        names = getattr(ensemble, "feature_names_in_", None)
        return cls(
            estimators=list(ensemble.estimators_) if asked is None else [],
            samples=samples,
            columns=getattr(ensemble, "estimators_features_", None) if asked is None else None,
            X=_as_members_saw(problem.X, names) if asked is None else None,
            n=n,
            kept=problem.kept,
            codes=codes,
            n_classes=problem.n_classes,
            asked=asked,
        )

    def on(self, ensemble: Any, X: Any) -> Self:
        """The same members of that ensemble, to judge other values of the same rows."""
        if self.asked is not None:
            return replace(self, asked=ensemble.members_of(X))
        return replace(self, X=_as_members_saw(X, getattr(ensemble, "feature_names_in_", None)))

    def __len__(self) -> int:
        return len(self.samples)

    def counts(self, b: int) -> Ints:
        """How often member b drew each row of the problem."""
        counts = np.bincount(self.samples[b], minlength=self.n)
        return counts if self.kept is None else counts[self.kept]

    def scores(self, b: int, rows: Ints) -> Array:
        """Member b's predictions of these rows; of classes, probabilities or else its vote."""
        if self.asked is not None:
            return self._in_codes(self.asked.scores(b, rows))
        member = self.estimators[b]
        X = _safe_indexing(self.X, rows)
        if self.columns is not None:
            X = X[:, self.columns[b]]
        if not len(rows):
            return np.zeros(0)
        if self.codes is None:
            return np.asarray(member.predict(X), dtype=float)
        return self._of_classes(member, X)

    def _in_codes(self, scores: Array) -> Array:
        """Columns of the ensemble's classes as those of the problem's."""
        if self.codes is None or scores.ndim == 1:
            return scores
        found = np.zeros((len(scores), self.n_classes))
        found[:, self.codes] = scores
        return found

    def _of_classes(self, member: Any, X: Any) -> Floats:
        assert self.codes is not None
        found = np.zeros((X.shape[0], self.n_classes))
        if hasattr(member, "predict_proba"):
            found[:, self.codes[np.asarray(member.classes_, dtype=np.int64)]] = (
                member.predict_proba(X)
            )
        else:
            votes = np.asarray(member.predict(X), dtype=np.int64)
            found[np.arange(len(found)), self.codes[votes]] = 1.0
        return found


def _as_fitted(target: Array, codes: Ints | None, n_classes: int) -> Array:
    """Values, or the codes that the ensemble gives to classes; -1 of one that it does not know."""
    if codes is None:
        return target
    own = np.full(n_classes, -1)
    own[codes] = np.arange(len(codes))
    return own[target]


def _as_members_saw(X: Any, names: Any) -> Any:
    """Frames as the arrays that scikit-learn's ensembles hand on to their members."""
    if isinstance(X, Table):
        X = X if names is None else X.select(list(names))
        return np.column_stack([column.values() for column in X.columns])
    if hasattr(X, "toarray"):
        return X
    if names is not None and hasattr(X, "columns"):
        X = X[list(names)]
    return np.asarray(X)


def _rows_of_fit(samples: list[Ints], n: int, ensemble: Any) -> int:
    """As scikit-learn's ensembles tell; else the n that came, if no member drew one beyond."""
    last = max(int(np.max(sample, initial=-1)) for sample in samples)
    return int(getattr(ensemble, "_n_samples", max(n, last + 1)))
