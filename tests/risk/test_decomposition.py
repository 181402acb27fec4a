"""Bias and variance over training sets from a population, and from one data set."""

import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin, clone
from sklearn.dummy import DummyRegressor
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

import empirisk
from decomposed_learners import Least, one_data_set
from empirisk import Ridge
from empirisk.risk import populations
from empirisk.risk.decomposition import (
    bias_variance,
    bootstrap_bias_variance,
    decompose_path,
    excess_risk,
)
from empirisk.risk.decomposition.zero_one import ZeroOneAccounts
from empirisk.risk.populations import Bernoulli, GaussianClasses, LinearModel, Points, StudentT
from empirisk.runtime.errors import DataError, ParameterError
from empirisk.runtime.streams import generator, spawn
from five_sigmas import SIGMAS
from tolerances import LAST_BITS, SUMMED


class Nearest(ClassifierMixin, BaseEstimator):
    """The label of the nearest row, for one feature."""

    def fit(self, X, y):
        self.X_, self.y_, self.classes_ = X, y, np.unique(y)
        return self

    def predict(self, X):
        return self.y_[np.abs(X - self.X_.T).argmin(axis=1)]


def drawn_twin(learner, population, n, n_sets, n_points, seed):
    """Points, and the predictions (sets, points) of the learner fitted to each training set."""
    of_points, *of_sets = spawn(seed, n_sets + 1)
    X, _ = population.draw(n_points, generator(of_points))
    models = (clone(learner).fit(*population.draw(n, generator(s))) for s in of_sets)
    return X, np.array([model.predict(X) for model in models])


def test_the_squared_parts_are_those_of_the_textbook():
    population = populations.sine(noise=lambda X: 0.2 + X[:, 0])
    found = bias_variance(Least(), population, 12, n_sets=30, n_points=40, random_state=3)
    X, prediction = drawn_twin(Least(), population, 12, 30, 40, 3)
    truth = np.sin(2 * np.pi * X[:, 0])
    variance = prediction.var(axis=0, ddof=1)
    noise = (0.2 + X[:, 0]) ** 2
    total = noise + ((prediction - truth) ** 2).mean(axis=0)
    assert_allclose(found.pointwise["variance"], variance, rtol=SUMMED)
    assert_allclose(found.pointwise["mean_prediction"], prediction.mean(axis=0), rtol=SUMMED)
    assert_allclose(
        found.pointwise["bias_squared"],
        (prediction.mean(axis=0) - truth) ** 2 - variance / 30,
        rtol=SUMMED,
        atol=SUMMED,
    )
    assert_allclose(found.pointwise["total"], total, rtol=SUMMED)
    assert_allclose(found.noise, noise.mean(), rtol=LAST_BITS)
    error = found.pointwise_error["variance"]
    # Of a normal variance sqrt(2/29) = 26 %; its estimates scatter, by 14 % and for heavier tails.
    assert_allclose(error / variance, 0.26, rtol=0.7)
    assert (found.pointwise_error["noise"] == 0).all()
    # The sum is exact, to the rounding of a few additions.
    assert_allclose(found.noise + found.bias_squared + found.variance, found.total, rtol=1e-14)
    assert_allclose(found.total, total.mean(), rtol=1e-12)


def test_the_zero_one_parts_are_those_of_domingos():
    population = populations.GaussianClasses([[0.0], [1.0], [2.5]], 1.0)
    found = bias_variance(Nearest(), population, 9, n_sets=21, n_points=50, random_state=3)
    X, prediction = drawn_twin(Nearest(), population, 9, 21, 50, 3)
    p = population.class_probabilities(X)
    total = net_noise = bias = variance = unbiased = biased = 0.0
    for t in range(50):
        q = np.array([(prediction[:, t] == k).mean() for k in range(3)])
        best, main = int(p[t].argmax()), int(q.argmax())
        risk = sum(p[t, k] * (1 - q[k]) for k in range(3))
        total += risk / 50
        wrong = 1.0 if main != best else 0.0
        bias += wrong / 50
        variance += (1 - q[main]) / 50
        gain = (1 - q[best]) - wrong  # c2 V
        unbiased += gain * (1 - wrong) / 50
        biased -= gain * wrong / 50
        net_noise += (risk - (1 - q[best])) / 50
    assert_allclose(found.total, total, rtol=SUMMED)
    assert_allclose(found.bias, bias, rtol=SUMMED)
    assert_allclose(found.variance, variance, rtol=SUMMED)
    assert_allclose(found.unbiased_variance, unbiased, rtol=SUMMED)
    assert_allclose(found.biased_variance, biased, rtol=SUMMED)
    assert_allclose(found.net_noise, net_noise, rtol=SUMMED)
    assert_allclose(found.noise, (1 - p.max(axis=1)).mean(), rtol=SUMMED)
    assert_allclose(found.net_noise + found.bias + found.net_variance, found.total, rtol=LAST_BITS)
    assert biased > 0


