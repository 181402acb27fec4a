import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.model_selection import (
    GroupKFold,
    KFold,
    LeaveOneOut,
    RepeatedKFold,
    ShuffleSplit,
    StratifiedKFold,
    TimeSeriesSplit,
)

from empirisk import Plan
from empirisk.data.table import Table
from empirisk.risk.plans.fingerprints import data_key
from empirisk.runtime.errors import ParameterError, PlanError

X = np.random.default_rng(0).normal(size=(30, 2))
y = X[:, 0] + 1.0
labels = np.repeat([0, 1, 2], 10)


@pytest.mark.parametrize(
    ("cv", "kind", "partition"),
    [
        (KFold(4), "kfold", True),
        (KFold(4, shuffle=True, random_state=1), "kfold", True),
        (LeaveOneOut(), "leave_one_out", True),
        (RepeatedKFold(n_splits=3, n_repeats=2, random_state=0), "repeated", True),
        (ShuffleSplit(5, test_size=0.3, random_state=0), "shuffled", False),
        (TimeSeriesSplit(4), "time", False),
    ],
)
def test_a_plan_has_the_splits_of_the_scikit_learn_splitter(cv, kind, partition):
    plan = Plan.of(cv, X, y)
    assert (plan.kind, plan.is_partition) == (kind, partition)
    splits = list(cv.split(X, y))
    assert plan.n_splits == len(splits)
    for s, (train, test) in enumerate(splits):
        np.testing.assert_array_equal(plan.test(s), np.sort(test))
        np.testing.assert_array_equal(plan.train(s), np.sort(train))


def test_a_number_of_folds_has_scikit_learns_meaning():
    plan = Plan.of(5, X, labels, classifier=True)
    for s, (_, test) in enumerate(StratifiedKFold(5).split(X, labels)):
        np.testing.assert_array_equal(plan.test(s), test)


def test_the_default_is_ten_shuffled_stratified_folds():
    plan = Plan.of(None, X, labels, classifier=True)
    assert plan.n_splits == 10
    for s in range(10):
        assert sorted(labels[plan.test(s)]) == [0, 1, 2]
    assert plan.fingerprint == Plan.of(None, X, labels, classifier=True).fingerprint
    assert plan.fingerprint != Plan.of(None, X, labels, classifier=True, random_state=1).fingerprint


def test_entries_list_every_held_out_row_by_split():
    plan = Plan.of(RepeatedKFold(n_splits=3, n_repeats=2, random_state=0), X, y)
    row, split = plan.entries
    for s in range(plan.n_splits):
        np.testing.assert_array_equal(row[split == s], plan.test(s))
    for r in range(2):
        np.testing.assert_array_equal(row[plan.place[r]], np.arange(30))


