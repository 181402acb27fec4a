"""Kernel regression and classification beside weighted least squares by the definition."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.model_selection import LeaveOneOut

from empirisk import KernelClassifier, KernelRegressor, LinearRegression, Tuned, risk
from empirisk.runtime.errors import DataError, ParameterError
from tolerances import LAST_BITS, SUMMED

RNG = np.random.default_rng(0)
PROFILES = {
    "gaussian": lambda u: np.exp(-(u**2) / 2),
    "tophat": lambda u: 1.0 * (u < 1),
    "epanechnikov": lambda u: (1 - u**2) * (u < 1),
    "exponential": lambda u: np.exp(-u),
    "linear": lambda u: (1 - u) * (u < 1),
    "cosine": lambda u: np.cos(np.pi * u / 2) * (u < 1),
    "biweight": lambda u: (1 - u**2) ** 2 * (u < 1),
}


def obvious_fit(kernel, degree, X, y, weight, h, t):
    """The constant or line of weighted least squares, read off at t; also its weights of y."""
    root = np.sqrt(weight * PROFILES[kernel](np.linalg.norm(X - t, axis=1) / h))
    design = np.column_stack([np.ones(len(X)), X - t][: degree + 1])
    hat = np.linalg.pinv(root[:, None] * design)[0] * root
    return hat @ y, hat


@pytest.mark.parametrize("kernel", PROFILES)
@pytest.mark.parametrize("degree", [0, 1])
@pytest.mark.parametrize("d", [1, 3])
def test_a_local_fit_is_weighted_least_squares(kernel, degree, d):
    X, T = RNG.normal(size=(120, d)), 0.7 * RNG.normal(size=(15, d))
    y, weight = X[:, 0] ** 2 + RNG.normal(size=120), RNG.uniform(0.2, 3, size=120)
    model = KernelRegressor(2.5, kernel=kernel, degree=degree, scale=None)
    model.fit(X, y, sample_weight=weight)
    known = [obvious_fit(kernel, degree, X, y, weight, 2.5, t)[0] for t in T]
    # Covariances near t have condition numbers below 1e4.
    assert_allclose(model.predict(T), known, rtol=1e-9)


@pytest.mark.parametrize("kernel", ["gaussian", "epanechnikov"])
def test_columns_are_scaled_by_their_standard_deviations(kernel):
    X, y = RNG.normal(size=(50, 2)) * [1.0, 1e4], RNG.normal(size=50)
    scaled = KernelRegressor(0.8, kernel=kernel).fit(X, y)
    by_hand = KernelRegressor(0.8, kernel=kernel, scale=None).fit(X / X.std(axis=0), y)
    assert_allclose(scaled.predict(X), by_hand.predict(X / X.std(axis=0)), rtol=SUMMED)
    assert_allclose(scaled.bandwidth_, 0.8 * X.std(axis=0), rtol=SUMMED)


def test_bandwidths_of_columns_and_matrices():
    X, y = RNG.normal(size=(60, 2)), RNG.normal(size=60)
    B = np.array([[0.9, 0.3], [0.3, 0.6]])
    matrix = KernelRegressor(B, scale=None).fit(X, y).predict(X)
    z = X @ np.linalg.inv(B)
    assert_allclose(matrix, KernelRegressor(1.0, scale=None).fit(z, y).predict(z), rtol=SUMMED)
    columns = KernelRegressor([0.5, 2.0], scale=None).fit(X, y).predict(X)
    z = X / [0.5, 2.0]
    assert_allclose(columns, KernelRegressor(1.0, scale=None).fit(z, y).predict(z), rtol=SUMMED)
    with pytest.raises(ParameterError, match="scale=None"):
        KernelRegressor(B).fit(X, y)


@pytest.mark.parametrize("kernel", PROFILES)
@pytest.mark.parametrize("degree", [0, 1])
def test_far_from_all_rows_the_nearest_ones_are_taken(kernel, degree):
    X, y = np.array([[0.0], [1.0], [1.0], [5.0]]), np.array([0.0, 1.0, 3.0, 7.0])
    model = KernelRegressor(1e-3, kernel=kernel, degree=degree, scale=None)
    model.fit(X, y, sample_weight=[1, 1, 3, 1])
    found = model.predict([[1.4], [100.0], [-1e6], [3.0]])
    # At 3 the rows at 1 and 5 are equally near: (1 + 9 + 7) / 5, or the line through 2.5 and 7.
    line = degree == 1 and kernel in ("gaussian", "exponential")
    assert_allclose(found, [2.5, 7.0, 0.0, 4.75 if line else 3.4], rtol=SUMMED)
    assert np.isfinite(model.standard_errors([[1.4], [100.0]])[0])


def test_no_line_is_drawn_through_one_row():
    X, y = np.array([[0.0, 0.0], [10.0, 0.0], [0.0, 10.0]]), np.array([1.0, 2.0, 4.0])
    found = KernelRegressor(0.5, degree=1, scale=None).fit(X, y).predict([[0.5, 0.2], [9.0, 1.0]])
    assert_allclose(found, [1.0, 2.0], rtol=SUMMED)


@pytest.mark.parametrize("degree", [0, 1])
def test_a_line_is_found_by_local_lines(degree):
    X = RNG.normal(size=(80, 2))
    y = 3 + X @ [2.0, -1.0]
    model = KernelRegressor(0.7, degree=degree, scale=None).fit(X, y)
    error = np.abs(model.predict(X) - y).max()
    assert error < 1e-9 if degree == 1 else error > 0.1


@pytest.mark.parametrize("kernel", ["gaussian", "epanechnikov"])
@pytest.mark.parametrize("scale", ["columns", None])
@pytest.mark.parametrize("degree", [0, 1])
def test_leave_one_out_at_all_bandwidths_from_one_pass(kernel, scale, degree):
    X = RNG.normal(size=(70, 2)) * [1.0, 3.0]
    y, weight = X[:, 0] + RNG.normal(size=70), RNG.uniform(0.5, 2, size=70)
    learner = KernelRegressor(kernel=kernel, scale=scale, degree=degree)
    problem = risk.Problem.of(learner, X, y, sample_weight=weight)
    plan = problem.plan(LeaveOneOut())
    values = [0.4, 1.0, 3.0]
    fast = risk.out_of_fold(learner, problem, plan, values=values)
    slow = risk.out_of_fold(learner, problem, plan, values=values, rung="generic")
    assert fast.rung == "plan"
    # Lines of few rows have condition numbers up to 1e4.
    assert_allclose(fast.losses, slow.losses, rtol=1e-7, atol=1e-9)


def test_an_outlier_does_not_spoil_the_scale_of_other_folds():
    X, y = np.append(RNG.normal(size=80), 1e9)[:, None], RNG.normal(size=81)
    learner = KernelRegressor(0.3)
    problem = risk.Problem.of(learner, X, y)
    plan = problem.plan(LeaveOneOut())
    fast = risk.out_of_fold(learner, problem, plan, values=[0.3])
    slow = risk.out_of_fold(learner, problem, plan, values=[0.3], rung="generic")
    assert_allclose(fast.losses, slow.losses, rtol=SUMMED)


@pytest.mark.parametrize("kernel", ["gaussian", "tophat", "linear"])
def test_weights_of_training_rows_sum_to_one_and_give_the_prediction(kernel):
    X, y, T = RNG.normal(size=(40, 2)), RNG.normal(size=40), 2 * RNG.normal(size=(30, 2))
    weight = RNG.uniform(0.5, 2, size=40)
    model = KernelRegressor(0.3, kernel=kernel).fit(X, y, sample_weight=weight)
    found = model.conditional_weights(T)
    assert found.shape == (30, 40)
    assert (found.data >= 0).all()
    assert_allclose(found.sum(axis=1), 1.0, rtol=SUMMED)
    assert_allclose(found @ model.y_train_, model.predict(T), rtol=SUMMED)
    classifier = KernelClassifier(0.3, kernel=kernel).fit(X, y > 0, sample_weight=weight)
    share = classifier.conditional_weights(T) @ (classifier.y_train_ == 1)
    assert_allclose(share, classifier.predict_proba(T)[:, 1], rtol=0, atol=SUMMED)


@pytest.mark.parametrize("degree", [0, 1])
def test_standard_errors_by_residuals_of_rows_left_out(degree):
    X, y, T = RNG.normal(size=(60, 1)), RNG.normal(size=60), np.array([[0.0], [1.0]])
    weight = RNG.integers(1, 4, size=60)
    model = KernelRegressor(0.5, degree=degree, scale=None).fit(X, y, sample_weight=weight)
    rows = np.repeat(np.arange(60), weight)
    Xc, yc, ones = X[rows], y[rows], np.ones(len(rows))
    residuals = []
    for i in range(len(rows)):
        rest = np.delete(np.arange(len(rows)), i)
        fit, _ = obvious_fit("gaussian", degree, Xc[rest], yc[rest], ones[rest], 0.5, Xc[i])
        residuals.append(yc[i] - fit)
    known = []
    for t in T:
        _, means = obvious_fit("gaussian", 0, Xc, yc, ones, 0.5, t)
        _, hat = obvious_fit("gaussian", degree, Xc, yc, ones, 0.5, t)
        known.append(np.sqrt((means @ np.square(residuals)) * (hat @ hat)))
    prediction, error = model.predict(T, return_std=True)
    assert_array_equal(prediction, model.predict(T))
    assert_allclose(error, known, rtol=SUMMED)


def test_standard_errors_cover_the_smoothed_truth():
    # The interval of two errors around f, of what f is on average; 95 % of it nominal. 400 draws
    # give a standard error of 1 %: five of these, plus the error of the estimated variance.
    h, inside = 0.3, 0
    X = np.linspace(-2, 2, 80)[:, None]
    mean = KernelRegressor(h, scale=None).fit(X, np.sin(2 * X[:, 0])).predict([[0.4]])[0]
    draws = np.random.default_rng(5)
    for _ in range(400):
        y = np.sin(2 * X[:, 0]) + 0.5 * draws.normal(size=80)
        found, error = KernelRegressor(h, scale=None).fit(X, y).predict([[0.4]], return_std=True)
        inside += abs(found[0] - mean) < 1.96 * error[0]
    assert 0.88 < inside / 400 < 0.995


def test_errors_are_infinite_where_no_residual_is_known():
    model = KernelRegressor(1.0, kernel="epanechnikov", scale=None).fit([[0.0], [9.0]], [1.0, 2.0])
    assert model.standard_errors([[0.0]]) == np.inf


def test_probabilities_are_shares_of_kernels():
    X, T = RNG.normal(size=(90, 2)), RNG.normal(size=(20, 2))
    y, weight = RNG.choice(["a", "b", "c"], size=90), RNG.uniform(0.1, 2, size=90)
    model = KernelClassifier(0.9, scale=None).fit(X, y, sample_weight=weight)
    kernel = weight * np.exp(-0.5 * (np.linalg.norm(T[:, None] - X, axis=2) / 0.9) ** 2)
    known = np.stack([kernel[:, y == k].sum(axis=1) for k in "abc"], axis=1)
    known /= known.sum(axis=1, keepdims=True)
    assert_allclose(model.predict_proba(T), known, rtol=SUMMED)
    assert_array_equal(model.predict(T), np.array(list("abc"))[known.argmax(axis=1)])
    copies = kernel / weight / kernel.sum(axis=1, keepdims=True)
    norm = (weight * copies**2).sum(axis=1)
    assert_allclose(
        model.standard_errors(T), np.sqrt(known * (1 - known) * norm[:, None]), rtol=SUMMED
    )


@pytest.mark.parametrize("learner", [KernelRegressor, KernelClassifier])
def test_the_bandwidth_by_leaving_out_has_the_least_squared_error(learner):
    rng = np.random.default_rng(1)
    X = rng.uniform(-2, 2, size=(60, 1))
    y = np.sin(2 * X[:, 0]) + 0.3 * rng.normal(size=60)
    y = y if learner is KernelRegressor else y > 0
    best = learner("loo").fit(X, y).bandwidth_
    values = best * np.array([0.4, 0.7, 1.0, 1.4, 2.5])
    scores = []
    for h in values:
        error = 0.0
        for i in range(60):
            rest = np.delete(np.arange(60), i)
            model = learner(h, scale=None).fit(X[rest], y[rest])
            if learner is KernelRegressor:
                error += (model.predict(X[[i]])[0] - y[i]) ** 2
            else:
                error += (model.predict_proba(X[[i]])[0, 1] - y[i]) ** 2
        scores.append(error)
    assert int(np.argmin(scores)) == 2


@pytest.mark.parametrize(
    "seed", [1, 4, 7]
)  # of about half of all seeds the line of all rows is best
def test_bandwidths_by_leaving_out_go_on_until_lines_are_one_line(seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(100, 1))
    y = X[:, 0] + rng.normal(size=100)
    model = KernelRegressor("loo", degree=1).fit(X, y)
    line = LinearRegression().fit(X, y)
    # The error settles to a part of 1e-6; where it is flat in the bandwidth lines differ
    # by its root.
    assert_allclose(model.predict(X), line.predict(X), rtol=0, atol=2e-3 * y.std())
    assert 50 < model.bandwidth_ / X.std() < 500


def test_probabilities_by_leaving_out_are_the_shares_where_nothing_is_to_be_seen():
    X = np.arange(40.0)[:, None]
    y = np.arange(40) % 2  # the neighbours of a row are of the other class
    model = KernelClassifier("loo").fit(X, y)
    assert_allclose(model.predict_proba(X), 0.5, rtol=2e-3)  # the root of 1e-6, as above


def test_bandwidths_by_leaving_out_go_on_to_the_nearest_rows():
    rng = np.random.default_rng(0)
    X = np.append(rng.uniform(size=60), 1e3)[:, None]  # of which Scott's is 100 times too wide
    y = np.sin(6 * X[:, 0])

    def error(model):
        held_out = (
            clone(model).fit(np.delete(X, i, 0), np.delete(y, i)).predict(X[[i]])[0] - y[i]
            for i in range(60)
        )
        return sum(e**2 for e in held_out)

    best = KernelRegressor("loo").fit(X, y).bandwidth_
    chosen = error(KernelRegressor(best, scale=None))
    for factor in (0.01, 0.5, 2, 100):
        assert chosen < error(KernelRegressor(factor * best, scale=None))


def test_tuned_keeps_the_chosen_model():
    X = RNG.uniform(-2, 2, size=(80, 1))
    y = np.sin(3 * X[:, 0]) + 0.1 * RNG.normal(size=80)
    tuned = Tuned(KernelRegressor(), cv=LeaveOneOut()).fit(X, y)
    assert tuned.path_.rung == "plan"
    assert_array_equal(tuned.predict(X), KernelRegressor(tuned.best_value_).fit(X, y).predict(X))


@pytest.mark.parametrize(
    "wrong",
    [{"kernel": "gaussian4"}, {"degree": 2}, {"scale": "rows"}, {"bandwidth": "cv"}],
)
def test_wrong_parameters_are_refused(wrong):
    with pytest.raises(ParameterError, match=next(iter(wrong))):
        KernelRegressor(**wrong).fit([[0.0], [1.0]], [0.0, 1.0])
    with pytest.raises(DataError, match="class"):
        KernelClassifier().fit([[0.0], [1.0]], ["a", "a"])


def test_of_classes_with_as_many_near_rows_the_first_is_predicted():
    rng = np.random.default_rng(3)
    for m in range(2, 30):
        X = rng.uniform(-0.1, 0.1, (2 * m, 1))
        y = rng.permutation(np.repeat([0, 1], m))
        model = KernelClassifier(5.0, kernel="tophat", scale=None).fit(X, y)
        assert model.predict([[0.0]])[0] == 0


@pytest.mark.parametrize("degree", [0, 1])
def test_the_largest_targets_have_finite_averages(degree):
    X = np.linspace(-1.0, 1.0, 1000)[:, np.newaxis]
    model = KernelRegressor(0.5, degree=degree).fit(X, np.sign(X[:, 0]) * 1.7e308)
    assert np.isfinite(model.predict(X)).all()


def test_planes_are_found_whatever_the_units_of_columns_that_are_not_scaled():
    rng = np.random.default_rng(4)
    X, T = rng.normal(size=(200, 2)) * [1000.0, 1.0], rng.normal(size=(30, 2)) * [1000.0, 1.0]
    model = KernelRegressor(1e6, degree=1, scale=None).fit(X, 3.0 + X @ [2e-3, -1.0])
    # least squares of 200 rows, well conditioned but for units
    np.testing.assert_allclose(model.predict(T), 3.0 + T @ [2e-3, -1.0], rtol=0, atol=1e-9)


@pytest.mark.filterwarnings("error::RuntimeWarning")
@pytest.mark.parametrize("degree", [0, 1])
@pytest.mark.parametrize("bandwidth", ["scott", "matrix"])
def test_seen_from_infinitely_far_away_all_rows_are_as_near(bandwidth, degree):
    """The targets are more than 1e308 times as far away as the rows are from each other."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(40, 3)) * 1e-200, rng.normal(size=40)
    how = {"bandwidth": "scott"}
    if bandwidth == "matrix":
        how = {"bandwidth": (np.eye(3) + 0.3) * 1e-200, "scale": None}
    model = KernelRegressor(degree=degree, **how).fit(X, y)
    far = np.array([[1e160, -1e160, 1e160], [1e300, 0.0, 0.0]])
    assert_allclose(model.predict(far), y.mean(), rtol=LAST_BITS)
    assert np.isfinite(model.standard_errors(far)).all()
    assert_allclose(model.conditional_weights(far).sum(axis=1), 1.0, rtol=LAST_BITS)
    shares = KernelClassifier(**how).fit(X, y > 0).predict_proba(far)
    assert_allclose(shares[:, 1], (y > 0).mean(), rtol=LAST_BITS)


