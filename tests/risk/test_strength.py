import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import load_breast_cancer, load_diabetes
from sklearn.ensemble import (
    BaggingClassifier,
    ExtraTreesClassifier,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.linear_model import LogisticRegression

from bagged_twins import ToldEnsemble
from empirisk.risk import out_of_bag, strength
from empirisk.runtime.errors import DataError, ParameterError
from tolerances import SUMMED


def three_classes(n, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4))
    y = np.digitize(X[:, 0] + 0.7 * rng.normal(size=n), [-0.5, 0.5])
    return X, np.array(["a", "b", "c"])[y]


def class_twin(ensemble, X, y):
    """Breiman's estimates with everything in one table; NaN where a member drew the row."""
    classes = list(ensemble.classes_)
    votes = np.full((len(ensemble.estimators_), len(y)), np.nan)
    for b, member in enumerate(ensemble.estimators_):
        for i in sorted(set(range(len(y))) - set(ensemble.estimators_samples_[b])):
            votes[b, i] = member.predict(X[[i]])[0]
    margins, variances, rivals = [], [], []
    for i, label in enumerate(y):
        seen = votes[~np.isnan(votes[:, i]), i]
        share = [np.mean(seen == k) for k in range(len(classes))]
        own = share[classes.index(label)]
        share[classes.index(label)] = -1
        rivals.append(int(np.argmax(share)))
        each = (seen == classes.index(label)) * 1.0 - (seen == rivals[-1])
        margins.append(own - max(share))
        variances.append(each.var(ddof=1) / len(each))
    s = np.mean(margins)
    deviations = []
    for b in range(len(votes)):
        out = np.flatnonzero(~np.isnan(votes[b]))
        own = [(votes[b, i] == classes.index(y[i])) * 1.0 - (votes[b, i] == rivals[i]) for i in out]
        deviations.append(np.std(own))
    rho = (np.mean(np.square(margins)) - np.mean(variances) - s**2) / np.mean(deviations) ** 2
    return s, rho


def test_strength_and_correlation_are_those_of_the_definitions():
    X, y = three_classes(60)
    forest = RandomForestClassifier(40, random_state=0).fit(X, y)
    found = strength(forest, X, y)
    s, rho = class_twin(forest, X, y)
    assert_allclose([found.strength, found.correlation], [s, rho], rtol=SUMMED)
    assert_allclose(found.bound, rho * (1 - s**2) / s**2, rtol=SUMMED)
    assert_allclose(found.margins.mean(), s, rtol=SUMMED)
    assert found.n_members == 40


def test_errors_of_members_are_those_of_the_definitions():
    X, y = load_diabetes(return_X_y=True)
    X, y = X[:80], y[:80]
    forest = RandomForestRegressor(30, random_state=0).fit(X, y)
    error = np.full((30, 80), np.nan)
    for b, member in enumerate(forest.estimators_):
        out = np.setdiff1d(np.arange(80), forest.estimators_samples_[b])
        error[b, out] = y[out] - member.predict(X[out])
    found = strength(forest, X, y)
    members = np.nanmean(error**2, axis=1)
    number = (~np.isnan(error)).sum(axis=0)
    aggregate = np.nanmean(error, axis=0) ** 2 - np.nanvar(error, axis=0, ddof=1) / number
    rho = aggregate.mean() / np.sqrt(members).mean() ** 2
    assert_allclose(found.member_risk, members.mean(), rtol=SUMMED)
    assert_allclose(found.correlation, rho, rtol=SUMMED)
    assert_allclose(found.bound, rho * members.mean(), rtol=SUMMED)
    assert_allclose(found.risk, out_of_bag(forest, X, y).value, rtol=SUMMED)


@pytest.mark.parametrize("rho", [0.0, 0.3, 0.9])
def test_a_known_correlation_of_errors_is_found(rho):
    """Errors with a common part: 4,000 rows and 20 members, of which some ten are out of bag."""
    rng = np.random.default_rng(1)
    n, B = 4000, 20
    y = rng.normal(size=n)
    error = np.sqrt(rho) * rng.normal(size=n) + np.sqrt(1 - rho) * rng.normal(size=(B, n))
    ensemble = ToldEnsemble(2 * rng.integers(0, 2, size=(B, n)), y - error)
    found = strength(ensemble, np.arange(n)[:, None], y)
    assert abs(found.correlation - rho) < 5 * found.standard_error["correlation"]
    assert found.standard_error["correlation"] < 0.03
    assert_allclose(found.member_risk, 1, rtol=0, atol=5 * found.standard_error["member_risk"])


