"""Perceptrons beside a naive twin, beside scikit-learn, and in the units of X and y."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.special import expit, softmax
from sklearn import neural_network
from sklearn.exceptions import ConvergenceWarning as PeerWarning

import mlp_twin as twin
from empirisk import MLPClassifier, MLPRegressor
from empirisk.runtime.errors import DataError, DivergenceError
from empirisk.solvers.steps import Decaying
from tolerances import SOLVED, SUMMED

RNG = np.random.default_rng(0)
X = RNG.normal(size=(90, 3))
SCORE = X @ [1.0, -2.0, 0.5] + X[:, 0] * X[:, 1]
Y = SCORE + 0.3 * RNG.normal(size=90)
TWO = (SCORE > 0).astype(int)
THREE = np.digitize(SCORE, [-1.0, 1.0])
COUNTS = RNG.poisson(np.exp(0.4 * SCORE.clip(-2, 3))).astype(float)
PLAIN = {"n_iter_no_change": None, "random_state": 3, "standardize": False}

REGRESSION = {"squared_error": twin.squared, "poisson": twin.poisson, "absolute": twin.absolute}
SETTINGS = [
    {"solver": "adam"},
    {"solver": "adam", "alpha": 2.0, "l1_ratio": 0.3},
    {"solver": "sgd", "learning_rate_init": 0.05},
    {"solver": "sgd", "learning_rate_init": 0.05, "nesterovs_momentum": False, "alpha": 1.0},
    {"solver": "sgd", "learning_rate_init": 0.1, "momentum": 0.0},
    {"solver": "sgd", "learning_rate_init": 0.1, "max_grad_norm": 0.3, "alpha": 1.0},
    {"solver": "adam", "max_grad_norm": 0.3},
    {"solver": "adam", "learning_rate": Decaying(0.01, 20.0, 0.75)},
    {"solver": "sgd", "learning_rate": Decaying(0.1, 20.0, 0.75)},
    {"solver": "adam", "initialization": "he"},
    {"solver": "adam", "shuffle": False},
]


def twin_of(net, sizes, activation, loss, y, weight=None):
    """What the twin makes of the same settings, from the same start and in the same order."""
    start, draw = twin.start_of(net.random_state, sizes, activation, net.initialization)
    decaying = isinstance(net.learning_rate, Decaying)
    return twin.trained(
        start, draw if net.shuffle else None, sizes, activation, loss, X, y,
        np.ones(len(X)) if weight is None else weight,
        epochs=net.max_iter, batch=net.batch_size, solver=net.solver, rate=net.learning_rate_init,
        momentum=net.momentum, nesterov=net.nesterovs_momentum, alpha=net.alpha,
        l1_ratio=net.l1_ratio, longest=net.max_grad_norm,
        length=net.learning_rate.length if decaying else None,
    )  # fmt: skip


@pytest.mark.parametrize("settings", SETTINGS, ids=str)
@pytest.mark.parametrize("batch", [7, 90])
def test_training_equals_that_of_the_twin(settings, batch):
    net = MLPRegressor(
        hidden_layer_sizes=(5, 4), activation="tanh", batch_size=batch, max_iter=6,
        **PLAIN, **settings,
    ).fit(X, Y)  # fmt: skip
    params, curve = twin_of(net, [3, 5, 4, 1], "tanh", twin.squared, Y[:, np.newaxis])
    assert_allclose(net.params_, params, rtol=1e-9, atol=1e-10)  # sums in another order
    assert_allclose(net.loss_curve_, curve, rtol=1e-10)


@pytest.mark.parametrize("activation", twin.ACTIVATIONS)
@pytest.mark.parametrize("classes", [TWO, THREE], ids=["two", "three"])
def test_training_on_classes_equals_that_of_the_twin(activation, classes):
    net = MLPClassifier((6,), activation, batch_size=16, max_iter=5, alpha=0.5, **PLAIN)
    net.fit(X, classes)
    k = 1 if classes.max() == 1 else 3
    params, curve = twin_of(net, [3, 6, k], activation, twin.log_loss, classes[:, np.newaxis])
    assert_allclose(net.params_, params, rtol=SUMMED, atol=SUMMED)
    assert_allclose(net.loss_curve_, curve, rtol=SUMMED)
    raw = twin.outputs(params, [3, 6, k], activation, X)[0]
    probabilities = softmax(raw, axis=1) if k > 1 else np.hstack([expit(-raw), expit(raw)])
    assert_allclose(net.predict_proba(X), probabilities, rtol=0, atol=SUMMED)


@pytest.mark.parametrize("loss", REGRESSION)
@pytest.mark.parametrize("outputs", [1, 2])
def test_training_with_weights_equals_that_of_the_twin(loss, outputs):
    y = np.column_stack([COUNTS, COUNTS[::-1]])[:, :outputs]
    weight = RNG.uniform(0.5, 2.0, size=90)
    net = MLPRegressor(loss, 4, "logistic", batch_size=32, max_iter=5, **PLAIN)
    net.fit(X, y[:, 0] if outputs == 1 else y, sample_weight=weight)
    sizes = [3, 4, outputs]
    params, curve = twin_of(net, sizes, "logistic", REGRESSION[loss], y, weight)
    assert_allclose(net.params_, params, rtol=SUMMED, atol=SUMMED)
    assert_allclose(net.loss_curve_, curve, rtol=SUMMED)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("kind", ["values", "two", "three"])
def test_lbfgs_finds_what_scikit_learn_finds_from_the_same_start(seed, kind):
    """Curvature amplifies rounding along the way: 2e-13 seen after 15 iterations."""
    settings = {"activation": "tanh", "solver": "lbfgs", "alpha": 1.0, "max_iter": 15}
    y = {"values": Y, "two": TWO, "three": THREE}[kind]
    ours, theirs = (MLPRegressor, neural_network.MLPRegressor)
    if kind != "values":
        ours, theirs = (MLPClassifier, neural_network.MLPClassifier)
    k = 3 if kind == "three" else 1
    start, _ = twin.start_of(seed, [3, 5, k], "tanh")
    peer = from_start(theirs(hidden_layer_sizes=5, **settings), start, [3, 5, k], y)
    with pytest.warns(PeerWarning):
        peer.fit(X, y)
    net = ours(hidden_layer_sizes=5, **settings, **{**PLAIN, "random_state": seed}).fit(X, y)
    assert_allclose(net.loss_, peer.loss_, rtol=SOLVED)
    for one, other in zip(net.coefs_, peer.coefs_, strict=True):
        assert_allclose(one, other, rtol=SOLVED, atol=SOLVED)


def from_start(peer, start, sizes, y):
    """A network of scikit-learn that will begin with these parameters."""
    few = peer.max_iter
    with pytest.warns(PeerWarning):
        peer.set_params(max_iter=1, warm_start=True).fit(X, y)
    layers = twin.unpacked(start, sizes)
    peer.coefs_ = [W.T.copy() for W, _ in layers]
    peer.intercepts_ = [b.copy() for _, b in layers]
    peer.loss_curve_, peer.best_loss_, peer._no_improvement_count = [], np.inf, 0
    peer.t_ = peer.n_iter_ = 0
    return peer.set_params(max_iter=few)


RATES = [
    {"solver": "sgd", "learning_rate": "adaptive", "learning_rate_init": 0.2, "tol": 0.02},
    {"solver": "sgd", "learning_rate": "adaptive", "learning_rate_init": 4e-6, "tol": 0.02},
    {"solver": "sgd", "learning_rate": "invscaling", "learning_rate_init": 0.5, "tol": 1e-9},
    {"solver": "sgd", "learning_rate": "invscaling", "learning_rate_init": 0.5, "power_t": 0.3},
    {"solver": "sgd", "learning_rate_init": 0.05, "tol": 0.01},
    {"solver": "adam", "learning_rate_init": 0.01, "tol": 0.01},
]


@pytest.mark.filterwarnings("ignore:Stochastic Optimizer")
@pytest.mark.filterwarnings("ignore:MLPRegressor was trained")
@pytest.mark.parametrize("settings", RATES, ids=str)
@pytest.mark.parametrize("patience", [1, 4])
def test_rates_and_endings_are_those_of_scikit_learn(settings, patience):
    common = {
        "hidden_layer_sizes": 5, "activation": "tanh", "alpha": 0.0, "batch_size": 20,
        "shuffle": False, "max_iter": 150, "n_iter_no_change": patience, **settings,
    }  # fmt: skip
    start, _ = twin.start_of(3, [3, 5, 1], "tanh")
    peer = from_start(neural_network.MLPRegressor(**common), start, [3, 5, 1], Y).fit(X, Y)
    net = MLPRegressor(**{**PLAIN, **common}).fit(X, Y)
    assert net.n_iter_ == peer.n_iter_
    assert net.t_ == peer.t_
    assert_allclose(net.loss_curve_, peer.loss_curve_, rtol=1e-8)  # rounding grows with steps
    for one, other in zip(net.coefs_, peer.coefs_, strict=True):
        assert_allclose(one, other, rtol=SOLVED, atol=SOLVED)


def by_hand(net, rows, activation):
    z, layers = rows, list(zip(net.coefs_, net.intercepts_, strict=True))
    for W, b in layers[:-1]:
        z = twin.ACTIVATIONS[activation][0](z @ W + b)
    W, b = layers[-1]
    return z @ W + b


@pytest.mark.parametrize("standardize", [True, False])
@pytest.mark.parametrize("loss", ["squared_error", "absolute_error", "poisson", "quantile:0.8"])
def test_coefficients_in_units_give_the_predictions(standardize, loss):
    rows = X * [10.0, 0.1, 1.0] + [5.0, 0.0, -3.0]
    net = MLPRegressor(
        loss, (6, 4), "tanh", max_iter=10, n_iter_no_change=None, standardize=standardize,
        random_state=0,
    ).fit(rows, 7 * COUNTS)  # fmt: skip
    found = by_hand(net, rows, "tanh")[:, 0]
    assert_allclose(net.predict(rows), np.exp(found) if loss == "poisson" else found, rtol=SUMMED)
    assert net.out_activation_ == ("exp" if loss == "poisson" else "identity")


@pytest.mark.parametrize("classes", [TWO, THREE], ids=["two", "three"])
def test_coefficients_in_units_give_the_scores_of_classes(classes):
    rows = X * [10.0, 0.1, 1.0] + [5.0, 0.0, -3.0]
    net = MLPClassifier(6, max_iter=10, n_iter_no_change=None, random_state=0).fit(rows, classes)
    assert_allclose(
        net.decision_function(rows), by_hand(net, rows, "relu").squeeze(), rtol=SUMMED, atol=SUMMED
    )
    assert net.out_activation_ == ("logistic" if classes is TWO else "softmax")


def test_several_outputs_are_predicted_together():
    both = np.column_stack([Y, 100 - 3 * Y])
    net = MLPRegressor(hidden_layer_sizes=20, solver="lbfgs", random_state=0)
    net.set_params(n_iter_no_change=None).fit(X, both)
    assert net.predict(X).shape == (90, 2)
    assert_allclose(net.predict(X), by_hand(net, X, "relu"), rtol=SOLVED)
    assert net.score(X, both) > 0.9


@pytest.mark.parametrize("q", [0.1, 0.5, 0.9])
def test_a_quantile_network_leaves_so_many_values_below(q):
    rng = np.random.default_rng(1)
    x = rng.uniform(-1, 1, size=(400, 1))
    y = x[:, 0] ** 2 + (1 + x[:, 0]) * rng.normal(size=400)
    net = MLPRegressor(
        f"quantile:{q}", 20, "tanh", learning_rate_init=0.01, max_iter=150, random_state=0,
        learning_rate=Decaying(0.02, 50.0, 0.75), n_iter_no_change=None,
    ).fit(x, y)  # fmt: skip
    # By the bias of the output the mean slope of the loss is this difference, 0 at the minimum. The
    # last steps are 0.0046 long in each of 21 parameters of the output: they move it by 0.1 at most
    # and the share by 0.04, where values have a density of 0.4.
    near = 0.05
    assert abs((y <= net.predict(x)).mean() - q) < near
    if q == 0.5:
        same = net.set_params(loss="absolute_error").fit(x, y)
        assert abs((y <= same.predict(x)).mean() - q) < near


def test_negative_counts_are_refused():
    with pytest.raises(DataError, match="negative"):
        MLPRegressor("poisson").fit(X, Y)


@pytest.mark.parametrize("solver", ["adam", "sgd"])
def test_a_huge_learning_rate_diverges_with_advice(solver):
    net = MLPRegressor(
        hidden_layer_sizes=(5, 5), solver=solver, learning_rate_init=1e200, max_iter=50,
        random_state=0,
    )  # fmt: skip
    with pytest.raises(DivergenceError, match=r"learning_rate_init is 1e\+200.*max_grad_norm"):
        net.fit(X, Y)


def test_single_precision_is_kept_and_close_to_double():
    net = MLPClassifier((8, 6), batch_size=16, max_iter=10, n_iter_no_change=None, random_state=0)
    double = net.fit(X, THREE).predict_proba(X)
    assert net.params_.dtype == np.float64
    single = net.fit(X.astype(np.float32), THREE).predict_proba(X)
    assert net.params_.dtype == np.float32
    assert 0 < np.abs(single - double).max() < 1e-4  # 60 steps of relative size 6e-8 each
    assert net.set_params(dtype="float32").fit(X, THREE).params_.dtype == np.float32
    net.set_params(dtype="float64").fit(X.astype(np.float32), THREE)
    assert net.params_.dtype == np.float64
    assert_allclose(net.predict_proba(X), double, rtol=0, atol=1e-05)  # X was rounded


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"dropout": 0.4},
        {"solver": "lbfgs", "max_iter": 5},
        {"n_starts": 3},
        {"max_grad_norm": 0.1},
        {"early_stopping": True},
    ],
    ids=str,
)
def test_one_seed_has_the_same_bits_whatever_the_threads(settings):
    rows = np.random.default_rng(4).normal(size=(300, 6))
    y = np.digitize(rows[:, 0] * rows[:, 1], [-0.3, 0.3])
    nets = [
        MLPClassifier((20, 10), **{"max_iter": 4, "n_iter_no_change": None, **settings},
                      n_jobs=n_jobs, random_state=7).fit(rows, y)
        for n_jobs in (1, 2, 1)
    ]  # fmt: skip
    for other in nets[1:]:
        assert_array_equal(other.params_, nets[0].params_)
        assert_array_equal(other.loss_curve_, nets[0].loss_curve_)
        assert_array_equal(other.gradient_norms_, nets[0].gradient_norms_)
        assert_array_equal(other.predict_proba(rows), nets[0].predict_proba(rows))
    another = nets[0].set_params(random_state=8).fit(rows, y)
    assert not np.array_equal(another.params_, nets[1].params_)


@pytest.mark.parametrize("constant", [7.0, 0.0, -3e200, 2e-200])
@pytest.mark.parametrize("solver", ["adam", "lbfgs"])
def test_a_target_that_never_changes_is_predicted(constant, solver):
    rows = np.random.default_rng(0).normal(size=(30, 3))
    net = MLPRegressor(
        hidden_layer_sizes=4, solver=solver, max_iter=2, n_iter_no_change=None, random_state=0
    ).fit(rows, np.full(30, constant))
    # Its unit is 1e-12 of the size; outputs are of size 1.
    assert_allclose(net.predict(10 * rows), constant, rtol=1e-9, atol=1e-9)
