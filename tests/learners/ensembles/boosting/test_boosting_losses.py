"""The losses of boosting: derivatives, first constants, and the values of leaves."""

import re
from importlib import import_module

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import minimize_scalar

from empirisk import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from empirisk.learners.ensembles.boosting.boosting_loss import INVERSE_LINKS, BoostingLoss
from empirisk.learners.ensembles.boosting.classification_losses import (
    BinaryLogLoss,
    MultinomialLogLoss,
    classification_loss,
)
from empirisk.learners.ensembles.boosting.leaf_steps import (
    common_factor,
    halved_steps,
    huber_steps,
    leaf_quantiles,
)
from empirisk.learners.ensembles.boosting.regression_losses import (
    AbsoluteError,
    GammaDeviance,
    HuberLoss,
    PinballLoss,
    PoissonDeviance,
    SquaredError,
    regression_loss,
)
from empirisk.losses.weighted import weighted_quantile
from empirisk.runtime.errors import DataError, ParameterError
from tolerances import LAST_BITS, SUMMED

rng = np.random.default_rng(0)
POSITIVE = rng.gamma(2.0, size=60)
LOSSES = [
    (SquaredError(), rng.normal(size=60)),
    (AbsoluteError(), rng.normal(size=60)),
    (PinballLoss(0.8), rng.normal(size=60)),
    (HuberLoss(delta=0.7), rng.normal(size=60)),
    (PoissonDeviance(), rng.poisson(2.0, size=60).astype(float)),
    (GammaDeviance(), POSITIVE),
    (BinaryLogLoss(), rng.integers(0, 2, size=60)),
]
every_loss = pytest.mark.parametrize(("loss", "y"), LOSSES, ids=lambda loss: str(loss)[:20])
WEIGHT = rng.integers(1, 4, size=60).astype(float)


@every_loss
def test_gradients_are_the_derivatives_of_the_loss(loss, y):
    raw = rng.normal(size=60)  # no kink within the step of any row
    step = 1e-6
    slope = (loss.value(y, raw + step) - loss.value(y, raw - step)) / (2 * step)
    # Central differences: rounding 1e-16 / 1e-6, third derivatives below 1e2 times 1e-12.
    assert_allclose(loss.gradient(y, raw), slope, rtol=1e-7, atol=1e-8)
    assert_array_equal(loss.derivatives(y, raw)[0], loss.gradient(y, raw))


@every_loss
def test_curvatures_are_the_derivatives_of_the_gradient(loss, y):
    if loss.constant_curvature:
        assert loss.derivatives(y, np.zeros(60))[1] is None
        return
    raw = rng.normal(size=60)
    step = 1e-6
    bend = (loss.gradient(y, raw + step) - loss.gradient(y, raw - step)) / (2 * step)
    assert_allclose(loss.curvature(y, raw), bend, rtol=1e-7, atol=1e-8)  # as above
    assert_array_equal(loss.derivatives(y, raw)[1], loss.curvature(y, raw))


def test_of_many_classes_each_score_has_its_own_derivatives():
    loss, y, raw = MultinomialLogLoss(4), rng.integers(0, 4, size=30), rng.normal(size=(30, 4))
    gradient, curvature = loss.derivatives(y, raw)
    for k in range(4):
        step = 1e-6 * np.eye(4)[k]
        slope = (loss.value(y, raw + step) - loss.value(y, raw - step)) / 2e-6
        bend = (loss.gradient(y, raw + step) - loss.gradient(y, raw - step))[:, k] / 2e-6
        assert_allclose(gradient[:, k], slope, rtol=1e-7, atol=1e-8)  # as above
        assert_allclose(curvature[:, k], 2 * bend, rtol=1e-7, atol=1e-8)  # the diagonal, twice
    assert_allclose(gradient.sum(axis=1), 0, rtol=0, atol=1e-15 * 8)  # probabilities sum to 1


def test_twice_the_diagonal_bounds_the_curvature_of_many_classes():
    for p in rng.dirichlet(np.ones(5), size=50):
        bound = 2 * np.diag(p * (1 - p)) - (np.diag(p) - np.outer(p, p))
        assert np.linalg.eigvalsh(bound).min() > -1e-15  # rounding of numbers below 1


@every_loss
def test_the_first_constant_is_the_best_one(loss, y):
    start = loss.initial(y, WEIGHT)
    if isinstance(loss, HuberLoss):  # its delta is that of the residuals from the median
        loss = loss.for_round(y, np.full(60, weighted_quantile(y, WEIGHT, 0.5)), WEIGHT)

    def total(f):
        return WEIGHT @ loss.value(y, np.full(60, f))

    best = minimize_scalar(total, (start - 1, start + 1), options={"xtol": 1e-12})
    assert total(start) <= best.fun * (1 + 1e-12)  # the search itself stops at rounding


