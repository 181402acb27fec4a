"""Bias and variance along an axis."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.base import clone
from sklearn.neighbors import KNeighborsRegressor
from sklearn.pipeline import make_pipeline

import empirisk
from empirisk import Axis, Encoder, Ridge
from empirisk.risk import populations
from empirisk.risk.decomposition import (
    bias_variance,
    decompose_path,
)
from empirisk.risk.populations import GaussianClasses, LinearModel
from empirisk.runtime.errors import ParameterError
from tolerances import SUMMED


@pytest.mark.parametrize(
    ("learner", "population"),
    [
        (Ridge(), LinearModel(np.ones(6), features=populations.Uniform(n_features=6))),
        (
            empirisk.LinearDiscriminantAnalysis(),
            GaussianClasses(np.eye(3), classes=["x", "y", "z"]),
        ),
        (make_pipeline(Encoder(), Ridge()), LinearModel(np.ones(6))),
    ],
    ids=["ridge", "lda", "encoded"],
)
def test_a_path_gives_what_a_loop_over_its_values_gives(learner, population):
    values = [0.01, 0.3, 0.9]
    own = learner[-1].axis if hasattr(learner, "steps") else learner.axis
    same = Axis(own.params, own.larger, own.scale)  # another object: no path is known for it
    options = {"n_sets": 12, "n_points": 40, "random_state": 0}
    path = decompose_path(learner, values, population, 40, **options)
    loop = decompose_path(learner, values, population, 40, axis=same, **options)
    for name in path[0].parts:
        # The first from one factorisation for all values, the others each from its own.
        assert_allclose(path.part(name), loop.part(name), rtol=1e-9, atol=1e-12)
    alone = clone(learner)
    (alone[-1] if hasattr(alone, "steps") else alone).set_params(**{own.params[0]: 0.3})
    once = bias_variance(alone, population, 40, **options)
    assert_allclose(path[1].total, once.total, rtol=SUMMED)


def test_the_default_grid_and_foreign_learners_on_a_path():
    population = LinearModel(np.ones(4), noise=3.0)
    path = decompose_path(Ridge(), None, population, 15, n_sets=20, n_points=20, random_state=0)
    assert len(path) == 100
    assert path.part("bias_squared")[0] > path.part("bias_squared")[-1]
    assert path.part("variance")[0] < path.part("variance")[-1]
    assert 0 < path.best < 99
    neighbours = Axis(("n_neighbors",), larger="simpler", scale="integer")
    foreign = decompose_path(
        KNeighborsRegressor(),
        [1, 5, 15],
        population,
        15,
        axis=neighbours,
        n_sets=12,
        n_points=200,
        random_state=0,
    )
    assert (np.diff(foreign.part("variance")) < 0).all()
    assert (np.diff(foreign.complexity) < 0).all()
    assert "n_neighbors = 5" in foreign.sentence
    with pytest.raises(ParameterError, match="default grid"):
        decompose_path(KNeighborsRegressor(), None, population, 15, axis=neighbours)
    with pytest.raises(ParameterError, match="no axis"):
        decompose_path(KNeighborsRegressor(), [1], population, 15)
    with pytest.raises(ParameterError, match="empty"):
        decompose_path(Ridge(), [], population, 15)
