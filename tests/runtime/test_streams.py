"""Seeds: the same from the same, unrelated from all others."""

import numpy as np
import pytest
from scipy import stats

from empirisk.runtime.errors import ParameterError
from empirisk.runtime.streams import generator, seed32, settled, spawn


def test_the_same_state_gives_the_same_seeds_and_the_first_do_not_depend_on_their_number():
    assert spawn(5, 4) == spawn(np.int64(5), 4) == spawn(5, 9)[:4]
    assert spawn(5, 0) == []


def test_seeds_are_python_integers_of_63_bits():
    seeds = spawn(0, 1000)
    assert all(type(seed) is int and 0 <= seed < 2**63 for seed in seeds)
    assert max(seeds) >= 2**62  # fails by chance once in 2^1000


def test_no_two_seeds_meet_however_they_are_nested():
    # 111,000 numbers of 63 bits: a chance collision has probability 7e-10.
    seen = list(range(1000))
    for start in range(1000):
        children = spawn(start, 10)
        seen += children
        for child in children:
            seen += spawn(child, 10)
    assert len(set(seen)) == len(seen)


def test_none_takes_fresh_entropy():
    assert spawn(None, 2) != spawn(None, 2)


@pytest.mark.parametrize("make", [np.random.RandomState, np.random.default_rng])
def test_a_generator_instance_is_drawn_from_once_whatever_the_number_of_seeds(make):
    a, b, untouched = make(3), make(3), make(3)
    assert spawn(a, 2) == spawn(b, 5)[:2]
    assert spawn(a, 2) == spawn(b, 2)
    assert spawn(a, 2) != spawn(untouched, 2)


def test_a_settled_state_can_be_used_in_several_places():
    assert settled(None) is None
    assert settled(np.int32(4)) == 4
    state = np.random.RandomState(3)
    seed = settled(state)
    assert seed == settled(np.random.RandomState(3)) != settled(state)
    assert spawn(seed, 2) == spawn(seed, 2)


@pytest.mark.parametrize("wrong", [-1, 1.5, "seed", [1, 2]])
def test_a_state_that_makes_no_sense_is_refused(wrong):
    with pytest.raises(ParameterError, match="random_state"):
        spawn(wrong, 1)


def test_the_uses_of_a_seed_are_kept_apart():
    # A learner's draws must not repeat those with which the user made the data.
    assert generator(7).random() != np.random.default_rng(7).random()
    assert spawn(7, 1)[0] != generator(7).integers(2**63)
    assert seed32(7) not in (7, spawn(7, 1)[0] % 2**32)


def test_generators_repeat_their_bits():
    np.testing.assert_array_equal(generator(7).normal(size=5), generator(7).normal(size=5))


def test_foreign_seeds_have_32_bits_and_are_hashed_not_cut_off():
    assert seed32(1) != seed32(1 + 2**32)
    seeds = [seed32(seed) for seed in range(500)]
    assert all(0 <= seed < 2**32 for seed in seeds)
    np.random.RandomState(seeds[0])  # taken as it is
    assert len(set(seeds)) == 500  # a chance collision has probability 3e-5; the seeds are fixed


def test_the_mean_of_consecutive_streams_varies_as_theory_says():
    means = np.array([generator(seed).random(20).mean() for seed in range(4000)])
    # The standard deviation of the mean of 20 uniforms is sqrt(1/240); over 4000 streams its
    # estimate has relative error 1/sqrt(8000) = 1.1 %. Five of these: error probability 6e-7.
    np.testing.assert_allclose(means.std(), np.sqrt(1 / 240), rtol=0.056)
    assert stats.pearsonr(means[1:], means[:-1]).pvalue > 1e-6  # its error probability
