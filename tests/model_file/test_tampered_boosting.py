"""A file whose boosted trees are none is refused: no walk leaves their arrays."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from empirisk import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from empirisk.model_file.load import load
from empirisk.model_file.save import save
from empirisk.runtime.errors import DataError
from model_file.altering import altered, narrower, put, shorter

rng = np.random.default_rng(0)
X = np.column_stack([rng.integers(0, 12, size=300), rng.normal(size=300)])
SCORE = X[:, 1] + np.cos(X[:, 0])
HOW = {"categorical_features": [0], "max_iter": 3, "early_stopping": True, "random_state": 0}
MODEL = HistGradientBoostingRegressor(**HOW).fit(X, SCORE)
CLASSIFIER = HistGradientBoostingClassifier(**HOW).fit(X, np.digitize(SCORE, [-0.5, 0.5]))
TWO = HistGradientBoostingClassifier(**HOW).fit(X, SCORE > 0)
NODES = MODEL.trees_.trees.nodes
NUMBER = int(np.flatnonzero(~MODEL.trees_.trees.is_leaf() & (NODES[:, 1] & 2 == 0))[0])


def test_boosted_trees_come_back(tmp_path):
    for model in (MODEL, CLASSIFIER, TWO):
        model.predict(X)  # what is found for it is no part of the model
        save(model, tmp_path / "model")
        again = load(tmp_path / "model")
        assert_array_equal(again.predict(X), model.predict(X))
        assert_array_equal(again.validation_score_, model.validation_score_)
        assert again.n_iter_ == model.n_iter_
        new = again.set_params(warm_start=True, max_iter=5).fit(X, model.predict(X))
        assert new.n_iter_ <= 5


def as_a_number(array):
    """A split by levels that calls itself one by a number."""
    array[NUMBER, 1] ^= 2
    return array


APART = [
    (MODEL, "trees_.trees.nodes", put((0, 1), 10**6 << 32)),
    (MODEL, "trees_.trees.nodes", as_a_number),
    (MODEL, "trees_.trees.first_node", put(1, 10**6)),
    (MODEL, "trees_.trees.first_leaf", shorter),
    (MODEL, "trees_.trees.value", shorter),
    (MODEL, "trees_.trees.gains", narrower),
    (MODEL, "_baseline_prediction", narrower),
    (MODEL, "train_score_", lambda scores: scores[None]),
    (CLASSIFIER, "_baseline_prediction", narrower),
    (CLASSIFIER, "classes_", shorter),
    (TWO, "classes_", shorter),
]


@pytest.mark.parametrize(("model", "way", "change"), APART)
def test_parts_that_do_not_belong_together_are_refused(tmp_path, model, way, change):
    altered(tmp_path / "model", model, way, change)
    with pytest.raises(DataError, match="cannot be made"):
        load(tmp_path / "model")


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("_link", "logit"),
        ("_link", "cube"),
        ("_own_loss", 1.0),
        ("n_trees_per_iteration_", 3),
        ("columns_", []),
    ],
)
def test_what_is_no_array_is_looked_at_too(tmp_path, name, value):
    model = HistGradientBoostingClassifier(**HOW).fit(X, np.digitize(SCORE, [-0.5, 0.5]))
    if name == "n_trees_per_iteration_":
        value = 1
    setattr(model, name, value)
    save(model, tmp_path / "model")
    with pytest.raises(DataError, match="cannot be made"):
        load(tmp_path / "model")


def test_a_loss_of_ones_own_is_not_saved(tmp_path):
    class Own:
        def value(self, y, raw):
            return (y - raw) ** 2

        def gradient(self, y, raw):
            return 2 * (raw - y)

        def curvature(self, y, raw):
            return np.full(len(y), 2.0)

        def initial(self, y, sample_weight):
            return 0.0

        def inverse_link(self, raw):
            return raw

    model = HistGradientBoostingRegressor(Own(), max_iter=2).fit(X, SCORE)
    with pytest.raises(ValueError, match="Own"):
        save(model, tmp_path / "model")