@pytest.mark.parametrize("K", [2, 3, 5])
@pytest.mark.parametrize("sure", [False, True])
def test_the_zero_one_parts_always_add_up(K, sure):
    rng = np.random.default_rng(K)
    p = rng.dirichlet(np.ones(K), 200)
    if sure:
        p = np.eye(K)[rng.integers(K, size=200)]
    votes = rng.multinomial(7, rng.dirichlet(np.full(K, 0.3)), size=200).T[:, :, None] + 0.0
    accounts = ZeroOneAccounts(p, np.arange(K))
    parts = accounts.parts(votes)
    risk = 1 - (p.T * votes[:, :, 0] / 7).sum(axis=0)
    assert_allclose(parts["total"][:, 0], risk, rtol=0, atol=LAST_BITS)
    table = accounts._table(votes)
    c1, c2 = table["c1"][:, 0], table["c2"][:, 0]
    right = table["bias"][:, 0] == 0
    assert (c2[right] == 1).all()
    assert ((c2[~right] <= 0) & (c2[~right] >= -1)).all()
    if K == 2:
        agree = votes[p.argmax(axis=1), np.arange(200), 0] / 7
        # It is divided by the noise, of which 0.002 is the least: roundings of 1e-16 over that.
        assert_allclose(c1, 2 * agree - 1, rtol=0, atol=2e-13)
        assert_allclose(c2, np.where(right, 1, -1), rtol=0, atol=LAST_BITS)


def test_the_usual_bias_and_variance_of_votes_do_not_add_up():
    # As mlxtend has it: bias = mean of [main != y], variance = mean of [prediction != main], over
    # test labels y; the expected loss is neither their sum nor their difference.
    population = Bernoulli(lambda X: 0.2 + 0.6 * (X[:, 0] > 0.5))
    X, prediction = drawn_twin(Nearest(), population, 15, 40, 400, 0)
    y = population.sample_targets(X, 1)
    main = (prediction.mean(axis=0) > 0.5).astype(int)
    loss = (prediction != y).mean()
    bias, variance = (main != y).mean(), (prediction != main).mean()
    assert abs(bias + variance - loss) > 0.1
    assert abs(bias - variance - loss) > 0.1
    found = bias_variance(Nearest(), population, 15, n_sets=40, n_points=400, random_state=0)
    assert_allclose(found.net_noise + found.bias + found.net_variance, found.total, rtol=LAST_BITS)
    p = population.class_probabilities(X)
    assert_allclose(found.total, np.where(prediction == 1, p[:, 0], p[:, 1]).mean(), rtol=SUMMED)


@pytest.mark.parametrize(
    "learner",
    [Ridge(), pytest.param(DecisionTreeRegressor(max_features=1), marks=pytest.mark.slow)],
    ids=["threads", "processes"],
)
def test_the_bits_do_not_depend_on_the_workers(learner):
    population = populations.friedman(5)
    runs = [
        bias_variance(learner, population, 20, n_sets=30, n_points=20, n_jobs=jobs, random_state=0)
        for jobs in (None, 2)
    ]
    for name, values in runs[0].pointwise.items():
        assert_array_equal(values, runs[1].pointwise[name])
    assert runs[0].standard_error == runs[1].standard_error
    assert pickle.loads(pickle.dumps(runs[0])).parts == runs[0].parts


def test_squared_bias_is_estimated_without_bias():
    # Least squares is unbiased here; (mean - f)^2 of 4 training sets is variance/4 on average.
    population = LinearModel([1.0, 2.0])
    runs = [
        bias_variance(Least(), population, 8, n_sets=4, n_points=10, random_state=s)
        for s in range(100)
    ]
    bias = np.array([run.bias_squared for run in runs])
    naive = bias + np.array([run.variance for run in runs]) / 4
    error = bias.std() / np.sqrt(100)
    assert abs(bias.mean()) < SIGMAS * error
    assert naive.mean() > SIGMAS * error  # the test tells the two apart
    assert (bias < 0).any()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("learner", "population"),
    [(Least(), populations.sine()), (Nearest(), Bernoulli(lambda X: 0.2 + 0.6 * X[:, 0]))],
)
def test_the_standard_errors_are_those_of_repeated_runs(learner, population):
    runs = [
        bias_variance(learner, population, 10, n_sets=40, n_points=60, random_state=s)
        for s in range(100)
    ]
    for name in (*runs[0].summands[-2:], "total"):
        spread = np.std([run.parts[name] for run in runs], ddof=1)
        said = np.sqrt(np.mean([run.standard_error[name] ** 2 for run in runs]))
        # 100 runs give a deviation to 1/sqrt(198) = 7 %, so that 0.65 and 1.5 are five errors of
        # it away. The errors of parts with a mode, which is not smooth, are known to be too large.
        assert 0.65 * spread <= said <= (3 if name in ("bias", "net_variance") else 1.5) * spread


