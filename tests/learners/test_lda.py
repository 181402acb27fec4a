"""Linear discriminant analysis: twins, a reference, blocks, and what it refuses."""

import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.special import softmax
from sklearn.datasets import load_iris
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis as Twin
from sklearn.utils.estimator_checks import check_estimator

from discriminant_rows import sample
from empirisk.learners.generative.lda import LinearDiscriminantAnalysis
from empirisk.runtime.errors import DataError, EmpiriskWarning, ParameterError
from tolerances import LAST_BITS, SOLVED, SUMMED


def naive_probabilities(X, y, at, weight, shrinkage, priors=None):
    """The formulas, one class at a time."""
    classes = np.unique(y)
    n, p = weight.sum(), X.shape[1]
    within = sum(
        np.cov(X[y == k].T, aweights=weight[y == k], ddof=0).reshape(p, p) * weight[y == k].sum()
        for k in classes
    )
    within = (1 - shrinkage) * within / n + shrinkage * np.trace(within / n) / p * np.eye(p)
    score = np.empty((len(at), len(classes)))
    for j, k in enumerate(classes):
        share = weight[y == k].sum() / n if priors is None else priors[j]
        away = at - np.average(X[y == k], axis=0, weights=weight[y == k])
        score[:, j] = np.log(share) - np.sum(away @ np.linalg.inv(within) * away, axis=1) / 2
    return softmax(score, axis=1)


@pytest.mark.parametrize("n_classes", [2, 3, 5])
@pytest.mark.parametrize("shrinkage", [None, 0.0, 0.05, 0.7, 1.0])
def test_it_agrees_with_scikit_learn(n_classes, shrinkage):
    X, y = sample(n_classes=n_classes)
    ours = LinearDiscriminantAnalysis(shrinkage=shrinkage, store_covariance=True).fit(X, y)
    twin = Twin(solver="lsqr", shrinkage=shrinkage).fit(X, y)
    # Condition numbers below 1e2, double precision.
    assert_allclose(ours.predict_proba(X), twin.predict_proba(X), rtol=1e-9, atol=1e-13)
    assert_allclose(ours.covariance_, twin.covariance_, rtol=1e-12)
    assert_allclose(ours.means_, twin.means_, rtol=1e-11, atol=1e-14)
    assert_allclose(ours.priors_, twin.priors_, rtol=1e-15)
    assert_array_equal(ours.predict(X), twin.predict(X))
    assert ours.coef_.shape == twin.coef_.shape
    assert ours.intercept_.shape == twin.intercept_.shape
    assert ours.decision_function(X).shape == twin.decision_function(X).shape
    if n_classes == 2:
        assert_allclose(ours.coef_, twin.coef_, rtol=SUMMED)
        assert_allclose(ours.intercept_, twin.intercept_, rtol=SUMMED)


def test_the_functions_are_those_of_scikit_learns_default_solver():
    X, y = sample()
    ours, twin = LinearDiscriminantAnalysis().fit(X, y), Twin(solver="svd").fit(X, y)
    assert_allclose(ours.decision_function(X), twin.decision_function(X), rtol=SOLVED, atol=SOLVED)
    assert_allclose(ours.coef_, twin.coef_, rtol=SUMMED, atol=SUMMED)
    assert_allclose(ours.xbar_, twin.xbar_, rtol=SUMMED, atol=LAST_BITS)
    linear = X @ ours.coef_.T + ours.intercept_
    assert_allclose(ours.decision_function(X), linear, rtol=SUMMED, atol=SUMMED)


@pytest.mark.parametrize("priors", [None, [0.2, 0.5, 0.3]])
@pytest.mark.parametrize("shrinkage", [0.0, 0.3])
def test_weights_and_priors_follow_the_formulas(priors, shrinkage):
    X, y = sample()
    weight = np.random.default_rng(1).uniform(0.1, 3, len(y))
    ours = LinearDiscriminantAnalysis(shrinkage=shrinkage, priors=priors).fit(X, y, weight)
    naive = naive_probabilities(X, y, X, weight, shrinkage, priors)
    assert_allclose(ours.predict_proba(X), naive, rtol=SUMMED, atol=SUMMED)
    assert_allclose(np.exp(ours.predict_log_proba(X)), naive, rtol=SUMMED, atol=SUMMED)


