"""Gaussian mixtures beside mclust 6 of R: as high a likelihood at the defaults, its criteria.

The numbers are in mclust.json, made by mclust.R. faithful and iris are R's, diabetes and
acidity mclust's.
"""

import json
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import load_iris

from empirisk import GaussianMixture, datasets

R = json.loads((Path(__file__).parent / "mclust.json").read_text())
geyser = datasets.faithful()
DATA = {
    "faithful": np.column_stack([geyser[name].numbers() for name in ("eruptions", "waiting")]),
    "diabetes": np.array(R["diabetes"], dtype=float),
    "acidity": np.array(R["acidity"])[:, np.newaxis],
    "iris": load_iris().data,
}
FITS = R["fits"]


def name(fit):
    return f"{fit['data']}-{fit['covariance_type']}-{fit['n_components']}"


@pytest.mark.parametrize("fit", FITS, ids=name)
def test_at_the_defaults_the_likelihood_is_at_least_as_high(fit):
    X = DATA[fit["data"]]
    mixture = GaussianMixture(
        fit["n_components"], covariance_type=fit["covariance_type"], random_state=0
    ).fit(X)
    # Where both reach the same maximum they stop a little before it: mclust where a step gains
    # 1e-5 of the log-likelihood, we where it gains 1e-6 for each row.
    assert mixture.score(X) * len(X) >= fit["log_likelihood"] - 1e-6 * len(X)
    assert mixture._n_parameters() == fit["df"]


@pytest.mark.slow
@pytest.mark.parametrize("fit", FITS, ids=name)
def test_whatever_the_seed(fit):
    X = DATA[fit["data"]]
    for seed in range(1, 8):
        mixture = GaussianMixture(
            fit["n_components"], covariance_type=fit["covariance_type"], random_state=seed
        ).fit(X)
        assert mixture.score(X) * len(X) >= fit["log_likelihood"] - 1e-6 * len(X)


def test_the_published_fit_of_diabetes():
    """mclust 6.1.3, vignette: VVV with 3 components, -2295.118; it corrected a glucose to 455."""
    X = DATA["diabetes"].copy()
    X[X[:, 1] == 45, 1] = 455
    mixture = GaussianMixture(3, random_state=0).fit(X)
    # It stops where a step gains less than 1e-5 of the log-likelihood, 0.02, and we later.
    assert -2295.118 < mixture.score(X) * len(X) < -2295.118 + 0.05
    assert mixture.bic(X) == pytest.approx(4734.561, abs=0.1)  # minus twice that
    assert mixture.icl(X) == pytest.approx(4749.16, abs=1.0)  # of posteriors further on
    assert np.sort(np.bincount(mixture.predict(X))).tolist() == [28, 35, 82]
    order = np.argsort(-mixture.weights_)
    # The maximum is flat: a gain of 0.025 is a move by up to sqrt(2 * 0.025) = 0.22 standard
    # errors, which are 0.04 of a weight and 6 % of the last mean.
    assert mixture.weights_[order] == pytest.approx([0.555363, 0.2479432, 0.1966939], abs=0.01)
    assert mixture.means_[order, 0] == pytest.approx([91.35843, 104.6401, 230.32908], rel=0.01)


WITH_MATRICES = [fit for fit in R["fits"] if fit.get("variance")]


@pytest.mark.parametrize("fit", WITH_MATRICES, ids=name)
def test_the_criteria_of_the_same_parameters(fit):
    X, K = DATA[fit["data"]], fit["n_components"]
    covariances = np.moveaxis(np.array(fit["variance"]).reshape(X.shape[1], X.shape[1], K), 2, 0)
    mixture = GaussianMixture(
        K, weights_init=fit["weights"], means_init=np.array(fit["means"]).T,
        precisions_init=np.linalg.inv(covariances), max_iter=0,
    ).fit(X)  # fmt: skip
    # R prints 12 digits of matrices whose condition is below 1e4: 1e-8 of the densities.
    assert mixture.score(X) * len(X) == pytest.approx(fit["log_likelihood_at"], rel=1e-7)
    assert mixture.bic(X) == pytest.approx(-fit["bic_at"], rel=1e-7)
    assert mixture.icl(X) == pytest.approx(-fit["icl_at"], rel=1e-6)
