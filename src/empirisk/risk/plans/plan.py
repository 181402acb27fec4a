"""Resampling plans: which rows are held out in which split, decided once and shared by all rivals.

A plan stores the fold of every row; the training rows of a split are the complement unless the
plan says otherwise (time order, a user's own splits). Its fingerprint names the splits *and* the
data they were made for, so that results from different plans are never compared by mistake.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self

import numpy as np
from sklearn.model_selection import LeaveOneGroupOut, LeaveOneOut
from sklearn.utils.validation import _num_samples

from empirisk.risk.plans.dealing import deal, hold_out, latest, units_of
from empirisk.risk.plans.fingerprints import data_key, digest
from empirisk.risk.plans.groups import group_codes
from empirisk.risk.plans.splits import folds_of_splits
from empirisk.risk.plans.splitters import kind_of, split_by, splitter_of
from empirisk.runtime.arrays import Array, Floats, Int32s, Ints
from empirisk.runtime.errors import ParameterError, PlanError
from empirisk.runtime.scalars import is_number
from empirisk.runtime.streams import generator, spawn

DEFAULT_FOLDS = 10


@dataclass(frozen=True, eq=False)
class Plan:
    """Which rows are held out in which split.

    Parameters
    ----------
    kind : str
        "kfold", "grouped", "repeated", "leave_one_out", "holdout", "shuffled", "time", "given" or
        "out_of_bag" (see `OutOfBagPlan`).
    n : int
        Number of rows.
    repeats : int
        Number of rows of `fold`.
    seed : int or None
        What the folds were drawn from; None where nothing was drawn.
    fold : array of int32 of shape (repeats, n)
        The fold of each row in each repeat; -1 for a row that is never held out there.
    trains : tuple of int arrays, or None
        The training rows of each split; None where they are the complement of the held-out rows.
    groups : int array or None
        The group of each row; a group is never on both sides of a split.
    data_key : str
        Digest of y, weights and groups.

    Examples
    --------
    >>> import numpy as np
    >>> plan = Plan.of(3, np.zeros((6, 1)), np.arange(6.0))
    >>> plan
    Plan(kfold, 6 rows, 3 splits)
    >>> plan.test(0), plan.train(0)
    (array([0, 1]), array([2, 3, 4, 5]))
    """

    kind: str
    n: int
    repeats: int
    seed: int | None
    fold: Int32s
    trains: tuple[Ints, ...] | None
    groups: Ints | None
    data_key: str

    def __repr__(self) -> str:
        return f"Plan({self.kind}, {self.n} rows, {self.n_splits} splits)"

    def test(self, s: int) -> Ints:
        """Rows held out in split s, in order."""
        r = self.repeat(s)
        k = s - int(self._first_split[r])
        order, start = self._held_out[r]
        return order[start[k] : start[k + 1]]

    def train(self, s: int) -> Ints:
        """Rows that split s trains on, in order."""
        if self.trains is not None:
            return self.trains[s]
        r = self.repeat(s)
        return np.flatnonzero(self.fold[r] != s - int(self._first_split[r]))

    def repeat(self, s: int) -> int:
        """The repeat that split s belongs to."""
        return int(np.searchsorted(self._first_split, s, side="right")) - 1

    @cached_property
    def n_splits(self) -> int:
        return int(self._first_split[-1])

    @cached_property
    def n_train(self) -> int:
        """Rows in a typical training part (the median; for equal folds, of each)."""
        if self.trains is not None:
            return int(np.median([len(train) for train in self.trains]))
        sizes = np.concatenate([np.diff(start) for _, start in self._held_out])
        return self.n - int(np.median(sizes))

    @cached_property
    def is_partition(self) -> bool:
        """Each row is held out once per repeat and trains in all other splits of that repeat."""
        return self.trains is None and bool((self.fold >= 0).all())

    @property
    def leaves_one_out(self) -> bool:
        """Each row is held out once, and alone."""
        return self.is_partition and self.repeats == 1 and self.n_splits == self.n

    @property
    def judges_one_model(self) -> bool:
        """A hold-out split: of rows at random, or of the latest."""
        return self.n_splits == 1 and self.kind in ("holdout", "time")

    @cached_property
    def fingerprint(self) -> str:
        trains = self.trains or ()
        return digest(self.fold, *trains, self.data_key)

    @cached_property
    def entries(self) -> tuple[Ints, Ints]:
        """The row and the split of every held-out prediction: by split, then by row."""
        rows, splits = [], []
        for r, (order, start) in enumerate(self._held_out):
            rows.append(order[start[0] :])
            fold = np.repeat(np.arange(len(start) - 1), np.diff(start))
            splits.append(self._first_split[r] + fold)
        return np.concatenate(rows), np.concatenate(splits)

    @cached_property
    def place(self) -> Ints:
        """Where the prediction of each row in each repeat stands in `entries`; -1 for none."""
        place = np.full((self.repeats, self.n), -1, dtype=np.int64)
        first = 0
        for r, (order, start) in enumerate(self._held_out):
            rows = order[start[0] :]
            place[r, rows] = np.arange(first, first + len(rows))
            first += len(rows)
        return place

    @cached_property
    def _first_split(self) -> Ints:
        folds = self.fold.max(axis=1).astype(np.int64) + 1
        return np.concatenate([[0], np.cumsum(folds)])

    @cached_property
    def _held_out(self) -> list[tuple[Ints, Ints]]:
        """For each repeat: the held-out rows sorted by fold, and where each fold starts."""
        result = []
        for fold in self.fold:
            order = np.argsort(fold, kind="stable")
            edges = np.searchsorted(fold[order], np.arange(fold.max() + 2))
            result.append((order, edges))
        return result

    @classmethod
    def of(
        cls,
        cv: Any,
        X: Any,
        y: Any,
        *,
        sample_weight: Floats | None = None,
        groups: Any = None,
        classifier: bool = False,
        random_state: Any = None,
        keep_copies_together: bool = False,
    ) -> Self:
        """The plan that scikit-learn's `cv` argument describes.

        Parameters
        ----------
        cv : None, int, scikit-learn splitter, iterable of (train, test), or Plan
            None is ten folds, shuffled and, for a classifier, stratified. A number is that many
            folds with scikit-learn's meaning: shuffled only if `random_state` is given. Both keep
            groups whole; a splitter or splits that do not are refused.
        X, y, sample_weight, groups
            The data the plan is for.
        classifier : bool
            Stratify the folds by y.
        random_state : int, RandomState, Generator or None
            Shuffles the folds. With `cv=None`, None means a fixed shuffle.
        keep_copies_together : bool
            Rows that are equal in every column of X go to the same fold: a copy on both sides of
            a split would let a learner recite instead of predict.
        """
        n = _num_samples(X if y is None else y)
        key = data_key(X if y is None else y, sample_weight, groups)
        if isinstance(cv, Plan):
            cv.refuse_other_data(n, key)
            return cv  # type: ignore[return-value]  # a plan of any class
        codes = group_codes(groups, n)
        each_alone = LeaveOneOut if codes is None else LeaveOneGroupOut
        if isinstance(cv, each_alone) and not keep_copies_together:
            return cls._each_alone(n, codes, key)
        counted = cv is None or isinstance(cv, int | np.integer)
        drawn = cv is None or random_state is not None or keep_copies_together or codes is not None
        if counted and drawn:
            seed = None if cv is not None and random_state is None else _seed(random_state)
            units = units_of(X, codes, keep_copies_together)
            strata = np.asarray(y) if classifier else None
            return cls._dealt(n, cv, seed, units, strata, codes, key)
        if keep_copies_together:
            raise PlanError("keep_copies_together needs cv to be a number of folds or None")
        splitter = cv
        if not isinstance(cv, Iterable) or isinstance(cv, str | bytes):
            splitter = splitter_of(cv, y, classifier)
        kind, seed = kind_of(splitter), getattr(splitter, "random_state", None)
        if hasattr(splitter, "split"):
            splitter = split_by(splitter, n, X, y, groups)
        seed = int(seed) if isinstance(seed, int | np.integer) else None
        fold, trains = folds_of_splits(splitter, n, codes)
        return cls(kind, n, len(fold), seed, fold, trains, codes, key)

    @classmethod
    def leave_one_out(
        cls, X: Any, y: Any, *, sample_weight: Floats | None = None, groups: Any = None
    ) -> Self:
        """Each row held out once, alone; with groups, each group as a whole."""
        cv = LeaveOneOut() if groups is None else LeaveOneGroupOut()
        return cls.of(cv, X, y, sample_weight=sample_weight, groups=groups)

    @classmethod
    def holdout(
        cls,
        X: Any,
        y: Any,
        *,
        test_size: float = 0.25,
        sample_weight: Floats | None = None,
        groups: Any = None,
        classifier: bool = False,
        random_state: Any = None,
        keep_copies_together: bool = False,
        time_order: bool = False,
    ) -> Self:
        """One split: the share `test_size` of the rows is held out (at least one row or group).

        In time order these are the last rows, and nothing is drawn: the plan is of kind "time".
        """
        if not (is_number(test_size) and 0 < test_size < 1):
            raise ParameterError(f"test_size is {test_size!r}; it must lie between 0 and 1")
        truth = X if y is None else y
        n = _num_samples(truth)
        codes = group_codes(groups, n)
        units = units_of(X, codes, keep_copies_together)
        if n < 2 or (units is not None and units.max() < 1):
            raise PlanError("a hold-out split needs at least two rows (or groups) to part")
        if time_order:
            kind, seed, held = "time", None, latest(n, test_size, units=units)
        else:
            kind, seed = "holdout", _seed(random_state)
            strata = np.asarray(y) if classifier else None
            held = hold_out(n, test_size, strata=strata, units=units, rng=generator(seed))
        fold = np.where(held, 0, -1).astype(np.int32)[None]
        return cls(kind, n, 1, seed, fold, None, codes, data_key(truth, sample_weight, groups))

    @classmethod
    def _each_alone(cls, n: int, groups: Ints | None, key: str) -> Self:
        """Each row, or each group, is a fold."""
        fold = np.arange(n) if groups is None else groups
        if len(fold) == 0 or fold.max() < 1:
            what = f"rows, and n_samples = {n}" if groups is None else "groups, and there is one"
            raise PlanError(f"leave-one-out needs at least two {what}")
        kind = "leave_one_out" if groups is None else "grouped"
        return cls(kind, n, 1, None, fold.astype(np.int32)[None], None, groups, key)

    @classmethod
    def _dealt(
        cls,
        n: int,
        cv: int | None,
        seed: int | None,
        units: Ints | None,
        strata: Array | None,
        groups: Ints | None,
        key: str,
    ) -> Self:
        n_units = n if units is None else int(units.max()) + 1
        folds = min(DEFAULT_FOLDS, n_units) if cv is None else int(cv)
        if folds < 2 or folds > n_units:
            what = "rows" if units is None else "groups of rows that stay together"
            remedy = f"choose 2 to {n_units}" if n_units > 1 else "bring at least two"
            raise PlanError(f"{folds} folds of n_samples = {n_units} ({what}): {remedy}")
        rng = None if seed is None else generator(seed)
        fold = deal(n, folds, strata=strata, units=units, rng=rng)[None]
        kind = "kfold" if groups is None else "grouped"
        return cls(kind, n, 1, seed, fold, None, groups, key)

    def refuse_other_data(self, n: int, key: str) -> None:
        if n != self.n:
            raise PlanError(f"the plan is for {self.n} rows and the data have {n}")
        if key != self.data_key:
            raise PlanError(
                "the plan was made for another y, other weights or other groups: "
                "make one with Plan.of for these data"
            )


def _seed(random_state: Any) -> int:
    return spawn(0 if random_state is None else random_state, 1)[0]
