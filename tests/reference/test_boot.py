"""Bootstrap intervals of R's package boot, on its own replicates and from the beginning.

The numbers are in boot_intervals.json, made by boot_intervals.R.
"""

import json
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose

from empirisk.risk.resampling import intervals
from empirisk.risk.resampling.bootstrap import bootstrap
from tolerances import SOLVED, SUMMED

BOOT = json.loads((Path(__file__).parent / "boot_intervals.json").read_text())
ROUNDING = 1e-12  # of a few operations and of two implementations of the normal quantiles


def column(name):
    return np.array(BOOT[name])[:, None]


@pytest.mark.parametrize("level", ["0.9", "0.9123"])
def test_intervals_from_the_same_replicates(level):
    value, replicates = np.array(BOOT["value"]), column("replicates")
    left_out = value - column("jackknife_influence") / 14
    found = {
        "percentile": intervals.percentile(replicates, float(level)),
        "basic": intervals.basic(value, replicates, float(level)),
        "bca": intervals.bca(value, replicates, left_out, float(level)),
    }
    for method, ends in found.items():
        assert_allclose(np.ravel(ends), BOOT[f"{method} {level}"], rtol=ROUNDING)


def test_the_studentised_interval_from_the_same_replicates():
    value, variance = BOOT["mean_value"]
    errors = np.sqrt(column("mean_variances"))
    ends = intervals.studentised(
        np.array([value]), np.array([np.sqrt(variance)]), column("mean_replicates"), errors, 0.9
    )
    assert_allclose(np.ravel(ends), BOOT["studentised 0.9"], rtol=ROUNDING)


def test_the_jackknife():
    found = bootstrap((BOOT["lsat"], BOOT["gpa"]), "correlation", n_resamples=2).jackknife
    influence = 14 * (found.mean() - found)
    assert_allclose(influence, BOOT["jackknife_influence"], rtol=SOLVED, atol=SUMMED)


def test_the_whole_way_on_the_law_school_data():
    found = bootstrap(
        (BOOT["lsat"], BOOT["gpa"]), "correlation", n_resamples=99_999, random_state=0
    )
    assert_allclose(found.value, BOOT["value"][0], rtol=ROUNDING)
    # Two bootstraps of B = 99,999 resamples: 5 sqrt(2) standard errors of each. Of a deviation they
    # are sqrt((k - 1) / (4 B)) = 0.0027 of it, replicates with a kurtosis of k = 4.
    assert_allclose(found.standard_error, BOOT["many standard_error"][0], rtol=0.02)
    for method in ("percentile", "bca"):
        low, high = found.interval(method, 0.9)
        # A quantile at the share p has a standard error of sqrt(p (1 - p) / B) / density: with a
        # density of 0.4 at the lower end, of 4 at the upper, and BCa ends further out.
        assert_allclose(low, BOOT[f"many {method} 0.9"][0], rtol=0, atol=0.015)
        assert_allclose(high, BOOT[f"many {method} 0.9"][1], rtol=0, atol=0.002)


def test_the_whole_way_of_a_studentised_mean():
    found = bootstrap(BOOT["lsat"], n_resamples=99_999, random_state=0)
    # The ends are 39 apart; their Monte Carlo errors are below 0.1, of both bootstraps together.
    assert_allclose(
        found.interval("studentised", 0.9), BOOT["many studentised 0.9"], rtol=0, atol=0.7
    )