# R 4.2.2, MASS 7.3-58.2, some rows of iris: posterior probabilities by
# predict(lda(x, Species, method = "mle"), method = "plug-in").
IRIS_ROWS = np.array([51, 71, 78, 84, 107, 120, 134, 139, 150]) - 1
IRIS_VERSICOLOR = [
    9.999081719179830e-01, 2.490773339527451e-01, 6.926839366861914e-01, 1.389693681491484e-01,
    4.588857025654728e-02, 2.164031829008114e-01, 7.333635677090254e-01, 1.880184927022469e-01,
    1.618115303225124e-02,
]  # fmt: skip
IRIS_SETOSA = [
    8.571909630223383e-19, 2.094227007128813e-28, 1.663527612927188e-27, 9.793100374108677e-33,
    8.309620336283989e-34, 3.459856293143061e-34, 3.503254721872559e-29, 1.210063286521399e-29,
    6.203833905135596e-34,
]  # fmt: skip


def test_iris_as_in_r():
    X, y = load_iris(return_X_y=True)
    lda = LinearDiscriminantAnalysis().fit(X, y)
    means = [
        [5.006, 3.428, 1.462, 0.246],
        [5.936, 2.770, 4.260, 1.326],
        [6.588, 2.974, 5.552, 2.026],
    ]
    assert_allclose(lda.means_, means, rtol=LAST_BITS)
    assert_allclose(lda.priors_, 1 / 3, rtol=LAST_BITS)
    probability = lda.predict_proba(X[IRIS_ROWS])
    # R whitens twice and sums squares of about 1e2: eleven digits of the logarithms agree.
    assert_allclose(probability[:, 1], IRIS_VERSICOLOR, rtol=1e-10)
    assert_allclose(probability[:, 0], IRIS_SETOSA, rtol=1e-10)
    assert_array_equal(np.flatnonzero(lda.predict(X) != y) + 1, [71, 84, 134])


@pytest.mark.parametrize("shrinkage", [None, 0.2])
def test_check_estimator(shrinkage):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # scikit-learn's data are often deficient by design
        check_estimator(LinearDiscriminantAnalysis(shrinkage=shrinkage))


@pytest.mark.parametrize("labels", [np.array(["b", "c", "a"]), np.array([7, -1, 3])])
def test_blocks_give_the_same_bits(labels):
    X, codes = sample(n=10_000)
    y, weight = labels[codes], np.random.default_rng(1).integers(0, 3, 10_000).astype(float)
    X[:, 0] *= 1e200
    pieces = [(X[a:b], y[a:b], weight[a:b]) for a, b in ((0, 17), (17, 9000), (9000, 10_000))]
    whole = LinearDiscriminantAnalysis(shrinkage=0.1).fit(X, y, weight)
    streamed = LinearDiscriminantAnalysis(shrinkage=0.1).fit_blocks(lambda: iter(pieces))
    for name in ("classes_", "priors_", "means_", "coef_", "intercept_", "xbar_"):
        assert_array_equal(getattr(streamed, name), getattr(whole, name))
    assert_array_equal(streamed.predict_proba(X), whole.predict_proba(X))


def test_blocks_of_one_class_or_of_numbers_are_refused():
    X, _ = sample()
    with pytest.raises(DataError, match="one class"):
        LinearDiscriminantAnalysis().fit_blocks([(X[:9], np.zeros(9))])
    with pytest.raises(ValueError, match="continuous"):
        LinearDiscriminantAnalysis().fit_blocks([(X, X[:, 0])])


VALUES = [0.0, 1e-12, 0.001, 0.3, 1.0, None]


def test_a_path_holds_the_bits_of_each_fit():
    X, y = sample()
    weight = np.random.default_rng(1).uniform(0.1, 3, len(y))
    path = LinearDiscriminantAnalysis().fit_path(X, y, weight, VALUES, n_classes=3)
    probability, value = path.predict_path(X, "probability"), path.predict_path(X, "value")
    assert probability.shape == (120, 6, 3)
    assert value.dtype.kind == "i"
    for j, shrinkage in enumerate(VALUES):
        fitted = LinearDiscriminantAnalysis(shrinkage=shrinkage).fit(X, y, weight)
        of_path = path.at(j)
        assert of_path.get_params() == fitted.get_params()
        assert_array_equal(of_path.classes_, np.arange(3))
        assert_array_equal(of_path.coef_, fitted.coef_)
        # One product for all shrinkages sums in another order than one for each.
        assert_allclose(probability[:, j], fitted.predict_proba(X), rtol=1e-11, atol=1e-15)
        assert_array_equal(value[:, j], fitted.predict(X))


