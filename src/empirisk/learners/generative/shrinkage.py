"""How much to shrink a covariance, from the rows alone.

For n rows z of one class about their mean, columns scaled to unit variance, with covariance S,

    Sigma = (1 - s) S + s m I,    m = trace S / p,

Ledoit & Wolf (2004), A well-conditioned estimator for large-dimensional covariance matrices:

    s = min(b, d) / d,    d = |S - m I|^2,    b = (sum |z|^4 / n - |S|^2) / n;

Chen, Wiesel, Eldar & Hero (2010), Shrinkage algorithms for MMSE covariance estimation, for
Gaussian rows:

    s = min(1, (a + m^2) / ((n + 1) (a - m^2 / p))),    a = |S|^2 / p^2.

As in scikit-learn, each class is shrunken by itself, and where classes share one covariance they
are then pooled.
"""

from typing import NamedTuple

import numpy as np

from empirisk.data.blocks import Blocks
from empirisk.data.class_moments import ClassMoments, Units
from empirisk.runtime.arrays import Floats
from empirisk.runtime.deadlines import check_deadline


class ShrunkenClasses(NamedTuple):
    """The covariances of classes that were shrunken, how much each was, and its share of rows."""

    each: Floats  # (K, p, p)
    shrinkage: Floats  # (K,)
    share: Floats  # (K,)

    @property
    def pooled(self) -> Floats:
        """The covariance within classes."""
        return np.einsum("k,kij->ij", self.share, self.each)


def shrunken_classes(
    moments: ClassMoments, blocks: Blocks, units: Units, how: str
) -> ShrunkenClasses:
    """Of classes with a scatter each, by Ledoit & Wolf ("auto") or by Chen and others ("oas").

    `blocks` are measured as the moments are; they are gone through once more by "auto" alone.
    """
    n = np.ldexp(moments.weight, units.weight)
    S = moments.scatter / moments.weight[:, None, None]
    scale = np.sqrt(np.einsum("kjj->kj", S))
    scale[scale == 0] = 1.0
    S = S / (scale[:, :, None] * scale[:, None, :])
    if how == "auto":
        share = ledoit_wolf(S, n, _fourth_powers(moments, blocks, scale))
    else:
        share = oracle_approximating(S, n)
    towards = share * np.einsum("kjj->k", S) / S.shape[1]
    S *= (1 - share)[:, None, None]
    diagonal = np.einsum("kjj->kj", S)
    diagonal += towards[:, None]
    S *= scale[:, :, None] * scale[:, None, :]
    return ShrunkenClasses(S, share, n / n.sum())


def ledoit_wolf(S: Floats, n: Floats, fourth: Floats) -> Floats:
    """s of each class, from the mean of |z|^4."""
    p = S.shape[1]
    squared, mean = np.einsum("kij,kij->k", S, S), np.einsum("kjj->k", S) / p
    distance = squared - p * mean**2
    spread = np.minimum((fourth - squared) / n, distance)
    return np.divide(spread, distance, out=np.zeros_like(spread), where=spread > 0)


def oracle_approximating(S: Floats, n: Floats) -> Floats:
    """s of each class."""
    p = S.shape[1]
    squared, mean = np.einsum("kij,kij->k", S, S) / p**2, np.einsum("kjj->k", S) / p
    below = (n + 1) * (squared - mean**2 / p)
    above = squared + mean**2
    return np.divide(above, below, out=np.ones_like(above), where=above < below)


def _fourth_powers(moments: ClassMoments, blocks: Blocks, scale: Floats) -> Floats:
    """The weighted mean of |z|^4 in each class."""
    total = np.zeros(len(moments.weight))
    for block in blocks:
        check_deadline()
        z = (block.X - moments.mean[block.y]) / scale[block.y]
        length = np.einsum("ij,ij->i", z, z)
        total += np.bincount(block.y, block.weight * length**2, len(total))
    return total / moments.weight
