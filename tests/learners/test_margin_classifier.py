"""Linear classifiers by margin losses: twins, references, and what they do at the edges."""

import warnings

import numpy as np
import pytest
import sklearn.linear_model as peers
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import minimize
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning as PeerWarning
from sklearn.svm import SVC, LinearSVC

from empirisk.learners.linear.margin_classifier import MarginClassifier
from empirisk.losses import MarginLoss, as_margin_loss
from empirisk.losses.margin import NAMED
from empirisk.runtime.deadlines import deadline
from empirisk.runtime.errors import (
    ConvergenceWarning,
    DataError,
    DeadlineError,
    ParameterError,
)
from empirisk.solvers import support_vectors
from tolerances import LAST_BITS, SUMMED

SMOOTH = ["squared_hinge", "logit", "exponential", "square"]
every_kind = pytest.mark.parametrize(
    ("loss", "penalty"), [(loss, penalty) for loss in NAMED for penalty in ("l2", "l1")]
)


def sample(n=80, p=3, seed=0, noise=0.7):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p)) * np.geomspace(0.5, 2, p) + np.arange(p)
    score = (X - np.arange(p)) @ rng.normal(size=p) + noise * rng.normal(size=n) + 0.3
    return X, np.where(score > 0, 1, -1)


def objective(loss, X, y, C, coef, intercept, penalty="l2", weight=1.0):
    """The formula of the docstring."""
    risk = np.sum(weight * as_margin_loss(loss).value(y * (X @ coef + intercept)))
    return C * risk + (np.abs(coef).sum() if penalty == "l1" else coef @ coef / 2)


def value_of(model, X, y, weight=1.0):
    return objective(
        model.loss, X, y, model.C, model.coef_[0], model.intercept_[0], model.penalty, weight
    )


class Huberised(MarginLoss):
    """A user's loss: the squared hinge, linear for z < -1."""

    name = "huberised"

    def value(self, margin):
        z = np.asarray(margin, dtype=float)
        return np.where(z >= -1, np.maximum(0, 1 - z) ** 2, -4 * z)

    def derivative(self, margin):
        return np.where(np.asarray(margin) >= -1, -2 * np.maximum(0, 1 - np.asarray(margin)), -4.0)

    def __str__(self):
        return self.name


@pytest.mark.parametrize("loss", [*SMOOTH, "hinge", Huberised()], ids=str)
@pytest.mark.parametrize("C", [1e-3, 10.0])
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_no_generic_solver_finds_anything_lower(loss, C, fit_intercept):
    X, y = sample()
    weight = np.random.default_rng(1).uniform(0.2, 3, size=80)
    model = MarginClassifier(loss, C=C, fit_intercept=fit_intercept).fit(X, y, weight)

    def f(point):
        return objective(loss, X, y, C, point[:3], point[3] * fit_intercept, weight=weight)

    ours = np.append(model.coef_[0], model.intercept_)
    for start in (np.zeros(4), ours):
        found = minimize(f, start, method="Nelder-Mead", options={"maxiter": 400, "xatol": 1e-9})
        # Objectives summed in another order; the twin itself may stop far above.
        assert f(ours) <= found.fun + 1e-9 * abs(found.fun)


@pytest.mark.parametrize("loss", ["squared_hinge", "logit", "square", Huberised()], ids=str)
@pytest.mark.parametrize("C", [0.02, 1.0])
def test_the_optimality_conditions_of_the_l1_penalty_hold(loss, C):
    X, y = sample(p=8, noise=3.0)
    model = MarginClassifier(loss, penalty="l1", C=C).fit(X, y)
    b = model.coef_[0]
    slope = C * y * as_margin_loss(loss).derivative(y * (X @ b + model.intercept_[0]))
    g = slope @ X
    # Newton leaves rounding; L-BFGS, for the user's loss, stops at about 1e-5.
    tol = 1e-4 if isinstance(loss, Huberised) else 1e-9
    assert abs(slope.sum()) < tol
    assert (np.abs(g) <= 1 + tol).all()
    assert_allclose(g[b != 0], -np.sign(b[b != 0]), rtol=0, atol=tol)
    if not isinstance(loss, Huberised) and C < 1:
        assert (b == 0).any()


@pytest.mark.parametrize("C", [0.01, 1.0, 100.0])
def test_the_hinge_is_the_support_vector_machine(C):
    X, y = sample()
    X = np.round(16 * X) / 16  # libsvm rounds products of rows to float32; so they are exact
    ours = MarginClassifier("hinge", C=C).fit(X, y)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PeerWarning)
        twin = SVC(kernel="linear", C=C, tol=1e-9).fit(X, y)
    # Where the slopes of its dual differ by 1e-9 the coefficients have about seven digits.
    assert_allclose(ours.coef_, twin.coef_, rtol=1e-6, atol=1e-7)
    assert_allclose(ours.intercept_, twin.intercept_, rtol=1e-6, atol=1e-7)
    assert value_of(ours, X, y) <= objective(
        "hinge", X, y, C, twin.coef_[0], twin.intercept_[0]
    ) * (1 + 1e-12)