def test_rules_have_a_bandwidth_for_hundreds_of_columns():
    X = RNG.normal(size=(40, 784))  # as of pictures of 28 x 28 pixels
    X[:20] += 0.5
    y = np.repeat(["a", "b"], 20)
    assert KernelClassifier().fit(X, y).score(X, y) == 1.0
    # n^(-1/(d+4)) for a Gaussian, in standard deviations
    bandwidth = KernelRegressor().fit(X, X[:, 0]).bandwidth_
    assert_allclose(bandwidth, 40 ** (-1 / 788) * X.std(axis=0), rtol=SUMMED)


@pytest.mark.parametrize("new", [{"kernel": "tophat"}, {"degree": 1}])
def test_parameters_that_are_changed_after_a_fit_hold_from_then_on(new):
    X = RNG.normal(size=(50, 1))
    y = X[:, 0] ** 2 + RNG.normal(size=50)
    model = KernelRegressor(0.5).fit(X, y)
    model.standard_errors(X)
    known = KernelRegressor(0.5, **new).fit(X, y)
    model.set_params(**new)
    assert_array_equal(model.predict(X), known.predict(X))
    assert_array_equal(model.standard_errors(X), known.standard_errors(X))


@pytest.mark.parametrize("degree", [0, 1])
def test_a_column_is_scaled_by_itself_whatever_the_size_of_another(degree):
    X, T, units = RNG.normal(size=(60, 2)), RNG.normal(size=(10, 2)), np.array([1e150, 1e-150])
    y = np.sin(X[:, 1])
    one = KernelRegressor(0.4, degree=degree).fit(X, y).predict(T)
    other = KernelRegressor(0.4, degree=degree).fit(X * units, y).predict(T * units)
    assert_allclose(other, one, rtol=0, atol=SUMMED)
    learner, losses = KernelRegressor(degree=degree), []
    for rows in (X, X * units):
        problem = risk.Problem.of(learner, rows, y)
        losses.append(risk.out_of_fold(learner, problem, problem.plan(5), values=[0.4]).losses)
    assert_allclose(losses[1], losses[0], rtol=0, atol=SUMMED)
