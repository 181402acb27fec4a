"""Random numbers as a function of a seed and a counter: any draw, in any order, on any thread.

The 64 bits of draw `counter` of stream `seed` are two rounds of the finaliser of SplitMix64
(Steele, Lea & Flood 2014; constants of Stafford's variant 13), the key of the stream entering
both. One round over a Weyl sequence is SplitMix64 itself, whose streams are pieces of one long
sequence and can overlap; the second round takes that away.

Seeds are what `runtime.streams.spawn` gives, counters count from 0; both are int64 and not
negative. All arithmetic is on uint64 modulo 2^64 and never meets an int64: Numba would make a
float64 of the two. (`np.uint64` around a call is for the uncompiled twin, to which a compiled
function returns a Python integer.)
"""

import numpy as np

from empirisk.compiled.decorator import compiled

GOLDEN = np.uint64(0x9E3779B97F4A7C15)
FIRST = np.uint64(0xBF58476D1CE4E5B9)
SECOND = np.uint64(0x94D049BB133111EB)
ULP = 2.0**-53
HALF_WORD = np.uint64(32)
LOW_HALF = np.uint64(0xFFFFFFFF)
ZERO = np.uint64(0)


@compiled
def scramble(z):
    """The finaliser of SplitMix64: each bit of the argument moves half the bits of the result."""
    z = (z ^ (z >> np.uint64(30))) * FIRST
    z = (z ^ (z >> np.uint64(27))) * SECOND
    return z ^ (z >> np.uint64(31))


@compiled
def bits(seed, counter):
    """64 random bits, an uint64."""
    key = np.uint64(scramble(np.uint64(seed) + GOLDEN))
    return scramble(np.uint64(scramble(np.uint64(counter) * GOLDEN + key)) ^ key)


@compiled
def uniform(seed, counter):
    """A float64 from the uniform distribution on [0, 1), a multiple of 2^-53."""
    return np.float64(np.uint64(bits(seed, counter)) >> np.uint64(11)) * ULP


@compiled
def below(seed, counter, bound):
    """An int64 from the uniform distribution on 0..bound-1, without bias; bound >= 1.

    Where the bound does not divide the range, the values left over are rejected; the next try
    is another round on the same bits, so that a draw is a function of its counter alone.
    """
    draw = np.uint64(bits(seed, counter))
    range_ = np.uint64(bound)
    if range_ <= LOW_HALF:
        # Lemire (2019): the high half of 32 bits times the bound; a division only when needed.
        product = (draw >> HALF_WORD) * range_
        if (product & LOW_HALF) < range_:
            left_over = (LOW_HALF - range_ + np.uint64(1)) % range_
            while (product & LOW_HALF) < left_over:
                draw = np.uint64(scramble(draw + GOLDEN))
                product = (draw >> HALF_WORD) * range_
        return np.int64(product >> HALF_WORD)
    left_over = (ZERO - range_) % range_
    while draw < left_over:
        draw = np.uint64(scramble(draw + GOLDEN))
    return np.int64(draw % range_)
