"""Optimism: against hat matrices written out, against enumeration, and under what must not matter.

Statistical tests fail with probability 1e-6 or less; their seeds are fixed.
"""

from itertools import product

import numpy as np
import pandas as pd
import pytest
import sklearn.linear_model as peers
from numpy.testing import assert_allclose
from sklearn.feature_selection import SelectFromModel, SelectKBest, f_regression
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeRegressor

import empirisk
from empirisk import (
    Encoder,
    KernelRegressor,
    Lasso,
    LinearDiscriminantAnalysis,
    LinearRegression,
    Ridge,
    Table,
)
from empirisk.losses import Absolute, Log, Squared, ZeroOne
from empirisk.risk.learning_curves.learning_curve import learning_curve
from empirisk.risk.penalties.linear_smoothers import hat_matrix
from empirisk.risk.penalties.noise_model import ClassNoise, GaussianNoise, shrunk
from empirisk.risk.penalties.optimism import effective_degrees_of_freedom, optimism
from empirisk.runtime.errors import DataError, ParameterError, RankWarning
from optimism_rows import regression, ridge_hat_matrix
from tolerances import LAST_BITS, SUMMED

FIVE_ERRORS = 5  # a normal variable is farther out with probability 6e-7


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("alpha", [0.0, 3.0])
def test_the_closed_form_is_two_sigma_squared_trace_over_n(alpha, weighted):
    X, y = regression()
    w = np.random.default_rng(1).integers(1, 4, 40).astype(float) if weighted else np.ones(40)
    H = ridge_hat_matrix(X, alpha, w)
    rss = w @ (y - H @ y) ** 2
    df = np.trace(H)
    found = optimism(Ridge(alpha), X, y, sample_weight=w if weighted else None)
    assert_allclose(found.degrees_of_freedom, df, rtol=SUMMED)
    assert_allclose(found.noise_variance, rss / (w.sum() - df), rtol=SUMMED)
    assert_allclose(found.value, 2 * found.noise_variance * df / w.sum(), rtol=SUMMED)
    assert_allclose(found.in_sample.value, rss / w.sum() + found.value, rtol=SUMMED)
    assert_allclose(float(found), found.value, rtol=SUMMED)
    given = optimism(Ridge(alpha), X, y, sample_weight=w if weighted else None, noise_variance=2.0)
    assert_allclose(given.value, 4 * df / w.sum(), rtol=SUMMED)


@pytest.mark.parametrize("learner", [LinearRegression(), Ridge(2.0)], ids=str)
def test_a_row_of_weight_w_is_w_copies(learner):
    X, y = regression()
    w = np.random.default_rng(1).integers(0, 4, 40)
    copies = np.repeat(np.arange(40), w)
    weighted = optimism(learner, X, y, sample_weight=w)
    repeated = optimism(learner, X[copies], y[copies])
    for name in ("value", "degrees_of_freedom", "noise_variance"):
        assert_allclose(getattr(weighted, name), getattr(repeated, name), rtol=SUMMED)


def test_whole_weights_of_a_classifier_are_copies_to_the_last_bit():
    X, y = regression(30)
    w = np.random.default_rng(1).integers(1, 3, 30)
    copies = np.repeat(np.arange(30), w)
    options = {"n_resamples": 5, "random_state": 0}
    weighted = optimism(LogisticRegression(), X, y > 0, sample_weight=w, **options)
    repeated = optimism(LogisticRegression(), X[copies], y[copies] > 0, **options)
    assert weighted.training.value == repeated.training.value
    with pytest.raises(ParameterError, match="whole numbers"):
        optimism(LogisticRegression(), X, y > 0, sample_weight=w + 0.5, **options)


@pytest.mark.parametrize("learner", [empirisk.KNeighborsRegressor(5), KernelRegressor(0.8)])
def test_neighbours_and_kernels_of_our_own_have_the_closed_form(learner):
    X, y = regression()
    found = optimism(learner, X, y)
    assert found.method == "closed form"
    trace = np.trace(hat_matrix(learner, X))
    assert_allclose(found.degrees_of_freedom, trace, rtol=1e-9)  # sums of 40 numbers