@pytest.mark.parametrize(
    ("loss", "penalty"), [("hinge", "l2"), ("squared_hinge", "l2"), ("squared_hinge", "l1")]
)
def test_the_objective_is_that_of_linear_svc(loss, penalty):
    # Without an intercept, which LinearSVC penalises.
    X, y = sample()
    ours = MarginClassifier(loss, penalty=penalty, C=0.3, fit_intercept=False).fit(X, y)
    twin = LinearSVC(
        loss=loss, penalty=penalty, C=0.3, fit_intercept=False, dual=penalty == "l2",
        tol=1e-10, max_iter=100_000, random_state=0,
    ).fit(X, y)  # fmt: skip
    assert_allclose(ours.coef_, twin.coef_, rtol=1e-4, atol=1e-6)  # liblinear's stopping rule


def test_the_logit_is_logistic_regression_and_the_square_is_ridge():
    X, y = sample()
    ours = MarginClassifier("logit", C=0.7).fit(X, y)
    twin = peers.LogisticRegression(C=0.7 / np.log(2), tol=1e-12, max_iter=10_000).fit(X, y)
    assert_allclose(ours.coef_, twin.coef_, rtol=1e-5)  # the tolerance of its L-BFGS
    assert_allclose(ours.predict_proba(X), twin.predict_proba(X), rtol=0, atol=1e-5)
    ours = MarginClassifier("square", C=0.7).fit(X, y)
    ridge = peers.Ridge(alpha=1 / 1.4).fit(X, y)
    assert_allclose(ours.coef_[0], ridge.coef_, rtol=1e-10)  # condition number below 1e2
    assert_allclose(ours.intercept_[0], ridge.intercept_, rtol=1e-9)


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge", "logit"])
def test_never_a_worse_objective_than_stochastic_gradient(loss):
    X, y = sample(n=150)
    peer = {"logit": "log_loss"}.get(loss, loss)
    unit = np.log(2) if loss == "logit" else 1.0  # their log loss is not divided by log 2
    sgd = peers.SGDClassifier(loss=peer, alpha=1 / 150 / unit, random_state=0, max_iter=2000)
    sgd.fit(X, y)
    ours = MarginClassifier(loss).fit(X, y)
    assert value_of(ours, X, y) <= objective(loss, X, y, 1.0, sgd.coef_[0], sgd.intercept_[0])


@pytest.mark.parametrize("shape", [(60, 3), (25, 60), (200, 12)])
@pytest.mark.parametrize("C", [1e-4, 1e-2, 1.0])
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_dual_coordinate_descent_and_interior_points_agree(monkeypatch, shape, C, fit_intercept):
    X, y = sample(*shape, noise=2.0)
    model = MarginClassifier("hinge", C=C, fit_intercept=fit_intercept, max_iter=20_000)
    results = []
    for strong, columns in ((np.inf, 10**9), (np.inf, 0)):
        monkeypatch.setattr(support_vectors, "STRONG", strong)
        monkeypatch.setattr(support_vectors, "MOST_COLUMNS", columns)
        results.append(clone(model).fit(X, y).decision_function(X))
    # Both end with the exact solution; condition numbers up to 1e3.
    assert_allclose(*results, rtol=1e-8, atol=1e-8)


def test_of_several_best_intercepts_the_middle_is_taken():
    X, y = np.array([[-1.0], [1.0], [-2.0], [2.0]]), np.array([-1, 1, -1, 1])
    # With so small a C all rows are inside the margin, and any |b0| <= 1 - 2 |b| is optimal.
    model = MarginClassifier("hinge", C=0.01).fit(X + 7, y)
    assert_allclose(model.coef_, [[0.06]], rtol=SUMMED)
    assert_allclose(model.decision_function([[7.0]]), [0.0], rtol=0, atol=SUMMED)


@every_kind
def test_a_weighted_row_is_so_many_copies(loss, penalty):
    X, y = sample()
    weight = np.random.default_rng(1).integers(0, 4, size=80)
    copies = np.random.default_rng(2).permutation(np.repeat(np.arange(80), weight))
    model = MarginClassifier(loss, penalty=penalty, max_iter=100)
    weighted = clone(model).fit(X, y, sample_weight=weight)
    repeated = clone(model).fit(X[copies], y[copies])
    # Sums of the same terms in another order.
    assert_allclose(weighted.decision_function(X), repeated.decision_function(X), rtol=1e-8)


