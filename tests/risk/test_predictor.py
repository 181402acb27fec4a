"""The risk of any predictor, ours or not: functions of X, objects with no more than `predict`."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.cluster import KMeans
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.metrics import log_loss, roc_auc_score
from sklearn.mixture import GaussianMixture

from empirisk import Ridge, Tuned, compare, risk, select
from empirisk.losses import Asymmetric, Costs
from empirisk.risk import measures
from empirisk.risk.gap import train_test_gap
from empirisk.risk.predictor import as_predictor
from empirisk.runtime.errors import DataError, ParameterError
from tolerances import SUMMED

rng = np.random.default_rng(0)
X = rng.normal(size=(120, 2))
y = X[:, 0] + rng.normal(size=120)
labels = np.where(y > 0, "yes", "no")


def first_column(X):
    return X[:, 0]


def sign_of_first(X):
    return np.where(X[:, 0] > 0, "yes", "no")


class Untagged:
    """An object of another library: `predict`, and probabilities where told so."""

    def __init__(self, model, *methods):
        self.model = model
        for name in ("predict", *methods):
            setattr(self, name, getattr(model, name))


def test_a_function_has_the_risk_of_the_estimator_that_computes_it():
    line = LinearRegression().fit(X[:60], y[:60])
    for loss in (None, "absolute", "quantile:0.9"):
        expected = risk.evaluate(line, X[60:], y[60:], loss=loss)
        for predictor in (line.predict, Untagged(line), lambda X: line.predict(X)[:, None]):
            found = risk.evaluate(predictor, X[60:], y[60:], loss=loss)
            assert found.interval == expected.interval
            assert (found - expected).value == 0  # the same rows
    classifier = LogisticRegression().fit(X[:60], labels[:60])
    costs = Costs([[0, 5], [1, 0]], classes=["no", "yes"])
    for loss in (None, "zero_one", costs, Asymmetric(1, 4, positive="no")):
        expected = risk.evaluate(classifier, X[60:], labels[60:], loss=loss)
        for predictor in (classifier.predict, Untagged(classifier)):
            found = risk.evaluate(predictor, X[60:], labels[60:], loss=loss)
            assert (found.value, found.interval) == (expected.value, expected.interval)


def test_probabilities_and_scores_of_a_function():
    classifier = LogisticRegression().fit(X[:60], labels[:60])
    both = classifier.predict_proba(X[60:])
    for predictor in (
        classifier.predict_proba,
        lambda X: classifier.predict_proba(X)[:, 1],  # of the larger label
        Untagged(classifier, "predict_proba"),
        Untagged(classifier, "predict_proba", "classes_"),
    ):
        found = risk.evaluate(predictor, X[60:], labels[60:], loss="log")
        assert_allclose(found.value, log_loss(labels[60:], both), rtol=SUMMED)
    expected = roc_auc_score(labels[60:], both[:, 1])
    for predictor in (
        classifier.decision_function,
        lambda X: 1e-30 * classifier.decision_function(X),
        classifier.predict_proba,
        Untagged(classifier, "decision_function"),
    ):
        for positive in ("yes", "no"):
            found = risk.evaluate(predictor, X[60:], labels[60:], loss="auc", positive=positive)
            assert_allclose(found.value, expected, rtol=SUMMED)
    with pytest.raises(ParameterError, match="neither predict_proba nor decision_function"):
        risk.evaluate(Untagged(classifier), X, labels, loss="auc")
    with pytest.raises(ParameterError, match="no predict_proba"):
        risk.evaluate(Untagged(classifier), X, labels, loss="log")
    with pytest.raises(DataError, match=r"shape \(120, 3\) for 2 classes"):
        risk.evaluate(lambda X: np.full((len(X), 3), 1 / 3), X, labels, loss="log")


def test_the_task_is_that_of_the_loss_of_the_predictor_or_of_y():
    codes = (y > 0).astype(int)
    assert risk.evaluate(first_column, X, codes).loss == "squared"  # numbers and no hint
    assert risk.evaluate(lambda X: X[:, 0] > 0, X, codes, loss="zero_one").loss == "zero_one"
    assert risk.evaluate(lambda X: X[:, 0] > 0, X, codes == 1).loss == "zero_one"
    knowing = Untagged(LogisticRegression().fit(X, codes), "classes_")
    assert risk.evaluate(knowing, X, codes).loss == "zero_one"
    old = Untagged(LogisticRegression().fit(X, codes))
    old._estimator_type = "classifier"
    assert risk.evaluate(old, X, codes).loss == "zero_one"
    for given in (pd.Series(codes).astype("category"), labels.tolist(), pd.Series(labels)):
        assert as_predictor(first_column, given).task == "classification"
    assert as_predictor(first_column, pd.Series(y.astype(object))).task == "regression"
    with pytest.raises(DataError, match=r"y holds 'no' in row . where numbers are wanted"):
        risk.evaluate(first_column, X, np.sort(labels), loss="squared")


def test_labels_that_only_the_function_knows_are_mistakes():
    found = risk.evaluate(lambda X: np.full(len(X), "perhaps"), X, labels)
    assert found.value == 1
    one = labels == "no"
    cost = risk.evaluate(sign_of_first, X[one], labels[one], loss=Asymmetric(1, 4))
    assert_allclose(cost.value, np.mean(sign_of_first(X[one]) == "yes"), rtol=SUMMED)
    weight = one * 1.0  # of weight zero, and so never seen
    weighted = risk.evaluate(sign_of_first, X, labels, sample_weight=weight)
    assert_allclose(weighted.value, cost.value, rtol=SUMMED)


def test_a_function_is_asked_once_about_each_row():
    asked = []

    def counting(X):
        asked.append(len(X))
        return sign_of_first(X)

    risk.evaluate(counting, X, labels)
    assert asked == [120]


def test_frames_reach_the_function_as_they_came():
    frame = pd.DataFrame({"height": X[:, 0], "width": X[:, 1]})
    found = risk.evaluate(lambda frame: frame["height"], frame, y)
    assert_allclose(found.value, np.mean((y - X[:, 0]) ** 2), rtol=SUMMED)


def test_the_gap_of_a_function():
    found = train_test_gap(first_column, X[:60], y[:60], X[60:], y[60:])
    residual = y - X[:, 0]
    expected = np.mean(residual[60:] ** 2) - np.mean(residual[:60] ** 2)
    assert_allclose(found.gap.value, expected, rtol=SUMMED)


def test_measures_of_a_function():
    for name in ("accuracy", "precision", "recall", "specificity", "f_score"):
        options = {} if name == "accuracy" else {"positive": "no"}
        found = measures.evaluate(sign_of_first, X, labels, name, **options)
        expected = getattr(measures, name)(labels, sign_of_first(X), **options)
        assert (found.value, found.interval) == (expected.value, expected.interval)


class HalfTagged(ClassifierMixin):
    """A classifier by its mixin alone, which has no tags without BaseEstimator."""

    def predict(self, X):
        return sign_of_first(X)


class WithoutMixin(BaseEstimator):
    """An estimator that does not say what it estimates."""

    def fit(self, X, y):
        return self

    def predict(self, X):
        return sign_of_first(X)


@pytest.mark.parametrize("predictor", [HalfTagged(), WithoutMixin()])
def test_half_told_estimators_are_taken_as_they_predict(predictor):
    assert risk.evaluate(predictor, X, labels).value == np.mean(sign_of_first(X) != labels)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: risk.evaluate(3.0, X, y), "the predictor is 3.0; give a fitted estimator"),
        (lambda: risk.evaluate(LinearRegression, X, y), "LinearRegression is a class: give a fit"),
        (lambda: risk.evaluate(first_column, X, None), "first_column requires y"),
        (lambda: risk.evaluate(lambda X: 1.0, X, y), r"the function gives an array of shape \(\)"),
        (lambda: risk.evaluate(lambda X: X[:7, 0], X, y), r"shape \(7,\) for 120 rows"),
        (lambda: risk.evaluate(lambda X: X[:1, 0], X, y), r"shape \(1,\) for 120 rows"),
        (lambda: risk.evaluate(lambda X: X, X, y), "predicts an array of shape"),
        (lambda: risk.evaluate(lambda X: X, X, y > 0), "a label is wanted for each row"),
        (lambda: risk.evaluate(lambda X: X[:, 0] / 0, X, y), "the function predicted NaN"),
        (lambda: risk.evaluate(first_column, X, labels), "text and one a number"),
        (lambda: risk.evaluate(KMeans(2).fit(X), X, None), "'squared' compares .* y is None"),
        (lambda: risk.evaluate(KMeans(2).fit(X), X, y), "KMeans predicts none: give a classifier"),
        (lambda: risk.cross_validate(GaussianMixture(), X, y), "GaussianMixture predicts none"),
        (lambda: risk.cross_validate(LinearRegression, X, y), "is a class: give an estimator"),
        (lambda: risk.cross_validate(first_column, X, y), "first_column is no estimator that can"),
        (lambda: risk.holdout(Untagged(LinearRegression().fit(X, y)), X, y), "judged by risk.eval"),
        (lambda: risk.evaluate(LinearRegression().fit(X, y), X, y, loss="auc"), "is none; scores"),
        (lambda: risk.cross_validate(Ridge(), X, y, loss="recall"), "of classifiers, and Ridge is"),
    ],
)
@pytest.mark.filterwarnings("ignore:divide by zero")
def test_what_cannot_be_judged_is_an_error_that_says_why(call, words):
    with pytest.raises((DataError, ParameterError), match=words):
        call()


def test_a_measure_is_a_loss_by_name_where_it_judges():
    classifier = LogisticRegression()
    fitted = LogisticRegression().fit(X[:60], labels[:60])
    for name, options in (
        ("auc", {}),
        ("f_score", {"positive": "no", "beta": 2}),
        ("accuracy", {}),
    ):
        found = risk.evaluate(fitted, X[60:], labels[60:], loss=name, **options)
        expected = measures.evaluate(fitted, X[60:], labels[60:], name, **options)
        assert type(found) is measures.Measure
        assert (found.value, found.interval) == (expected.value, expected.interval)
        found = risk.cross_validate(classifier, X, labels, loss=name, cv=4, **options)
        expected = measures.cross_validate(classifier, X, labels, name, cv=4, **options)
        assert (found.value, found.interval) == (expected.value, expected.interval)
        held = risk.holdout(classifier, X, labels, loss=name, random_state=1, **options)
        assert held.estimates == "this model"
        assert len(held.losses) == 30
    right, wrong = (
        risk.holdout(classifier, X, labels, loss=loss, random_state=1)
        for loss in ("accuracy", "zero_one")
    )
    assert_allclose(right.interval, [1 - end for end in wrong.interval[::-1]], rtol=SUMMED)
    assert_array_equal(right.unit, wrong.unit)
    gap = train_test_gap(fitted, X[:60], labels[:60], X[60:], labels[60:], loss="auc")
    assert_allclose(gap.gap.value, gap.test.value - gap.training.value, rtol=SUMMED)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: risk.evaluate(sign_of_first, X, labels, loss="kappa"), "there is no loss 'kappa'"),
        (lambda: risk.evaluate(first_column, X, y, sample_weights=y), "parameter 'sample_weights'"),
        (lambda: risk.cross_validate(Ridge(), X, y, positive=1), "no parameter 'positive'"),
        (
            lambda: risk.evaluate(sign_of_first, X, labels, loss="accuracy", positive="no"),
            "no option of the measure 'accuracy', which has none",
        ),
        (
            lambda: risk.evaluate(first_column, X, labels, loss="auc", average="macro"),
            "which has positive, multi_class",
        ),
        (
            lambda: risk.nested_cross_validate(LogisticRegression(), X, labels, loss="auc"),
            "a measure takes 'auto' or 'bootstrap'",
        ),
        (lambda: Tuned(LogisticRegression(), loss="auc").fit(X, labels), "cannot steer a choice"),
        (
            lambda: compare({"a": LogisticRegression(), "b": LogisticRegression()}, X, labels,
                            loss="auc"),
            "risk.measures.cross_validate",
        ),
        (lambda: select([LogisticRegression()], X, labels, loss="accuracy"), "give that, 'zero"),
    ],
)  # fmt: skip
def test_where_a_measure_cannot_steer_the_error_says_what_does(call, words):
    with pytest.raises(ParameterError, match=words):
        call()
