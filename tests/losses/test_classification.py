"""0-1 and log loss, class codes and probabilities."""

import copy
import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.dummy import DummyClassifier
from sklearn.metrics import brier_score_loss, log_loss, zero_one_loss

from empirisk.losses import Brier, Log, ZeroOne, class_frequencies
from empirisk.runtime.errors import DataError
from tolerances import LAST_BITS, SUMMED


def normalised(counts):
    counts = counts + (counts.sum(axis=1, keepdims=True) == 0)
    return counts / counts.sum(axis=1, keepdims=True)


def probabilities(max_classes=5):
    """Three vectors of class probabilities, zeros and ties among them."""
    shapes = st.tuples(st.just(3), st.integers(1, max_classes))
    return hnp.arrays(float, shapes, elements=st.integers(0, 20)).map(normalised)


def random_rows(n, n_classes, seed=0):
    return np.random.default_rng(seed).dirichlet(np.ones(n_classes), size=n)


def test_zero_one_loss_agrees_with_scikit_learn():
    y, prediction = np.random.default_rng(0).integers(0, 3, size=(2, 100))
    assert_allclose(ZeroOne()(y, prediction).mean(), zero_one_loss(y, prediction), rtol=LAST_BITS)


def test_zero_one_loss_compares_labels_of_any_kind():
    loss = ZeroOne()
    assert_array_equal(loss(["a", "b"], np.array(["a", "a"], object)), [0, 1])
    assert_array_equal(loss([True, False], [1, 1]), [0, 1])
    assert_array_equal(
        loss(np.array([0, 1])[:, None], [[0, 1, 2], [0, 1, 1]]), [[0, 1, 1], [1, 0, 0]]
    )
    with pytest.raises(DataError, match="never equal"):
        loss(["a", "b"], [0, 1])


def test_of_equally_probable_classes_the_first_is_predicted_as_in_scikit_learn():
    y = [0, 1, 1, 2, 2]
    dummy = DummyClassifier(strategy="prior").fit(np.zeros((5, 1)), y)
    assert ZeroOne().best_constant(y) == dummy.predict([[0]])[0] == 1
    assert ZeroOne().bayes_action([0.5, 0.5]) == 0


@given(probabilities())
@settings(max_examples=50, deadline=None)
def test_zero_one_bayes_risk_is_one_minus_the_largest_probability(p):
    loss = ZeroOne()
    assert_allclose(loss.bayes_risk(p), 1 - p.max(axis=1), rtol=SUMMED)
    assert_allclose(p[range(3), loss.bayes_action(p)], p.max(axis=1), rtol=SUMMED)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_log_loss_agrees_with_scikit_learn_at_zero_and_one_too(dtype):
    p = random_rows(60, 3).astype(dtype)
    p[:2], p[2:4] = [1, 0, 0], [0, 1, 0]
    y = np.arange(60) % 3
    each = [log_loss([k], row[None], labels=[0, 1, 2]) for k, row in zip(y, p, strict=True)]
    # scikit-learn also lowers a probability of 1 by the machine precision of its type.
    assert_allclose(
        Log()(y, p), each, rtol=1e-6 if dtype == np.float32 else 1e-14, atol=np.finfo(dtype).eps
    )


def test_log_loss_stays_finite_and_within_its_bounds():
    loss = Log()
    low, high = loss.bounds
    found = loss([0, 1], [[0.0, 1.0], [0.0, 1.0]])
    assert_array_equal(found, [high, low])
    assert_allclose(high, 36.04365338911715, rtol=SUMMED)


def test_log_loss_broadcasts_rows_against_values():
    rng = np.random.default_rng(1)
    p = rng.dirichlet(np.ones(3), size=(6, 4))
    y = rng.integers(0, 3, 6)
    apart = [[-np.log(p[i, j, y[i]]) for j in range(4)] for i in range(6)]
    assert_allclose(Log()(y[:, None], p), apart, rtol=LAST_BITS)
    assert Log()(y, [0.2, 0.3, 0.5]).shape == (6,)
    assert Log()(1, [0.2, 0.3, 0.5]) == -np.log(0.3)


