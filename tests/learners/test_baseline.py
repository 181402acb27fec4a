"""The baseline: no constant is better, and no fold needs a fit."""

import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import minimize_scalar
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.model_selection import KFold, LeaveOneOut, RepeatedKFold, ShuffleSplit
from sklearn.utils.estimator_checks import check_estimator

from empirisk.learners.baseline import Baseline
from empirisk.learners.held_out_constants import quantiles_without_each
from empirisk.losses import (
    Absolute,
    Asymmetric,
    Brier,
    Costs,
    Log,
    Quantile,
    Squared,
    ZeroOne,
    as_loss,
)
from empirisk.risk.out_of_fold import out_of_fold
from empirisk.risk.plans.plan import Plan
from empirisk.risk.problem import Problem
from empirisk.runtime.errors import ParameterError
from empirisk.selection.compare import compare
from tolerances import LAST_BITS

COSTS = Costs([[0, 2, 3, 9], [1, 0, 1, 2], [1, 1, 0, 1], [1, 5, 1, 0]])
NUMBERS = [Squared(), Absolute(), Quantile(0.3)]
CLASSES = [ZeroOne(), Log(), Brier(), COSTS]


def sample(loss, n=50, seed=0):
    """Rows, a target that fits the loss, and weights; of four classes one has a single row."""
    rng = np.random.default_rng(seed)
    y = rng.exponential(size=n).round(1) + 5
    if loss.task == "classification":
        y = rng.integers(0, 3, n)
        y[7] = 3
    return np.zeros((n, 1)), y, rng.uniform(0.1, 3, n)


LOSSES = ["squared", "zero_one", "absolute", "log", "brier", Quantile(0.3)]


@pytest.mark.parametrize("loss", LOSSES, ids=str)
def test_check_estimator(loss):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        check_estimator(Baseline(loss))


def test_the_loss_says_what_it_is():
    assert is_regressor(Baseline())
    assert not is_classifier(Baseline())
    assert is_classifier(Baseline("log"))
    assert not is_regressor(Baseline(COSTS))
    assert hasattr(Baseline("zero_one"), "predict_proba")
    assert not hasattr(Baseline(), "predict_proba")
    with pytest.raises(ParameterError, match="no loss"):
        Baseline("best").fit([[0.0]], [1.0])


@pytest.mark.parametrize("loss", NUMBERS, ids=str)
def test_no_other_number_has_a_smaller_mean_loss(loss):
    X, y, weight = sample(loss)
    constant = Baseline(loss).fit(X, y, weight).constant_
    risk = np.average(loss(y, constant), weights=weight)
    found = minimize_scalar(
        lambda c: np.average(loss(y, c), weights=weight),
        bounds=(y.min(), y.max()),
        method="bounded",
    )
    assert risk <= found.fun + 1e-15
    assert_allclose(risk, found.fun, rtol=1e-5)  # the tolerance of the search


@pytest.mark.parametrize("loss", [ZeroOne(), COSTS], ids=str)
def test_no_other_class_has_a_smaller_mean_loss(loss):
    X, y, weight = sample(loss)
    labels = np.array(["a", "b", "c", "d"])
    model = Baseline(loss).fit(X, labels[y], weight)
    risks = [np.average(loss(y, np.full(len(y), k)), weights=weight) for k in range(4)]
    assert model.constant_ == labels[np.argmin(risks)]
    assert_array_equal(model.predict(X), model.constant_)
    assert_allclose(model.class_prior_, np.bincount(y, weight) / weight.sum(), rtol=LAST_BITS)
    assert_array_equal(model.predict_proba(X), np.tile(model.class_prior_, (50, 1)))


@pytest.mark.parametrize("loss", ["log", "brier"])
def test_losses_of_probabilities_get_frequencies_and_the_most_frequent_is_predicted(loss):
    X, y, weight = sample(as_loss(loss))
    model = Baseline(loss).fit(X, y, weight)
    assert_allclose(model.constant_, np.bincount(y, weight) / weight.sum(), rtol=LAST_BITS)
    assert_array_equal(model.predict(X), model.constant_.argmax())
    assert_allclose(np.exp(model.predict_log_proba(X)), model.predict_proba(X), rtol=LAST_BITS)


def test_it_agrees_with_scikit_learns_dummies():
    X, y, weight = sample(Squared())
    mean = DummyRegressor().fit(X, y, weight)
    ours = Baseline().fit(X, y, weight)
    assert_allclose(ours.predict(X), mean.predict(X), rtol=LAST_BITS)
    assert ours.score(X, y) == pytest.approx(mean.score(X, y), abs=LAST_BITS)
    median = DummyRegressor(strategy="median").fit(X, y)
    assert_array_equal(Baseline("absolute").fit(X, y).predict(X), median.predict(X))
    X, y, weight = sample(ZeroOne())
    prior = DummyClassifier(strategy="prior").fit(X, y, weight)
    ours = Baseline("zero_one").fit(X, y, weight)
    assert_array_equal(ours.predict(X), prior.predict(X))
    assert_allclose(ours.predict_proba(X), prior.predict_proba(X), rtol=LAST_BITS)
    assert ours.score(X, y) == prior.score(X, y)


