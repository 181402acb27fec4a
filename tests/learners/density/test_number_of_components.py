"""The number of components by criteria and by rows held out."""

import matplotlib
import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from empirisk import GaussianMixture, KMeans, PoissonMixture, number_of_components
from empirisk.runtime.errors import ParameterError, RankWarning
from tolerances import SUMMED

matplotlib.use("Agg")
rng = np.random.default_rng(0)
X = np.concatenate([rng.normal(0, 1, (80, 2)), rng.normal(6, 1, (60, 2))])


@pytest.mark.parametrize("by", ["bic", "icl", "held_out"])
def test_two_groups_are_found(by):
    found = number_of_components(
        GaussianMixture(random_state=0), X, range(1, 5), by=by, cv=4, random_state=0
    )
    assert found.n_components == 2
    assert found.best_estimator_.n_components == 2
    assert str(found).startswith(f"2 component(s), by {by}")
    assert found.score.argmin() == 1


@pytest.mark.parametrize("by", ["bic", "icl", "aic"])
def test_criteria_are_those_of_single_fits(by):
    found = number_of_components(GaussianMixture(random_state=0), X, [1, 3], by=by)
    single = [getattr(GaussianMixture(K, random_state=0).fit(X), by)(X) for K in (1, 3)]
    assert_allclose(found.score, single, rtol=SUMMED)


def test_icl_charges_for_overlap_and_bic_does_not():
    """A sharp group inside a wide one: two components of the density, but no two groups."""
    rows = np.concatenate([rng.normal(0, 0.3, (300, 2)), rng.normal(0, 2.0, (300, 2))])
    mixture = GaussianMixture(random_state=0)
    assert number_of_components(mixture, rows, [1, 2]).n_components == 2
    fit = GaussianMixture(2, random_state=0).fit(rows)
    overlap = -2 * np.log(fit.predict_proba(rows).max(axis=1)).sum()
    assert fit.icl(rows) == pytest.approx(fit.bic(rows) + overlap, rel=SUMMED)
    assert overlap > 50


def test_weights_count():
    weight = rng.integers(0, 3, size=len(X))
    copies = np.repeat(np.arange(len(X)), weight)
    mixture = GaussianMixture(init_params="hierarchical", random_state=0)
    one = number_of_components(mixture, X, [1, 2], sample_weight=weight)
    other = number_of_components(mixture, X[copies], [1, 2])
    assert_allclose(one.score, other.score, rtol=SUMMED)


def test_counts_have_groups_too():
    rows = np.concatenate([rng.poisson(2.0, (100, 2)), rng.poisson(9.0, (100, 2))])
    assert number_of_components(PoissonMixture(), rows, [1, 2, 3], random_state=0).n_components == 2


@pytest.mark.parametrize("by", ["bic", "icl", "aic"])
def test_a_mixture_that_has_collapsed_is_not_chosen(by):
    """Whole numbers: components that close around the rows of one value are likely without end."""
    rows = np.random.default_rng(0).integers(0, 4, (80, 2)).astype(float)
    mixture = GaussianMixture(n_init=3, random_state=0)
    with pytest.warns(RankWarning, match="with 5, 6 components one of them has closed"):
        found = number_of_components(mixture, rows, [1, 2, 5, 6], by=by)
    assert found.left_out == (5, 6)
    assert found.score.argmin() >= 2
    assert found.n_components == found.values[found.score[:2].argmin()]
    drawn = found.plot().get_lines()[0].get_ydata()
    assert_array_equal(np.isnan(drawn), [False, False, True, True])


@pytest.mark.filterwarnings("ignore::empirisk.runtime.errors.RankWarning")
def test_where_every_mixture_has_collapsed_one_is_chosen_still():
    rows = np.random.default_rng(0).integers(0, 3, (80, 2)).astype(float)
    found = number_of_components(GaussianMixture(n_init=3, random_state=0), rows, [8, 9])
    assert found.left_out == ()
    assert found.n_components == found.values[found.score.argmin()]


def test_a_picture():
    import matplotlib.pyplot as plt

    found = number_of_components(GaussianMixture(random_state=0), X, [1, 2], by="held_out", cv=3)
    assert found.plot().get_xlabel() == "number of components"
    plt.close("all")


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"by": "luck"}, "by is 'luck'"),
        ({"values": [2, 1]}, "increasing"),
        ({"values": []}, "give"),
        ({"values": 5}, r"values are 5; give whole numbers >= 1, increasing, such as range"),
        ({"values": [1.0, 2.0]}, "whole numbers"),
    ],
)
def test_parameters_are_checked(settings, message):
    with pytest.raises(ParameterError, match=message):
        number_of_components(GaussianMixture(), X, **settings)


def test_clusterers_are_sent_elsewhere():
    with pytest.raises(ParameterError, match=r"KMeans\(\); give a GaussianMixture.*of_clusters"):
        number_of_components(KMeans(), X)
