"""Regularised discriminant analysis: its ends, a twin, its grid from class statistics."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.special import softmax
from scipy.stats import multivariate_normal
from sklearn.model_selection import KFold, LeaveOneOut
from sklearn.pipeline import make_pipeline

from empirisk import (
    Encoder,
    LinearDiscriminantAnalysis,
    QuadraticDiscriminantAnalysis,
    RegularizedDiscriminantAnalysis,
    Tuned,
    load,
    risk,
    save,
)
from empirisk.data.class_moments import ClassMoments
from empirisk.learners.generative.rda import ALPHAS, DELTAS
from empirisk.runtime.errors import DataError, ParameterError, RankWarning
from tolerances import LAST_BITS, SOLVED, SUMMED


def sample(n=120, p=4, n_classes=3, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.arange(n) % n_classes)
    mix = np.eye(p) + 0.4 * rng.normal(size=(n_classes, p, p))
    X = np.einsum("ij,ijl->il", rng.normal(size=(n, p)), mix[y])
    return X + rng.normal(size=(n_classes, p))[y], y


def naive_covariances(X, y, weight, alpha, delta, scaled):
    p, n = X.shape[1], weight.sum()
    own = {k: np.cov(X[y == k].T, aweights=weight[y == k], ddof=0) for k in np.unique(y)}
    pooled = sum(weight[y == k].sum() / n * S for k, S in own.items())
    mixed = [alpha * S + (1 - alpha) * pooled for S in own.values()]
    return np.array(
        [(1 - delta) * A + delta * (np.trace(A) / p if scaled else 1) * np.eye(p) for A in mixed]
    )


GRID = [(0, 0), (0.3, 0), (1, 0), (0, 0.2), (0.5, 0.1), (1, 0.7), (0.4, 1), (0, 1)]


@pytest.mark.parametrize("point", GRID, ids=str)
@pytest.mark.parametrize("target", ["scaled", "identity"])
def test_it_follows_the_formulas(point, target):
    X, y = sample()
    weight = np.random.default_rng(1).uniform(0.1, 3, len(y))
    model = RegularizedDiscriminantAnalysis(*point, target=target, store_covariance=True)
    model.fit(X, y, weight)
    naive = naive_covariances(X, y, weight, *point, target == "scaled")
    assert_allclose(model.covariance_, naive, rtol=0, atol=LAST_BITS)
    values = np.column_stack(
        [
            np.log(model.priors_[k]) + multivariate_normal(model.means_[k], naive[k]).logpdf(X)
            for k in range(3)
        ]
    )
    # Condition numbers below 1e3, double precision.
    assert_allclose(model.predict_proba(X), softmax(values, axis=1), rtol=1e-9, atol=1e-13)


@pytest.mark.parametrize("target", ["scaled", "identity"])
def test_a_path_holds_each_fit(target):
    X, y = sample()
    weight = np.random.default_rng(1).uniform(0.1, 3, len(y))
    learner = RegularizedDiscriminantAnalysis(target=target)
    path = learner.fit_path(X, y, weight, GRID, n_classes=3)
    probability, codes = path.predict_path(X, "probability"), path.predict_path(X, "value")
    assert probability.shape == (120, len(GRID), 3)
    for j, (alpha, delta) in enumerate(GRID):
        fitted = RegularizedDiscriminantAnalysis(alpha, delta, target=target).fit(X, y, weight)
        assert path.at(j).get_params() == fitted.get_params()
        assert_array_equal(path.at(j).predict_proba(X), fitted.predict_proba(X))
        # Eigenvectors shared by all delta, instead of a factor of each.
        assert_allclose(probability[:, j], fitted.predict_proba(X), rtol=1e-9, atol=1e-13)
        assert_array_equal(codes[:, j], fitted.predict(X))


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("target", ["scaled", "identity"])
def test_the_whole_grid_from_class_statistics_equals_refitting(weighted, target):
    X, y = sample(n=90)
    weight = np.random.default_rng(1).uniform(0.5, 2, 90) if weighted else None
    learner = RegularizedDiscriminantAnalysis(target=target)
    problem = risk.Problem.of(learner, X, y, loss="log", sample_weight=weight)
    plan = problem.plan(KFold(5))
    values = learner.axis_values(X, y, problem.weight, n_train=72)
    slow = risk.out_of_fold(learner, problem, plan, values=values[::7], rung="generic")
    fast = risk.out_of_fold(learner, problem, plan, values=values)
    assert fast.rung == "plan"
    assert fast.losses.shape == (90, 100)
    assert_allclose(fast.losses[:, ::7], slow.losses, rtol=SOLVED, atol=SUMMED)


def test_rows_of_a_training_part_are_not_looked_at_again(monkeypatch):
    """Class moments are taken of all rows once, and of each fold once."""
    looked_at = []
    of = ClassMoments.of.__func__
    monkeypatch.setattr(
        ClassMoments,
        "of",
        classmethod(
            lambda cls, X, *rest, **more: looked_at.append(len(X)) or of(cls, X, *rest, **more)
        ),
    )
    X, y = sample(n=90)
    problem = risk.Problem.of(RegularizedDiscriminantAnalysis(), X, y, loss="log")
    plan = problem.plan(KFold(5))
    values = [(a, d) for a in ALPHAS for d in DELTAS]
    risk.out_of_fold(RegularizedDiscriminantAnalysis(), problem, plan, values=values)
    assert looked_at == [90, 18, 18, 18, 18, 18]


def test_rules_that_are_too_many_to_keep_are_learned_again(monkeypatch):
    X, y = sample(n=60)
    learner = RegularizedDiscriminantAnalysis(0.2, 0.1)
    problem = risk.Problem.of(learner, X, y, loss="log")
    plan = problem.plan(LeaveOneOut())
    kept = risk.out_of_fold(learner, problem, plan, values=GRID[3:6])
    monkeypatch.setattr("empirisk.learners.generative.held_out.MOST_NUMBERS", 100)
    again = risk.out_of_fold(learner, problem, plan, values=GRID[3:6])
    assert kept.rung == again.rung == "plan"
    assert_array_equal(kept.losses, again.losses)


def test_behind_an_encoder_the_grid_comes_from_class_statistics_too():
    X, y = sample(n=90)
    model = make_pipeline(Encoder(), RegularizedDiscriminantAnalysis())
    problem = risk.Problem.of(model, X, y, loss="log")
    plan = problem.plan(KFold(5))
    fast = risk.out_of_fold(model, problem, plan, values=GRID)
    slow = risk.out_of_fold(model, problem, plan, values=GRID, rung="generic")
    assert fast.rung == "plan", fast.why
    assert_allclose(fast.losses, slow.losses, rtol=SOLVED, atol=SOLVED)


def test_the_default_grid_has_100_points_and_leaves_out_what_cannot_be_inverted():
    X, y = sample()
    learner, weight = RegularizedDiscriminantAnalysis(), np.ones(120)
    assert len(learner.axis_values(X, y, weight, n_train=108)) == 100
    few = learner.axis_values(X, y, weight, n_train=12)
    assert (0.85, 0.0) in few
    assert (1.0, 0.0) not in few
    assert all(delta > 0 for _, delta in learner.axis_values(X, y, weight, n_train=6))


def test_complexity_goes_by_alpha_and_then_by_delta():
    axis = RegularizedDiscriminantAnalysis.axis
    assert_array_equal(axis.complexity([(0, 1), (0, 0.5), (0, 0), (0.5, 1), (1, 0)]), np.arange(5))


def test_tuned_chooses_both():
    rng = np.random.default_rng(0)
    y = np.arange(200) % 2
    X = rng.normal(size=(200, 3)) * np.where(y == 1, 3.0, 0.5)[:, None]  # no linear rule will do
    tuned = Tuned(RegularizedDiscriminantAnalysis(), loss="log", random_state=0).fit(X, y)
    assert len(tuned.path_.values) == 100
    assert tuned.path_.rung == "plan"
    assert tuned.best_value_[0] > 0.5
    assert tuned.best_estimator_.alpha == tuned.best_value_[0]
    assert tuned.best_estimator_.delta == tuned.best_value_[1]
    simple = Tuned(RegularizedDiscriminantAnalysis(), loss="log", rule="one_se", random_state=0)
    assert simple.fit(X, y).best_value_[0] <= tuned.best_value_[0]


def test_the_grid_stays_finite_where_classes_are_singular():
    X, y = sample(n=30, p=12)
    values = [(1.0, 0.0), (1.0, 0.1), (0.5, 0.5)]
    tuned = Tuned(RegularizedDiscriminantAnalysis(), values=values)
    with pytest.warns(RankWarning):
        tuned.fit(X, y)
    assert np.isfinite(tuned.path_.risk).all()
    assert tuned.best_value_ != (1.0, 0.0)


def test_more_classes_in_the_plan_than_in_a_training_part():
    X, y = sample(n=60)
    y[0] = 3  # held out, it is unknown
    learner = RegularizedDiscriminantAnalysis(0.2, 0.1)
    problem = risk.Problem.of(learner, X, y, loss="zero_one")
    plan = problem.plan(KFold(4))
    fast = risk.out_of_fold(learner, problem, plan, values=[(0.2, 0.1), (0.0, 0.5)])
    slow = risk.out_of_fold(learner, problem, plan, values=[(0.2, 0.1), (0.0, 0.5)], rung="generic")
    assert_array_equal(fast.losses, slow.losses)


@pytest.mark.parametrize("power", [-200, 200])
@pytest.mark.parametrize("target", ["scaled", "identity"])
def test_numbers_of_any_size(power, target):
    X, y = sample()
    learner = RegularizedDiscriminantAnalysis(target=target)
    path = learner.fit_path(X * 10.0**power, y, np.ones(120), GRID, n_classes=3)
    found = path.predict_path(X * 10.0**power, "probability")
    assert np.isfinite(found).all()
    if target == "scaled":
        same = learner.fit_path(X, y, np.ones(120), GRID, n_classes=3)
        assert_allclose(found, same.predict_path(X, "probability"), rtol=0, atol=SUMMED)


def test_at_the_ends_it_is_the_other_learners_on_the_same_plan():
    X, y = sample()
    values = [(0, 0), (1, 0)]
    learner = RegularizedDiscriminantAnalysis()
    problem = risk.Problem.of(learner, X, y, loss="log")
    plan = problem.plan(KFold(5))
    both = risk.out_of_fold(learner, problem, plan, values=values).losses
    for j, end in enumerate([LinearDiscriminantAnalysis(), QuadraticDiscriminantAnalysis()]):
        alone = risk.out_of_fold(end, problem, plan).losses[:, 0]
        assert_allclose(both[:, j], alone, rtol=SUMMED, atol=SUMMED)


@pytest.mark.parametrize(
    ("name", "value"),
    [("alpha", -0.1), ("alpha", "auto"), ("delta", 1.1), ("delta", None), ("target", "zero")],
)
def test_wrong_settings_are_refused(name, value):
    X, y = sample()
    with pytest.raises(ParameterError, match=name):
        RegularizedDiscriminantAnalysis(**{name: value}).fit(X, y)


def test_values_that_are_no_pairs_are_refused():
    X, y = sample()
    with pytest.raises(ParameterError, match="tuple of 2 numbers"):
        Tuned(RegularizedDiscriminantAnalysis(), values=[0.1, 0.5]).fit(X, y)


def test_tuning_on_rows_none_of_which_is_complete_names_the_class():
    X, y = sample()
    X[:, 0] = np.nan
    with pytest.raises(DataError, match=r"every row of class .* has missing values"):
        Tuned(RegularizedDiscriminantAnalysis()).fit(X, y)


def test_a_saved_choice_says_the_same(tmp_path):
    X, y = sample()
    tuned = Tuned(RegularizedDiscriminantAnalysis(), values=GRID, cv=3).fit(X, y)
    save(tuned, tmp_path / "model.empirisk")
    again = load(tmp_path / "model.empirisk")
    assert again.best_value_ == tuned.best_value_
    assert_array_equal(again.predict_proba(X), tuned.predict_proba(X))
    assert again.path_.axis == tuned.path_.axis


@pytest.mark.parametrize(
    ("alpha", "said"), [(1.0, "delta above 0 or alpha below 1"), (0.5, "delta above 0$")]
)
def test_the_remedy_of_singular_classes_is_none_that_is_taken_already(alpha, said):
    X, y = sample()
    with pytest.warns(RankWarning, match=said):
        RegularizedDiscriminantAnalysis(alpha).fit(np.column_stack([X, np.ones(len(X))]), y)
