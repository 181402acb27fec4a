"""Do the intervals hold the true risk? A small sample of settings; the certificate has many."""

import numpy as np
import pytest
from scipy import stats
from scipy.special import expit

from empirisk import (
    LinearDiscriminantAnalysis,
    LinearRegression,
    LogisticRegression,
    MarginClassifier,
    Ridge,
    Tuned,
    risk,
)
from empirisk.risk.intervals.interval import interval
from empirisk.risk.intervals.loss_table import LossTable

pytestmark = pytest.mark.slow
SETS, LEVEL = 400, 0.9
# An interval that covers 93 % falls below 88 % of 400 once in 5,000; one that covers 84 % passes
# once in 60.
LEAST = 0.88


def linear(rng, n, p):
    X, beta = rng.normal(size=(n, p)), np.eye(p)[0]
    return X, X @ beta + rng.normal(size=n), beta


def true_risk(model, beta):
    return 1 + np.sum((model.coef_ - beta) ** 2) + model.intercept_**2


def covers(estimate, truth):
    return estimate.interval[0] <= truth <= estimate.interval[1]


@pytest.mark.parametrize("judge", [risk.cross_validate, risk.leave_one_out])
@pytest.mark.parametrize(("n", "p"), [(60, 3), (100, 15)])
def test_least_squares(judge, n, p):
    held = []
    for b in range(SETS):
        X, y, beta = linear(np.random.default_rng([n, p, b]), n, p)
        truth = true_risk(LinearRegression().fit(X, y), beta)
        held.append(covers(judge(LinearRegression(), X, y, level=LEVEL, random_state=b), truth))
    assert np.mean(held) >= LEAST


@pytest.mark.parametrize("weighted", [False, True])
def test_discriminants(weighted):
    held = []
    for b in range(SETS):
        rng = np.random.default_rng([7, b])
        y = np.arange(100) % 2
        X = rng.normal(size=(100, 4))
        X[:, 0] += 2 * y - 1
        weight = rng.uniform(0.5, 2, size=100) if weighted else None
        model = LinearDiscriminantAnalysis().fit(X, y, weight)
        coef, at = model.coef_[0], model.intercept_[0]
        margin = np.array([at - coef[0], -at - coef[0]]) / np.linalg.norm(coef)
        found = risk.cross_validate(
            LinearDiscriminantAnalysis(), X, y, sample_weight=weight, level=LEVEL, random_state=b
        )
        held.append(covers(found, stats.norm.cdf(margin).mean()))
    assert np.mean(held) >= LEAST


@pytest.mark.parametrize("wrong", [0.05, 0.3])
def test_a_locked_test_set(wrong):
    n = 80
    held = []
    for row in np.random.default_rng(1).random(size=(SETS, n)) < wrong:
        table = LossTable(
            row.astype(float), np.ones(n), np.arange(n), np.zeros(n, int), np.inf, "test", (0, 1)
        )
        low, high = interval(table, LEVEL).ends
        held.append(low <= wrong <= high)
    assert np.mean(held) >= LEVEL - 4 * np.sqrt(0.09 / SETS)  # exact: fails once in 30,000


def test_a_tuned_ridge_after_its_choice():
    held = []
    for b in range(SETS):
        X, y, beta = linear(np.random.default_rng([8, b]), 80, 12)
        model = Tuned(Ridge(), random_state=b).fit(X, y)
        held.append(covers(model.risk_, true_risk(model.best_estimator_, beta)))
    assert np.mean(held) >= 0.93  # of 95 %, the default; one that covers 96 % fails once in 500


# An interval that covers 92 % falls below 85 % of 200 once in 1,000. By the losses alone 40 % of
# those of ridge contained either risk, and 61 and 77 % of the others that of the procedure.
FEW_SETS, LEAST_OF_FEW = 200, 0.85


def covered_twice(found, truths):
    """How often an interval contains the risk of the model, and that of the procedure."""
    model = np.mean([covers(*pair) for pair in zip(found, truths, strict=True)])
    return model, np.mean([covers(estimate, np.mean(truths)) for estimate in found])


@pytest.mark.parametrize(
    "strong",
    [LogisticRegression(C=0.03, l1_ratio=1.0), MarginClassifier("logit", penalty="l1", C=0.03)],
)
def test_a_sparse_classifier_under_a_strong_penalty(strong):
    rng = np.random.default_rng(5)
    test = rng.normal(size=(20_000, 20))
    p = expit(test[:, 0])
    found, truths = [], []
    for b in range(FEW_SETS):
        X = rng.normal(size=(300, 20))
        y = (rng.random(300) < expit(X[:, 0])).astype(int)
        found.append(risk.cross_validate(strong, X, y, loss="log", level=LEVEL, random_state=b))
        log_p = np.log(strong.fit(X, y).predict_proba(test))
        truths.append(-np.mean((1 - p) * log_p[:, 0] + p * log_p[:, 1]))
    assert min(covered_twice(found, truths)) >= LEAST_OF_FEW


def test_a_ridge_that_fewer_rows_penalise_more():
    found, truths = [], []
    for b in range(FEW_SETS):
        rng = np.random.default_rng([9, b])
        X = rng.normal(size=(500, 5))
        y = X.sum(axis=1) + 0.3 * rng.normal(size=500)
        model = Ridge(200.0).fit(X, y)
        truths.append(0.09 + np.sum((model.coef_ - 1) ** 2) + model.intercept_**2)
        found.append(risk.cross_validate(Ridge(200.0), X, y, level=LEVEL, random_state=b))
    assert min(covered_twice(found, truths)) >= LEAST_OF_FEW
