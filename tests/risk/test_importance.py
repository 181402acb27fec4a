"""Importance by permuting: against loops that anyone can read, scikit-learn, and known laws."""

import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn import linear_model
from sklearn.dummy import DummyRegressor
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.inspection import permutation_importance
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import KFold
from sklearn.tree import DecisionTreeRegressor

from empirisk import BaggingRegressor, Ridge
from empirisk.risk import Plan, evaluate, importance, out_of_bag
from empirisk.risk.importances.permuting import draw_donors
from empirisk.runtime.streams import generator, seed32, spawn
from tolerances import SUMMED

rng = np.random.default_rng(0)
X = rng.normal(size=(120, 3))
Y = 2 * X[:, 0] + X[:, 1] + 0.5 * rng.normal(size=120)
LABEL = np.where(Y + rng.normal(size=120) > 0, "yes", "no")


def drawn(n, repeats, random_state, unit=None, weight=None):
    """The donors of "test", which are drawn from the second seed of the random_state."""
    seeds = spawn(spawn(random_state, 2)[1], repeats)
    weight = np.ones(n) if weight is None else weight
    unit = np.arange(n) if unit is None else unit
    return [draw_donors(weight, unit, generator(seed)) for seed in seeds]


def pairs(model, X, y, j):
    """h(i, k): the rise of the squared loss of row i when it takes column j from row k."""
    rise = np.empty((len(X), len(X)))
    for i in range(len(X)):
        rows = np.repeat(X[i : i + 1], len(X), axis=0)
        rows[:, j] = X[:, j]
        rise[i] = (y[i] - model.predict(rows)) ** 2 - (y[i] - model.predict(X[i : i + 1])) ** 2
    return rise


