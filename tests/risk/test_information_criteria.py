"""Cp, AIC, BIC and GCV: R's numbers, formulas written out, and what must not matter."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.ensemble import RandomForestRegressor
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsRegressor
from sklearn.tree import DecisionTreeRegressor

from empirisk import LinearRegression, Ridge
from empirisk.learners.baseline import Baseline
from empirisk.risk.penalties.information_criteria import information_criteria, smoother_criteria
from empirisk.risk.penalties.side_by_side import side_by_side
from empirisk.runtime.errors import DataError, ParameterError, RankWarning
from tolerances import SOLVED, SUMMED

# R 4.2.2, data(mtcars): columns mpg, wt, hp, am.
MPG = np.array([
    21, 21, 22.8, 21.4, 18.7, 18.1, 14.3, 24.4, 22.8, 19.2, 17.8, 16.4, 17.3, 15.2, 10.4, 10.4,
    14.7, 32.4, 30.4, 33.9, 21.5, 15.5, 15.2, 13.3, 19.2, 27.3, 26, 30.4, 15.8, 19.7, 15, 21.4,
], dtype=float)  # fmt: skip
WT = np.array([
    2.62, 2.875, 2.32, 3.215, 3.44, 3.46, 3.57, 3.19, 3.15, 3.44, 3.44, 4.07, 3.73, 3.78, 5.25,
    5.424, 5.345, 2.2, 1.615, 1.835, 2.465, 3.52, 3.435, 3.84, 3.845, 1.935, 2.14, 1.513, 3.17,
    2.77, 3.57, 2.78,
], dtype=float)  # fmt: skip
HP = np.array([
    110, 110, 93, 110, 175, 105, 245, 62, 95, 123, 123, 180, 180, 180, 205, 215, 230, 66, 52, 65,
    97, 150, 150, 245, 175, 66, 91, 113, 264, 175, 335, 109,
], dtype=float)  # fmt: skip
AM = np.array([1] * 3 + [0] * 14 + [1] * 3 + [0] * 5 + [1] * 7)
X = np.column_stack([WT, HP])


def test_linear_regression_as_in_r():
    # f <- lm(mpg ~ wt + hp, mtcars); logLik(f), AIC(f), BIC(f), deviance(f); sigma^2 of the full
    # model lm(mpg ~ ., mtcars), and with it Mallows' Cp of f.
    found = information_criteria(LinearRegression(), X, MPG, noise_variance=7.0235442865072)
    assert_allclose(found.log_likelihood, -74.3261694128207, rtol=SUMMED)
    assert_allclose(found.aic, 156.6523388256413, rtol=SUMMED)
    assert_allclose(found.bic, 162.5152824368402, rtol=SUMMED)
    assert_allclose(found.cp, 1.7705595330508, rtol=SOLVED)
    assert found.degrees_of_freedom == 3


def test_logistic_regression_as_in_r():
    # g <- glm(am ~ wt, binomial, mtcars); logLik(g), AIC(g), BIC(g)
    learner = LogisticRegression(C=np.inf, tol=1e-10)
    found = information_criteria(learner, WT[:, None], AM, degrees_of_freedom=2)
    assert_allclose(found.log_likelihood, -9.5880424037225, rtol=SUMMED)
    assert_allclose(found.aic, 23.1760848074451, rtol=SUMMED)
    assert_allclose(found.bic, 26.1075566130445, rtol=SUMMED)
    assert found.cp is None
    assert found.gcv is None
    assert list(found.estimates) == ["AIC", "BIC"]
    assert_allclose(found.estimates["AIC"].value, found.aic / 64, rtol=SUMMED)
    assert_allclose(found.estimates["BIC"].value, found.bic / 64, rtol=SUMMED)
    assert found.estimates["AIC"].loss == "log"


def test_the_criteria_on_the_scale_of_the_loss():
    found = information_criteria(Ridge(50.0), X, MPG, noise_variance=5.0)
    error = np.mean((MPG - Ridge(50.0).fit(X, MPG).predict(X)) ** 2)
    df, n = found.degrees_of_freedom, 32
    expected = {
        "Cp": error + 10 * df / n,
        "AIC": error * np.exp(2 * df / n),
        "BIC": error * n ** (df / n),
        "GCV": error / (1 - df / n) ** 2,
    }
    assert list(found.estimates) == list(expected)
    for name, value in expected.items():
        assert_allclose(found.estimates[name].value, value, rtol=SUMMED)
        assert found.estimates[name].interval is None
        assert_allclose(found.estimates[name].losses.mean(), value, rtol=SUMMED)
    # exp(AIC/n) is the estimate up to a factor that depends on n alone.
    other = information_criteria(Ridge(5.0), X, MPG, noise_variance=5.0)
    ratio = other.estimates["AIC"].value / found.estimates["AIC"].value
    assert_allclose(np.exp((other.aic - found.aic) / n), ratio, rtol=SUMMED)


def test_generalised_cross_validation_is_leave_one_out_with_the_mean_leverage():
    # Rows on a circle all have the same leverage, so that both are the same number.
    angle = 2 * np.pi * np.arange(12) / 12
    circle = np.column_stack([np.cos(angle), np.sin(angle)])
    y = np.random.default_rng(0).normal(size=12)
    left_out = [
        y[i]
        - LinearRegression().fit(np.delete(circle, i, 0), np.delete(y, i)).predict(circle[[i]])[0]
        for i in range(12)
    ]
    found = information_criteria(LinearRegression(), circle, y)
    assert_allclose(found.gcv, np.mean(np.square(left_out)), rtol=SUMMED)


def test_cp_with_the_noise_of_its_own_residuals_is_the_degrees_of_freedom():
    found = information_criteria(LinearRegression(), X, MPG)
    assert_allclose(found.cp, 3, rtol=SUMMED)


def test_any_smoother_by_its_hat_matrix():
    Z = np.column_stack([np.ones(32), X])
    H = Z @ np.linalg.solve(Z.T @ Z, Z.T)
    by_matrix = smoother_criteria(H, MPG)
    by_learner = information_criteria(LinearRegression(), X, MPG)
    for name in ("degrees_of_freedom", "aic", "bic", "cp", "gcv", "log_likelihood"):
        assert_allclose(getattr(by_matrix, name), getattr(by_learner, name), rtol=SUMMED)


def test_a_row_of_weight_w_is_w_copies():
    w = np.arange(32) % 3
    copies = np.repeat(np.arange(32), w)
    weighted = information_criteria(LinearRegression(), X, MPG, sample_weight=w)
    repeated = information_criteria(LinearRegression(), X[copies], MPG[copies])
    for name in ("n", "aic", "bic", "gcv", "log_likelihood"):
        assert_allclose(getattr(weighted, name), getattr(repeated, name), rtol=SUMMED)


def test_given_degrees_of_freedom_need_no_resamples():
    found = information_criteria(
        KNeighborsRegressor(5), X, MPG, degrees_of_freedom=6.4, noise_variance=6.0
    )
    assert found.degrees_of_freedom == 6.4
    again = information_criteria(KNeighborsRegressor(5), X, MPG, degrees_of_freedom=6.4)
    assert again.aic == found.aic


def test_what_has_no_likelihood_is_refused():
    with pytest.raises(DataError, match="recites"):
        information_criteria(KNeighborsRegressor(1), np.arange(32.0)[:, None], MPG)
    with pytest.raises(ParameterError, match="degrees_of_freedom"):
        information_criteria(Ridge(), X, MPG, degrees_of_freedom=-1)
    with pytest.raises(DataError, match="shape"):
        smoother_criteria(np.eye(3), MPG)
    with pytest.raises(DataError, match="NaN"):
        smoother_criteria(np.full((32, 32), np.nan), MPG)


@pytest.mark.parametrize("scale", [1e-100, 1e100])
def test_the_unit_of_y_shifts_the_likelihood_and_scales_the_risks(scale):
    plain = information_criteria(LinearRegression(), X, MPG)
    scaled = information_criteria(LinearRegression(), X, MPG * scale)
    assert_allclose(scaled.aic, plain.aic + 64 * np.log(scale), rtol=SUMMED)
    assert_allclose(scaled.cp, plain.cp, rtol=SUMMED)
    for name, estimate in plain.estimates.items():
        assert_allclose(scaled.estimates[name].value / scale**2, estimate.value, rtol=SUMMED)


def test_side_by_side_lists_all_of_them_with_words():
    found = side_by_side(LinearRegression(), X, MPG, random_state=0)
    names = ["training", "covariance penalty", "Cp", "AIC", "BIC", "GCV", "cross-validation"]
    assert list(found) == names
    assert found["training"].value == min(found[name].value for name in found)
    assert_allclose(found["Cp"].value, found["covariance penalty"].value, rtol=SUMMED)
    assert found["cross-validation"].interval is not None
    text = str(found)
    for words in ("the same 32 rows", "estimated", "log n / 2", "of the 32 rows; both"):
        assert words in text
    ax = found.plot()
    assert ax.get_xlabel() == "squared risk"
    assert [label.get_text() for label in ax.get_yticklabels()] == names


def test_side_by_side_of_classes_says_what_is_left_out():
    found = side_by_side(
        LogisticRegression(), X, AM, n_resamples=5, random_state=0, groups=np.arange(32) // 2
    )
    assert list(found) == ["training", "covariance penalty", "cross-validation"]
    assert any("left out" in note for note in found.notes)
    assert any("groups" in note for note in found.notes)
    log = side_by_side(LogisticRegression(), X, AM, loss="log", n_resamples=5, random_state=0)
    assert {"AIC", "BIC"} < set(log)


def test_side_by_side_of_a_forest_has_the_rows_out_of_bag():
    forest = RandomForestRegressor(15, random_state=0)
    options = {"n_resamples": 2, "cv": 3, "random_state": 0}
    found = side_by_side(forest, X, MPG, **options)
    assert list(found)[-2:] == ["cross-validation", "out-of-bag"]
    fitted = RandomForestRegressor(15, random_state=0, oob_score=True).fit(X, MPG)
    assert_allclose(
        found["out-of-bag"].value, np.mean((MPG - fitted.oob_prediction_) ** 2), rtol=SUMMED
    )
    assert "did not draw it" in str(found)
    whole = side_by_side(RandomForestRegressor(5, bootstrap=False), X, MPG, **options)
    assert any("Out-of-bag is left out" in note for note in whole.notes)


def test_side_by_side_of_a_fit_that_recites():
    wide = np.random.default_rng(0).normal(size=(32, 50))
    with pytest.warns(RankWarning, match="minimum-norm"):
        found = side_by_side(LinearRegression(), wide, MPG)
    assert any("left out" in note for note in found.notes)
    constant = side_by_side(Baseline(), X, MPG)
    assert_allclose(constant["Cp"].value, np.var(MPG) * (1 + 2 / 31), rtol=SUMMED)


def test_a_variance_below_zero_is_refused():
    X = np.random.default_rng(0).normal(size=(30, 1))
    given = {"degrees_of_freedom": 2, "noise_variance": -1}
    with pytest.raises(ParameterError, match="noise_variance is -1"):
        information_criteria(LinearRegression(), X, X[:, 0] ** 2, **given)


def test_side_by_side_says_where_criteria_know_the_noise_from():
    options = {"n_resamples": 5, "cv": 3, "random_state": 0}
    line, tree = (
        " ".join(side_by_side(learner, X, MPG, **options).notes)
        for learner in (LinearRegression(), DecisionTreeRegressor(max_leaf_nodes=8, random_state=0))
    )
    assert "they differ from Cp by terms of its square" in line
    assert "they differ from Cp" not in tree
    assert "of a fit that recites they are too small" in tree
