"""How training starts, ends, goes on and is held back."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import stats

import mlp_twin as twin
from empirisk import (
    Autoencoder,
    Dense,
    Dropout,
    MLPClassifier,
    MLPRegressor,
    NetworkClassifier,
    Tuned,
)
from empirisk.learners.networks.settings import checked_settings
from empirisk.learners.networks.stopping import set_aside
from empirisk.runtime.errors import (
    ConvergenceWarning,
    DataError,
    DivergenceError,
    ParameterError,
)
from empirisk.runtime.streams import spawn
from tolerances import SOLVED, SUMMED

RNG = np.random.default_rng(0)
X = RNG.normal(size=(120, 4))
SCORE = X[:, 0] + X[:, 1] * X[:, 2]
Y = SCORE + 0.5 * RNG.normal(size=120)
LABELS = np.array(["a", "b", "c"])[np.digitize(SCORE + 0.3 * RNG.normal(size=120), [-0.7, 0.7])]
ALL = {"n_iter_no_change": None, "random_state": 5}


def held_out_rows(net, y, n_classes):
    """The rows that a fit sets aside, by its seeds."""
    seed = spawn(spawn(net.random_state, 1)[0], 2)[1]
    return set_aside(y, checked_settings(net), n_classes, seed)


def test_early_stopping_goes_back_to_the_best_epoch():
    settings = {
        "hidden_layer_sizes": 40, "activation": "tanh", "batch_size": 10,
        "learning_rate_init": 0.02, "standardize": False, **ALL,
    }  # fmt: skip
    net = MLPRegressor(max_iter=60, early_stopping=True, **settings).fit(X, Y)
    scores = np.array(net.validation_scores_)
    assert len(scores) == net.n_iter_ == len(net.loss_curve_) == 60
    best = scores.argmax() + 1
    assert best < 60
    assert net.best_validation_score_ == scores.max()
    assert net.best_loss_ is None
    short = MLPRegressor(max_iter=int(best), early_stopping=True, **settings).fit(X, Y)
    assert_array_equal(net.params_, short.params_)
    train, judged = held_out_rows(net, Y[:, np.newaxis], 0)
    assert len(judged) == 12
    error = net.predict(X[judged]) - Y[judged]
    assert_allclose(-(error**2).mean() / 2, scores.max(), rtol=SUMMED)
    start, draw = twin.start_of(5, [4, 40, 1], "tanh")
    params, curve = twin.trained(
        start, draw, [4, 40, 1], "tanh", twin.squared, X[train], Y[train, np.newaxis],
        np.ones(len(train)), epochs=int(best), batch=10, rate=0.02, alpha=1e-4,
    )  # fmt: skip
    assert_allclose(net.params_, params, rtol=1e-7, atol=1e-8)  # some hundred steps
    assert_allclose(net.loss_curve_[:best], curve, rtol=1e-8)


def test_early_stopping_ends_when_the_score_no_longer_rises():
    net = MLPClassifier(
        40, batch_size=10, learning_rate_init=0.02, max_iter=500, early_stopping=True,
        n_iter_no_change=5, tol=0.0, random_state=0,
    ).fit(X, LABELS)  # fmt: skip
    scores = net.validation_scores_
    assert net.n_iter_ == len(scores) < 500
    assert net.n_iter_ == int(np.argmax(scores)) + 1 + 6  # more than five epochs without a gain
    codes = np.searchsorted(net.classes_, LABELS)
    _, judged = held_out_rows(net, codes[:, np.newaxis], 3)
    p = net.predict_proba(X[judged])[np.arange(len(judged)), codes[judged]]
    assert_allclose(np.log(p).mean(), max(scores), rtol=SUMMED)


def test_early_stopping_of_lbfgs_goes_back_too():
    net = MLPRegressor(
        hidden_layer_sizes=40, solver="lbfgs", early_stopping=True, max_iter=100, standardize=False,
        alpha=0.0, validation_fraction=0.3, **ALL,
    ).fit(X, Y)  # fmt: skip
    _, judged = held_out_rows(net, Y[:, np.newaxis], 0)
    error = net.predict(X[judged]) - Y[judged]
    assert_allclose(-(error**2).mean() / 2, net.best_validation_score_, rtol=SUMMED)
    assert int(np.argmax(net.validation_scores_)) + 1 < net.n_iter_


def test_early_stopping_needs_rows_of_each_class_on_both_sides():
    with pytest.raises(DataError, match="one row only of class 1 of 2"):
        MLPClassifier(early_stopping=True).fit(X[:4], ["a", "b", "b", "b"])
    for share, aside in ((0.1, 1), (0.9, 6)):
        net = MLPClassifier(early_stopping=True, validation_fraction=share)
        with pytest.raises(DataError, match=f"{aside} of 6 rows, too few or too many for 3"):
            net.fit(X[:6], list("abcabc"))


def test_a_training_that_was_cut_short_says_so():
    for solver in ("adam", "lbfgs"):
        net = MLPRegressor(max_iter=2, solver=solver, random_state=0)
        with pytest.warns(ConvergenceWarning, match="max_iter = 2 epochs") as caught:
            net.fit(X, Y)
        assert caught[0].filename == __file__
    net = MLPRegressor(max_fun=4, solver="lbfgs", random_state=0)
    with pytest.warns(ConvergenceWarning, match="max_fun = 4 evaluations"):
        net.fit(X, Y)
    with pytest.warns(ConvergenceWarning, match="Autoencoder was trained for max_iter = 2"):
        Autoencoder(2, max_iter=2, random_state=0).fit(X)


def test_of_several_starts_the_one_with_the_lowest_loss_is_kept():
    common = {"hidden_layer_sizes": 3, "activation": "tanh", "solver": "lbfgs", "max_iter": 40}
    net = MLPRegressor(n_starts=5, **common, **ALL).fit(X, Y)
    from_starts = spawn(spawn(5, 1)[0], 2)[0]
    assert len(set(spawn(from_starts, 5))) == 5
    losses = []
    for few in range(1, 6):
        losses.append(MLPRegressor(n_starts=few, **common, **ALL).fit(X, Y).loss_)
    assert losses == sorted(losses, reverse=True)  # the first starts are the same
    assert losses[-1] < losses[0]
    assert net.loss_ == losses[-1]


def test_a_warm_start_begins_with_what_there_is():
    settings = {"hidden_layer_sizes": 6, "shuffle": False, "momentum": 0.0, "solver": "sgd", **ALL}
    once = MLPRegressor(max_iter=7, **settings).fit(X, Y)
    twice = MLPRegressor(max_iter=3, warm_start=True, **settings).fit(X, Y)
    twice.set_params(max_iter=4).fit(X, Y)
    assert_array_equal(once.params_, twice.params_)  # without momentum there is nothing else
    with pytest.raises(ParameterError, match="other layers"):
        twice.set_params(hidden_layer_sizes=7).fit(X, Y)
    net = MLPClassifier(5, max_iter=2, warm_start=True, **ALL).fit(X, LABELS)
    with pytest.raises(DataError, match="warm_start=False"):
        net.fit(X, np.where(LABELS == "a", "z", LABELS))


def test_dropout_trains_and_is_off_in_predictions():
    net = MLPClassifier(40, dropout=0.5, learning_rate_init=0.01, max_iter=60, **ALL).fit(X, LABELS)
    assert net.score(X, LABELS) > 0.75
    assert_array_equal(net.predict_proba(X), net.predict_proba(X))
    Z = X
    for W, b in zip(net.coefs_[:-1], net.intercepts_[:-1], strict=True):
        Z = np.maximum(Z @ W + b, 0)
    raw = Z @ net.coefs_[-1] + net.intercepts_[-1]
    assert_allclose(net.decision_function(X), raw, rtol=SUMMED, atol=SUMMED)
    without = MLPClassifier(40, learning_rate_init=0.01, max_iter=60, **ALL).fit(X, LABELS)
    assert net.loss_ > without.loss_  # units that are left out make training harder
    same = NetworkClassifier([Dense(40), Dropout(0.5)], learning_rate_init=0.01, max_iter=60, **ALL)
    assert_array_equal(same.fit(X, LABELS).params_, net.params_)


def test_lbfgs_refuses_dropout():
    with pytest.raises(ParameterError, match="dropout draws another"):
        MLPClassifier(5, solver="lbfgs", dropout=0.2).fit(X, LABELS)


def test_steps_are_no_longer_than_allowed():
    """SGD without momentum moves by rate times the shortened gradient."""
    settings = {"solver": "sgd", "momentum": 0.0, "learning_rate_init": 0.1, "batch_size": 120}
    start = MLPRegressor(hidden_layer_sizes=5, max_iter=1, **settings, **ALL).fit(X, 100 * Y)
    before = start.params_.copy()
    start.set_params(warm_start=True, max_grad_norm=1e-3).fit(X, 100 * Y)
    assert_allclose(np.linalg.norm(start.params_ - before), 1e-4, rtol=SOLVED)


@pytest.mark.parametrize("kind", ["values", "classes"])
def test_weights_are_copies_with_lbfgs(kind):
    weight = np.random.default_rng(1).integers(0, 4, size=120)
    copies = np.repeat(np.arange(120), weight)
    y = Y if kind == "values" else LABELS
    ours = MLPRegressor if kind == "values" else MLPClassifier
    net = ours(
        hidden_layer_sizes=6, activation="tanh", solver="lbfgs", max_iter=10, alpha=0.3, **ALL
    )
    weighted = net.fit(X, y, sample_weight=weight).coefs_
    copied = net.fit(X[copies], y[copies]).coefs_
    for one, other in zip(weighted, copied, strict=True):
        assert_allclose(one, other, rtol=SOLVED, atol=SOLVED)


def test_weights_are_copies_in_the_mean_with_batches():
    """To first order the steps of an epoch add up: 300 seeds, error probability 1e-6."""
    weight = np.random.default_rng(1).integers(1, 4, size=120).astype(float)
    copies = np.repeat(np.arange(120), weight.astype(int))
    settings = {
        "hidden_layer_sizes": 4, "activation": "tanh", "solver": "sgd", "momentum": 0.0,
        "learning_rate_init": 0.002, "max_iter": 1, "n_iter_no_change": None, "standardize": False,
        "warm_start": True, "alpha": 0.0,
    }  # fmt: skip
    start, _ = twin.start_of(0, [4, 4, 1], "tanh")
    means, errors = [], []
    for rows, w, batch in ((np.arange(120), weight, 10), (copies, None, -(-len(copies) // 12))):
        moves = []
        for seed in range(300):
            net = MLPRegressor(batch_size=batch, random_state=seed, **settings).fit(X[:5], Y[:5])
            net.params_ = start.copy()
            net.fit(X[rows], Y[rows], sample_weight=w)
            moves.append(net.predict(X[:3]))
        means.append(np.mean(moves, axis=0))
        errors.append(np.std(moves, axis=0) / np.sqrt(300))
    margin = stats.norm.isf(1e-6 / 6) * np.hypot(*errors)
    second_order = 12 * 0.002**2
    assert (np.abs(means[0] - means[1]) < margin + second_order).all()
    plain = MLPRegressor(batch_size=10, random_state=0, **settings).fit(X[:5], Y[:5])
    plain.params_ = start.copy()
    unlike = plain.fit(X, Y).predict(X[:3])
    assert (np.abs(unlike - means[0]) > margin + second_order).any()  # it could have failed


def test_tuned_epochs_are_separate_fits_without_early_stopping():
    net = MLPClassifier(8, early_stopping=True, n_iter_no_change=1, max_iter=12, random_state=3)
    values = [1, 4, 12]
    chosen = Tuned(net, values=values, cv=3, random_state=0).fit(X, LABELS)
    best = chosen.best_estimator_
    assert not best.early_stopping
    assert best.n_iter_no_change is None
    codes = np.searchsorted(["a", "b", "c"], LABELS)
    path = net.fit_path(X, codes, np.ones(120), values, n_classes=3)
    for j, epochs in enumerate(values):
        alone = MLPClassifier(8, n_iter_no_change=None, max_iter=epochs, random_state=3)
        alone.fit(X, LABELS)
        assert_array_equal(path.at(j).params_, alone.params_)
        assert_array_equal(path.at(j).loss_curve_, alone.loss_curve_)
        p = path.predict_path(X, "probability")[:, j]
        assert_array_equal(p, alone.predict_proba(X))
        if best.max_iter == epochs:
            assert_array_equal(best.params_, alone.params_)


@pytest.mark.parametrize("settings", [{"n_starts": 3}, {"solver": "lbfgs"}], ids=str)
def test_the_path_of_other_settings_is_separate_fits(settings):
    net = MLPRegressor(hidden_layer_sizes=5, max_iter=9, **settings, **ALL)
    path = net.fit_path(X, Y, np.ones(120), [2, 5, 9], n_classes=0)
    for j, epochs in enumerate([2, 5, 9]):
        alone = MLPRegressor(hidden_layer_sizes=5, max_iter=epochs, **settings, **ALL).fit(X, Y)
        assert_array_equal(path.at(j).params_, alone.params_)


BAD = {
    "hidden_layer_sizes": [0, -1, 2.5, (3, 0), "ten", True],
    "activation": ["sine", 3, None],
    "solver": ["newton", None],
    "alpha": [-1.0, np.nan, np.inf, "x"],
    "batch_size": [0, -5, 2.5, "all", None, True],
    "learning_rate": ["fast", 0.1, None],
    "learning_rate_init": [0.0, -1.0, np.nan, np.inf, "x"],
    "power_t": [-0.5, np.nan, "x"],
    "max_iter": [0, -1, 2.5, None, True],
    "shuffle": ["yes", 1, None],
    "tol": [-1.0, np.nan, None],
    "momentum": [-0.1, 1.5, np.nan],
    "nesterovs_momentum": ["yes", None],
    "early_stopping": ["yes", None],
    "validation_fraction": [0.0, 1.0, -1.0, np.nan],
    "beta_1": [-0.1, 1.0, np.nan],
    "beta_2": [-0.1, 1.0, np.nan],
    "epsilon": [0.0, -1.0, np.nan],
    "n_iter_no_change": [0, 2.5, -1, "x"],
    "max_fun": [0, 2.5, None],
    "l1_ratio": [-0.1, 1.1, np.nan],
    "max_grad_norm": [0.0, -1.0, np.nan, "x"],
    "n_starts": [0, 1.5, None],
    "initialization": ["zero", None],
    "standardize": ["yes", None],
    "dtype": ["float16", np.float32, None],
    "dropout": [-0.1, 1.0, np.nan, "x", None],
    "warm_start": ["yes", None],
    "random_state": [-1, "seed", 1.5],
    "n_jobs": [0, "two", 1.5],
}


@pytest.mark.parametrize(
    ("name", "value"), [(name, value) for name, values in BAD.items() for value in values], ids=str
)
def test_a_parameter_that_makes_no_sense_is_named(name, value):
    for learner in (MLPRegressor(max_iter=1), MLPClassifier(max_iter=1)):
        y = Y if isinstance(learner, MLPRegressor) else LABELS
        with pytest.raises(ParameterError, match=name):
            learner.set_params(**{name: value}).fit(X, y)


@pytest.mark.parametrize(
    "loss", ["log_loss", 3, None, "quantile:2", "quantile:x", ["poisson"]], ids=str
)
def test_a_loss_that_there_is_not_is_refused(loss):
    with pytest.raises(ParameterError, match=r"loss|quantile|between"):
        MLPRegressor(loss, max_iter=1).fit(X, Y)


def test_sizes_in_the_place_of_the_loss_are_told_their_name():
    with pytest.raises(ParameterError, match=r"by name, hidden_layer_sizes=\(50,\)"):
        MLPRegressor((50,)).fit(X, Y)


@pytest.mark.parametrize("solver", ["adam", "lbfgs"])
def test_verbose_prints_the_loss_of_each_epoch(solver, capsys):
    net = MLPRegressor(hidden_layer_sizes=3, max_iter=2, solver=solver, verbose=True, **ALL)
    net.fit(X, Y)
    lines = capsys.readouterr().out.splitlines()
    assert [line.split(",")[0] for line in lines] == ["epoch 1", "epoch 2"]
    assert net.n_iter_ == 2


def test_a_loss_that_is_never_finite_is_named_by_every_solver():
    for solver in ("adam", "sgd", "lbfgs"):
        net = MLPRegressor(hidden_layer_sizes=3, solver=solver, standardize=False, random_state=0)
        with pytest.raises(DivergenceError, match="finite"):
            net.fit(X * 1e200, Y)