def test_a_small_variance_beside_a_large_bias_keeps_its_digits():
    class Offset(RegressorMixin, BaseEstimator):
        def fit(self, X, y):
            self.shift_ = 1e8 + y[0]
            return self

        def predict(self, X):
            return np.full(len(X), self.shift_)

    population = populations.sine(noise=0.1)
    found = bias_variance(Offset(), population, 5, n_sets=50, n_points=10, random_state=0)
    firsts = [population.draw(5, generator(s))[1][0] for s in spawn(0, 51)[1:]]
    assert_allclose(found.variance, np.var(firsts, ddof=1), rtol=1e-6)  # 1e8 rounds y to 1e-8


@pytest.mark.parametrize("scale", [1e150, 1e200, 1e-200])
def test_huge_and_tiny_targets(scale):
    def moved(X):
        return scale * np.sin(X[:, 0])

    population = populations.Regression(moved, noise=scale)
    found = bias_variance(Least(), population, 10, n_sets=20, n_points=15, random_state=0)
    plain = populations.Regression(lambda X: np.sin(X[:, 0]), noise=1.0)
    same = bias_variance(Least(), plain, 10, n_sets=20, n_points=15, random_state=0)
    for name, part in found.parts.items():
        with np.errstate(over="ignore"):
            assert_allclose(part, same.parts[name] * scale * scale, rtol=SUMMED)
    assert not any(np.isnan(error) for error in found.standard_error.values())


def test_infinite_noise_leaves_bias_and_variance_finite():
    population = populations.sine(noise=StudentT(2))
    found = bias_variance(DummyRegressor(), population, 10, n_sets=10, random_state=0)
    assert (found.noise, found.total, found.standard_error["total"]) == (np.inf,) * 3
    assert np.isfinite([found.bias_squared, found.variance]).all()
    assert "inf" in str(found)


def test_a_fixed_design_draws_targets_only():
    population = LinearModel([1.0, -1.0], noise=0.5)
    X = population.sample(15, 0)[0]
    found = bias_variance(empirisk.LinearRegression(), population, X=X, random_state=0)
    assert found.points is X
    assert found.standard_error["noise"] == 0
    assert abs(found.bias_squared) < SIGMAS * found.standard_error["bias_squared"]
    assert abs(found.variance - 0.25 * 3 / 15) < SIGMAS * found.standard_error["variance"]
    assert "with the same X" in found.sentence
    grid = np.zeros((1, 2))
    at_zero = bias_variance(Least(), population, X=X, points=grid, random_state=0)
    design = np.c_[np.ones(15), X]
    wanted = 0.25 * np.linalg.inv(design.T @ design)[0, 0]
    assert abs(at_zero.variance - wanted) < SIGMAS * at_zero.standard_error["variance"]


def test_tables_of_any_layout_and_training_sets_of_one_row():
    population = LinearModel([1.0, -1.0])
    X = np.asfortranarray(population.sample(15, 0)[0])
    X.setflags(write=False)
    for learner in (empirisk.LinearRegression(), LinearRegression()):
        found = bias_variance(learner, population, X=X, points=X[::2], n_sets=5, random_state=0)
        same = bias_variance(
            learner, population, X=X.tolist(), points=X[::2].tolist(), n_sets=5, random_state=0
        )
        assert_allclose(found.total, same.total, rtol=SUMMED)
    one = bias_variance(DummyRegressor(), population, 1, n_sets=200, n_points=50, random_state=0)
    assert abs(one.variance - 3) < SIGMAS * one.standard_error["variance"]  # Var(Y)


def test_all_points_of_a_discrete_population_are_used():
    population = populations.polynomial([0, 0, 1.0], features=Points([[0.0], [1.0]], [1, 3]))
    found = bias_variance(DummyRegressor(), population, 8, random_state=0)
    assert_array_equal(found.points, [[0.0], [1.0]])
    # The mean of y has mean 3/4: squared bias 1/4 (3/4)^2 + 3/4 (1/4)^2, variance (1 + 3/16)/8.
    assert abs(found.bias_squared - 3 / 16) < SIGMAS * found.standard_error["bias_squared"]
    assert abs(found.variance - 19 / 128) < SIGMAS * found.standard_error["variance"]
    assert found.noise == 1