def test_the_first_constants_of_many_classes_are_their_shares():
    y = rng.integers(0, 3, size=60)
    loss = MultinomialLogLoss(3)
    start = loss.initial(y, WEIGHT)
    shares = np.bincount(y, WEIGHT) / WEIGHT.sum()
    assert_allclose(INVERSE_LINKS["softmax"](start), shares, rtol=SUMMED)
    assert abs(start.sum()) < SUMMED
    slope = loss.gradient(y, np.tile(start, (60, 1))).T @ WEIGHT
    assert_allclose(slope, 0, rtol=0, atol=SUMMED)


def test_two_classes_are_many_classes_with_scores_apart_by_f():
    f = rng.normal(size=50)
    y = rng.integers(0, 2, size=50)
    pair = np.column_stack([np.zeros(50), f])
    assert_allclose(INVERSE_LINKS["softmax"](pair)[:, 1], INVERSE_LINKS["logit"](f), rtol=LAST_BITS)
    two, many = BinaryLogLoss(), MultinomialLogLoss(2)
    assert_allclose(two.value(y, f), many.value(y, pair), rtol=SUMMED, atol=LAST_BITS)
    assert_allclose(two.gradient(y, f), many.gradient(y, pair)[:, 1], rtol=LAST_BITS)


@pytest.mark.parametrize("q", [0.0, 0.2, 0.5, 0.75, 1.0])
@pytest.mark.parametrize("whole", [True, False])
def test_quantiles_of_leaves_are_those_of_their_rows(q, whole):
    values = rng.integers(0, 9, size=200) / 2.0
    leaf = rng.permutation(np.repeat([0, 1, 2, 3], [1, 2, 60, 137]))
    weight = rng.integers(1, 4, size=200).astype(float) if whole else rng.uniform(0.5, 2, size=200)
    found = leaf_quantiles(values, weight, leaf, 4, q)
    wanted = [weighted_quantile(values[leaf == k], weight[leaf == k], q) for k in range(4)]
    assert_array_equal(found, wanted)


def test_the_step_of_huber_is_that_of_friedman():
    residual, leaf = rng.normal(size=80), rng.integers(0, 3, size=80)
    found = huber_steps(residual, np.ones(80), leaf, 3, 0.4)
    for k in range(3):
        r = residual[leaf == k]
        apart = r - np.median(r)
        step = np.median(r) + np.mean(np.sign(apart) * np.minimum(0.4, np.abs(apart)))
        assert_allclose(found[k], step, rtol=SUMMED)


@pytest.mark.parametrize(
    ("loss", "y"), [(GammaDeviance(), POSITIVE), (PoissonDeviance(), POSITIVE + 2)]
)
def test_leaves_have_the_best_step(loss, y):
    raw, leaf = 0.3 * rng.normal(size=60), rng.integers(0, 2, size=60)
    gradient, curvature = loss.derivatives(y, raw)
    sums = [np.bincount(leaf, WEIGHT * each) for each in (gradient, curvature)]
    steps = loss.leaf_steps(y, raw, WEIGHT, leaf, -sums[0] / sums[1])
    slope = np.bincount(leaf, WEIGHT * loss.gradient(y, raw + steps[leaf]))
    assert_allclose(slope, 0, rtol=0, atol=1e-11 * np.abs(sums[0]).max())  # sums of 60 numbers


def test_leaves_without_counts_have_the_step_of_newton():
    assert_array_equal(
        PoissonDeviance().leaf_steps(*[None] * 4, np.array([-1.0, -0.2])), [-1, -0.2]
    )


def test_steps_are_halved_until_the_loss_does_not_rise():
    y, leaf = np.array([1.0, 2.0, 5.0, 7.0]), np.array([0, 0, 1, 1])
    found = halved_steps(lambda f: (y - f) ** 2, np.zeros(4), leaf, np.array([1.5, 48.0]))
    assert_array_equal(found, [1.5, 12.0])  # 24 would give a larger loss, 12 an equal one
    away = halved_steps(lambda f: (y - f) ** 2, np.zeros(4), leaf, np.array([-1.0, 1.0]))
    assert_array_equal(away, [0.0, 1.0])


def test_the_common_factor_is_where_the_slope_is_0():
    assert common_factor(lambda s: s - 300.25) == pytest.approx(300.25, rel=SUMMED)
    assert common_factor(lambda s: 1.0) < 1e-15