def test_the_default_grid_leaves_out_what_cannot_be_inverted():
    X, y = sample()
    lda, weight = LinearDiscriminantAnalysis(), np.ones(120)
    enough = lda.axis_values(X, y, weight, n_train=7)
    few = lda.axis_values(X, y, weight, n_train=6)
    assert enough[0] == 0
    assert few[0] > 0
    for grid in (enough, few):
        assert grid[-1] == 1
        assert (np.diff(grid) > 0).all()
        assert 15 <= len(grid) <= 30
    assert_array_equal(lda.axis.complexity(enough), np.arange(len(enough))[::-1])


def test_of_equal_discriminants_the_first_class_is_taken():
    X = np.array([[-1.0], [-3.0], [1.0], [3.0]])
    lda = LinearDiscriminantAnalysis().fit(X, ["b", "b", "a", "a"])
    assert lda.decision_function([[0.0]])[0] == 0
    assert lda.predict([[0.0]])[0] == "a"
    X3 = np.array([[-1.0], [-3], [1], [3], [2], [2]])  # all three means at 0 or 2
    lda = LinearDiscriminantAnalysis(priors=[1 / 3] * 3).fit(X3, [2, 2, 0, 0, 1, 1])
    assert lda.predict([[2.0]])[0] == 0


def test_a_class_of_prior_0_is_never_predicted():
    X, y = sample()
    lda = LinearDiscriminantAnalysis(priors=[0, 0.5, 0.5]).fit(X, y)
    assert_array_equal(lda.predict_proba(X)[:, 0], 0)
    assert not (lda.predict(X) == 0).any()
    two = y < 2
    lda = LinearDiscriminantAnalysis(priors=[0, 1]).fit(X[two], y[two])
    assert_array_equal(lda.predict_proba(X), np.tile([0.0, 1.0], (len(X), 1)))
    assert_array_equal(lda.predict(X), 1)


@pytest.mark.parametrize("shrinkage", [-0.1, 1.5, "none", np.nan, True])
def test_a_wrong_shrinkage_is_refused(shrinkage):
    X, y = sample()
    with pytest.raises(ParameterError, match="shrinkage"):
        LinearDiscriminantAnalysis(shrinkage=shrinkage).fit(X, y)


@pytest.mark.parametrize("priors", [[0.5, 0.5], [1, -1, 1], [np.nan, 0.5, 0.5], [0, 0, 0]])
def test_wrong_priors_are_refused(priors):
    X, y = sample()
    with pytest.raises(ParameterError, match="priors"):
        LinearDiscriminantAnalysis(priors=priors).fit(X, y)


def test_other_wrong_parameters_are_refused():
    X, y = sample()
    with pytest.raises(ParameterError, match="tol"):
        LinearDiscriminantAnalysis(tol=-1.0).fit(X, y)
    for name in ("unbiased", "store_covariance"):
        with pytest.raises(ParameterError, match=f"{name} is 'no'; it must be True or False"):
            LinearDiscriminantAnalysis(**{name: "no"}).fit(X, y)
    with pytest.warns(EmpiriskWarning, match="sum to 6"):
        lda = LinearDiscriminantAnalysis(priors=[1, 2, 3]).fit(X, y)
    assert_allclose(lda.priors_, [1 / 6, 2 / 6, 3 / 6], rtol=LAST_BITS)
    path = LinearDiscriminantAnalysis().fit_path(X, y, np.ones(120), [0.1], n_classes=3)
    with pytest.raises(ParameterError, match="density"):
        path.predict_path(X, "density")
    with pytest.raises(DataError, match="one class"):
        LinearDiscriminantAnalysis().fit(X, np.zeros(120))


@pytest.mark.parametrize("solver", ["eigen", "lsqr", "svd"])
def test_the_solvers_that_leave_the_covariance_are_those_of_scikit_learn(solver):
    X, y = load_iris(return_X_y=True)
    ours = LinearDiscriminantAnalysis(solver=solver).fit(X, y)
    theirs = Twin(solver=solver).fit(X, y)
    assert hasattr(ours, "covariance_") == hasattr(theirs, "covariance_")
    if hasattr(theirs, "covariance_"):
        assert_allclose(ours.covariance_, theirs.covariance_, rtol=SUMMED, atol=SUMMED)
