"""The hat matrix of learners of any origin, and of which there is none."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.feature_selection import SelectKBest, f_regression
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import ElasticNet, Lasso, LassoCV, LogisticRegression, RidgeCV
from sklearn.linear_model import LinearRegression as PeerLinearRegression
from sklearn.neighbors import KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeRegressor, ExtraTreeRegressor

from empirisk import LinearRegression
from empirisk.learners.baseline import Baseline
from empirisk.risk.penalties.information_criteria import information_criteria
from empirisk.risk.penalties.linear_smoothers import hat_matrix
from empirisk.risk.penalties.optimism import optimism
from empirisk.runtime.errors import ParameterError
from optimism_rows import regression, ridge_hat_matrix
from tolerances import SUMMED

FOREIGN = [
    (PeerLinearRegression(), lambda X: ridge_hat_matrix(X, 0.0, np.ones(len(X)))),
    (
        make_pipeline(StandardScaler(), LinearRegression()),
        lambda X: ridge_hat_matrix(X, 0.0, np.ones(len(X))),
    ),
    (
        KernelRidge(alpha=1.0, kernel="linear"),
        lambda X: X @ X.T @ np.linalg.inv(X @ X.T + np.eye(len(X))),
    ),
    (
        KNeighborsRegressor(3),
        lambda X: np.stack(
            [(np.argsort(np.argsort(d)) < 3) / 3 for d in np.linalg.norm(X - X[:, None], axis=2)]
        ),
    ),
]


@pytest.mark.parametrize(("learner", "written_out"), FOREIGN, ids=lambda x: str(x)[:20])
def test_the_hat_matrix_of_learners_of_any_origin(learner, written_out):
    X, y = regression()
    expected = written_out(X)
    assert_allclose(
        hat_matrix(learner, X), expected, rtol=0, atol=1e-09
    )  # condition number below 1e3
    found = optimism(learner, X, y)
    assert found.method == "closed form"
    assert_allclose(found.degrees_of_freedom, np.trace(expected), rtol=SUMMED)


def test_rows_of_weight_zero_have_no_column_in_the_hat_matrix():
    X, y = regression(20)
    w = np.ones(20)
    w[3] = 0
    H = hat_matrix(LinearRegression(), X, sample_weight=w)
    assert H.shape == (20, 20)
    assert (H[:, 3] == 0).all()
    rest = np.delete(np.arange(20), 3)
    assert_allclose(H @ y, LinearRegression().fit(X[rest], y[rest]).predict(X), rtol=SUMMED)


@pytest.mark.parametrize(
    "learner",
    [
        DecisionTreeRegressor(max_leaf_nodes=3, random_state=0),
        Lasso(0.1),
        make_pipeline(SelectKBest(f_regression, k=1), LinearRegression()),
        LogisticRegression(),
        Baseline("absolute"),
    ],
    ids=lambda learner: type(learner).__name__,
)
def test_learners_that_are_not_linear_in_y_have_no_hat_matrix(learner):
    X, y = regression()
    with pytest.raises(ParameterError, match="not linear"):
        hat_matrix(learner, X)
    labels = y > 0 if isinstance(learner, LogisticRegression) else y
    with pytest.raises(ParameterError, match="no closed form"):
        optimism(learner, X, labels, method="closed_form")


@pytest.mark.parametrize(
    "learner",
    [
        Lasso(),
        Lasso(1e6),
        ElasticNet(1.0, l1_ratio=0.9),
        DecisionTreeRegressor(min_impurity_decrease=5, random_state=0),
        ExtraTreeRegressor(max_features=1, random_state=0),
        RidgeCV(),
        LassoCV(cv=3),
    ],
    ids=lambda learner: type(learner).__name__,
)
def test_what_seems_linear_with_noise_of_one_size_has_no_hat_matrix(learner):
    # Small effects are shrunk to zero, or equal outcomes not split, or noise not fitted.
    with pytest.raises(ParameterError, match="not linear"):
        hat_matrix(learner, regression()[0])


@pytest.mark.parametrize(
    "learner",
    [
        Lasso(1.0),
        ElasticNet(1.0, l1_ratio=0.9),
        DecisionTreeRegressor(min_impurity_decrease=5, random_state=0),
    ],
    ids=lambda learner: type(learner).__name__,
)
def test_what_is_shrunk_to_zero_at_the_scale_of_noise_is_not_at_the_scale_of_y(learner):
    X, y = regression(100, 10)
    y = 100 * y
    given = {"noise_variance": 100.0**2, "n_resamples": 60, "random_state": 0}
    auto = optimism(learner, X, y, **given)
    assert auto.method == "parametric bootstrap"
    assert (
        auto.degrees_of_freedom
        == optimism(learner, X, y, method="bootstrap", **given).degrees_of_freedom
    )
    assert auto.degrees_of_freedom > 8  # nearly all of 10 columns, nearly all of 100 rows
    criteria = information_criteria(learner, X, y, **given)
    assert criteria.degrees_of_freedom == auto.degrees_of_freedom
    # Where all is shrunk to zero, at y and around it, the learner is a constant.
    small = optimism(Lasso(1.0), X, y * 1e-7)
    assert small.method == "closed form"
    assert_allclose(small.degrees_of_freedom, 1, rtol=SUMMED)


def test_an_offset_of_y_does_not_hide_that_a_learner_is_not_linear():
    X, y = regression(60)
    for offset in (0.0, 1e6, 1e9):
        found = optimism(Lasso(0.1), X, y + offset, n_resamples=3, random_state=0)
        assert found.method == "parametric bootstrap"
        found = optimism(PeerLinearRegression(), X, y + offset)
        assert_allclose(found.degrees_of_freedom, 5, rtol=SUMMED)


def test_a_tree_is_not_linear_although_it_follows_every_shift_and_unit_of_y():
    X, _ = regression()
    tree = DecisionTreeRegressor(max_leaf_nodes=3, random_state=0)
    with pytest.raises(ParameterError, match="no closed form"):
        optimism(tree, X, np.full(40, 2.0), method="closed_form")


def test_several_outputs_at_once_do_not_make_a_tree_linear():
    # A tree that is grown for all unit vectors together has one structure, and leaf means.
    X, y = regression()
    found = optimism(
        DecisionTreeRegressor(max_leaf_nodes=4, random_state=0), X, y, n_resamples=5, random_state=0
    )
    assert found.method == "parametric bootstrap"
