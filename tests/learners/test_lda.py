"""Linear discriminant analysis: twins, a reference, and what it does at the edges."""

import warnings

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.special import softmax
from sklearn.datasets import load_iris
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis as Twin
from sklearn.utils.estimator_checks import check_estimator

from empirisk.learners.generative.lda import LinearDiscriminantAnalysis
from empirisk.runtime.errors import DataError, EmpiriskWarning, ParameterError, RankWarning
from tolerances import LAST_BITS, SOLVED, SUMMED


def sample(n=120, p=4, n_classes=3, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.arange(n) % n_classes)
    mix = np.eye(p) + 0.3 * rng.normal(size=(p, p))
    return rng.normal(size=(n, p)) @ mix + rng.normal(size=(n_classes, p))[y], y


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


@pytest.mark.parametrize("power", [-290, -200, 200, 290])
@pytest.mark.parametrize("shrinkage", [None, 0.2])
def test_numbers_of_any_size(power, shrinkage):
    X, y = sample()
    weight = np.random.default_rng(1).uniform(0.1, 3, len(y))
    one = LinearDiscriminantAnalysis(shrinkage=shrinkage).fit(X, y, weight)
    other = LinearDiscriminantAnalysis(shrinkage=shrinkage).fit(X * 10.0**power, y, weight * 1e-250)
    assert np.isfinite(other.coef_).all()
    # 10^power is no power of two: each number is rounded once.
    assert_allclose(
        other.predict_proba(X * 10.0**power), one.predict_proba(X), rtol=1e-10, atol=1e-14
    )


def test_without_shrinkage_each_column_has_its_own_unit():
    X, y = sample()
    units = 2.0 ** np.array([600, -600, 0, 30])
    one = LinearDiscriminantAnalysis().fit(X, y)
    other = LinearDiscriminantAnalysis().fit(X * units, y)
    assert_array_equal(other.coef_ * units, one.coef_)
    assert_array_equal(other.predict_proba(X * units), one.predict_proba(X))
    with_shrinkage = LinearDiscriminantAnalysis(shrinkage=0.5).fit(X * units, y)
    assert np.isfinite(with_shrinkage.predict_proba(X * units)).all()


def test_an_offset_costs_no_digits_where_the_class_means_are_exact():
    rng = np.random.default_rng(0)
    away = np.round(rng.normal(size=(16, 3)) * 2**10) / 2**10
    X, y = np.concatenate([away, -away, 1 + away, 1 - away]), np.repeat([0, 1], 32)
    one = LinearDiscriminantAnalysis(priors=[0.25, 0.75]).fit(X, y)
    other = LinearDiscriminantAnalysis(priors=[0.25, 0.75]).fit(X + 2.0**40, y)
    assert_allclose(other.predict_proba(X + 2.0**40), one.predict_proba(X), rtol=SUMMED)


def test_a_vanishing_shrinkage_is_as_exact_as_none():
    X, y = sample()
    units = np.array([1e-6, 1e-5, 1e-3, 1.0])
    ours = LinearDiscriminantAnalysis(shrinkage=1e-15, store_covariance=True).fit(X * units, y)
    scaled = ours.covariance_ / np.outer(units, units)
    away = (X * units)[:, None] / units - ours.means_ / units
    distance = np.einsum("ikj,jl,ikl->ik", away, np.linalg.inv(scaled), away)
    naive = softmax(np.log(ours.priors_) - distance / 2, axis=1)
    # In one unit for all columns the condition number is 1e12 and leaves five digits.
    assert_allclose(ours.predict_proba(X * units), naive, rtol=1e-9, atol=1e-13)


def deficient(X):
    """X with a copy, a sum and a constant, in columns named for what they are."""
    table = pd.DataFrame(X, columns=["a", "b", "c", "d"])
    return table.assign(copy=table["a"], total=table["b"] + table["c"], same=7.3)


