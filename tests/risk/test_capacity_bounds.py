"""Bounds by the capacity of a class of rules: VC and Rademacher, by enumeration and written out."""

from itertools import product

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier

import empirisk
from empirisk import LinearDiscriminantAnalysis
from empirisk.risk import bounds
from empirisk.runtime.errors import ParameterError
from tolerances import SUMMED


def data(n=200, p=3, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p))
    return X, X[:, 0] + 0.7 * rng.normal(size=n) > 0


def labellings(rules):
    return len({tuple(rule) for rule in rules})


def test_growth_functions_against_enumeration():
    # Points in general position: half-planes by pairs of points, and stumps one by one.
    rng = np.random.default_rng(0)
    X = rng.normal(size=(6, 2))
    directions = rng.normal(size=(200_000, 3))
    signs = np.column_stack([X, np.ones(6)]) @ directions.T > 0
    assert labellings(signs.T) == round(np.exp(bounds.linear_growth(6, 2)))
    stumps = [
        np.where(X[:, j] <= s, a, b)
        for j in range(2)
        for s in [-np.inf, *X[:, j]]
        for a in (0, 1)
        for b in (0, 1)
    ]
    assert labellings(stumps) <= np.exp(bounds.tree_growth(6, 2, 2))
    intervals = [(X[:, 0] >= a) & (X[:, 0] <= b) for a in X[:, 0] for b in X[:, 0]]
    assert labellings(intervals) == round(np.exp(bounds.sauer_growth(6, 2)))  # VC dimension 2
    assert bounds.tree_growth(6, 2, 50) == pytest.approx(6 * np.log(2), rel=SUMMED)
    assert bounds.linear_growth(6, 10) == pytest.approx(6 * np.log(2), rel=SUMMED)
    assert bounds.sauer_growth(6, 10) == pytest.approx(6 * np.log(2), rel=SUMMED)


def test_vc_written_out():
    X, y = data(1000)
    model = LogisticRegression().fit(X, y)
    wrong = np.mean(model.predict(X) != y)
    found = bounds.vc(model, X, y, level=0.9)
    growth = bounds.linear_growth(1000, 3)
    expected = wrong + np.sqrt(2 * growth / 1000) + np.sqrt(np.log(10) / 2000)
    assert_allclose(found.interval, (0, expected), rtol=SUMMED)
    assert_allclose(found.value, wrong, rtol=SUMMED)
    given = bounds.vc(model, X, y, dimension=4, level=0.9)
    assert found.interval[1] < given.interval[1] < 1.1 * found.interval[1]  # Cover's is exact
    tree = DecisionTreeClassifier(max_leaf_nodes=3, random_state=0).fit(X, y)
    found = bounds.vc(tree, X, y, level=0.9)
    growth = bounds.tree_growth(1000, 3, 3)
    expected = np.sqrt(2 * growth / 1000) + np.sqrt(np.log(10 * 12) / 2000)
    assert_allclose(found.interval[1], np.mean(tree.predict(X) != y) + expected, rtol=SUMMED)
    both = bounds.vc(model, X, y, sides="both").interval
    assert 0 <= both[0] <= wrong <= both[1] <= 1


def test_vc_with_several_classes_weights_and_strangers():
    X, y = data(2000)
    three = np.digitize(X[:, 0], [-1, 1])
    model = LinearDiscriminantAnalysis().fit(X, three)
    assert bounds.vc(model, X, three).interval[1] < 1
    w = np.random.default_rng(0).uniform(0.5, 2, 2000)
    weighted = bounds.vc(LogisticRegression().fit(X, y), X, y, sample_weight=w).interval[1]
    assert weighted > bounds.vc(LogisticRegression().fit(X, y), X, y).interval[1] - 0.02
    with pytest.raises(ParameterError, match="neither a linear rule nor a tree"):
        bounds.vc(KNeighborsClassifier().fit(X, y), X, y)
    with pytest.raises(ParameterError, match="dimension is"):
        bounds.vc(model, X, three, dimension=4)


