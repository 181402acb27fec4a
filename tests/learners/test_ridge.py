"""Ridge: against scikit-learn, along its whole path, and held out."""

import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.linear_model import Ridge as Peer
from sklearn.model_selection import KFold, LeaveOneOut, RepeatedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import rational
from empirisk import LinearRegression, Plan, Ridge, Tuned, load, risk, save
from empirisk.risk.axis import CannotSubtractError
from empirisk.runtime.errors import ParameterError
from tolerances import LAST_BITS, SOLVED, SUMMED

RTOL = 1e-10  # scikit-learn's Cholesky in double precision, condition numbers up to a thousand


def sample(n=50, p=4, outputs=None, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p)) + 3
    shape = (n,) if outputs is None else (n, outputs)
    return (
        X,
        X[:, :1].reshape(n, *[1] * (len(shape) - 1)) + rng.normal(size=shape),
        rng.integers(1, 4, n) + 0.0,
    )


@pytest.mark.parametrize("alpha", [1e-6, 0.5, 300.0])
@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize(
    ("n", "p", "outputs"), [(50, 4, None), (50, 4, 2), (6, 9, None), (6, 9, 2)]
)
def test_coefficients_are_those_of_scikit_learn(n, p, outputs, fit_intercept, alpha):
    X, y, w = sample(n, p, outputs)
    model = Ridge(alpha, fit_intercept=fit_intercept).fit(X, y, w)
    peer = Peer(alpha, fit_intercept=fit_intercept).fit(X, y, w)
    # Its wide, nearly unpenalised solution is solved through a nearly singular matrix.
    rtol = 1e-5 if alpha < 1e-3 and n < p else RTOL
    assert_allclose(model.coef_, peer.coef_, rtol=rtol)
    assert_allclose(model.intercept_, peer.intercept_, rtol=rtol)


def test_without_penalty_it_is_least_squares():
    X, y, w = sample()
    model, plain = Ridge(0).fit(X, y, w), LinearRegression().fit(X, y, w)
    assert_array_equal(model.coef_, plain.coef_)
    assert model.degrees_of_freedom_ == plain.degrees_of_freedom_


@pytest.mark.parametrize("alpha", [0.0, 1e-300])
def test_dependent_columns_need_no_warning(alpha):
    X, y, _ = sample()
    X = np.column_stack([X, X[:, 0], np.ones(len(X))])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = Ridge(alpha).fit(X, y)
        wide = Ridge(alpha).fit(X[:3], y[:3])
    assert_allclose(model.coef_, rational.least_norm(X, y)[0], rtol=SUMMED, atol=LAST_BITS)
    assert_allclose(wide.coef_, rational.least_norm(X[:3], y[:3])[0], rtol=SUMMED, atol=LAST_BITS)


@pytest.mark.parametrize("alpha", [-1.0, np.nan, np.inf, "1", None, [-1.0], ["1"], [[np.inf]]])
def test_a_penalty_that_makes_no_sense_is_refused(alpha):
    X, y, w = sample()
    with pytest.raises(ParameterError, match="alpha is"):
        Ridge(alpha).fit(X, y)
    with pytest.raises(ParameterError, match="alpha is"):
        Ridge().fit_path(X, y, w, [1.0, alpha])


EACH = np.array([0.3, 200.0, 0.3, 0.0])


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize(("n", "p"), [(50, 4), (6, 9)])
def test_a_penalty_for_each_target_is_that_of_scikit_learn(n, p, fit_intercept):
    X, y, w = sample(n, p, 4)
    alpha = EACH if n > p else EACH + 0.1  # its wide solution at 0 inverts a singular matrix
    model = Ridge(alpha.tolist(), fit_intercept=fit_intercept).fit(X, y, w)
    peer = Peer(alpha, fit_intercept=fit_intercept).fit(X, y, w)
    assert_allclose(model.coef_, peer.coef_, rtol=RTOL)
    assert_allclose(model.intercept_, peer.intercept_, rtol=RTOL)
    for one in (
        np.array(alpha[0]),
        [alpha[0]],
        np.array([[alpha[0]]]),
    ):  # one for all, however it is wrapped
        assert_array_equal(Ridge(one).fit(X, y, w).coef_, Ridge(alpha[0]).fit(X, y, w).coef_)
    flat = Ridge([2.0], fit_intercept=fit_intercept).fit(X, y[:, 0], w)
    assert_allclose(
        flat.coef_, Peer([2.0], fit_intercept=fit_intercept).fit(X, y[:, 0], w).coef_, rtol=SOLVED
    )


