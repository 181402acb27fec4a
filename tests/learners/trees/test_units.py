"""Units of weights, targets and features change no tree."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from empirisk import DecisionTreeClassifier, DecisionTreeRegressor
from empirisk.runtime.errors import DataError
from tolerances import LAST_BITS, SUMMED

PROBLEMS = {
    "squared error": (DecisionTreeRegressor(), lambda y: y),
    "two outputs": (DecisionTreeRegressor(), lambda y: np.column_stack([y, y**2])),
    "absolute error": (DecisionTreeRegressor(criterion="absolute_error"), lambda y: y),
    "monotone medians": (
        DecisionTreeRegressor(criterion="absolute_error", monotonic_cst=[1, -1, 0]),
        lambda y: y,
    ),
    "poisson": (DecisionTreeRegressor(criterion="poisson"), np.exp),
    "two classes": (DecisionTreeClassifier(), lambda y: y > 0),
    "entropy": (DecisionTreeClassifier(criterion="entropy"), lambda y: y > 0),
    "classes": (DecisionTreeClassifier(), lambda y: np.digitize(y, [-0.5, 0.5])),
    "costs": (DecisionTreeClassifier(cost_matrix=[[0, 3], [1, 0]]), lambda y: y > 0),
    "class weights": (DecisionTreeClassifier(class_weight={True: 7.5}), lambda y: y > 0),
}


def sample(seed, n=100):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    return X, X[:, 0] + 0.3 * rng.normal(size=n), rng


@pytest.mark.parametrize("name", PROBLEMS)
@pytest.mark.parametrize("power", [-1000, -500, -120, 120, 500, 1000])
def test_the_unit_of_weights_changes_nothing(name, power):
    X, y, rng = sample(0)
    learner, target = PROBLEMS[name]
    y, w, unit = target(y), rng.uniform(0.5, 1.0, size=100), 2.0**power
    for how in ({"ccp_alpha": 0.0}, {"ccp_alpha": 0.01}, {"min_weight_fraction_leaf": 0.05}):
        learner.set_params(**{"min_weight_fraction_leaf": 0.0, **how})
        a = learner.fit(X, y, sample_weight=w).tree_
        b = learner.fit(X, y, sample_weight=w * unit).tree_
        assert_array_equal(a.feature, b.feature)
        assert_array_equal(a.threshold, b.threshold)
        assert_allclose(a.value, b.value, rtol=LAST_BITS)
        assert_allclose(a.impurity, b.impurity, rtol=SUMMED)
        assert_allclose(a.weighted_n_node_samples, b.weighted_n_node_samples / unit, rtol=LAST_BITS)


@pytest.mark.parametrize("name", PROBLEMS)
@pytest.mark.parametrize("unit", [0.1, 0.7, 1 / 3])
def test_nor_does_a_unit_that_rounds_sums_of_weights(name, unit):
    learner, target = PROBLEMS[name]
    for seed in range(6):
        X, y, rng = sample(seed)
        y, w = target(y.round(1)), rng.integers(1, 4, size=100) if seed % 2 else np.ones(100)
        for share in (0.0, 0.07):  # 0.07 * 100 > 7
            learner.set_params(min_weight_fraction_leaf=share, ccp_alpha=0.0)
            a, b = (learner.fit(X, y, sample_weight=w * factor).tree_ for factor in (1.0, unit))
            assert_array_equal(a.feature, b.feature)
            assert_array_equal(a.threshold, b.threshold)
            assert_allclose(a.value, b.value, rtol=SUMMED, atol=LAST_BITS)


@pytest.mark.parametrize("unit", [None, 1.0, 0.1, 0.7, 1 / 3])
def test_medians_are_half_way_where_half_of_the_weight_lies_below(unit):
    X, y = np.zeros((6, 1)), [0.0, 1.0, 2.0, 10.0, 11.0, 12.0]
    learner = DecisionTreeRegressor(criterion="absolute_error")
    assert learner.fit(X, y, None if unit is None else [unit] * 6).predict(X[:1]) == 6.0
    weight = (unit or 1.0) * np.array([3.0, 2.0, 1.0, 1.0, 1.0, 4.0])
    assert learner.fit(X, y, weight).predict(X[:1]) == 6.0
    assert learner.fit(X[:5], y[:5], weight[:5]).predict(X[:1]) == 1.0


@pytest.mark.parametrize("share", [0.07, 0.29, 0.14])
@pytest.mark.parametrize("unit", [1.0, 2.0, 0.5, 0.1])
def test_a_leaf_of_just_the_least_part_of_the_weight_is_allowed(share, unit):
    x, rows = np.arange(100.0), round(100 * share)
    learner = DecisionTreeRegressor(max_depth=1, min_weight_fraction_leaf=share)
    tree = learner.fit(x[:, None], x < rows, np.full(100, unit)).tree_
    assert tree.threshold[0] == rows - 0.5


def test_weights_that_differ_by_much():
    X, y, _ = sample(1)
    w = np.where(np.arange(100) < 50, 1e-12, 1.0)
    model = DecisionTreeRegressor().fit(X, y, sample_weight=w)
    assert_allclose(model.predict(X), y, rtol=1e-12)  # each row has its leaf
    w = np.where(np.arange(100) < 50, 1e-300, 1.0)
    assert_allclose(DecisionTreeRegressor().fit(X, y, w).predict(X[50:]), y[50:], rtol=SUMMED)
    with pytest.raises(DataError, match="sum of sample_weight"):
        DecisionTreeRegressor().fit(X, y, np.full(100, 1e308))


@pytest.mark.parametrize("unit", [2.0**-600, 2.0**-40, 2.0**40, 2.0**600])
@pytest.mark.parametrize("criterion", ["squared_error", "absolute_error", "poisson"])
def test_early_stopping_does_not_depend_on_the_unit_of_y(unit, criterion):
    X, y, _ = sample(2)
    learner = DecisionTreeRegressor(criterion=criterion, early_stopping=True, random_state=0)
    a, b = learner.fit(X, np.exp(y)).tree_, learner.fit(X, np.exp(y) * unit).tree_
    assert 1 < a.n_leaves < 90
    assert_array_equal(a.feature, b.feature)


@pytest.mark.parametrize("unit", [2.0**-100, 2.0**-30, 2.0**30])
def test_the_least_decrease_is_in_squares_of_the_unit_of_y(unit):
    X, y, _ = sample(3)
    learner = DecisionTreeRegressor(min_impurity_decrease=0.01)
    a = learner.fit(X, y).tree_
    b = learner.set_params(min_impurity_decrease=0.01 * unit**2).fit(X, y * unit).tree_
    assert 1 < a.n_leaves < 20
    assert_array_equal(a.feature, b.feature)
    tiny = DecisionTreeRegressor(min_impurity_decrease=0.1).fit(X, y * 2.0**-700)
    assert tiny.get_n_leaves() == 1


def test_entropies_are_in_bits():
    X = np.array([[0.0], [1.0]])
    tree = DecisionTreeClassifier(criterion="entropy").fit(X, [0, 1]).tree_
    assert tree.impurity[0] == 1.0
    four = DecisionTreeClassifier(criterion="log_loss", max_depth=1).fit(
        np.arange(4.0)[:, None], [0, 1, 2, 3]
    )
    assert four.tree_.impurity[0] == pytest.approx(2.0, rel=LAST_BITS)
    path = DecisionTreeClassifier(criterion="entropy").cost_complexity_pruning_path(X, [0, 1])
    assert_allclose(path.ccp_alphas, [0.0, 1.0], rtol=SUMMED)
    for decrease, leaves in ((0.999, 2), (1.0, 2), (1.001, 1)):
        learner = DecisionTreeClassifier(criterion="entropy", min_impurity_decrease=decrease)
        assert learner.fit(X, [0, 1]).get_n_leaves() == leaves


@pytest.mark.parametrize("offset", [1e9, -1e9, 1e15])
def test_offsets_lose_no_value(offset):
    rng = np.random.default_rng(4)
    steps = rng.permutation(60) * 2.0**-2
    y = rng.normal(size=60)
    plain = DecisionTreeRegressor(min_samples_leaf=3).fit(steps[:, None], y)
    moved = DecisionTreeRegressor(min_samples_leaf=3).fit(steps[:, None] + offset, y)
    assert_array_equal(plain.tree_.threshold + offset, moved.tree_.threshold)
    # An offset of the target: values are centred in each node before they are squared.
    far = DecisionTreeRegressor(min_samples_leaf=3).fit(steps[:, None], y + offset)
    if abs(offset) < 1e10:
        assert_array_equal(plain.tree_.feature, far.tree_.feature)
        assert_array_equal(plain.tree_.threshold, far.tree_.threshold)
        # y + 1e9 is rounded to 1e-7.
        assert_allclose(plain.tree_.impurity, far.tree_.impurity, rtol=1e-6, atol=1e-6)
