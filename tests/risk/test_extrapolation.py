"""Learning curves beyond the rows at hand: laws that are known, verdicts, where none is made."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.linear_model import LinearRegression as PeerLinearRegression

from curve_rows import regression
from empirisk import LinearRegression
from empirisk.risk.learning_curves.extrapolation import extrapolate
from empirisk.risk.learning_curves.learning_curve import learning_curve
from empirisk.risk.learning_curves.nested_subsets import default_sizes
from empirisk.risk.learning_curves.power_law import fit_and_draw
from empirisk.runtime.errors import DataError, ParameterError


def known_curve(risk, sizes, error=1e-4, **options):
    """The extrapolation of a curve with the given risks and small independent errors."""
    X, y = regression()
    of = learning_curve(LinearRegression(), X, y, sizes=[80], cv=5, repeats=1).estimates[0]
    given = {"n": int(sizes[-1]), "bayes_risk": None, "n_draws": 500, "random_state": 0} | options
    return extrapolate(
        np.asarray(sizes, dtype=float),
        np.asarray(risk, dtype=float),
        np.full(len(sizes), error),
        np.eye(len(sizes)),
        of=of,
        **given,
    )


@pytest.mark.parametrize(("a", "b", "c"), [(1.0, 20.0, 1.0), (0.2, 1.0, 0.4), (3.0, 0.0, 1.0)])
def test_a_power_law_is_found_again(a, b, c):
    n = default_sizes(2000)
    found = known_curve(a + b * n**-c, n)
    for m in (4000, 20_000):
        value = found.at(m).value
        low, high = found.at(m).interval
        # The law is taken to hold to 1 % at each size, and exponents near 0.7 are favoured.
        assert_allclose(value, a + b * m**-c, rtol=0.03)
        assert low <= a + b * m**-c <= high
    assert low <= value <= high
    assert found.at(m).method == "power law"
    assert found.asymptote.value == found.a


def test_the_law_goes_between_risks_that_share_their_errors():
    """By generalised least squares it lies below them all, if the larger have larger errors."""
    sizes, risk = np.array([10.0, 20.0, 40.0, 80.0]), np.array([1.30, 1.02, 1.12, 0.95])
    correlation = np.full((4, 4), 0.95) + 0.05 * np.eye(4)
    noise = np.random.default_rng(0).standard_normal((500, 5))
    fitted, _, _ = fit_and_draw(sizes, risk, 0.3 * risk, correlation, 0.0, noise)
    left = risk - fitted.at(sizes)[0]
    assert left.min() < 0 < left.max()


@pytest.mark.slow
def test_bands_hold_the_risk_with_all_rows():
    n, n_sets, held = 40, 300, 0
    expected = (1 + 1 / n) * (1 + 2 / (n - 2 - 2))  # of two Gaussian columns and an intercept
    for seed in range(n_sets):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(n, 2))
        y = X[:, 0] + rng.normal(size=n)
        curve = learning_curve(LinearRegression(), X, y, random_state=seed)
        low, high = curve.extrapolate(n_draws=400).at(n).interval
        held += low <= expected <= high
    assert held / n_sets > 0.91  # 3 standard errors below 95 %; of the generalised fit 83 %


def test_the_verdict_without_the_bayes_risk():
    n = default_sizes(1000)
    falling = known_curve(1 + 300 / n, n)
    assert falling.verdict == "more data"
    assert "what it needs is more data" in str(falling)
    flat = known_curve(1 + 0.001 / n, n)
    assert flat.verdict == "not more data"
    assert "more rows will hardly help" in str(flat)
    assert "not known without the Bayes risk" in str(flat)
    for slope in (5, 10):  # the risk seems to fall by 2 % or by 4 %, and may by 12 % or not at all
        noisy = known_curve(1 + slope * n**-0.5, n, error=1.0)
        assert noisy.verdict == "open"
        assert "do not tell" in str(noisy)


def test_the_verdict_with_the_bayes_risk():
    n = default_sizes(1000)

    def curve(b, bayes_risk, **options):
        return known_curve(1 + b / n, n, bayes_risk=bayes_risk, **options)

    assert curve(100, 1.0).verdict == "more data"
    assert curve(10, 0.5).verdict == "a better model"
    assert "what it needs is a better model" in str(curve(10, 0.5))
    assert curve(0.001, 1.0).verdict == "neither"
    assert "near the Bayes risk" in str(curve(0.001, 1.0))
    unsure = curve(10, 0.8, error=0.3)
    assert unsure.verdict == "open"
    assert "which of the two" in str(unsure)
    for wrong in (-0.1, np.nan, np.inf):
        with pytest.raises(ParameterError, match="bayes_risk is"):
            curve(10, wrong)


def test_a_bayes_risk_above_the_limit_is_said_and_gives_no_negative_gap():
    n = default_sizes(1000)
    above = known_curve(1 + 100 / n, n, bayes_risk=5.13)
    assert above.verdict == "open"
    text = str(above)
    assert "The Bayes risk given, 5.13, lies above the estimated limit and its band" in text
    assert "what it needs" not in text
    low, value, high = above.asymptote.interval[0], above.a, above.asymptote.interval[1]
    inside = known_curve(1 + 100 / n, n, bayes_risk=(value + high) / 2)
    assert low < value < inside.bayes_risk < high
    assert "lies above the estimated limit, though inside its band" in str(inside)
    assert inside.verdict == "more data"  # the limit is no less than the Bayes risk
    assert "a model without error 0 (0 to" in str(inside)


def test_a_model_at_the_bayes_risk_is_not_said_to_need_a_better_one():
    X, _ = regression(300)
    noise = np.random.default_rng(1).normal(size=300)
    curve = learning_curve(LinearRegression(), X, noise, random_state=0)
    assert curve.extrapolate().verdict == "not more data"
    assert curve.extrapolate(bayes_risk=1.0).verdict in ("neither", "open")
    for text in (str(curve), str(curve.extrapolate(bayes_risk=1.0))):
        assert "what it needs" not in text
        assert "-" not in text.replace("n^-c", "")  # nor is there a negative number


def test_no_gain_is_zero_and_not_minus_zero():
    n = default_sizes(1000)
    for bayes_risk in (None, 0.0):
        text = str(known_curve(np.zeros(len(n)), n, bayes_risk=bayes_risk))
        assert "0 (0 to" in text
        assert "(-0" not in text
        assert " -0" not in text


def test_no_law_is_made_of_what_does_not_follow_one():
    n = default_sizes(1000)
    with pytest.raises(DataError, match="do not fall"):
        known_curve(1 + n / 500, n)
    peak = 1 + 5 / n + 3 * np.exp(-((np.log(n / 600)) ** 2) * 8)
    with pytest.raises(DataError, match="do not fall"):
        known_curve(peak, n)
    with pytest.raises(DataError, match="3 sizes"):
        known_curve(1 + 1 / n[:3], n[:3])
    with pytest.raises(DataError, match="too little"):
        known_curve(np.ones(4), [100, 110, 120, 130])
    with pytest.raises(ParameterError, match="n is 0"):
        known_curve(1 + 1 / n, n).at(0)


def test_the_smallest_sizes_are_given_up_where_another_law_holds():
    n = default_sizes(5000)
    risk = 1 + 40 / n
    risk[0] = 0.9  # a rise before the fall, as where n passes p
    found = known_curve(risk, n)
    assert found.sizes[0] == n[1]
    assert_allclose(found.at(10_000).value, 1.004, rtol=0.01)  # the law is taken to hold to 1 %


@pytest.mark.slow
def test_the_band_covers_what_comes():
    # 80 data sets at level 0.9: fewer than 61 hits have probability 1e-3 if it covers 88 %.
    p, n, hits = 5, 150, 0

    def truth(m):
        return (m + 1) * (m - 2) / (m * (m - p - 2))

    for seed in range(80):
        X, y = regression(n, p, seed)
        curve = learning_curve(
            PeerLinearRegression(), X, y, sizes=[0.15, 0.3, 0.5, 0.7, 1.0], level=0.9,
            random_state=seed,
        )  # fmt: skip
        low, high = curve.extrapolate().at(2 * n).interval
        hits += low <= truth(2 * n) <= high
    assert hits >= 61