@pytest.mark.parametrize("positive", [False, True])
@pytest.mark.parametrize("unit", [1.0, 1e-200, 1e200])
@pytest.mark.parametrize(("n", "p"), [(50, 4), (6, 9)])
def test_a_penalty_for_each_target_is_a_fit_of_each(n, p, unit, positive):
    X, y, w = sample(n, p, 4)
    X = np.column_stack([X, X[:, 0], np.ones(n)]) * unit  # dependent columns, and a constant one
    fits = [
        Ridge(alpha, positive=positive).fit(X, y[:, k], w) for k, alpha in enumerate(EACH * unit)
    ]
    model = Ridge(EACH * unit, positive=positive).fit(X, y, w)
    # Each is refined to the last digits; which minimiser is taken at 0 is a convention.
    assert_allclose(model.predict(X), np.column_stack([fit.predict(X) for fit in fits]), rtol=1e-9)
    freedom = np.mean([fit.degrees_of_freedom_ for fit in fits])
    assert model.degrees_of_freedom_ == pytest.approx(freedom, rel=SUMMED)


def test_a_penalty_for_each_target_has_the_same_bits_in_blocks_and_counts_copies():
    X, y, w = sample(6000, outputs=4)
    pieces = [(X[i : i + 700], y[i : i + 700], w[i : i + 700]) for i in range(0, 6000, 700)]
    model = Ridge(EACH).fit(X, y, w)
    assert_array_equal(Ridge(EACH).fit_blocks(pieces).coef_, model.coef_)
    copies = np.repeat(np.arange(6000), w.astype(int))
    assert_allclose(Ridge(EACH).fit(X[copies], y[copies]).coef_, model.coef_, rtol=SUMMED)


@pytest.mark.parametrize("alpha", [[1.0, 2.0], [1.0, 2.0, 3.0, 4.0, 5.0]])
def test_as_many_penalties_as_targets_or_one(alpha):
    X, y, _ = sample(outputs=4)
    with pytest.raises(ParameterError, match=r"alpha has . penalties and y 4 target"):
        Ridge(alpha).fit(X, y)


@pytest.mark.parametrize("positive", [False, True])
def test_a_penalty_for_each_target_is_judged_as_it_is_fold_by_fold(positive):
    X, y, w = sample(outputs=2)
    learner = Ridge([0.3, 200.0], positive=positive)
    peer = Peer([0.3, 200.0], positive=positive, tol=1e-13)
    problem = risk.Problem.of(learner, X, y, sample_weight=w)
    plan = Plan.of(KFold(4), X, y)
    found = risk.out_of_fold(learner, problem, plan)
    assert (found.rung, found.losses.shape) == ("path", (50, 1))
    assert ("penalty of its own" in found.why) != positive
    for s in range(4):
        train, test = plan.train(s), plan.test(s)
        slow = peer.fit(X[train], y[train], w[train]).predict(X[test])
        rtol = 1e-5 if positive else RTOL  # its constrained fit is iterated
        assert_allclose(found.losses[test, 0], ((y[test] - slow) ** 2).mean(axis=1), rtol=rtol)
    assert risk.cross_validate(learner, X, y, cv=plan).estimates == "the procedure at this n"
    assert found.whole.path.at(0).alpha == [0.3, 200.0]


