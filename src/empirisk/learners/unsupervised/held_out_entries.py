"""Entries held out from their own rows: how the number of principal components is judged.

A reconstruction of a row uses all its entries, the one that is judged too, and more components
always reconstruct better. So each entry x_j is held out in turn and predicted from the others of
its row, given axes that other rows have told. K axes with eigenvalues l_1, ..., l_K and v the mean
of the others say that rows have the covariance C = V' diag(l - v) V + v I (Tipping & Bishop 1999),
and under it the best prediction of an entry from the others, a regression, has the error

    x_j - x~_j = (C^-1 x)_j / (C^-1)_jj = (x - V'D V x)_j / (1 - sum_k D_k V_kj^2),  D = 1 - v / l.

No entry is left out one by one: the formula does it for all of them at once. The prediction by
least squares on the axes alone, D = 1, is that of Wold (1978) and of the iterations of expectation
and maximisation in Bro, Kjeldahl, Smilde & Kiers (2008); it fails where a column has much
variance and no relation to others, since then 1 - sum_k V_kj^2 is close to 0.
"""

from collections.abc import Sequence

import numpy as np

from empirisk.runtime.arrays import Floats, Ints

NOTHING = 1e-12
"""A share of the variance so small that the axes left out have none."""


def entry_losses(Z: Floats, directions: Floats, variance: Floats, dropped: float) -> Floats:
    """sum_j (z_j - z~_j)^2 over the total variance, for rows Z about the mean of other rows.

    Parameters
    ----------
    Z : array of shape (m, p)
    directions, variance : axes (K, p) and the variances along them
    dropped : float
        The sum of the variances along all other axes.
    """
    return entry_losses_along(Z, directions, variance, dropped, [len(variance)])[:, 0]


def entry_losses_along(
    Z: Floats, directions: Floats, variance: Floats, dropped: float, numbers: Sequence[int]
) -> Floats:
    """The same for several numbers of axes, a column for each.

    The error is linear in v: with the scores t = V x, the first K of them,

        x - V'D V x = (x - V't) + v V'(t / l),   and so for the divisor,

    and both parts grow axis by axis.
    """
    (m, p), left = Z.shape, _left_out(variance, dropped)
    used = axes_in_use(left, numbers)
    losses = np.empty((m, len(used)))
    residual, pull = Z.copy(), np.zeros_like(Z)
    free, ease = np.ones(p), np.zeros(p)
    scores = Z @ directions.T
    total = left[0] if left[0] > 0 else 1.0
    for k in range(int(used.max(initial=0)) + 1):
        if k:
            v, t = directions[k - 1], scores[:, k - 1]
            part = np.multiply.outer(t, v)
            residual -= part
            pull += part / variance[k - 1]
            free -= v * v
            ease += v * v / variance[k - 1]
        if k in used:
            noise = left[k] / (p - k)
            errors = (residual + noise * pull) / (free + noise * ease)
            losses[:, used == k] = (np.einsum("ij,ij->i", errors, errors) / total)[:, None]
    return losses


def axes_in_use(left: Floats, numbers: Sequence[int]) -> Ints:
    """How many axes predict: where they leave out no variance at all, or have none, fewer.

    The last axis that has variance is then part of what the covariance C calls noise; C is the
    same, for it takes one variance to have all of them.
    """
    most = min(int((left > NOTHING * left[0]).sum()) - 1, int((np.diff(left) < 0).sum()))
    return np.minimum(np.array(numbers, dtype=np.int64), max(most, 0))


def _left_out(variance: Floats, dropped: float) -> Floats:
    """The sum of the variances beyond the first k, for k = 0, ..., K."""
    return np.append(np.cumsum(variance[::-1])[::-1] + dropped, dropped)