def test_the_fingerprint_names_splits_targets_weights_and_groups():
    base = Plan.of(3, X, y)
    assert base.fingerprint == Plan.of(KFold(3), X, pd.Series(y)).fingerprint
    assert base.fingerprint == Plan.of(3, X, y, sample_weight=np.ones(30)).fingerprint
    others = [
        Plan.of(4, X, y),
        Plan.of(3, X, y + 1),
        Plan.of(3, X, y, sample_weight=np.arange(1.0, 31)),
        Plan.of(GroupKFold(3), X, y, groups=np.arange(30) // 2),
    ]
    assert len({plan.fingerprint for plan in [base, *others]}) == 5


def test_a_plan_for_other_data_is_refused():
    plan = Plan.of(3, X, y)
    assert Plan.of(plan, X, y) is plan
    with pytest.raises(PlanError, match="another y"):
        Plan.of(plan, X, y + 1)
    with pytest.raises(PlanError, match="30 rows and the data have 29"):
        Plan.of(plan, X[1:], y[1:])


def test_a_row_on_both_sides_of_a_split_is_refused():
    with pytest.raises(PlanError, match="not be honest"):
        Plan.of([(np.arange(20), np.arange(19, 30))], X, y)
    with pytest.raises(PlanError, match="empty test"):
        Plan.of([(np.arange(20), [])], X, y)
    with pytest.raises(PlanError, match="there are 30 rows"):
        Plan.of([(np.arange(20), [30])], X, y)
    with pytest.raises(PlanError, match="no splits"):
        Plan.of([], X, y)
    with pytest.raises(PlanError, match=r"split 0 is \(1, 2, 3\); give a pair \(train, test\)"):
        Plan.of([(1, 2, 3)], X, y)


@pytest.mark.parametrize("share", [0, 1.5, np.nan, "a quarter", None])
def test_a_share_that_makes_no_sense_is_refused(share):
    with pytest.raises(ParameterError, match=r"test_size is .*; it must lie between 0 and 1"):
        Plan.holdout(X, y, test_size=share)


def test_given_splits_may_be_masks_and_keep_their_training_rows():
    test = np.zeros(30, dtype=bool)
    test[:5] = True
    plan = Plan.of([(np.arange(10, 30), test)], X, y)
    assert plan.kind == "given"
    assert not plan.is_partition
    np.testing.assert_array_equal(plan.test(0), np.arange(5))
    np.testing.assert_array_equal(plan.train(0), np.arange(10, 30))


@pytest.mark.parametrize("cv", [1, 31])
def test_an_impossible_number_of_folds_is_refused(cv):
    with pytest.raises(ValueError, match=r"n_splits|n_samples"):
        Plan.of(cv, X, y)
    with pytest.raises(PlanError, match="n_samples = 30"):
        Plan.of(cv, X, y, random_state=0)


@given(st.integers(2, 60), st.integers(2, 9), st.integers(1, 12), st.integers(0, 3))
def test_groups_stay_in_one_fold_and_folds_are_never_empty(n, folds, n_groups, seed):
    groups = np.random.default_rng(seed).integers(0, n_groups, n)
    present = len(np.unique(groups))
    if folds > present:
        with pytest.raises(PlanError):
            Plan.of(folds, np.zeros((n, 1)), np.arange(n), groups=groups)
        return
    plan = Plan.of(folds, np.zeros((n, 1)), np.arange(n), groups=groups)
    assert plan.kind == "grouped"
    for s in range(folds):
        assert len(plan.test(s))
        assert not set(groups[plan.test(s)]) & set(groups[plan.train(s)])


def test_copies_of_a_row_stay_together_on_request():
    copied = np.vstack([X, X[:10], X[:10]])
    target = np.arange(50.0)
    plan = Plan.of(5, copied, target, random_state=0, keep_copies_together=True)
    first = plan.fold[0][:10]
    np.testing.assert_array_equal(plan.fold[0][30:40], first)
    np.testing.assert_array_equal(plan.fold[0][40:], first)
    assert np.bincount(plan.fold[0]).max() - np.bincount(plan.fold[0]).min() <= 1
    apart = Plan.of(5, copied, target, random_state=0)
    assert (apart.fold[0][30:40] != apart.fold[0][:10]).any()


def test_copies_and_groups_are_joined():
    copied = np.array([[1.0], [2.0], [2.0], [3.0], [4.0], [5.0]])
    groups = [0, 0, 1, 1, 2, 3]
    plan = Plan.of(3, copied, np.arange(6), groups=groups, keep_copies_together=True)
    assert len(set(plan.fold[0][:4])) == 1


@pytest.mark.parametrize("frame", [pd.DataFrame, np.asarray])
def test_missing_values_and_signed_zeros_are_equal_to_themselves(frame):
    rows = frame([[np.nan, 0.0], [np.nan, -0.0], [1.0, 0.0], [2.0, 0.0]])
    plan = Plan.of(3, rows, np.arange(4), keep_copies_together=True)
    assert plan.fold[0][0] == plan.fold[0][1]
    assert len(set(plan.fold[0])) == 3


def test_copies_in_a_table_of_words_are_found():
    table = pd.DataFrame({"a": ["x", "y", "x", "x"], "b": [1, 1, 1, 2]})
    plan = Plan.of(3, table, np.arange(4), keep_copies_together=True)
    assert plan.fold[0][0] == plan.fold[0][2]
    assert len(set(plan.fold[0])) == 3


@given(st.integers(2, 200), st.floats(0.05, 0.95), st.integers(0, 2))
def test_a_holdout_part_has_its_share(n, share, seed):
    plan = Plan.holdout(np.zeros((n, 1)), np.arange(n), test_size=share, random_state=seed)
    held = len(plan.test(0))
    assert len(plan.train(0)) == n - held
    assert 1 <= held < n
    assert held == round(min(max(share * n, 1), n - 1))


@given(st.integers(2, 200), st.floats(0.05, 0.95))
def test_a_holdout_part_in_time_order_is_the_last_share(n, share):
    plan = Plan.holdout(np.zeros((n, 1)), np.arange(n), test_size=share, time_order=True)
    held = round(min(max(share * n, 1), n - 1))
    assert (plan.kind, plan.seed, plan.judges_one_model) == ("time", None, True)
    np.testing.assert_array_equal(plan.train(0), np.arange(n - held))
    np.testing.assert_array_equal(plan.test(0), np.arange(n - held, n))


@given(st.lists(st.integers(0, 6), min_size=2, max_size=25), st.floats(0.05, 0.95))
def test_in_time_order_the_cut_is_the_nearest_between_groups(groups, share):
    n = len(groups)
    clean = [c for c in range(1, n) if not set(groups[:c]) & set(groups[c:])]
    if not clean:
        with pytest.raises(PlanError, match=r"both sides|to part"):
            Plan.holdout(np.zeros((n, 1)), groups, test_size=share, groups=groups, time_order=True)
        return
    plan = Plan.holdout(np.zeros((n, 1)), groups, test_size=share, groups=groups, time_order=True)
    wanted = n - round(min(max(share * n, 1), n - 1))
    assert len(plan.train(0)) == min(clean, key=lambda c: abs(c - wanted))
    np.testing.assert_array_equal(plan.test(0), np.arange(len(plan.train(0)), n))


def test_a_holdout_part_is_stratified_and_keeps_groups():
    plan = Plan.holdout(X, labels, test_size=0.3, classifier=True, random_state=0)
    assert np.bincount(labels[plan.test(0)]).tolist() == [3, 3, 3]
    groups = np.arange(30) // 3
    plan = Plan.holdout(X, y, test_size=0.3, groups=groups, random_state=0)
    assert not set(groups[plan.test(0)]) & set(groups[plan.train(0)])


def test_rare_classes_are_spread_over_the_folds():
    rare = np.array([0] * 27 + [1] * 3)
    plan = Plan.of(None, X, rare, classifier=True)
    assert len(set(plan.fold[0][rare == 1])) == 3
    sizes = np.bincount(plan.fold[0])
    assert sizes.max() - sizes.min() <= 1


def test_a_part_that_is_no_list_of_rows_is_refused():
    with pytest.raises(PlanError, match="give its rows as a list"):
        Plan.of([([0, 1], 3)], np.zeros((4, 1)), np.zeros(4))


@pytest.mark.parametrize(
    ("train", "match"), [([0, 1, 1], "names row 1 more than once"), ([0.5, 1.5], "by .*0.5"),
                         (["a", "b"], "by .*a")]
)  # fmt: skip
def test_a_part_names_each_row_once_and_by_its_number(train, match):
    with pytest.raises(PlanError, match=match):
        Plan.of([(train, [3])], np.zeros((4, 1)), np.zeros(4))


def test_tables_of_equal_names_have_different_keys():
    tables = [Table.of({"a": [1.0, 2.0, 3.0], "b": [4.0, 5.0, last]}) for last in (6.0, 7.0)]
    assert data_key(tables[0]) != data_key(tables[1])
    assert data_key(tables[0]) == data_key(Table.of(tables[0].to_pandas()))


@pytest.mark.parametrize(
    ("cv", "target", "match"),
    [
        (5, np.arange(3.0), "KFold cannot part these 3 rows: .*n_samples=3"),
        (GroupKFold(3), np.arange(3.0), "GroupKFold cannot part"),
        (4, np.arange(4) // 2, "StratifiedKFold cannot part .*members in each class"),
        (1, np.arange(3.0), "cv is 1: .*n_splits=2 or more"),
        (2.5, np.arange(3.0), "cv is 2.5: Expected `cv`"),
    ],
)
def test_what_scikit_learn_cannot_split_is_no_plan(cv, target, match):
    classifier = target.dtype.kind == "i"
    with pytest.raises(PlanError, match=match):
        Plan.of(cv, np.zeros((len(target), 1)), target, classifier=classifier)
