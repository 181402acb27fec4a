"""Asymmetric losses and cost matrices: orientation, thresholds, least expected cost, labels."""

import copy
import pickle

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.dummy import DummyClassifier

from empirisk.losses import Asymmetric, Costs, ZeroOne
from empirisk.runtime.errors import DataError, ParameterError
from tolerances import LAST_BITS, SUMMED

costs_of_mistakes = st.floats(0, 1e3, allow_subnormal=False)


@st.composite
def problems(draw):
    """A cost matrix and some vectors of class probabilities, zeros and ties among them."""
    k = draw(st.integers(1, 5))
    matrix = draw(hnp.arrays(float, (k, k), elements=st.integers(0, 9)))
    np.fill_diagonal(matrix, 0)
    counts = draw(hnp.arrays(float, (4, k), elements=st.integers(0, 9)))
    counts += counts.sum(axis=1, keepdims=True) == 0
    return matrix, counts.astype(int)


@given(problems())
@settings(max_examples=150, deadline=None)
def test_bayes_action_is_the_first_class_of_least_expected_cost(problem):
    matrix, counts = problem
    loss = Costs(matrix)
    p = counts / counts.sum(axis=1, keepdims=True)
    found = loss.bayes_action(p)
    for row, count, action in zip(p, counts, found, strict=True):
        exact = [
            sum(int(c) * int(n) for c, n in zip(costs, count, strict=True)) for costs in matrix
        ]
        assert action == exact.index(min(exact))  # integers: ties are exact
        risk = sum(loss(j, action) * row[j] for j in range(len(row)))
        assert_allclose(loss.bayes_risk(row), risk, rtol=1e-13)  # order of summation
        assert_allclose(risk * count.sum(), min(exact), rtol=1e-13)


def test_rows_are_predictions_and_columns_are_truths():
    matrix = np.array([[0, 1, 2], [3, 0, 4], [5, 6, 0]])
    loss = Costs(matrix)
    assert loss(2, 0) == matrix[0, 2] == 2  # true 2, predicted 0
    assert_array_equal(loss(np.array([0, 1])[:, None], [[0, 1, 2], [0, 1, 2]]), matrix.T[:2])
    assert_array_equal(loss.expected_losses([0.0, 0.0, 1.0]), matrix[:, 2])
    assert loss.bounds == (0, 6)


@given(costs_of_mistakes, costs_of_mistakes)
@settings(max_examples=100, deadline=None)
def test_the_threshold_is_a_over_a_plus_b_exactly(a, b):
    assume(a + b > 0)
    loss, t = Asymmetric(a, b), a / (a + b)
    assert loss.threshold == t

    def action(p):
        return loss.bayes_action([1 - p, p])

    assert action(t) == 0
    if t < 1:
        assert action(np.nextafter(t, 1)) == 1
    if t > 0:
        assert action(np.nextafter(t, 0)) == 0


@given(costs_of_mistakes, costs_of_mistakes, st.floats(0, 1))
@settings(max_examples=100, deadline=None)
def test_asymmetric_bayes_action_has_the_least_expected_loss(a, b, p):
    assume(a + b > 0)
    loss = Asymmetric(a, b)
    expected = [b * p, a * (1 - p)]
    action = loss.bayes_action([1 - p, p])
    assert expected[action] <= min(expected) + 1e-12 * (a + b)  # rounding at the threshold
    # Numbers below 2e-308 have fewer digits.
    assert_allclose(loss.bayes_risk([1 - p, p]), min(expected), rtol=LAST_BITS, atol=1e-300)


def test_a_false_positive_costs_a_and_a_false_negative_b():
    loss = Asymmetric(a=3, b=7)
    assert_array_equal(loss([0, 0, 1, 1], [0, 1, 0, 1]), [0, 3, 7, 0])
    same = Costs([[0, 7], [3, 0]])
    assert_array_equal(same([0, 0, 1, 1], [0, 1, 0, 1]), [0, 3, 7, 0])
    assert loss.bounds == same.bounds == (0, 7)
    # On the threshold 0.3 both cost 2.1, though 7 * 0.3 > 3 * 0.7 in floating point.
    assert loss.bayes_action([0.7, 0.3]) == same.bayes_action([0.7, 0.3]) == 0
    single = np.array([[0.7, 0.3]], np.float32)
    assert loss.bayes_action(single) == same.bayes_action(single) == 0


