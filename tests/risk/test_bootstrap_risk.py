"""The .632 and .632+ bootstrap equal their definitions, for any learner, loss, weights, groups."""

from dataclasses import dataclass
from itertools import product

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import approx_fprime
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin, clone
from sklearn.decomposition import PCA
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.validation import has_fit_parameter

import empirisk
from empirisk.losses import Absolute, Costs, Log, Squared, ZeroOne
from empirisk.risk.intervals.no_information import no_information_rate
from empirisk.risk.problem import Problem
from empirisk.risk.resampling.bootstrap_risk import Mixture, bootstrap_632, bootstrap_632plus
from empirisk.risk.resampling.leave_one_out_bootstrap import Moments
from empirisk.risk.resampling.sample import Resamples
from empirisk.runtime.errors import DataError, ParameterError
from empirisk.runtime.streams import spawn
from tolerances import SUMMED


def regression(n=30, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 2))
    return X, X[:, 0] + rng.normal(size=n)


def classes(n=40, K=3, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, K, size=n)
    return rng.normal(size=(n, 2)) + y[:, None], np.array(["a", "b", "c"])[y]


def by_hand(learner, X, y, loss, output, B, seed, weight=None, groups=None):
    """Training risk, leave-one-out bootstrap risk and no-information rate, in loops."""
    n = len(y)
    weight = np.ones(n) if weight is None else weight
    unit = np.arange(n) if groups is None else np.unique(groups, return_inverse=True)[1]
    labels, codes = np.unique(y, return_inverse=True)
    truth = codes if output is not None else y

    def fitted(counts):
        rows = np.repeat(np.arange(n), counts)
        model = clone(learner)
        if has_fit_parameter(model, "sample_weight"):
            return model.fit(X, y, sample_weight=weight * counts)
        return model.fit(X[rows], y[rows])

    def prediction(model, rows):
        if output == "probability":
            found = np.zeros((len(rows), len(labels)))
            found[:, np.searchsorted(labels, model.classes_)] = model.predict_proba(X[rows])
            return found
        predicted = model.predict(X[rows])
        return predicted if output is None else np.searchsorted(labels, predicted)

    draw = spawn(seed, 1)[0]
    units = unit.max() + 1
    total, times = np.zeros((2, n))
    for b in range(B):
        counts = Resamples(units, units, B, draw).copies(slice(b, b + 1))[0].astype(int)[unit]
        rows = np.flatnonzero(counts == 0)
        if len(rows):
            total[rows] += loss(truth[rows], prediction(fitted(counts), rows))
            times[rows] += 1
    everything = np.arange(n)
    whole = prediction(fitted(np.ones(n, dtype=int)), everything)
    training = np.average(loss(truth, whole), weights=weight)
    pairs = (
        sum(weight[i] * weight @ loss(np.full(n, truth[i]), whole) for i in everything)
        / weight.sum() ** 2
    )
    return training, np.average(total / times, weights=weight), pairs


def mixed(training, left_out, no_information):
    """.632 and .632+ as Efron and Tibshirani write them (1997, equations 24 and 29 to 32)."""
    plain = 0.368 * training + 0.632 * left_out
    capped = min(left_out, no_information)
    R = 0.0
    if left_out > training and no_information > training:
        R = (capped - training) / (no_information - training)
    return plain, plain - 0.632 * (left_out - capped) + (capped - training) * (
        0.368 * 0.632 * R / (1 - 0.368 * R)
    )


@pytest.mark.parametrize(
    "learner, data, loss, output",
    [
        (LinearRegression(), regression, Squared(), None),
        (LinearRegression(), regression, Absolute(), None),
        (KNeighborsRegressor(2), regression, Squared(), None),
        (KNeighborsClassifier(1), classes, ZeroOne(), "value"),
        (GaussianNB(), classes, Log(), "probability"),
        (DecisionTreeClassifier(random_state=0), classes, Costs(1.0 - np.eye(3)), "value"),
    ],
)
def test_both_estimates_equal_their_definitions(learner, data, loss, output):
    X, y = data()
    parts = by_hand(learner, X, y, loss, output, 60, 3)
    plain, plus = mixed(*parts)
    for value, is_plus in ((plain, False), (plus, True)):
        found = bootstrap_632plus(
            learner, X, y, loss=loss, plus=is_plus, n_resamples=60, random_state=3
        )
        assert_allclose(found.value, value, rtol=1e-9)  # fits on weights and on repeated rows
        assert_allclose(np.mean(found.losses), value, rtol=1e-9)
        low, high = found.interval
        assert low < found.value < high


