"""Trees under costs C(i | j): i predicted, j true."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from empirisk import DecisionTreeClassifier, Tuned, compare, risk, select
from empirisk.losses import Costs
from empirisk.runtime.errors import ParameterError
from tolerances import SUMMED
from tree_twins import audit, class_impurity


def sample(seed, n=120, n_classes=3):
    rng = np.random.default_rng(seed)
    X = np.round(rng.normal(size=(n, 3)), 1)
    score = X[:, 0] + 0.5 * rng.normal(size=n)
    return X, np.digitize(score, np.linspace(-0.7, 0.7, n_classes - 1)), rng


COSTS = np.array([[0.0, 1.0, 9.0], [2.0, 0.0, 1.0], [3.0, 4.0, 0.0]])


def test_leaves_have_the_label_of_least_expected_cost():
    X, y, _ = sample(0)
    model = DecisionTreeClassifier(min_samples_leaf=20, cost_matrix=COSTS).fit(X, y)
    shares = model.predict_proba(X)
    assert_array_equal(model.predict(X), (shares @ COSTS.T).argmin(axis=1))
    leaves = model.apply(X)
    for leaf in np.unique(leaves):
        assert_allclose(
            shares[leaves == leaf][0],
            np.bincount(y[leaves == leaf], minlength=3) / (leaves == leaf).sum(),
            rtol=SUMMED,
        )


def test_growth_by_the_generalised_gini_index_finds_its_best_splits():
    X, y, _ = sample(1, n=60)
    model = DecisionTreeClassifier(cost_matrix=COSTS, cost_growth="gini", max_depth=3).fit(X, y)
    audit(model.tree_, X, y, np.ones(60), class_impurity("generalised", 3, COSTS), max_depth=3)


def test_growth_by_the_costs_themselves_finds_its_best_splits():
    X, y, rng = sample(2, n=60)
    model = DecisionTreeClassifier(criterion="misclassification", cost_matrix=COSTS, max_depth=3)
    w = rng.uniform(0.5, 2, size=60)
    model.fit(X, y, sample_weight=w)
    audit(model.tree_, X, y, w, class_impurity("misclassification", 3, COSTS), max_depth=3)
    X, y, _ = sample(3, n=60, n_classes=2)
    two = DecisionTreeClassifier(
        criterion="misclassification", cost_matrix=COSTS[:2, :2], max_depth=3
    ).fit(X, y)
    audit(
        two.tree_,
        X,
        y,
        np.ones(60),
        class_impurity("misclassification", 2, COSTS[:2, :2]),
        max_depth=3,
    )


def test_equal_costs_change_nothing():
    X, y, _ = sample(4)
    plain = DecisionTreeClassifier().fit(X, y)
    for growth in ("priors", "gini"):
        equal = DecisionTreeClassifier(cost_matrix=1 - np.eye(3), cost_growth=growth).fit(X, y)
        assert_array_equal(equal.tree_.feature, plain.tree_.feature)
        assert_allclose(equal.predict_proba(X), plain.predict_proba(X), rtol=0, atol=SUMMED)


def test_altered_priors_are_weights_of_classes_by_what_their_mistakes_cost():
    X, y, _ = sample(5)
    altered = DecisionTreeClassifier(cost_matrix=COSTS, min_samples_leaf=4).fit(X, y)
    weighted = DecisionTreeClassifier(
        class_weight=dict(enumerate(COSTS.sum(axis=0))), min_samples_leaf=4
    ).fit(X, y)
    assert_array_equal(altered.tree_.feature, weighted.tree_.feature)
    assert_allclose(altered.tree_.threshold, weighted.tree_.threshold, rtol=SUMMED)
    assert_allclose(
        altered.tree_.weighted_n_node_samples, altered.tree_.n_node_samples, rtol=SUMMED
    )


@pytest.mark.parametrize("criterion", ["gini", "entropy"])
def test_altered_priors_prune_as_weights_of_classes_do(criterion):
    X, y, _ = sample(5)
    limits = {"min_samples_leaf": 2, "criterion": criterion}
    altered = DecisionTreeClassifier(cost_matrix=1e308 / 9 * COSTS, **limits)
    factors = dict(enumerate(COSTS.sum(axis=0)))
    weighted = DecisionTreeClassifier(class_weight=factors, **limits)
    ours, theirs = (tree.cost_complexity_pruning_path(X, y) for tree in (altered, weighted))
    assert len(ours.ccp_alphas) > 5
    for name in ("ccp_alphas", "impurities"):
        assert_allclose(ours[name], theirs[name], rtol=SUMMED, atol=SUMMED)  # differences


def test_a_split_with_a_gain_has_an_alpha_under_altered_priors():
    X, y = np.repeat([[0.0], [1.0]], [20, 80], axis=0), np.repeat([0, 1], [10, 90])
    tree = DecisionTreeClassifier(cost_matrix=[[0, 9], [1, 0]])
    assert tree.cost_complexity_pruning_path(X, y).ccp_alphas[-1] > 0.002
    assert tree.set_params(ccp_alpha=0.001).fit(X, y).get_n_leaves() == 2


def test_a_class_whose_mistakes_cost_nothing_counts_like_the_cheapest_other():
    X, y, _ = sample(5)
    free = COSTS * [1, 0, 1]
    model = DecisionTreeClassifier(cost_matrix=free, min_samples_leaf=4).fit(X, y)
    least = np.array([5.0, 5.0, 10.0])  # the sums of the columns, and the least of them for 0
    weighted = DecisionTreeClassifier(class_weight=dict(enumerate(least)), min_samples_leaf=4)
    assert_array_equal(model.tree_.feature, weighted.fit(X, y).tree_.feature)
    shares = model.predict_proba(X)
    assert_array_equal(model.predict(X), (shares @ free.T).argmin(axis=1))
    plain = DecisionTreeClassifier().fit(X, y)
    nothing = DecisionTreeClassifier(cost_matrix=0 * COSTS).fit(X, y)
    assert_array_equal(nothing.tree_.threshold, plain.tree_.threshold)


def test_costs_by_label_and_in_every_fold():
    X, y, _ = sample(6)
    labels = np.array(["c", "a", "b"])[y]
    by_label = Costs(COSTS, classes=["c", "a", "b"])
    model = DecisionTreeClassifier(cost_matrix=by_label, min_samples_leaf=9).fit(X, labels)
    coded = DecisionTreeClassifier(cost_matrix=COSTS, min_samples_leaf=9).fit(X, y)
    assert_array_equal(model.predict(X), np.array(["c", "a", "b"])[coded.predict(X)])
    costs = risk.cross_validate(model, X, labels, cv=4, loss=by_label, random_state=0)
    plain = DecisionTreeClassifier(min_samples_leaf=9)
    assert (
        costs.value
        < risk.cross_validate(plain, X, labels, cv=4, loss=by_label, random_state=0).value
    )


def test_a_tree_with_costs_is_judged_by_them_unless_told_otherwise():
    X, y, _ = sample(8, n_classes=2)
    dear = [[0, 9], [1, 0]]
    learner = DecisionTreeClassifier(cost_matrix=dear, min_samples_leaf=5)
    own = risk.cross_validate(learner, X, y, cv=4, random_state=0)
    assert "costs" in own.loss
    given = risk.cross_validate(learner, X, y, cv=4, loss=Costs(dear), random_state=0)
    assert own.value == given.value
    share = risk.cross_validate(learner, X, y, cv=4, loss="zero_one", random_state=0)
    assert share.value < own.value
    tuned, told = (Tuned(learner, cv=4, loss=loss, random_state=0) for loss in (None, Costs(dear)))
    assert_array_equal(tuned.fit(X, y).path_.risk, told.fit(X, y).path_.risk)
    assert "costs" in risk.cross_validate(tuned, X, y, cv=3, random_state=0).loss
    plain = DecisionTreeClassifier(min_samples_leaf=5)
    both = compare({"plain": plain, "dear": learner}, X, y, cv=4, random_state=0)
    assert both.risks["dear"].value == own.value
    other = DecisionTreeClassifier(cost_matrix=[[0, 2], [1, 0]])
    with pytest.raises(ParameterError, match="different costs"):
        compare({"one": learner, "other": other}, X, y, cv=4)


def test_costs_written_in_another_order_of_the_classes_are_the_same():
    X, y, _ = sample(9, n_classes=2)
    labels = np.where(y == 1, "p", "n")
    written = ([[0, 5], [1, 0]], Costs([[0, 1], [5, 0]], classes=["p", "n"]))
    rivals = {str(costs): DecisionTreeClassifier(cost_matrix=costs) for costs in written}
    found = compare(rivals, X, labels, cv=3, random_state=0).risks
    assert len({found[name].value for name in rivals}) == 1
    assert select(rivals, X, labels, cv=3, random_state=0).test_risk.value >= 0
    rivals["other"] = DecisionTreeClassifier(cost_matrix=Costs([[0, 5], [1, 0]], classes="pn"))
    with pytest.raises(ParameterError, match="different costs"):
        compare(rivals, X, labels, cv=3)


def test_wrong_costs_are_named():
    X, y, _ = sample(7)
    with pytest.raises(ParameterError, match="cost matrix is for 2"):
        DecisionTreeClassifier(cost_matrix=[[0, 1], [1, 0]]).fit(X, y)
    with pytest.raises(ParameterError, match="cost_growth"):
        DecisionTreeClassifier(cost_matrix=COSTS, cost_growth="no").fit(X, y)
    with pytest.raises(ParameterError, match="generalised Gini"):
        DecisionTreeClassifier(cost_matrix=COSTS, cost_growth="gini", criterion="entropy").fit(X, y)
    with pytest.raises(ParameterError, match="ccp_risk"):
        DecisionTreeClassifier(ccp_risk="no", ccp_alpha=0.1).fit(X, y)


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize(
    "how",
    [
        {},
        {"criterion": "misclassification"},
        {"cost_growth": "gini"},
        {"early_stopping": True, "random_state": 0},
    ],
    ids=str,
)
@pytest.mark.parametrize("unit", [2.0**-1000, 2.0**1020])
def test_the_unit_of_costs_changes_nothing(unit, how, n_classes):
    X, y, _ = sample(8, n_classes=n_classes)
    costs = COSTS[:n_classes, :n_classes]
    a, b = (
        DecisionTreeClassifier(cost_matrix=costs * factor, **how).fit(X, y) for factor in (1, unit)
    )
    assert_array_equal(a.tree_.feature, b.tree_.feature)
    assert_array_equal(a.predict(X), b.predict(X))
    in_costs = "criterion" in how or "cost_growth" in how
    assert_allclose(a.tree_.impurity, b.tree_.impurity / (unit if in_costs else 1), rtol=SUMMED)
