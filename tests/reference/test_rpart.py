"""Trees and pruning of R's rpart. The numbers are in rpart_trees.json, made by rpart_trees.R."""

import json
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import load_iris

from empirisk import DecisionTreeClassifier, DecisionTreeRegressor, datasets
from tolerances import SUMMED

R = json.loads((Path(__file__).parent / "rpart_trees.json").read_text())
IRIS = ["Sepal.Length", "Sepal.Width", "Petal.Length", "Petal.Width"]
MPG = ["displacement", "horsepower", "weight", "acceleration"]
LOSS = np.array([[0.0, 1, 4], [1, 0, 1], [4, 1, 0]])
SMALL = {"min_samples_split": 10, "min_samples_leaf": 5, "ccp_risk": "cost"}


def iris(how):
    data = load_iris()
    how = {"iris_gini": {}, "iris_information": {"criterion": "entropy"}}.get(
        how,
        {"cost_matrix": LOSS.T},  # rpart's rows are the truth
    )
    return DecisionTreeClassifier(**SMALL, **how), data.data, data.target


def mpg():
    table = datasets.auto_mpg()
    columns = np.column_stack([table[name].numbers() for name in ["mpg", *MPG]])
    columns = columns[~np.isnan(columns).any(axis=1)]
    learner = DecisionTreeRegressor(min_samples_split=20, min_samples_leaf=7)
    return learner, columns[:, 1:], columns[:, 0]


def same_splits(tree, names, reference):
    """Node by node in the preorder of rpart, whose left side may be our right side."""
    position = [0, 0]

    def walk(node):
        i = position[0]
        position[0] += 1
        assert tree.n_node_samples[node] == reference["n"][i]
        if reference["var"][i] == "<leaf>":
            assert tree.is_leaf[node]
            return
        assert names[tree.feature[node]] == reference["var"][i]
        threshold = reference["threshold"][position[1]]
        position[1] += 1
        assert tree.threshold[node] == pytest.approx(threshold, rel=SUMMED)
        sides = [node + 1, tree.children_right[node]]
        if tree.n_node_samples[sides[0]] != reference["n"][i + 1]:
            sides.reverse()
        for side in sides:
            walk(side)

    walk(0)
    assert position[0] == tree.node_count


@pytest.mark.parametrize("name", ["iris_gini", "iris_information", "iris_loss"])
def test_classification_trees_and_their_table(name):
    learner, X, y = iris(name)
    path = learner.cost_complexity_pruning_path(X, y)
    full = PathTable.of(path)
    assert_allclose(full.cp, R[name]["cp"][:-1], rtol=SUMMED)
    assert_allclose(full.error, R[name]["rel_error"], rtol=SUMMED)
    # cp = 0 prunes in rpart what saves nothing.
    tree = learner.set_params(ccp_alpha=1e-10).fit(X, y).tree_
    same_splits(tree, IRIS, R[name])


def test_a_regression_tree_and_its_table():
    learner, X, y = mpg()
    model = learner.fit(X, y)
    same_splits(model.tree_, MPG, R["mpg_anova"])
    deviance = model.tree_.impurity * model.tree_.weighted_n_node_samples
    assert_allclose(np.sort(deviance), np.sort(R["mpg_anova"]["dev"]), rtol=SUMMED)
    table = PathTable.of(learner.cost_complexity_pruning_path(X, y))
    assert_allclose(table.cp, R["mpg_anova"]["cp"][:-1], rtol=SUMMED)
    assert_allclose(table.error, R["mpg_anova"]["rel_error"], rtol=SUMMED)


def test_a_regression_tree_pruned_at_a_complexity():
    learner, X, y = mpg()
    learner.set_params(ccp_alpha=0.01 * np.var(y))
    tree = learner.fit(X, y).tree_
    same_splits(tree, MPG, R["mpg_pruned"])
    assert_array_equal(tree.n_leaves - 1, R["mpg_pruned"]["nsplit"][-1])


class PathTable:
    """Our path in the form of rpart's table: from the root on, a line for each alpha."""

    def __init__(self, cp, error):
        self.cp, self.error = cp, error

    @classmethod
    def of(cls, path):
        root = path.impurities[-1]
        alphas, risks = path.ccp_alphas / root, path.impurities / root
        keep = np.append(np.diff(alphas) > 1e-9 * alphas[1:], True)  # steps at one alpha are one
        alphas, risks = alphas[keep], risks[keep]
        positive = alphas > 1e-12
        cp = alphas[positive][::-1]
        error = [*risks[positive][::-1], *risks[~positive][-1:]]
        return cls(cp, error)
