"""Sparse answers have the form of scikit-learn's."""

import numpy as np
import pytest
import sklearn
from scipy.sparse import csr_array, csr_matrix

from empirisk import DecisionTreeRegressor, KNeighborsRegressor, Lasso, RandomForestRegressor

ANSWERS = {
    "graph of neighbours": lambda X, y: KNeighborsRegressor(2).fit(X, y).kneighbors_graph(),
    "path in a tree": lambda X, y: DecisionTreeRegressor().fit(X, y).decision_path(X),
    "paths in a forest": lambda X, y: RandomForestRegressor(2).fit(X, y).decision_path(X)[0],
    "coefficients": lambda X, y: Lasso(0.1).fit(X, y).sparse_coef_,
}


@pytest.mark.parametrize("answer", ANSWERS)
def test_sparse_answers_are_matrices_unless_scikit_learn_is_set_to_arrays(answer):
    X = np.random.default_rng(0).normal(size=(20, 2))
    assert type(ANSWERS[answer](X, X[:, 0])) is csr_matrix
    if "sparse_interface" not in sklearn.get_config():
        pytest.skip("scikit-learn has this setting from 1.9 on")
    with sklearn.config_context(sparse_interface="sparray"):
        assert type(ANSWERS[answer](X, X[:, 0])) is csr_array
