"""Lasso and elastic net beside R's glmnet; glmnet_paths.R made the numbers."""

import json
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from empirisk.learners.linear.elastic_net import ElasticNet
from empirisk.learners.linear.lasso import Lasso

REFERENCE = json.loads((Path(__file__).parent / "glmnet_paths.json").read_text())
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
    assert_allclose(path.coef[:, 0], wanted["coef"], atol=1e-9)
    assert_allclose(path.intercept[:, 0], wanted["intercept"], atol=1e-9)
    assert_array_equal(np.count_nonzero(path.coef[:, 0], axis=1), wanted["df"])
