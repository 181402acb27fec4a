"""LinearRegression: its interface, its warnings, and its held-out predictions."""

import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.linear_model import LinearRegression as Peer
from sklearn.model_selection import KFold, LeaveOneOut, RepeatedKFold, TimeSeriesSplit

import rational
from empirisk import LinearRegression, Plan
from empirisk.data.blocks import ROWS_PER_BLOCK
from empirisk.risk.axis import CannotSubtractError
from empirisk.runtime.errors import ConvergenceWarning, DataError, RankWarning
from saved_models import there_and_back
from tolerances import LAST_BITS, SOLVED, SUMMED

RTOL = 1e-11  # condition numbers of a few, double precision, by another way


def sample(n=60, p=3, outputs=None, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p)) + 5
    shape = (n,) if outputs is None else (n, outputs)
    return X, rng.normal(size=shape) + 2, rng.integers(1, 4, n).astype(float)


def naive(X, y, w, X_new):
    """Predictions by NumPy's lstsq, which wants columns of one size."""
    root, unit = np.sqrt(w)[:, None], np.append(np.abs(X).max(axis=0), 1)
    ones = np.column_stack([X, np.ones(len(X))]) / unit
    coef = np.linalg.lstsq(ones * root, y.reshape(len(y), -1) * root, rcond=None)[0]
    prediction = np.column_stack([X_new, np.ones(len(X_new))]) / unit @ coef
    return prediction.reshape(len(X_new), *y.shape[1:])


@pytest.mark.parametrize("outputs", [None, 1, 2])
def test_predictions_are_those_of_lstsq(outputs):
    X, y, w = sample(outputs=outputs)
    model = LinearRegression().fit(X, y, sample_weight=w)
    assert_allclose(model.predict(X), naive(X, y, w, X), rtol=RTOL)
    assert model.coef_.shape == ((3,) if outputs is None else (outputs, 3))
    assert np.shape(model.intercept_) == (() if outputs is None else (outputs,))
    assert model.rank_ == 3
    assert model.degrees_of_freedom_ == 4


def hard_design(kind, n=60, p=3):
    X, y, w = sample(n, p)
    if kind == "dependent":
        X = np.column_stack([X, X[:, 0] - X[:, 1], np.full(n, 0.1)])
    elif kind == "units":
        X = X * np.array([1e-4, 1, 1e4])[:p]
    elif kind == "close":
        X[:, 2] = X[:, 0] + 1e-6 * X[:, 2]
    return X, y, w


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize(
    ("kind", "n", "p"),
    [("", 60, 3), ("dependent", 60, 3), ("units", 60, 3), ("close", 60, 3), ("", 5, 8), ("", 4, 4)],
)
@pytest.mark.filterwarnings("ignore::empirisk.runtime.errors.RankWarning")
def test_singular_values_are_those_of_scikit_learn(kind, n, p, fit_intercept):
    X, y, w = hard_design(kind, n, p)
    model = LinearRegression(fit_intercept=fit_intercept).fit(X, y, w)
    peer = Peer(fit_intercept=fit_intercept).fit(X, y, w)
    assert model.singular_.shape == peer.singular_.shape == (min(X.shape),)
    # Of the largest, what all singular value decompositions lose; of each, what sums of squares
    # of condition numbers up to 1e2 lose.
    assert_allclose(model.singular_, peer.singular_, rtol=1e-11, atol=1e-14 * peer.singular_[0])
    if kind not in ("units", "close"):  # it does not count what is below `tol` times the largest
        assert model.rank_ == peer.rank_
    streamed = LinearRegression(fit_intercept=fit_intercept).fit_blocks([(X, y, w)])
    assert_array_equal(streamed.singular_, model.singular_)


