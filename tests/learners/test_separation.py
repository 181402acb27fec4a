"""Separation of classes: what is reported, beside a linear programme that is written out."""

import warnings

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scipy.optimize import linprog
from sklearn.datasets import load_iris

import empirisk.learners.linear.separation as module
from empirisk import LogisticRegression
from empirisk.learners.linear.separation import SeparationWarning
from empirisk.runtime.errors import ConvergenceWarning, RankWarning
from tolerances import SUMMED


def gains(X, y, n_classes, fit_intercept=True):
    """Rows and other classes -> their margin, as a function of a score for each class."""
    X = X - X.mean(axis=0) if fit_intercept else X
    X = X / np.maximum(np.abs(X).max(axis=0), 1e-12)  # the programme's tolerance is absolute
    Z = np.column_stack([X, np.ones(len(X))]) if fit_intercept else X
    pairs = [(i, k) for i in range(len(y)) for k in range(n_classes) if k != y[i]]
    A = np.zeros((len(pairs), n_classes, Z.shape[1]))
    for row, (i, k) in enumerate(pairs):
        A[row, y[i]], A[row, k] = Z[i], -Z[i]
    return A.reshape(len(pairs), -1), np.array(pairs)[:, 0]


def konis(X, y, n_classes, fit_intercept=True):
    """How many rows can be separated: maximise sum t, 0 <= t <= 1, t <= margins (Konis 2007).

    The directions are a cone, so that every margin that can be positive can be 1.
    """
    A, row = gains(X, y, n_classes, fit_intercept)
    m, d = A.shape
    found = linprog(
        np.r_[np.zeros(d), -np.ones(m)],
        A_ub=np.hstack([-A, np.eye(m)]),
        b_ub=np.zeros(m),
        bounds=[(None, None)] * d + [(0, 1)] * m,
    )
    ahead = found.x[d:] > 0.5
    kind = "complete" if ahead.all() else "quasi-complete" if ahead.any() else None
    return kind, sum(ahead[row == i].all() for i in range(len(y)))


def fitted(X, y, weight=None, **parameters):
    """The unpenalised model, and the classes of warnings that it gave."""
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        model = LogisticRegression(C=np.inf, **parameters).fit(X, y, sample_weight=weight)
    return model, {warning.category for warning in heard}


def check(X, y, n_classes, **parameters):
    """The report is that of the twin, and its direction is never against a row."""
    model, heard = fitted(X, y, **parameters)
    kind, n_separated = konis(X, y, n_classes, parameters.get("fit_intercept", True))
    found = model.separation_
    if kind is None:
        assert found is None
        assert SeparationWarning not in heard
        return None
    assert (found.kind, found.n_separated) == (kind, n_separated)
    assert SeparationWarning in heard
    scores = X @ found.coef.T + found.intercept
    scores = np.column_stack([np.zeros(len(y)), scores]) if n_classes == 2 else scores
    own = scores[np.arange(len(y)), y][:, None]
    assert (own - scores).min() >= -1e-6 * np.abs(scores).max()  # the programme's tolerance
    return kind


@pytest.mark.parametrize("n_classes", [2, 3, 4])
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_small_integers_are_judged_as_by_the_linear_programme(n_classes, fit_intercept):
    rng = np.random.default_rng(n_classes)
    kinds = []
    for _ in range(25):
        n, p = rng.integers(n_classes + 2, 20), rng.integers(1, 5)
        X = rng.integers(-2, 3, size=(n, p)).astype(float)
        y = rng.integers(0, n_classes, size=n)
        y[:n_classes] = np.arange(n_classes)
        kinds.append(check(X, y, n_classes, fit_intercept=fit_intercept))
    assert {None, "quasi-complete"} <= set(kinds)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_separable_data_are_called_so(n_classes):
    rng = np.random.default_rng(1)
    for n, p in ((30, 2), (60, 4), (10, 20)):
        X = rng.normal(size=(n, p)) * 10.0 ** rng.integers(-5, 6, size=p)
        y = ((X / X.std(axis=0)) @ rng.normal(size=(p, n_classes))).argmax(axis=1)
        y = np.unique(y, return_inverse=True)[1]
        assert check(X, y, int(y.max()) + 1) == "complete"


