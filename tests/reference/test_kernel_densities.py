"""Kernel estimates beside R's. The numbers are in kernel_densities.json, made by the R script."""

import json
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.stats import gaussian_kde

from empirisk import KernelDensity, KernelRegressor
from tolerances import SUMMED

R = json.loads((Path(__file__).parent / "kernel_densities.json").read_text())
FAITHFUL = np.column_stack([R["faithful"]["x"], R["waiting"]])


@pytest.mark.parametrize("name", ["precip", "geyser", "faithful", "galaxies"])
def test_the_bandwidth_of_sheather_and_jones(name):
    x = np.array(R[name]["x"])[:, None]
    found = KernelDensity(bandwidth="sheather-jones").fit(x).bandwidth_
    # bw.SJ takes a root to a tenth of its lower bound, a hundredth of the bandwidth at best.
    assert_allclose(found, R[name]["sheather_jones"], rtol=0.01)


@pytest.mark.parametrize("name", ["precip", "faithful", "galaxies"])
def test_the_bandwidth_of_unbiased_cross_validation(name):
    x = np.array(R[name]["x"])[:, None]
    found = KernelDensity(bandwidth="ucv").fit(x).bandwidth_
    # bw.ucv stops at the same distance; the risk is flat around its minimum. On geyser both end
    # at the lower bound, since many durations are equal.
    assert_allclose(found, R[name]["ucv"], rtol=0.02)


def test_the_density_of_r():
    known = R["density"]
    density = KernelDensity(bandwidth=known["bandwidth"]).fit(FAITHFUL[:, :1])
    found = np.exp(density.score_samples(np.array(known["at"])[:, None]))
    # density() bins the rows, on a grid of 2^15 points, and interpolates.
    assert_allclose(found, known["f"], rtol=1e-3)


def test_a_full_matrix_as_in_ks():
    known = R["kde"]
    values, vectors = np.linalg.eigh(np.array(known["H"]))
    root = (vectors * np.sqrt(values)) @ vectors.T
    density = KernelDensity(bandwidth=root).fit(FAITHFUL)
    assert_allclose(np.exp(density.score_samples(known["at"])), known["f"], rtol=SUMMED)


@pytest.mark.parametrize(("degree", "name"), [(0, "mean"), (1, "line")])
def test_local_means_and_lines_as_by_lm(degree, name):
    known = R["regression"]
    model = KernelRegressor(known["bandwidth"], degree=degree, scale=None)
    found = model.fit(FAITHFUL[:, :1], FAITHFUL[:, 1]).predict(np.array(known["at"])[:, None])
    assert_allclose(found, known[name], rtol=SUMMED)


@pytest.mark.parametrize("rule", ["scott", "silverman"])
@pytest.mark.parametrize("columns", [[0], [0, 1]])
def test_rules_of_thumb_are_those_of_scipy(rule, columns):
    rows = FAITHFUL[:, columns]
    peer = gaussian_kde(rows.T, bw_method=rule)
    found = KernelDensity(bandwidth=rule).fit(rows).score_samples(rows)
    assert_allclose(found, peer.logpdf(rows.T), rtol=SUMMED)
