"""The E-step of Gaussian mixtures for rows with missing values, by conditional moments.

Rows with the same missing features, a pattern, stand one after the other. With the observed
features first, S_k = L L' gives everything: y = L_oo^-1 u_o is whitened, so the density of what is
observed is known; the missing residuals have the mean L_mo y and the covariance L_mm L_mm' given
the observed ones (Little & Rubin, section 11.2).
"""

import numpy as np

from empirisk.compiled.decorator import compiled
from empirisk.compiled.team import take


@compiled(inner=True)
def observed_first(row, order):
    """Features into `order`, the observed ones first; returns how many are observed."""
    observed = 0
    for j in range(row.size):
        if row[j] == row[j]:
            order[observed] = j
            observed += 1
    place = observed
    for j in range(row.size):
        if row[j] != row[j]:
            order[place] = j
            place += 1
    return observed


@compiled(inner=True)
def ordered_cholesky(matrix, order, root):
    """The lower triangular L with L L' = matrix[order][:, order]."""
    for i in range(order.size):
        for j in range(i + 1):
            s = matrix[order[i], order[j]]
            for m in range(j):
                s -= root[i, m] * root[j, m]
            if i > j:
                root[i, j] = s / root[j, j]
            else:  # a positive definite matrix whose last digits say otherwise
                root[i, i] = np.sqrt(s) if s > 0.0 else 1e-150


@compiled(inner=True)
def completed_residual(row, mean, order, observed, root, out):
    """The residual with conditional means where it is missing; returns |y|^2."""
    p = order.size
    y = out[p:]
    square = 0.0
    for i in range(observed):
        s = row[order[i]] - mean[order[i]]
        out[order[i]] = s
        for j in range(i):
            s -= root[i, j] * y[j]
        y[i] = s / root[i, i]
        square += y[i] * y[i]
    for i in range(observed, p):
        s = 0.0
        for j in range(observed):
            s += root[i, j] * y[j]
        out[order[i]] = s
    return square


@compiled(inner=True)
def posterior_row(joint):
    """Log joint densities of components become posterior probabilities; returns log of the sum."""
    top = joint[0]
    for k in range(1, joint.size):
        top = max(top, joint[k])
    total = 0.0
    for k in range(joint.size):
        joint[k] = np.exp(joint[k] - top)
        total += joint[k]
    for k in range(joint.size):
        joint[k] /= total
    return top + np.log(total)


@compiled(inner=True)
def factor_pattern(row, means, covariances, log_shares, order, roots, constants):
    """Factors and constants of all components for a pattern; returns how many are observed."""
    observed = observed_first(row, order)
    for k in range(means.shape[0]):
        ordered_cholesky(covariances[k], order, roots[k])
        constants[k] = log_shares[k] - 0.5 * observed * np.log(2 * np.pi)
        for i in range(observed):
            constants[k] -= np.log(roots[k, i, i])
    return observed


@compiled
def missing_step(
    sync,
    first,
    patterns,
    Z,
    weight,
    means,
    covariances,
    log_shares,
    mass,
    sums,
    products,
    likelihood,
):
    """For each block of patterns the log-likelihood and the expected moments of each component.

    mass[b, k] are the sums of w r_k, sums[b, k] those of w r_k E u and products[b, k] those of
    w r_k E uu'. Pattern q has the rows patterns[q] to patterns[q + 1].
    """
    K, p = means.shape
    order, roots = np.empty(p, np.int64), np.zeros((K, p, p))
    residual, joint, constants = np.empty((K, 2 * p)), np.empty(K), np.empty(K)
    share = np.empty(K)
    b = take(sync)
    while b < first.size - 1:
        mass[b] = 0.0
        sums[b] = 0.0
        products[b] = 0.0
        likelihood[b] = 0.0
        for q in range(first[b], first[b + 1]):
            observed = factor_pattern(
                Z[patterns[q]], means, covariances, log_shares, order, roots, constants
            )
            share[:] = 0.0
            for i in range(patterns[q], patterns[q + 1]):
                for k in range(K):
                    square = completed_residual(
                        Z[i], means[k], order, observed, roots[k], residual[k]
                    )
                    joint[k] = constants[k] - 0.5 * square
                likelihood[b] += weight[i] * posterior_row(joint)
                for k in range(K):
                    share[k] += weight[i] * joint[k]
                    add_row(weight[i] * joint[k], residual[k], sums[b, k], products[b, k])
            for k in range(K):
                mass[b, k] += share[k]
                add_spread(share[k], order, observed, roots[k], products[b, k])
        b = take(sync)


@compiled(inner=True)
def add_row(share, residual, sums, products):
    """Add share * u to sums and share * uu' to products."""
    for i in range(sums.size):
        scaled = share * residual[i]
        sums[i] += scaled
        for j in range(i + 1):
            products[i, j] += scaled * residual[j]


@compiled(inner=True)
def add_spread(share, order, observed, root, products):
    """Add share * L_mm L_mm', the covariance of the missing features given the observed ones."""
    for i in range(observed, order.size):
        for j in range(observed, i + 1):
            s = 0.0
            for m in range(observed, j + 1):
                s += root[i, m] * root[j, m]
            row, column = max(order[i], order[j]), min(order[i], order[j])
            products[row, column] += share * s


@compiled
def missing_densities(sync, first, patterns, Z, means, covariances, log_shares, joint):
    """joint[i, k] = log(a_k f_k(observed part of z_i))."""
    K, p = means.shape
    order, roots = np.empty(p, np.int64), np.zeros((K, p, p))
    residual, constants = np.empty(2 * p), np.empty(K)
    b = take(sync)
    while b < first.size - 1:
        for q in range(first[b], first[b + 1]):
            observed = factor_pattern(
                Z[patterns[q]], means, covariances, log_shares, order, roots, constants
            )
            for i in range(patterns[q], patterns[q + 1]):
                for k in range(K):
                    square = completed_residual(Z[i], means[k], order, observed, roots[k], residual)
                    joint[i, k] = constants[k] - 0.5 * square
        b = take(sync)