@pytest.mark.parametrize("power", [-200, 200])
@pytest.mark.parametrize(("n", "p"), [(60, 3), (5, 8)])
@pytest.mark.filterwarnings("ignore::empirisk.runtime.errors.RankWarning")
def test_singular_values_go_with_the_unit_and_the_root_of_the_weight(n, p, power):
    X, y, w = sample(n, p)
    one, unit = LinearRegression().fit(X, y, w), 10.0**power
    other = LinearRegression().fit(X * unit, y, w).singular_ / unit
    assert_allclose(other, one.singular_, rtol=SUMMED)
    heavy = LinearRegression().fit(X, y, 4 * w).singular_
    assert_allclose(heavy, 2 * one.singular_, rtol=LAST_BITS, atol=LAST_BITS)
    copies = np.repeat(np.arange(n), np.arange(n) % 3)
    counted = LinearRegression().fit(X, y, np.arange(n) % 3).singular_
    repeated = LinearRegression().fit(X[copies], y[copies]).singular_
    k = min(len(counted), len(repeated))  # as many as rows, where these are few: the rest are 0
    assert_allclose(counted[:k], repeated[:k], rtol=SUMMED, atol=LAST_BITS * counted[0])


def test_the_worst_that_sums_of_squares_do_to_singular_values_is_as_the_docstring_says():
    X, y, _ = sample()
    for distance in 10.0 ** np.arange(-1, -9, -0.5):
        near = np.column_stack([X, X[:, 0] + distance * y])
        centred = near - near.mean(axis=0)
        exact = np.linalg.svd(centred, compute_uv=False)
        found = LinearRegression().fit(near, y).singular_
        # 1e-16 k^2 of each, k up to 1e4, and some roundings of the largest.
        assert_allclose(found, exact, rtol=1e-8, atol=LAST_BITS * exact[0])


def test_singular_values_belong_to_the_last_fit_and_come_back_from_a_file(tmp_path):
    X, y, _ = sample()
    model = LinearRegression()
    assert not hasattr(model, "singular_")
    first = model.fit(X, y).singular_
    assert model.fit(2 * X, y).singular_[0] == pytest.approx(2 * first[0], rel=LAST_BITS)
    for again in (pickle.loads(pickle.dumps(model)), there_and_back(model, tmp_path / "model")):
        assert_array_equal(again.singular_, model.singular_)
    assert not hasattr(model.set_params(positive=True).fit(X, y), "singular_")


def test_without_an_intercept_the_rule_passes_through_the_origin():
    X, y, _ = sample()
    model = LinearRegression(fit_intercept=False).fit(X, y)
    assert model.intercept_ == 0
    assert_allclose(model.coef_, np.linalg.lstsq(X, y, rcond=None)[0], rtol=RTOL)
    assert model.degrees_of_freedom_ == model.rank_ == 3


@pytest.mark.parametrize("hard", [False, True])
def test_blocks_give_the_same_bits_as_arrays_for_every_n_jobs(hard):
    X, y, w = sample(2 * ROWS_PER_BLOCK + 50, outputs=2)
    if hard:  # for the orthogonal factorisation
        X[:, 2] = X[:, 0] + 1e-9 * X[:, 2]
    w[::7] = 0
    whole = LinearRegression().fit(X, y, w)

    def source():
        for start in range(0, len(X), 1000):
            rows = slice(start, start + 1000)
            yield X[rows], y[rows], w[rows]

    for n_jobs in (1, 2, 4):
        learner = LinearRegression(n_jobs=n_jobs)
        for streamed in (learner.fit_blocks(source), LinearRegression(n_jobs=n_jobs).fit(X, y, w)):
            assert_array_equal(streamed.coef_, whole.coef_)
            assert_array_equal(streamed.intercept_, whole.intercept_)


def test_blocks_of_frames_teach_the_names():
    X, y, _ = sample()
    frame = pd.DataFrame(X, columns=list("abc"))
    model = LinearRegression().fit_blocks([(frame[:40], y[:40]), (frame[40:], y[40:])])
    assert list(model.feature_names_in_) == ["a", "b", "c"]
    assert model.coef_.shape == (3,)
    assert_array_equal(model.coef_, LinearRegression().fit(frame, y).coef_)
    with pytest.raises(DataError, match="only once"):
        LinearRegression().fit_blocks((X, y) for _ in range(1))


