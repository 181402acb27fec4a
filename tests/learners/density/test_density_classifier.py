"""The plug-in classifier: Bayes' rule by hand, other libraries' densities, costs, odd rows."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import stats
from sklearn.mixture import GaussianMixture as PeerMixture
from sklearn.neighbors import KernelDensity as PeerKernels
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from empirisk import (
    DensityClassifier,
    NaiveBayes,
    ParametricDensity,
    QuadraticDiscriminantAnalysis,
    Tuned,
    risk,
)
from empirisk.learners.density.class_conditional import log_joint
from empirisk.losses import Costs
from empirisk.runtime.errors import DataError, ParameterError
from tolerances import LAST_BITS, SUMMED


@pytest.fixture
def data():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 2))
    y = np.repeat(["a", "b", "c"], [60, 40, 20])
    X[y == "b"] = 1.5 * X[y == "b"] + [2.0, 0.0]
    X[y == "c", 1] += 3.0
    return X, y


def by_hand(density, X, y, at, priors=None):
    """pi_k f_k / sum, from scikit-learn's densities."""
    labels, count = np.unique(y, return_counts=True)
    priors = count / len(y) if priors is None else np.asarray(priors)
    joint = [p * np.exp(density(X[y == k], at)) for k, p in zip(labels, priors, strict=True)]
    joint = np.column_stack(joint)
    return joint / joint.sum(axis=1, keepdims=True)


@pytest.mark.parametrize("priors", [None, [0.2, 0.3, 0.5]])
def test_probabilities_are_priors_times_densities(data, priors):
    X, y = data
    peer = PeerKernels(bandwidth=0.7)
    found = DensityClassifier(peer, priors=priors).fit(X, y)
    wanted = by_hand(lambda own, at: peer.fit(own).score_samples(at), X, y, X, priors)
    assert_allclose(found.predict_proba(X), wanted, rtol=SUMMED)
    assert_allclose(np.exp(found.predict_log_proba(X)), wanted, rtol=SUMMED)
    assert_array_equal(found.predict(X), found.classes_[wanted.argmax(axis=1)])
    assert_array_equal(found.class_count_, [60, 40, 20])


def test_gaussian_densities_give_quadratic_discriminants(data):
    X, y = data
    found = DensityClassifier().fit(X, y)

    def gaussian(own, at):
        return stats.multivariate_normal(own.mean(axis=0), np.cov(own.T, ddof=0)).logpdf(at)

    assert_allclose(found.predict_proba(X), by_hand(gaussian, X, y, X), rtol=SUMMED)
    # QDA divides by n - 1: it differs by that, and on few rows.
    same = found.predict(X) == QuadraticDiscriminantAnalysis().fit(X, y).predict(X)
    assert same.mean() > 0.95


def test_each_class_may_have_a_density_of_its_own(data):
    X, y = np.abs(data[0]) + 0.1, data[1]
    own = {"a": PeerKernels(bandwidth=0.5), "b": ParametricDensity("gamma"), "c": PeerMixture(1)}
    found = DensityClassifier(own).fit(X, y)
    assert [type(each) for each in found.densities_] == [
        PeerKernels,
        ParametricDensity,
        PeerMixture,
    ]
    held_out = risk.cross_validate(DensityClassifier(own), X, y, cv=3)
    assert 0 < held_out.value < 0.6
    with pytest.raises(ParameterError, match="none for class 'c'"):
        DensityClassifier({"a": PeerKernels(), "b": PeerKernels()}).fit(X, y)


def test_costs_move_the_rule_and_judge_it(data):
    X, y = data
    costs = np.array([[0, 1, 20], [1, 0, 20], [1, 1, 0]])
    found = DensityClassifier(cost_matrix=costs).fit(X, y)
    expected = found.predict_proba(X) @ costs.T
    assert_array_equal(found.predict(X), found.classes_[expected.argmin(axis=1)])
    assert (found.predict(X) == "c").sum() > (DensityClassifier().fit(X, y).predict(X) == "c").sum()
    judged = risk.cross_validate(found, X, y, cv=4)
    assert judged.loss == str(Costs(costs))
    named = Costs(costs, classes=["a", "b", "c"])
    again = risk.cross_validate(DensityClassifier(cost_matrix=named), X, y, cv=4)
    assert_array_equal(again.losses, judged.losses)


def test_where_all_densities_are_zero_the_priors_are_left(data):
    X, y = data
    found = DensityClassifier(PeerKernels(kernel="tophat", bandwidth=0.5)).fit(X, y)
    far = found.predict_proba([[1e6, -1e6]])
    assert_allclose(far, [[1 / 2, 1 / 3, 1 / 6]], rtol=LAST_BITS)
    # Logarithms of densities, not they, are compared: 1e4 deviations away they all underflow.
    far = DensityClassifier().fit(X, y).predict_proba([[1e4, 0.0]])
    assert_array_equal(far, [[0, 1, 0]])


