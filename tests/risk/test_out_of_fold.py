from weakref import WeakSet

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge
from sklearn.model_selection import GridSearchCV, KFold, RepeatedKFold, cross_val_score
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from empirisk import Axis, DecisionTreeRegressor, Plan, RandomForestRegressor, risk
from empirisk.risk.axis import PathMixin
from empirisk.runtime.errors import DataError, ParameterError, PlanError
from tolerances import LAST_BITS, SOLVED, SUMMED

rng = np.random.default_rng(0)
X = rng.normal(size=(60, 3))
y = X @ [1.0, 2.0, 0.0] + rng.normal(size=60)
labels = np.array(["no", "yes", "perhaps"])[(X[:, 0] > 0).astype(int) + (X[:, 1] > 1)]
ALPHA = Axis(("alpha",), "simpler", "log")


def engine(estimator, X, y, cv=5, *, sample_weight=None, loss=None, groups=None, **rest):
    problem = risk.Problem.of(
        estimator, X, y, loss=loss, sample_weight=sample_weight, groups=groups
    )
    return risk.out_of_fold(estimator, problem, problem.plan(cv), **rest)


def test_the_generic_loop_gives_the_scores_of_grid_search():
    alphas = [0.1, 1.0, 10.0]
    ours = engine(Ridge(), X, y, values=alphas, axis=ALPHA)
    theirs = GridSearchCV(Ridge(), {"alpha": alphas}, scoring="neg_mean_squared_error", cv=5)
    theirs.fit(X, y)
    assert_allclose(ours.risk, -theirs.cv_results_["mean_test_score"], rtol=SUMMED)
    assert ours.rung == "generic"
    assert_array_equal(ours.complexity, [2, 1, 0])


@pytest.mark.parametrize("loss", ["zero_one", "log"])
def test_string_labels_and_probabilities_are_aligned(loss):
    scoring = {"zero_one": "accuracy", "log": "neg_log_loss"}[loss]
    model = make_pipeline(StandardScaler(), LogisticRegression())
    ours = engine(model, X, labels, 4, loss=loss)
    theirs = cross_val_score(model, X, labels, cv=4, scoring=scoring)
    expected = 1 - theirs if loss == "zero_one" else -theirs
    found = [ours.losses[ours.split == s].mean() for s in range(4)]
    assert_allclose(found, expected, rtol=SUMMED)


def test_held_out_predictions_are_found_again():
    ours = engine(Ridge(), X, y, values=[0.1, 10.0], axis=ALPHA)
    assert_allclose((y[ours.row] - ours.predictions(1)) ** 2, ours.losses[:, 1], rtol=SUMMED)


def test_repeats_give_several_entries_per_row_and_pooled_means():
    ours = engine(LinearRegression(), X, y, RepeatedKFold(n_splits=3, n_repeats=4, random_state=0))
    assert_array_equal(np.bincount(ours.row), 4)
    assert_allclose(ours.risk[0], ours.losses.mean(), rtol=LAST_BITS)
    assert ours.estimate().interval is not None


def test_rows_are_pooled_not_fold_means_averaged():
    unequal = [(np.arange(5, 60), np.arange(5)), (np.arange(5), np.arange(5, 60))]
    ours = engine(LinearRegression(), X, y, unequal)
    assert_allclose(ours.risk[0], ours.losses[:, 0].mean(), rtol=LAST_BITS)
    means = [ours.losses[ours.split == s].mean() for s in range(2)]
    assert abs(np.mean(means) - ours.risk[0]) > 0.01


def test_rows_of_weight_zero_leave_before_the_plan_is_made():
    weight = np.ones(60)
    weight[::4] = 0
    ours = engine(Ridge(), X, y, sample_weight=weight)
    without = engine(Ridge(), X[weight > 0], y[weight > 0])
    assert ours.plan.n == 45
    assert_allclose(ours.losses, without.losses, rtol=SUMMED)


def test_weights_reach_every_step_that_takes_them():
    weight = rng.integers(1, 4, size=60).astype(float)
    model = make_pipeline(StandardScaler(), Ridge(alpha=5.0))
    ours = engine(model, X, y, [(np.arange(40), np.arange(40, 60))], sample_weight=weight)
    rows = np.repeat(np.arange(40), weight[:40].astype(int))
    twin = make_pipeline(StandardScaler(), Ridge(alpha=5.0)).fit(X[rows], y[rows])
    assert_allclose(ours.losses[:, 0], (y[40:] - twin.predict(X[40:])) ** 2, rtol=SUMMED)
    assert_allclose(ours.risk[0], np.average(ours.losses[:, 0], weights=weight[40:]), rtol=SUMMED)


