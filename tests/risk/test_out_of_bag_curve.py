"""The out-of-bag risk after every member is that of the members so far, found anew."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import load_diabetes, load_iris
from sklearn.ensemble import BaggingClassifier, RandomForestClassifier, RandomForestRegressor
from sklearn.metrics import f1_score, roc_auc_score
from sklearn.svm import LinearSVC

from empirisk.compiled.out_of_bag import add_scores, largest, mean_scores
from empirisk.losses import Costs, as_loss
from empirisk.risk.bagging.out_of_bag import out_of_bag
from empirisk.risk.bagging.out_of_bag_curve import out_of_bag_curve
from empirisk.risk.bagging.out_of_bag_scores import OutOfBag
from empirisk.risk.judges import Judges, is_pessimistic
from empirisk.risk.problem import Problem
from empirisk.runtime.errors import ParameterError
from tolerances import LAST_BITS, SUMMED

IRIS = load_iris(return_X_y=True)
DIABETES = load_diabetes(return_X_y=True)


def anew(ensemble, X, B, groups=None):
    """The mean scores of the first B members of each row, and how many there are."""
    total, count = 0.0, np.zeros(len(X))
    for member, drawn in zip(
        ensemble.estimators_[:B], ensemble.estimators_samples_[:B], strict=True
    ):
        out = ~np.isin(np.arange(len(X)), drawn)
        if groups is not None:
            out = ~np.isin(groups, groups[drawn])
        say = member.predict_proba if hasattr(member, "predict_proba") else member.predict
        scores = say(X)
        if hasattr(ensemble, "classes_") and scores.ndim == 1:
            scores = np.eye(len(ensemble.classes_))[scores]
        total = total + out.reshape(-1, *[1] * (scores.ndim - 1)) * scores
        count += out
    return total / np.maximum(count, 1).reshape(-1, *[1] * (np.ndim(total) - 1)), count


@pytest.mark.parametrize("loss", ["squared", "absolute", "quantile:0.8"])
@pytest.mark.parametrize("grouped", [False, True])
def test_the_curve_of_a_regressor_is_that_of_its_first_members(loss, grouped):
    X, y = DIABETES
    rng = np.random.default_rng(0)
    weight = rng.uniform(0.5, 2, size=len(y))
    groups = rng.integers(0, 250, size=len(y)) if grouped else None
    forest = RandomForestRegressor(12, min_samples_leaf=5, random_state=0).fit(X, y)
    curve = out_of_bag_curve(forest, X, y, loss=loss, sample_weight=weight, groups=groups)
    assert_array_equal(curve.members, np.arange(1, 13))
    for B in range(1, 13):
        prediction, count = anew(forest, X, B, groups)
        judged = count > 0
        losses = as_loss(loss)(y[judged], prediction[judged])
        expected = np.average(losses, weights=weight[judged])
        assert_allclose(curve.risk[B - 1], expected, rtol=SUMMED)
        assert curve.rows_judged[B - 1] == judged.sum()
    whole = out_of_bag(forest, X, y, loss=loss, sample_weight=weight, groups=groups)
    assert curve.estimate.interval == whole.interval
    assert curve.standard_error == whole.standard_error
    assert curve.risk[-1] == pytest.approx(whole.value, rel=LAST_BITS)


@pytest.mark.parametrize("loss", ["zero_one", "log", Costs([[0, 1, 4], [2, 0, 1], [1, 3, 0]])])
@pytest.mark.parametrize("votes", [False, True])
def test_the_curve_of_a_classifier_is_that_of_its_first_members(loss, votes):
    X, y = IRIS
    ensemble = RandomForestClassifier(9, max_depth=2, random_state=1)
    if votes:
        ensemble = BaggingClassifier(LinearSVC(), n_estimators=9, random_state=1)
    ensemble.fit(X, y)
    curve = out_of_bag_curve(ensemble, X, y, loss=loss, n_jobs=2)
    for B in range(1, 10):
        scores, count = anew(ensemble, X, B)
        said = scores if loss == "log" else scores.argmax(axis=1)
        own = count > 0
        losses = as_loss(loss)(y[own], said[own])
        assert_allclose(curve.risk[B - 1], losses.mean(), rtol=SUMMED)


def test_a_measure_has_a_curve_and_an_interval():
    X, y = IRIS[0][50:, :2], IRIS[1][50:]
    forest = RandomForestClassifier(8, random_state=0).fit(X, y)
    area = out_of_bag_curve(forest, X, y, loss="auc", positive=1)
    rate = out_of_bag_curve(forest, X, y, loss="f_score")
    for B in range(1, 9):
        scores, count = anew(forest, X, B)
        own = count > 0
        expected = roc_auc_score(y[own] == 1, scores[own, 0])
        assert_allclose(area.risk[B - 1], expected, rtol=SUMMED)
        said = forest.classes_[scores[own].argmax(axis=1)]
        assert_allclose(rate.risk[B - 1], f1_score(y[own], said, pos_label=2), rtol=SUMMED)
    whole = out_of_bag(forest, X, y, loss="auc", positive=1)
    assert whole.value == pytest.approx(area.risk[-1], rel=LAST_BITS)
    assert whole.interval[0] < whole.value < whole.interval[1]
    assert whole.interval == area.estimate.interval
    assert "did not draw it" in whole.sentence
    assert "so few members" in whole.sentence
    assert whole.sentence.startswith("The AUC (class 1) of the procedure at this n is ")
    with pytest.raises(ParameterError, match="one model"):
        out_of_bag(forest, X, y, loss="auc", method="bootstrap")
    with pytest.raises(ParameterError, match="no parameter 'positive'"):
        out_of_bag(forest, X, y, loss="zero_one", positive=1)
    numbers = RandomForestRegressor(3).fit(*DIABETES)
    with pytest.raises(ParameterError, match="one of classifiers"):
        out_of_bag(numbers, *DIABETES, loss="auc")


def test_the_accuracy_out_of_bag_is_one_less_the_risk_with_the_same_interval():
    X, y = IRIS
    forest = RandomForestClassifier(60, random_state=0).fit(X, y)
    right, wrong = out_of_bag(forest, X, y, loss="accuracy"), out_of_bag(forest, X, y)
    assert right.value == pytest.approx(1 - wrong.value, rel=SUMMED)
    assert right.interval == pytest.approx(
        (1 - wrong.interval[1], 1 - wrong.interval[0]), rel=SUMMED
    )
    assert right.reason == wrong.reason


def test_a_learner_feeds_its_members_as_they_come():
    # Codes, weights and a loss are all that a learner needs; X stays with it.
    rng = np.random.default_rng(3)
    y, weight = rng.integers(0, 3, size=30), rng.uniform(1, 2, size=30)
    problem = Problem(
        None, None, y, np.arange(3), weight, True, None, as_loss("zero_one").for_classes(range(3))
    )
    bag = OutOfBag(30, None, problem)
    bag.add(np.arange(0), np.zeros((0, 3)))  # a member that lacks nothing
    assert np.isnan(bag.curve_risk[0])
    assert bag.curve_rows == [0]
    total = np.zeros((30, 3))
    for _ in range(5):
        rows = np.flatnonzero(rng.random(30) < 0.4).astype(np.int32)
        scores = rng.dirichlet(np.ones(3), size=len(rows)).astype(np.float32)
        bag.add(rows, scores)
        total[rows] += scores
        own = total.sum(axis=1) > 0
        wrong = total[own].argmax(axis=1) != y[own]
        assert_allclose(bag.curve_risk[-1], np.average(wrong, weights=weight[own]), rtol=SUMMED)
        assert bag.curve_rows[-1] == own.sum()
    assert bag.estimate(problem).value == pytest.approx(bag.curve_risk[-1], rel=SUMMED)


@pytest.mark.parametrize("columns", [1, 4])
def test_the_kernels_are_what_numpy_says(columns):
    rng = np.random.default_rng(4)
    total = rng.integers(0, 3, size=(20, columns)).astype(float)  # ties
    members = rng.integers(1, 9, size=20)
    rows = np.sort(rng.choice(20, size=9, replace=False))
    assert_array_equal(largest(total, rows), total[rows].argmax(axis=1))
    assert_array_equal(mean_scores(total, members, rows), total[rows] / members[rows][:, None])
    scores = rng.normal(size=(9, columns))
    expected, counts = total.copy(), members.copy()
    expected[rows] += scores
    counts[rows] += 1
    add_scores(total, members, rows, scores)
    assert_array_equal(total, expected)
    assert_array_equal(members, counts)


def test_the_curve_says_its_ends_and_is_drawn():
    X, y = IRIS
    forest = RandomForestClassifier(30, random_state=0).fit(X, y)
    curve = out_of_bag_curve(forest, X, y)
    text = str(curve)
    assert f"From 1 to 30 members the zero_one risk goes from {curve.risk[0]:.4g}" in text
    assert f"({curve.rows_judged[0]} of 150 rows judged)" in text
    assert f"over the last 15 it moved by {np.ptp(curve.risk[15:]):.3g}" in text
    ax = curve.plot()
    assert ax.get_xlabel() == "members"
    assert ax.get_ylabel() == "zero_one risk"
    drawn = np.concatenate([line.get_ydata() for line in ax.get_lines()[:2]])
    assert set(curve.risk) <= set(drawn)
    ax.figure.canvas.draw()


def problem_of(n, p, *smaller):
    """Classes that have these shares of the rows, and one that has the others."""
    y = np.zeros(n, dtype=int)
    ends = np.cumsum([0, *(round(n * share) for share in smaller)])
    for k in range(len(smaller)):
        y[ends[k] : ends[k + 1]] = k + 1
    return Problem.of(RandomForestClassifier(), np.zeros((n, p)), y)


def test_pessimism_is_said_of_few_rows_many_columns_and_equal_classes():
    assert is_pessimistic(problem_of(40, 1000, 0.5))
    assert is_pessimistic(problem_of(150, 150, 0.46))
    assert is_pessimistic(problem_of(60, 300, 1 / 3, 1 / 3))
    assert not is_pessimistic(problem_of(40, 39, 0.5))
    assert not is_pessimistic(problem_of(151, 1000, 0.5))
    assert not is_pessimistic(problem_of(40, 1000, 0.4))
    assert not is_pessimistic(problem_of(60, 300, 0.25, 0.35))
    numbers = Problem.of(RandomForestRegressor(), np.zeros((40, 1000)), np.arange(40.0))
    assert not is_pessimistic(numbers)
    many = Judges(np.full(40, 30), 80)
    assert not any("pessimistic" in doubt for doubt in many.doubts(numbers))


def test_noise_looks_worse_than_guessing_and_the_sentence_says_so():
    # Balanced noise, 30 rows and 300 columns: over 12 sets the mean out-of-bag error is about 0.6
    # with a standard error of 0.03, so it is below 0.5 with probability under 0.001.
    rng, found = np.random.default_rng(5), []
    y = np.arange(30) % 2
    for seed in range(12):
        X = rng.normal(size=(30, 300))
        forest = RandomForestClassifier(60, random_state=seed).fit(X, y)
        found.append(out_of_bag(forest, X, y))
    assert np.mean([each.value for each in found]) > 0.5
    assert all("it is pessimistic" in each.sentence for each in found)
    area = out_of_bag(forest, X, y, loss="auc")
    assert "it is pessimistic" in area.sentence
    ordinary = RandomForestClassifier(60, random_state=0).fit(*IRIS)
    assert "pessimistic" not in out_of_bag(ordinary, *IRIS).sentence


def test_losses_beyond_all_numbers_have_no_late_change(recwarn):
    X, y = np.arange(60.0)[:, None], 1e200 * np.arange(60.0)
    curve = out_of_bag_curve(RandomForestRegressor(10, random_state=0).fit(X, y), X, y)
    assert np.isinf(curve.risk[-1])
    assert "moved" not in curve.sentence
    assert "nan" not in curve.sentence
    assert not [each for each in recwarn if issubclass(each.category, RuntimeWarning)]
