"""PCA beside R's prcomp and princomp. The numbers are in prcomp.json, made by prcomp.R."""

import json
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose

from empirisk import PCA
from tolerances import SUMMED

R = json.loads((Path(__file__).parent / "prcomp.json").read_text())


@pytest.mark.parametrize("name", ["USArrests", "iris"])
@pytest.mark.parametrize("way", ["auto", "full"])
def test_the_components_of_prcomp_and_princomp(name, way):
    known = R[name]
    X = np.array(known["X"])
    pca = PCA(correlation=known["correlation"], svd_solver=way).fit(X)
    # Condition numbers below 1e2, double precision; R prints 17 digits.
    assert_allclose(np.sqrt(pca.explained_variance_), known["prcomp_sdev"], rtol=1e-12)
    rotation = np.array(known["prcomp_rotation"]).T
    sign = np.sign((pca.components_ * rotation).sum(axis=1, keepdims=True))
    assert_allclose(pca.components_, sign * rotation, rtol=0, atol=SUMMED)
    scores = np.array(known["prcomp_scores"]) * sign.T
    assert_allclose(pca.encode(X)[:3], scores, rtol=0, atol=SUMMED)
    # With divisor n; of the correlation matrix princomp's divisor cancels.
    n = len(X)
    shrink = 1.0 if known["correlation"] else np.sqrt((n - 1) / n)
    assert_allclose(np.sqrt(pca.explained_variance_) * shrink, known["princomp_sdev"], rtol=SUMMED)
