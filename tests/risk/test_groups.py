"""Groups in a plan: never on both sides of a split, and every row has one."""

import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.model_selection import (
    GroupKFold,
    GroupShuffleSplit,
    KFold,
    LeaveOneGroupOut,
    LeaveOneOut,
    RepeatedKFold,
    ShuffleSplit,
    StratifiedGroupKFold,
    StratifiedKFold,
    TimeSeriesSplit,
)

from empirisk import Plan
from empirisk.runtime.errors import DataError, PlanError

X = np.random.default_rng(0).normal(size=(30, 2))
y = X[:, 0] + 1.0
labels = np.repeat([0, 1, 2], 10)
TENTHS = np.tile(np.arange(10), 3)


@pytest.mark.parametrize(
    "cv",
    [
        KFold(5, shuffle=True, random_state=0),
        StratifiedKFold(5, shuffle=True, random_state=0),
        RepeatedKFold(n_splits=3, n_repeats=2, random_state=0),
        ShuffleSplit(3, random_state=0),
        LeaveOneOut(),
        TimeSeriesSplit(4),
        [(np.arange(1, 30), [0])],
        [(np.arange(11, 15), [0, 1])],  # does not train on all others
    ],
)
def test_splits_that_part_a_group_are_refused(cv):
    with pytest.raises(PlanError, match=r"a group on both sides: row \d+ trains.*GroupKFold"):
        Plan.of(cv, X, labels, groups=TENTHS, classifier=True)


def test_the_refusal_names_two_rows_of_one_group():
    with pytest.raises(PlanError, match=r"split 1 has .* row 13 trains and row 23 "):
        Plan.of([([1], [0]), ([11, 13], [20, 23])], X, y, groups=TENTHS)


@pytest.mark.parametrize(
    ("cv", "kind"),
    [
        (GroupKFold(5), "grouped"),
        (StratifiedGroupKFold(5), "grouped"),
        (LeaveOneGroupOut(), "grouped"),
        (GroupShuffleSplit(4, random_state=0), "shuffled"),
        (KFold(10), "kfold"),  # by luck: the groups follow one another
        ([(np.arange(3, 30), [0, 1, 2])], "given"),
    ],
)
def test_splits_that_keep_groups_whole_are_those_of_scikit_learn(cv, kind):
    groups = np.repeat(list("badcfehgji"), 3)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        plan = Plan.of(cv, X, labels, groups=groups, classifier=True)
    assert plan.kind == kind
    grouped = None if kind == "kfold" else groups
    splits = cv if isinstance(cv, list) else [*cv.split(X, labels, grouped)]
    assert plan.n_splits == len(splits)
    for s, (train, test) in enumerate(splits):
        np.testing.assert_array_equal(plan.train(s), np.sort(train))
        np.testing.assert_array_equal(plan.test(s), np.sort(test))


def test_leave_one_out_holds_out_whole_groups():
    plan = Plan.leave_one_out(X, y, groups=TENTHS)
    assert plan.n_splits == 10
    for s in range(10):
        np.testing.assert_array_equal(plan.test(s), np.flatnonzero(s == TENTHS))
    assert Plan.leave_one_out(X, y).kind == "leave_one_out"
    with pytest.raises(PlanError, match="two groups"):
        Plan.leave_one_out(X, y, groups=np.zeros(30))
    with pytest.raises(PlanError, match="n_samples = 1"):
        Plan.leave_one_out(X[:1], y[:1])


@pytest.mark.parametrize(
    "missing", [None, np.nan, pd.NA, pd.NaT, np.datetime64("NaT")], ids=lambda m: repr(m)
)
@pytest.mark.parametrize("kind", [list, pd.Series, lambda g: np.array(g, dtype=object)])
def test_a_row_without_a_group_is_named(missing, kind):
    groups = kind(["a"] * 4 + [missing] + ["a"] * 24 + [missing])
    for plan in (Plan.of, Plan.holdout, Plan.leave_one_out):
        given = (3, X, y) if plan == Plan.of else (X, y)
        with pytest.raises(DataError, match=r"row 4 has no group .* 2 row"):
            plan(*given, groups=groups)


@pytest.mark.parametrize(
    ("dtype", "missing"), [(float, np.nan), ("datetime64[D]", np.datetime64("NaT"))]
)
def test_a_missing_number_or_date_is_no_group(dtype, missing):
    groups = np.arange(30).astype(dtype)
    groups[7] = missing
    with pytest.raises(DataError, match="row 7 has no group"):
        Plan.of(3, X, y, groups=groups)


def test_groups_are_one_label_a_row_of_one_kind():
    with pytest.raises(DataError, match=r"shape \(30, 2\)"):
        Plan.of(3, X, y, groups=X)
    with pytest.raises(DataError, match="29 entries for 30 rows"):
        Plan.of(3, X, y, groups=np.arange(29))
    mixed = np.array(["a", 1] * 15, dtype=object)
    with pytest.raises(DataError, match=r"several kinds \(int, str\)"):
        Plan.of(2, X, y, groups=mixed)
    column = Plan.of(3, X, y, groups=TENTHS[:, None])
    np.testing.assert_array_equal(column.fold, Plan.of(3, X, y, groups=list(TENTHS)).fold)