def test_a_known_strength_and_correlation_of_votes_are_found():
    """Members are right with chance p or 1/2, half of the rows each, and independent given it."""
    rng = np.random.default_rng(2)
    n, B, p = 6000, 60, 0.8
    y = rng.integers(0, 2, size=n)
    chance = np.where(rng.random(n) < 0.5, p, 0.5)
    right = rng.random((B, n)) < chance
    each = np.eye(2)[np.where(right, y, 1 - y)]
    ensemble = ToldEnsemble(2 * rng.integers(0, 2, size=(B, n)), each, classes=[0, 1])
    found = strength(ensemble, np.arange(n)[:, None], y)
    s = p - 0.5  # mean of 2p - 1 and 0
    variance = 0.5 * (2 * p - 1) ** 2 - s**2
    rho = variance / (1 - s**2)
    assert abs(found.strength - s) < 5 * found.standard_error["strength"]
    assert abs(found.correlation - rho) < 5 * found.standard_error["correlation"]
    assert found.standard_error["correlation"] < 0.01
    truth = 1 - (p + 0.5) / 2
    assert abs(found.member_risk - truth) < 5 * found.standard_error["member_risk"]


def test_correlation_does_not_depend_on_the_number_of_members():
    X, y = load_breast_cancer(return_X_y=True)
    few, many = (
        strength(RandomForestClassifier(B, random_state=0).fit(X, y), X, y) for B in (25, 250)
    )
    # Without the correction 25 members, 9 of them out of bag, would give some 0.1 more.
    assert abs(few.correlation - many.correlation) < 0.05


def test_features_drawn_at_random_make_trees_less_alike():
    X, y = load_diabetes(return_X_y=True)
    bag, forest = (
        strength(RandomForestRegressor(150, max_features=m, random_state=0).fit(X, y), X, y)
        for m in (10, 1)
    )
    assert forest.correlation < bag.correlation - 0.05
    assert bag.bound < bag.member_risk


def test_weights_count_rows_and_groups_are_judged_by_members_that_lack_them():
    X, y = three_classes(90)
    forest = RandomForestClassifier(60, random_state=0).fit(X, y)
    plain = strength(forest, X, y)
    heavy = strength(forest, X, y, sample_weight=np.full(90, 3.0))
    assert_allclose(heavy.strength, plain.strength, rtol=SUMMED)
    one = np.r_[np.ones(45), np.zeros(45)]
    assert strength(forest, X, y, sample_weight=one).margins.size == 45
    pairs = np.arange(90) // 2
    grouped = strength(forest, X, y, groups=pairs)
    assert grouped.strength != plain.strength
    with pytest.raises(DataError, match="a row of every group"):
        strength(forest, X, y, groups=np.zeros(90))


def test_members_without_probabilities_and_other_ensembles():
    X, y = three_classes(80)
    bag = BaggingClassifier(LogisticRegression(), 30, max_features=2, random_state=0).fit(X, y)
    assert 0 < strength(bag, X, y).strength < 1
    with pytest.raises(DataError, match="none is out of bag"):
        strength(ExtraTreesClassifier(5).fit(X, y), X, y)


@pytest.mark.parametrize("factor", [1e-200, 1e200])
def test_correlation_does_not_see_the_scale(factor):
    rng = np.random.default_rng(3)
    counts, y, each = (
        rng.integers(0, 2, size=(9, 50)),
        rng.normal(size=50),
        rng.normal(size=(9, 50)),
    )
    X = np.arange(50)[:, None]
    plain, scaled = (strength(ToldEnsemble(counts, c * each), X, c * y) for c in (1.0, factor))
    assert_allclose(scaled.correlation, plain.correlation, rtol=SUMMED)
    assert not np.isnan([scaled.risk, scaled.bound, *scaled.standard_error.values()]).any()


def test_words_pictures_and_workers():
    X, y = three_classes(60)
    forest = RandomForestClassifier(40, random_state=0).fit(X, y)
    one, two = (strength(forest, X, y, n_jobs=n_jobs) for n_jobs in (1, 2))
    assert one.sentence == str(two)
    assert_array_equal(one.margins, two.margins)
    assert "The 40 members of RandomForestClassifier have strength" in one.sentence
    assert one.plot().get_ylabel() == "rows"
    number = RandomForestRegressor(20, random_state=0).fit(X, X[:, 0])
    found = strength(number, X, X[:, 0])
    assert "the errors of two correlate by" in str(found)
    labels = [label.get_text() for label in found.plot().get_yticklabels()]
    assert labels == ["one member", "bound, very many", "mean"]


def test_one_member_has_no_correlation():
    X, y = three_classes(60)
    for forest, target in ((RandomForestClassifier, y), (RandomForestRegressor, X[:, 0])):
        with pytest.raises(ParameterError, match="1 member, and correlations are those of two"):
            strength(forest(1, random_state=0).fit(X, target), X, target)