def test_weights_and_groups():
    X, y = regression()
    rng = np.random.default_rng(1)
    weight, groups = rng.uniform(0.5, 2, size=30), rng.integers(0, 12, size=30)
    for options in ({"weight": weight}, {"groups": groups}, {"weight": weight, "groups": groups}):
        parts = by_hand(LinearRegression(), X, y, Squared(), None, 80, 4, **options)
        found = bootstrap_632plus(
            LinearRegression(),
            X,
            y,
            n_resamples=80,
            random_state=4,
            sample_weight=options.get("weight"),
            groups=options.get("groups"),
        )
        assert_allclose(found.value, mixed(*parts)[1], rtol=SUMMED)
        assert found.standard_error > 0


def test_rows_of_weight_zero_are_not_there():
    X, y = regression()
    weight = np.repeat([1.0, 0.0], 15)
    options = {"n_resamples": 50, "random_state": 0}
    found = bootstrap_632plus(LinearRegression(), X, y, sample_weight=weight, **options)
    alone = bootstrap_632plus(LinearRegression(), X[:15], y[:15], **options)
    assert_allclose(found.value, alone.value, rtol=SUMMED)
    assert_allclose(found.standard_error, alone.standard_error, rtol=SUMMED)


class Recorder(RegressorMixin, BaseEstimator):
    """Remembers what it was fitted on."""

    seen = []  # noqa: RUF012

    def fit(self, X, y, sample_weight=None):
        Recorder.seen.append((len(y), None if sample_weight is None else sample_weight.sum()))
        self.mean_ = np.average(y, weights=sample_weight)
        return self

    def predict(self, X):
        return np.full(len(X), self.mean_)


def test_resamples_reach_a_learner_as_counts():
    X, y = regression(20)
    Recorder.seen = []
    bootstrap_632plus(Recorder(), X, y, n_resamples=50, random_state=0)
    whole, *resamples = Recorder.seen
    assert whole == (20, None)
    assert all(total == 20 for _, total in resamples)
    assert max(rows for rows, _ in resamples) < 20  # distinct rows only


class TwoClasses(ClassifierMixin, BaseEstimator):
    """Refuses a single class, as logistic regression does."""

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        if len(self.classes_) < 2:
            raise ValueError("one class")
        self.cut_ = X[:, 0].mean()
        return self

    def predict(self, X):
        return self.classes_[(X[:, 0] > self.cut_).astype(int)]


def test_a_resample_of_one_class_predicts_that_class():
    X, y = np.arange(8.0)[:, None], np.array([0, 0, 0, 0, 0, 0, 0, 1])
    found = bootstrap_632plus(TwoClasses(), X, y, n_resamples=100, random_state=0)
    assert 0 < found.value < 1
    # The one row of class 1 is left out only by resamples of class 0 alone: always wrong.
    parts = bootstrap_632plus(TwoClasses(), X, y, n_resamples=100, random_state=0, plus=False)
    training = float(TwoClasses().fit(X, y).predict(X)[-1] != 1)
    assert_allclose(parts.losses[-1], 0.368 * training + 0.632, rtol=SUMMED)


def test_pipelines_strings_and_our_own_learners():
    X, y = classes()
    found = bootstrap_632plus(
        make_pipeline(StandardScaler(), LogisticRegression()),
        X,
        y,
        loss="log",
        n_resamples=50,
        random_state=0,
    )
    assert 0 < found.value < np.log(3) * 1.5
    ours = bootstrap_632plus(
        empirisk.LinearRegression(), *regression(), n_resamples=50, random_state=0
    )
    peer = bootstrap_632plus(LinearRegression(), *regression(), n_resamples=50, random_state=0)
    assert_allclose(ours.losses, peer.losses, rtol=SUMMED)
    table = empirisk.Table.of({"a": ["x", "y"] * 15, "b": np.arange(30.0)})
    encoded = bootstrap_632plus(
        make_pipeline(empirisk.Encoder(), empirisk.Ridge()), table, regression()[1], n_resamples=50
    )
    assert encoded.value > 0