def test_along_the_axis_all_targets_share_a_penalty():
    X, y, _ = sample(outputs=2)
    for asked in (Tuned(Ridge([1.0, 2.0])), Tuned(make_pipeline(StandardScaler(), Ridge([1.0])))):
        with pytest.raises(ParameterError, match=r"all targets share one: give Ridge\(\)"):
            asked.fit(X, y)
    with pytest.raises(ParameterError, match=r"values has \[1.0, 2.0\]: give a list with a number"):
        Tuned(Ridge(), values=[[1.0, 2.0], [3.0, 4.0]]).fit(X, y)
    given = Tuned(Ridge([1.0, 2.0]), values=[0.1, 10.0], cv=3, random_state=0).fit(X, y)
    plain = Tuned(Ridge(), values=[0.1, 10.0], cv=3, random_state=0).fit(X, y)
    assert given.best_value_ == plain.best_value_
    assert_array_equal(given.predict(X), plain.predict(X))


def test_a_penalty_for_each_target_comes_back_from_a_file(tmp_path):
    X, y, _ = sample(outputs=2)
    for alpha in ([0.3, 200.0], np.array([0.3, 200.0])):
        model = Ridge(alpha).fit(X, y)
        save(model, tmp_path / "ridge.empirisk")
        assert_array_equal(load(tmp_path / "ridge.empirisk").predict(X), model.predict(X))


def test_blocks_give_the_same_bits_as_arrays():
    X, y, w = sample(6000)
    pieces = [(X[i : i + 700], y[i : i + 700], w[i : i + 700]) for i in range(0, 6000, 700)]
    assert_array_equal(Ridge(3).fit_blocks(pieces).coef_, Ridge(3).fit(X, y, w).coef_)


@pytest.mark.parametrize("power", [-300, -200, 200, 300])
def test_extreme_units_shrink_to_nothing_or_not_at_all(power):
    X, y, w = sample()
    model = Ridge(1.0).fit(X * 10.0**power, y, w)
    prediction = model.predict(X * 10.0**power)
    if power > 0:
        assert_allclose(prediction, LinearRegression().fit(X, y, w).predict(X), rtol=SUMMED)
    else:
        assert_allclose(prediction, np.average(y, weights=w), rtol=SUMMED)


PATHS = [(50, 4, None, 1.0), (50, 4, 2, 1.0), (6, 9, None, 1.0), (6, 9, 2, 1.0), (50, 4, None, 1e6)]


@pytest.mark.parametrize(("n", "p", "outputs", "unit"), PATHS)
def test_the_path_is_a_fit_at_each_value(n, p, outputs, unit):
    X, y, w = sample(n, p, outputs)
    X[:, 0] *= unit
    values = [0.0, 1e-9, 0.1, 10.0, 1e9]
    path = Ridge().fit_path(X, y, w, values)
    prediction = path.predict_path(X)
    assert prediction.shape == (n, 5) if outputs is None else (n, 5, outputs)
    for j, alpha in enumerate(values):
        model, fitted = Ridge(alpha).fit(X, y, w), path.at(j)
        assert fitted.get_params() == model.get_params()
        assert_allclose(fitted.coef_, model.coef_, rtol=RTOL)
        assert_allclose(fitted.intercept_, model.intercept_, rtol=RTOL)
        assert fitted.degrees_of_freedom_ == pytest.approx(model.degrees_of_freedom_, rel=SUMMED)
        assert_allclose(prediction[:, j], fitted.predict(X), rtol=SUMMED)
        assert np.shape(fitted.intercept_) == np.shape(model.intercept_)


def test_the_path_of_a_nearly_singular_design_is_refined_where_it_must_be():
    X, y, w = sample()
    X[:, 3] = X[:, 0] + 1e-11 * X[:, 3]
    path = Ridge().fit_path(X, y, w, [0.0, 1e-24, 1.0])
    for j, alpha in enumerate([0.0, 1e-24, 1.0]):
        coef, _ = rational.least_squares(X, y, w, penalty=alpha)
        assert_allclose(path.at(j).coef_, coef, rtol=SUMMED if alpha == 1 else LAST_BITS)


