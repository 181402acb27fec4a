"""The E-step of Gaussian mixtures, and the moments that the M-step needs, in one pass over tiles.

For each tile of 64 rows and each component the residuals u = z - m_k are whitened, y = R_k u with
a triangular R_k and R_k'R_k = S_k^-1, so that log(a_k f_k(z)) = constant_k - |y|^2 / 2. From these
come the posterior probabilities r_k, and at once, while the tile is at hand, the sums of r_k, r_k u
and r_k u u'. Moments about the present means lose no digits where components are small and far
apart, as those about a common centre would.
"""

import numpy as np

from empirisk.compiled.decorator import compiled
from empirisk.compiled.double_double import fused_multiply_add
from empirisk.compiled.exponential import exponential
from empirisk.compiled.mixtures.tiles import LANES, STEP, add_lanes, add_products
from empirisk.compiled.team import take


@compiled(inner=True)
def residuals(tile, mean, out):
    """out[j, r] = tile[j, r] - mean[j]."""
    for j in range(mean.size):
        for r in range(LANES):
            out[j, r] = tile[j, r] - mean[j]


@compiled(inner=True)
def whitened_squares(residual, root, y, square):
    """square[r] = |R u|^2 of lane r, for a lower triangular R, padded to fours by zeros."""
    for r in range(LANES):
        square[r] = 0.0
    for i in range(0, root.shape[0], 2):
        for r in range(LANES):
            y[0, r] = 0.0
            y[1, r] = 0.0
        for j in range(0, i + 2, STEP):
            a0, a1, a2, a3 = root[i, j], root[i, j + 1], root[i, j + 2], root[i, j + 3]
            i1 = i + 1
            b0, b1, b2, b3 = root[i1, j], root[i1, j + 1], root[i1, j + 2], root[i1, j + 3]
            for r in range(LANES):
                u0, u1 = residual[j, r], residual[j + 1, r]
                u2, u3 = residual[j + 2, r], residual[j + 3, r]
                s = fused_multiply_add(a0, u0, y[0, r])
                s = fused_multiply_add(a1, u1, s)
                s = fused_multiply_add(a2, u2, s)
                y[0, r] = fused_multiply_add(a3, u3, s)
                s = fused_multiply_add(b0, u0, y[1, r])
                s = fused_multiply_add(b1, u1, s)
                s = fused_multiply_add(b2, u2, s)
                y[1, r] = fused_multiply_add(b3, u3, s)
        for r in range(LANES):
            s = fused_multiply_add(y[0, r], y[0, r], square[r])
            square[r] = fused_multiply_add(y[1, r], y[1, r], s)


@compiled(inner=True)
def posterior_tile(joint, top, total, density):
    """Log joint densities of components become their posterior probabilities, lane by lane.

    density[r] = log sum_k exp(joint[k, r]).
    """
    K = joint.shape[0]
    for r in range(LANES):
        top[r] = joint[0, r]
        total[r] = 0.0
    for k in range(1, K):
        for r in range(LANES):
            top[r] = joint[k, r] if joint[k, r] > top[r] else top[r]
    for k in range(K):
        for r in range(LANES):
            share = exponential(joint[k, r] - top[r])
            joint[k, r] = share
            total[r] += share
    for r in range(LANES):
        density[r] = top[r] + np.log(total[r])
        total[r] = 1.0 / total[r]
    for k in range(K):
        for r in range(LANES):
            joint[k, r] *= total[r]


@compiled
def full_step(sync, first, tiles, weight, means, roots, constants, sums, products, likelihood):
    """For each block of tiles the log-likelihood, and the moments of each component in lanes.

    sums[b, k, j] are the sums of w r_k u_j, and of w r_k at j = p; products[b, k, i, j] those of
    w r_k u_i u_j for j <= i; further to the right they may hold anything.
    """
    K, p = means.shape
    residual = np.zeros((max(roots.shape[1], p + 1), LANES))
    scaled = np.zeros_like(residual)
    residual[p] = 1.0
    y, joint = np.empty((2, LANES)), np.empty((K, LANES))
    top, total, density = np.empty(LANES), np.empty(LANES), np.empty(LANES)
    b = take(sync)
    while b < first.size - 1:
        sums[b] = 0.0
        products[b] = 0.0
        found = 0.0
        for t in range(first[b], first[b + 1]):
            for k in range(K):
                residuals(tiles[t], means[k], residual)
                whitened_squares(residual, roots[k], y, total)
                for r in range(LANES):
                    joint[k, r] = constants[k] - 0.5 * total[r]
            posterior_tile(joint, top, total, density)
            for r in range(LANES):
                found += weight[t, r] * density[r]
            for k in range(K):
                residuals(tiles[t], means[k], residual)
                add_tile(k, weight[t], joint[k], residual, scaled, sums[b], products[b])
        likelihood[b] = found
        b = take(sync)