@every_kind
def test_a_path_is_single_fits(loss, penalty):
    X, y = sample(n=60)
    codes, ones = (y > 0).astype(np.int64), np.ones(60)
    model = MarginClassifier(loss, penalty=penalty, max_iter=200)
    values = model.axis_values(X, codes, ones, n_train=60)
    path = model.fit_path(X, codes, ones, values, n_classes=2)
    assert np.all(np.diff(values) > 0)
    for j in range(0, len(values), 9):
        single = clone(model).set_params(C=values[j]).fit(X, codes)
        f = single.decision_function(X)
        # Warm starts change the last digits; the weakest penalties are ill conditioned.
        assert_allclose(path.at(j).decision_function(X), f, rtol=1e-7, atol=1e-9 * np.abs(f).max())
        assert_array_equal(path.predict_path(X, "value")[:, j], f > 0)


@every_kind
@pytest.mark.parametrize("power", [-200, 200])
def test_everything_stays_finite(loss, penalty, power):
    X, y = sample()
    model = MarginClassifier(loss, penalty=penalty, max_iter=100).fit(X * 10.0**power, y)
    assert np.isfinite(model.decision_function(X * 10.0**power)).all()
    assert np.isfinite(model.predict_proba([[1e308] * 3])).all() if loss in SMOOTH else True
    model = MarginClassifier(loss, penalty=penalty)
    model.partial_fit(X * 10.0**power, y, classes=[-1, 1])
    assert np.isfinite(model.decision_function(X * 10.0**power)).all()


