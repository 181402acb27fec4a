"""Densities in `compare` and `select`: nothing to predict, held-out likelihood to choose by."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.mixture import GaussianMixture as PeerMixture

from empirisk import PCA, ParametricDensity, compare, load, save, select
from empirisk.runtime.errors import ParameterError
from tolerances import SUMMED


@pytest.fixture
def rows():
    return np.exp(0.7 * np.random.default_rng(0).normal(size=(160, 1)))


RIVALS = {
    "gaussian": ParametricDensity(),
    "lognormal": ParametricDensity("lognorm"),
    "mixture": PeerMixture(2, random_state=0),
}


def test_no_constant_is_among_the_rivals(rows):
    found = compare(RIVALS, rows, None, loss="log_density")
    assert set(found.risks) == set(RIVALS)
    assert found.ranking()[0] == "lognormal"
    gaps = found.differences()
    assert all(gap.value > 0 for gap in gaps.values())
    assert gaps["gaussian"].interval[0] > 0  # 0.4 with an error of 0.1


@pytest.mark.parametrize("honest", ["bootstrap", "nested"])
def test_select_chooses_and_certifies_a_density(rows, honest):
    chosen = select(RIVALS, rows, None, loss="log_density", honest=honest, cv=4, random_state=0)
    assert chosen.name == "lognormal"
    assert chosen.test_risk.loss == "log_density"
    test = rows[chosen.test_rows]
    assert_allclose(chosen.test_risk.value, -chosen.model.score_samples(test).mean(), rtol=SUMMED)
    assert chosen.cross_validated_risk.value > 0


def test_densities_of_the_folds_are_averaged(rows, tmp_path):
    rivals = {"lognormal": ParametricDensity("lognorm"), "gaussian": ParametricDensity()}
    chosen = select(rivals, rows, None, refit="average", cv=4, random_state=0)
    each = [np.exp(model.score_samples(rows)) for model in chosen.model.models]
    assert len(each) == 4
    assert_allclose(np.exp(chosen.model.score_samples(rows)), np.mean(each, axis=0), rtol=SUMMED)
    save(chosen.model, tmp_path / "model")
    again = load(tmp_path / "model").score_samples(rows)
    assert_array_equal(again, chosen.model.score_samples(rows))


def test_what_has_no_average_is_refused():
    X = np.random.default_rng(0).normal(size=(60, 3))
    with pytest.raises(ParameterError, match="encoders and decoders give neither"):
        select([PCA(2), PCA(1)], X, None, refit="average", cv=3)
