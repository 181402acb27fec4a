"""Intervals of rules that a penalty keeps far from the minimum of their loss.

Rows move their risk twice, by their losses and through the coefficients
(`risk/intervals/influence.py`).
"""

import numpy as np
import pytest
from scipy.special import expit, logit
from sklearn import linear_model
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from empirisk import LogisticRegression, MarginClassifier, Ridge, Tuned, risk
from empirisk.losses import Brier, Log, Squared, ZeroOne
from empirisk.risk.intervals.cautions import NEAR_A_CONSTANT
from empirisk.risk.intervals.interval import interval
from empirisk.risk.intervals.loss_table import LossTable
from empirisk.risk.intervals.timid import TIMID, are_timid

THROUGH = "these move the risk through what is learned"
FEWER = "beside fewer of them the penalty counts for more"
SMALL = 1e-4
FIRST_ORDER = 1e-2  # a difference over a step of 1e-4, and conjugate gradients to 1e-3


def sample(n=300, p=5, n_classes=2, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p)) + 1
    scores = X @ rng.normal(size=(p, n_classes)) + rng.gumbel(size=(n, n_classes))
    return X, scores.argmax(axis=1)


CLASSIFIERS = {
    "l2": LogisticRegression(C=0.01),
    "l1": LogisticRegression(C=0.05, l1_ratio=1.0),
    "net": LogisticRegression(C=0.03, l1_ratio=0.5),
    "no intercept": LogisticRegression(C=0.01, fit_intercept=False),
    "squared hinge": MarginClassifier("squared_hinge", C=0.001),
    "sparse logit": MarginClassifier("logit", C=0.05, penalty="l1"),
}


@pytest.mark.parametrize("loss", [Log(), Brier()])
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("name", CLASSIFIERS)
def test_the_influence_of_a_row_is_what_a_little_more_of_it_changes(name, n_classes, loss):
    X, y = sample(120, n_classes=n_classes)
    weight = np.random.default_rng(1).uniform(0.5, 2, size=120)
    learner = CLASSIFIERS[name]
    loss = loss.for_classes(np.arange(n_classes))

    def risk_at(trained, C):
        path = learner.fit_path(X, y, trained, [C], n_classes=n_classes)
        prediction = path.predict_path(X, "probability")[:, 0]
        return weight @ loss(y, prediction) / weight.sum()

    path = learner.fit_path(X, y, weight, [learner.C], n_classes=n_classes)
    found = path.influence(0, loss, weight)
    total, base = weight.sum(), risk_at(weight, learner.C)
    changes = []
    for i in (3, 50, 110):
        more = weight + SMALL * total * (np.arange(120) == i)
        changes.append((risk_at(more, learner.C / (1 + SMALL)) - base) / SMALL)
    scale = np.abs(found.through).max()
    changes.append((risk_at(weight, learner.C / (1 + SMALL)) - base) / SMALL)
    first_order = np.append(found.through[[3, 50, 110]], found.rise)
    np.testing.assert_allclose(
        first_order / scale, np.array(changes) / scale, rtol=0, atol=FIRST_ORDER
    )
    assert abs(weight @ found.through) < 1e-9 * total * scale  # a sum of 120 rounded numbers


@pytest.mark.parametrize("outputs", [1, 2])
def test_the_rise_of_ridge_is_the_slope_of_its_training_risk(outputs):
    rng = np.random.default_rng(0)
    X, weight = rng.normal(size=(60, 4)) * [1, 2, 3, 0.1] + 5, rng.uniform(0.5, 2, size=60)
    y = X @ rng.normal(size=(4, outputs)) + rng.normal(size=(60, outputs))
    for alpha in (1.0, 30.0, 1000.0):
        path = Ridge().fit_path(X, y, weight, [alpha, alpha * (1 + SMALL)])
        losses = np.square(path.predict_path(X) - y[:, None]).mean(axis=2)
        low, high = weight @ losses / weight.sum()
        found = path.influence(0, Squared(), weight).rise
        np.testing.assert_allclose(found, (high - low) / SMALL, rtol=FIRST_ORDER)


