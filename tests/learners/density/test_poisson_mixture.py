"""Mixtures of Poisson counts: a second latent model for the same solver."""

from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.special import logsumexp
from scipy.stats import poisson

from empirisk import PoissonMixture, Tuned
from empirisk.learners.density.poisson_model import stirling
from empirisk.runtime.errors import DataError, ParameterError
from tolerances import SOLVED, SUMMED

RATES, SHARES = np.array([[2.0, 9.0, 0.5], [8.0, 1.0, 3.0]]), np.array([0.6, 0.4])


def counts(n=300, seed=0):
    rng = np.random.default_rng(seed)
    group = rng.choice(2, p=SHARES, size=n)
    return rng.poisson(RATES[group]).astype(float)


X = counts()


def naive_joint(mixture, X):
    log_mass = poisson.logpmf(X[:, None], mixture.rates_)
    return np.log(mixture.weights_) + np.where(np.isnan(X)[:, None], 0.0, log_mass).sum(axis=2)


def test_densities_are_those_of_the_parameters():
    mixture = PoissonMixture(2, random_state=0).fit(X)
    rows = X[:40].copy()
    rows[3, 1], rows[5] = np.nan, np.nan
    joint = naive_joint(mixture, rows)
    total = logsumexp(joint, axis=1)
    assert_allclose(mixture.score_samples(rows), total, rtol=SUMMED, atol=SUMMED)
    assert_allclose(mixture.predict_proba(rows), np.exp(joint - total[:, None]), rtol=SUMMED)
    assert mixture.score(rows) == pytest.approx(total.mean(), rel=SUMMED)
    assert mixture.lower_bound_ == pytest.approx(mixture.score(X), abs=1e-9)  # the last gain


@pytest.mark.parametrize("missing", [False, True])
def test_a_step_is_that_of_naive_lines(missing):
    rows = X.copy()
    if missing:
        rows[np.random.default_rng(1).random(X.shape) < 0.2] = np.nan
        rows = rows[~np.isnan(rows).all(axis=1)]  # which say nothing
    before = PoissonMixture(2, init_params="hierarchical", max_iter=3, tol=0.0).fit(rows)
    after = PoissonMixture(2, init_params="hierarchical", max_iter=4, tol=0.0).fit(rows)
    joint = naive_joint(before, rows)
    r = np.exp(joint - logsumexp(joint, axis=1, keepdims=True))
    seen = ~np.isnan(rows)
    assert_allclose(after.weights_, r.mean(axis=0), rtol=SUMMED)
    assert_allclose(after.rates_, r.T @ np.where(seen, rows, 0.0) / (r.T @ seen), rtol=SUMMED)
    assert_allclose(after.lower_bound_, logsumexp(joint, axis=1).mean(), rtol=SUMMED)


def test_the_parameters_are_found():
    mixture = PoissonMixture(2, random_state=0).fit(counts(20_000))
    order = mixture.rates_[:, 0].argsort()
    # Five standard errors of a mean of 8,000 counts of variance 9 at most: probability below 1e-5.
    assert_allclose(mixture.rates_[order], RATES, rtol=0, atol=5 * np.sqrt(9 / 8000) * 1.1)
    assert_allclose(mixture.weights_[order], SHARES, rtol=0, atol=5 * np.sqrt(0.24 / 20000) * 1.1)


def test_weights_are_copies():
    weight = np.random.default_rng(2).integers(0, 4, size=len(X))
    copies = np.repeat(np.arange(len(X)), weight)
    weighted = PoissonMixture(3, init_params="hierarchical").fit(X, sample_weight=weight)
    repeated = PoissonMixture(3, init_params="hierarchical").fit(X[copies])
    assert_allclose(weighted.rates_, repeated.rates_, rtol=SUMMED)
    assert weighted.icl(X, weight) == pytest.approx(repeated.icl(X[copies]), rel=SUMMED)


def test_the_number_of_groups_by_rows_held_out():
    tuned = Tuned(PoissonMixture(random_state=0), values=[1, 2, 3], cv=4, random_state=0).fit(X)
    assert tuned.best_value_ == 2


def test_unseen_counts_are_improbable_not_impossible():
    rows = np.array([[0.0, 5.0], [0.0, 6.0], [7.0, 0.0], [8.0, 0.0]])
    mixture = PoissonMixture(2, random_state=0).fit(rows)
    assert np.isfinite(mixture.score_samples([[3.0, 3.0]])).all()
    assert mixture.score_samples([[3.0, 3.0]]) < -20