def test_equal_costs_are_the_zero_one_rule():
    p = np.random.default_rng(0).dirichlet(np.ones(2), size=200)
    p[:2] = 0.5
    expected = ZeroOne().bayes_action(p)
    assert_array_equal(Asymmetric(2, 2).bayes_action(p), expected)
    assert_array_equal(Costs(2 * (1 - np.eye(2))).bayes_action(p), expected)
    assert_allclose(Asymmetric(1, 1).bayes_risk(p), ZeroOne().bayes_risk(p), rtol=SUMMED)


@pytest.mark.parametrize("scale", [1e-300, 1e-200, 1e200, 1e307])
def test_the_unit_of_the_costs_does_not_matter(scale):
    rng = np.random.default_rng(1)
    matrix = rng.integers(0, 9, size=(4, 4)) * (1 - np.eye(4))
    p = rng.dirichlet(np.ones(4), size=50)
    assert_array_equal(Costs(matrix * scale).bayes_action(p), Costs(matrix).bayes_action(p))
    assert np.isfinite(Costs(matrix * scale).bayes_risk(p)).all()
    two = p[:, :2] / p[:, :2].sum(axis=1, keepdims=True)
    scaled = Asymmetric(9 * scale, 16 * scale)
    assert_allclose(scaled.threshold, 0.36, rtol=LAST_BITS)
    assert_array_equal(scaled.bayes_action(two), Asymmetric(9, 16).bayes_action(two))


def test_best_constant_is_the_best_class_for_the_frequencies():
    y, weight = [0, 0, 0, 1], [1, 1, 1, 1]
    assert Asymmetric(1, 2).best_constant(y, weight) == 0
    assert Asymmetric(1, 4).best_constant(y, weight) == 1
    assert Asymmetric(1, 2).best_constant(y, [1, 1, 1, 3]) == 1
    assert Costs([[0, 4], [1, 0]]).best_constant(y) == 1
    assert Costs(np.ones((3, 3)) - np.eye(3)).best_constant([2, 2, 1], n_classes=3) == 2


def test_the_positive_class_may_be_any_of_the_two_labels():
    loss = Asymmetric(a=3, b=7, positive="bad")
    bound = loss.for_classes(np.array(["bad", "good"]))
    # codes: 0 is bad, the positive class
    assert_array_equal(bound([0, 0, 1, 1], [0, 1, 0, 1]), [0, 7, 3, 0])
    assert_array_equal(bound.bayes_action([[0.29, 0.71], [0.3, 0.7], [0.31, 0.69]]), [1, 0, 0])
    assert bound == loss
    assert bound.bounds == loss.bounds == (0, 7)
    assert bound.threshold == 0.3
    usual = loss.for_classes(["also good", "bad"])
    assert_array_equal(usual([0, 0, 1, 1], [0, 1, 0, 1]), [0, 3, 7, 0])
    with pytest.raises(ParameterError, match="for_classes"):
        loss([0], [1])
    with pytest.raises(ParameterError, match="'bad' is not one of"):
        loss.for_classes(["x", "y"])
    with pytest.raises(ParameterError, match="two classes"):
        Asymmetric(1, 2).for_classes(["x", "y", "z"])


def test_labelled_costs_follow_the_labels():
    costs = {
        ("a", "b"): 1,
        ("a", "c"): 2,
        ("b", "a"): 3,
        ("b", "c"): 4,
        ("c", "a"): 5,
        ("c", "b"): 6,
    }
    loss = Costs.from_dict(costs)
    for labels in (["a", "b", "c"], ["c", "a", "b"], ["b", "c"]):
        bound = loss.for_classes(np.array(labels))
        for i, predicted in enumerate(labels):
            for j, true in enumerate(labels):
                assert bound(j, i) == costs.get((predicted, true), 0)
        assert bound == loss
    # bound to some of its labels, it still knows the others
    assert loss.for_classes(["b", "c"]).for_classes(["a", "b", "c"])(0, 2) == 5
    with pytest.raises(ParameterError, match="'d' has no row"):
        loss.for_classes(["a", "d"])


