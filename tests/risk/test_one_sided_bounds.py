"""Bounds in words, on either side, of measures, and of groups."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import stats
from sklearn.model_selection import RepeatedStratifiedKFold

from empirisk import LinearDiscriminantAnalysis, Plan
from empirisk.risk import bounds, cross_validate, evaluate, measures
from empirisk.risk.estimate import RiskEstimate
from empirisk.runtime.errors import ParameterError
from tolerances import SOLVED, SUMMED

TEST_SET = (bounds.hoeffding, bounds.chernoff, bounds.empirical_bernstein, bounds.clopper_pearson)


def data(n=300, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    return X, X[:, 0] + 0.7 * rng.normal(size=n) > 0


def model_and_rows():
    X, y = data()
    return LinearDiscriminantAnalysis().fit(X[:150], y[:150]), X[150:], y[150:]


@pytest.mark.parametrize("bound", TEST_SET)
def test_a_bound_from_above_is_no_interval_in_words(bound):
    found = bound(evaluate(*model_and_rows()), level=0.9)
    assert isinstance(found, RiskEstimate)
    low, high = found.interval
    assert low == 0
    assert f"is at most {high:.4g} with probability 90 %" in str(found)
    assert "interval" not in str(found)
    assert f"it is {found.value:.4g} on the held-out rows" in str(found)
    assert f"<= {high:.4g}" in repr(found)
    lower = bound(evaluate(*model_and_rows()), level=0.9, sides="lower")
    assert f"is at least {lower.interval[0]:.4g} with probability 90 %" in str(lower)
    assert lower.interval[1] == 1
    both = bound(evaluate(*model_and_rows()), level=0.9, sides="both")
    assert "is between {:.4g} and {:.4g} with".format(*both.interval) in str(both)


@pytest.mark.parametrize("bound", TEST_SET)
def test_two_sides_at_half_the_error_are_both_sides(bound):
    estimate = evaluate(*model_and_rows())
    both = bound(estimate, level=0.9, sides="both").interval
    upper, lower = (bound(estimate, level=0.95, sides=side).interval for side in ("upper", "lower"))
    assert_allclose(both, (lower[0], upper[1]), rtol=SUMMED)


@pytest.mark.parametrize("bound", TEST_SET)
def test_an_accuracy_is_bounded_from_below_by_the_bound_of_its_mistakes(bound):
    model, X, y = model_and_rows()
    mistakes = bound(evaluate(model, X, y), level=0.9)
    right = bound(measures.accuracy(y, model.predict(X)), level=0.9)
    assert_allclose(right.interval, (1 - mistakes.interval[1], 1), rtol=1e-9)  # by bisection
    assert_allclose(right.value, 1 - mistakes.value, rtol=1e-12)
    assert f"The accuracy of this model is at least {right.interval[0]:.4g} with" in str(right)
    assert right.sides == "lower"
    above = bound(measures.accuracy(y, model.predict(X)), level=0.9, sides="upper")
    assert above.interval[1] < 1


def test_accuracies_of_any_size_and_of_cross_validation():
    for n in (1, 3, 7, 49, 101):  # where the share of right rows is no round number
        found = bounds.clopper_pearson(measures.accuracy(np.arange(n) % 3, np.zeros(n, int)))
        wrong = n - np.count_nonzero(np.arange(n) % 3 == 0)
        exact = stats.binomtest(n - wrong, n, alternative="greater").proportion_ci(0.95, "exact")
        assert_allclose(found.interval, (exact.low, 1), rtol=SOLVED)
    X, y = data()
    plan = Plan.of(5, X, y, classifier=True, random_state=0)
    learner = LinearDiscriminantAnalysis()
    right = bounds.hoeffding(measures.cross_validate(learner, X, y, "accuracy", cv=plan))
    wrong = bounds.hoeffding(cross_validate(learner, X, y, cv=plan))
    assert_allclose(right.interval[0], 1 - wrong.interval[1], rtol=SUMMED)


@pytest.mark.parametrize("bound", TEST_SET)
def test_what_is_no_mean_loss_is_refused(bound):
    model, X, y = model_and_rows()
    score, prediction = model.predict_proba(X)[:, 1], model.predict(X)
    perfect = measures.auc([0, 0, 1, 1], [0.1, 0.2, 0.8, 0.9])
    assert_allclose(perfect.losses, 1, rtol=SUMMED)  # which look like right and wrong
    for found in (
        measures.auc(y, score), measures.f_score(y, prediction), measures.recall(y, prediction),
        measures.average_precision(y, score), perfect,
    ):  # fmt: skip
        with pytest.raises(ParameterError, match="no mean of a loss"):
            bound(found)
        with pytest.raises(ParameterError, match="no mean of a loss"):
            bounds.union(found, among=3)
    assert bound is bounds.clopper_pearson or bound(measures.brier(y, score)).sides == "upper"


def test_the_best_of_several_accuracies_is_the_largest():
    model, X, y = model_and_rows()
    rivals = {
        "a": measures.accuracy(y, model.predict(X)),
        "b": measures.accuracy(y, np.ones(len(y), dtype=bool)),
    }
    found = bounds.union(rivals, bound="clopper_pearson")
    alone = bounds.clopper_pearson(rivals["a"], level=1 - 0.05 / 2)
    assert_allclose(found.interval, alone.interval, rtol=SUMMED)
    assert "union bound over 2" in str(found)


def test_bounds_beside_each_other_of_an_accuracy():
    model, X, y = model_and_rows()
    found = bounds.compare_bounds(measures.accuracy(y, model.predict(X)), model=model, X=X, y=y)
    assert list(found) == ["Hoeffding", "Chernoff", "empirical Bernstein", "Clopper-Pearson"]
    assert "The sharpest is Clopper-Pearson. The accuracy of this model is at least" in str(found)
    assert found.table.startswith("accuracy, bounds at 95 %")
    assert ">= 0." in found.table
    assert "bound the 0-1 risk" in str(found)


def test_groups_are_the_units_and_named():
    model, X, y = model_and_rows()
    groups = np.arange(150) // 5
    estimate = evaluate(model, X, y, groups=groups)
    for bound in TEST_SET[:3]:
        found = bound(estimate)
        assert "if the 30 groups are independent and took no part" in found.reason
        assert "taken as given" not in found.reason
        assert "rows are independent" not in str(found)
        assert found.interval[1] > bound(evaluate(model, X, y)).interval[1]
    with pytest.raises(ParameterError, match="independent rows"):
        bounds.clopper_pearson(estimate)
    uneven = evaluate(model, X, y, groups=np.minimum(groups, 20))
    assert "their sizes are taken as given" in bounds.hoeffding(uneven).reason
    with pytest.raises(ParameterError, match="equal weight"):
        bounds.chernoff(uneven)
    weighted = evaluate(model, X, y, sample_weight=np.linspace(1, 2, 150))
    assert "their weights are taken as given" in bounds.hoeffding(weighted).reason
    alone = evaluate(model, X, y, groups=np.arange(150))
    assert "if the rows are independent" in bounds.clopper_pearson(alone).reason
    X, y = data()
    folds = cross_validate(LinearDiscriminantAnalysis(), X, y, cv=5, groups=np.arange(300) // 5)
    assert "like one of 12 groups" in bounds.hoeffding(folds).reason
    twice = RepeatedStratifiedKFold(n_splits=3, n_repeats=2, random_state=0)
    repeated = cross_validate(LinearDiscriminantAnalysis(), X, y, cv=twice)
    assert "like one of 100 rows" in bounds.hoeffding(repeated).reason


def test_the_last_rows_in_time_are_not_independent():
    X, y = data()
    learner = LinearDiscriminantAnalysis()
    estimate = cross_validate(
        learner, X, y, cv=Plan.holdout(X, y, test_size=0.3, classifier=True, time_order=True)
    )
    assert estimate.estimates == "this model"
    for bound in TEST_SET:
        with pytest.raises(ParameterError, match="'time'"):
            bound(estimate)


def test_bounds_do_not_subtract_but_differences_are_bounded():
    model, X, y = model_and_rows()
    one = evaluate(model, X, y)
    two = evaluate(LinearDiscriminantAnalysis().fit(X[:75], y[:75]), X, y)
    with pytest.raises(ParameterError, match="do not subtract"):
        bounds.hoeffding(one) - bounds.hoeffding(two)
    found = bounds.hoeffding(one - two)
    half = 2 * np.sqrt(np.log(20) / 300)
    assert_allclose(found.interval, (-1, found.value + half), rtol=SUMMED)
    assert "The difference in zero_one risk of this model is at most" in str(found)
