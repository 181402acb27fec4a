"""Statements of the lecture notes on naive Bayes (B7.4.3), and what follows from independence.

The denominator of the estimates counts the rows of the class in which the column is there.
"""

from itertools import product

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from scipy import stats
from scipy.integrate import quad

from empirisk import NaiveBayes
from naive_bayes_twin import ASKED, mixed_table
from tolerances import SUMMED


def densities(model, k):
    """The density of each single column in class k, from the parameters alone."""
    size, word, truth, visits = (
        {key: own[k] for key, own in model.parameters(name).items()}
        for name in ("size", "word", "truth", "visits")
    )
    levels = model.columns_[1].values
    return {
        "size": stats.norm(size["mean"], size["deviation"]).pdf,
        "word": lambda level: word["share"][levels.index(level)],
        "truth": lambda value: truth["share"][int(value)],
        "visits": stats.poisson(visits["rate"]).pmf,
    }


def small_model():
    table, y = mixed_table(90, holes=0.1)
    table = table[["size", "word", "truth", "visits"]]
    return NaiveBayes(distributions={"visits": "poisson"}).fit(table, y)


def integrals(model, k):
    """Over all values of a column, given a function of its density."""
    g = densities(model, k)
    return {
        "size": lambda rest: quad(lambda x: rest * g["size"](x), -30, 30, points=[0, 1, 2])[0],
        "word": lambda rest: sum(rest * g["word"](v) for v in model.columns_[1].values),
        "truth": lambda rest: sum(rest * g["truth"](v) for v in (0, 1)),
        "visits": lambda rest: sum(rest * g["visits"](v) for v in range(200)),
    }


@pytest.mark.parametrize("missing", ["size", "word", "truth", "visits"])
def test_7_4_3_marginalising_a_missing_feature_leaves_the_product_over_the_others(missing):
    model = small_model()
    row = {"size": 0.7, "word": "q", "truth": 1, "visits": 2}
    posterior = []
    for k in range(3):
        g = densities(model, k)
        others = np.prod([g[name](row[name]) for name in row if name != missing])
        marginal = integrals(model, k)[missing](others)
        assert_allclose(marginal, others, rtol=1e-7)  # the accuracy of the quadrature
        posterior.append(model.class_prior_[k] * marginal)
    hole = pd.DataFrame({name: pd.Series([row[name]]) for name in row})
    hole["truth"] = hole["truth"].astype("boolean")
    hole[missing] = hole[missing].mask([True])
    assert_allclose(model.predict_proba(hole)[0], np.array(posterior) / sum(posterior), rtol=SUMMED)


def test_7_4_3_a_missing_count_of_a_multinomial_is_summed_over():
    """Given the sum s of the others, any number of the missing count: sums over it agree."""
    table, y = mixed_table(90, holes=0.1)
    names = ["apples", "pears", "plums"]
    model = NaiveBayes(distributions="multinomial").fit(table[names], y)
    seen = pd.DataFrame({"apples": [3.0], "pears": [1.0], "plums": [np.nan]})
    posterior = []
    for k in range(3):
        share = np.array([model.parameters(name)["share"][k] for name in names])
        # P(3, 1, m) / P(sum of the first two is 4) for every m, with a total of 4 + m counts.
        joint = sum(stats.multinomial(4 + m, share).pmf([3, 1, m]) for m in range(60))
        given = sum(stats.binom(4 + m, share[:2].sum()).pmf(4) for m in range(60))
        posterior.append(model.class_prior_[k] * joint / given)
    expected = np.array(posterior) / sum(posterior)
    # Terms of the sums beyond 60 are below 1e-12.
    assert_allclose(model.predict_proba(seen)[0], expected, rtol=1e-9)


def finite_population(seed, dependent=False):
    """Every row of three discrete features in three classes, with its probability."""
    rng = np.random.default_rng(seed)
    prior = rng.dirichlet(np.ones(3))
    shares = [rng.dirichlet(np.ones(c), size=3) for c in (2, 3, 4)]
    rows = list(product(range(3), range(2), range(3), range(4)))
    weight = np.array(
        [prior[k] * np.prod([s[k, v] for s, v in zip(shares, x, strict=True)]) for k, *x in rows]
    )
    if dependent:  # the first feature repeats the second, as far as it can
        weight = weight * [5.0 if x[1] == x[2] else 1.0 for x in rows]
        weight /= weight.sum()
    rows = np.array(rows)
    return rows[:, 1:], rows[:, 0], weight


def bayes_probabilities(X, y, weight):
    """P(class | features) in a finite population."""
    joint = {}
    for x, k, w in zip(map(tuple, X.tolist()), y, weight, strict=True):
        joint.setdefault(x, np.zeros(3))[k] += w
    return np.array([joint[tuple(x)] / joint[tuple(x)].sum() for x in X.tolist()])