@pytest.mark.parametrize(
    "learner", [Lasso(0.1), Ridge(2.0), LinearRegression(positive=True)], ids=str
)
def test_steps_that_do_not_look_at_y_leave_the_closed_form(learner):
    X, y = regression()
    Z = StandardScaler().fit_transform(X)
    piped = optimism(make_pipeline(StandardScaler(), "passthrough", learner), X, y)
    assert piped.method == "closed form"
    assert_allclose(piped.value, optimism(learner, Z, y).value, rtol=SUMMED)


@pytest.mark.parametrize(
    "looks", [SelectKBest(f_regression, k=2), SelectFromModel(peers.Lasso(0.1))]
)
def test_of_columns_that_were_chosen_by_y_no_closed_form_is_known(looks):
    with pytest.raises(ParameterError, match="no closed form"):
        optimism(make_pipeline(looks, Lasso(0.1)), *regression(), method="closed_form")


def test_the_bootstrap_agrees_with_the_closed_form():
    X, y = regression()
    for learner in (LinearRegression(), Ridge(20.0)):
        closed = optimism(learner, X, y, noise_variance=1.5)
        drawn = optimism(
            learner, X, y, noise_variance=1.5, method="bootstrap", n_resamples=150, random_state=0
        )
        assert drawn.standard_error < 0.15 * closed.value
        assert abs(drawn.value - closed.value) < FIVE_ERRORS * drawn.standard_error
        assert_allclose(drawn.degrees_of_freedom, drawn.value * 40 / 3, rtol=SUMMED)


def test_weights_agree_in_the_bootstrap_too():
    X, y = regression()
    w = np.random.default_rng(1).uniform(0.5, 4, 40)
    closed = optimism(LinearRegression(), X, y, sample_weight=w, noise_variance=1.5)
    drawn = optimism(
        LinearRegression(), X, y,
        sample_weight=w, noise_variance=1.5, method="bootstrap", n_resamples=150, random_state=0,
    )  # fmt: skip
    assert abs(drawn.value - closed.value) < FIVE_ERRORS * drawn.standard_error


def lookup(cell, y, loss, n_classes):
    """A classifier of cells: the shares of classes in a cell, or the most frequent class."""
    share = np.stack([np.bincount(y[cell == c], minlength=n_classes) for c in cell])
    share = share / share.sum(axis=1, keepdims=True)
    return share.argmax(axis=1) if loss.output == "value" else share


@pytest.mark.parametrize("loss", [ZeroOne(), Log()], ids=str)
def test_the_optimism_of_classes_by_enumeration_of_all_outcomes(loss):
    cell = np.array([0, 0, 0, 1, 1])
    rng = np.random.default_rng(0)
    p = rng.dirichlet([1.0, 2.0, 1.0], size=5)
    noise = ClassNoise(p)
    start = lookup(cell, np.array([0, 1, 2, 1, 1]), loss, 3)
    gap = scored = 0.0
    for outcome in product(range(3), repeat=5):
        y = np.array(outcome)
        probability = p[np.arange(5), y].prod()
        prediction = lookup(cell, y, loss, 3)
        in_sample = sum(p[:, k] @ loss(np.full(5, k), prediction) for k in range(3)) / 5
        gap += probability * (in_sample - loss(y, prediction).mean())
        scored += probability * noise.optimism(loss, y, prediction, start, rng).mean()
    assert gap > 0
    assert_allclose(scored, gap, rtol=SUMMED)


@pytest.mark.parametrize("loss", [Squared(), Absolute()], ids=str)
def test_the_optimism_of_numbers_is_that_of_new_outcomes(loss):
    # Twin: draw a second outcome and compare, without any of the terms that lower the noise.
    rng = np.random.default_rng(0)
    n, draws = 10, 5_000
    noise = GaussianNoise(np.linspace(0, 3, n), 2.0, np.ones(n))
    y = np.stack([noise.draw(rng) for _ in range(draws)])
    new = np.stack([noise.draw(rng) for _ in range(draws)])
    prediction = 0.5 * y + 0.5 * y.mean(axis=1, keepdims=True)
    start = np.full(n, 1.5)
    twin = (loss(new, prediction) - loss(y, prediction)).mean(axis=1)
    found = np.array(
        [noise.optimism(loss, a, b, start, rng).mean() for a, b in zip(y, prediction, strict=True)]
    )
    error = np.hypot(twin.std(), found.std()) / np.sqrt(draws)
    assert abs(twin.mean() - found.mean()) < FIVE_ERRORS * error
    assert found.std() < twin.std()