@pytest.mark.parametrize("loss", NUMBERS, ids=str)
def test_several_targets_have_a_constant_each(loss):
    X, y, weight = sample(loss)
    both = Baseline(loss).fit(X, np.c_[y, -y], weight)
    assert both.predict(X[:2]).shape == (2, 2)
    for column, target in zip(both.constant_, (y, -y), strict=True):
        assert column == Baseline(loss).fit(X, target, weight).constant_


@pytest.mark.parametrize("loss", [*NUMBERS, *CLASSES], ids=str)
def test_a_row_of_weight_w_is_w_rows(loss):
    X, y, _ = sample(loss)
    weight = np.random.default_rng(1).integers(0, 4, 50)
    weight[7] = 2
    copies = np.repeat(np.arange(50), weight)
    weighted = Baseline(loss).fit(X, y, weight).constant_
    repeated = Baseline(loss).fit(X[copies], y[copies]).constant_
    assert_allclose(weighted, repeated, rtol=LAST_BITS)


def test_costs_by_label_find_their_classes():
    costs = Costs([[0, 5], [1, 0]], classes=["good", "bad"])  # a bad one taken for good costs 5
    X, y = np.zeros((10, 1)), np.array(["good"] * 8 + ["bad"] * 2)
    assert Baseline(costs).fit(X, y).constant_ == "bad"
    codes = (y == "good").astype(np.int64)  # as the sorted labels have it
    labels = np.array(["bad", "good"])
    for loss in (costs, Asymmetric(1, 5, positive="bad")):
        coded = Baseline(loss).for_classes(labels)
        path = coded.fit_path(X, codes, np.ones(10), [None], n_classes=2)
        assert_array_equal(path.predict_path(X, "value"), 0)
        assert path.at(0).constant_ == 0


LABELLED = [
    Asymmetric(1, 2, positive="bad"),
    Asymmetric(2, 1),
    Costs([[0, 2], [1, 0]], classes=["good", "bad"]),
    Costs([[0, 9, 2], [9, 0, 9], [1, 9, 0]], classes=["good", "none of these", "bad"]),
]


@pytest.mark.parametrize("loss", LABELLED, ids=str)
def test_costs_by_label_are_cross_validated_as_they_are_fitted(loss):
    # A constant is bad where more than a third of the training rows are.
    y = np.concatenate([["bad"] * b + ["good"] * (8 - b) for b in (4, 1, 3, 2, 3)])
    X, cv = np.zeros((40, 1)), KFold(5)
    problem = Problem.of(Baseline(loss), X, y, loss=loss)
    plan = problem.plan(cv)
    by_fits = [Baseline(loss).fit(X[train], y[train]).constant_ for train, _ in cv.split(X)]
    assert by_fits == ["good", "bad", "good", "bad", "good"]
    for rung in ("plan", "path", "generic"):
        found = out_of_fold(Baseline(loss), problem, plan, rung=rung)
        assert_array_equal(problem.classes[found.predictions(0)], np.repeat(by_fits, 8))
    assert compare([Baseline(loss)], X, y, loss=loss).risks["Baseline"].value > 0


PLANS = [
    KFold(4, shuffle=True, random_state=0),
    LeaveOneOut(),
    RepeatedKFold(n_splits=3, n_repeats=2, random_state=0),
    ShuffleSplit(3, random_state=0),
    KFold(50, shuffle=True, random_state=1),
]


@pytest.mark.parametrize("cv", PLANS, ids=str)
@pytest.mark.parametrize("loss", [*NUMBERS, *CLASSES], ids=str)
def test_all_folds_at_once_equal_one_fit_each(loss, cv):
    X, y, weight = sample(loss)
    targets = [y] if loss.task == "classification" else [y, np.c_[y, y**2]]
    for target in targets:
        plan = Plan.of(cv, X, target, sample_weight=weight)
        compare_with_fits(Baseline(loss), X, target, weight, plan)


