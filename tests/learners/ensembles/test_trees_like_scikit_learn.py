"""Code written for scikit-learn's trees and ensembles works with the import switched, no more."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scipy import sparse
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.compose import make_column_transformer
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder
from sklearn.tree import DecisionTreeRegressor as PeerTree
from sklearn.tree import export_graphviz

from empirisk import (
    AdaBoostClassifier,
    AdaBoostRegressor,
    BaggingClassifier,
    BaggingRegressor,
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    HistGradientBoostingClassifier,
    LogitBoostClassifier,
    RandomForestClassifier,
    RandomForestRegressor,
    StagewiseRegressor,
    Tuned,
    risk,
)

FORMATS = ["csr", "csc", "coo", "lil", "dok"]
TAKE_SPARSE = [
    DecisionTreeClassifier(),
    DecisionTreeRegressor(),
    RandomForestClassifier(5, random_state=0),
    RandomForestRegressor(5, random_state=0),
    BaggingClassifier(n_estimators=5, max_features=0.5, random_state=0),
    BaggingRegressor(n_estimators=5, random_state=0),
    AdaBoostClassifier(n_estimators=5),
    AdaBoostRegressor(n_estimators=5, random_state=0),
    LogitBoostClassifier(n_estimators=5),
    StagewiseRegressor(DecisionTreeRegressor(max_depth=2), n_estimators=5),
]


def counts(seed, n=120):
    """A table of mostly zeros, and a target of two values that depends on it."""
    rng = np.random.default_rng(seed)
    X = rng.integers(1, 4, size=(n, 6)) * (rng.random((n, 6)) < 0.4)
    return X.astype(float), (X[:, 0] + X[:, 1] > 2).astype(int)


@pytest.mark.parametrize("learner", TAKE_SPARSE, ids=lambda learner: type(learner).__name__)
@pytest.mark.parametrize("layout", FORMATS)
def test_a_sparse_matrix_is_the_array_that_it_stands_for(learner, layout):
    X, y = counts(0)
    wanted = learner.fit(X, y).predict(X)
    for matrix in (sparse.csr_array(X), sparse.csr_matrix(X)):
        S = matrix.asformat(layout)
        assert_array_equal(learner.fit(S, y).predict(S), wanted)
        assert learner.n_features_in_ == 6


@pytest.mark.parametrize("learner", TAKE_SPARSE, ids=lambda learner: type(learner).__name__)
def test_the_risk_on_a_sparse_matrix_is_that_on_its_array(learner):
    X, y = counts(1)
    S = sparse.csr_array(X)
    assert risk.cross_validate(learner, S, y).value == risk.cross_validate(learner, X, y).value
    assert_array_equal(Tuned(learner).fit(S, y).predict(S), Tuned(learner).fit(X, y).predict(X))


def test_rows_out_of_bag_are_judged_on_a_sparse_matrix():
    X, y = counts(2)
    forest = RandomForestClassifier(40, oob_score=True, random_state=0)
    assert forest.fit(sparse.csc_array(X), y).oob_score_ == forest.fit(X, y).oob_score_


def test_forests_stand_behind_encoders_of_words():
    rng = np.random.default_rng(3)
    levels = rng.choice(list("abcdefghij"), size=(200, 1))
    encoder = make_column_transformer((OneHotEncoder(), [0]), sparse_threshold=1.0)
    forest = RandomForestClassifier(10, random_state=0)
    labels = levels[:, 0] < "f"
    assert make_pipeline(encoder, forest).fit(levels, labels).score(levels, labels) == 1.0
    texts, said = ["a good film", "a bad film", "so good", "so bad"] * 5, [1, 0, 1, 0] * 5
    assert make_pipeline(TfidfVectorizer(), forest).fit(texts, said).score(texts, said) == 1.0


def test_boosting_in_bins_refuses_a_sparse_matrix_as_scikit_learns_does():
    X, y = counts(4)
    with pytest.raises(TypeError, match="Sparse data was passed"):
        HistGradientBoostingClassifier().fit(sparse.csr_array(X), y)


class Silent(RegressorMixin, BaseEstimator):
    """A member whose `fit` returns nothing."""

    def fit(self, X, y):
        self.mean_, self.n_ = y.mean(), len(y)

    def predict(self, X):
        return np.full(len(X), self.mean_)


def test_a_member_may_return_nothing_from_its_fit():
    X, y = counts(5)
    bag = BaggingRegressor(Silent(), n_estimators=3, max_samples=50, random_state=0).fit(X, y)
    assert [member.n_ for member in bag.estimators_] == [50, 50, 50]
    wanted = np.mean([member.mean_ for member in bag.estimators_])
    assert (bag.predict(X) == wanted).all()
    assert np.isfinite(risk.cross_validate(Silent(), X, y).value)


def test_scikit_learn_writes_graphs_of_these_trees_as_of_its_own():
    rng = np.random.default_rng(6)
    X = rng.normal(size=(100, 3)).astype(np.float32)
    y = X[:, 0] + 0.3 * rng.normal(size=100)
    ours, peer = DecisionTreeRegressor(max_depth=3), PeerTree(max_depth=3, random_state=0)
    assert export_graphviz(ours.fit(X, y)) == export_graphviz(peer.fit(X, y))
    tree = DecisionTreeClassifier().fit(X, y > 0).tree_
    assert (tree.n_outputs, tree.max_n_classes, tree.n_classes.tolist()) == (1, 2, [2])


def test_a_tree_may_draw_more_rows_than_there_are():
    X, y = counts(7)
    forest = RandomForestRegressor(3, max_samples=1.5, random_state=0).fit(X, y)
    assert [len(rows) for rows in forest.estimators_samples_] == [180, 180, 180]


def test_a_forest_that_has_its_trees_already_says_so():
    X, y = counts(8)
    forest = RandomForestClassifier(3, warm_start=True, random_state=0).fit(X, y)
    before = forest.predict_proba(X)
    with pytest.warns(UserWarning, match="n_estimators=3 is what there is"):
        forest.fit(X, y)
    assert_array_equal(forest.predict_proba(X), before)
