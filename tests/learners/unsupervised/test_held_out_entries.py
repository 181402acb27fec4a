"""Entries held out from their rows, and the number of components they choose."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from empirisk import PCA, Tuned
from empirisk.learners.unsupervised.held_out_entries import entry_losses_along
from tolerances import SUMMED


def rows(n, p, k, rng, strength=2.0):
    signal = rng.normal(size=(n, k)) @ rng.normal(size=(k, p)) * strength / np.sqrt(max(k, 1))
    return signal + rng.normal(size=(n, p))


def slow_losses(train, test, k):
    """One entry after the other: the mean of it given the others, under the Gaussian model."""
    p = train.shape[1]
    mean, S = train.mean(axis=0), np.cov(train.T)
    values, vectors = np.linalg.eigh(S)
    values, V = values[::-1], vectors[:, ::-1]
    noise = values[k:].sum() / (p - k)
    C = V[:, :k] @ np.diag(values[:k] - noise) @ V[:, :k].T + noise * np.eye(p)
    losses = np.zeros(len(test))
    for j in range(p):
        others = np.arange(p) != j
        slope = np.linalg.solve(C[np.ix_(others, others)], C[others, j])
        losses += np.square((test - mean)[:, j] - (test - mean)[:, others] @ slope)
    return losses / values.sum()


@pytest.mark.parametrize("shape", [(40, 6), (10, 15)], ids=["tall", "wide"])
def test_the_formula_is_regression_on_the_other_entries(shape):
    rng = np.random.default_rng(0)
    X, new = rows(*shape, 2, rng), rows(9, shape[1], 2, rng)
    most = min(shape[1], shape[0] - 1) - 1
    pca = PCA(most).fit(X)
    variance, dropped = pca.explained_variance_, (pca.noise_variance_ * (min(shape) - most))
    together = entry_losses_along(
        new - pca.mean_, pca.components_, variance, dropped, range(most + 1)
    )
    for k in range(most + 1):
        slow = slow_losses(X, new, k)
        # Condition numbers up to 1e3.
        assert_allclose(PCA(k).fit(X).losses_of_rows(new, "entries"), slow, rtol=1e-9)
        assert_allclose(together[:, k], slow, rtol=1e-9)


def test_beyond_the_rank_nothing_changes():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, 2)) @ rng.normal(size=(2, 5))
    losses = [PCA(k).fit(X).losses_of_rows(X, "entries") for k in range(6)]
    for k in range(2, 6):
        assert_allclose(losses[k], losses[1], rtol=SUMMED, atol=SUMMED)
    flat = PCA(1).fit(np.ones((4, 3)))
    assert_allclose(flat.losses_of_rows(np.ones((2, 3)), "entries"), 0, rtol=SUMMED)


def test_copies_of_one_row_have_no_axes_to_predict_from():
    X = np.random.default_rng(0).normal(size=(2, 26)) + 1e3
    pca = PCA(1).fit(X, sample_weight=[2, 0])
    assert pca.noise_variance_ == 0
    assert np.isfinite(pca.losses_of_rows(X, "entries")).all()


def test_the_mean_alone_has_loss_one_on_average():
    """The mean of |x - mean|^2 over training rows is (n - 1) / n of the total variance."""
    X = np.random.default_rng(0).normal(size=(20_000, 4))
    found = PCA(0).fit(X).losses_of_rows(X, "entries").mean()
    assert_allclose(found, 1 - 1 / 20_000, rtol=SUMMED)


def test_held_out_rows_always_prefer_more_components_and_held_out_entries_do_not():
    X = rows(60, 8, 2, np.random.default_rng(1))
    path = PCA().reconstruction_path(X, range(1, 8), cv=5)
    assert (np.diff(path.risk) < 0).all()
    tuned = Tuned(PCA(), cv=5).fit(X)
    assert tuned.best_value_ == 2
    assert tuned.path_.rung == "path"
    assert tuned.risk_.loss == "entries"


@pytest.mark.parametrize(("rule", "fewest"), [("best", 12), ("one_se", 18)])
def test_tuned_finds_the_number_of_signals(rule, fewest):
    """A sample of 20 is right with probability 0.88 (300 seen), or 0.99 (100): P(fewer) < 1e-3."""
    right = 0
    for seed in range(20):
        X = rows(100, 12, 3, np.random.default_rng(seed), strength=3.0)
        right += Tuned(PCA(), cv=5, rule=rule).fit(X).best_value_ == 3
    assert right >= fewest


def test_a_lonely_column_of_large_variance_does_not_spoil_the_choice():
    """Least squares on the axes alone would take one component or none."""
    rng = np.random.default_rng(0)
    X = rows(100, 10, 3, rng, strength=3.0)
    X[:, 0] = 10 * rng.normal(size=100)
    assert Tuned(PCA(), cv=10).fit(X).best_value_ == 4