def dependent():
    X, y, _ = sample(p=2)
    frame = pd.DataFrame(X, columns=["a", "b"])
    return frame.assign(c=frame.a + 2 * frame.b, k=0.1, d=frame.b), y


def test_the_warning_names_dependent_columns():
    frame, y = dependent()
    message = "column 'c' is a combination of 'a', 'b'; column 'k' is constant; column 'd' is a co"
    with pytest.warns(RankWarning, match=message):
        model = LinearRegression().fit(frame, y)
    assert model.rank_ == 2
    with pytest.warns(RankWarning, match="column 2 is a combination of 0, 1; column 3 is constant"):
        by_number = LinearRegression().fit(frame.to_numpy(), y)
    assert_array_equal(model.coef_, by_number.coef_)
    with pytest.warns(RankWarning, match="column 'z' is zero"):
        LinearRegression(fit_intercept=False).fit(frame[["a", "b"]].assign(z=0), y)


def test_long_warnings_are_cut_short():
    X, y, _ = sample(p=8)
    X = np.column_stack([X, X.sum(1), *[np.full(len(X), j) for j in range(9)]])
    with pytest.warns(RankWarning, match="0, 1, 2, 3, 4 and 3 more;.*and so for 5 more columns"):
        LinearRegression().fit(X, y)


def test_more_columns_than_rows_interpolate_with_one_warning():
    X, y, _ = sample(5, 8)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model = LinearRegression().fit(X, y)
    (warning,) = caught
    assert warning.category is RankWarning
    assert warning.filename == __file__
    assert "8 column(s) for 5 row(s): the minimum-norm solution is returned" in str(warning.message)
    assert_allclose(model.predict(X), y, rtol=SUMMED)
    assert model.rank_ == 4


def test_full_rank_gives_no_warning():
    X, y, _ = sample()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        LinearRegression().fit(X, y)
        LinearRegression().fit(X + 1e10, y)
        LinearRegression().fit(X * [1e-9, 1, 1e9], y)


def test_coefficients_that_do_not_settle_are_named(monkeypatch):
    monkeypatch.setattr("empirisk.solvers.least_squares.refine", lambda *_, **__: False)
    X, y, _ = sample()
    with pytest.warns(ConvergenceWarning, match="close to dependent"):
        LinearRegression().fit(X, y)


def held_out(X, y, w, plan, rows_per_block=7):
    prediction = np.full((plan.repeats, *y.shape), np.nan)
    blocks = (
        LinearRegression()
        .out_of_fold(
            X, y, w, plan, (None,), n_classes=0, output="value", rows_per_block=rows_per_block
        )
        .blocks
    )
    for repeat, rows, values in blocks:
        assert values.shape == (len(rows), 1, *y.shape[1:])
        assert len(rows) <= rows_per_block
        assert np.isnan(prediction[repeat, rows]).all()
        prediction[repeat, rows] = values[:, 0]
    return prediction


@pytest.mark.parametrize("outputs", [None, 2])
@pytest.mark.parametrize(
    "cv", [LeaveOneOut(), KFold(4), RepeatedKFold(n_splits=3, n_repeats=2, random_state=0)], ids=str
)
def test_held_out_predictions_equal_refitting_by_lstsq(cv, outputs):
    X, y, w = sample(outputs=outputs)
    X *= [1e-5, 1, 1e5]
    plan = Plan.of(cv, X, y)
    fast = held_out(X, y, w, plan)
    for s in range(plan.n_splits):
        train, test = plan.train(s), plan.test(s)
        slow = naive(X[train], y[train], w[train], X[test])
        assert_allclose(fast[plan.repeat(s), test], slow, rtol=SUMMED)