def test_dependent_columns_have_no_say_and_are_named():
    X, y = sample()
    table = deficient(X)
    with pytest.warns(RankWarning, match="column 'same' is constant") as caught:
        ours = LinearDiscriminantAnalysis().fit(table, y)
    message = str(caught[0].message)
    assert "columns 'copy', 'total' are dependent" in message
    assert "separated" not in message
    full_rank = LinearDiscriminantAnalysis().fit(X, y)
    # Of the 2^-53 of rounding, 1e3 are lost where eigenvalues of 0 and 0.1 are told apart.
    assert_allclose(ours.predict_proba(table), full_rank.predict_proba(X), rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("offset", [0.0, 2.0**38])
def test_rounding_errors_of_class_means_separate_nothing(offset):
    X, y = sample()
    if offset == 0:
        X -= np.stack([X[y == k].mean(axis=0) for k in range(3)])[y]
    X += offset
    with pytest.warns(RankWarning, match="'copy', 'total' are dependent") as caught:
        ours = LinearDiscriminantAnalysis().fit(deficient(X), y)
    assert "separated" not in str(caught[0].message)
    full_rank = LinearDiscriminantAnalysis().fit(X, y)
    # The offset leaves the numbers, of size 1, a rounding error of 2^-15.
    assert_allclose(
        ours.predict_proba(deficient(X)), full_rank.predict_proba(X), rtol=0, atol=0.0001
    )


def test_a_column_that_varies_in_its_last_digit_only_is_constant():
    X, y = sample()
    last_digit = np.where(np.arange(120) % 2, 1e8, np.nextafter(1e8, 2e8))
    table = pd.DataFrame(X, columns=list("abcd")).assign(same=last_digit)
    with pytest.warns(RankWarning, match="column 'same' is constant"):
        ours = LinearDiscriminantAnalysis().fit(table, y)
    full_rank = LinearDiscriminantAnalysis().fit(X, y)
    assert_allclose(ours.predict_proba(table), full_rank.predict_proba(X), rtol=SUMMED, atol=SUMMED)


def test_singular_designs_follow_the_pseudo_inverse():
    X, y = sample()
    X = deficient(X).to_numpy()
    with pytest.warns(RankWarning):
        ours = LinearDiscriminantAnalysis(store_covariance=True).fit(X, y)
    scale = np.append(np.sqrt(np.diagonal(ours.covariance_))[:6], 1.0)
    inverse = np.linalg.pinv(ours.covariance_ / np.outer(scale, scale), rcond=1e-8)
    coef = (ours.means_ - ours.xbar_) / scale @ inverse / scale
    assert_allclose(ours.coef_, coef, rtol=SUMMED, atol=SUMMED)


def test_a_column_that_tells_the_classes_apart_decides():
    X, y = sample()
    table = pd.DataFrame(X, columns=list("abcd")).assign(leak=(y == 1) * 2.5)
    with pytest.warns(RankWarning, match="'leak' is constant within each class") as caught:
        ours = LinearDiscriminantAnalysis().fit(table, y)
    assert "classes are perfectly separated" in str(caught[0].message)
    probability = ours.predict_proba(table)
    assert_array_equal(probability[y == 1, 1], 1.0)
    assert_array_equal(probability[y != 1, 1], 0.0)
    # Between the two classes that it does not separate, the other columns decide as ever.
    others = LinearDiscriminantAnalysis().fit(X, y).predict_log_proba(X)[y != 1]
    got = ours.predict_log_proba(table)[y != 1]
    # Differences of discriminants of about 1e8.
    assert_allclose(got[:, 2] - got[:, 0], others[:, 2] - others[:, 0], rtol=0, atol=1e-06)


@pytest.mark.parametrize(("n", "p"), [(30, 50), (8, 10)])
def test_more_columns_than_rows_is_the_limit_of_little_shrinkage(n, p):
    X, y = sample(n, p)
    with pytest.warns(RankWarning, match=f"{p} columns vary in {n - 3} dimensions"):
        ours = LinearDiscriminantAnalysis().fit(X, y)
    within = X - np.stack([X[y == k].mean(axis=0) for k in range(3)])[y]
    scale = within.std(axis=0)
    limit = LinearDiscriminantAnalysis(shrinkage=ours.tol**2).fit(X / scale, y)
    # Discriminants of about 1e8 whose flat directions have the variance 1e-8 in both.
    assert_allclose(
        ours.decision_function(X), limit.decision_function(X / scale), rtol=1e-5, atol=1.0
    )
    assert ours.score(X, y) == 1.0


@pytest.mark.parametrize(
    "X",
    [np.ones((6, 2)), np.arange(6.0)[:, None] // 3, np.zeros((6, 1)), np.full((6, 3), -1e300)],
    ids=["constant", "the class itself", "zero", "huge constant"],
)
@pytest.mark.parametrize("shrinkage", [0.0, 0.5, 1.0])
def test_columns_without_any_variation_within_classes(X, shrinkage):
    y = np.array([0, 0, 0, 1, 1, 1])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RankWarning)
        lda = LinearDiscriminantAnalysis(shrinkage=shrinkage).fit(X, y)
    probability = lda.predict_proba(X)
    if np.ptp(X) > 0:
        assert_array_equal(lda.predict(X), y)
    else:
        assert_array_equal(probability, 0.5)
    assert np.isfinite(lda.predict_proba([[1e308] * X.shape[1]])).all()


@pytest.mark.parametrize("n_classes", [2, 3])
def test_rows_far_away_give_no_nan(n_classes):
    X, y = sample(n_classes=n_classes)
    lda = LinearDiscriminantAnalysis().fit(X * 1e-200, y)
    far = np.array([[1.0, -1, 1, -1], [-1, 1, 1, 1]]) * 1.7e308
    near = far / 1.7e308
    values = lda.decision_function(far)
    assert np.isfinite(values).all()
    assert np.isfinite(lda.predict_proba(far)).all()
    # So far away the priors do not matter: the direction decides.
    direction = near @ lda.coef_.T
    expected = (direction[:, 0] > 0) if n_classes == 2 else direction.argmax(axis=1)
    assert_array_equal(lda.predict(far), expected)


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
