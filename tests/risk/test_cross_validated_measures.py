"""Measures by cross-validation: pooled or within splits, with the intervals of other risks."""

import re

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn import metrics
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import (
    KFold,
    RepeatedStratifiedKFold,
    StratifiedKFold,
    cross_val_predict,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

from empirisk import LinearDiscriminantAnalysis
from empirisk.risk import cross_validate, measures
from empirisk.runtime.errors import ParameterError, PlanError
from tolerances import SUMMED


def test_cross_validated_measures_are_pooled_or_averaged_over_the_splits():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 3))
    y = (X[:, 0] + rng.normal(size=120) > 0).astype(int)
    splits = [(np.flatnonzero(np.arange(120) % 4 != s), np.arange(s, 120, 4)) for s in range(4)]
    ours, foreign = LinearDiscriminantAnalysis(), LogisticRegression()
    for estimator in (ours, foreign):
        areas, prediction = [], np.empty(120, dtype=int)
        for train, test in splits:
            model = type(estimator)().fit(X[train], y[train])
            areas.append(metrics.roc_auc_score(y[test], model.predict_proba(X[test])[:, 1]))
            prediction[test] = model.predict(X[test])
        found = measures.cross_validate(estimator, X, y, "auc", cv=splits)
        assert_allclose(found.value, np.mean(areas), rtol=1e-10)  # equal parts; two rungs
        assert found.interval is None  # the splits were given
        pooled = measures.cross_validate(estimator, X, y, "f_score", cv=splits)
        assert_allclose(pooled.value, metrics.f1_score(y, prediction), rtol=SUMMED)
    found = measures.cross_validate(ours, X, y, "auc", random_state=0)
    assert found.estimates == "the procedure at this n"
    assert found.interval[0] < found.value < found.interval[1] < 1
    assert "the folds share training rows" in found.reason
    again = measures.cross_validate(ours, X, y, "auc", random_state=0, n_jobs=2)
    assert (again.value, again.interval) == (found.value, found.interval)
    one_class = [(np.arange(60), 60 + np.flatnonzero(y[60:] == 1))]
    with pytest.raises(PlanError, match="use fewer or stratified folds"):
        measures.cross_validate(ours, X, y, "auc", cv=one_class)
    with pytest.raises(ParameterError, match="models that share training rows"):
        measures.cross_validate(ours, X, y, "auc", method="bootstrap")