def test_a_pipeline_takes_counts_only_if_every_step_does():
    X, y = regression(25)
    # Of the second step a copy of a row changes the fit, and it takes no weights.
    for step in (StandardScaler(), PCA(1)):
        model = make_pipeline(step, LinearRegression())
        found = bootstrap_632plus(model, X, y, plus=False, n_resamples=40, random_state=3)
        draw = spawn(3, 1)[0]
        total, times = np.zeros((2, 25))
        for b in range(40):
            counts = Resamples(25, 25, 40, draw).copies(slice(b, b + 1))[0].astype(int)
            rows, lacking = np.repeat(np.arange(25), counts), counts == 0
            fitted = clone(model).fit(X[rows], y[rows])
            total[lacking] += (fitted.predict(X[lacking]) - y[lacking]) ** 2
            times += lacking
        training = np.mean((clone(model).fit(X, y).predict(X) - y) ** 2)
        expected = 0.368 * training + 0.632 * np.mean(total / times)
        assert_allclose(found.value, expected, rtol=1e-9)  # weights against repeated rows


def test_estimates_subtract_on_the_same_resamples():
    X, y = regression(60)
    options = {"n_resamples": 60, "random_state": 0}
    linear = bootstrap_632plus(LinearRegression(), X, y, **options)
    neighbour = bootstrap_632plus(KNeighborsRegressor(1), X, y, **options)
    assert_allclose((linear - neighbour).value, linear.value - neighbour.value, rtol=SUMMED)
    other = bootstrap_632plus(LinearRegression(), X, y, n_resamples=60, random_state=1)
    with pytest.raises(empirisk.runtime.errors.PlanError):
        _ = linear - other


def test_the_result_does_not_depend_on_the_number_of_workers():
    X, y = classes()
    learner = DecisionTreeClassifier(max_features=1)
    one = bootstrap_632plus(learner, X, y, n_resamples=40, random_state=2)
    two = bootstrap_632plus(learner, X, y, n_resamples=40, random_state=2, n_jobs=2)
    assert_array_equal(one.losses, two.losses)
    assert one.standard_error == two.standard_error


@dataclass
class AllResamples:
    """Every resample of n units, each of which has the same probability."""

    n: int

    @property
    def number(self):
        return self.n**self.n

    def copies(self, block):
        drawn = list(product(range(self.n), repeat=self.n))[block]
        return np.array([np.bincount(rows, minlength=self.n) for rows in drawn], dtype=float)


@pytest.mark.parametrize("share", [np.full(4, 0.25), np.array([0.1, 0.2, 0.3, 0.4])])
def test_the_influence_is_the_derivative_over_all_resamples(share):
    # R(p) = sum_u p_u s_u E_u(p) / sum_u p_u s_u, E_u(p) the mean loss of unit u over the resamples
    # from p that lack it; the loss of a resample is any function of it.
    resamples = AllResamples(4)
    copies = resamples.copies(slice(0, 256))
    losses = np.random.default_rng(0).uniform(size=(256, 4)) * (copies == 0)

    def risk(p):
        probability = np.prod(p**copies, axis=1)[:, None] * (copies == 0)
        each = (probability * losses).sum(axis=0) / probability.sum(axis=0)
        return (p * share) @ each / (p @ share)

    moments = Moments((copies == 0).sum(axis=0), resamples)
    for block in (slice(0, 100), slice(100, 256)):
        moments.add(block, losses[block] * share)
    influence, _ = moments.influence(share)
    gradient = approx_fprime(np.full(4, 0.25), risk, 1e-7)
    twin = (gradient - gradient.mean()) / 4  # along (1 - e) p + e delta_u, over n
    assert_allclose(influence, twin, rtol=1e-5, atol=1e-8)  # of forward differences


@pytest.mark.parametrize("plus", [False, True])
def test_the_slopes_are_derivatives(plus):
    def value(parts):
        return Mixture(parts[0], parts[1], 0.5, plus).value

    for training, left_out in [(0.1, 0.3), (0.0, 0.45), (0.2, 0.2001)]:
        found = Mixture(training, left_out, 0.5, plus).slopes
        # Forward differences with steps of 1e-8: half of the digits, and four of small slopes.
        assert_allclose(found, approx_fprime([training, left_out], value, 1e-8), rtol=1e-4)


