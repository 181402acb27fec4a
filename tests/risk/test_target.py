"""Targets, tables and plans that cannot be used: our errors, with the row and the remedy."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.linear_model import LinearRegression, LogisticRegression

from empirisk import DecisionTreeClassifier, DecisionTreeRegressor, Tuned, risk
from empirisk.learners.linear.ridge import Ridge
from empirisk.runtime.errors import DataError, EmpiriskError, ParameterError

rng = np.random.default_rng(0)
X = rng.normal(size=(40, 2))
y = X[:, 0] + rng.normal(size=40)
labels = np.where(y > 0, "yes", "no")
regressor, classifier = LinearRegression().fit(X, y), LogisticRegression().fit(X, labels)


def with_gap(values, gap, row=7):
    values = np.asarray(values, dtype=object)
    values[row] = gap
    return values


@pytest.mark.parametrize(
    "target",
    [
        with_gap(y, np.nan).astype(float),
        with_gap(y, None),
        with_gap(y, np.nan).tolist(),
        pd.Series(with_gap(y, pd.NA)),
        pd.Series(with_gap(y, None), dtype="Float64"),
        pl.Series(with_gap(y, None).tolist()),
        with_gap(y, np.nan).astype(float)[:, None],
        np.column_stack([y, with_gap(y, np.nan).astype(float)]),
    ],
    ids=str,
)
def test_a_missing_number_is_named_by_its_row(target):
    for call in (
        lambda: risk.evaluate(regressor, X, target),
        lambda: risk.cross_validate(LinearRegression(), X, target),
        lambda: Tuned(Ridge()).fit(X, target),
    ):
        with pytest.raises(DataError, match=r"y has no value \(NaN\) in 1 row, first in row 7: le"):
            call()


@pytest.mark.parametrize(
    "target",
    [
        with_gap(labels, None),
        with_gap(labels, np.nan),
        with_gap(labels, np.nan).tolist(),
        pd.Series(with_gap(labels, None)).astype("category"),
        pd.Series(with_gap(labels, pd.NA), dtype="string"),
        with_gap(labels == "yes", np.nan).astype(float),
        pl.Series(with_gap(labels, None).tolist()),
    ],
    ids=str,
)
def test_a_missing_label_is_named_by_its_row(target):
    for call in (
        lambda: risk.cross_validate(LogisticRegression(), X, target),
        lambda: risk.evaluate(lambda X: np.full(len(X), "no"), X, target, loss="zero_one"),
    ):
        with pytest.raises(DataError, match=r"no value \(NaN\) in 1 row, first in row 7"):
            call()


def test_rows_are_those_of_the_users_table_and_those_of_weight_zero_may_lack_y():
    weight = np.ones(40)
    weight[:5] = 0
    target = y.copy()
    target[[2, 9, 11]] = np.nan, np.inf, np.inf
    with pytest.raises(DataError, match=r"infinite value .* in 2 rows, first in row 9"):
        risk.evaluate(regressor, X, target, sample_weight=weight)
    weight[[9, 11]] = 0
    found = risk.evaluate(regressor, X, target, sample_weight=weight)
    kept = weight > 0
    assert found.value == risk.evaluate(regressor, X[kept], y[kept]).value
    gap = np.where(np.arange(40)[:, np.newaxis] == 9, np.nan, X)
    with pytest.raises(DataError, match=r"first in row 9[,;]"):
        risk.cross_validate(Ridge(), gap, y)
    weight[9] = 1  # the fifth of those with a weight
    with pytest.raises(DataError, match=r"first in row 4[,;].*\(rows of weight 0 are not counted"):
        risk.cross_validate(Ridge(), gap, y, sample_weight=weight)
    text = np.where(np.arange(40) == 9, "dear", y.astype(object))
    with pytest.raises(DataError, match="y holds 'dear' in row 9 where numbers"):
        risk.evaluate(regressor, X, text, sample_weight=weight)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: risk.evaluate(regressor, X[:0], y[:0]), "X has 0 samples"),
        (lambda: risk.evaluate(classifier, X[:0], labels[:0]), "X has 0 samples"),
        (lambda: risk.cross_validate(LinearRegression(), X[:0], y[:0]), "X has 0 samples"),
        (lambda: risk.evaluate(lambda X: X[:, 0], X[:0], y[:0]), "X has 0 samples"),
        (lambda: risk.cross_validate(LinearRegression(), X, labels), "take a classifier, or turn"),
        (lambda: risk.cross_validate(LogisticRegression(), X, y), "Unknown label type: continuous"),
        (
            lambda: risk.cross_validate(LogisticRegression(), X, np.column_stack([labels, labels])),
            r"a label for each row: .* shape \(40, 2\)",
        ),
        (
            lambda: risk.evaluate(LogisticRegression().fit(X, y > 0), X, labels),
            "labels such as 'no|yes', and the predictor classes such as False: one is text",
        ),
        (
            lambda: risk.evaluate(LogisticRegression().fit(X, y > 0), X, labels.astype(object)),
            "give y with the labels it was fitted to",
        ),
    ],
)
def test_what_cannot_be_used_is_an_error_of_ours(call, words):
    with pytest.raises(DataError, match=words):
        call()


@pytest.mark.parametrize("cv", ["loo", "5"])
def test_a_plan_by_a_word_is_refused_with_what_to_give(cv):
    for call in (
        lambda: risk.cross_validate(LinearRegression(), X, y, cv=cv),
        lambda: risk.measures.cross_validate(LogisticRegression(), X, labels, cv=cv),
    ):
        with pytest.raises(EmpiriskError, match=r"LeaveOneOut\(\)") as refusal:
            call()
        assert isinstance(refusal.value, ParameterError)


def test_dates_are_no_target_of_a_regression():
    days = np.datetime64("2024-01-01", "ns") + np.arange(40).astype("timedelta64[D]")
    for target in (days, days - days[0]):
        for learner in (DecisionTreeRegressor(), Tuned(DecisionTreeRegressor())):
            with pytest.raises(DataError, match="y holds dates or times"):
                risk.cross_validate(learner, X, target)


def test_a_target_of_one_class_is_not_blamed_on_the_folds():
    for learner in (LogisticRegression(), Tuned(DecisionTreeClassifier())):
        with pytest.raises(DataError, match="y has one class only, 'no'; cross"):
            risk.cross_validate(learner, X, np.full(40, "no"))


@pytest.mark.parametrize(
    ("labels", "kinds"), [((2, 5), "int"), ((False, True), "bool"), ((1, "a"), "int and str")]
)
def test_labels_that_came_as_objects_are_named_with_the_remedy(labels, kinds):
    mixed = np.array(labels * 20, dtype=object)
    with pytest.raises(DataError, match=rf"objects of the type {kinds}; give y\.astype"):
        risk.cross_validate(LogisticRegression(), X, mixed)