def test_infinite_and_impossible_densities_give_probabilities():
    logs = np.array([[np.inf, 0.0, np.inf], [-np.inf] * 3, [np.inf, -np.inf, 0.0], [0.0, 0, 0]])
    prior = np.array([0.2, 0.3, 0.5])
    joint = np.exp(log_joint(logs[:, :, None], prior))[:, :, 0]
    wanted = [[0.2, 0, 0.5], [0.2, 0.3, 0.5], [0.2, 0, 0], [0.2, 0.3, 0.5]]
    assert_allclose(joint, wanted, rtol=LAST_BITS)
    never = np.exp(log_joint(logs[:, :, None], np.array([0.0, 0.5, 0.5])))[:, :, 0]
    assert_allclose(never, [[0, 0, 0.5], [0, 0.5, 0.5], [0, 0, 0.5], [0, 0.5, 0.5]], rtol=LAST_BITS)


def test_the_axis_is_that_of_the_density(data):
    X, y = data
    learner = DensityClassifier(ParametricDensity())
    assert learner.axis.params == ("density__shrinkage",)
    assert DensityClassifier.axis is None
    assert DensityClassifier().axis is None
    assert DensityClassifier(PeerKernels()).axis is None
    tuned = Tuned(learner, cv=4, loss="log").fit(X, y)
    assert tuned.path_.values == list(np.linspace(0, 1, 21))
    assert tuned.best_estimator_.density.shrinkage == tuned.best_value_
    each = DensityClassifier(Tuned(ParametricDensity(), cv=3)).fit(X, y)
    assert len(each.densities_) == 3
    assert each.densities_[0].best_value_ is not None


def test_densities_without_weights_get_copies(data):
    X, y = data
    rng = np.random.default_rng(0)
    weight = rng.integers(0, 3, size=len(y))
    mixture = PeerMixture(1)
    weighted = DensityClassifier(mixture).fit(X, y, sample_weight=weight)
    copies = DensityClassifier(mixture).fit(np.repeat(X, weight, axis=0), np.repeat(y, weight))
    assert_array_equal(weighted.predict_proba(X), copies.predict_proba(X))
    with pytest.raises(ParameterError, match="no whole numbers"):
        DensityClassifier(mixture).fit(X, y, sample_weight=rng.uniform(size=len(y)))


def test_what_is_no_density_is_refused(data):
    X, y = data
    with pytest.raises(ParameterError, match="score_samples"):
        DensityClassifier(StandardScaler()).fit(X, y)
    with pytest.raises(ParameterError, match="units of its own steps"):
        DensityClassifier(make_pipeline(StandardScaler(), PeerKernels())).fit(X, y)
    with pytest.raises(ParameterError, match="priors"):
        DensityClassifier(priors=[0.5, 0.5]).fit(X, y)
    with pytest.raises(DataError, match="density of class 'a': column 0 has the value"):
        DensityClassifier(ParametricDensity("gamma")).fit(X, y)


@pytest.mark.parametrize("labels", [[0, 1], ["a", "b"]], ids=str)
@pytest.mark.parametrize("density", [None, ParametricDensity()], ids=["alone", "with an axis"])
def test_more_priors_than_classes_are_refused_as_in_fit(density, labels):
    X, y = np.arange(12.0).reshape(12, 1), np.array(labels)[np.arange(12) % 2]
    learner = DensityClassifier(density, priors=[0.2, 0.3, 0.5])
    for judge in (learner.fit, lambda X, y: risk.cross_validate(learner, X, y, cv=3)):
        with pytest.raises(ParameterError, match="with 2 classes it needs 2 numbers"):
            judge(X, y)


def test_a_training_part_that_lacks_a_class_has_the_priors_of_the_others(data):
    X, y = data
    train, test = np.flatnonzero(y != "c")[::2], np.flatnonzero(y != "c")[1::2]
    learner = DensityClassifier(priors=[0.1, 0.6, 0.3])
    judged = risk.cross_validate(learner, X, y, cv=[(train, test)], loss="log")
    two = DensityClassifier(priors=[1 / 7, 6 / 7]).fit(X[train], y[train])
    truth = (y[test] == "b").astype(int)
    logs = two.predict_log_proba(X[test])[np.arange(len(test)), truth]
    assert_allclose(judged.losses, -logs, rtol=SUMMED, atol=SUMMED)


def test_a_complaint_of_a_training_part_names_the_class(data):
    X, y = data
    with pytest.raises(DataError, match="density of class 'a': column 0 has the value"):
        risk.cross_validate(DensityClassifier({k: ParametricDensity("gamma") for k in "abc"}), X, y)


@pytest.mark.parametrize("learner", [DensityClassifier(), NaiveBayes()])
def test_logarithms_of_probabilities_are_those_of_rows_far_out_too(learner):
    X = [[a, b] for a in (-2, -1, 1, 2) for b in (-1, 1)]
    learner = learner.fit(X, [0, 0, 0, 0, 1, 1, 1, 1])
    far = [[0, 1e9], [0, -1e12]]  # log densities of -1e18 and -1e24, equal in both classes
    assert_allclose(learner.predict_log_proba(far), np.log(learner.predict_proba(far)), rtol=SUMMED)