def test_a_column_of_zeros_is_no_trouble():
    rows = np.column_stack([X, np.zeros(len(X))])
    mixture = PoissonMixture(2, random_state=0).fit(rows)
    assert_array_equal(mixture.rates_[:, 3], 0.0)
    plain = PoissonMixture(2, random_state=0).fit(X)
    assert mixture.score(rows) == pytest.approx(plain.score(X), rel=SUMMED)
    rows[0, 3] = 1.0
    assert mixture.score_samples(rows)[0] == -np.inf


def test_large_counts_keep_their_digits():
    """At a billion, x log l - l - log x! in double precision would be wrong by 1e-6."""
    rng = np.random.default_rng(3)
    rows = np.concatenate([rng.poisson(1e9, (50, 1)), rng.poisson(1.001e9, (50, 1))]).astype(float)
    mixture = PoissonMixture(2, random_state=0).fit(rows)
    exact = logsumexp(
        np.log(mixture.weights_)
        + np.array(
            [[exact_poisson(x, rate) for rate in mixture.rates_[:, 0]] for x in rows[:9, 0]]
        ),
        axis=1,
    )
    assert_allclose(mixture.score_samples(rows[:9]), exact, rtol=SOLVED, atol=SOLVED)


def exact_poisson(x, rate):
    """-(x - rate) ^ 2 / (2 rate) and the further terms, by a series about the rate: log(1 + d)."""
    d = float((Fraction(x) - Fraction(rate)) / Fraction(rate))
    deviance = x * (np.log1p(d) - d / (1 + d))  # x log(x/rate) - (x - rate)
    return -deviance - 0.5 * np.log(2 * np.pi * x) - 1 / (12 * x)


def test_stirling_is_the_logarithm_of_the_factorial():
    x = np.array([0.0, 0.5, 3.0, 29.9, 30.0, 31.0, 170.0])
    exact = x * np.log(np.where(x > 0, x, 1.0)) - x - np.array([log_factorial(v) for v in x])
    assert_allclose(stirling(x), exact, rtol=SUMMED, atol=SUMMED)


def log_factorial(x):
    from scipy.special import loggamma

    return float(loggamma(x + 1))


def test_huge_counts_have_a_group():
    mixture = PoissonMixture(2, random_state=0).fit(X)
    posterior = mixture.predict_proba([[1e308, 1e308, 1e308], [1e200, 0.0, np.nan]])
    assert_allclose(posterior.sum(axis=1), 1.0, rtol=SUMMED)


def test_draws_are_counts_of_the_groups():
    mixture = PoissonMixture(2, random_state=0).fit(X)
    rows, labels = mixture.sample(5000)
    assert_array_equal(rows, np.round(rows))
    for k in range(2):
        here = rows[labels == k]
        error = np.sqrt(mixture.rates_[k] / len(here))
        # Five standard errors, six means: probability below 1e-5.
        assert (np.abs(here.mean(axis=0) - mixture.rates_[k]) < 5 * error).all()
    with pytest.raises(ParameterError, match="n_samples"):
        mixture.sample(-1)


def test_errors_are_clear():
    with pytest.raises(DataError, match="column 1"):
        PoissonMixture().fit([[1.0, -1.0], [2.0, 3.0]])
    with pytest.raises(DataError, match="column 'visits' has some"):
        PoissonMixture().fit(pd.DataFrame({"age": [1.0, 2.0], "visits": [-1.0, 3.0]}))
    with pytest.raises(DataError, match="2 different row"):
        PoissonMixture(3).fit([[1.0], [2.0], [2.0], [1.0]])
    with pytest.raises(ParameterError, match="rate_floor is 2"):
        PoissonMixture(rate_floor=2).fit(X)
    with pytest.raises(ParameterError, match="init_params is 'luck'"):
        PoissonMixture(init_params="luck").fit(X)


def test_counts_that_no_component_knows_have_a_group():
    rows = np.column_stack([X, np.zeros(len(X))])
    mixture = PoissonMixture(2, random_state=0).fit(rows)
    strange = rows + [0.0, 0.0, 0.0, 1.0]
    assert_allclose(mixture.predict_proba(strange), mixture.predict_proba(rows), rtol=SUMMED)
    assert_array_equal(mixture.predict(strange), mixture.predict(rows))


def test_rows_without_a_value_say_nothing():
    empty = np.full((5, 3), np.nan)
    one = PoissonMixture(2, random_state=0).fit(X)
    other = PoissonMixture(2, random_state=0).fit(np.concatenate([X, empty]))
    assert_array_equal(one.rates_, other.rates_)
    with pytest.raises(DataError, match="no row with a value"):
        PoissonMixture(1).fit(empty)


def test_draws_of_huge_rates():
    drawn = PoissonMixture(1).fit(X * 1e25).sample(50, random_state=0)[0]
    assert_allclose(drawn, np.tile(X.mean(axis=0) * 1e25, (50, 1)), rtol=SOLVED)
