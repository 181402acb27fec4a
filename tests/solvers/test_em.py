"""EM as a solver: any model with two steps, the check that nothing falls, stopping, starts."""

import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.stats import binom

from empirisk.runtime.errors import ConvergenceWarning, ParameterError
from empirisk.solvers import em, em_from
from empirisk.solvers.em import em_ends
from tolerances import SUMMED

HEADS, THROWS = np.array([5.0, 9.0, 8.0, 4.0, 7.0]), 10


class TwoCoins:
    """Which of two coins was thrown is hidden (Do & Batzoglou 2008, Nature Biotechnology 26)."""

    def e_step(self, chances):
        joint = 0.5 * binom.pmf(HEADS[:, None], THROWS, chances)
        return joint / joint.sum(axis=1, keepdims=True), float(np.log(joint.sum(axis=1)).mean())

    def m_step(self, hidden):
        return HEADS @ hidden / (THROWS * hidden.sum(axis=0))


class CensoredMean:
    """N(m, 1) of which a value above 1 is known to be above 1 alone: the value is hidden."""

    seen, above = np.array([-0.5, 0.2, 0.9, 0.4]), 3

    def e_step(self, mean):
        from scipy.stats import norm

        expected = mean + norm.pdf(1 - mean) / norm.sf(1 - mean)
        value = norm.logpdf(self.seen - mean).sum() + self.above * norm.logsf(1 - mean)
        return self.seen.sum() + self.above * expected, value / 7

    def m_step(self, total):
        return total / 7


def test_the_published_example_of_two_coins():
    # Figure 1 of the paper: from (0.6, 0.5), after ten steps 0.80 and 0.52.
    found = em(TwoCoins(), np.array([0.6, 0.5]), tol=0, max_iter=10)
    assert_array_equal(found.parameters.round(2), [0.80, 0.52])
    first = em(TwoCoins(), np.array([0.6, 0.5]), tol=0, max_iter=1)
    assert_array_equal(first.parameters.round(2), [0.71, 0.58])


def test_a_hidden_value_need_not_be_a_class():
    from scipy.optimize import minimize_scalar

    model = CensoredMean()
    found = em(model, 0.0, tol=1e-14)
    best = minimize_scalar(lambda m: -model.e_step(m)[1], bracket=(0.0, 1.0), tol=1e-12)
    # The minimiser finds a flat maximum to about the root of double precision.
    assert found.parameters == pytest.approx(best.x, abs=1e-6)


@pytest.mark.parametrize(
    ("model", "start"), [(TwoCoins(), np.array([0.9, 0.1])), (CensoredMean(), 5.0)]
)
def test_the_likelihood_never_falls(model, start):
    found = em(model, start, tol=0, max_iter=40)
    assert found.n_iter == 40 == len(found.log_likelihoods)
    assert np.diff(found.log_likelihoods).min() >= -1e-13  # rounding of numbers of size 1
    assert not found.converged
    assert "max_iter" in found.reason


def test_it_stops_where_a_step_gains_less_than_tol():
    found = em(TwoCoins(), np.array([0.6, 0.5]), tol=1e-3)
    gains = np.diff(found.log_likelihoods)
    assert found.converged
    assert gains[-1] < 1e-3 <= gains[:-1].min()


def test_a_wrong_step_is_named():
    class Wrong(TwoCoins):
        def m_step(self, hidden):
            return 1 - super().m_step(hidden)

    with pytest.warns(ConvergenceWarning, match="fell by"):
        found = em(Wrong(), np.array([0.8, 0.5]), keep_steps=True)
    assert_array_equal(found.parameters, [0.8, 0.5])  # as it was before the fall
    assert not found.converged
    assert len(found.steps) == found.n_iter + 1  # those of each E-step, and the last ones
    assert_array_equal(found.steps[-1], found.parameters)


def test_steps_are_kept_if_asked_for():
    found = em(TwoCoins(), np.array([0.6, 0.5]), tol=0, max_iter=3, keep_steps=True)
    assert len(found.steps) == 4
    for before, after in zip(found.steps[:-1], found.steps[1:], strict=True):
        model = TwoCoins()
        assert_array_equal(model.m_step(model.e_step(before)[0]), after)
    assert em(TwoCoins(), np.array([0.6, 0.5]), max_iter=2, tol=0).steps == ()


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_of_several_starts_the_best_is_carried_on(n_jobs):
    starts = [np.array([0.5, 0.5]), np.array([0.6, 0.5]), np.array([0.55, 0.5])]
    found = em_from(TwoCoins(), starts, tol=1e-10, keep_steps=True, n_jobs=n_jobs)
    assert_allclose(np.sort(found.parameters), [0.52, 0.80], rtol=0, atol=0.005)  # two digits
    assert len(found.starts) == 3
    assert found.starts[0] == found.starts.min()  # equal coins stay equal
    assert found.log_likelihood >= found.starts.max()
    assert found.n_iter == len(found.log_likelihoods) == len(found.steps) - 1