def test_rademacher_complexity_by_enumeration_of_all_signs():
    X = np.random.default_rng(0).normal(size=(8, 2))
    signs = np.array(list(product([-1, 1], repeat=8)))
    exact = 3 * np.linalg.norm(signs @ X, axis=1).mean() / 8
    found = bounds.rademacher_complexity(X, radius=3, n_draws=4000, random_state=0)
    # Fails with probability 6e-7.
    assert abs(found.value - exact) < 5 * found.standard_error
    assert_allclose(found.bound, 3 * np.sqrt((X**2).sum()) / 8, rtol=SUMMED)
    assert found.value < found.bound
    for scale in (1e-200, 1e200):
        scaled = bounds.rademacher_complexity(X * scale, radius=3, n_draws=50, random_state=0)
        plain = bounds.rademacher_complexity(X, radius=3, n_draws=50, random_state=0)
        assert_allclose(scaled.value / scale, plain.value, rtol=SUMMED)


def test_the_supremum_over_the_ball_has_the_closed_form():
    rng = np.random.default_rng(0)
    X, signs = rng.normal(size=(8, 2)), rng.choice([-1, 1], 8)
    angle = np.linspace(0, 2 * np.pi, 100_001)
    tried = (np.column_stack([np.cos(angle), np.sin(angle)]) @ X.T @ signs / 8).max()
    assert_allclose(tried, np.linalg.norm(signs @ X) / 8, rtol=1e-8)  # the step of the angle


def test_the_margin_bound_written_out():
    X, y = data(4000, 2)
    X = X + 3 * np.where(y, 1, -1)[:, None]
    model = LogisticRegression().fit(X, y)
    found = bounds.rademacher(model, X, y, margin=2.0, random_state=0)
    rule = np.append(model.coef_[0], model.intercept_)
    ones = np.column_stack([X, np.ones(4000)])
    margins = np.where(y, 1, -1) * (ones @ rule) / np.linalg.norm(rule)
    complexity = bounds.rademacher_complexity(ones, random_state=0).surely
    expected = np.clip(1 - margins / 2, 0, 1).mean() + complexity
    expected += 3 * np.sqrt(np.log(2 / 0.05) / 8000)
    assert_allclose(found.interval[1], expected, rtol=SUMMED)
    best = bounds.rademacher(model, X, y, random_state=0).interval[1]
    assert best < expected + 0.02  # it may choose 2, and pays for the choice
    assert best < 0.5


def test_margins_do_not_care_for_the_length_of_the_rule_or_huge_units():
    X, y = data(500, 2)
    X = X + 3 * np.where(y, 1, -1)[:, None]
    model = LogisticRegression().fit(X, y)
    plain = bounds.rademacher(model, X, y, random_state=0).interval[1]
    model.coef_ = model.coef_ * 1e200
    model.intercept_ = model.intercept_ * 1e200
    assert_allclose(bounds.rademacher(model, X, y, random_state=0).interval[1], plain, rtol=SUMMED)
    X = X * 1e150
    model.coef_ = model.coef_ / 1e200
    model.intercept_ = np.zeros(1)
    assert 0 < bounds.rademacher(model, X, y, random_state=0).interval[1] <= 1


def test_the_margin_bound_is_for_two_classes_and_linear_rules():
    X, y = data()
    with pytest.raises(ParameterError, match="linear rule of two classes"):
        bounds.rademacher(DecisionTreeClassifier().fit(X, y), X, y)
    three = LogisticRegression().fit(X, np.digitize(X[:, 0], [-1, 1]))
    with pytest.raises(ParameterError, match="linear rule of two classes"):
        bounds.rademacher(three, X, y)
    with pytest.raises(ParameterError, match="margin is"):
        bounds.rademacher(LogisticRegression().fit(X, y), X, y, margin=0.0)
    with pytest.raises(ParameterError, match="radius"):
        bounds.rademacher_complexity(X, radius=-1)


@pytest.mark.parametrize("cell", ["level", "hole"])
def test_trees_that_part_levels_or_missing_values_are_not_counted(cell):
    draw = np.random.default_rng(0)
    X = draw.integers(0, 6, size=(100, 1)) * 1.0
    labels = np.isin(X[:, 0], [0, 3, 4])
    if cell == "hole":
        X[0] = np.nan
    tree = empirisk.DecisionTreeClassifier(categorical_features=[0] if cell == "level" else None)
    with pytest.raises(ParameterError, match="categories or has missing values"):
        bounds.vc(tree.fit(X, labels), X, labels)
