"""BasisExpansion: the spaces of functions it spans, its names, its edges and its errors."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.interpolate import BSpline
from scipy.stats import rankdata
from sklearn.preprocessing import PolynomialFeatures
from sklearn.utils.estimator_checks import check_estimator, parametrize_with_checks

from empirisk import BasisExpansion
from empirisk.charts.axes import axes
from empirisk.learners.linear.knots import Spread
from empirisk.runtime.errors import DataError, ParameterError
from tolerances import LAST_BITS, SUMMED

BASES = ["polynomial", "spline", "natural_spline", "steps"]
every_basis = pytest.mark.parametrize("basis", BASES)


def rows(n=80, p=2, seed=0):
    return np.random.default_rng(seed).gamma(2.0, size=(n, p)) * 3 + 100


def projection(columns):
    """The projection on the columns and the constant."""
    Q = np.linalg.qr(np.column_stack([np.ones(len(columns)), columns]))[0]
    return Q @ Q.T


def first(X):
    return X[:, 0]


def its_square(X):
    return X[:, 0] ** 2


@parametrize_with_checks([BasisExpansion(), *(BasisExpansion(basis, 4) for basis in BASES)])
def test_check_estimator(estimator, check):
    check(estimator)


def test_check_estimator_with_functions():
    # Not a parameter: the name of a test would have the functions' addresses in it.
    check_estimator(BasisExpansion([first, its_square]))


@pytest.mark.parametrize("interactions", [True, False])
def test_polynomials_span_what_their_powers_span(interactions):
    X = rows(p=3)
    columns = BasisExpansion("polynomial", 3, interactions=interactions).fit_transform(X)
    Z = X - X.mean(0)
    powers = PolynomialFeatures(3, include_bias=False).fit(Z)
    chosen = (powers.powers_ > 0).sum(1) == 1 if not interactions else slice(None)
    twin = powers.transform(Z)[:, chosen]
    assert columns.shape == twin.shape
    assert_allclose(
        projection(columns), projection(twin), rtol=0, atol=1e-10
    )  # condition about 1e5


def test_only_redundant_products_of_two_valued_features_are_left_out():
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.integers(0, 2, (200, 3)), rng.normal(size=200)]).astype(float)
    X[X[:, 0] == 1, 1] = 0.0  # the first two are never 1 together
    columns = np.column_stack([np.ones(200), BasisExpansion("polynomial", 3).fit_transform(X)])
    every = PolynomialFeatures(3).fit_transform(X)
    assert columns.shape[1] == np.linalg.matrix_rank(columns) == np.linalg.matrix_rank(every)
    spanned = np.linalg.lstsq(columns, every)[0]
    assert_allclose(columns @ spanned, every, rtol=0, atol=1e-10)  # condition about 1e2


@pytest.mark.parametrize("weighted", [False, True])
def test_polynomials_of_one_feature_are_uncorrelated_with_mean_square_1(weighted):
    x = rows(n=300, p=1)
    weight = np.random.default_rng(1).uniform(0, 3, 300) if weighted else np.ones(300)
    columns = BasisExpansion("polynomial", 8).fit(x, sample_weight=weight).transform(x)
    columns = np.column_stack([np.ones(300), columns])
    moments = columns.T @ (columns * weight[:, None]) / weight.sum()
    assert_allclose(
        moments, np.eye(9), rtol=0, atol=1e-12
    )  # rounding, which each step makes larger


def test_lower_degrees_are_the_first_columns_of_higher_ones():
    X = rows(p=3)
    high = BasisExpansion("polynomial", 4).fit_transform(X)
    low = BasisExpansion("polynomial", 2).fit_transform(X)
    assert_array_equal(high[:, : low.shape[1]], low)


@pytest.mark.parametrize("degree", [1, 2, 3, 4, 8])
def test_splines_are_piecewise_polynomials_with_knots_at_quantiles(degree):
    x = rows(p=1)[:, 0]
    expansion = BasisExpansion("spline", degree).fit(x[:, None])
    order = min(degree, 3)
    levels = np.arange(1, degree - order + 1) / (degree - order + 1)
    knots = np.quantile(x, levels, method="averaged_inverted_cdf")
    assert_allclose(expansion.knots_[0], knots, rtol=LAST_BITS)
    # The twin: truncated powers, of which the B-splines are combinations.
    z = (x - x.min()) / np.ptp(x)
    cut = (knots - x.min()) / np.ptp(x)
    twin = np.column_stack(
        [z**k for k in range(1, order + 1)] + [np.maximum(z - c, 0) ** order for c in cut]
    )
    columns = expansion.transform(x[:, None])
    assert columns.shape[1] == degree
    assert_allclose(
        projection(columns), projection(twin), rtol=0, atol=1e-09
    )  # the twin's condition: 1e5


def test_b_splines_are_those_of_scipy():
    x = rows(p=1)[:, 0]
    expansion = BasisExpansion("spline", 7).fit(x[:, None])
    t = np.r_[[x.min()] * 4, expansion.knots_[0], [x.max()] * 4]
    twin = BSpline.design_matrix(x, t, 3).toarray()[:, 1:]
    assert_allclose(expansion.transform(x[:, None]), twin, rtol=0, atol=SUMMED)


@pytest.mark.parametrize("degree", [1, 2, 5])
def test_natural_splines_have_no_curvature_at_the_ends_and_go_on_as_lines(degree):
    x = rows(p=1)
    expansion = BasisExpansion("natural_spline", degree).fit(x)
    low, high = x.min(), x.max()
    step = (high - low) * 1e-3
    for end, sign in ((low, 1), (high, -1)):
        at = expansion.transform(end + sign * step * np.arange(-2.0, 3)[:, None])
        outside, across = at[0] - 2 * at[1] + at[2], at[1] - 2 * at[2] + at[3]
        assert_allclose(outside, 0, rtol=0, atol=SUMMED)
        # Third derivatives alone remain: of the order of step^3, where curvature gave step^2.
        assert np.abs(across).max() < 1e-6
    assert expansion.n_output_features_ == degree


def test_steps_are_indicators_of_regions_of_equal_weight():
    x = np.random.default_rng(1).permutation(100.0 * np.arange(60))
    expansion = BasisExpansion("steps", 5).fit(x[:, None])
    region = np.minimum((rankdata(x) - 1) // 10, 5)
    twin = region[:, None] == np.arange(1, 6)
    assert_array_equal(expansion.transform(x[:, None]), twin)


def test_steps_cut_off_the_largest_value_when_most_rows_have_it():
    x = np.array([0.0, 1.0, 1.0, 1.0, 1.0])[:, None]
    assert_array_equal(BasisExpansion("steps", 1).fit_transform(x), x)


@every_basis
def test_a_weighted_row_is_so_many_copies(basis):
    X, weight = rows(), np.random.default_rng(2).integers(0, 4, 80)
    weighted = BasisExpansion(basis, 5).fit(X, sample_weight=weight)
    copied = BasisExpansion(basis, 5).fit(np.repeat(X, weight, axis=0))
    assert_allclose(weighted.transform(X), copied.transform(X), rtol=0, atol=SUMMED)
    scaled = BasisExpansion(basis, 5).fit(X, sample_weight=1e-3 * weight)
    assert_allclose(weighted.transform(X), scaled.transform(X), rtol=0, atol=LAST_BITS)


def test_quantiles_are_those_of_the_library():
    x, weight = np.round(rows(p=1)[:, 0]), np.ones(80)
    found = Spread.of(x, weight).quantiles(6)
    twin = np.quantile(x, np.arange(1, 7) / 7, method="averaged_inverted_cdf")
    assert_array_equal(found, np.unique(twin))


@every_basis
@pytest.mark.parametrize("unit", [1e-200, 1e-3, 1e200])
def test_units_do_not_matter(basis, unit):
    X = rows()
    one = BasisExpansion(basis, 5).fit(X)
    other = BasisExpansion(basis, 5).fit(X * unit)
    new = rows(seed=1)
    # Rounding errors of the data, 1e-14 of a range that is a tenth of the values.
    assert_allclose(other.transform(new * unit), one.transform(new), rtol=1e-9, atol=1e-11)


@every_basis
@pytest.mark.parametrize("distinct", [1, 2, 3])
def test_no_more_functions_than_distinct_values_allow(basis, distinct):
    rng = np.random.default_rng(3)
    X = np.column_stack([rng.integers(0, distinct, 60), rng.normal(size=60)]) + 0.0
    expansion = BasisExpansion(basis, 6, interactions=False).fit(X)
    columns = expansion.transform(X)
    assert columns.shape[1] == 6 + max(distinct - 1, 1)
    rank = np.linalg.matrix_rank(columns - columns.mean(0))
    assert rank == 6 + distinct - 1
    assert len(expansion.get_feature_names_out()) == columns.shape[1]


@pytest.mark.parametrize(
    ("basis", "beyond"), [("polynomial", "continue"), ("spline", "constant"), ("steps", "constant")]
)
def test_what_happens_outside_of_the_training_range(basis, beyond):
    x = rows(p=1)
    far = np.array([[x.max() + 5.0], [x.min() - 5.0]])
    edge = np.array([[x.max()], [x.min()]])
    by_default = BasisExpansion(basis, 5).fit(x)
    named = BasisExpansion(basis, 5, extrapolation=beyond).fit(x)
    assert_array_equal(by_default.transform(far), named.transform(far))
    constant = BasisExpansion(basis, 5, extrapolation="constant").fit(x)
    assert_array_equal(constant.transform(far), constant.transform(edge))
    linear = BasisExpansion(basis, 5, extrapolation="linear").fit(x)
    middle = (far + edge) / 2
    line = (linear.transform(far) + linear.transform(edge)) / 2
    assert_allclose(linear.transform(middle), line, rtol=SUMMED, atol=SUMMED)
    with pytest.raises(DataError, match=r"row 0 has .* in feature 0, outside"):
        BasisExpansion(basis, 5, extrapolation="error").fit(x).transform(far)


@pytest.mark.parametrize("basis", ["polynomial", "spline"])
def test_lines_outside_have_the_slope_at_the_edge(basis):
    x = rows(p=1)
    expansion = BasisExpansion(basis, 4, extrapolation="linear").fit(x)
    for edge, sign in ((x.max(), 1), (x.min(), -1)):
        step = sign * 1e-6 * np.ptp(x)
        inside, at, outside = expansion.transform([[edge - step], [edge], [edge + step]])
        # A second difference of step 1e-6 in units of the range; second derivatives are up to 600.
        assert_allclose(outside - at, at - inside, rtol=0, atol=1e-09)
        assert np.abs(outside - at).max() > 1e-7


def test_natural_splines_that_continue_are_lines():
    x = rows(p=1)
    far = [[x.max() + 5.0]]
    one, other = (
        BasisExpansion("natural_spline", 4, extrapolation=how).fit(x).transform(far)
        for how in ("continue", None)
    )
    assert_array_equal(one, other)


def test_what_overflows_outside_is_refused_and_never_nan():
    expansion = BasisExpansion("polynomial", 10).fit(rows(p=1))
    with pytest.raises(DataError, match="too large for floating-point"):
        expansion.transform([[1e300]])
    constant = BasisExpansion("polynomial", 10, extrapolation="constant").fit(rows(p=1))
    assert_array_equal(constant.transform([[1e300]]), constant.transform([[rows(p=1).max()]]))


def test_names_say_what_the_columns_are():
    table = pd.DataFrame({"age": [1.0, 2.0, 4.0, 5.0], "size": [0.0, 3.0, 1.0, 9.0]})
    names = BasisExpansion("polynomial", 2).fit(table).get_feature_names_out()
    assert list(names) == ["P1(age)", "P1(size)", "P2(age)", "P1(age) P1(size)", "P2(size)"]
    names = BasisExpansion("steps", 2).fit(table[["age"]]).get_feature_names_out()
    assert list(names) == ["2.0 < age <= 4.0", "age > 4.0"]
    names = BasisExpansion("natural_spline", 2).fit(table[["age"]]).get_feature_names_out()
    assert list(names) == ["natural1(age)", "natural2(age)"]


@every_basis
@pytest.mark.parametrize("kind", ["pandas", "polars"])
def test_frames_come_out_with_the_names(basis, kind):
    X = rows()
    table = pd.DataFrame(X, columns=["age", "size"])
    table = table if kind == "pandas" else pl.from_pandas(table)
    expansion = BasisExpansion(basis, 2).set_output(transform=kind)
    frame = expansion.fit_transform(table)
    assert list(frame.columns) == list(expansion.get_feature_names_out())
    assert_array_equal(frame.to_numpy(), BasisExpansion(basis, 2).fit_transform(X))


def test_callables_are_columns():
    X = rows()
    functions = [lambda X: X[:, 0], lambda X: X[:, 0] * X[:, 1], lambda X: X[:, :1]]
    expansion = BasisExpansion(functions, 2).fit(X)
    assert_array_equal(expansion.transform(X), np.column_stack([X[:, 0], X[:, 0] * X[:, 1]]))
    assert list(expansion.get_feature_names_out()) == ["function0", "function1"]
    assert BasisExpansion(functions).fit(X).n_output_features_ == 3
    one = BasisExpansion([np.sin, np.cos]).fit(X[:, :1])
    assert list(one.get_feature_names_out()) == ["sin", "cos"]


def test_a_function_without_a_name_leaves_the_names_of_the_others():
    def function3(X):
        return X[:, 0]

    functions = [function3, first, lambda X: X[:, 0], lambda X: X[:, 0] ** 3, first, its_square]
    expected = ["function3", "first", "function2", "function3_", "function4", "its_square"]
    for degree in range(1, 7):  # the names of fewer functions are the first ones
        expansion = BasisExpansion(functions, degree).fit(rows())
        assert list(expansion.get_feature_names_out()) == expected[:degree]


@pytest.mark.parametrize(
    ("function", "match"),
    [
        (lambda X: X, "shape"),
        (lambda X: X[:, 0] * np.nan, "NaN"),
        (lambda X: 1.0, "shape"),
        (lambda X: ["a"] * len(X), "something else than numbers"),
    ],
)
def test_callables_that_fail_are_named(function, match):
    with pytest.raises(DataError, match=rf"basis function 1 returned .*{match}"):
        BasisExpansion([lambda X: X[:, 0], function]).fit_transform(rows())


@pytest.mark.parametrize(
    ("parameters", "match"),
    [
        ({"basis": "fourier"}, "basis is 'fourier'"),
        ({"basis": []}, "not empty"),
        ({"basis": [1]}, "callables"),
        ({"degree": 0}, "degree is 0"),
        ({"interactions": "no"}, "interactions is 'no'; it must be True or False"),
        ({"degree": 1.5}, "degree is 1.5"),
        ({"degree": True}, "degree is True"),
        ({"basis": [np.sin], "degree": 2}, "only 1 callables"),
        ({"extrapolation": "zero"}, "extrapolation is 'zero'"),
        ({"extrapolation": np.zeros(2)}, "extrapolation is"),
        ({"knots": [105.0]}, "knots were given"),
        ({"basis": "steps", "knots": [[105.0], [105.0]], "degree": 2}, "knots were given"),
        ({"basis": "steps", "knots": [105.0]}, "1 list.* for 2 feature"),
        ({"basis": "steps", "knots": 105.0}, "knots is 105.0; give a list"),
        ({"basis": "steps", "knots": ["a", "b"]}, "knots is .*; give a list"),
        ({"basis": "steps", "knots": [[105.0], [-3.0]]}, "knots of feature 1"),
        ({"degree": 2000}, "columns; at most"),
    ],
)
def test_parameters_that_make_no_sense_are_refused(parameters, match):
    with pytest.raises(ParameterError, match=match):
        BasisExpansion(**parameters).fit(rows())


def test_a_feature_may_have_no_knots():
    X = rows()
    steps = BasisExpansion("steps", knots=[[], [105.0]]).fit(X)
    assert list(steps.get_feature_names_out()) == ["x1 > 105.0"]
    assert_array_equal(steps.transform(X)[:, 0], X[:, 1] > 105)
    cubic = BasisExpansion("spline", knots=[]).fit(X[:, :1])
    powers = BasisExpansion("polynomial", 3).fit_transform(X[:, :1])
    assert_allclose(projection(cubic.transform(X[:, :1])), projection(powers), rtol=0, atol=SUMMED)


@pytest.mark.parametrize(
    ("column", "match"),
    [
        ([1.0, np.nan, 3.0], "'age' has 1 missing"),
        ([1.0, np.inf, 3.0], "'age' has 1 infinite"),
        (["old", "new", "new"], "'age' holds text"),
        (pd.Categorical(["old", "new", "new"]), "'age' holds text"),
    ],
    ids=["missing", "infinite", "text", "categories"],
)
def test_what_is_no_number_is_refused_by_name(column, match):
    table = pd.DataFrame({"age": column, "size": [1.0, 2.0, 3.0]})
    with pytest.raises(DataError, match=match):
        BasisExpansion().fit(table)
    numbers = BasisExpansion().fit(table.assign(age=[3.0, 4.0, 5.0]))
    with pytest.raises(DataError, match=match):
        numbers.transform(table)


@pytest.mark.parametrize("basis", [*BASES, [np.sin, np.cos]], ids=str)
def test_the_functions_are_drawn(basis):
    expansion = BasisExpansion(basis, 2).fit(rows(p=1))
    ax = axes()
    assert expansion.plot(ax=ax) is ax
    knots = getattr(expansion, "knots_", [[]])[0]
    assert len(ax.lines) == 2 + len(knots)


@pytest.mark.parametrize("basis", [*BASES, [first, its_square]], ids=[*BASES, "functions"])
def test_a_feature_is_drawn_by_its_name(basis):
    table = pd.DataFrame(rows(p=3), columns=["rm", "age", "tax"])
    expansion = BasisExpansion(basis, 2).fit(table)
    named, numbered = axes(), axes()
    for age in (1, -2):
        expansion.plot("age", ax=named)
        expansion.plot(age, ax=numbered)
        assert named.get_xlabel() == numbered.get_xlabel() == "age"
        for one, other in zip(named.lines, numbered.lines, strict=True):
            assert_array_equal(one.get_xydata(), other.get_xydata())
    for wrong in ("lstat", 3, -4, 1.0, None, True):
        with pytest.raises(ParameterError, match=r"number from 0 to 2, or .* rm, age, tax"):
            expansion.plot(wrong)
    unnamed = BasisExpansion(basis, 2).fit(rows())
    assert unnamed.plot("x1", ax=axes()).get_xlabel() == "x1"


@every_basis
def test_one_row_and_read_only_and_strided_input(basis):
    X = rows(p=4)
    X.flags.writeable = False
    whole = BasisExpansion(basis, 3).fit(X[:, ::2]).transform(X[:, ::2])
    assert_array_equal(whole, BasisExpansion(basis, 3).fit_transform(X[:, ::2].copy(order="F")))
    assert np.isfinite(BasisExpansion(basis, 3).fit(X[:1]).transform(X)).all()


def test_a_second_fit_forgets_the_first():
    X = rows()
    again = BasisExpansion("spline", 5).fit(X).set_params(basis="polynomial", degree=2).fit(X)
    assert set(vars(again)) == set(vars(BasisExpansion("polynomial", 2).fit(X)))