def test_a_rule_that_learns_nothing_has_the_no_information_rate():
    rng = np.random.default_rng(5)
    X, y = rng.normal(size=(60, 3)), rng.integers(0, 2, size=60)
    options = {"n_resamples": 60, "random_state": 0}
    plain = bootstrap_632(KNeighborsClassifier(1), X, y, **options)
    plus = bootstrap_632plus(KNeighborsClassifier(1), X, y, **options)
    assert plain.value < 0.36  # the training risk is 0, and the truth 0.5
    assert 0.4 < plus.value <= 0.5
    assert "overfits" in plus.sentence


def test_no_information_rates_from_a_sample_of_pairs_are_close(monkeypatch):
    X, y = regression(300)
    problem = Problem.of(LinearRegression(), X, y, loss="absolute")
    prediction = LinearRegression().fit(X, y).predict(X)
    exact = no_information_rate(problem, prediction, 0)
    assert_allclose(exact, np.abs(y[:, None] - prediction).mean(), rtol=SUMMED)
    monkeypatch.setattr("empirisk.risk.intervals.no_information.PAIRS", 300 * 100)
    # Losses spread by 0.75 of their mean: five standard errors of 30,000 pairs.
    assert_allclose(no_information_rate(problem, prediction, 0), exact, rtol=0.022)
    monkeypatch.setattr("empirisk.risk.intervals.no_information.PAIRS", 1)
    assert_allclose(no_information_rate(problem, prediction, 0), exact, rtol=0.22)  # of 300


@pytest.mark.parametrize("scale", [1e120, 1e-120])
def test_the_unit_of_the_target_does_not_matter(scale):
    X, y = regression()
    one = bootstrap_632plus(LinearRegression(), X, y, n_resamples=50, random_state=0)
    other = bootstrap_632plus(LinearRegression(), X, y * scale, n_resamples=50, random_state=0)
    assert_allclose(other.interval, np.multiply(one.interval, scale**2), rtol=SUMMED)


def test_losses_that_overflow_give_no_interval_and_no_nan():
    X, y = regression()
    found = bootstrap_632plus(LinearRegression(), X, y * 1e200, n_resamples=50, random_state=0)
    assert found.value == np.inf
    assert found.interval is None
    assert "not finite" in found.sentence


def test_a_perfect_rule_has_no_interval():
    X = np.repeat([[0.0], [1.0]], 10, axis=0)
    y = X[:, 0].astype(int)
    found = bootstrap_632plus(KNeighborsClassifier(1), X, y, n_resamples=60, random_state=0)
    assert found.value == 0
    assert found.interval is None


def test_what_cannot_be_done_is_refused():
    X, y = regression()
    with pytest.raises(ParameterError, match="take more resamples"):
        bootstrap_632plus(LinearRegression(), X, y, n_resamples=3, random_state=0)
    with pytest.raises(DataError, match="two or more"):
        bootstrap_632plus(LinearRegression(), X, y, groups=np.zeros(30))
    with pytest.raises(ParameterError, match=r"n_resamples is 2\.5"):
        bootstrap_632plus(LinearRegression(), X, y, n_resamples=2.5)
    with pytest.raises(ParameterError, match="level is 2"):
        bootstrap_632plus(LinearRegression(), X, y, n_resamples=50, level=2)
    with pytest.raises(DataError, match="y is None"):
        bootstrap_632plus(LinearRegression(), X, None)


@pytest.mark.slow
def test_the_standard_error_is_the_spread_over_training_sets_and_the_interval_covers():
    # 200 training sets of 60 rows: a spread to 5 %, so 25 % is 5 of them; coverage at nominal 90 %
    # to 2.1 %.
    rng = np.random.default_rng(6)
    values, errors, covered = [], [], 0
    truth = 1 + 2 / (60 - 2 - 1)  # least squares of a Gaussian design without intercept
    for _ in range(200):
        X = rng.normal(size=(60, 2))
        y = X.sum(axis=1) + rng.normal(size=60)
        found = bootstrap_632plus(
            LinearRegression(fit_intercept=False), X, y, n_resamples=100, level=0.9
        )
        values.append(found.value)
        errors.append(found.standard_error)
        covered += found.interval[0] < truth < found.interval[1]
    # The spread of 200 values is known to 1 / sqrt(400) = 5 %; five of these.
    assert_allclose(np.mean(errors), np.std(values), rtol=0.25)
    assert 0.82 < covered / 200 < 0.97
