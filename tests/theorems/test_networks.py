"""What the notes say of networks. Seeds are fixed; where a test is statistical its margin is wide.

One law stands beside each name; the perceptrons of scikit-learn and a naive twin are elsewhere.
"""

from itertools import pairwise

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.linalg import subspace_angles
from scipy.special import softmax

from empirisk import (
    PCA,
    Activation,
    Autoencoder,
    Bottleneck,
    Dense,
    LogisticRegression,
    MLPClassifier,
    MLPRegressor,
    NetworkClassifier,
    NetworkRegressor,
    lenet5,
)
from empirisk.learners.networks.architecture import Architecture
from empirisk.learners.networks.full_batch import WholeLoss
from empirisk.learners.networks.heads import regression_head
from empirisk.learners.networks.rows import NetworkRows, network_outputs
from empirisk.learners.networks.settings import checked_settings
from empirisk.learners.networks.standardising import Standard
from tolerances import LAST_BITS, SUMMED

TIGHT = {"solver": "lbfgs", "tol": 1e-9, "n_iter_no_change": None, "standardize": False}


def outputs(architecture, params, X):
    plain = Standard(np.zeros(X.shape[1]), np.ones(X.shape[1]))
    return network_outputs(architecture, np.asarray(params, dtype=float), X, plain)


def loss_and_gradient(architecture, params, X, y):
    """Of 1/n sum |y - f|^2 / 2, by back-propagation."""
    plain = Standard(np.zeros(X.shape[1]), np.ones(X.shape[1]))
    settings = checked_settings(MLPRegressor(alpha=0.0))
    rows = NetworkRows(X, plain, y, np.ones(len(X)))
    head = regression_head("squared_error")
    return WholeLoss(architecture, rows, head, settings, 1)(np.asarray(params, dtype=float))


def test_back_propagation_is_the_chain_rule():
    """dL/dtheta_l = dL/df  prod of Jacobians dz_k/dz_(k-1)  dz_l/dtheta_l, all written out."""
    rng = np.random.default_rng(0)
    W1, b1 = rng.normal(size=(4, 3)), rng.normal(size=4)
    W2, b2 = rng.normal(size=(3, 4)), rng.normal(size=3)
    W3, b3 = rng.normal(size=(2, 3)), rng.normal(size=2)
    X, y = rng.normal(size=(5, 3)), rng.normal(size=(5, 2))
    expected = np.zeros(12 + 4 + 12 + 3 + 6 + 2)
    for x, target in zip(X, y, strict=True):
        z1 = np.tanh(W1 @ x + b1)
        z2 = np.tanh(W2 @ z1 + b2)
        f = W3 @ z2 + b3
        D1, D2 = np.diag(1 - z1**2), np.diag(1 - z2**2)
        # Jacobians by the layer's own (W, b): rows are outputs, columns parameters.
        J1 = D1 @ np.hstack([np.kron(np.eye(4), x), np.eye(4)])
        J2 = D2 @ np.hstack([np.kron(np.eye(3), z1), np.eye(3)])
        J3 = np.hstack([np.kron(np.eye(2), z2), np.eye(2)])
        up = f - target
        expected += np.concatenate([up @ W3 @ D2 @ W2 @ J1, up @ W3 @ J2, up @ J3]) / 5
    net = Architecture((3,), [Dense(4, "tanh"), Dense(3, "tanh"), Dense(2, "identity")])
    params = np.concatenate([part.ravel() for part in (W1, b1, W2, b2, W3, b3)])
    assert_allclose(loss_and_gradient(net, params, X, y)[1], expected, rtol=SUMMED, atol=SUMMED)


def test_linear_layers_are_one_linear_layer():
    """W2 (W1 x + b1) + b2 = (W2 W1) x + (W2 b1 + b2)."""
    rng = np.random.default_rng(0)
    W1, b1 = rng.normal(size=(5, 3)), rng.normal(size=5)
    W2, b2 = rng.normal(size=(2, 5)), rng.normal(size=2)
    X = rng.normal(size=(7, 3))
    two = Architecture((3,), [Dense(5, "identity"), Dense(2, "identity")])
    one = Architecture((3,), [Dense(2, "identity")])
    deep = outputs(two, np.concatenate([W1.ravel(), b1, W2.ravel(), b2]), X)
    merged = np.concatenate([(W2 @ W1).ravel(), W2 @ b1 + b2])
    assert_allclose(deep, outputs(one, merged, X), rtol=SUMMED, atol=SUMMED)


