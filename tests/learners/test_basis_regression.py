"""BasisRegression: its twins, all rungs of all bases, digits at high degrees, and its edges."""

import warnings

import numpy as np
import pandas as pd
import pytest
from numpy.polynomial import Polynomial
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.model_selection import KFold, LeaveOneOut, RepeatedKFold
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

from empirisk import (
    BasisExpansion,
    BasisRegression,
    Encoder,
    LinearRegression,
    Tuned,
    load,
    risk,
    save,
)
from empirisk.charts.axes import axes
from empirisk.runtime.errors import DataError, ParameterError, RankWarning
from tolerances import SOLVED, SUMMED

BASES = ["polynomial", "spline", "natural_spline", "steps"]
every_basis = pytest.mark.parametrize("basis", BASES)
PLANS = [
    KFold(4, shuffle=True, random_state=0),
    LeaveOneOut(),
    RepeatedKFold(n_splits=3, n_repeats=2, random_state=0),
]


def sample(n=60, p=1, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.uniform(1900, 2000, size=(n, p))
    return X, np.sin(X[:, 0] / 15) + 0.2 * rng.normal(size=n)


def constant_free(X):
    return X[:, 0] / 1000


def its_square(X):
    return (X[:, 0] / 1000) ** 2


@parametrize_with_checks([BasisRegression(basis, 4) for basis in BASES[1:]])
def test_check_estimator_of_bases_with_knots(estimator, check):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RankWarning)  # its data are often deficient by design
        check(estimator)


@every_basis
@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("p", [1, 2])
def test_it_is_least_squares_behind_an_expansion(basis, intercept, p):
    X, y = sample(p=p)
    Y, weight = np.column_stack([y, y**2]), np.random.default_rng(1).uniform(0, 2, 60)
    model = BasisRegression(basis, 3, fit_intercept=intercept).fit(X, Y, weight)
    expansion = BasisExpansion(basis, 3).fit(X, sample_weight=weight)
    twin = LinearRegression(fit_intercept=intercept).fit(expansion.transform(X), Y, weight)
    new = sample(p=p, seed=2)[0]
    # Condition numbers below 1e2, double precision.
    assert_allclose(model.coef_, twin.coef_, rtol=1e-10, atol=1e-12)
    assert_allclose(model.predict(new), twin.predict(expansion.transform(new)), rtol=0, atol=SUMMED)
    assert model.rank_ == twin.rank_
    assert model.degrees_of_freedom_ == twin.degrees_of_freedom_
    assert_array_equal(model.expansion_.get_feature_names_out(), expansion.get_feature_names_out())


@pytest.mark.parametrize("degree", [1, 4, 9])
def test_polynomials_of_numpy(degree):
    X, y = sample()
    twin = Polynomial.fit(X[:, 0], y, degree)
    new = np.linspace(1890, 2010, 50)
    found = BasisRegression(degree=degree).fit(X, y).predict(new[:, None])
    assert_allclose(found, twin(new), rtol=1e-9, atol=1e-9)  # condition of the twin: about 1e4


def test_steps_predict_the_mean_of_each_region():
    X, y = sample()
    model = BasisRegression("steps", 4).fit(X, y)
    region = np.searchsorted(model.expansion_.knots_[0], X[:, 0])
    means = np.array([y[region == k].mean() for k in range(5)])
    assert_allclose(model.predict(X), means[region], rtol=SUMMED)


@every_basis
@pytest.mark.parametrize("cv", PLANS, ids=lambda cv: type(cv).__name__)
@pytest.mark.parametrize("weighted", [False, True], ids=["plain", "weighted"])
def test_every_rung_gives_the_same_losses(basis, cv, weighted):
    X, y = sample(n=25)
    weight = np.random.default_rng(3).uniform(0.2, 3, 25) if weighted else None
    learner = BasisRegression(basis)
    problem = risk.Problem.of(learner, X, y, sample_weight=weight)
    plan, values = problem.plan(cv), [5, 1, 2, 2]
    found = {
        rung: risk.out_of_fold(learner, problem, plan, values=values, rung=rung)
        for rung in (None, "path", "generic")
    }
    assert found[None].rung == ("plan" if basis == "polynomial" else "path"), found[None].why
    # Condition numbers below 1e3, double precision; a row at an end of the range is extrapolated.
    assert_allclose(found["path"].losses, found["generic"].losses, rtol=1e-9, atol=1e-12)
    assert_allclose(found[None].losses, found["generic"].losses, rtol=1e-8, atol=1e-12)


@pytest.mark.parametrize(
    "learner",
    [
        BasisRegression(interactions=False),
        BasisRegression(fit_intercept=False),
        BasisRegression([constant_free, its_square]),
        BasisRegression(extrapolation="constant"),
    ],
    ids=["no interactions", "no intercept", "functions", "constant extrapolation"],
)
@pytest.mark.parametrize("cv", PLANS[:2], ids=lambda cv: type(cv).__name__)
def test_every_rung_of_other_settings(learner, cv):
    X, y = sample(n=25, p=2)
    Y = np.column_stack([y, -(y**2)])
    problem = risk.Problem.of(learner, X, Y)
    plan = problem.plan(cv)
    fast, slow = (
        risk.out_of_fold(learner, problem, plan, values=[1, 2], rung=rung)
        for rung in (None, "generic")
    )
    by_range = learner.extrapolation is not None or not learner.fit_intercept
    assert fast.rung == ("path" if by_range else "plan"), fast.why
    assert_allclose(fast.losses, slow.losses, rtol=SOLVED, atol=SOLVED)