def test_held_out_predictions_are_exact_up_to_the_condition_number_that_is_refused():
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(40, 3)), rng.normal(size=40)
    plan, refused = Plan.of(KFold(4), X, y), False
    for distance in 10.0 ** np.arange(-1, -5, -0.25):
        near = np.column_stack([X, X[:, 0] + distance * y[::-1]])
        try:
            fast = held_out(near, y, np.ones(40), plan)[0]
        except CannotSubtractError:
            refused = True
            break
        for s in range(4):
            train, test = plan.train(s), plan.test(s)
            coef, level = rational.least_squares(near[train], y[train])
            assert_allclose(fast[test], near[test] @ coef + level, rtol=0, atol=SOLVED)
    assert refused
    assert distance < 1e-2  # not refused too early


@pytest.mark.parametrize("power", [-200, 200])
def test_held_out_predictions_survive_extreme_columns(power):
    X, y, w = sample()
    for cv in (LeaveOneOut(), KFold(4)):
        plan = Plan.of(cv, X, y)
        scaled = held_out(X * [10.0**power, 1, 1], y * 10.0**power, w, plan)
        assert_allclose(scaled / 10.0**power, held_out(X, y, w, plan), rtol=RTOL)


@pytest.mark.parametrize("cv", [LeaveOneOut(), KFold(4)], ids=str)
def test_constant_columns_change_no_held_out_prediction(cv):
    X, y, w = sample()
    plan = Plan.of(cv, X, y)
    with_constants = np.column_stack([np.full(60, 0.1), X, np.zeros(60)])
    assert_array_equal(held_out(with_constants, y, w, plan), held_out(X, y, w, plan))


def test_folds_of_single_rows_are_left_out_one_by_one_in_each_repeat():
    X, y, w = sample(12)
    twice = Plan.of(RepeatedKFold(n_splits=12, n_repeats=2, random_state=0), X, y)
    once = held_out(X, y, w, Plan.of(LeaveOneOut(), X, y))
    assert_array_equal(held_out(X, y, w, twice), np.concatenate([once, once]))


def refusal(X, y, cv):
    with pytest.raises(CannotSubtractError) as caught:
        held_out(X, y, np.ones(len(X)), Plan.of(cv, X, y))
    return str(caught.value)


def test_the_fast_rung_declines_where_it_would_lose_digits():
    X, y, _ = sample()
    assert "nothing to subtract from" in refusal(X, y, TimeSeriesSplit(3))
    assert "nothing to subtract from" in refusal(X, y, [(np.arange(30), np.arange(30, 60))])
    near = np.column_stack([X, X[:, 0] + 1e-6 * y])
    assert "condition number of a training design is" in refusal(near, y, KFold(4))
    lonely = np.column_stack([X, np.arange(60) == 5])
    assert "1 - leverage is" in refusal(lonely, y, LeaveOneOut())
    assert "condition number" in refusal(lonely, y, KFold(4))
    assert "columns for" in refusal(X[:4], y[:4], KFold(2))
    outlier = X.copy()
    outlier[3, 1] = 1e9
    assert "condition number" in refusal(outlier, y, KFold(4))


def test_folds_that_do_not_fit_into_memory_are_declined(monkeypatch):
    monkeypatch.setattr("empirisk.learners.linear.held_out.MOST_NUMBERS", 10)
    monkeypatch.setattr("empirisk.risk.plans.parts.MOST_NUMBERS", 10)
    X, y, _ = sample()
    assert "memory" in refusal(X, y, KFold(4))


def test_the_path_is_the_one_fit():
    X, y, w = sample(outputs=2)
    path = LinearRegression().fit_path(X, y, w, (None,))
    model = LinearRegression().fit(X, y, w)
    fitted = path.at(0)
    assert_array_equal(fitted.coef_, model.coef_)
    assert fitted.rank_ == 3
    assert path.predict_path(X).shape == (60, 1, 2)
    assert_allclose(path.predict_path(X)[:, 0], model.predict(X), rtol=LAST_BITS)