@pytest.mark.parametrize("loss", ["log", "zero_one"])
@pytest.mark.parametrize(
    ("learner", "strong"),
    [
        (LogisticRegression(l1_ratio=1.0), 0.03),
        (MarginClassifier("logit", penalty="l1"), 0.02),
    ],
)
def test_an_interval_is_wider_where_rows_move_the_risk_through_the_coefficients(
    learner, strong, loss
):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 20))
    y = (X[:, 0] + rng.logistic(size=300) > 0).astype(int)
    said = []
    for C in (strong, 1.0):
        found = risk.cross_validate(learner.set_params(C=C), X, y, loss=loss, random_state=0)
        said.append(THROUGH in found.reason)
    assert said == [True, False]


def test_an_interval_of_ridge_is_wider_where_fewer_rows_are_penalised_more():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(500, 5))
    y = X.sum(axis=1) + 0.3 * rng.normal(size=500)
    said = [FEWER in risk.cross_validate(Ridge(a), X, y, random_state=0).reason for a in (200, 1)]
    assert said == [True, False]
    assert FEWER not in risk.leave_one_out(Ridge(200), X, y).reason


@pytest.mark.parametrize("fit_intercept", [True, False])
def test_a_rule_without_coefficients_is_the_constant_one(fit_intercept):
    X, y = sample()
    learner = LogisticRegression(C=1e-6, l1_ratio=1.0, fit_intercept=fit_intercept)
    assert not learner.fit(X, y).coef_.any()
    assert THROUGH not in risk.cross_validate(learner, X, y, random_state=0).reason


@pytest.mark.parametrize(("l1_ratio", "loss"), [(0.0, "zero_one"), (1.0, "log")])
def test_at_the_penalty_that_is_best_an_interval_is_as_the_losses_tell(l1_ratio, loss):
    X, y = sample(150)
    tuned = Tuned(LogisticRegression(l1_ratio=l1_ratio), loss=loss, random_state=0).fit(X, y)
    assert THROUGH not in tuned.risk_.reason
    assert FEWER not in tuned.risk_.reason


def test_a_share_that_rows_move_far_is_approximate():
    losses = np.repeat([0.0, 1.0], 100)
    for spread, doubted in ((0.1, False), (2.0, True)):
        table = LossTable(
            losses,
            np.ones(200),
            np.arange(200),
            np.arange(200) % 10,
            180,
            "kfold",
            (0, 1),
            5.0,
            through=spread * np.tile([-1.0, 1.0], 100),
        )
        assert (NEAR_A_CONSTANT in interval(table, 0.9).cautions) == doubted


def test_where_a_learner_cannot_tell_the_influence_the_losses_alone_count():
    X, y = sample()
    found = MarginClassifier("hinge").fit_path(X, y, np.ones(300), [1.0], n_classes=2)
    assert found.influence(0, ZeroOne(), np.ones(300)) is None
    no_penalty = LogisticRegression(C=np.inf).fit_path(X, y, np.ones(300), [np.inf], n_classes=2)
    assert no_penalty.influence(0, Log(), np.ones(300)) is None


def test_of_scikit_learn_an_interval_under_a_strong_penalty_is_doubted():
    X, y = sample()
    doubted = [
        TIMID in risk.cross_validate(learner, X, y, loss="log", random_state=0).cautions
        for C in (1e-3, 1.0)
        for learner in (
            linear_model.LogisticRegression(C=C),
            make_pipeline(StandardScaler(), linear_model.LogisticRegression(C=C)),
        )
    ]
    assert doubted == [True, True, False, False]


def test_probabilities_are_timid_where_longer_log_odds_would_cost_less():
    rng = np.random.default_rng(0)
    score = rng.normal(size=20_000) - 1
    y = (rng.random(20_000) < expit(2 * score)).astype(int)
    base = logit(y.mean())
    found = []
    for length in (0.5, 0.6, 0.75, 1.0, 1.5):  # of log-odds, where 1 is right and 1 / 1.5 the limit
        f = base + length * (2 * score - base)
        found.append(are_timid(np.logaddexp(0, (1 - 2 * y) * f), y, np.ones(20_000)))
    assert found == [True, True, False, False, False]