def test_an_estimator_without_weights_is_named():
    with pytest.raises(ParameterError, match="KNeighborsClassifier takes no sample_weight"):
        engine(KNeighborsClassifier(), X, labels, sample_weight=np.arange(1.0, 61))


def test_a_class_missing_from_a_training_part_gets_probability_zero():
    y3 = np.array([0] * 30 + [1] * 29 + [2])
    split = [(np.arange(59), np.array([59])), (np.arange(1, 60), np.array([0]))]
    ours = engine(LogisticRegression(), X, y3, split, loss="log")
    assert ours.losses[0, 0] > 30  # the clipped logarithm of zero
    assert ours.predictions(0).shape == (2, 3)
    assert ours.predictions(0)[0, 2] == 0


def test_a_training_part_of_one_class_is_an_error_that_says_so():
    split = [(np.arange(30), np.arange(30, 60))]
    with pytest.raises(PlanError, match="one class only"):
        engine(DummyClassifier(), X, np.repeat(["a", "b"], 30), split)


def test_a_dataframe_reaches_a_foreign_estimator_as_a_dataframe():
    class Named(RegressorMixin, BaseEstimator):
        def fit(self, X, y):
            self.names_ = list(X.columns)
            return self

        def predict(self, X):
            return X["a"].to_numpy()

    frame = pd.DataFrame(X, columns=list("abc"))
    ours = engine(Named(), frame, y)
    assert_allclose(ours.losses[:, 0], (y - X[:, 0])[ours.row] ** 2, rtol=SUMMED)


def test_predictions_that_are_not_numbers_are_an_error():
    class Broken(RegressorMixin, BaseEstimator):
        def fit(self, X, y):
            return self

        def predict(self, X):
            return np.full(len(X), np.nan)

    with pytest.raises(DataError, match="Broken predicted NaN"):
        engine(Broken(), X, y)


def test_a_column_of_predictions_is_taken_for_what_it_is():
    class Column(LinearRegression):
        def predict(self, X):
            return super().predict(X)[:, None]

    assert_allclose(
        engine(Column(), X, y).losses, engine(LinearRegression(), X, y).losses, rtol=SUMMED
    )
    two = np.column_stack([y, -y])
    both = engine(LinearRegression(), X, two)
    assert_allclose(both.losses, engine(LinearRegression(), X, y).losses, rtol=SOLVED)

    class First(LinearRegression):
        def predict(self, X):
            return super().predict(X)[:, 0]

    with pytest.raises(DataError, match="shape"):
        engine(First(), X, two)


def test_the_loss_must_fit_the_task():
    with pytest.raises(ParameterError, match="regression"):
        engine(LogisticRegression(), X, labels, loss="squared")

    class NoProbabilities(ClassifierMixin, BaseEstimator):
        def fit(self, X, y):
            self.classes_ = np.unique(y)
            return self

        def predict(self, X):
            return np.full(len(X), self.classes_[0])

    with pytest.raises(ParameterError, match="no predict_proba"):
        engine(NoProbabilities(), X, labels, loss="log")


def test_the_same_losses_for_every_n_jobs():
    one = engine(Ridge(), X, y, values=[1.0, 2.0], axis=ALPHA, n_jobs=1)
    two = engine(Ridge(), X, y, values=[1.0, 2.0], axis=ALPHA, n_jobs=2)
    assert_array_equal(one.losses, two.losses)


def choice(losses, complexity):
    n, V = np.shape(losses)
    plan = Plan.of(KFold(n), np.zeros((n, 1)), np.arange(n))
    work = engine(LinearRegression(), X, y).work
    return risk.OutOfFold(
        values=list(range(V)),
        complexity=np.asarray(complexity, dtype=float),
        plan=plan,
        row=np.arange(n),
        split=np.arange(n),
        losses=np.asarray(losses, dtype=float),
        weight=np.ones(n),
        rung="generic",
        why="",
        work=work,
    )


def test_ties_go_to_the_simpler():
    assert choice([[1, 1, 2]] * 4, [2, 1, 0]).choose() == 1
    assert choice([[1, 1, 2]] * 4, [0, 1, 2]).choose() == 0
    assert choice([[1 + 1e-12, 1, 2]] * 4, [0, 1, 2]).choose() == 0


