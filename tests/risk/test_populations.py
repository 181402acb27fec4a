"""Populations: their Bayes risks, the exact risks of rules, and what is drawn from them."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import stats
from scipy.integrate import quad
from sklearn.base import clone
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

from empirisk import risk
from empirisk.losses import Costs, RegressionLoss
from empirisk.risk import populations
from empirisk.risk.populations import (
    Bernoulli,
    Classification,
    Gaussian,
    GaussianClasses,
    Laplace,
    LinearModel,
    Noise,
    Normal,
    Points,
    Regression,
    SampledClasses,
    SampledRegression,
    StudentT,
    Uniform,
)
from empirisk.runtime.errors import ParameterError
from five_sigmas import SIGMAS, within
from tolerances import SUMMED


def test_a_loss_of_ones_own_has_a_bayes_rule():
    class Fourth(RegressionLoss):
        name = "fourth"

        def __call__(self, y, prediction):
            return np.subtract(y, prediction) ** 4

    class Relative(Fourth):
        def __call__(self, y, prediction):
            return np.abs(np.subtract(y, prediction)) / (1 + np.abs(y))

    population = populations.sine()
    found = population.bayes_rule(Fourth()).predict([[0.25], [0.5]])
    assert_allclose(found, [1, 0], rtol=0, atol=1e-06)  # symmetric noise
    within(population.bayes_risk(Fourth(), random_state=0), 3 * 0.3**4)
    assert_allclose(population.bayes_rule(Relative()).predict([[0.5]]), [0], rtol=0, atol=SUMMED)
    assert population.bayes_rule(Relative()).predict([[0.25]])[0] < 1 - 1e-3  # it pulls to 0
    wider = populations.sine(noise=lambda X: 1 + X[:, 0])
    # Golden section knows a minimum to the root of rounding, 1e-8.
    assert_allclose(wider.bayes_rule(Fourth()).predict([[0.25], [0.5]]), [1, 0], rtol=0, atol=1e-7)


def table():
    """A population of five points with everything known."""
    x = np.array([[0.0], [1.0], [2.0], [3.0], [5.0]])
    p = np.array([0.1, 0.2, 0.3, 0.3, 0.1])
    eta = np.array(
        [[0.2, 0.3, 0.5], [0.6, 0.2, 0.2], [1 / 3, 1 / 3, 1 / 3], [0, 1, 0], [0.1, 0, 0.9]]
    )
    return x, p, eta


@pytest.mark.parametrize("loss", ["zero_one", "log", Costs([[0, 1, 4], [2, 0, 1], [1, 3, 0]])])
def test_risks_on_a_table_are_finite_sums(loss):
    x, p, eta = table()
    population = Classification(lambda X: eta[np.searchsorted(x[:, 0], X[:, 0])], Points(x, p))
    model = LogisticRegression().fit(*population.sample(200, 0))
    found = population.true_risk(model, loss)
    total = 0.0
    bound = population.loss_of(loss)
    for i in range(5):
        for k in range(3):
            action = model.predict(x[i : i + 1]) if loss != "log" else model.predict_proba(x[[i]])
            total += p[i] * eta[i, k] * float(bound(np.array([k]), action)[0])
    assert_allclose(found.value, total, rtol=SUMMED)
    assert found.method == "exact"
    least = sum(p[i] * float(bound.bayes_risk(eta[i])) for i in range(5))
    assert_allclose(population.bayes_risk(loss).value, least, rtol=SUMMED)
    within(population.true_risk(model, loss, method="monte_carlo", random_state=0), total)


def test_labels_and_classes_that_a_model_has_not_seen():
    population = Classification([0.5, 0.3, 0.2], classes=["a", "b", "c"])
    X = np.zeros((4, 1))
    model = DecisionTreeClassifier().fit(X, ["a", "a", "b", "b"])
    assert_allclose(population.true_risk(model, random_state=0).value, 0.5, rtol=SUMMED)
    assert np.isfinite(population.true_risk(model, "log", random_state=0).value)
    assert_allclose(population.bayes_risk("log").value, stats.entropy([0.5, 0.3, 0.2]), rtol=SUMMED)
    y = population.sample(100_000, 0)[1]
    shares = [(y == label).mean() for label in "abc"]
    # The standard error of a share is at most 1 / (2 sqrt n).
    assert_allclose(shares, [0.5, 0.3, 0.2], rtol=0, atol=SIGMAS * 0.5 / np.sqrt(100000.0))


@pytest.mark.parametrize(
    "features", [Gaussian([1, -2], [[2, 0.6], [0.6, 1]]), Uniform([-1, 0], [2, 5])]
)
def test_the_risk_of_a_linear_rule_in_a_linear_model_is_exact(features):
    population = LinearModel([1.0, -2.0], 3.0, features=features, noise=Laplace(0.5))
    rule = make_pipeline(StandardScaler(), LinearRegression()).fit(*population.sample(12, 0))
    exact = population.true_risk(rule)
    assert exact.method == "exact"
    within(population.true_risk(rule, method="monte_carlo", random_state=1), exact.value)


@pytest.mark.parametrize("loss", ["absolute", "quantile:0.7"])
def test_all_losses_are_exact_in_a_gaussian_linear_model(loss):
    population = LinearModel([1.0, -2.0], features=Gaussian([3, 1], [2, 1]), noise=0.5)
    model = LinearRegression().fit(*population.sample(12, 0))
    exact = population.true_risk(model, loss)
    assert exact.method == "exact"
    within(population.true_risk(model, loss, method="monte_carlo", random_state=1), exact.value)


def one_dimensional_risk(population, rule, costs=(1, 1)):
    """P_0 C(1|0) P(rule = 1 | 0) + P_1 C(0|1) P(rule = 0 | 1) by quadrature."""
    total = 0.0
    for k in (0, 1):
        law = stats.norm(population.means[k, 0], np.sqrt(population.covariances[k, 0, 0]))
        wrong = quad(lambda x: law.pdf(x) * (rule(x) != k), -15, 15, limit=500, points=[0, 1, 2])[0]  # noqa: B023
        total += population.priors[k] * costs[k] * wrong
    return total


@pytest.mark.parametrize("covariance", [0.5, [[[0.5]], [[2.0]]]])
def test_the_risk_of_a_linear_rule_between_gaussian_classes(covariance):
    population = GaussianClasses([[1.0], [3.0]], covariance, priors=[1, 3], classes=["a", "b"])
    model = LogisticRegression(C=0.1).fit(*population.sample(40, 0))
    cut = -model.intercept_[0] / model.coef_[0, 0]
    exact = population.true_risk(model)
    assert exact.method == "exact"
    wanted = one_dimensional_risk(population, lambda x: x > cut)
    assert_allclose(exact.value, wanted, rtol=0, atol=1.5e-8)  # where quad stops
    costly = population.true_risk(model, "asymmetric:1,4")
    wanted = one_dimensional_risk(population, lambda x: x > cut, (1, 4))
    assert_allclose(costly.value, wanted, rtol=0, atol=4 * 1.5e-8)  # of four times that
    within(population.true_risk(model, method="monte_carlo", random_state=0), exact.value)


def test_the_bayes_risk_of_two_gaussians():
    # Five digits are printed in the notes.
    assert_allclose(populations.two_gaussians().bayes_risk().value, 0.07865, rtol=0, atol=5e-06)
    assert_allclose(populations.two_gaussians(1).bayes_risk().value, 0.23975, rtol=0, atol=5e-6)
    covariance = [[2, 0.5, 0], [0.5, 1, 0.2], [0, 0.2, 1]]
    means = np.array([[0, 1, 2], [1, 1, 0.5]])
    population = GaussianClasses(means, covariance)
    gap = means[1] - means[0]
    distance = np.sqrt(gap @ np.linalg.inv(covariance) @ gap)
    assert_allclose(population.bayes_risk().value, stats.norm.cdf(-distance / 2), rtol=SUMMED)
    within(
        population.bayes_risk(method="monte_carlo", random_state=0), stats.norm.cdf(-distance / 2)
    )


def test_the_bayes_risk_with_priors_and_costs():
    population = GaussianClasses([[0.0], [1.5]], 1.0, priors=[0.8, 0.2])
    exact = population.bayes_risk("asymmetric:1,3")
    cut = 0.75 + np.log(0.8 / (3 * 0.2)) / 1.5
    wanted = 0.8 * stats.norm.sf(cut) + 0.6 * stats.norm.cdf(cut - 1.5)
    assert_allclose(exact.value, wanted, rtol=SUMMED)
    monte_carlo = population.bayes_risk("asymmetric:1,3", method="monte_carlo", random_state=0)
    within(monte_carlo, exact.value)
    assert population.bayes_risk("asymmetric:1,0").value == 0


def test_three_classes_of_different_covariance():
    means, variances, priors = [[0.0], [2.0], [3.0]], [1.0, 0.25, 4.0], [0.3, 0.5, 0.2]
    population = GaussianClasses(means, np.reshape(variances, (3, 1, 1)), priors=priors)
    laws = [stats.norm(m[0], np.sqrt(v)) for m, v in zip(means, variances, strict=True)]

    def best(x):
        return max(p * law.pdf(x) for p, law in zip(priors, laws, strict=True))

    kept = quad(best, -30, 30, points=[0, 1, 2, 3, 4], limit=500)[0]
    within(population.bayes_risk(random_state=0), 1 - kept)
    grid = np.linspace(-5, 8, 40)[:, None]
    joint = np.column_stack([p * law.pdf(grid[:, 0]) for p, law in zip(priors, laws, strict=True)])
    posterior = joint / joint.sum(axis=1, keepdims=True)
    assert_allclose(population.class_probabilities(grid), posterior, rtol=SUMMED)


def test_gaussian_classes_far_away_have_probabilities_too():
    population = GaussianClasses([[0.0, 0.0], [1.0, 1.0]], [[[1, 0], [0, 1]], [[4, 0], [0, 4]]])
    far = population.class_probabilities([[1e200, -1e200], [1e-200, 0.0], [-1e300, 1e10]])
    assert np.isfinite(far).all()
    assert_array_equal(far[[0, 2]], [[0, 1], [0, 1]])  # the wider class


def test_samples_have_the_moments_of_their_population():
    covariance = np.array([[2.0, 0.5], [0.5, 1.0]])
    population = GaussianClasses([[0, 1], [3, -1]], covariance, priors=[0.25, 0.75])
    X, y = population.sample(100_000, 0)
    error = np.sqrt(0.75 * 0.25 / 1e5)  # the standard error of the share
    assert abs((y == 1).mean() - 0.75) < SIGMAS * error
    within_class = X[y == 0] - [0, 1]
    assert_allclose(
        np.cov(within_class.T), covariance, rtol=0, atol=SIGMAS * 2 * np.sqrt(2 / 24000.0)
    )
    assert_allclose(
        X.mean(axis=0), population.features.mean, rtol=0, atol=SIGMAS * 2 / np.sqrt(100000.0)
    )
    spread = np.cov(X.T) - population.features.covariance
    assert np.abs(spread).max() < SIGMAS * 6 * np.sqrt(2 / 1e5)


def test_targets_given_x_follow_the_class_probabilities():
    population = GaussianClasses([[0.0], [1.0]])
    X = np.full((50_000, 1), 0.2)
    share = (population.sample_targets(X, 0) == 1).mean()
    p = population.class_probabilities(X[:1])[0, 1]
    assert abs(share - p) < SIGMAS * np.sqrt(p * (1 - p) / 5e4)


def test_the_same_number_gives_the_same_rows():
    population = populations.friedman()
    for a, b in zip(population.sample(7, 3), population.sample(7, 3), strict=True):
        assert_array_equal(a, b)
    rng = np.random.default_rng(0)
    assert not np.array_equal(population.sample(7, rng)[1], population.sample(7, rng)[1])
    assert not np.array_equal(population.sample(7)[1], population.sample(7)[1])


def test_a_bayes_rule_is_an_estimator():
    population = Bernoulli(lambda X: X[:, 0], classes=["no", "yes"])
    rule = clone(population.bayes_rule())
    assert_array_equal(rule.fit(None).predict([[0.2], [0.7]]), ["no", "yes"])
    assert_allclose(rule.predict_proba([[0.2]]), [[0.8, 0.2]], rtol=SUMMED)
    X, y = population.sample(2000, 0)
    # The log loss has a mean and a standard deviation of 1/2: five standard errors.
    assert_allclose(risk.evaluate(rule, X, y, loss="log").value, 0.5, rtol=0, atol=0.056)
    assert population.bayes_rule("log").predict([[0.7]])[0] == "yes"
    assert clone(populations.sine().bayes_rule()).predict([[0.25]])[0] == 1


def test_two_risks_of_the_same_draws_can_be_subtracted():
    population = populations.sine()
    good = population.true_risk(lambda X: np.sin(6 * X[:, 0]), random_state=0)
    bad = population.true_risk(lambda X: np.sin(5 * X[:, 0]), random_state=0)
    gap = bad - good
    assert gap.interval[0] > 0
    assert gap.standard_error < np.hypot(good.standard_error, bad.standard_error)
    assert "Monte Carlo" in good.sentence
    other = populations.sine(cycles=2).true_risk(lambda X: X[:, 0], random_state=0)
    assert len({good.fingerprint, other.fingerprint}) == 2


def frame(n, rng):
    return pd.DataFrame({"a": rng.uniform(size=n), "b": rng.choice(["x", "y"], n)})


def test_samplers_of_ones_own_with_data_frames():
    def f(X):
        return X["a"] + (X["b"] == "x")

    population = Regression(f, frame, noise=0.5)
    X, y = population.sample(500, 0)
    assert (type(X), len(y)) == (pd.DataFrame, 500)
    within(population.true_risk(lambda X: X["a"], random_state=0), 0.25 + 0.5)

    def joint(n, rng):
        X = frame(n, rng)
        return X, rng.poisson(f(X))

    counts = SampledRegression(joint, f, noise_variance=f)
    within(counts.bayes_risk(random_state=0), 1)
    assert counts.bayes_risk(random_state=0).reason.endswith("y exact")
    unknown = SampledRegression(joint, f)
    within(unknown.bayes_risk(random_state=0), 1)
    with pytest.raises(ParameterError, match="only the mean"):
        unknown.bayes_rule("absolute").predict(X)
    with pytest.raises(ParameterError, match="fixed design"):
        unknown.sample_targets(X)


def test_a_joint_sampler_of_classes():
    def probabilities(X):
        return np.column_stack([1 - X["a"], X["a"]])

    def joint(n, rng):
        X = frame(n, rng)
        return X, np.where(rng.random(n) < X["a"], "yes", "no")

    population = SampledClasses(joint, probabilities, ["no", "yes"])
    within(population.bayes_risk(random_state=0), 0.25)
    within(population.true_risk(lambda X: np.full(len(X), "yes"), random_state=0), 0.5)


def test_infinite_variance_is_said():
    population = populations.sine(noise=StudentT(2))
    assert population.bayes_risk().value == np.inf
    assert np.isfinite(population.bayes_risk("absolute").value)


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: Uniform(1, 0), "low must be below high"),
        (lambda: Gaussian([0, 0], [[1, 2], [0, 1]]), "symmetric"),
        (lambda: Gaussian([0, 0], [[1, 2], [2, 1]]), "negative eigenvalue"),
        (lambda: Gaussian(np.inf), "finite"),
        (lambda: StudentT(1), "df > 1"),
        (lambda: Noise(stats.cauchy()), "no finite mean"),
        (lambda: Normal(-1), ">= 0"),
        (lambda: LinearModel([]), "vector"),
        (lambda: LinearModel([1, 2], features=Gaussian()), "coefficients"),
        (lambda: GaussianClasses([[0.0]]), "two or more"),
        (lambda: GaussianClasses([[0.0], [1.0]], 0.0), "singular"),
        (lambda: GaussianClasses([[0.0], [1.0]], np.ones((3, 1, 1))), "3 covariances"),
        (lambda: GaussianClasses([[0.0], [1.0]], priors=[1, 0]), "> 0"),
        (lambda: Classification([0.5, 0.5], classes=["b", "a"]), "sorted"),
        (lambda: populations.friedman(4), "five"),
        (lambda: populations.sine().true_risk(3), "fitted estimator or a function"),
        (lambda: populations.sine().true_risk(np.sum, method="guess"), "choose"),
        (lambda: populations.sine().bayes_risk("zero_one"), "population for regression"),
        (lambda: Regression(lambda X: X).sample(5), "one finite number for each row"),
        (lambda: Bernoulli(lambda X: X[:2, 0]).sample(5), "wanted"),
        (lambda: Regression(np.sum, features=3), "sampler"),
        (lambda: populations.sine(features=lambda n, rng: np.ones((2, 1))).sample(5), "5 rows"),
    ],
)
def test_what_makes_no_sense_is_refused(make, said):
    with pytest.raises(ValueError, match=said):
        make()


def test_samplers_that_give_nonsense_are_refused():
    def numbers(n, rng):
        return np.zeros((n, 1)), np.full(n, np.nan)

    with pytest.raises(ParameterError, match="not finite"):
        SampledRegression(numbers, lambda X: X[:, 0]).sample(5)

    def labels(n, rng):
        return np.zeros((n, 1)), np.full(n, "maybe")

    with pytest.raises(ParameterError, match="others than"):
        SampledClasses(labels, lambda X: np.full((len(X), 2), 0.5), ["no", "yes"]).sample(5)