def test_nearly_separable_data_have_a_maximum():
    X = np.linspace(-10, 10, 401)[:, None]
    y = (X[:, 0] > 0).astype(int)
    y[[200, 201]] = y[[201, 200]]  # one swap at the border: the maximum is steep
    assert check(X, y, 2) is None
    model, heard = fitted(X, y)
    assert not heard
    residual = model.predict_proba(X)[:, 1] - y
    assert abs(residual.sum()) < 1e-8  # converged to a relative 1e-10
    assert abs(residual @ X[:, 0]) < 1e-8


def test_touching_classes_are_separated_but_for_the_point_where_they_meet():
    X = np.array([0.0, 1, 2, 2, 3, 4])[:, None]
    y = np.array([0, 0, 0, 1, 1, 1])
    assert check(X, y, 2) == "quasi-complete"
    model, _ = fitted(X, y)
    assert model.separation_.n_separated == 4
    assert "by column 0" in model.separation_.message(None, [0, 1])


def test_copies_and_weights_change_nothing():
    rng = np.random.default_rng(2)
    X = rng.integers(0, 3, size=(20, 2)).astype(float)
    y = (X.sum(axis=1) + rng.integers(0, 2, size=20) > 2).astype(int)
    once, _ = fitted(X, y)
    assert once.separation_.kind == "quasi-complete"
    copies, _ = fitted(np.repeat(X, 3, axis=0), np.repeat(y, 3))
    assert copies.separation_.n_separated == 3 * once.separation_.n_separated
    weighted, _ = fitted(X, y, weight=rng.uniform(1e-3, 1e3, size=20))
    assert weighted.separation_.n_separated == once.separation_.n_separated


def test_a_row_without_weight_does_not_hold_classes_together():
    X = np.array([-2.0, -1, 1, 2, 5])[:, None]
    y = np.array([0, 0, 1, 1, 0])
    assert fitted(X, y)[0].separation_ is None
    found = fitted(X, y, weight=[1, 1, 1, 1, 0])[0].separation_
    assert (found.kind, found.n_separated) == ("complete", 4)


def test_one_class_of_three_may_be_separated_alone():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(90, 2))
    y = rng.integers(0, 2, size=90)
    X[:30, 0] += 10
    y[:30] = 2
    assert check(X, y, 3) == "quasi-complete"
    found = fitted(X, y)[0].separation_
    assert found.n_separated == 30  # the others are told from class 2, but not from one another
    assert_array_equal(found.ahead[2], [30, 30, 30])
    assert_array_equal(found.ahead[:2, :2], np.diag(np.bincount(y)[:2]))


@pytest.mark.parametrize("tol", [1e-10, 1e-6, 1e-3, 1e-1])
def test_a_loose_fit_is_found_separated_too(tol):
    rng = np.random.default_rng(4)
    X = np.column_stack([rng.normal(size=(200, 2)), np.arange(200) % 10 == 0])
    y = (X[:, 0] + rng.logistic(size=200) > 0).astype(int)
    y[X[:, 2] == 1] = 1
    found = fitted(X, y, tol=tol)[0].separation_
    assert (found.kind, found.n_separated) == ("quasi-complete", 20)


@pytest.mark.parametrize("solver", ["newton", "limited-memory", "gradient", "stochastic"])
def test_every_solver_reports(solver):
    X = np.array([0.0, 1, 2, 2, 3, 4])[:, None]
    y = np.array([0, 0, 0, 1, 1, 1])
    model, heard = fitted(X, y, solver=solver, max_iter=50)
    assert model.separation_.kind == "quasi-complete"
    assert SeparationWarning in heard


def test_constraints_that_join_later_change_nothing(monkeypatch):
    rng = np.random.default_rng(5)
    X = rng.integers(-2, 3, size=(150, 3)).astype(float)
    X = np.column_stack([X, np.arange(150) < 9])
    y = (X[:, 0] + rng.logistic(size=150) > 0).astype(int)
    y[:9] = 1
    monkeypatch.setattr(module, "AT_ONCE", 1)
    assert check(X, y, 2) == "quasi-complete"