class SquaredByHand:
    def value(self, y, raw):
        return (y - raw) ** 2 / 2

    def gradient(self, y, raw):
        return raw - y

    def curvature(self, y, raw):
        return np.ones(len(y))

    def initial(self, y, sample_weight):
        return np.average(y, weights=sample_weight)

    def inverse_link(self, raw):
        return raw


def test_a_loss_of_ones_own_that_is_the_squared_error_gives_its_model():
    X, y = rng.normal(size=(80, 3)), rng.normal(size=80)
    how = {"max_iter": 5, "min_samples_leaf": 4}
    own = HistGradientBoostingRegressor(SquaredByHand(), **how).fit(X, y)
    named = HistGradientBoostingRegressor(**how).fit(X, y)
    assert_allclose(own.predict(X), named.predict(X), rtol=1e-12, atol=1e-14)  # sums in one order


def test_the_link_of_a_loss_of_ones_own_is_its_own():
    """Also where it is a subclass of the base: squared errors of the square root."""

    class OfRoots(BoostingLoss):
        def value(self, y, raw):
            return (np.sqrt(y) - raw) ** 2 / 2

        def gradient(self, y, raw):
            return raw - np.sqrt(y)

        def initial(self, y, sample_weight):
            return np.average(np.sqrt(y), weights=sample_weight)

        def inverse_link(self, raw):
            return raw**2

    X = rng.normal(size=(80, 3))
    how = {"max_iter": 5, "min_samples_leaf": 4}
    own = HistGradientBoostingRegressor(OfRoots(), **how).fit(X, np.exp(X[:, 0]))
    roots = HistGradientBoostingRegressor(**how).fit(X, np.exp(X[:, 0] / 2))
    assert_allclose(own.predict(X), roots.predict(X) ** 2, rtol=SUMMED)


class OfClasses(SquaredByHand):
    """A loss of this library, by the five methods that a user gives."""

    def __init__(self, loss):
        self.loss = loss

    def value(self, y, raw):
        return self.loss.value(y, raw)

    def gradient(self, y, raw):
        return self.loss.gradient(y, raw)

    def curvature(self, y, raw):
        return self.loss.curvature(y, raw)

    def initial(self, y, sample_weight):
        return self.loss.initial(y, sample_weight)

    def inverse_link(self, raw):
        return self.loss.inverse_link(raw)


@pytest.mark.parametrize("loss", [BinaryLogLoss(), MultinomialLogLoss(3)], ids=["two", "three"])
def test_a_loss_of_ones_own_classifies(loss):
    X, score = rng.normal(size=(90, 3)), rng.normal(size=90)
    y = np.digitize(score + X[:, 0], [0.0] if isinstance(loss, BinaryLogLoss) else [-0.5, 0.5])
    how = {"max_iter": 4, "min_samples_leaf": 4}
    own = HistGradientBoostingClassifier(OfClasses(loss), **how).fit(X, y)
    named = HistGradientBoostingClassifier(**how).fit(X, y)
    # Exponentials of the compiled loop and of SciPy differ by a few units in the last place.
    assert_allclose(own.predict_proba(X), named.predict_proba(X), rtol=1e-10)
    assert_array_equal(own.predict(X), named.predict(X))
    assert_array_equal(list(own.staged_predict(X))[-1], named.predict(X))


def test_a_loss_of_ones_own_is_checked():
    X, y = rng.normal(size=(80, 3)), rng.normal(size=80)
    with pytest.raises(ParameterError, match="no method 'value'"):
        HistGradientBoostingRegressor(object()).fit(X, y)

    class Wrong(SquaredByHand):
        def gradient(self, y, raw):
            return np.ones(3)

    with pytest.raises(ParameterError, match=r"gradient of .* shape \(3,\)"):
        HistGradientBoostingRegressor(Wrong()).fit(X, y)

    class Bent(SquaredByHand):
        def curvature(self, y, raw):
            return -np.ones(len(y))

    with pytest.raises(ParameterError, match="negative"):
        HistGradientBoostingRegressor(Bent()).fit(X, y)

    class Short(SquaredByHand):
        def inverse_link(self, raw):
            return raw[:3]

    with pytest.raises(ParameterError, match=r"inverse_link of .* shape \(3,\)"):
        HistGradientBoostingRegressor(Short(), max_iter=2).fit(X, y).predict(X)

    for wrong in (np.nan, np.zeros(7)):

        class Lost(SquaredByHand):
            def initial(self, y, sample_weight, wrong=wrong):
                return wrong

        with pytest.raises(ParameterError, match="initial of the loss"):
            HistGradientBoostingRegressor(Lost()).fit(X, y)