def root_mean_square(activation, width):
    """The error of a network of this width on the parabola, the best of five starts."""
    x = np.linspace(-1, 1, 201)[:, np.newaxis]
    y = x[:, 0] ** 2
    net = MLPRegressor(
        hidden_layer_sizes=width, activation=activation, alpha=0.0, n_starts=5, max_iter=1000,
        random_state=0, **TIGHT,
    ).fit(x, y)  # fmt: skip
    return np.sqrt(((net.predict(x) - y) ** 2).mean())


def test_wider_networks_of_rectifiers_come_closer_to_a_parabola():
    errors = [root_mean_square("relu", width) for width in (1, 2, 4, 8, 16)]
    assert all(wide < 0.75 * narrow for narrow, wide in pairwise(errors))
    assert errors[-1] < 0.01 < 0.1 < errors[0]


def test_two_sigmoids_come_as_close_to_a_parabola_as_one_likes():
    """One has no minimum; the sum of two, mirrored, is even and has a curvature at 0."""
    one, two, many = (root_mean_square("logistic", width) for width in (1, 2, 16))
    assert one > 0.2
    assert max(two, many) < 0.005


def test_rectifiers_interpolate_any_function_with_an_error_of_the_width_squared():
    """m knots give a broken line: the error on x^2 is h^2 / 4 / 4 with knots h apart."""
    fine = np.linspace(0, 1, 4001)[:, np.newaxis]
    for m in (4, 8, 16):
        knots = np.arange(m) / m
        slopes = 2 * knots + 1 / m  # of the chords of x^2
        steps = np.diff(slopes, prepend=0.0)
        net = Architecture((1,), [Dense(m), Dense(1, "identity")])
        f = outputs(net, np.concatenate([np.ones(m), -knots, steps, [0.0]]), fine)
        assert_allclose(np.abs(f - fine**2).max(), 1 / (4 * m**2), rtol=SUMMED)


