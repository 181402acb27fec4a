"""Distances of a tile of rows to all centres, in single precision, with a bound of their error.

A tile is 64 rows side by side, feature-major, so that one instruction serves 16 of them. What is
computed is score[k] = |c_k|^2 / 2 - z'c_k, whose order is that of the distances: |z - c_k|^2 =
|z|^2 + 2 score[k]. Where single precision cannot tell which centre is nearest, `assigning` looks
in double precision.

The two loops that take the time are functions of their own, not inner ones: built into a caller of
many arrays, they were compiled without vector instructions, three times as slow.
"""

import numpy as np
from numba import types
from numba.extending import intrinsic, overload

from empirisk.compiled.decorator import compiled

LANES = 64  # rows of a tile
STEP = 4  # centres and features are worked on four by four
ULP = np.float32(2.0**-24)
LEAST = np.float32(1e-36)  # products of single precision below this may vanish
LESS, MORE = np.float32(1.0) - np.float32(8.0) * ULP, np.float32(1.0) + np.float32(8.0) * ULP
NOWHERE = np.float32(np.inf)


def fused_multiply_add(a, b, c):
    """a * b + c in single precision. Compiled code uses the processor's instruction."""
    return np.float32(np.float64(a) * np.float64(b) + np.float64(c))


@overload(fused_multiply_add)
def _compiled_fused_multiply_add(a, b, c):
    return lambda a, b, c: _instruction(a, b, c)


@intrinsic
def _instruction(typing_context, a, b, c):
    def generate(context, builder, signature, arguments):
        return builder.fma(*arguments)

    return types.float32(types.float32, types.float32, types.float32), generate


@compiled
def score_tile(tile, minus, half, score):
    """score[k, r] = half[k] + minus[k] . tile[:, r]; `minus` holds -c_k, padded to fours."""
    for k in range(0, minus.shape[0], STEP):
        k1, k2, k3 = k + 1, k + 2, k + 3
        h0, h1, h2, h3 = half[k], half[k1], half[k2], half[k3]
        for j in range(0, minus.shape[1], STEP):
            a0, a1, a2, a3 = minus[k, j], minus[k, j + 1], minus[k, j + 2], minus[k, j + 3]
            b0, b1, b2, b3 = minus[k1, j], minus[k1, j + 1], minus[k1, j + 2], minus[k1, j + 3]
            c0, c1, c2, c3 = minus[k2, j], minus[k2, j + 1], minus[k2, j + 2], minus[k2, j + 3]
            d0, d1, d2, d3 = minus[k3, j], minus[k3, j + 1], minus[k3, j + 2], minus[k3, j + 3]
            first = j == 0
            for r in range(LANES):
                z0, z1, z2, z3 = tile[j, r], tile[j + 1, r], tile[j + 2, r], tile[j + 3, r]
                s0, s1, s2, s3 = score[k, r], score[k1, r], score[k2, r], score[k3, r]
                s0, s1 = h0 if first else s0, h1 if first else s1
                s2, s3 = h2 if first else s2, h3 if first else s3
                score[k, r] = four_terms(a0, a1, a2, a3, z0, z1, z2, z3, s0)
                score[k1, r] = four_terms(b0, b1, b2, b3, z0, z1, z2, z3, s1)
                score[k2, r] = four_terms(c0, c1, c2, c3, z0, z1, z2, z3, s2)
                score[k3, r] = four_terms(d0, d1, d2, d3, z0, z1, z2, z3, s3)


@compiled(inner=True)
def four_terms(c0, c1, c2, c3, z0, z1, z2, z3, start):
    """start + c0 z0 + c1 z1 + c2 z2 + c3 z3."""
    start = fused_multiply_add(c0, z0, start)
    start = fused_multiply_add(c1, z1, start)
    start = fused_multiply_add(c2, z2, start)
    return fused_multiply_add(c3, z3, start)


@compiled
def two_least(score, least, second, label):
    """For each lane the least score, the next one, and which is the least, the first of equals."""
    for r in range(LANES):
        least[r], second[r], label[r] = NOWHERE, NOWHERE, 0
    for k in range(0, score.shape[0], STEP):
        k0, k1, k2, k3 = np.int32(k), np.int32(k + 1), np.int32(k + 2), np.int32(k + 3)
        for r in range(LANES):
            s0, s1, s2, s3 = score[k, r], score[k + 1, r], score[k + 2, r], score[k + 3, r]
            low, high = min(s0, s1), max(s0, s1)
            low2, high2 = min(s2, s3), max(s2, s3)
            which, which2 = k1 if s1 < s0 else k0, k3 if s3 < s2 else k2
            which = which2 if low2 < low else which
            loser, low = max(low, low2), min(low, low2)
            loser = min(loser, min(high, high2))
            best = least[r]
            loser = min(loser, max(best, low))
            second[r] = min(second[r], loser)
            label[r] = which if low < best else label[r]
            least[r] = min(best, low)


@compiled(inner=True)
def square_tile(tile, p, square):
    """square[r] = |z|^2 of the row in lane r."""
    for r in range(LANES):
        square[r] = np.float32(0.0)
    for j in range(p):
        for r in range(LANES):
            square[r] = fused_multiply_add(tile[j, r], tile[j, r], square[r])


@compiled(inner=True)
def gap_tile(square, radius, terms, least, second, doubt, gap):
    """How far the second centre is beyond the first at least, and the doubt about the scores.

    Two scores of a row differ by their difference up to doubt[r]: rounding z, c and `terms`
    products and sums costs each at most (terms + 4) ulps of radius * (radius / 2 + |z|), where
    `radius` is the largest |c_k|. The constant below leaves room for what is rounded here.
    """
    unit = np.float32(terms + 16) * ULP
    for r in range(LANES):
        one = unit * radius * (np.float32(0.5) * radius + np.sqrt(square[r])) + LEAST
        both = np.float32(2.0) * one
        room = both + unit * square[r]
        near = square[r] + np.float32(2.0) * least[r] + room
        far = square[r] + np.float32(2.0) * second[r] - room
        near = np.sqrt(near if near > np.float32(0.0) else np.float32(0.0))
        far = np.sqrt(far if far > np.float32(0.0) else np.float32(0.0))
        doubt[r] = both
        gap[r] = far * LESS - near * MORE