@pytest.mark.parametrize(
    ("cv", "far", "match"),
    [
        (LeaveOneOut(), 2200.0, "1 - leverage"),
        (KFold(5), 2600.0, "close to dependent"),
        (KFold(5), 9000.0, "close to dependent"),
    ],
    ids=["leave one out", "far", "further"],
)
def test_a_fold_that_alone_determines_a_function_is_not_subtracted(cv, far, match):
    X, y = sample(n=30)
    X[0] = far
    learner = BasisRegression()
    problem = risk.Problem.of(learner, X, y)
    plan = problem.plan(cv)
    fast = risk.out_of_fold(learner, problem, plan, values=[1, 6])
    assert fast.rung == "path"
    assert match in fast.why
    slow = risk.out_of_fold(learner, problem, plan, values=[1, 6], rung="generic")
    # Each fold has polynomials of its own, orthogonal on its rows.
    assert_allclose(fast.losses, slow.losses, rtol=1e-9)


def test_the_default_grid_has_two_training_rows_for_each_function():
    X, y = sample(p=4)
    ones = np.ones(60)
    assert list(BasisRegression().axis_values(X, y, ones, n_train=54)) == [1, 2]
    assert list(BasisRegression("spline").axis_values(X, y, ones, n_train=54)) == [*range(1, 7)]
    assert list(BasisRegression().axis_values(X[:, :1], y, ones, n_train=54)) == [*range(1, 16)]
    assert list(BasisRegression().axis_values(X, y, ones, n_train=2)) == [1]
    wide = np.zeros((1, 8))  # degree 4 has 494 functions, degree 5 has 1,286
    assert list(BasisRegression().axis_values(wide, y, ones, n_train=20_000)) == [1, 2, 3, 4]
    assert list(BasisRegression().axis_values(wide, y, ones, n_train=10**6)) == [1, 2]
    functions = [constant_free, its_square]
    assert list(BasisRegression(functions).axis_values(X, y, ones, n_train=54)) == [1, 2]


def test_tuned_finds_the_degree_of_a_polynomial():
    x = np.linspace(0, 1, 80)[:, None]
    y = 20 * (x[:, 0] - 0.1) * (x[:, 0] - 0.5) * (x[:, 0] - 0.9)
    y += 0.05 * np.random.default_rng(5).normal(size=80)
    tuned = Tuned(BasisRegression(), cv=10, rule="one_se").fit(x, y)
    assert tuned.best_value_ == 3
    assert tuned.path_.risk.argmin() >= 2


def test_training_error_picks_the_largest_degree():
    X, y = sample()
    tuned = Tuned(BasisRegression(), cv=10).fit(X, y)
    assert (np.diff(tuned.path_.training_risk) < 0).all()
    assert tuned.best_value_ < 15


@every_basis
def test_dependent_functions_are_reported_and_the_least_norm_is_taken(basis):
    X, y = sample(p=2)
    X[:, 1] = X[:, 0]
    with pytest.warns(RankWarning, match=r"is a combination of|columns? .* have rank"):
        model = BasisRegression(basis, 2, interactions=False).fit(X, y)
    alone = BasisRegression(basis, 2).fit(X[:, :1], y)
    assert model.rank_ == alone.rank_ == 2
    assert_allclose(model.predict(X), alone.predict(X[:, :1]), rtol=0, atol=SUMMED)
    columns = BasisExpansion(basis, 2, interactions=False).fit_transform(X)
    centred = columns - columns.mean(0)
    # Of all minimisers the pseudo-inverse gives that of least norm.
    assert_allclose(model.coef_, np.linalg.pinv(centred, rcond=1e-10) @ y, rtol=0, atol=1e-08)


def test_more_functions_than_rows_interpolate():
    X, y = sample(n=8, p=2)
    with pytest.warns(RankWarning, match="minimum-norm"):
        model = BasisRegression("polynomial", 4).fit(X, y)
    assert_allclose(model.predict(X), y, rtol=0, atol=SUMMED)


def test_the_degree_of_one_feature_stops_where_it_interpolates():
    X, y = sample(n=6)
    model = BasisRegression("polynomial", 9).fit(X, y)
    assert model.rank_ == 5
    assert_allclose(model.predict(X), y, rtol=0, atol=SUMMED)


