"""Lasso and elastic net beside R's glmnet; the scripts of the same names made the numbers."""

import json
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from empirisk.learners.linear.elastic_net import ElasticNet
from empirisk.learners.linear.lasso import Lasso
from tolerances import SOLVED, SUMMED

HERE = Path(__file__).parent
REFERENCE = json.loads((HERE / "glmnet_paths.json").read_text())
QUICKSTART = json.loads((HERE / "glmnet_quickstart.json").read_text())
CASES = {
    "lasso": (Lasso(), False),
    "elastic_net": (ElasticNet(l1_ratio=0.3), False),
    "positive": (Lasso(positive=True), False),
    "weights": (Lasso(), True),
    # glmnet makes the factors add up to their number; these do.
    "penalty_factor": (Lasso(penalty_factor=REFERENCE["penalty_factor"]), False),
}


@pytest.mark.parametrize("name", CASES)
def test_the_path_of_glmnet(name):
    learner, weighted = CASES[name]
    weight = REFERENCE["weights"] if weighted else None
    path = learner.path(REFERENCE["x"], REFERENCE["y"], weight, values=REFERENCE["lambda"])
    wanted = REFERENCE["results"][name]
    # glmnet stops when no coefficient changes the deviance by more than 1e-20 of it: 1e-10 each.
    assert_allclose(path.coef[:, 0], wanted["coef"], rtol=0, atol=1e-09)
    assert_allclose(path.intercept[:, 0], wanted["intercept"], rtol=0, atol=SOLVED)
    assert_array_equal(np.count_nonzero(path.coef[:, 0], axis=1), wanted["df"])


def quickstart(alphas):
    """glmnet divides columns by their standard deviations: these are our penalty factors."""
    X, y = np.array(QUICKSTART["x"]), np.array(QUICKSTART["y"])
    return Lasso(penalty_factor=X.std(axis=0)).path(X, y, values=alphas), X, y


def test_glmnets_quick_start_run_to_the_end():
    path, X, _ = quickstart(QUICKSTART["lambda"])
    assert_allclose(path.coef[:, 0], QUICKSTART["coef"], rtol=0, atol=1e-09)  # as above
    assert_allclose(path.intercept[:, 0], QUICKSTART["intercept"], rtol=0, atol=SOLVED)
    # Sums of up to twenty coefficients times features of size 1.
    assert_allclose(path.predict_path(X[:5]).T, QUICKSTART["predictions"], rtol=0, atol=1e-8)


def test_glmnets_quick_start_as_its_vignette_prints_it():
    path, X, _ = quickstart([0.5, 0.1, 0.05])
    printed, coef = QUICKSTART["printed"], path.coef[:, 0]
    exact = [path.intercept[0, 0], *coef[0][coef[0] != 0]]
    # The default threshold of 1e-7 of the deviance stops glmnet some 1e-6 short of the minimum.
    assert_allclose(exact, printed["lambda_0.5_intercept_and_nonzero"], rtol=0, atol=5e-06)
    # These are interpolated between two penalties of its grid, and the path has bends there.
    assert_allclose(coef[1][:7], printed["lambda_0.1_first_seven"], rtol=0, atol=5e-5)
    found = path.predict_path(X[:5])[:, 2]
    # As above, in sums of up to twenty coefficients.
    assert_allclose(found, printed["lambda_0.05_predictions"], rtol=0, atol=2e-3)


def test_the_grid_of_glmnet_begins_where_all_coefficients_are_zero():
    start = QUICKSTART["path_start"]
    path, X, y = quickstart(start["lambda"])
    assert quickstart(None)[0].values[0] == pytest.approx(start["lambda"][0], rel=SUMMED)
    used = np.abs(path.coef[:, 0]) > 1e-12  # the first penalty is printed to 15 digits
    assert_array_equal(used.sum(axis=1), start["df"])
    residual = y[:, np.newaxis] - path.predict_path(X)
    explained = 1 - (residual**2).mean(axis=0) / y.var()
    assert_allclose(explained, start["deviance"], rtol=0, atol=1e-06)  # at its default threshold
