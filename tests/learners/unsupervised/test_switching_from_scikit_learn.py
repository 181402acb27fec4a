"""Code written for scikit-learn's PCA and KMeans runs on ours."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal
from scipy.sparse import coo_array, csc_matrix, csr_array

from empirisk import PCA, KMeans, StochasticKMeans, Tuned

LEARNERS = [PCA(2), KMeans(3, random_state=0), StochasticKMeans(3, random_state=0)]


def sample(n=90):
    X = np.random.default_rng(0).normal(size=(n, 4))
    X[X < 0.3] = 0.0
    return X


@pytest.mark.parametrize("form", [csr_array, csc_matrix, coo_array, "frame"])
@pytest.mark.parametrize("learner", LEARNERS, ids=lambda each: type(each).__name__)
def test_a_sparse_matrix_is_learned_from_as_the_array_that_it_stands_for(learner, form):
    X = sample()
    if form == "frame":
        sparse = pd.DataFrame(X).astype(pd.SparseDtype(float, 0.0))
    else:
        sparse = form(X)
    weight = np.r_[0.0, np.ones(len(X) - 1)]
    wanted = learner.fit_transform(X, sample_weight=weight)
    assert_array_equal(learner.fit_transform(sparse, sample_weight=weight), wanted)
    assert_array_equal(learner.transform(sparse), wanted)
    if hasattr(learner, "labels_"):
        assert_array_equal(learner.predict(sparse), learner.predict(X))
        assert len(learner.labels_) == len(X)
    assert learner.score(sparse) == learner.score(X)


@pytest.mark.parametrize("learner", LEARNERS, ids=lambda each: type(each).__name__)
def test_sparse_rows_are_held_out_like_others(learner):
    X = sample()
    tuned = [
        Tuned(learner, cv=3, values=[1, 2], random_state=0).fit(each) for each in (X, csr_array(X))
    ]
    assert tuned[0].risk_.value == tuned[1].risk_.value