def test_average_precision_is_that_of_all_rows_in_one_order():
    """Within ten splits of two or three positive rows each, guesses seemed to do 0.17."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(300, 3)), np.arange(300) % 12 == 0
    splits = list(StratifiedKFold(10).split(X, y))
    found = cross_validate(LogisticRegression(), X, y, loss="average_precision", cv=splits)
    score = cross_val_predict(LogisticRegression(), X, y, cv=splits, method="predict_proba")[:, 1]
    assert_allclose(found.value, metrics.average_precision_score(y, score), rtol=SUMMED)
    assert found.value < 0.15  # of which 1/12 is the share of positive rows
    with pytest.raises(PlanError, match="no row is of class True, so the scores of its model do"):
        cross_validate(LogisticRegression(), X[:40], y[:40], loss="average_precision", cv=KFold(40))


@pytest.mark.parametrize("n_classes", [2, 3])
def test_scores_within_splits_need_no_probabilities(n_classes):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(120, 3))
    y = np.digitize(X[:, 0] + rng.normal(size=120), [0.0, 0.8][: n_classes - 1])
    splits = [(np.flatnonzero(np.arange(120) % 4 != s), np.arange(s, 120, 4)) for s in range(4)]
    areas = []
    for train, test in splits:
        score = LinearSVC(random_state=0).fit(X[train], y[train]).decision_function(X[test])
        columns = [(1, score)] if n_classes == 2 else list(enumerate(score.T))
        areas.append(np.mean([metrics.roc_auc_score(y[test] == k, own) for k, own in columns]))
    found = measures.cross_validate(LinearSVC(random_state=0), X, y, "auc", cv=splits)
    assert_allclose(found.value, np.mean(areas), rtol=1e-12)  # equal parts, the same fits
    margin = make_pipeline(StandardScaler(), LinearSVC())
    piped = measures.cross_validate(margin, X, y, "auc", cv=4, random_state=0)
    assert 0.6 < piped.interval[0] < piped.value < piped.interval[1]
    with pytest.raises(ParameterError, match="neither predict_proba nor decision_function"):
        measures.cross_validate(NearestCentroidLabels(), X, y, "auc")


class NearestCentroidLabels(ClassifierMixin, BaseEstimator):
    """A classifier that gives labels and nothing else."""

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        self.means_ = np.array([X[y == k].mean(axis=0) for k in self.classes_])
        return self

    def predict(self, X):
        return self.classes_[np.square(X[:, None] - self.means_).sum(axis=2).argmin(axis=1)]


def separated(n=60):
    """Three classes that any classifier tells apart."""
    y = np.arange(n) % 3
    return np.eye(3)[y] * 20 + np.random.default_rng(0).normal(size=(n, 3)), y


@pytest.mark.parametrize("measure", ["accuracy", "precision", "recall", "specificity", "f_score"])
def test_cross_validated_shares_have_the_interval_of_the_zero_one_risk(measure):
    X, y = separated()
    options = {} if measure == "accuracy" else {"positive": 1}
    found = measures.cross_validate(LinearDiscriminantAnalysis(), X, y, measure, **options)
    assert found.value == 1
    low, high = found.interval
    assert 0.5 < low < 1
    assert high == 1
    assert "the folds share training rows" in found.reason
    risk = cross_validate(LinearDiscriminantAnalysis(), X, y, loss="zero_one")
    if measure == "accuracy":
        assert_allclose((low, high), [1 - end for end in risk.interval[::-1]], rtol=SUMMED)
    rows = {"accuracy": 60, "specificity": 40}.get(measure, 20)
    whole = measures.cross_validate(LinearDiscriminantAnalysis(), X, y, "accuracy").interval[0]
    assert (low == whole) == (rows == 60)
    # Wilson's bound is 1/(1 + z^2 lam^2/n), and lam depends on the degrees of freedom per row only.
    if measure != "f_score":
        assert_allclose((1 / low - 1) * rows, (1 / whole - 1) * 60, rtol=SUMMED)


def test_measures_by_a_line_that_moves_with_the_training_rows_say_so():
    X, y = separated()
    X[:, 0] += np.random.default_rng(1).normal(0, 20, 60)
    for measure in ("recall", "specificity", "f_score"):
        found = measures.cross_validate(LinearDiscriminantAnalysis(), X, y, measure, positive=0)
        assert any("draws the line" in caution for caution in found.cautions)
        pooled = measures.cross_validate(
            LinearDiscriminantAnalysis(), X, y, measure, average="micro"
        )
        assert not pooled.cautions
    for measure in ("accuracy", "auc"):
        assert not measures.cross_validate(LinearDiscriminantAnalysis(), X, y, measure).cautions


def test_a_share_of_mistakes_has_the_same_interval_by_both_names():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(90, 2))
    y = (X[:, 0] + rng.normal(size=90) > 0).astype(int)
    weight, groups = rng.uniform(0.5, 2, size=90), np.arange(90) // 3
    for options in ({}, {"sample_weight": weight}, {"groups": groups}):
        risk = cross_validate(LinearDiscriminantAnalysis(), X, y, random_state=0, **options)
        right = measures.cross_validate(
            LinearDiscriminantAnalysis(), X, y, "accuracy", random_state=0, **options
        )
        assert_allclose(right.value, 1 - risk.value, rtol=SUMMED)
        assert_allclose(right.interval, [1 - end for end in risk.interval[::-1]], rtol=SUMMED)
        assert_allclose(right.standard_error, risk.standard_error, rtol=SUMMED)


def test_a_perfect_cross_validated_auc_is_bounded_by_pairs_within_the_splits():
    X, y = separated()
    splits = KFold(6)  # 10 rows each: 3 or 4 of a class, so 3 or 4 pairs with the others
    ours = LinearDiscriminantAnalysis()
    found = measures.cross_validate(ours, X, y, "auc", cv=splits, positive=0)
    assert found.value == 1
    assert "20 pairs without a row in common" in found.reason
    worth = float(re.search(r"worth ([\d.]+)", found.reason)[1])
    assert_allclose(found.interval, (0.025 ** (1 / worth), 1), rtol=2e-3)  # as printed
    assert 20 / 4 <= worth < 20  # the widening is at most twofold
    average = measures.cross_validate(ours, X, y, "auc", cv=splits)
    assert average.method == "Bonferroni"
    assert average.interval[0] < found.interval[0]
    once = measures.cross_validate(
        ours, X, y, "auc", positive=0,
        cv=RepeatedStratifiedKFold(n_splits=6, n_repeats=3, random_state=0),
    )  # fmt: skip
    assert "20 pairs" in once.reason  # each row counts once, however often it is judged


def test_the_error_of_an_auc_is_right_where_a_fold_has_one_row_of_a_class():
    """300 rows, 10 of them positive: the error was a third of the truth."""
    values, errors = [], []
    y = np.repeat([1, 0], [10, 290])
    for seed in range(60):
        X = np.random.default_rng(seed).normal(size=(300, 2))
        X[:10, 0] += 1.19
        found = cross_validate(LinearDiscriminantAnalysis(), X, y, loss="auc", random_state=seed)
        values.append(found.value)
        errors.append(found.table.standard_error())
    # The deviation of 60 values is known to 1 / sqrt(120), about 9 %: four times that.
    assert 0.64 < np.mean(errors) / np.std(values) < 1.6