def held_out(X, y, w, plan, values):
    prediction = np.full((plan.repeats, len(y), len(values), *y.shape[1:]), np.nan)
    blocks = (
        Ridge()
        .out_of_fold(X, y, w, plan, values, n_classes=0, output="value", rows_per_block=11)
        .blocks
    )
    for repeat, rows, block in blocks:
        assert np.isnan(prediction[repeat, rows]).all()
        prediction[repeat, rows] = block
    return prediction


@pytest.mark.parametrize("unit", [1.0, 1e-7])
@pytest.mark.parametrize("outputs", [None, 2])
@pytest.mark.parametrize(
    "cv", [LeaveOneOut(), KFold(4), RepeatedKFold(n_splits=3, n_repeats=2, random_state=0)], ids=str
)
def test_held_out_predictions_equal_refitting_by_scikit_learn(cv, outputs, unit):
    X, y, w = sample(outputs=outputs)
    X[:, 0] *= unit
    plan = Plan.of(cv, X, y)
    values = np.array([1e-4, 1.0, 1e4]) * unit**2
    fast = held_out(X, y, w, plan, values)
    for s in range(plan.n_splits):
        train, test = plan.train(s), plan.test(s)
        for j, alpha in enumerate(values):
            slow = Peer(alpha, solver="svd").fit(X[train], y[train], w[train]).predict(X[test])
            assert_allclose(fast[plan.repeat(s), test, j], slow, rtol=RTOL)


@pytest.mark.parametrize(("n", "p"), [(7, 6), (7, 7), (7, 12)])
def test_leave_one_out_with_more_columns_than_rows(n, p):
    X, y, w = sample(n, p)
    plan, values = Plan.of(LeaveOneOut(), X, y), [1e-6, 1e-2, 1.0, 1e3]
    fast = held_out(X, y, w, plan, values)[0]
    for i in range(n):
        train = np.arange(n) != i
        for j, alpha in enumerate(values):
            coef, level = rational.least_squares(X[train], y[train], w[train], penalty=alpha)
            assert fast[i, j] == pytest.approx(X[i] @ coef + level, rel=SUMMED)


def test_the_fast_rung_declines_where_it_would_lose_digits():
    X, y, w = sample()
    X[:, 3] = X[:, 0] + 1e-5 * X[:, 3]
    plan = Plan.of(KFold(4), X, y)
    assert np.isfinite(held_out(X, y, w, plan, [1.0])).all()
    with pytest.raises(CannotSubtractError, match="condition number of a training design"):
        held_out(X, y, w, plan, [1.0, 1e-12])


def test_constant_columns_alone_are_held_out_too():
    X, y, w = np.full((8, 2), 0.1), np.arange(8.0), np.ones(8)
    for cv in (LeaveOneOut(), KFold(2)):
        plan = Plan.of(cv, X, y)
        prediction = held_out(X, y, w, plan, [1.0])[0, :, 0]
        for s in range(plan.n_splits):
            assert_allclose(prediction[plan.test(s)], y[plan.train(s)].mean(), rtol=SUMMED)


@pytest.mark.parametrize("n_columns", [1, 2, 3, 12])
@pytest.mark.parametrize("cv", [KFold(4), LeaveOneOut()], ids=str)
def test_constant_columns_alone_predict_the_mean_without_any_penalty(cv, n_columns):
    values = np.linspace(0.1, 1.3, n_columns)  # no sum of them is exact
    for seed in range(8):
        rng = np.random.default_rng(seed)
        n = 8 if n_columns == 12 else 60
        X, y, w = np.tile(values, (n, 1)), rng.normal(size=n), rng.integers(1, 4, n) + 0.0
        path = Ridge().fit_path(X, y, w, [0.0, 1e-40])
        mean = np.average(y, weights=w)
        assert_allclose(path.predict_path(X), np.full((n, 2), mean), rtol=SUMMED, atol=SUMMED)
        problem = risk.Problem.of(Ridge(), X, y, sample_weight=w)
        found = risk.out_of_fold(Ridge(), problem, problem.plan(cv), values=[0.0])
        naive = [np.average(np.delete(y, t), weights=np.delete(w, t)) for t in _tests(found.plan)]
        losses = [np.square(y[t] - m) for t, m in zip(_tests(found.plan), naive, strict=True)]
        assert_allclose(found.losses[:, 0], np.concatenate(losses), rtol=SUMMED, atol=SUMMED)