def with_a_category(n=90):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {"x": rng.normal(size=n), "level": rng.permutation(list("abc") * (n // 3))}
    )
    effect = frame["level"].map({"a": 0.0, "b": 1.0, "c": -2.0})
    return frame, effect * frame["x"] + 0.1 * rng.normal(size=n)


def test_the_columns_of_a_category_are_not_multiplied_with_one_another():
    frame, y = with_a_category()
    model = make_pipeline(Encoder(), BasisRegression(degree=3))
    with warnings.catch_warnings():
        warnings.simplefilter("error", RankWarning)
        model.fit(frame, y)
    x, c = frame["x"].to_numpy(), [frame["level"].to_numpy() == level for level in "bc"]
    powers = [np.ones(len(x)), x, x**2]
    design = np.column_stack([*powers, x**3, *(power * own for own in c for power in powers)])
    assert model[-1].rank_ == design.shape[1] - 1
    # Condition numbers below 1e2, double precision.
    assert_allclose(
        model.predict(frame), design @ np.linalg.lstsq(design, y)[0], rtol=0, atol=1e-11
    )


def test_all_degrees_of_numbers_and_a_category_come_from_one_factorisation():
    frame, y = with_a_category()
    X = Encoder().fit_transform(frame)
    problem = risk.Problem.of(BasisRegression(), X, y)
    plan = problem.plan(5, random_state=0)
    fast = risk.out_of_fold(BasisRegression(), problem, plan, values=[1, 2, 3])
    slow = risk.out_of_fold(BasisRegression(), problem, plan, values=[1, 2, 3], rung="generic")
    assert fast.rung == "plan"
    assert_allclose(fast.losses, slow.losses, rtol=1e-8, atol=1e-12)  # well conditioned


def test_products_with_a_constant_are_left_out():
    X, y = sample(p=2)
    X[:, 1] = 7.0
    with pytest.warns(RankWarning, match=r"column 'P1\(x1\)' is constant\. "):
        model = BasisRegression(degree=3).fit(X, y)
    assert list(model.expansion_.get_feature_names_out()) == [
        "P1(x0)",
        "P1(x1)",
        "P2(x0)",
        "P3(x0)",
    ]


def test_a_constant_feature_is_reported():
    X, y = sample(p=2)
    X[:, 1] = 7.0
    with pytest.warns(RankWarning, match="'constant.x1.' is constant"):
        BasisRegression("spline", 3).fit(X, y)


@every_basis
@pytest.mark.parametrize("power", [-200, 200])
def test_extreme_units_of_everything(basis, power):
    X, y = sample()
    weight = np.random.default_rng(6).uniform(1, 2, 60)
    plain = BasisRegression(basis, 5).fit(X, y, weight).predict(X)
    unit = 10.0**power
    model = BasisRegression(basis, 5).fit(X * unit, y * unit, weight / unit)
    assert_allclose(model.predict(X * unit) / unit, plain, rtol=SOLVED)


def test_a_row_so_far_outside_that_it_overflows_is_refused():
    X, y = sample()
    model = BasisRegression(degree=5).fit(X, 1e200 * y)
    with pytest.raises(DataError, match="outside of the training range"):
        model.predict([[1e30]])
    flat = BasisRegression(degree=5, extrapolation="constant").fit(X, y)
    assert_allclose(flat.predict([[1e300]]), flat.predict([[X.max()]]), rtol=SUMMED)


@pytest.mark.parametrize("values", [[0], [1.5], [-1, 2]])
def test_degrees_that_make_no_sense_are_refused(values):
    X, y = sample()
    with pytest.raises(ParameterError, match="whole number"):
        Tuned(BasisRegression(), values=values, cv=3).fit(X, y)


@every_basis
def test_save_and_load(basis, tmp_path):
    X, y = sample(p=2)
    table = pd.DataFrame(X, columns=["left", "right"])
    model = Tuned(BasisRegression(basis), values=[1, 3], cv=3).fit(table, y)
    save(model, tmp_path / "model.empirisk")
    again = load(tmp_path / "model.empirisk")
    assert_array_equal(again.predict(table), model.predict(table))
    names = again.best_estimator_.expansion_.get_feature_names_out()
    assert any("right" in name for name in names)


def test_the_risks_are_those_of_pipelines():
    X, y = sample()
    tuned = Tuned(BasisRegression(), values=[1, 3, 5], cv=KFold(4)).fit(X, y)
    risks = [
        risk.cross_validate(
            make_pipeline(BasisExpansion(degree=degree), LinearRegression()), X, y, cv=KFold(4)
        ).value
        for degree in (1, 3, 5)
    ]
    assert_allclose(tuned.path_.risk, risks, rtol=SUMMED)


def test_the_fitted_curve_is_drawn_with_the_data():
    X, y = sample()
    model = BasisRegression("natural_spline", 5).fit(X, y)
    ax = axes()
    assert model.plot(X, y, ax=ax) is ax
    x, curve = ax.lines[0].get_data()
    assert_allclose(curve, model.predict(x[:, None]), rtol=SUMMED)
    assert len(ax.collections[0].get_offsets()) == 60
    assert len(model.plot().collections) == 0
    with pytest.raises(DataError, match="one feature"):
        BasisRegression().fit(*sample(p=2)).plot()
    with pytest.raises(DataError, match="give both"):
        model.plot(X)