@compiled(inner=True)
def add_tile(k, weight, posterior, residual, scaled, sums, products):
    """Add the moments of a tile to those of component k; `residual` has a row of ones at its end.

    So the sums of w r_k are those of a feature that is 1.
    """
    p = sums.shape[1] - 1
    for j in range(p + 1):
        for r in range(LANES):
            scaled[j, r] = weight[r] * posterior[r] * residual[j, r]
        add_lanes(sums, k, j, scaled)
    for i in range(p):
        for j in range(0, i + 1, STEP):
            add_products(products, k, i, j, scaled, residual)


@compiled
def diagonal_step(sync, first, tiles, weight, means, roots, constants, sums, squares, likelihood):
    """`full_step` where features are independent within components, R_k = diag(roots[k]).

    squares[b, k, j] are the sums of w r_k u_j^2.
    """
    K, p = means.shape
    residual, scaled = np.ones((p + 1, LANES)), np.empty((p + 1, LANES))
    joint = np.empty((K, LANES))
    top, total, density = np.empty(LANES), np.empty(LANES), np.empty(LANES)
    b = take(sync)
    while b < first.size - 1:
        sums[b] = 0.0
        squares[b] = 0.0
        found = 0.0
        for t in range(first[b], first[b + 1]):
            for k in range(K):
                residuals(tiles[t], means[k], residual)
                scaled_squares(residual, roots[k], total)
                for r in range(LANES):
                    joint[k, r] = constants[k] - 0.5 * total[r]
            posterior_tile(joint, top, total, density)
            for r in range(LANES):
                found += weight[t, r] * density[r]
            for k in range(K):
                residuals(tiles[t], means[k], residual)
                add_squares(k, weight[t], joint[k], residual, scaled, sums[b], squares[b])
        likelihood[b] = found
        b = take(sync)


@compiled(inner=True)
def scaled_squares(residual, root, square):
    """square[r] = sum_j (root_j u_j)^2 of lane r."""
    for r in range(LANES):
        square[r] = 0.0
    for j in range(root.size):
        for r in range(LANES):
            y = root[j] * residual[j, r]
            square[r] = fused_multiply_add(y, y, square[r])


@compiled(inner=True)
def add_squares(k, weight, posterior, residual, scaled, sums, squares):
    """Add the moments of a tile, feature by feature, to those of component k; see `add_tile`."""
    p = sums.shape[1] - 1
    for j in range(p + 1):
        for r in range(LANES):
            scaled[j, r] = weight[r] * posterior[r] * residual[j, r]
        add_lanes(sums, k, j, scaled)
    for j in range(p):
        for r in range(LANES):
            scaled[j, r] *= residual[j, r]
        add_lanes(squares, k, j, scaled)


@compiled
def joint_densities(sync, first, tiles, means, roots, constants, joint):
    """joint[i, k] = log(a_k f_k(z_i)), of triangular `roots` as in `full_step`."""
    K, n = means.shape[0], joint.shape[0]
    residual = np.zeros((roots.shape[1], LANES))
    y, square = np.empty((2, LANES)), np.empty(LANES)
    b = take(sync)
    while b < first.size - 1:
        for t in range(first[b], first[b + 1]):
            for k in range(K):
                residuals(tiles[t], means[k], residual)
                whitened_squares(residual, roots[k], y, square)
                for r in range(min(LANES, n - t * LANES)):
                    joint[t * LANES + r, k] = constants[k] - 0.5 * square[r]
        b = take(sync)
