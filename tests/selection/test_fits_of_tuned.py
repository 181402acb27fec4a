"""How often a tuned learner fits all rows, and what it keeps of the path."""

from functools import wraps

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone, is_classifier

from empirisk import (
    AdaBoostClassifier,
    DecisionTreeClassifier,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    LinearDiscriminantAnalysis,
    LogitBoostClassifier,
    StagewiseRegressor,
    Tuned,
    risk,
)
from same_bits import assert_same_bits

rng = np.random.default_rng(0)
X = rng.normal(size=(80, 12))
y = X[:, 0] + rng.normal(size=80)


def labels_for(learner):
    return np.where(y > 0, "up", "down") if is_classifier(learner) else y


def count_fits(learner, monkeypatch):
    """A list that grows with each fit of a learner of this class."""
    fits, fit = [], type(learner).fit

    @wraps(fit)
    def counted(self, *args, **kwargs):
        fits.append(self)
        return fit(self, *args, **kwargs)

    monkeypatch.setattr(type(learner), "fit", counted)
    return fits


@pytest.mark.parametrize("named", [False, True])
@pytest.mark.parametrize(
    "learner",
    [
        AdaBoostClassifier(n_estimators=6),
        DecisionTreeClassifier(max_depth=4),
        HistGradientBoostingClassifier(max_iter=6, early_stopping=True),
        LogitBoostClassifier(n_estimators=6),
        StagewiseRegressor(n_estimators=6),
    ],
    ids=str,
)
def test_all_rows_are_fitted_once_where_their_path_has_the_model(learner, named, monkeypatch):
    target = labels_for(learner)
    table = pd.DataFrame(X, columns=[f"column {j}" for j in range(12)]) if named else X
    fits = count_fits(learner, monkeypatch)
    model = Tuned(learner, cv=3, random_state=0).fit(table, target).best_estimator_
    assert not fits
    assert_same_bits(model, clone(model).fit(table, target))


@pytest.mark.parametrize(
    ("learner", "weighted"),
    [
        (AdaBoostClassifier(LinearDiscriminantAnalysis(), n_estimators=3), False),
        (DecisionTreeClassifier(max_depth=2, class_weight={"up": 2.0}), False),
        (HistGradientBoostingRegressor(max_iter=4, max_bins=10), True),
    ],
    ids=["members know labels", "parameters know labels", "bins by weight"],
)
def test_where_a_fit_has_other_bits_it_is_made(learner, weighted, monkeypatch):
    target, fits = labels_for(learner), count_fits(learner, monkeypatch)
    weight = np.random.default_rng(1).uniform(0.2, 5.0, size=80) if weighted else None
    model = Tuned(learner, cv=3, random_state=0).fit(X, target, sample_weight=weight)
    model = model.best_estimator_
    assert fits == [model]
    assert_same_bits(model, clone(model).fit(X, target, sample_weight=weight))


@pytest.mark.parametrize(
    "learner",
    [
        AdaBoostClassifier(n_estimators=6),
        HistGradientBoostingRegressor(max_iter=6),
        StagewiseRegressor(n_estimators=6),
    ],
    ids=str,
)
def test_of_more_rounds_than_are_chosen_nothing_is_kept(learner):
    values = [2, getattr(learner, learner.axis.params[0])]
    target = labels_for(learner)
    problem = risk.Problem.of(learner, X, target)
    found = risk.out_of_fold(learner, problem, problem.plan(2), values=values)
    model = found.whole.path.at(0)
    trees = model.stages_.trees if hasattr(model, "stages_") else model.trees_
    trees = getattr(trees, "trees", trees)
    assert len(trees) == 2
    assert all(array.base is None for array in vars(trees).values())