def test_drawn_outcomes_have_the_distribution_that_was_asked_for():
    rng = np.random.default_rng(0)
    p = np.tile([[0.5, 0.2, 0.3], [0.0, 1.0, 0.0]], (5000, 1))
    drawn = ClassNoise(p).draw(rng)
    assert (drawn[1::2] == 1).all()
    shares = np.bincount(drawn[::2], minlength=3) / 5000
    error = np.sqrt(p[0] * (1 - p[0]) / 5000)
    assert (np.abs(shares - p[0]) < FIVE_ERRORS * error).all()
    numbers = GaussianNoise(np.full(10_000, 3.0), 4.0, np.full(10_000, 2.0)).draw(rng)
    assert abs(numbers.mean() - 3) < FIVE_ERRORS * np.sqrt(2 / 10_000)
    assert_allclose(numbers.var(), 2.0, rtol=FIVE_ERRORS * np.sqrt(2 / 10_000))


def test_predictions_are_shrunk_to_the_least_squared_error():
    rng = np.random.default_rng(0)
    truth = rng.normal(size=(50, 1))
    w = rng.uniform(0.5, 2, 50)
    for prediction in (3 * truth, -truth, truth + rng.normal(size=(50, 1))):
        found = shrunk(prediction, truth, w)
        mean = np.average(truth[:, 0], weights=w)
        best = min(
            w @ (truth - prediction - a * (mean - prediction))[:, 0] ** 2
            for a in np.linspace(0, 1, 1001)
        )
        assert w @ (truth - found)[:, 0] ** 2 <= best * (1 + 1e-12)
    assert_allclose(shrunk(-truth, truth, w), mean, rtol=SUMMED)


def test_one_nearest_neighbour_recites_and_pays_for_it():
    # Its training error is 0 whatever the outcomes, so all of the in-sample error is optimism.
    X, y = regression(60)
    found = optimism(KNeighborsClassifier(1), X, y > 0, n_resamples=50, random_state=0)
    assert found.training.value == 0
    assert found.value > 0.2
    numbers = optimism(KNeighborsRegressor(1), X, y)
    assert_allclose(numbers.degrees_of_freedom, 60, rtol=SUMMED)


def test_maximum_likelihood_has_a_degree_of_freedom_for_each_parameter():
    X, y = regression(400, 3)
    c = y + np.random.default_rng(1).logistic(size=400) > 0
    learner = LogisticRegression(C=1e8)
    found = optimism(learner, X, c, loss="log", n_resamples=80, random_state=0)
    margin = FIVE_ERRORS * found.standard_error * 400
    # 4 parameters at n = 400: the next term of the expansion is about 4 * 4 / 400.
    assert abs(found.degrees_of_freedom - 4) < margin + 0.1


def test_learners_without_probabilities_and_with_several_classes():
    X, y = regression(80)
    classes = np.array(["a", "b", "c"])[np.digitize(y, [-1, 1])]
    for learner in (LinearSVC(), LinearDiscriminantAnalysis()):
        found = optimism(learner, X, classes, n_resamples=20, random_state=0)
        assert 0 < found.value < 0.5
        assert found.degrees_of_freedom is None
        assert found.noise_variance is None


def test_draws_of_one_class_only_do_not_stop_it():
    X = np.arange(12.0)[:, None]
    y = np.arange(12) >= 10
    found = optimism(LogisticRegression(), X, y, n_resamples=15, random_state=0)
    assert np.isfinite(found.value)


def test_the_result_does_not_depend_on_the_number_of_workers():
    X, y = regression(30)
    tree = DecisionTreeRegressor(max_leaf_nodes=4)
    one, two = (optimism(tree, X, y, n_resamples=8, random_state=3, n_jobs=jobs) for jobs in (1, 2))
    assert one.value == two.value
    assert one.standard_error == two.standard_error
    one, two = (
        learning_curve(tree, X, y, sizes=[10, 20], cv=3, random_state=5, n_jobs=jobs)
        for jobs in (1, 2)
    )
    assert (one.risk == two.risk).all()
    assert (one.standard_error == two.standard_error).all()