@pytest.mark.parametrize("separable", [True, False])
def test_a_loss_of_ones_own_takes_newtons_steps_in_monotone_trees_too(separable):
    X = rng.normal(size=(150, 3))
    y = (X[:, 0] + (0 if separable else 1) * rng.normal(size=150) > 0).astype(int)
    how = {"max_iter": 8, "min_samples_leaf": 4, "monotonic_cst": [1, 0, 0]}
    own = HistGradientBoostingClassifier(OfClasses(BinaryLogLoss()), **how).fit(X, y)
    named = HistGradientBoostingClassifier(**how).fit(X, y)
    # Exponentials of the compiled loop and of SciPy differ by a few units in the last place.
    assert_allclose(own.decision_function(X), named.decision_function(X), rtol=1e-10)


def test_in_monotone_trees_steps_that_would_raise_a_loss_of_ones_own_are_all_halved():
    class Steep(SquaredByHand):
        def curvature(self, y, raw):
            return np.full(len(y), 0.3)  # Newton's steps are three times too long

    X, y = rng.normal(size=(150, 3)), rng.normal(size=150)
    how = {"max_iter": 1, "min_samples_leaf": 4, "monotonic_cst": [1, 0, 0], "learning_rate": 1.0}
    own = HistGradientBoostingRegressor(Steep(), **how).fit(X, y).predict(X) - y.mean()
    named = HistGradientBoostingRegressor(**how).fit(X, y).predict(X) - y.mean()
    assert_allclose(own, named / 0.3 / 2, rtol=1e-10)  # sums in another order


@pytest.mark.parametrize("start", [0.0, -12.0])
@pytest.mark.parametrize("monotone", [None, [1, 0, 0]])
def test_steps_to_where_a_loss_of_ones_own_is_no_number_are_halved(monotone, start):
    class Counts(OfClasses):
        def initial(self, y, sample_weight):
            return start  # far below: Newton's step is 2e4 or 3e9, and exp of that is infinite

        def inverse_link(self, raw):
            return np.exp(raw)

    X, y = rng.normal(size=(150, 3)), rng.poisson(2e4, size=150).astype(float)
    model = HistGradientBoostingRegressor(
        Counts(PoissonDeviance()), max_iter=80, monotonic_cst=monotone
    ).fit(X, y)
    assert_allclose(model.predict(X), 2e4, rtol=0.05)  # seven standard deviations of a count


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"loss": "cubic"}, "loss is 'cubic'; it must be one of squared_error"),
        ({"loss": "quantile"}, "quantile is None"),
        ({"loss": "quantile", "quantile": 1.5}, "quantile is 1.5"),
        ({"loss": "huber", "alpha": 1.0}, "alpha is 1.0"),
    ],
)
def test_losses_are_named_and_have_their_parameters(settings, message):
    with pytest.raises(ParameterError, match=message):
        HistGradientBoostingRegressor(**settings).fit(np.zeros((9, 1)), np.arange(9.0))


def test_losses_of_positive_numbers_refuse_others():
    with pytest.raises(DataError, match="values above 0"):
        HistGradientBoostingRegressor("gamma").fit(np.zeros((9, 1)), np.arange(9.0))
    with pytest.raises(DataError, match="values >= 0"):
        HistGradientBoostingRegressor("poisson").fit(np.zeros((9, 1)), np.arange(9.0) - 1)
    with pytest.raises(ParameterError, match="log_loss"):
        classification_loss("hinge", 2)
    assert regression_loss("huber", alpha=0.8) == HuberLoss(0.8)


@pytest.mark.parametrize("loss", ["squared_error", "poisson"])
def test_steps_that_leave_all_numbers_are_refused_and_not_predicted(loss):
    X = rng.normal(size=(100, 2))
    model = HistGradientBoostingRegressor(loss, learning_rate=50.0, max_iter=200)
    with pytest.raises(ParameterError, match="learning_rate is 50: give a smaller one"):
        model.fit(X, np.exp(X[:, 0]))


def test_a_loss_without_a_method_is_told_where_an_example_is():
    class Half:
        def gradient(self, y, raw):
            return raw - y

        def curvature(self, y, raw):
            return np.ones(raw.shape)

    with pytest.raises(
        ParameterError, match=r"no method 'value'; .* initial, inverse_link"
    ) as told:
        HistGradientBoostingRegressor(Half()).fit([[0.0], [1.0]], [0.0, 1.0])
    (named,) = re.findall(r"help\('(.*)'\)", str(told.value))
    assert "class LogCosh" in import_module(named).BoostingLoss.__doc__