def test_costs_without_labels_are_in_the_order_of_the_codes():
    loss = Costs([[0, 1], [2, 0]])
    assert_array_equal(loss.for_classes(["x", "y"]).costs(), [[0, 1], [2, 0]])
    with pytest.raises(ParameterError, match="2 classes, these are 3"):
        loss.for_classes(["x", "y", "z"])


def test_labels_of_any_kind():
    loss = Costs.from_dict({(1, "one"): 2, ("one", 1): 3})
    assert loss.classes == (1, "one")
    numbers = Costs([[0, 1], [2, 0]], classes=np.array([20, 10])).for_classes(np.array([10, 20]))
    assert_array_equal(numbers.costs(), [[0, 2], [1, 0]])


@pytest.mark.parametrize(
    "make, says",
    [
        (lambda: Costs([[0, 1, 2], [1, 0, 2]]), "square"),
        (lambda: Costs([0, 1]), "square"),
        (lambda: Costs([[0, "dear"], [1, 0]]), "give a square of numbers"),
        (lambda: Costs([[0, 1], [1]]), "give a square of numbers"),
        (lambda: Costs(np.empty((0, 0))), "square"),
        (lambda: Costs([[0, -1], [1, 0]]), "negative"),
        (lambda: Costs([[0, np.nan], [1, 0]]), "NaN"),
        (lambda: Costs([[0, np.inf], [1, 0]]), "infinity"),
        (lambda: Costs([[1, 1], [1, 0]]), "diagonal"),
        (lambda: Costs([[0, 1], [1, 0]], classes=["a", "a"]), "own label"),
        (lambda: Costs([[0, 1], [1, 0]], classes=["a", "b", "c"]), "own label"),
        (lambda: Costs.from_dict({("a", "b"): 1}), "no cost is given"),
        (lambda: Costs.from_dict({}), "square"),
        (lambda: Asymmetric(-1, 1), ">= 0"),
        (lambda: Asymmetric(0, 0), "positive"),
        (lambda: Asymmetric(1, np.inf), "finite"),
        (lambda: Asymmetric(np.nan, 1), "finite"),
    ],
)
def test_costs_that_make_no_sense_are_refused(make, says):
    with pytest.raises(ParameterError, match=says):
        make()


@pytest.mark.parametrize("loss", [Costs([[0, 1], [2, 0]]), Asymmetric(1, 2)], ids=str)
def test_codes_and_probabilities_of_other_classes_are_refused(loss):
    for y, prediction in [([2], [0]), ([0], [2]), ([-1], [0]), ([0], [-1]), (["a"], [0])]:
        with pytest.raises(DataError):
            loss(y, prediction)
    with pytest.raises(DataError, match="3 classes"):
        loss.bayes_action([0.2, 0.3, 0.5])


@pytest.mark.parametrize(
    "loss",
    [
        Asymmetric(1, 4),
        Asymmetric(1, 4, positive="no"),
        Costs([[0, 2], [1, 0]]),
        Costs([[0, 2], [1, 0]], classes=["yes", "no"]),
    ],
    ids=repr,
)
def test_losses_are_values(loss):
    again = pickle.loads(pickle.dumps(loss.for_classes(["no", "yes"])))
    assert again == loss == copy.deepcopy(loss)
    assert hash(again) == hash(loss)
    assert_array_equal(again.costs(), loss.for_classes(["no", "yes"]).costs())
    assert clone(DummyClassifier(constant=loss)).constant == loss
    assert loss != Costs([[0, 2], [1.5, 0]])
    assert loss != Asymmetric(1, 5)


def test_the_matrix_of_the_user_is_copied_and_ours_is_read_only():
    given = np.array([[0.0, 1.0], [2.0, 0.0]])
    loss = Costs(given)
    given[0, 1] = 9
    assert loss(1, 0) == 1
    with pytest.raises(ValueError, match="read-only"):
        loss.matrix[0, 1] = 9


def test_losses_name_themselves_with_their_parameters():
    assert str(Asymmetric(1, 4)) == "asymmetric(1, 4)"
    assert str(Asymmetric(1, 4, positive="no")) == "asymmetric(1, 4, positive no)"
    assert str(Costs([[0, 0.1], [1, 0]])) == "costs(0 0.1; 1 0)"
    assert str(Costs([[0, 2], [1, 0]], classes=["yes", "no"])) == "costs(yes, no: 0 2; 1 0)"