def compare_with_fits(baseline, X, y, weight, plan):
    n_classes = 4 if is_classifier(baseline) else 0
    for output in ["value", "probability"] if n_classes else ["value"]:
        gathered = {}
        for repeat, rows, prediction in baseline.out_of_fold(
            X, y, weight, plan, [None], n_classes=n_classes, output=output, rows_per_block=9
        ).blocks:
            assert len(rows) <= 9
            gathered.update({(repeat, i): p for i, p in zip(rows, prediction, strict=True)})
        assert len(gathered) == sum(len(plan.test(s)) for s in range(plan.n_splits))
        for s in range(plan.n_splits):
            train = plan.train(s)
            constant = constant_of(baseline.loss, y[train], weight[train], n_classes, output)
            for i in plan.test(s):
                # Sums of 50 terms in another order.
                assert_allclose(gathered[plan.repeat(s), i][0], constant, rtol=1e-13, atol=1e-15)


def constant_of(loss, y, weight, n_classes, output):
    """The constant of one training part, which need not have all classes."""
    if y.ndim == 2:
        return [loss.best_constant(column, weight) for column in y.T]
    if output == loss.output:
        return loss.best_constant(y, weight, n_classes=n_classes)
    share = np.bincount(y, weight, n_classes) / weight.sum()
    return share if output == "probability" else share.argmax()


def test_one_huge_value_costs_the_other_folds_no_digits():
    X = np.zeros((6, 1))
    y = np.array([1.0, 2.0, 3.0, 4.0, 5.0, 1e300])
    weight = np.array([1.0, 1.0, 1.0, 1.0, 1e30, 1.0])
    plan = Plan.of(KFold(3), X, y)
    blocks = (
        Baseline()
        .out_of_fold(X, y, weight, plan, [None], n_classes=0, output="value", rows_per_block=6)
        .blocks
    )
    (_, rows, prediction), *rest = blocks
    assert not rest
    assert_allclose(prediction[rows.argsort()][4:, 0], 2.5, rtol=LAST_BITS)
    classes = np.array([0, 0, 0, 1, 2, 1])
    (_, rows, prediction), *_ = (
        Baseline("log")
        .out_of_fold(
            X, classes, weight, plan, [None], n_classes=3, output="probability", rows_per_block=6
        )
        .blocks
    )
    assert_allclose(prediction[rows.argsort()][4, 0], [0.75, 0.25, 0.0], rtol=LAST_BITS)


@pytest.mark.parametrize("q", [0.1, 0.25, 0.5, 0.9])
@pytest.mark.parametrize("seed", range(8))
def test_quantiles_without_each_value(q, seed):
    rng = np.random.default_rng(seed)
    n = rng.integers(2, 30)
    y = rng.integers(0, 6, n).astype(float)
    for weight in (
        np.ones(n),
        rng.integers(1, 4, n) / 10,
        np.r_[1e9, rng.integers(1, 4, n - 1) / 10],
    ):
        naive = [Quantile(q).best_constant(np.delete(y, i), np.delete(weight, i)) for i in range(n)]
        assert_array_equal(quantiles_without_each(y, weight, q), naive)


def test_a_heavy_value_left_out_leaves_the_others_their_ties():
    y, weight = np.arange(6.0), np.array([1e9, 0.2, 0.2, 0.2, 0.3, 0.3])
    assert quantiles_without_each(y, weight, 0.5)[0] == 3.5


@pytest.mark.parametrize("power", [-300, 300])
@pytest.mark.parametrize("loss", NUMBERS, ids=str)
def test_numbers_of_any_size(loss, power):
    X, y, weight = sample(loss)
    y = y * 10.0**power
    assert np.isfinite(Baseline(loss).fit(X, y, weight).constant_)
    for cv in (KFold(3), LeaveOneOut()):
        plan = Plan.of(cv, X, y)
        for _, _, prediction in (
            Baseline(loss)
            .out_of_fold(X, y, weight, plan, [None], n_classes=0, output="value", rows_per_block=99)
            .blocks
        ):
            assert ((prediction >= y.min()) & (prediction <= y.max())).all()


def test_a_clone_is_not_fitted():
    X, y, _ = sample(COSTS)
    fitted = Baseline(COSTS).fit(X, y)
    fresh = clone(fitted)
    assert not hasattr(fresh, "constant_")
    assert fresh.fit(X, y).constant_ == fitted.constant_


def test_predictions_are_those_of_the_fit_whatever_the_loss_is_by_now():
    X, numbers, labels = np.zeros((3, 1)), [1.0, 2.0, 6.0], ["no", "yes", "no"]
    model = Baseline().fit(X, numbers).set_params(loss="zero_one")
    assert_array_equal(model.predict(X), [3.0, 3.0, 3.0])
    assert not hasattr(model, "predict_proba")
    assert_array_equal(model.fit(X, labels).predict(X), ["no", "no", "no"])
    model.set_params(loss="squared")
    assert_array_equal(model.predict(X), ["no", "no", "no"])
    assert vars(model.fit(X, numbers)).keys() == vars(Baseline().fit(X, numbers)).keys()