@pytest.mark.parametrize("seed", range(5))
def test_with_independent_features_naive_bayes_is_the_bayes_rule(seed):
    X, y, weight = finite_population(seed)
    model = NaiveBayes(0.0, distributions="categorical").fit(X, y, sample_weight=weight)
    known = bayes_probabilities(X, y, weight)
    # Sums of 72 probabilities, down to 1e-6.
    assert_allclose(model.predict_proba(X), known, rtol=1e-9, atol=1e-14)
    risk = weight[model.predict(X) != y].sum()
    assert_allclose(
        risk, 1 - sum(w * p.max() for w, p in zip(weight, known, strict=True)), rtol=SUMMED
    )


def test_with_dependent_features_it_is_not():
    X, y, weight = finite_population(0, dependent=True)
    model = NaiveBayes(0.0, distributions="categorical").fit(X, y, sample_weight=weight)
    assert np.abs(model.predict_proba(X) - bayes_probabilities(X, y, weight)).max() > 0.01


def test_with_many_rows_of_independent_gaussians_it_comes_close_to_the_bayes_rule():
    rng = np.random.default_rng(0)
    mean, deviation = rng.normal(size=(2, 3)), rng.uniform(0.5, 2, size=(2, 3))
    y = rng.integers(0, 2, size=40_000)
    X = mean[y] + deviation[y] * rng.normal(size=(40_000, 3))
    f = np.stack([stats.norm(mean[k], deviation[k]).logpdf(X[:2000]).sum(1) for k in (0, 1)], 1)
    known = np.exp(f - np.logaddexp(*f.T)[:, None])
    # Parameters are off by some 1 / sqrt(20,000) = 0.007.
    assert np.abs(NaiveBayes().fit(X, y).predict_proba(X[:2000]) - known).mean() < 0.02


def log_likelihood(kind, cells, parameter):
    if kind == "gaussian":
        return stats.norm(*parameter).logpdf(cells).sum()
    if kind == "poisson":
        return stats.poisson(parameter).logpmf(cells).sum()
    return float(np.dot(cells, np.log(parameter)))  # counts of levels


def perturbed(kind, parameter, size, rng):
    factor = np.exp(size * rng.normal(size=np.shape(parameter)))
    if kind == "gaussian":
        return parameter[0] + size * rng.normal(), parameter[1] * factor[1]
    if kind == "poisson":
        return parameter * float(factor)
    return parameter * factor / (parameter * factor).sum()


@pytest.mark.parametrize("seed", range(3))
def test_estimates_without_smoothing_are_of_maximum_likelihood(seed):
    """Of each distribution, in each class, on the cells that are there."""
    table, y = mixed_table(200, holes=0.2, seed=seed)
    model = NaiveBayes(0.0, distributions=ASKED).fit(table, y)
    counts = ["apples", "pears", "plums"]
    whole = table[counts].notna().all(axis=1).to_numpy()
    multinomial = NaiveBayes(0.0, distributions="multinomial")
    multinomial.fit(table.loc[whole, counts], y[whole])
    rng = np.random.default_rng(seed)
    for k, label in enumerate(model.classes_):
        own = table[y == label]
        size, visits = model.parameters("size"), model.parameters("visits")
        word, truth = model.parameters("word")["share"][k], model.parameters("truth")["share"][k]
        levels = [int((own["word"] == level).sum()) for level in model.columns_[2].values]
        seen = np.array(levels) > 0
        yes = int(own["truth"].sum())
        shares = np.array([multinomial.parameters(name)["share"][k] for name in counts])
        cases = [
            ("gaussian", own["size"].dropna(), (size["mean"][k], size["deviation"][k])),
            ("poisson", own["visits"].dropna(), visits["rate"][k]),
            ("categorical", np.array(levels)[seen], word[seen]),
            ("bernoulli", np.array([own["truth"].notna().sum() - yes, yes]), truth),
            ("multinomial", own.loc[whole[y == label], counts].sum().to_numpy(), shares),
        ]
        for kind, cells, best in cases:
            most = log_likelihood(kind, cells, best)
            for change in (1e-3, 1e-2, 0.1, 0.5):
                other = perturbed(kind, best, change, rng)
                # At a maximum the loss is of second order: 50 cells times 1e-6, above rounding.
                assert log_likelihood(kind, cells, other) < most, kind


def test_7_4_3_the_denominator_counts_the_rows_in_which_the_column_is_there():
    X = pd.DataFrame({"c": ["u", "u", "v", None, None, "v"]})
    model = NaiveBayes(0.0).fit(X, [0, 0, 0, 0, 0, 1])
    assert_allclose(
        model.parameters("c")["share"][0], [2 / 3, 1 / 3], rtol=SUMMED
    )  # not 2 / 5, 1 / 5
