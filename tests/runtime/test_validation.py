"""The doors: what comes through is what compiled code takes; what does not is named."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.testing import assert_array_equal
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.exceptions import DataConversionWarning, NotFittedError
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.utils.estimator_checks import check_estimator

from empirisk import DecisionTreeRegressor, Encoder, Ridge, Tuned
from empirisk.runtime.conversion import numbers
from empirisk.runtime.errors import DataError
from empirisk.runtime.validation import check_fit, check_predict


class Mean(RegressorMixin, BaseEstimator):
    """The weighted mean of y, and nothing but the doors."""

    def fit(self, X, y, sample_weight=None):
        train = check_fit(self, X, y, sample_weight)
        self.mean_ = np.average(train.y, weights=train.sample_weight)
        return self

    def predict(self, X):
        return np.full(len(check_predict(self, X)), self.mean_)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.regressor_tags.poor_score = True
        return tags


class NearestMean(ClassifierMixin, BaseEstimator):
    """The class whose weighted mean is nearest, and nothing but the doors."""

    def fit(self, X, y, sample_weight=None):
        train = check_fit(self, X, y, sample_weight, classifier=True)
        self.classes_ = train.classes
        self.means_ = np.array(
            [
                np.average(train.X[train.y == k], axis=0, weights=train.sample_weight[train.y == k])
                for k in range(len(train.classes))
            ]
        )
        return self

    def predict(self, X):
        rows = check_predict(self, X)
        squares = ((rows[:, None, :] - self.means_[None]) ** 2).sum(axis=2)
        return self.classes_[squares.argmin(axis=1)]


class MultiMean(Mean):
    """Several means."""

    def fit(self, X, y, sample_weight=None):
        train = check_fit(self, X, y, sample_weight, multi_output=True)
        self.mean_ = np.average(train.y, axis=0, weights=train.sample_weight)
        return self

    def predict(self, X):
        rows = check_predict(self, X)
        return np.repeat(np.atleast_1d(self.mean_)[None], len(rows), axis=0).reshape(
            len(rows), *np.shape(self.mean_)
        )

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags


@pytest.mark.filterwarnings(
    "ignore::sklearn.exceptions.SkipTestWarning"
)  # no other array libraries
@pytest.mark.parametrize("learner", [Mean(), NearestMean(), MultiMean()], ids=lambda e: str(e))
def test_a_learner_behind_the_doors_passes_the_checks_of_scikit_learn(learner):
    check_estimator(learner)


ROWS = np.array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0], [7.0, 8.0, 9.0], [0.0, -1.0, -2.0]])
FRAME = pd.DataFrame(ROWS, columns=["a", "b", "c"])


def test_a_good_array_is_not_copied():
    X, y, w = ROWS.copy(), np.arange(4.0), np.ones(4)
    train = check_fit(Mean(), X, y, w)
    assert train.X is X or np.shares_memory(train.X, X)
    assert np.shares_memory(train.y, y)
    assert np.shares_memory(train.sample_weight, w)
    assert np.shares_memory(numbers(X, "Ridge"), X)
    assert np.shares_memory(check_predict(Mean().fit(X, y), X), X)


def test_the_frame_sets_the_names_and_the_width_and_predict_holds_to_them():
    learner = Mean().fit(FRAME, range(4))
    assert learner.n_features_in_ == 3
    assert list(learner.feature_names_in_) == ["a", "b", "c"]
    with pytest.raises(ValueError, match="feature names should match"):
        learner.predict(FRAME[["c", "b", "a"]])
    with pytest.raises(ValueError, match="X has 2 features, but Mean is expecting 3"):
        Mean().fit(ROWS, range(4)).predict(ROWS[:, :2])
    with pytest.raises(NotFittedError):
        Mean().predict(ROWS)
    with pytest.raises(DataError, match="column 'b' has 4 missing"):
        learner.predict(FRAME.assign(b=np.nan))


def test_an_array_as_wanted_is_held_to_what_was_seen_before_too():
    X = ROWS.astype(np.float64)
    learner = Mean().fit(FRAME, range(4))
    with pytest.warns(UserWarning, match="X does not have valid feature names"):
        learner.predict(X)
    learner.fit(X, range(4))
    assert not hasattr(learner, "feature_names_in_")
    with pytest.raises(ValueError, match="X has 2 features, but Mean is expecting 3"):
        learner.predict(np.ones((4, 2)))
    with pytest.raises(ValueError, match="0 sample"):
        learner.predict(np.ones((0, 3)))
    with pytest.raises(ValueError, match="0 feature"):
        learner.fit(np.ones((4, 0)), range(4))
    assert learner.fit(np.ones((4, 2)), range(4)).n_features_in_ == 2


@pytest.mark.parametrize(
    "learner", [Ridge(), Encoder(), Tuned(Ridge(), cv=2), DecisionTreeRegressor()], ids=str
)
def test_names_that_stand_twice_are_refused(learner):
    frame = pd.DataFrame(np.eye(6)[:, :3], columns=["a", "b", "a"])
    with pytest.raises(DataError, match="'a' stands for columns 0 and 2"):
        learner.fit(frame, np.arange(6.0))


def test_without_weights_all_rows_weigh_one():
    train = check_fit(Mean(), ROWS, range(4))
    np.testing.assert_array_equal(train.sample_weight, np.ones(4))
    assert train.y.dtype == np.float64
    assert train.classes is None


def test_rows_of_weight_zero_are_no_rows():
    train = check_fit(NearestMean(), ROWS, list("xyxz"), [2, 0, 1, 0], classifier=True)
    np.testing.assert_array_equal(train.X, ROWS[[0, 2]])
    np.testing.assert_array_equal(train.y, [0, 0])
    np.testing.assert_array_equal(train.sample_weight, [2.0, 1.0])
    assert train.classes.tolist() == ["x"]
    assert train.X.flags.carray


@pytest.mark.parametrize(
    "y, classes",
    [
        ([3, 1, 3, 2], [1, 2, 3]),
        ([True, False, True, True], [False, True]),
        ([0.0, 1.0, 0.0, 1.0], [0.0, 1.0]),
        (list("baba"), ["a", "b"]),
        (pd.Series(list("baba"), dtype="category"), ["a", "b"]),
        (pl.Series(list("baba")), ["a", "b"]),
        (np.array(list("baba"), dtype=object), ["a", "b"]),
    ],
)
def test_classes_become_codes(y, classes):
    train = check_fit(NearestMean(), ROWS, y, classifier=True)
    assert train.classes.tolist() == classes
    assert train.y.dtype == np.int64
    np.testing.assert_array_equal(train.classes[train.y], np.asarray(y))


def test_a_column_of_targets_is_flattened_with_a_warning():
    with pytest.warns(DataConversionWarning, match="column-vector"):
        train = check_fit(Mean(), ROWS, np.arange(4.0).reshape(-1, 1))
    assert train.y.shape == (4,)


@pytest.mark.parametrize("shape", [(4,), (4, 1), (4, 2)])
def test_several_outputs_keep_their_shape_as_with_scikit_learns_linear_regression(shape):
    y = np.arange(np.prod(shape), dtype=float).reshape(shape)
    train = check_fit(MultiMean(), ROWS, y, multi_output=True)
    np.testing.assert_array_equal(train.y, y)
    prediction = MultiMean().fit(ROWS, y).predict(ROWS)
    assert prediction.shape == LinearRegression().fit(ROWS, y).predict(ROWS).shape


def test_nothing_that_came_in_is_changed():
    X, y, w = np.asfortranarray(ROWS), np.arange(4.0), np.array([1.0, 0.0, 2.0, 1.0])
    before = X.copy(), y.copy(), w.copy()
    check_fit(Mean(), X, y, w)
    for now, then in zip((X, y, w), before, strict=True):
        np.testing.assert_array_equal(now, then)


def test_missing_values_are_let_in_where_they_are_allowed_and_infinite_ones_never():
    X = np.array([[1.0, np.nan], [2.0, 3.0]])
    train = check_fit(LogisticRegression(), X, [0, 1], classifier=True, allow_nan=True)
    assert_array_equal(train.X, X)
    X[1, 1] = np.inf
    with pytest.raises(DataError, match="column 1 has 1 infinite"):
        check_fit(LogisticRegression(), X, [0, 1], classifier=True, allow_nan=True)
