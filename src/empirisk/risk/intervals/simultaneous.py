"""Many differences at once: intervals of which all hold together (max-t)."""

from collections.abc import Sequence

import numpy as np
from scipy import stats

from empirisk.risk.intervals.loss_table import ROUNDING, LossTable
from empirisk.runtime.arrays import Floats
from empirisk.runtime.streams import generator

DRAWS = 20_000


def deviations(table: LossTable) -> Floats:
    """What each unit adds to the error of the mean: sum of w (l - mean) over its rows."""
    parts = np.bincount(table.unit, table.share * (table.losses - table.mean()))
    return parts[np.bincount(table.unit) > 0].astype(float)


def simultaneous_level(parts: Floats, pairs: Sequence[tuple[int, int]], level: float) -> float:
    """The level at which each interval is taken for all to hold together at `level`.

    With the joint normal distribution of the means' errors, and one estimate of scale, the largest
    |t| of the differences has the quantile q (Hothorn, Bretz and Westfall 2008), found from
    20,000 draws; it is the quantile of a single t at the level returned. Differences that go
    together cost less than Bonferroni's correction.

    Parameters
    ----------
    parts : array of shape (units, rivals)
        `deviations` of each.
    pairs : sequence of (int, int)
        The differences, by the columns they are of.
    level : float
    """
    freedom = len(parts) - 1
    parts = parts / (np.abs(parts).max() or 1.0)
    rng = generator(0)  # the same answer each time
    _, size, axes = np.linalg.svd(parts, full_matrices=False)
    root = axes.T @ (size[:, None] * axes)  # of the covariance, the symmetric one: it is unique
    noise = rng.normal(size=(DRAWS, len(root))) @ root
    scale = np.sqrt(rng.chisquare(freedom, size=DRAWS) / freedom) if freedom > 0 else 1.0
    largest = np.zeros(DRAWS)
    counted = 0
    for a, b in pairs:
        error = float(np.linalg.norm(parts[:, a] - parts[:, b]))
        if error > ROUNDING * float(np.linalg.norm(parts[:, a])):  # else two programs for one rule
            counted += 1
            np.maximum(largest, np.abs(noise[:, a] - noise[:, b]) / error, out=largest)
    if counted < 2 or freedom < 1:
        return level
    q = float(np.quantile(largest / scale, level))
    return max(level, float(2 * stats.t.cdf(q, freedom) - 1))