def test_the_bayes_rule_has_neither_bias_nor_variance():
    for population in (populations.sine(), GaussianClasses([[0.0], [1.0], [4.0]])):
        found = bias_variance(population.bayes_rule(), population, 5, n_sets=5, random_state=0)
        assert_allclose(found.total, found.noise, rtol=LAST_BITS)
        assert found.variance == 0


def test_training_sets_with_one_class_predict_it():
    population = Bernoulli(0.1, classes=["a", "b"])
    found = bias_variance(LogisticRegression(), population, 2, n_sets=50, random_state=0)
    assert found.bias == 0
    assert 0 < found.variance < 0.3


def test_labels_weights_and_learners_without_seeds():
    population = GaussianClasses(np.eye(3), classes=["x", "y", "z"])
    tree = DecisionTreeClassifier(max_features=1)
    found = bias_variance(tree, population, 30, n_sets=20, n_points=50, random_state=0)
    assert set(found.pointwise["main"]) <= {"x", "y", "z"}
    again = bias_variance(tree, population, 30, n_sets=20, n_points=50, random_state=0)
    assert found.parts == again.parts  # the learner's own randomness comes from the seeds


def test_samplers_without_a_known_variance_use_the_drawn_targets():
    def joint(n, rng):
        X = rng.uniform(size=(n, 1))
        return X, rng.poisson(np.exp(X[:, 0]))

    population = populations.SampledRegression(joint, lambda X: np.exp(X[:, 0]))
    found = bias_variance(Least(), population, 20, random_state=0)
    assert abs(found.noise - (np.e - 1)) < SIGMAS * found.standard_error["noise"]
    assert_allclose(found.noise + found.bias_squared + found.variance, found.total, rtol=LAST_BITS)
    with pytest.raises(ParameterError, match="noise_variance"):
        bias_variance(Least(), population, 20, points=[[0.5]])


def test_pictures_say_what_their_axes_are():
    population = populations.sine()
    found = bias_variance(Least(), population, 10, n_sets=10, n_points=30, random_state=0)
    axes = [found.plot(), found.plot_pointwise(), found.plot_predictions()]
    axes.append(decompose_path(Ridge(), [0.1, 1], population, 10, n_sets=5, n_points=9).plot())
    axes.append(excess_risk(Least(), population, 10, n_sets=5, n_large=100).plot())
    labels = Bernoulli(lambda X: X[:, 0])
    axes.append(bias_variance(Nearest(), labels, 10, n_sets=10, random_state=0).plot_pointwise())
    for ax in axes:
        assert ax.get_xlabel()
        assert ax.get_ylabel()
    assert "richer to the right" in axes[3].get_xlabel()
    assert axes[3].xaxis_inverted()  # a larger penalty is simpler
    heights = [bar.get_width() for bar in axes[0].patches]
    assert_allclose(sum(heights[:3]), heights[3], rtol=SUMMED)
    wide = bias_variance(Least(), LinearModel([1.0, 1.0]), 10, n_sets=5, random_state=0)
    with pytest.raises(DataError, match="one feature"):
        wide.plot_pointwise()


@pytest.mark.parametrize(
    ("ask", "said"),
    [
        (lambda: bias_variance(Least(), np.ones((5, 1)), 5), "give one of risk.populations"),
        (lambda: bias_variance(Least(), populations.sine()), "either n"),
        (lambda: bias_variance(Least(), populations.sine(), 5, X=[[0.0]]), "either n"),
        (lambda: bias_variance(Least(), populations.sine(), 0), "1 row or more"),
        (lambda: bias_variance(Least(), populations.sine(), 5, n_sets=3), "4 or more"),
        (lambda: bias_variance(Least(), populations.sine(), 5, n_points=1), "2 or more"),
        (lambda: bias_variance(Least(), populations.sine(), 5, loss="absolute"), "excess_risk"),
        (lambda: bias_variance(Nearest(), populations.sine(), 5), "is a classifier"),
        (lambda: bias_variance(Least(), Bernoulli(0.5), 5), "not a classifier"),
        (lambda: bootstrap_bias_variance(Least(), *one_data_set(), loss="absolute"), "add up"),
        (lambda: bootstrap_bias_variance(Least(), *one_data_set(), n_resamples=2), "4 or more"),
    ],
)
def test_what_makes_no_sense_is_refused(ask, said):
    with pytest.raises(ParameterError, match=said):
        ask()