def _tests(plan):
    return [plan.test(split) for split in range(plan.n_splits)]


@pytest.mark.parametrize("unit", [1.0, 1e-100])
@pytest.mark.parametrize("outputs", [None, 2])
def test_leave_one_out_knows_what_one_row_less_costs_on_every_rung(outputs, unit):
    X, y, w = sample(outputs=outputs)
    y = y * unit
    problem = risk.Problem.of(Ridge(), X, y, sample_weight=w)
    plan, shifts = problem.plan(LeaveOneOut()), []
    for rung in (None, "path"):
        found = risk.out_of_fold(Ridge(), problem, plan, values=[30.0], rung=rung)
        shifts.append(found.table(0).shift)
    assert shifts[0] != 0
    assert_allclose(*shifts, rtol=SOLVED)


def test_a_refusal_comes_before_the_first_block():
    X, y, w = sample(6, 9)
    with pytest.raises(CannotSubtractError):
        Ridge().out_of_fold(
            X, y, w, Plan.of(KFold(3), X, y), [1.0], n_classes=0, output="value", rows_per_block=5
        )


def test_the_default_grid_reaches_from_no_coefficients_to_least_squares():
    X, y, w = sample()
    X[:, 1] *= 1e4
    values = Ridge().axis_values(X, y, w, n_train=40)
    assert len(values) == 100
    assert_allclose(np.diff(np.log(values)), np.log(values[1] / values[0]), rtol=SUMMED)
    path, plain = Ridge().fit_path(X, y, w, values), LinearRegression().fit(X, y, w)
    prediction, best = path.predict_path(X), plain.predict(X)
    assert np.ptp(prediction[:, 0]) < 1e-3 * np.ptp(best)
    # The last penalty is at most 1e-3 of each squared singular value, and shrinks by as much.
    assert np.abs(prediction[:, -1] - best).max() < 1e-3 * np.ptp(best)


@pytest.mark.parametrize(("n", "p"), [(50, 4), (6, 9)])
def test_the_default_grid_goes_with_the_square_of_the_unit_and_counts_copies(n, p):
    X, y, w = sample(n, p)
    values = Ridge().axis_values(X, y, w, n_train=n)
    assert_allclose(Ridge().axis_values(8 * X, y, w, n_train=n), 64 * np.array(values), rtol=SUMMED)
    if n > p:  # copies of a wide table may be more rows than columns
        copies = np.repeat(np.arange(n), w.astype(int))
        repeated = Ridge().axis_values(X[copies], y[copies], np.ones(len(copies)), n_train=n)
        assert_allclose(repeated, values, rtol=SUMMED)


@pytest.mark.parametrize("X", [np.full((5, 2), 0.1), np.zeros((5, 2)), np.full((1, 3), 2.0)])
def test_constant_columns_have_a_grid_too(X):
    values = Ridge().axis_values(X, np.arange(len(X)), np.ones(len(X)), n_train=len(X))
    assert np.all(np.diff(values) < 0)
    path = Ridge().fit_path(X, np.arange(len(X)) + 0.0, np.ones(len(X)), values)
    assert_allclose(path.predict_path(X), np.arange(len(X)).mean(), rtol=SUMMED)


@pytest.mark.parametrize("power", [-300, -160, 160, 300])
def test_the_grid_stays_within_floating_point(power):
    X, y, w = sample()
    values = np.array(Ridge().axis_values(X * 10.0**power, y, w, n_train=40))
    assert np.isfinite(values).all()
    assert (values > 0).all()
    assert np.all(np.diff(values) < 0)
    assert np.isfinite(held_out(X * 10.0**power, y, w, Plan.of(LeaveOneOut(), X, y), values)).all()
