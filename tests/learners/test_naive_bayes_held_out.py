"""Folds and leave-one-out of naive Bayes from statistics equal fitting every split again."""

import warnings

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.model_selection import GroupKFold, KFold, LeaveOneOut, RepeatedKFold, ShuffleSplit

from empirisk import NaiveBayes, risk
from empirisk.learners.generative import bayes_held_out
from empirisk.runtime.errors import ParameterError
from naive_bayes_twin import ASKED, mixed_table
from tolerances import SUMMED

VALUES = [0.0, 0.01, 1.0, 30.0]
PLANS = [
    KFold(4, shuffle=True, random_state=0),
    RepeatedKFold(n_splits=3, n_repeats=2, random_state=0),
    LeaveOneOut(),
]


def both(learner, X, y, cv, *, loss="log", weight=None, values=VALUES, slow="generic", groups=None):
    """Losses by the fast way and by fitting every split and value."""
    problem = risk.Problem.of(learner, X, y, loss=loss, sample_weight=weight, groups=groups)
    plan = problem.plan(cv)
    fast = risk.out_of_fold(learner, problem, plan, values=values)
    assert fast.rung == "plan", fast.why
    return fast.losses, risk.out_of_fold(learner, problem, plan, values=values, rung=slow).losses


@pytest.mark.parametrize("cv", PLANS, ids=lambda cv: type(cv).__name__)
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("options", [{}, {"ddof": 1, "priors": [0.2, 0.3, 0.5]}])
def test_mixed_tables_with_holes(cv, weighted, options):
    n = 18 if isinstance(cv, LeaveOneOut) else 36
    table, y = mixed_table(n)
    weight = np.random.default_rng(3).uniform(0.5, 3, size=n) if weighted else None
    for loss in ("log", "zero_one"):
        fast, slow = both(
            NaiveBayes(distributions=ASKED, **options), table, y, cv, loss=loss, weight=weight
        )
        # Log-densities of up to 1e8, of cells far from a class without variance, lose 8 digits.
        assert_allclose(fast, slow, rtol=1e-7, atol=1e-9)


def test_many_rows_come_in_blocks():
    table, y = mixed_table(9000)
    learner = NaiveBayes(distributions=ASKED)
    fast, slow = both(learner, table, y, KFold(2), slow="path", values=[1.0])
    assert_allclose(fast, slow, rtol=1e-7, atol=1e-9)  # as above


