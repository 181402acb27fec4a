"""Shapley values of boosted trees: on the scale of the scores, a column for each class."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose

from empirisk import HistGradientBoostingClassifier, HistGradientBoostingRegressor, shap_values
from empirisk.data.table_door import check_places
from shapley_twin import shapley

EXACT = {"rtol": 1e-11, "atol": 1e-12}  # sums of some hundred terms of size 1, in double precision
rng = np.random.default_rng(0)
X = rng.normal(size=(300, 4))
X[rng.random(X.shape) < 0.1] = np.nan
FRAME = pd.DataFrame(X, columns=list("abcd")).assign(
    town=pd.Categorical(rng.choice(list("pqrstuvw"), size=300))
)
Y = np.nan_to_num(X[:, 0]) * np.nan_to_num(X[:, 1]) + FRAME["town"].isin(["q", "w"])


@pytest.mark.parametrize(
    ("loss", "quantity"), [("squared_error", "prediction"), ("poisson", "log of the prediction")]
)
def test_values_add_up_to_the_score_of_a_regression(loss, quantity):
    y = np.exp(Y / 3)
    model = HistGradientBoostingRegressor(loss=loss, max_iter=10, max_leaf_nodes=7).fit(FRAME, y)
    found = shap_values(model, FRAME)
    expected = model.predict(FRAME)
    score = expected if loss == "squared_error" else np.log(expected)
    assert_allclose(found.predictions, score, **EXACT)
    assert found.quantity == quantity


def test_two_classes_have_log_odds():
    model = HistGradientBoostingClassifier(max_iter=10, max_leaf_nodes=7).fit(FRAME, Y > 0)
    found = shap_values(model, FRAME)
    assert_allclose(found.predictions, model.decision_function(FRAME), **EXACT)
    assert (found.quantity, found.outputs) == ("log-odds", None)


def test_more_classes_have_a_score_each():
    label = np.digitize(Y, [-0.3, 0.5])
    model = HistGradientBoostingClassifier(max_iter=5, max_leaf_nodes=7).fit(FRAME, label)
    found = shap_values(model, FRAME)
    assert_allclose(found.predictions, model.decision_function(FRAME), **EXACT)
    assert found.outputs == (0, 1, 2)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("classes", [0, 2, 3])
def test_boosted_trees_have_the_values_of_the_definition(classes, weighted):
    weight = rng.uniform(0.2, 2, size=len(Y)) if weighted else None
    how = {"max_iter": 4, "max_leaf_nodes": 9, "min_samples_leaf": 5}
    if classes:
        y = np.digitize(Y, np.quantile(Y, np.arange(1, classes) / classes))
        model = HistGradientBoostingClassifier(**how).fit(FRAME, y, weight)
        score = model.decision_function(FRAME)
    else:
        model = HistGradientBoostingRegressor(**how).fit(FRAME, Y, weight)
        score = model.predict(FRAME)
    shown = FRAME[:4]
    found, places = shap_values(model, shown), check_places(model, shown)
    assert np.isnan(places[:, :4]).any()
    expected = np.zeros((4, 5, classes if classes > 2 else 1))
    for t, tree in enumerate(trees_of(model._tree_sums())):
        values, _ = shapley(tree, places)
        expected[:, :, t % expected.shape[2]] += values[:, :, 0]
    assert_allclose(found.values.reshape(expected.shape), expected, **EXACT)
    # Knowing nothing: the mean score of the training rows.
    assert_allclose(found.base_value, np.average(score, axis=0, weights=weight), **EXACT)


def trees_of(sums):
    """The packed nodes of `compiled.trees.forest_walking` as the trees that the twin reads."""
    for t, first in enumerate(sums.first_node[:-1]):
        nodes = slice(first, sums.first_node[t + 1])
        leaf_number, _, kind, right = sums.links[nodes].T
        leaf = right == np.arange(len(right))
        at = sums.first_leaf[t] + leaf_number[leaf]
        value, weight = np.zeros((len(leaf), 1)), np.zeros(len(leaf))
        value[leaf], weight[leaf] = sums.value[at], sums.weight[at]
        for node in np.flatnonzero(~leaf)[::-1]:
            weight[node] = weight[node + 1] + weight[right[node]]
        cut = sums.thresholds[nodes, 0]
        lists = sums.subsets[sums.first_subset[t] : sums.first_subset[t + 1]]

        def levels_apart(node, lists=lists, cut=cut):
            begin = int(cut[node])
            n = int(lists[begin])
            words, bits = lists[begin + 1 :][:n], lists[begin + 1 + n :][:n]
            return np.array(
                [32 * int(w) + b for w, s in zip(words, bits, strict=True) for b in range(32)
                 if int(s) >> b & 1]
            )  # fmt: skip

        yield SimpleNamespace(
            children_right=np.where(leaf, -1, right),
            feature=kind >> 2,
            cut=cut,
            missing_go_to_left=(kind & 1).astype(bool),
            subset=np.where(kind & 2, 0, -1),
            levels_apart=levels_apart,
            value=value,
            weighted_n_node_samples=weight,
        )
