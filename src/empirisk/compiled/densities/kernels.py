"""Kernels of the squared distance, by number, without their norming constants."""

import numpy as np

from empirisk.compiled.decorator import compiled
from empirisk.compiled.exponential import exponential

GAUSSIAN, TOPHAT, EPANECHNIKOV, EXPONENTIAL, LINEAR, COSINE = 0, 1, 2, 3, 4, 5
BIWEIGHT, TRIWEIGHT, GAUSSIAN4, EPANECHNIKOV4 = 6, 7, 8, 9
EPANECHNIKOV_POWER4, EPANECHNIKOV_POWER6 = 10, 11  # squares of biweight and triweight
LINEAR2, COSINE2, GAUSSIAN4_2, EPANECHNIKOV4_2 = 12, 13, 14, 15


@compiled(inner=True)
def add_kernels(kind, shape, weight, d2, sums):
    """Add w k(d2) for each of some squared distances, in bandwidths.

    `shape` is the constant b of the higher orders: b - d2/2 before the Gaussian, 1 - b d2 before
    Epanechnikov's. For GAUSSIAN and EXPONENTIAL what is in d2 is the exponent itself.
    """
    if kind in (GAUSSIAN, EXPONENTIAL):
        for i in range(d2.size):
            sums[i] += weight[i] * exponential(-d2[i])
    elif kind == TOPHAT:
        for i in range(d2.size):
            sums[i] += weight[i] if d2[i] < 1.0 else 0.0
    elif kind == EPANECHNIKOV:
        for i in range(d2.size):
            sums[i] += weight[i] * max(1.0 - d2[i], 0.0)
    elif kind == BIWEIGHT:
        for i in range(d2.size):
            u = max(1.0 - d2[i], 0.0)
            sums[i] += weight[i] * (u * u)
    elif kind == TRIWEIGHT:
        for i in range(d2.size):
            u = max(1.0 - d2[i], 0.0)
            sums[i] += weight[i] * (u * u * u)
    elif kind == LINEAR:
        for i in range(d2.size):
            sums[i] += weight[i] * max(1.0 - np.sqrt(d2[i]), 0.0)
    elif kind == GAUSSIAN4:
        for i in range(d2.size):
            sums[i] += weight[i] * (shape - 0.5 * d2[i]) * exponential(-0.5 * d2[i])
    elif kind == EPANECHNIKOV4:
        for i in range(d2.size):
            sums[i] += weight[i] * max(1.0 - d2[i], 0.0) * (1.0 - shape * d2[i])
    elif kind == COSINE:
        for i in range(d2.size):
            if d2[i] < 1.0:
                sums[i] += weight[i] * np.cos(0.5 * np.pi * np.sqrt(d2[i]))
    else:
        add_squares(kind, shape, weight, d2, sums)


@compiled(inner=True)
def add_squares(kind, shape, weight, d2, sums):
    """As `add_kernels`, for the squares of kernels."""
    for i in range(d2.size):
        u = max(1.0 - d2[i], 0.0)
        value = 0.0
        if kind == EPANECHNIKOV_POWER4:
            value = u**4
        elif kind == EPANECHNIKOV_POWER6:
            value = u**6
        elif kind == EPANECHNIKOV4_2:
            value = (u * (1.0 - shape * d2[i])) ** 2
        elif kind == GAUSSIAN4_2:
            value = ((shape - 0.5 * d2[i]) * exponential(-0.5 * d2[i])) ** 2
        elif u > 0.0:
            root = np.sqrt(d2[i])
            value = (1.0 - root) ** 2 if kind == LINEAR2 else np.cos(0.5 * np.pi * root) ** 2
        sums[i] += weight[i] * value