def test_derivative_of_the_log_loss_is_the_numeric_one():
    p, y, h = random_rows(20, 3, seed=2) * 0.9 + 0.1 / 3, np.arange(20) % 3, 1e-6
    gradient = Log().derivative(y, p)
    for k in range(3):
        step = h * np.eye(3)[k]
        numeric = (Log()(y, p + step) - Log()(y, p - step)) / (2 * h)
        assert_allclose(
            gradient[:, k], numeric, rtol=0, atol=1e-07
        )  # h² p^-3 / 3, and rounding 1e-16 / h


def test_derivative_of_the_log_loss_is_zero_where_the_loss_is_constant():
    assert_array_equal(Log().derivative([0, 1], [[0.0, 1.0], [0.0, 1.0]]), [[0, 0], [0, -1]])


@given(probabilities(), st.integers(0, 2**31))
@settings(max_examples=50, deadline=None)
def test_cross_entropy_is_at_least_the_entropy_and_least_at_the_truth(p, seed):
    loss, k = Log(), p.shape[1]
    rival = np.random.default_rng(seed).dirichlet(np.ones(k))
    for row in p:
        cross_entropy = loss(np.arange(k), rival) @ row
        assert loss.bayes_risk(row) <= cross_entropy + 1e-12
        # A probability of 0 is raised to 2e-16, but has no weight.
        assert_allclose(
            loss(np.arange(k), loss.bayes_action(row)) @ row,
            loss.bayes_risk(row),
            rtol=0,
            atol=1e-12,
        )
    assert (loss.bayes_risk(p) <= np.log(k) + 1e-12).all()


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("n_classes", [2, 3, 5])
def test_brier_agrees_with_scikit_learn_which_halves_it_for_two_classes(n_classes, dtype):
    p = random_rows(60, n_classes).astype(dtype)
    p[:2], p[2:4] = np.eye(n_classes)[0], np.eye(n_classes)[1]
    y, labels = np.arange(60) % n_classes, np.arange(n_classes)
    each = [brier_score_loss([k], row[None], labels=labels) for k, row in zip(y, p, strict=True)]
    # Single precision is 6e-8, some roundings of it.
    assert_allclose(Brier()(y, p), each, rtol=1e-6 if dtype == np.float32 else LAST_BITS)
    if n_classes == 2:
        positive = [
            brier_score_loss([k], row[1:], pos_label=1) for k, row in zip(y, p, strict=True)
        ]
        # The peer takes 1 - p for the other probability: single precision is 6e-8 of 1, not of it.
        assert_allclose(Brier()(y, p), positive, rtol=1e-5 if dtype == np.float32 else SUMMED)


@pytest.mark.parametrize(("classes", "most"), [(["a", "b"], 1), (range(3), 2), (range(9), 2)])
def test_brier_stays_within_bounds_that_know_the_classes(classes, most):
    loss, k = Brier().for_classes(classes), len(classes)
    assert loss.bounds == (0, most)
    assert Brier().bounds == (0, 2)  # that of many
    assert_array_equal(loss([0, 1], np.eye(k)[[0, 0]]), [0, most])
    assert loss == Brier()
    assert str(loss) == "brier"


def test_brier_broadcasts_rows_against_values():
    rng = np.random.default_rng(1)
    p, y = rng.dirichlet(np.ones(3), size=(6, 4)), rng.integers(0, 3, 6)
    apart = [[((p[i, j] - np.eye(3)[y[i]]) ** 2).sum() for j in range(4)] for i in range(6)]
    assert_allclose(Brier()(y[:, None], p), apart, rtol=LAST_BITS)
    assert Brier()(y, [0.2, 0.3, 0.5]).shape == (6,)