def test_one_standard_error_takes_the_simplest_that_is_good_enough():
    losses = np.array([[0.0, 0.1, 5.0], [2.0, 2.1, 5.0]] * 10)
    assert choice(losses, [2, 1, 0]).choose("best") == 0
    assert choice(losses, [2, 1, 0]).choose("one_se") == 1
    spread = losses[:, 0].std(ddof=1) / np.sqrt(20)
    assert 0.1 < spread < 5 - losses[:, 0].mean()
    with pytest.raises(ParameterError, match="one_se"):
        choice(losses, [2, 1, 0]).choose("median")


class CountingMean(PathMixin, RegressorMixin, BaseEstimator):
    """A learner with a path: shrinks the mean of y by 1/(1 + alpha); counts its fits."""

    axis = ALPHA
    fits = 0

    def __init__(self, alpha=1.0):
        self.alpha = alpha

    def fit(self, X, y, sample_weight=None):
        self.mean_ = np.average(y, weights=sample_weight) / (1 + self.alpha)
        return self

    def predict(self, X):
        return np.full(len(X), self.mean_)

    def fit_path(self, X, y, sample_weight, values, *, n_classes):
        CountingMean.fits += 1
        mean = np.average(y, weights=sample_weight)
        return MeanPath(mean / (1 + np.array(values)))


class MeanPath:
    def __init__(self, means):
        self.means = means

    def predict_path(self, X, output):
        return np.tile(self.means, (len(X), 1))

    def at(self, j):
        raise AssertionError("nobody asks for the model")


def test_a_path_is_fitted_once_per_fold_and_equals_the_generic_loop():
    CountingMean.fits = 0
    weight = rng.uniform(0.5, 2, 60)
    fast = engine(CountingMean(), X, y, values=[0.1, 1.0, 9.0], sample_weight=weight)
    assert (fast.rung, CountingMean.fits) == ("path", 5)
    assert "no plan-wide rung" in fast.why
    slow = engine(
        CountingMean(), X, y, values=[0.1, 1.0, 9.0], sample_weight=weight, rung="generic"
    )
    assert_allclose(fast.losses, slow.losses, rtol=SUMMED)


def test_a_pipeline_of_ours_walks_its_steps_in_each_fold():
    class Shift(StandardScaler):
        pass

    model = make_pipeline(Shift(), CountingMean())
    fast = engine(model, X, y, values=[0.1, 1.0])
    slow = engine(model, X, y, values=[0.1, 1.0], rung="generic")
    assert fast.rung == "path"
    assert "in each fold" in fast.why
    assert_allclose(fast.losses, slow.losses, rtol=SUMMED)


def test_blocks_of_rows_change_nothing(monkeypatch):
    whole = engine(CountingMean(), X, y, values=[0.1, 1.0])
    monkeypatch.setattr("empirisk.risk.rungs.BLOCK_NUMBERS", 3)
    assert_array_equal(whole.losses, engine(CountingMean(), X, y, values=[0.1, 1.0]).losses)


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_few_paths_are_in_memory_at_a_time(n_jobs):
    alive, most = WeakSet(), []

    class Counted(DecisionTreeRegressor):
        def fit_path(self, *args, **kwargs):
            path = super().fit_path(*args, **kwargs)
            alive.add(path)
            most.append(len(alive))
            return path

    engine(Counted(max_depth=2), X, y, cv=20, values=[0.1, 0.0], rung="path", n_jobs=n_jobs)
    assert len(most) == 20
    # One under way in each worker, one that waits, one that predicts.
    assert max(most) <= n_jobs + 2


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_of_ensembles_one_value_is_in_memory_at_a_time(n_jobs, monkeypatch):
    alive, most = WeakSet(), []
    fit = RandomForestRegressor.fit_design

    def counted(self, *args, **options):
        alive.add(self)
        most.append(len(alive))
        return fit(self, *args, **options)

    monkeypatch.setattr(RandomForestRegressor, "fit_design", counted)
    forest = RandomForestRegressor(3, random_state=0)
    found = engine(forest, X, y, values=[1, 2, 3], n_jobs=n_jobs)
    assert found.rung == "path"
    assert len(found.training_risk()) == 3
    assert len(most) == 18  # five folds and all rows, three values
    assert max(most) <= n_jobs
    slow = engine(forest, X, y, values=[1, 2, 3], rung="generic")
    assert_array_equal(found.losses, slow.losses)
    assert_allclose(found.training_risk(), slow.training_risk(), rtol=1e-14)  # means of 60 rows
