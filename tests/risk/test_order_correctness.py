import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.stats import binom, norm
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.tree import DecisionTreeClassifier

from empirisk import Encoder, LinearDiscriminantAnalysis
from empirisk.risk.resampling.order_correctness import order_correctness
from empirisk.runtime.errors import DataError, ParameterError, PlanError
from tolerances import SUMMED


def stripes(n, seed=0):
    """P(Y = 1 | x) is 0.9 in the right half of the square and 0.1 in the left one."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(size=(n, 2))
    probability = eta(X)
    return X, (rng.random(n) < probability[:, 1]).astype(int), probability


def eta(X):
    right = np.where(X[:, 0] > 0.5, 0.9, 0.1)
    return np.column_stack([1 - right, right])


class Remembers(ClassifierMixin, BaseEstimator):
    """Predicts the class of the one row it knows; keeps what it was given."""

    def fit(self, X, y, sample_weight=None):
        self.classes_ = np.unique(y)
        self.seen_ = {tuple(row) for row in np.asarray(X)}
        self.majority_ = self.classes_[
            np.argmax([(np.asarray(y) == k).sum() for k in self.classes_])
        ]
        return self

    def predict(self, X):
        assert not any(tuple(row) in self.seen_ for row in np.asarray(X))
        return np.full(len(X), self.majority_)


class Wavering(ClassifierMixin, BaseEstimator):
    """Predicts the best class of the stripes with probability 0.6, anew in each fit and row."""

    def __init__(self, random_state=None):
        self.random_state = random_state

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        return self

    def predict(self, X):
        kept = np.random.default_rng(self.random_state).random(len(X)) < 0.6
        return (kept == (X[:, 0] > 0.5)).astype(int)


def test_the_votes_of_an_order_correct_learner_approach_the_bayes_rule():
    # Q = 0.6/0.4 against P = 0.9/0.1: one model is wrong at the rate 0.42, the vote of an odd
    # number k at 0.1 + 0.8 P(Bin(k, 0.6) < k/2), the Bayes rule at 0.1.
    X, y, probability = stripes(2000)
    found = order_correctness(
        Wavering(), X, y, probability=probability, n_resamples=60, random_state=0
    )
    k = found.counts
    # Of equal votes the class 0 is taken, which is the best one for half of the rows.
    lost = binom.cdf((k - 1) // 2, k, 0.6) + np.where(
        (k % 2 == 0) & (probability[:, 1] > 0.5), binom.pmf(k // 2, k, 0.6), 0
    )
    vote = 0.1 + 0.8 * lost.mean()
    for risk, truth in ((found.single, 0.42), (found.aggregate, vote)):
        error = risk.table.standard_error()
        assert abs(risk.value - truth) < norm.isf(5e-7) * error  # fails with probability 1e-6
    # As above; the standard error of a share is at most 1 / (2 sqrt n).
    assert abs(found.share.value - (1 - lost.mean())) < norm.isf(5e-7) / (2 * np.sqrt(2000))
    assert found.gain.interval[0] > 0.1


def test_no_model_votes_on_a_row_it_has_seen():
    X, y, _ = stripes(60)
    found = order_correctness(Remembers(), X, y, n_resamples=30, random_state=0)
    assert_allclose(found.votes.sum(axis=1), 1, rtol=SUMMED)
    assert_array_equal((found.votes * found.counts[:, None]).round().sum(axis=1), found.counts)


@pytest.mark.parametrize("known", ["array", "callable"])
def test_with_the_true_probabilities_rows_are_order_correct_or_not(known):
    X, y, probability = stripes(200)
    given = probability if known == "array" else eta
    found = order_correctness(
        DecisionTreeClassifier(), X, y, probability=given, n_resamples=50, random_state=0
    )
    best = probability.argmax(axis=1)
    assert_array_equal(found.order_correct, found.votes.argmax(axis=1) == best)
    assert found.share.value == pytest.approx(found.order_correct.mean(), rel=SUMMED)
    assert found.share.interval[0] < found.share.value <= found.share.interval[1]
    # A tree grown to the end follows the noise; its votes follow the stripes.
    assert found.share.value > 0.9
    assert found.aggregate.value < found.single.value
    assert found.gain.value == pytest.approx(found.single.value - found.aggregate.value, rel=SUMMED)
    assert "or more" not in str(found)


def test_without_them_the_bound_holds():
    # The bound is 1 - 2 risk of the vote; where both are known it is below the true share.
    for seed in range(3):
        X, y, probability = stripes(100, seed)
        for learner in (DecisionTreeClassifier(max_depth=1), KNeighborsClassifier(1)):
            options = {"n_resamples": 20, "random_state": 0}
            bound = order_correctness(learner, X, y, **options)
            known = order_correctness(learner, X, y, probability=probability, **options)
            risk_of_vote = (
                1
                - np.take_along_axis(
                    probability, bound.votes.argmax(axis=1)[:, None], axis=1
                ).mean()
            )
            assert 1 - 2 * risk_of_vote <= known.share.value + 1e-12  # the theorem, on these rows
            assert bound.share.value == pytest.approx(
                max(0, 1 - 2 * bound.aggregate.value), rel=SUMMED
            )
            assert bound.share.interval[0] <= known.share.value
            assert bound.order_correct is None
            assert "or more" in str(bound)


def test_a_learner_that_is_wrong_on_purpose_is_not_order_correct():
    class Contrary(DecisionTreeClassifier):
        def predict(self, X):
            return 1 - super().predict(X)

    X, y, probability = stripes(150)
    found = order_correctness(
        Contrary(max_depth=1), X, y, probability=probability, n_resamples=20, random_state=0
    )
    assert found.share.value < 0.1
    assert found.aggregate.value > 0.8


@pytest.mark.parametrize("n_jobs", [None, pytest.param(2, marks=pytest.mark.slow)])
def test_the_same_bits_for_every_number_of_workers_and_each_seed_its_own(n_jobs):
    X, y, _ = stripes(80)
    learner = DecisionTreeClassifier(
        max_features=1
    )  # draws features: from the seed of the resample
    one, two, other = (
        order_correctness(learner, X, y, n_resamples=12, random_state=seed, n_jobs=jobs)
        for seed, jobs in ((3, None), (3, n_jobs), (4, None))
    )
    assert_array_equal(one.votes, two.votes)
    assert not np.array_equal(one.votes, other.votes)


def test_weights_groups_frames_and_many_classes():
    pandas = pytest.importorskip("pandas")
    rng = np.random.default_rng(0)
    frame = pandas.DataFrame({"x": rng.normal(size=90), "colour": rng.choice(["r", "g"], 90)})
    y = np.array(["a", "b", "c"])[np.digitize(frame["x"], [-0.5, 0.5])]
    groups = np.arange(90) // 3
    found = order_correctness(
        make_pipeline(Encoder(), LinearDiscriminantAnalysis()), frame, y,
        sample_weight=rng.integers(0, 3, size=90), groups=groups, n_resamples=20, random_state=0,
    )  # fmt: skip
    assert found.votes.shape[1] == 3
    assert found.aggregate.value < 0.4
    assert len(np.unique(found.aggregate.unit)) <= 30


def test_resamples_of_one_class_vote_for_it():
    X = np.arange(12.0)[:, None]
    y = np.array([0] * 11 + [1])
    found = order_correctness(LogisticRegression(), X, y, n_resamples=40, random_state=0)
    assert np.isfinite(found.votes).all()
    assert found.single.value == pytest.approx(1 / 12, abs=0.083)  # one row more or less


def test_what_cannot_vote_is_refused():
    X, y, probability = stripes(30)
    with pytest.raises(ParameterError, match="for classification"):
        order_correctness(LinearRegression(), X, y)
    with pytest.raises(ParameterError, match="n_resamples"):
        order_correctness(LogisticRegression(), X, y, n_resamples=0)
    with pytest.raises(DataError, match="shape"):
        order_correctness(LogisticRegression(), X, y, probability=probability[:5], n_resamples=3)


def test_the_picture_sets_one_model_beside_the_vote():
    X, y, _ = stripes(60)
    ax = order_correctness(LogisticRegression(), X, y, n_resamples=5, random_state=0).plot()
    assert [text.get_text() for text in ax.get_yticklabels()] == ["one model", "vote of many"]
    assert ax.get_xlabel() == "0-1 risk"


def test_risks_of_other_rows_left_out_do_not_subtract():
    X, y, _ = stripes(30)
    one, other = (
        order_correctness(KNeighborsClassifier(), X, y, n_resamples=2, random_state=seed).single
        for seed in (0, 1)
    )
    with pytest.raises(PlanError, match="different plans or data"):
        one - other