@pytest.mark.parametrize("scale", [1e-100, 1e100])
def test_the_unit_of_y_does_not_matter(scale):
    X, y = regression()
    for method in ("closed_form", "bootstrap"):
        options = {"method": method, "n_resamples": 4, "random_state": 0}
        plain = optimism(Ridge(1.0), X, y, **options)
        scaled = optimism(Ridge(1.0), X, y * scale, **options)
        assert_allclose(scaled.value / scale**2, plain.value, rtol=SUMMED)
        assert_allclose(scaled.degrees_of_freedom, plain.degrees_of_freedom, rtol=SUMMED)


def test_squares_beyond_the_range_are_infinite_or_refused_but_never_nan():
    X, y = regression()
    found = optimism(LinearRegression(), X, y * 1e200)
    assert found.value == np.inf
    assert found.in_sample.value == np.inf
    with pytest.raises(DataError, match="divide y"):
        optimism(LinearRegression(), X, y * 1e200, method="bootstrap")


def test_without_noise_there_is_no_optimism():
    X, _ = regression()
    found = optimism(LinearRegression(), X, np.full(40, 2.0))
    assert_allclose(found.value, 0, rtol=0, atol=LAST_BITS**2)
    drawn = optimism(LinearRegression(), X, np.full(40, 2.0), method="bootstrap", n_resamples=3)
    assert_allclose(drawn.value, 0, rtol=0, atol=LAST_BITS**2)


def test_a_fit_that_leaves_no_residuals_takes_the_noise_from_held_out_rows():
    X, y = regression(12, 20)
    with pytest.warns(RankWarning, match="minimum-norm"):
        found = optimism(LinearRegression(), X, y)
    assert "out-of-fold" in found.reason
    assert_allclose(found.degrees_of_freedom, 12, rtol=SUMMED)
    assert_allclose(found.value, 2 * found.noise_variance, rtol=SUMMED)
    assert found.noise_variance <= np.var(y) * (1 + 1e-12)


def test_tables_and_awkward_arrays_give_the_same():
    X, y = regression()
    expected = optimism(LinearRegression(), X, y).value
    frozen = np.asfortranarray(X)
    frozen.setflags(write=False)
    frame = pd.DataFrame(X, columns=list("abcd"))
    for given in (frozen, np.repeat(X, 2, axis=0)[::2], frame, X.tolist()):
        assert_allclose(optimism(LinearRegression(), given, y).value, expected, rtol=LAST_BITS)
    encoded = make_pipeline(Encoder(), LinearRegression())
    for given in (frame, Table.of(frame)):
        assert_allclose(optimism(encoded, given, y).value, expected, rtol=SUMMED)


def test_the_sentence_and_the_picture():
    X, y = regression()
    found = optimism(LinearRegression(), X, y)
    assert "too good by" in str(found)
    assert "5 effective degrees of freedom" in str(found)
    assert found.training.interval is None
    assert found.in_sample.interval is None
    ax = found.plot()
    assert ax.get_xlabel() == "squared risk"


def test_what_makes_no_sense_is_refused():
    X, y = regression()
    with pytest.raises(ParameterError, match="method"):
        optimism(Ridge(), X, y, method="magic")
    with pytest.raises(ParameterError, match="n_resamples"):
        optimism(Ridge(), X, y, n_resamples=1)
    with pytest.raises(ParameterError, match="noise_variance"):
        optimism(Ridge(), X, y, noise_variance=-1.0)
    with pytest.raises(DataError, match="one column"):
        optimism(Ridge(), X, np.column_stack([y, y]))
    with pytest.raises(ParameterError, match="degrees of freedom"):
        effective_degrees_of_freedom(Ridge(), X, y, loss="absolute", n_resamples=2)


def test_copies_that_no_memory_holds_are_refused():
    X, y = np.arange(6.0)[:, None], np.array([0, 1] * 3)
    with pytest.raises(ParameterError, match="counts 6e\\+12 copies"):
        optimism(LogisticRegression(), X, y, sample_weight=np.full(6, 1e12))