def test_without_penalty_a_fit_converges_or_says_why_not():
    rng = np.random.default_rng(6)
    X = rng.normal(size=(100, 3))
    y = (X[:, 0] + rng.logistic(size=100) > 0).astype(int)
    assert fitted(X, y)[1] == set()
    cases = {
        "collinear": (np.column_stack([X, X[:, 0] - X[:, 1]]), {}, RankWarning),
        "constant": (np.column_stack([X, np.full(100, 0.1)]), {}, RankWarning),
        "zero": (np.column_stack([X, np.zeros(100)]), {"fit_intercept": False}, RankWarning),
        "separated": (np.column_stack([X, y]), {}, SeparationWarning),
        "too few steps": (X, {"max_iter": 1}, ConvergenceWarning),
        "too few steps of lbfgs": (
            X,
            {"max_iter": 2, "solver": "limited-memory"},
            ConvergenceWarning,
        ),
        "collinear, lbfgs": (
            np.column_stack([X, X[:, 0]]),
            {"solver": "limited-memory"},
            RankWarning,
        ),
    }
    for name, (columns, parameters, expected) in cases.items():
        assert fitted(columns, y, **parameters)[1] == {expected}, name


@pytest.mark.parametrize("exponent", [4, 6, 8])
def test_nearly_dependent_columns_converge_or_are_named(exponent):
    rng = np.random.default_rng(7)
    X = rng.normal(size=(200, 2))
    X = np.column_stack([X, X[:, 0] + 10.0**-exponent * rng.normal(size=200)])
    y = (X[:, 1] + rng.logistic(size=200) > 0).astype(int)
    model, heard = fitted(X, y)
    Z = np.column_stack([X - X.mean(axis=0), np.ones(200)])
    share = model.predict_proba(X)[:, 1]
    gradient = Z.T @ (share - y)
    _, R = np.linalg.qr(np.sqrt(share * (1 - share))[:, None] * Z)
    decrement = np.linalg.norm(np.linalg.solve(R.T, gradient))
    loss = -np.log(np.where(y == 1, share, 1 - share)).sum()
    # The slack is for what the gradient here itself loses: 16 digits less the exponent.
    assert heard or decrement <= 1e-10 * np.sqrt(loss) + 10.0 ** (exponent - 16)


def test_directions_are_in_the_units_of_the_columns():
    X = np.array([[-2e6, 1.0], [-1e6, 2], [1e6, 1.5], [2e6, 1.2]])
    found = fitted(X, np.array([0, 0, 1, 1]))[0].separation_
    assert_array_equal(np.sign(X @ found.coef[0] + found.intercept), [-1, -1, 1, 1])
    assert np.abs(found.coef * np.abs(X - X.mean(axis=0)).max(axis=0)).max() == pytest.approx(
        1, rel=SUMMED
    )


def test_the_warning_says_which_classes_are_told_apart():
    data = load_iris()
    species = data.target_names[data.target]
    with pytest.warns(SeparationWarning, match=r"class 'setosa' from 'versicolor' and 'virginica'"):
        found = LogisticRegression(C=np.inf).fit(data.data, species).separation_
    assert (found.kind, found.n_separated) == ("quasi-complete", 50)


def test_the_warning_tells_classes_that_touch_from_those_that_do_not():
    X = np.array([0.0, 1, 2, 2, 3, 4, 4, 3.5, 9, 9.5])[:, None]
    y = np.array(["a", "a", "a", "b", "b", "b", "c", "c", "d", "d"])
    model, _ = fitted(X, y)
    message = model.separation_.message(None, model.classes_)
    # b and c overlap, so that their scores stay level; a meets b at 2; d is apart from all.
    assert_array_equal(
        model.separation_.ahead, [[3, 2, 2, 3], [2, 3, 0, 3], [2, 0, 2, 2], [2, 2, 2, 2]]
    )
    assert (
        "separates class 'd' from 'a', 'b' and 'c'; 2 row(s) of class 'a' from 'b' and 'c'; "
        "2 row(s) of class 'b' from 'a' and 2 row(s) of class 'c' from 'a' (quasi" in message
    )
    assert model.separation_.n_separated == 4  # 0 and 1 of a, and both of d


def test_long_lists_of_classes_are_cut():
    X = np.arange(16.0)[:, None]
    y = np.repeat(np.arange(8), 2)
    y[1:3] = [1, 0]  # 0 and 1 overlap
    model, _ = fitted(X, y)
    assert "class 2 from 0, 1, 3, 4, 5 and 2 more" in model.separation_.message(None, range(8))
