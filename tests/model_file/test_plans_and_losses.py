"""Splitters, plans and losses come back from a model file."""

import numpy as np
import pytest
from sklearn.model_selection import (
    GroupKFold,
    GroupShuffleSplit,
    KFold,
    LeaveOneGroupOut,
    LeaveOneOut,
    LeavePGroupsOut,
    LeavePOut,
    PredefinedSplit,
    RepeatedKFold,
    RepeatedStratifiedKFold,
    ShuffleSplit,
    StratifiedGroupKFold,
    StratifiedKFold,
    StratifiedShuffleSplit,
    TimeSeriesSplit,
)

from empirisk import (
    Plan,
    Ridge,
    Tuned,
    losses,
)
from empirisk.model_file.registry import HOMES
from model_file.exactness import assert_same
from saved_models import there_and_back

SPLITTERS = [
    GroupKFold(2),
    GroupShuffleSplit(2, test_size=0.5, random_state=1),
    KFold(3, shuffle=True, random_state=5),
    LeaveOneGroupOut(),
    LeaveOneOut(),
    LeavePGroupsOut(1),
    LeavePOut(2),
    PredefinedSplit([0, 0, 1, 1, -1, 0, 1, 1]),
    RepeatedKFold(n_splits=2, n_repeats=3, random_state=1),
    RepeatedStratifiedKFold(n_splits=2, n_repeats=3, random_state=1),
    ShuffleSplit(2, test_size=3, random_state=1),
    StratifiedGroupKFold(2),
    StratifiedKFold(2),
    StratifiedShuffleSplit(2, train_size=0.5, random_state=1),
    TimeSeriesSplit(2, gap=1),
]


@pytest.mark.parametrize("cv", SPLITTERS, ids=lambda cv: type(cv).__name__)
def test_splitters_come_back(cv, tmp_path):
    again = there_and_back(Tuned(Ridge(), cv=cv), tmp_path / "model").cv
    assert_same(cv, again)
    X, y = np.zeros((8, 1)), np.arange(8) % 2
    groups = np.arange(8) // 2 if "Group" in type(cv).__name__ else None
    assert_same([*again.split(X, y, groups)], [*cv.split(X, y, groups)])


def test_every_registered_splitter_is_tested():
    names = {name for name in HOMES if HOMES[name] == "sklearn.model_selection"}
    assert {type(cv).__name__ for cv in SPLITTERS} == names


def test_given_splits_and_plans_come_back(tmp_path):
    splits = [(np.arange(5), np.arange(5, 8)), ([0, 1], [2])]
    assert_same(there_and_back(Tuned(Ridge(), cv=splits), tmp_path / "model").cv, splits)
    plan = Plan.of(3, np.zeros((6, 1)), np.arange(6.0))
    assert plan.n_splits == 3  # now it has something cached, which is not kept
    again = there_and_back(Tuned(Ridge(), cv=plan), tmp_path / "model").cv
    assert again.fingerprint == plan.fingerprint


LOSSES = [
    losses.Asymmetric(1, 4, positive="sick").for_classes(["sick", "well"]),
    losses.Asymmetric(a=2.0, b=np.float64(0.5), positive=np.str_("yes")),
    losses.Costs([[0, 5], [1, 0]], classes=["good", "bad"]).for_classes(["bad", "good"]),
    losses.Costs([[0, 5], [1, 0]]),
    losses.Quantile(0.1),
    losses.Hinge(),
]


@pytest.mark.parametrize("loss", LOSSES, ids=str)
def test_losses_come_back_with_the_order_of_their_classes(loss, tmp_path):
    again = there_and_back(Tuned(Ridge(), loss=loss), tmp_path / "model").loss
    assert again == loss
    assert_same(vars(loss), vars(again))