@pytest.mark.parametrize("cv", [KFold(5), LeaveOneOut()], ids=str)
def test_an_outlier_in_the_held_out_part_leaves_no_trace(cv):
    """Statistics are added up: 1e12 in one fold costs the others no digits."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(30, 3)), np.arange(30) % 2
    X[7, 0], X[11, 1:] = 1e12, [-1e12, 1e50]
    fast, slow = both(NaiveBayes(), X, y, cv, values=[1.0])
    assert_allclose(fast, slow, rtol=SUMMED, atol=SUMMED)


@pytest.mark.parametrize("cv", [KFold(4), LeaveOneOut()], ids=str)
def test_levels_and_values_that_only_the_held_out_rows_have(cv):
    rng = np.random.default_rng(0)
    n = 16
    table = pd.DataFrame(
        {
            "rare": [f"level {i}" for i in range(n)],  # all alone: a held-out one is never known
            "word": rng.choice(list("uvw"), n),
            "spike": np.where(np.arange(n) == 5, 1.0, 0.0),
            "count": np.where(np.arange(n) == 9, 4, 0),
            "truth": np.arange(n) == 3,
        }
    )
    y = np.array(list("ab"))[np.arange(n) % 2]
    learner = NaiveBayes(distributions={"count": "poisson"})
    for loss in ("log", "zero_one"):
        fast, slow = both(learner, table, y, cv, loss=loss)
        assert_allclose(fast, slow, rtol=SUMMED, atol=SUMMED)


@pytest.mark.parametrize("cv", [KFold(6), LeaveOneOut()], ids=str)
def test_a_class_that_a_training_part_lacks(cv):
    table, y = mixed_table(30)
    y = y.astype(object)
    y[4] = "only once"
    y = y.astype(str)
    learner = NaiveBayes(distributions=ASKED)
    fast, slow = both(learner, table, y, cv, slow="path")
    assert_allclose(fast, slow, rtol=1e-7, atol=1e-9)  # as above
    given = NaiveBayes(distributions=ASKED, priors=[0.1, 0.2, 0.3, 0.4])
    fast, slow = both(given, table, y, cv, slow="path")
    assert_allclose(fast, slow, rtol=SUMMED, atol=SUMMED)


@pytest.mark.parametrize("labels", [[0, 1], ["a", "b"]], ids=str)
def test_more_priors_than_classes_are_refused_as_in_fit(labels):
    X, y = np.arange(12.0).reshape(12, 1), np.array(labels)[np.arange(12) % 2]
    learner = NaiveBayes(priors=[0.2, 0.3, 0.5])
    for judge in (learner.fit, lambda X, y: risk.cross_validate(learner, X, y, cv=3)):
        with pytest.raises(ParameterError, match="with 2 classes it needs 2 numbers"):
            judge(X, y)


@pytest.mark.parametrize("cv", PLANS, ids=lambda cv: type(cv).__name__)
def test_the_same_bits_for_every_n_jobs(cv):
    table, y = mixed_table(60)
    one, many = (
        risk.cross_validate(
            NaiveBayes(distributions=ASKED), table, y, cv=cv, loss="log", n_jobs=n_jobs
        )
        for n_jobs in (1, 3)
    )
    assert_array_equal(one.losses, many.losses)


def test_groups_and_other_plans():
    table, y = mixed_table(40)
    groups = np.arange(40) % 8
    fast, slow = both(
        NaiveBayes(distributions=ASKED), table, y, GroupKFold(4), groups=groups, values=[1.0]
    )
    assert_allclose(fast, slow, rtol=1e-7, atol=1e-9)  # as above
    problem = risk.Problem.of(NaiveBayes(distributions=ASKED), table, y)
    plan = problem.plan(ShuffleSplit(3, random_state=0))
    found = risk.out_of_fold(NaiveBayes(distributions=ASKED), problem, plan)
    assert (found.rung, "not the complements" in found.why) == ("path", True)


@pytest.mark.parametrize("scale", [1e200, 1e-200])
def test_huge_and_tiny_numbers_in_some_folds(scale):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(30, 3)), np.arange(30) % 2
    X[:, 0] *= scale
    X[6:12, 1] *= scale
    fast, slow = both(NaiveBayes(), X, y, KFold(5), values=[1.0])
    assert_allclose(fast, slow, rtol=1e-9, atol=1e-12)  # three terms, double precision


def test_a_row_with_nearly_all_the_weight_is_left_to_fitting():
    table, y = mixed_table(30)
    weight = np.ones(30)
    weight[0] = 1e9
    problem = risk.Problem.of(NaiveBayes(), table, y, sample_weight=weight)
    found = risk.out_of_fold(NaiveBayes(), problem, problem.plan(LeaveOneOut()))
    assert found.rung == "path"
    assert "of the weight of its class" in found.why


def odd_table(rng):
    """Few rows, rare counts, columns that are constant or nearly always missing."""
    n = int(rng.integers(9, 20))
    table = pd.DataFrame(
        {
            "size": rng.choice([0.0, 1.0, 1.0, 2.5, 100.0], n),
            "tight": rng.normal(size=n) * rng.choice([0, 1]),
            "word": rng.choice(list("pqr"), n),
            "truth": pd.array(rng.random(n) < 0.2, dtype="boolean"),
            "visits": rng.poisson(0.4, n),
            "apples": rng.poisson(0.3, n),
            "pears": rng.poisson(0.5, n),
            "plums": rng.poisson(1.0, n),
        }
    )
    holes = rng.random(table.shape) < rng.choice([0.0, 0.3, 0.8])
    return table.mask(holes), rng.permutation(np.arange(n) % 3), rng.choice([0.3, 1.0, 2.0], n)


@pytest.mark.parametrize("cv", [KFold(3), LeaveOneOut()], ids=str)
@pytest.mark.parametrize("seed", range(12))
def test_odd_tables(seed, cv):
    table, y, weight = odd_table(np.random.default_rng(seed))
    learner = NaiveBayes(distributions=ASKED)
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        fast, slow = both(learner, table, y, cv, weight=weight, values=[0.0, 0.5], slow="path")
    # Log-densities of up to 1e9, of cells far from a class without variance, lose 9 digits.
    assert_allclose(fast, slow, rtol=1e-6, atol=1e-6)


def test_statistics_of_many_folds_that_do_not_fit_are_left_to_fitting(monkeypatch):
    monkeypatch.setattr(bayes_held_out, "MOST_NUMBERS", 100)
    table, y = mixed_table(30)
    problem = risk.Problem.of(NaiveBayes(), table, y)
    found = risk.out_of_fold(NaiveBayes(), problem, problem.plan(KFold(5)))
    assert found.rung == "path"
    assert "the statistics of 5 folds" in found.why