def test_the_value_and_the_error_are_those_of_a_loop_over_rows():
    n, repeats = 40, 3
    weight = rng.integers(1, 4, size=n).astype(float)
    unit = np.arange(n) // 2
    model = LinearRegression().fit(X[60:], Y[60:])
    found = importance(
        model, X[:n], Y[:n], n_repeats=repeats, random_state=5, sample_weight=weight, groups=unit
    )
    for j in range(3):
        rise, total = pairs(model, X[:n], Y[:n], j), weight.sum()
        by_repeat, influence = [], np.zeros(n // 2)
        all_donors = drawn(n, repeats, 5, unit, weight)
        for donors in all_donors:
            by_repeat.append(sum(weight[i] * rise[i, donors[i]] for i in range(n)) / total)
        for donors in all_donors:
            for i in range(n):
                term = weight[i] * (rise[i, donors[i]] - np.mean(by_repeat)) / repeats / total
                influence[unit[i]] += term
                influence[unit[donors[i]]] += term
        assert_allclose(found.repeats[:, j], by_repeat, rtol=SUMMED)
        error = np.sqrt((influence**2).sum() * (n / 2) / (n / 2 - 1))
        skewness = (influence**3).sum() / (influence**2).sum() ** 1.5
        assert_allclose(
            found.standard_error[j], error * min(2, np.sqrt(1 + 3 * skewness**2)), rtol=SUMMED
        )
    assert_allclose(found.values, found.repeats.mean(axis=0), rtol=SUMMED)


def test_many_permutations_lead_to_all_pairs_of_rows_and_scikit_learn_to_nearly_them():
    n = 25
    model = LinearRegression().fit(X[60:], Y[60:])
    found = importance(model, X[:n], Y[:n], n_repeats=400, random_state=0)
    theirs = permutation_importance(
        model, X[:n], Y[:n], scoring="neg_mean_squared_error", n_repeats=400, random_state=0
    ).importances
    for j in range(3):
        rise = pairs(model, X[:n], Y[:n], j)
        expected = rise[~np.eye(n, dtype=bool)].mean()
        # 4 standard errors over permutations: 6 comparisons fail by chance in 1 of 2600 seeds
        assert abs(found.values[j] - expected) < 4 * found.permutation_error[j]
        error = theirs[j].std() / np.sqrt(400)
        assert abs(theirs[j].mean() - (n - 1) / n * expected) < 4 * error


def test_a_linear_model_of_independent_features_has_twice_the_squared_coefficients():
    n, b = 4000, np.array([2.0, 1.0, 0.5, 0.0])
    wide = np.random.default_rng(1)
    Z = wide.normal(size=(n, 4)) * [1, 1, 3, 1]
    y = Z @ b + wide.normal(size=n)
    found = importance(lambda Z: Z @ b, Z, y, random_state=0)
    expected = 2 * b**2 * np.array([1, 1, 9, 1])
    assert (np.abs(found.values - expected) <= 4 * found.standard_error)[:3].all()
    assert found.values[3] == 0
    assert "no row changed" in str(found)


def test_correlated_features_share_out_what_a_group_keeps():
    wide = np.random.default_rng(2)
    z = wide.normal(size=(2000, 1))
    Z = np.hstack([z, z + 0.01 * wide.normal(size=(2000, 1)), wide.normal(size=(2000, 1))])
    y = z[:, 0] + Z[:, 2] + 0.5 * wide.normal(size=2000)
    model = linear_model.Ridge(alpha=10.0).fit(
        Z[:1000], y[:1000]
    )  # half of the weight to each copy
    alone = importance(model, Z[1000:], y[1000:], random_state=0)
    groups = importance(model, Z[1000:], y[1000:], features="correlated", random_state=0)
    assert groups.names == ("x0 + x1", "x2")
    assert groups.columns == (("x0", "x1"), ("x2",))
    # 2 b_j (Cov(x_j, y) - b_k Cov(x_j, x_k)): 1/2 for a copy, 2 for both, 2 for the third. Standard
    # errors are 0.03 for a copy and 0.11 for the others: up to three of these; the seed is fixed.
    assert_allclose(alone.values, [0.5, 0.5, 2], rtol=0, atol=0.25)
    assert_allclose(groups.values, [2, 2], rtol=0, atol=0.35)
    assert groups["x2"] == alone["x2"]
    retrained = importance(
        LinearRegression(), Z[:300], y[:300], how="retrain", n_repeats=2, cv=3, random_state=0,
        features={"one copy": ["x0"], "both": ["x0", "x1"]},
    )  # fmt: skip
    assert abs(retrained["one copy"]) < 5 * retrained.standard_error[0]
    assert 0.7 < retrained["both"] < 1.3


def test_retraining_is_a_loop_over_splits_features_and_permutations():
    plan = Plan.of(KFold(4), X, Y)
    found = importance(
        DecisionTreeRegressor(max_depth=3), X, Y, how="retrain", cv=plan, n_repeats=2,
        random_state=7,
    )  # fmt: skip
    seeds, models = spawn(spawn(7, 2)[1], 2), spawn(7, 4)

    def held_out(change):
        losses = np.empty(len(Y))
        for s, (train, test) in enumerate(KFold(4).split(X)):
            tree = DecisionTreeRegressor(max_depth=3, random_state=seed32(models[s]))
            losses[test] = (Y[test] - tree.fit(change(X[train], s), Y[train]).predict(X[test])) ** 2
        return losses

    before = held_out(lambda Z, s: Z)
    for j in range(3):
        for r in range(2):

            def change(Z, s, j=j, r=r):
                own = generator(spawn(seeds[r], 4)[s])
                donors = draw_donors(np.ones(len(Z)), np.arange(len(Z)), own)
                Z = Z.copy()
                Z[:, j] = Z[donors, j]
                return Z

            assert_allclose(found.repeats[r, j], (held_out(change) - before).mean(), rtol=SUMMED)
    assert_allclose(found.baseline.value, before.mean(), rtol=SUMMED)
    assert found.baseline.fingerprint == plan.fingerprint


def test_held_out_rows_swap_within_their_fold():
    found = importance(Ridge(), X, Y, how="out_of_fold", cv=3, n_repeats=2, random_state=3)
    plan = Plan.of(3, X, Y, random_state=3)
    seeds = spawn(spawn(3, 2)[1], 2)
    for r, seed in enumerate(seeds):
        own, rises = generator(seed), np.zeros((len(Y), 3))
        for s in range(3):
            train, test = plan.train(s), plan.test(s)
            model = Ridge().fit(X[train], Y[train])
            donors = draw_donors(np.ones(len(test)), np.arange(len(test)), own)
            for j in range(3):
                Z = X[test].copy()
                Z[:, j] = Z[donors, j]
                before = (Y[test] - model.predict(X[test])) ** 2
                rises[test, j] = (Y[test] - model.predict(Z)) ** 2 - before
        assert_allclose(found.repeats[r], rises.mean(axis=0), rtol=SUMMED)


@pytest.mark.parametrize("how", ["out_of_bag", "members"])
@pytest.mark.parametrize(
    "ensemble",
    [
        RandomForestRegressor(12, random_state=0),
        BaggingRegressor(LinearRegression(), n_estimators=12, random_state=0),
    ],
    ids=["forest", "bagging of ours"],
)
def test_out_of_bag_rows_are_judged_by_members_that_lack_them(ensemble, how):
    ensemble.fit(X, Y)
    found = importance(ensemble, X, Y, how=how, n_repeats=2, random_state=1)
    drew = np.array([np.bincount(rows, minlength=len(Y)) for rows in ensemble.estimators_samples_])
    judged = np.flatnonzero((drew == 0).any(axis=0))

    def losses(Z):
        said = np.array([member.predict(Z) for member in ensemble.estimators_])
        found = []
        for i in judged:
            lacking = said[drew[:, i] == 0, i]
            if how == "members":
                found.append(np.mean((Y[i] - lacking) ** 2))
            else:
                found.append((Y[i] - lacking.mean()) ** 2)
        return np.array(found)

    before = losses(X)
    for r, donors in enumerate(drawn(len(judged), 2, 1)):
        for j in range(3):
            Z = X.copy()
            Z[judged, j] = X[judged[donors], j]
            assert_allclose(found.repeats[r, j], (losses(Z) - before).mean(), rtol=SUMMED)
    assert_allclose(found.baseline.value, before.mean(), rtol=SUMMED)
    if how == "out_of_bag":
        assert_allclose(found.baseline.value, out_of_bag(ensemble, X, Y).value, rtol=SUMMED)


def test_the_importance_for_an_aggregate_is_below_that_for_its_members():
    forest = RandomForestRegressor(40, max_features=1, random_state=0).fit(X, Y)
    aggregate = importance(forest, X, Y, how="out_of_bag", random_state=0)
    members = importance(forest, X, Y, how="members", random_state=0)
    assert aggregate.baseline.value < members.baseline.value
    assert aggregate["x0"] < members["x0"]


def test_the_fall_of_a_measure_is_that_of_the_measure_itself():
    model = LogisticRegression().fit(X[60:], LABEL[60:])
    found = importance(model, X[:60], LABEL[:60], loss="auc", positive="yes", random_state=2)

    def auc(Z):
        return roc_auc_score(LABEL[:60], model.decision_function(Z))

    for r, donors in enumerate(drawn(60, 5, 2)):
        for j in range(3):
            Z = X[:60].copy()
            Z[:, j] = Z[donors, j]
            assert_allclose(found.repeats[r, j], auc(X[:60]) - auc(Z), rtol=SUMMED, atol=SUMMED)
    assert_allclose(found.baseline.value, auc(X[:60]), rtol=SUMMED)
    assert found.quantity == "fall in AUC (class yes)"
    assert (found.interval[:, 0] < found.values).all()


def test_the_error_counts_rows_as_donors_too():
    """Of all pairs: the error is that of the projection of the U-statistic, not that of rows."""
    model = LinearRegression().fit(X[60:], Y[60:])
    found = importance(model, X[:60], Y[:60], n_repeats=300, random_state=0)
    for j in range(2):
        rise = pairs(model, X[:60], Y[:60], j)
        np.fill_diagonal(rise, np.nan)
        as_judged, as_donor = np.nanmean(rise, axis=1), np.nanmean(rise, axis=0)
        influence = as_judged + as_donor
        error = influence.std(ddof=1) / np.sqrt(60)
        centred = influence - influence.mean()
        skewness = (centred**3).sum() / (centred**2).sum() ** 1.5
        widened = error * np.sqrt(1 + 3 * skewness**2)
        assert_allclose(found.standard_error[j], widened, rtol=0.05)  # 300 permutations of 59
        assert error > 1.2 * as_judged.std(ddof=1) / np.sqrt(60)


def test_copies_of_rows_in_groups_have_the_error_of_the_rows():
    model = LinearRegression().fit(X[60:], Y[60:])
    once = importance(model, X[:60], Y[:60], n_repeats=40, random_state=0)
    rows = np.repeat(np.arange(60), 3)
    thrice = importance(model, X[rows], Y[rows], groups=rows, n_repeats=40, random_state=0)
    assert_allclose(thrice.values, once.values, rtol=0, atol=4 * once.permutation_error.max())
    # Other permutations, 40 of each: errors that differ by 5 %.
    assert_allclose(thrice.standard_error[:2], once.standard_error[:2], rtol=0.15)
    assert "60 groups" in thrice.covers


def test_whole_weights_are_copies():
    model = LinearRegression().fit(X[60:], Y[60:])
    weight = np.arange(60) % 3  # a row of weight 0 is not there
    weighted = importance(
        model, X[:60], Y[:60], sample_weight=weight, n_repeats=200, random_state=0
    )
    rows = np.repeat(np.arange(60), weight)
    copies = importance(model, X[rows], Y[rows], groups=rows, n_repeats=200, random_state=0)
    error = np.hypot(weighted.permutation_error, copies.permutation_error)
    # Over permutations: 3 comparisons fail by chance in 1 of 5000 seeds.
    assert (np.abs(weighted.values - copies.values) < 4 * error).all()
    assert_allclose(weighted.baseline.value, copies.baseline.value, rtol=SUMMED)


def test_a_constant_predictor_needs_no_feature():
    found = importance(DummyRegressor(), X, Y, how="out_of_fold", cv=3, random_state=0)
    assert not found.values.any()
    assert np.isnan(found.interval).all()
    found.plot()


def test_the_baseline_is_the_risk_of_the_model():
    model = LogisticRegression().fit(X[60:], LABEL[60:])
    found = importance(model, X[:60], LABEL[:60], loss="log", random_state=0)
    risk = evaluate(model, X[:60], LABEL[:60], loss="log")
    assert (found.baseline.value, found.baseline.interval) == (risk.value, risk.interval)
    assert found.baseline.fingerprint == risk.fingerprint


def test_a_feature_has_the_same_importance_whatever_else_is_asked_for():
    model = LinearRegression().fit(X[60:], Y[60:])
    every = importance(model, X[:60], Y[:60], random_state=4)
    one = importance(model, X[:60], Y[:60], features=[1], random_state=4)
    assert one.names == ("x1",)
    assert_array_equal(one.repeats[:, 0], every.repeats[:, 1])


@pytest.mark.parametrize("how", ["retrain", "out_of_bag"])
def test_the_number_of_workers_changes_no_bit(how):
    forest = RandomForestClassifier(5, random_state=0).fit(X[:60], LABEL[:60])
    options = {"cv": 2} if how == "retrain" else {}
    one, two = (
        importance(
            forest, X[:60], LABEL[:60], how=how, n_repeats=2, random_state=0, n_jobs=n, **options
        )
        for n in (1, 2)
    )
    assert_array_equal(one.repeats, two.repeats)
    assert_array_equal(one.interval, two.interval)


def test_the_result_can_be_pickled_and_becomes_a_table():
    found = importance(LinearRegression().fit(X, Y), X, Y, random_state=0)
    again = pickle.loads(pickle.dumps(found))
    assert str(again) == str(found)
    table = found.to_table()
    assert table["feature"].values().tolist() == ["x0", "x1", "x2"]
    assert_array_equal(table["importance"].numbers(), found.values[found.order])
    assert list(found) == ["x0", "x1", "x2"]
    assert len(found) == 3


@pytest.mark.parametrize("scale", [1e150, 1e-150])
@pytest.mark.parametrize("how", ["test", "retrain"])
def test_the_units_of_y_do_not_matter_where_their_squares_are_numbers(how, scale):
    plain, far = (
        importance(LinearRegression().fit(X, y), X, y, how=how, n_repeats=3, random_state=0)
        for y in (Y, scale * Y)
    )
    for name in ("values", "standard_error", "interval", "permutation_error"):
        # Sums of 120 losses, each rounded once more by the units.
        assert_allclose(getattr(far, name) / scale**2, getattr(plain, name), rtol=1e-11)


@pytest.mark.parametrize("loss", ["log", "auc"])
def test_importances_have_no_caution_for_probabilities_that_are_not_timid(loss):
    draw = np.random.default_rng(0)
    X = draw.normal(size=(200, 2))
    labels = (X[:, 0] + draw.normal(size=200) > 0).astype(int)
    found = importance(
        LogisticRegression(C=100.0), X, labels, how="retrain", loss=loss, random_state=0
    )
    assert "too near to one another" not in str(found)