def test_a_start_that_is_not_to_be_believed_goes_behind():
    starts = [np.array([0.5, 0.5]), np.array([0.6, 0.5])]
    found = em_from(TwoCoins(), starts, sound=lambda chances: chances[0] == chances[1])
    assert found.parameters[0] == found.parameters[1]


def test_only_where_no_start_is_sound_are_others_carried_on():
    starts = [np.array([0.5, 0.5]), np.array([0.6, 0.5]), np.array([0.55, 0.5])]
    for believed, carried_on in ((lambda coins: coins[0] != coins[1], 2), (lambda coins: False, 3)):
        ends = em_ends(TwoCoins(), starts, tol=1e-10, sound=believed)
        assert len(ends) == carried_on
        assert len(ends[0].starts) == 3
        assert_allclose(np.sort(ends[0].parameters), [0.52, 0.80], rtol=0, atol=0.005)  # two digits


class Delays:
    """A mixture of exponential distributions: weights and means, of which the rows are given."""

    times = np.array([0.3, 0.8, 1.1, 0.2, 9.0, 14.0, 30.0])

    def e_step(self, parameters):
        shares, means = parameters
        joint = shares * np.exp(-self.times[:, None] / means) / means
        with np.errstate(divide="ignore", invalid="ignore"):
            hidden = joint / joint.sum(axis=1, keepdims=True)
            return hidden, float(np.log(joint.sum(axis=1)).mean())

    def m_step(self, hidden):
        return hidden.mean(axis=0), self.times @ hidden / hidden.sum(axis=0)


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_a_start_without_a_likelihood_leads_nowhere_and_the_others_go_on(n_jobs):
    half = np.full(2, 0.5)
    good, bad = (half, np.array([1.0, 20.0])), (half, np.array([1e-3, 2e-3]))  # exp(-15000) is 0
    found = em_from(Delays(), [bad, good, bad], tol=1e-9, n_jobs=n_jobs)
    alone = em(Delays(), good, tol=1e-9)
    assert_allclose(found.parameters[1], alone.parameters[1], rtol=SUMMED)
    assert_array_equal(np.isfinite(found.starts), [False, True, False])
    assert found.starts[0] == -np.inf
    with pytest.raises(ParameterError, match="none of 2 starts leads anywhere"):
        em_from(Delays(), [bad, bad])


def test_one_start_leads_where_it_led():
    found = em_from(TwoCoins(), [np.array([0.6, 0.5])])
    assert_array_equal(found.starts, [found.log_likelihood])


def test_starts_may_come_as_an_array_or_one_by_one():
    starts = np.array([[0.5, 0.5], [0.6, 0.5]])
    for given in (starts, iter(starts), [[0.5, 0.5], [0.6, 0.5]]):
        found = em_from(TwoCoins(), map(np.array, given), tol=1e-10)
        assert_allclose(found.parameters, [0.7968, 0.5196], rtol=0, atol=5e-05)  # four digits
    assert_array_equal(em_from(TwoCoins(), starts).starts, em_from(TwoCoins(), list(starts)).starts)


def test_errors_are_clear():
    with pytest.raises(ParameterError, match="tol is -1"):
        em(TwoCoins(), np.array([0.6, 0.5]), tol=-1)
    with pytest.raises(ParameterError, match="starts is empty"):
        em_from(TwoCoins(), [])
    with pytest.raises(ParameterError, match="finalists is 0"):
        em_from(TwoCoins(), [np.array([0.6, 0.5])] * 2, finalists=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        with pytest.raises(ParameterError, match="finite"):
            em(TwoCoins(), np.array([0.0, 0.0]))


def test_a_likelihood_that_is_lost_on_the_way_is_not_blamed_on_a_start_that_had_one():
    class Losing:
        def e_step(self, mean):
            return mean, mean if mean < 3 else np.nan

        def m_step(self, statistics):
            return statistics + 1

    with pytest.raises(ParameterError, match="nan at step 2; start elsewhere, or mend the M-step"):
        em(Losing(), 1.0)
    with pytest.raises(ParameterError, match="nan at step 0; start where it is a finite number"):
        em(Losing(), 3.0)


def test_a_short_way_that_ends_at_max_iter_has_not_converged():
    starts = [np.array([0.6, 0.5])] * 2
    most = em(TwoCoins(), starts[0], tol=1e-4).n_iter
    found = em_from(TwoCoins(), starts, tol=1e-12, max_iter=most)
    assert found.n_iter == most
    assert not found.converged
    assert "max_iter" in found.reason


def test_a_model_may_say_how_exact_it_is():
    class Coarse(TwoCoins):
        rounding = 0.1
        steps = 0

        def e_step(self, chances):
            statistics, value = super().e_step(chances)
            self.steps += 1
            return statistics, value - 0.05 * (self.steps > 3)

    with warnings.catch_warnings():
        warnings.simplefilter("error", ConvergenceWarning)
        assert em(Coarse(), np.array([0.8, 0.5])).converged