def test_two_sigmoids_make_a_bump():
    """sigma(w x + b) - sigma(w x + b - 10) peaks in the middle, at tanh 2.5 = 0.98661."""
    w, b = 20.0, -3.0
    net = Architecture((1,), [Dense(2, "sigmoid"), Dense(1, "identity")])
    params = [w, w, b, b - 10.0, 1.0, -1.0, 0.0]
    middle = (5.0 - b) / w
    x = middle + np.linspace(-2, 2, 4001)[:, np.newaxis]
    f = outputs(net, params, x)[:, 0]
    assert_allclose(f.max(), np.tanh(2.5), rtol=SUMMED)
    assert_allclose(f.max(), 0.98661, rtol=0, atol=5e-6)  # five digits
    assert_allclose(x[f.argmax(), 0], middle, rtol=0, atol=SUMMED)
    assert max(f[0], f[-1]) < 1e-10


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("alpha", [1.0, 20.0])
def test_a_network_without_hidden_layers_is_softmax_regression(classes, alpha):
    """1/n sum log loss + alpha / n |W|^2 / 2 is C sum log loss + |W|^2 / 2 at C = 1 / alpha."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(150, 4))
    y = np.digitize(X @ [1.0, -1.0, 0.5, 0.0] + rng.logistic(size=150), [0.0, 1.0][: classes - 1])
    net = MLPClassifier((), alpha=alpha, max_iter=2000, random_state=0, **TIGHT).fit(X, y)
    same = NetworkClassifier([], alpha=alpha, max_iter=2000, random_state=1, **TIGHT).fit(X, y)
    regression = LogisticRegression(C=1 / alpha).fit(X, y)
    # No derivative is above tol, which the curvature of the penalty turns into 1e-7 of W.
    assert_allclose(net.predict_proba(X), regression.predict_proba(X), rtol=0, atol=1e-6)
    assert_allclose(same.predict_proba(X), regression.predict_proba(X), rtol=0, atol=1e-6)
    W = np.asarray(regression.coef_)
    found = net.coefs_[0].T
    assert_allclose(found, W.reshape(found.shape), rtol=0, atol=1e-6)  # as above


def test_softmax_of_1_2_3():
    """Also of 101, 102, 103; the ratio map does not have that."""
    net = Architecture((3,), [Activation("softmax")])
    rows = np.array([[1.0, 2.0, 3.0], [101.0, 102.0, 103.0]])
    # Four digits are printed.
    assert_allclose(outputs(net, [], rows), [[0.0900, 0.2447, 0.6652]] * 2, rtol=0, atol=5e-5)
    assert_allclose(outputs(net, [], rows), softmax(rows, axis=1), rtol=LAST_BITS)
    assert np.ptp(rows / rows.sum(axis=1, keepdims=True), axis=0).max() > 0.15


def spiked(n=120, p=6, seed=0):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, p)) * [4.0, 3.0, 2.0, 1.0, 0.5, 0.3] @ np.linalg.qr(
        rng.normal(size=(p, p))
    )[0] + rng.normal(size=p)


@pytest.mark.parametrize("K", [1, 2, 3])
def test_a_linear_autoencoder_spans_the_principal_axes(K):
    """Baldi & Hornik 1989: all local minima are global, and lie there; the risk is PCA's."""
    X = spiked()
    net = Autoencoder(
        K, alpha=0.0, solver="lbfgs", tol=1e-9, max_iter=2000, n_iter_no_change=None, random_state=K
    ).fit(X)
    pca = PCA(K).fit(X)
    axes = np.asarray(pca.components_).T
    decoder = net._architecture.weights(net.params_)[-1]
    assert subspace_angles(decoder, axes).max() < 1e-3  # radians; the loss is exact to 2e-9
    values = np.linalg.svd(X - X.mean(axis=0), compute_uv=False) ** 2
    found = net.losses_of_rows(X).mean()
    # L-BFGS ends where a step lowers the loss by less than 2e-9 of it, some hundred steps early.
    assert_allclose(found, pca.losses_of_rows(X).mean(), rtol=1e-6)
    assert_allclose(found, values[K:].sum() / len(X), rtol=1e-6)
    # What is lost of the loss, about 4, is the mean square of this difference: its root.
    assert_allclose(net.reconstruct(X), pca.reconstruct(X), rtol=0, atol=2e-3)


def test_the_least_squares_of_the_factors_of_a_matrix_is_twice_its_nuclear_norm():
    """min |A|^2 + |B|^2 over A B = W: at A = U S^1/2, B = S^1/2 V'; every other pair has more."""
    rng = np.random.default_rng(0)
    W = rng.normal(size=(4, 3))
    U, s, V = np.linalg.svd(W, full_matrices=False)
    A, B = U * np.sqrt(s), np.sqrt(s)[:, np.newaxis] * V
    assert_allclose(A @ B, W, rtol=0, atol=SUMMED)
    assert_allclose((A**2).sum() + (B**2).sum(), 2 * s.sum(), rtol=SUMMED)
    for _ in range(200):
        G = np.eye(3) + rng.uniform(0, 1) * rng.normal(size=(3, 3))
        other = ((A @ G) ** 2).sum() + (np.linalg.solve(G, B) ** 2).sum()
        assert other >= 2 * s.sum() * (1 - 1e-12)


