"""Losses at the end of a network beside those of `losses`, and their slopes beside differences."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.special import log_softmax

from empirisk.compiled.decorator import compiled
from empirisk.compiled.networks import heads
from empirisk.losses import margin
from empirisk.losses.regression import Absolute, Quantile, Squared
from network_twins import slopes
from tolerances import LAST_BITS, SUMMED

MARGINS = {
    heads.HINGE: margin.Hinge(),
    heads.SQUARED_HINGE: margin.SquaredHinge(),
    heads.LOGIT: margin.Logit(),
    heads.EXPONENTIAL: margin.Exponential(),
    heads.SQUARE: margin.Square(),
    heads.PERCEPTRON: margin.Perceptron(),
}
KINKS = {heads.ABSOLUTE, heads.QUANTILE, heads.HINGE, heads.PERCEPTRON}


@compiled(signatures=2)
def door(kind, number, f, aim, share, delta):
    return heads.head_loss(kind, number, f, aim, share, delta)


def head(kind, f, aim, share, number=0.0, *, compiled=True):
    """(loss, its derivative)."""
    f = np.ascontiguousarray(f)
    aim, share = (np.ascontiguousarray(each, f.dtype) for each in (aim, share))
    delta = np.full_like(f, np.nan)
    loss = (door if compiled else door.py_func)(kind, number, f.copy(), aim, share, delta)
    return loss, delta


def drawn(K, n=23, seed=0):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(K, n)) * 2, rng.uniform(0, 2, size=n), rng


@pytest.mark.parametrize("compiled", [True, False])
@pytest.mark.parametrize("K", [1, 3])
@pytest.mark.parametrize(
    ("kind", "loss", "factor"),
    [
        (heads.SQUARED, Squared(), 0.5),
        (heads.ABSOLUTE, Absolute(), 1.0),
        (heads.QUANTILE, Quantile(0.3), 1.0),
    ],
)
def test_losses_of_numbers(kind, loss, factor, K, compiled):
    f, share, rng = drawn(K)
    y = rng.normal(size=f.shape)
    y[0, :3] = f[0, :3]  # at the kink
    value, delta = head(kind, f, y, share, 0.3, compiled=compiled)
    assert value == pytest.approx(factor * (share * loss(y, f)).sum(), rel=LAST_BITS)
    assert_allclose(delta, factor * share * loss.derivative(y, f), rtol=LAST_BITS, atol=LAST_BITS)


@pytest.mark.parametrize("compiled", [True, False])
def test_counts(compiled):
    f, share, rng = drawn(2)
    y = rng.poisson(3.0, size=f.shape).astype(float)
    value, delta = head(heads.POISSON, f, y, share, compiled=compiled)
    assert value == pytest.approx((share * (np.exp(f) - y * f)).sum(), rel=LAST_BITS)
    assert_allclose(delta, share * (np.exp(f) - y), rtol=LAST_BITS, atol=LAST_BITS)


@pytest.mark.parametrize("compiled", [True, False])
@pytest.mark.parametrize("K", [1, 2, 4])
@pytest.mark.parametrize("kind", MARGINS)
def test_margin_losses_take_each_class_against_the_rest(kind, K, compiled):
    f, share, rng = drawn(K)
    f[0, :2] = [1.0, 0.0]
    code = rng.integers(0, max(K, 2), size=f.shape[1])
    code[:2] = 1 if K == 1 else 0  # at the kinks
    value, delta = head(kind, f, code[None], share, compiled=compiled)
    y = np.where(code == (np.arange(K)[:, None] if K > 1 else 1), 1.0, -1.0)
    loss = MARGINS[kind]
    assert value == pytest.approx((share * loss.value(y * f)).sum(), rel=LAST_BITS)
    assert_allclose(delta, share * y * loss.derivative(y * f), rtol=SUMMED, atol=LAST_BITS)


@pytest.mark.parametrize("compiled", [True, False])
@pytest.mark.parametrize("K", [1, 2, 5])
def test_log_loss_of_two_classes_and_of_more(K, compiled):
    f, share, rng = drawn(K)
    code = rng.integers(0, max(K, 2), size=f.shape[1])
    value, delta = head(heads.LOG, f, code[None], share, compiled=compiled)
    scores = np.vstack([np.zeros(f.shape[1]), f]) if K == 1 else f
    log_p = log_softmax(scores, axis=0)
    rows = np.arange(f.shape[1])
    assert value == pytest.approx(-(share * log_p[code, rows]).sum(), rel=LAST_BITS)
    slope = np.exp(log_p)
    slope[code, rows] -= 1
    assert_allclose(delta, share * slope[-K:], rtol=SUMMED, atol=LAST_BITS)


@pytest.mark.parametrize("K", [1, 3])
@pytest.mark.parametrize("kind", range(11))
def test_slopes_are_those_of_the_loss(kind, K):
    f, share, rng = drawn(K, n=7, seed=kind)
    aim = rng.integers(0, max(K, 2), size=(1 if kind >= heads.LOG else K, 7)).astype(float)
    if kind in KINKS:
        assert np.abs(np.abs(f) - np.round(np.abs(f))).min() > 1e-4  # away from them
    _, delta = head(kind, f, aim, share, 0.7)
    numeric = slopes(lambda scores: head(kind, scores, aim, share, 0.7)[0], f)
    assert_allclose(delta, numeric, rtol=1e-6, atol=1e-8)  # central differences


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("kind", range(11))
def test_extreme_scores_give_finite_numbers(kind, dtype):
    """So that one wild row does not make NaN of all parameters."""
    scores = np.array([-1e4, -200.0, -90.0, 0.0, 90.0, 200.0, 1e4], dtype)
    n = len(scores)
    for K in (1, 3):
        f = np.zeros((K, n), dtype)
        f[0] = scores
        for code in (0.0, 1.0):
            aim = np.full((1 if kind >= heads.LOG else K, n), code)
            loss, delta = head(kind, f, aim, np.full(n, 1 / n), 0.5)
            assert np.isfinite(loss)
            assert np.isfinite(delta).all()


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_log_of_a_probability_as_good_as_nothing(dtype):
    f = np.zeros((3, 4), dtype)
    f[0] = [50.0, 80.0, 1e3, 1e4]
    loss, delta = head(heads.LOG, f, np.ones((1, 4)), np.ones(4))
    assert loss == pytest.approx(11130.0, rel=1e-6)  # log p = -f: float32 scores at f = 50
    expected = np.tile([[1.0], [-1.0], [0.0]], 4)
    assert_allclose(delta, expected, rtol=0, atol=1e-20)  # the third is exp(-50) = 2e-22
    loss, delta = head(heads.LOG, f[:1], np.zeros((1, 4)), np.ones(4))
    assert loss == pytest.approx(11130.0, rel=SUMMED)
    assert_array_equal(delta, np.ones((1, 4)))


@pytest.mark.parametrize("kind", range(11))
def test_rows_of_no_weight_change_nothing(kind):
    f, share, rng = drawn(2)
    aim = rng.integers(0, 2, size=(1 if kind >= heads.LOG else 2, f.shape[1])).astype(float)
    share[::3] = 0.0
    loss, delta = head(kind, f, aim, share, 0.4)
    assert_array_equal(delta[:, ::3], 0)
    kept = share > 0
    fewer, other = head(kind, f[:, kept], aim[:, kept], share[kept], 0.4)
    assert loss == pytest.approx(fewer, rel=LAST_BITS)
    assert_array_equal(delta[:, kept], other)
