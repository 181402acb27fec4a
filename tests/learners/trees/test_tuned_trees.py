"""Pruning chosen by cross-validation: one growth for each fold is the loop over single fits."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.model_selection import KFold

from empirisk import DecisionTreeClassifier, DecisionTreeRegressor, Tuned, pruning_table, risk
from empirisk.learners.trees.tree_path import FOUND_BY_CHANCE
from empirisk.losses import Costs
from empirisk.runtime.deadlines import deadline
from empirisk.runtime.errors import DeadlineError
from tolerances import SUMMED

COSTS = np.array([[0.0, 1.0, 6.0], [2.0, 0.0, 1.0], [3.0, 1.0, 0.0]])
ALPHAS = [0.0, 0.002, 0.01, 0.05, 0.3]
CV = KFold(4, shuffle=True, random_state=0)


def sample(seed, n=160):
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame({"x": rng.normal(size=n), "s": rng.choice(list("abcd"), size=n)})
    frame.loc[rng.random(n) < 0.1, "x"] = np.nan
    y = frame["x"].fillna(1.0) + 2.0 * frame["s"].isin(["b", "d"]) + 0.5 * rng.normal(size=n)
    return frame, y.to_numpy(), rng


def by_hand(learner, X, y, w, loss):
    """The mean loss of each alpha: a fit for every fold and alpha."""
    total = np.zeros(len(ALPHAS))
    for train, test in CV.split(X):
        for j, alpha in enumerate(ALPHAS):
            model = clone(learner).set_params(ccp_alpha=alpha)
            model.fit(X.iloc[train], y[train], sample_weight=w[train])
            total[j] += w[test] @ loss(model, X.iloc[test], y[test])
    return total / w.sum()


def squared(model, X, y):
    return (model.predict(X) - y) ** 2


def wrong(model, X, y):
    return (model.predict(X) != y).astype(float)


def log_loss(model, X, y):
    shares = model.predict_proba(X)[np.arange(len(y)), np.searchsorted(model.classes_, y)]
    return -np.log(np.maximum(shares, np.finfo(float).eps))  # as the loss "log" does


def cost(model, X, y):
    codes = [np.searchsorted(model.classes_, labels) for labels in (model.predict(X), y)]
    return COSTS[codes[0], codes[1]]


@pytest.mark.parametrize("weighted", [False, True], ids=["plain", "weighted"])
@pytest.mark.parametrize(
    "name", ["squared", "zero_one", "log", "costs", "stopped", "stopped labels"]
)
def test_the_path_is_the_loop_over_folds_and_alphas(name, weighted):
    X, y, rng = sample(1)
    w = rng.uniform(0.5, 2.0, size=160) if weighted else np.ones(160)
    labels = np.array(["high", "low", "mid"])[np.digitize(y, [0.3, 1.7])]
    learner, target, loss = {
        "squared": (DecisionTreeRegressor(), y, squared),
        "zero_one": (DecisionTreeClassifier(criterion="entropy"), labels, wrong),
        "log": (DecisionTreeClassifier(min_samples_leaf=10), labels, log_loss),
        "costs": (DecisionTreeClassifier(cost_matrix=COSTS), labels, cost),
        "stopped": (DecisionTreeRegressor(early_stopping=True, random_state=0), y, squared),
        "stopped labels": (
            DecisionTreeClassifier(early_stopping=True, random_state=0),
            labels,
            wrong,
        ),
    }[name]
    given = {squared: "squared", wrong: "zero_one", log_loss: "log"}.get(loss)
    if name == "costs":
        given = Costs(COSTS, classes=["high", "low", "mid"])
    tuned = Tuned(learner, values=ALPHAS, cv=CV, loss=given)
    tuned.fit(X, target, sample_weight=w)
    assert_allclose(tuned.path_.risk, by_hand(learner, X, target, w, loss), rtol=SUMMED)


@pytest.mark.parametrize("criterion", ["squared_error", "absolute_error", "poisson"])
def test_values_that_cannot_be_written_to_are_compiled_for_no_second_time(criterion):
    y, weight = np.arange(1.0, 9.0), np.arange(1.0, 9.0)
    for array in (y, weight):  # as the engine gives them
        array.setflags(write=False)
    learner = DecisionTreeRegressor(criterion=criterion)
    target = learner._problem(learner.design(y[:, None]), y, weight, 0).target
    assert target.values.flags.writeable
    assert target.weight.flags.writeable


def test_one_standard_error_takes_the_simplest_within_it():
    X, y, _ = sample(2, n=300)
    tuned = Tuned(DecisionTreeRegressor(), cv=5, rule="one_se", random_state=0).fit(X, y)
    path = tuned.path_
    best = int(np.argmin(path.risk))
    within = np.flatnonzero(path.risk <= path.risk[best] + path.standard_error[best])
    simplest = max(path.values[j] for j in within)
    assert tuned.best_value_ == simplest
    assert simplest > path.values[best]


def test_the_chosen_tree_is_the_fit_at_the_chosen_alpha():
    X, y, _ = sample(3)
    tuned = Tuned(DecisionTreeRegressor(), cv=5, random_state=0).fit(X, y)
    single = DecisionTreeRegressor(ccp_alpha=tuned.best_value_).fit(X, y)
    assert_array_equal(tuned.predict(X), single.predict(X))
    assert_array_equal(tuned.best_estimator_.tree_.feature, single.tree_.feature)


@pytest.mark.parametrize("n_jobs", [2, -1])
def test_the_same_bits_whatever_n_jobs(n_jobs):
    X, y, _ = sample(4)
    for learner in (DecisionTreeRegressor(), DecisionTreeRegressor(max_features=1, random_state=3)):
        one = Tuned(learner, cv=5, random_state=0).fit(X, y)
        many = Tuned(learner, cv=5, random_state=0, n_jobs=n_jobs).fit(X, y)
        assert_array_equal(one.path_.risk, many.path_.risk)
        assert_array_equal(one.predict(X), many.predict(X))


def test_a_tree_that_stops_early_is_judged_and_returned_as_one():
    X, y, _ = sample(5)
    learner = DecisionTreeRegressor(early_stopping=True, random_state=0)
    tuned = Tuned(learner, cv=4, random_state=0).fit(X, y)
    single = clone(learner).set_params(ccp_alpha=tuned.best_value_).fit(X, y)
    assert_array_equal(tuned.predict(X), single.predict(X))
    whole = DecisionTreeRegressor(random_state=0).fit(X, y)
    assert len(tuned.path_.values) <= learner.fit(X, y).get_n_leaves() < whole.get_n_leaves()
    assert pruning_table(tuned).nsplit[-1] == learner.get_n_leaves() - 1


def test_time_is_kept():
    X, y, _ = sample(5)
    with deadline(0), pytest.raises(DeadlineError):
        Tuned(DecisionTreeRegressor(random_state=0), cv=4, random_state=0).fit(X, y)


@pytest.mark.parametrize("scale", [1.0, 1e-100, 1e100])
def test_a_split_that_no_split_above_it_announced_is_said_to_be_found_by_chance(scale):
    # With 400 rows, x1 x2 gave the caution in 300 of 300 simulated sets, a sum in 3 % of them.
    rng = np.random.default_rng(1)
    X = rng.normal(size=(400, 4))
    product, total = X[:, 0] * X[:, 1] > 0, X[:, 0] + X[:, 1] > 0
    flip = rng.random(400) < 0.1
    for classes, is_doubtful in ((product ^ flip, True), (total ^ flip, False)):
        numbers = scale * classes.astype(float)
        for tree, y in ((DecisionTreeClassifier(), classes), (DecisionTreeRegressor(), numbers)):
            tuned = Tuned(tree, random_state=0).fit(X, y).risk_
            plain = risk.cross_validate(tree, X, y, random_state=0)
            assert (FOUND_BY_CHANCE in tuned.cautions) == is_doubtful
            assert (FOUND_BY_CHANCE in plain.cautions) == is_doubtful
            assert FOUND_BY_CHANCE not in risk.holdout(tree, X, y, random_state=0).cautions


def naive_gains_beyond(tree, above=np.inf, node=0):
    """Each gain over the least of the gains above it."""
    if tree.children_right[node] < 0:
        return []
    least = min(above, tree.gain[node])
    below = [
        naive_gains_beyond(tree, least, child) for child in (node + 1, tree.children_right[node])
    ]
    return [(tree.gain[node], above), *below[0], *below[1]]


@pytest.mark.parametrize("seed", range(6))
def test_what_is_found_by_chance_is_what_a_recursion_finds(seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(60 + 40 * seed, 3))
    y = (X[:, 0] * X[:, 1] + rng.normal(size=len(X)) > 0).astype(int)
    for alpha in (0.0, 0.02):
        tree = DecisionTreeClassifier(ccp_alpha=alpha, random_state=0).fit(X, y).tree_
        found = any(g > 2 * up and len(X) * g > 12 for g, up in naive_gains_beyond(tree))
        assert tree.is_found_by_chance == found