def test_a_penalised_linear_pair_of_layers_is_penalised_by_the_nuclear_norm():
    """With X'X = I the minimiser of |Y - X W|^2 / 2 + alpha |W|_* thresholds the singular values.

    The network minimises |Y - X W|^2 / 2 + alpha (|A|^2 + |B|^2) / 2 over W = A B, times 1/n.
    """
    rng = np.random.default_rng(0)
    n, p, q, alpha = 12, 5, 4, 1.0
    X = np.linalg.qr(rng.normal(size=(n, p)))[0]
    X = np.vstack([X, -X]) / np.sqrt(2)  # so that no output needs its bias
    truth = rng.normal(size=(p, 2)) @ rng.normal(size=(2, q))
    Y = X @ truth + 0.05 * np.vstack([1, -1])[:, :, np.newaxis].repeat(n, 1).reshape(-1, 1) * (
        np.vstack([rng.normal(size=(n, q))] * 2)
    )
    U, s, V = np.linalg.svd(X.T @ Y, full_matrices=False)
    wanted = U * np.maximum(s - alpha, 0) @ V
    assert (s > alpha).sum() == 2
    net = NetworkRegressor(
        [Bottleneck(q)], alpha=alpha, max_iter=5000, n_starts=3, random_state=0, **TIGHT
    ).fit(X, Y)
    A, B = net._architecture.weights(net.params_)
    found = (B @ A).T
    assert_allclose(found, wanted, rtol=0, atol=0.002)  # flat where a singular value is cut to 0
    assert_allclose((A**2).sum() + (B**2).sum(), 2 * np.maximum(s - alpha, 0).sum(), rtol=1e-3)
    singular = np.linalg.svd(found, compute_uv=False)
    assert (singular[2:] < 1e-3).all()


def test_the_risk_of_a_network_falls_twice():
    """Without a penalty it is worst with about as many parameters as rows: 43 beside 40.

    The means of 6 draws, at 8, 22, 43 and 211 parameters; widths and margins were
    chosen on these seeds.
    """
    risks = {width: [] for width in (1, 3, 6, 30)}
    fits = {width: [] for width in risks}
    for seed in range(6):
        rng = np.random.default_rng(seed)
        X, test = rng.normal(size=(40, 5)), rng.normal(size=(400, 5))
        y = X.sum(axis=1) / np.sqrt(5) + 0.7 * rng.normal(size=40)
        for width in risks:
            net = MLPRegressor(
                hidden_layer_sizes=width, activation="tanh", alpha=0.0, solver="lbfgs",
                max_iter=400, tol=1e-6, n_iter_no_change=None, random_state=seed,
            ).fit(X, y)  # fmt: skip
            risks[width].append(((net.predict(test) - test.sum(axis=1) / np.sqrt(5)) ** 2).mean())
            fits[width].append(((net.predict(X) - y) ** 2).mean())
    simple, more, peak, wide = (np.mean(each) for each in risks.values())
    assert simple < more < peak
    assert peak > 1.6 * wide
    assert np.mean(fits[3]) > 0.05
    assert np.mean(fits[30]) < 1e-4  # it interpolates


def test_parameter_counts():
    """One hidden layer of m units on p features: m p + 2 m + 1; LeNet-5: 61,706."""
    for p, m in ((1, 1), (3, 5), (10, 100)):
        X = np.random.default_rng(0).normal(size=(12, p))
        net = MLPRegressor(hidden_layer_sizes=m, solver="lbfgs", max_iter=1, n_iter_no_change=None)
        assert len(net.fit(X, X[:, 0]).params_) == m * p + 2 * m + 1
    whole = Architecture((1, 28, 28), [*lenet5(), Dense(10, "identity")])
    counts = [part.n_parameters for part in whole.parts if part.n_parameters]
    assert counts == [156, 2416, 48120, 10164, 850]
    assert whole.n_parameters == sum(counts) == 61706


def first_over_last(activation, initialization, depth=10):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 10))
    net = MLPRegressor(
        hidden_layer_sizes=(20,) * depth, activation=activation, initialization=initialization,
        solver="sgd", learning_rate_init=1e-6, max_iter=1, batch_size=400, alpha=0.0,
        n_iter_no_change=None, random_state=0,
    ).fit(X, X[:, 0])  # fmt: skip
    norms = net.gradient_norms_[0]
    assert norms.shape == (depth + 1,)
    return norms[0] / norms[-1]


def test_gradients_vanish_in_deep_sigmoid_networks_and_not_behind_rectifiers():
    """A sigmoid's slope is 1/4 at most: ten layers leave little of the gradient."""
    assert first_over_last("logistic", "glorot") < 1e-4
    assert first_over_last("relu", "he") > 0.05