@pytest.mark.parametrize("n_classes", [2, 4])
def test_derivative_of_brier_is_the_numeric_one(n_classes):
    p, y, h = random_rows(20, n_classes, seed=2), np.arange(20) % n_classes, 2.0**-16
    gradient = Brier().derivative(y, p)
    for k in range(n_classes):
        step = h * np.eye(n_classes)[k]
        numeric = (Brier()(y, p + step) - Brier()(y, p - step)) / (2 * h)
        assert_allclose(
            gradient[:, k], numeric, rtol=0, atol=1e-10
        )  # quadratic: rounding 1e-16 / h alone


def test_best_constants_of_weighted_codes():
    y, weight = [0, 1, 1, 2], [5, 1, 1, 0]
    assert ZeroOne().best_constant(y, weight) == 0
    assert_array_equal(Log().best_constant(y, weight, n_classes=4), [5 / 7, 2 / 7, 0, 0])
    assert_array_equal(Brier().best_constant(y, weight, n_classes=4), [5 / 7, 2 / 7, 0, 0])
    assert_array_equal(
        Log().best_constant(y, weight), Log().best_constant([0, 0, 0, 0, 0, 1, 1], n_classes=3)
    )


@pytest.mark.parametrize("scale", [1e-200, 1.0, 1e200, 1e307])
def test_class_frequencies_count_weights_at_any_scale(scale):
    rng = np.random.default_rng(3)
    sample, weight = rng.integers(0, 4, size=(2, 5, 30)), rng.uniform(size=30)
    found = class_frequencies(sample, weight * scale, n_classes=4)
    naive = np.stack([(weight * (sample == k)).sum(-1) for k in range(4)], -1) / weight.sum()
    assert_allclose(found, naive, rtol=LAST_BITS)


@pytest.mark.parametrize(
    "p, says",
    [
        ([0.5, 0.6], "sum to one but, for instance, to 1.1"),
        ([[0.5, 0.5], [0.0, 0.0]], "1 rows"),
        ([1.5, -0.5], "negative"),
        ([0.5, np.nan], "NaN"),
        ([np.inf, 0.5], "sum"),
        (0.5, "last axis"),
        (np.empty((3, 0)), "last axis"),
    ],
)
def test_what_is_no_vector_of_probabilities_is_refused(p, says):
    for use in (ZeroOne().bayes_action, Log().bayes_risk, lambda p: Log()(0, p)):
        with pytest.raises(DataError, match=says):
            use(p)


def test_rounding_errors_of_probabilities_are_forgiven():
    p = [1.00001, -0.00001]
    assert_allclose(Log()([0, 1], p), Log().bounds, rtol=SUMMED)
    # The slope at 1 is 1: the error of p, twice.
    assert_allclose(Log().bayes_risk(p), 0, rtol=0, atol=2e-5)
    assert ZeroOne().bayes_action(p) == 0


@pytest.mark.parametrize(
    "codes, says",
    [
        ([0, 3], "0 to 3"),
        ([-1, 0], "-1 to 0"),
        (["a", "b"], "integer codes"),
        ([0.5, 1], "integer"),
    ],
)
def test_what_is_no_class_code_is_refused(codes, says):
    with pytest.raises(DataError, match=says):
        Log()(codes, random_rows(2, 3))
    with pytest.raises(DataError, match=says):
        class_frequencies(codes, n_classes=3)


def test_whole_floats_are_codes():
    assert_array_equal(class_frequencies([0.0, 1.0]), [0.5, 0.5])


@pytest.mark.parametrize("sample", [[], 1])
def test_no_codes_have_no_frequencies(sample):
    with pytest.raises(DataError, match="no classes"):
        class_frequencies(sample)


def test_the_bayes_action_does_not_share_memory_with_the_input():
    p = np.array([0.5, 0.5])
    for loss in (Log(), Brier()):
        loss.bayes_action(p)[0] = 9
    assert p[0] == 0.5


@pytest.mark.parametrize("loss", [ZeroOne(), Log(), Brier()], ids=str)
def test_losses_are_values(loss):
    assert pickle.loads(pickle.dumps(loss)) == loss == copy.deepcopy(loss)
    assert loss.for_classes(["a", "b"]) == loss
    assert hash(loss.for_classes(["a", "b"])) == hash(loss)
