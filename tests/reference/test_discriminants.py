"""Discriminant analysis of R's MASS (7.3-58.2 by R 4.2.2), made by discriminants.R."""

import json
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.model_selection import LeaveOneOut

from empirisk import LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis, risk
from tolerances import SOLVED

R = json.loads((Path(__file__).parent / "discriminants.json").read_text())
SETS = ["iris", "pima", "crabs", "made"]
LEARNERS = {"lda": LinearDiscriminantAnalysis, "qda": QuadraticDiscriminantAnalysis}

every_set = pytest.mark.parametrize("name", SETS)
every_prior = pytest.mark.parametrize("priors", ["estimated", "given"])
every_learner = pytest.mark.parametrize("learner", LEARNERS)


def rows_of(name):
    return np.array(R[name]["x"]), np.array(R[name]["y"])


@every_set
@every_prior
@every_learner
@pytest.mark.parametrize("unbiased", [False, True])
@pytest.mark.parametrize("solver", ["cholesky", "eigen"])
def test_posteriors_are_those_of_mass(name, priors, learner, unbiased, solver):
    X, y = rows_of(name)
    found = R[name][priors]
    given = found["prior"] if priors == "given" else None
    model = LEARNERS[learner](priors=given, unbiased=unbiased, solver=solver).fit(X, y)
    wanted = np.array(found[learner + "_unbiased" * unbiased])
    assert_allclose(model.priors_, found["prior"], rtol=1e-14)  # R prints 15 digits
    # R rounds the logarithms of densities, of about 1e2, to 1e-14.
    assert_allclose(model.predict_proba(X[::10]), wanted, rtol=1e-8, atol=1e-12)


@every_set
@every_learner
def test_leave_one_out_is_that_of_mass(name, learner):
    X, y = rows_of(name)
    found = R[name]["given"]  # R keeps estimated priors when a row is left out, we do not
    model = LEARNERS[learner](priors=found["prior"])
    problem = risk.Problem.of(model, X, y, loss="log")
    losses = risk.out_of_fold(model, problem, problem.plan(LeaveOneOut()))
    assert losses.rung == "plan"
    wanted = np.array(found[f"{learner}_left_out"])
    # A made column varies by 1 about 1000: its deviations are rounded to 1e-13, and what is left of
    # a small class without a row to some hundred times that.
    assert_allclose(losses.predictions(0)[::10], wanted, rtol=1e-9)


@every_set
@every_prior
def test_coordinates_are_those_of_mass(name, priors):
    X, y = rows_of(name)
    found = R[name][priors]
    lda = LinearDiscriminantAnalysis(priors=found["prior"], unbiased=True).fit(X, y)
    scaling = np.array(found["scaling"])
    sign = np.sign((scaling * lda.scalings_).sum(axis=0))
    # Directions whose separability differs little are found to fewer digits.
    assert_allclose(lda.scalings_, scaling * sign, rtol=1e-7, atol=1e-9)
    # MASS divides the weighted squares between classes by K - 1 where we divide by 1.
    n, K = len(y), len(lda.classes_)
    ratio = np.atleast_1d(found["separation"]) ** 2 * (K - 1) / n
    assert_allclose(lda.separability_, ratio, rtol=SOLVED)
