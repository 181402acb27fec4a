"""Forward stagewise regression for any loss: margins, line searches, the best constant."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import minimize_scalar

from empirisk import (
    LinearRegression,
    Ridge,
    StagewiseRegressor,
    Tuned,
    losses,
)
from empirisk.learners.ensembles.boosting.column_rounds import ColumnRounds
from empirisk.learners.ensembles.boosting.forward_stagewise import forward_stagewise
from empirisk.learners.ensembles.boosting.regression_costs import (
    GradientCost,
    line_search,
)
from empirisk.runtime.errors import DataError
from stagewise_rows import data
from tolerances import LAST_BITS, SUMMED


class Huber(losses.RegressionLoss):
    """A loss of a user's own."""

    name = "huber"

    def __call__(self, y, prediction):
        r = np.abs(np.subtract(y, prediction))
        return np.where(r <= 1, r**2 / 2, r - 0.5)

    def derivative(self, y, prediction):
        return np.clip(np.subtract(prediction, y), -1, 1)


class Plain:
    """One that is no Loss at all, and has no best constant."""

    def __call__(self, y, prediction):
        return np.logaddexp(y - prediction, prediction - y)

    def derivative(self, y, prediction):
        return np.tanh(prediction - y)


LOSSES = ["absolute", "quantile:0.8", Huber(), Plain()]


@pytest.mark.parametrize("phi", [losses.Exponential(), losses.Logit(), losses.SquaredHinge()])
def test_margin_losses_give_a_discriminant_function(phi):
    # Each round by itself: least squares to -y phi'(y f), and the best step, by SciPy.
    X, y = data()
    y = np.where(y > np.median(y), 1, -1)
    model = StagewiseRegressor(Ridge(), 6, loss=phi, learning_rate=0.5, init="zero").fit(X, y)
    f = np.zeros(len(y))
    for stage in model.staged_predict(X):
        h = Ridge().fit(X, -y * phi.derivative(y * f)).predict(X)
        best = minimize_scalar(lambda s, f=f, h=h: phi.risk(y, f + s * h), tol=1e-14)
        f = f + 0.5 * best.x * h
        # The least value of a smooth function tells its place to the root of rounding errors.
        assert_allclose(stage, f, rtol=1e-6, atol=1e-6)
    assert np.mean(np.sign(f) == y) > 0.8
    tuned = Tuned(StagewiseRegressor(n_estimators=5, loss=phi), cv=3).fit(X, y)
    assert phi.name in str(tuned.risk_)
    with pytest.raises(DataError, match=r"-1 and \+1"):
        StagewiseRegressor(loss=phi).fit(X, y + 1)


@pytest.mark.parametrize("loss", LOSSES, ids=["absolute", "quantile", "own", "plain"])
@pytest.mark.parametrize("estimator", [None, "least_squares", LinearRegression()], ids=str)
def test_any_loss_falls_from_round_to_round(loss, estimator):
    X, y = data()
    model = StagewiseRegressor(estimator, 30, loss=loss).fit(X, y)
    score = model.train_score_
    # A step that is the best along h, or a tenth of it, is never worse: the loss is convex.
    assert (np.diff(score) <= 1e-12 * score[0]).all()
    assert score[-1] < 0.8 * np.mean(losses.as_loss(loss)(y, model._start) if isinstance(
        loss, str) else loss(y, model._start))  # fmt: skip


@pytest.mark.parametrize("loss", [losses.Absolute(), losses.Quantile(0.2), Huber(), Plain()])
@pytest.mark.parametrize("seed", range(3))
def test_the_line_search_finds_the_least_loss(loss, seed):
    rng = np.random.default_rng(seed)
    y, f, h, w = rng.normal(size=(4, 41))
    w, u = w**2, -loss.derivative(y, f)
    h = u + 0.3 * h  # goes down
    step = line_search(loss, y, f, h, w)
    at = w @ loss(y, f + step * h)
    for other in np.concatenate([step + np.linspace(-2, 2, 401), [0.0]]):
        assert at <= w @ loss(y, f + max(other, 0.0) * h) + 1e-12


def test_the_best_constant_is_found_for_a_loss_that_does_not_know_it():
    _, y = data()
    w = np.random.default_rng(0).uniform(size=len(y))
    start = GradientCost(Plain(), y, w).start()
    # The root of sum_i w_i tanh(c - y_i), found by another way.
    values = np.linspace(start - 1, start + 1, 2001)
    best = values[np.argmin([w @ Plain()(y, c) for c in values])]
    assert abs(best - start) <= LAST_BITS  # the middle of the grid


def test_squared_errors_by_a_line_search_are_those_of_least_squares():
    # Trees and lines are projections, so the best step is 1, along half the negative derivative.
    X, y = data()
    f = np.full((len(y), 1), y.mean())
    cost, weight = GradientCost(losses.Squared(), y, np.ones(len(y))), np.ones(len(y))
    forward_stagewise(ColumnRounds(X, centred=True), cost, f, rounds=20, rate=0.1)
    model = StagewiseRegressor("least_squares", 20).fit(X, y, weight)
    assert_allclose(f[:, 0], model.predict(X), rtol=SUMMED)


def test_a_tuned_loss_is_judged_by_itself():
    X, y = data()
    tuned = Tuned(StagewiseRegressor(n_estimators=5, loss="absolute"), cv=3).fit(X, y)
    assert "absolute" in str(tuned.risk_)