@every_kind
@pytest.mark.parametrize(
    "X",
    [np.ones((6, 2)), np.zeros((6, 1)), np.arange(6.0)[:, None] // 3, np.full((6, 1), 1e300)],
    ids=["constant", "zero", "the class itself", "huge constant"],
)
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_columns_that_say_nothing_or_everything(loss, penalty, X, fit_intercept):
    y = np.array([0, 0, 0, 1, 1, 1])
    model = MarginClassifier(loss, penalty=penalty, fit_intercept=fit_intercept, max_iter=50)
    model.fit(X, y)
    assert np.isfinite(model.decision_function(X)).all()
    if np.ptp(X) > 0 and fit_intercept:
        assert_array_equal(model.predict(X), y)


@pytest.mark.parametrize("value", [0.1, 1.0, np.pi, 1e300])
@pytest.mark.parametrize("loss", NAMED)
def test_the_rounding_of_a_mean_is_no_data(loss, value):
    X, y = np.full((6, 2), value), [0, 1, 0, 1, 1, 1]
    model = MarginClassifier(loss, max_iter=50).fit(X, y)
    assert_array_equal(model.coef_, 0.0)
    assert_array_equal(model.decision_function(X), np.repeat(model.intercept_, 6))
    assert (model.predict(X) == 1).all()


@every_kind
@pytest.mark.parametrize("C", [1e-300, 1e-12, 1e12, 1e300])
def test_extreme_penalties(loss, penalty, C):
    X, y = sample(noise=0.0)  # separable, so that a weak penalty lets the coefficients grow
    model = MarginClassifier(loss, penalty=penalty, C=C, max_iter=2000).fit(X, y)
    assert np.isfinite(model.coef_).all()
    if C > 1 and loss != "square":
        assert model.score(X, y) == 1.0


def three_classes(n=120):
    X, _ = sample(n)
    score = X @ [1.0, -0.5, 0.2] + 0.5 * np.random.default_rng(5).normal(size=n)
    return X, np.array(["a", "b", "c"])[np.digitize(score, np.quantile(score, [0.3, 0.6]))]


@pytest.mark.parametrize(("loss", "penalty"), [("hinge", "l2"), ("hinge", "l1"), ("logit", "l2")])
def test_several_classes_are_one_against_the_rest(loss, penalty):
    X, y = three_classes()
    model = MarginClassifier(loss, penalty=penalty).fit(X, y)
    f = model.decision_function(X)
    for k, label in enumerate("abc"):
        alone = MarginClassifier(loss, penalty=penalty).fit(X, y == label)
        # One product of matrices or three of vectors.
        assert_allclose(f[:, k], alone.decision_function(X), rtol=1e-10, atol=1e-13)
    assert_array_equal(model.predict(X), model.classes_[f.argmax(axis=1)])
    if loss == "logit":
        p = 1 / (1 + np.exp(-f))
        assert_allclose(
            model.predict_proba(X), p / p.sum(axis=1, keepdims=True), rtol=1e-13
        )  # the same formula


def test_probabilities_are_there_where_the_loss_tells_them():
    X, y = three_classes()
    for loss, kind in NAMED.items():
        model = MarginClassifier(loss, max_iter=50).fit(X, y)
        assert hasattr(model, "predict_proba") == kind.has_probability
        if kind.has_probability:
            assert_allclose(model.predict_proba(X).sum(axis=1), 1.0, rtol=LAST_BITS)
    codes = np.unique(y, return_inverse=True)[1]
    path = MarginClassifier().fit_path(X, codes, np.ones(len(y)), [1.0], n_classes=3)
    with pytest.raises(ParameterError, match="gives no probabilities"):
        path.predict_path(X, "probability")


@pytest.mark.parametrize("penalty", ["l2", "l1"])
def test_class_weights_multiply_the_weights(penalty):
    X, y = three_classes()
    by_hand = np.select([y == "a", y == "c"], [3.0, 0.5], 1.0)
    model = MarginClassifier(penalty=penalty, class_weight={"a": 3.0, "c": 0.5}).fit(X, y)
    expected = MarginClassifier(penalty=penalty).fit(X, y, by_hand)
    assert_array_equal(model.coef_, expected.coef_)
    counts = {label: 120 / 3 / np.sum(y == label) for label in "abc"}
    balanced = MarginClassifier(class_weight="balanced").fit(X, y)
    expected = MarginClassifier(class_weight=counts).fit(X, y)
    assert_allclose(balanced.coef_, expected.coef_, rtol=SUMMED)
    for wrong in ("even", {"z": 1.0}, {"a": -1.0}, 3):
        with pytest.raises(ParameterError, match="class_weight"):
            MarginClassifier(class_weight=wrong).fit(X, y)


def test_classes_that_no_line_finds_have_the_same_constant_score():
    rng = np.random.default_rng(0)
    X, y, weight = rng.normal(size=(60, 2)), np.arange(60) % 5, rng.integers(1, 3, 60)
    copies = np.repeat(np.arange(60), weight)
    path = MarginClassifier().fit_path(X, y, weight.astype(float), [0.1, 1.0], n_classes=5)
    for model in (
        MarginClassifier().fit(X, y, weight),
        MarginClassifier().fit(X[copies], y[copies]),
        path.at(1),
    ):
        assert_array_equal(model.coef_, 0.0)
        assert_array_equal(model.intercept_, -1.0)
        assert_array_equal(model.predict(X), 0)  # the first of equals


@pytest.mark.parametrize("wrong", [0.0, -1.0, np.nan, np.inf, "1", True])
def test_wrong_parameters_are_refused(wrong):
    X, y = sample()
    with pytest.raises(ParameterError, match="C is"):
        MarginClassifier(C=wrong).fit(X, y)
    with pytest.raises(ParameterError, match="penalty"):
        MarginClassifier(penalty=wrong).fit(X, y)
    with pytest.raises(ParameterError, match="margin loss"):
        MarginClassifier(wrong).fit(X, y)
    with pytest.raises(ParameterError, match="max_iter"):
        MarginClassifier(max_iter=0).fit(X, y)
    for fit_intercept in ("no", None, 2, [True]):
        with pytest.raises(ParameterError, match=r"fit_intercept is .*; it must be True or False"):
            MarginClassifier(fit_intercept=fit_intercept).fit(X, y)
    with pytest.raises(DataError, match="one class"):
        MarginClassifier().fit(X, np.ones(80))


class CopiedHinge(MarginLoss):
    """A user's loss with a kink, which only "hinge" itself is ready for."""

    name = "copied hinge"

    def value(self, margin):
        return np.maximum(0, 1 - np.asarray(margin))

    def derivative(self, margin):
        return np.where(np.asarray(margin) < 1, -1.0, 0.0)


@pytest.mark.parametrize("penalty", ["l2", "l1"])
@pytest.mark.parametrize("C", [0.1, 10.0, 1000.0])
@pytest.mark.parametrize("noise", [0.0, 0.7])
def test_a_kink_that_stops_the_solver_is_said_aloud(penalty, C, noise):
    X, y = sample(noise=noise)
    with pytest.warns(ConvergenceWarning, match="seems to have a kink; give it a continuous"):
        model = MarginClassifier(CopiedHinge(), penalty=penalty, C=C).fit(X, y)
    assert not model.converged_
    with warnings.catch_warnings():
        warnings.simplefilter("error", ConvergenceWarning)
        assert MarginClassifier(Huberised(), penalty=penalty, C=C).fit(X, y).converged_


def test_too_few_steps_are_said_aloud_and_the_clock_is_looked_at():
    X, y = sample()
    with pytest.warns(ConvergenceWarning, match="raise max_iter"):
        model = MarginClassifier("logit", C=100.0, max_iter=1).fit(X, y)
    assert not model.converged_
    for loss in NAMED:
        with deadline(0), pytest.raises(DeadlineError):
            MarginClassifier(loss).fit(X, y)
