"""A bandwidth by the name of its rule, for rows of any number of columns."""

from warnings import warn

import numpy as np

from empirisk.learners.density import bandwidth_rules as rules
from empirisk.learners.density.bandwidth_matrix import (
    LEAST_SPREAD,
    inverse_of,
    offset_of,
    spread_matrix,
)
from empirisk.learners.density.kernels import Kernel
from empirisk.runtime.arrays import Floats, Ints
from empirisk.runtime.errors import ParameterError, RankWarning

RULES = ("scott", "silverman", "sheather-jones", "ucv", "cv")


def bandwidth_of_rule(
    name: str,
    kernel: Kernel,
    rows: Floats,
    weight: Floats,
    n_jobs: int | None = None,
    *,
    diagonal: bool = False,
) -> float | Floats:
    """A number on a line, otherwise a multiple of the root of the covariance.

    With `diagonal` each column has its own standard deviation instead.
    """
    d = rows.shape[1]
    counts = name != "cv"  # where the number of rows matters, weights of another scale do
    spread = spread_matrix(rows, weight, unbiased=counts)
    if diagonal and d > 1:
        columns = (spread_matrix(rows[:, [j]], weight, unbiased=counts) for j in range(d))
        spread = np.diag([column[0, 0] for column in columns])
    placed = np.ascontiguousarray(_centred(rows, weight, spread))
    if name in ("cv", "ucv"):
        placed = _alike(rows, placed)
    factor = _factor(name, kernel, placed, weight, n_jobs)
    _warn_of_planes(rows, spread)
    if d == 1:
        return float(factor * spread[0, 0])
    return factor * (np.diag(spread) if diagonal else spread)


def bandwidth_grid(
    kernel: Kernel,
    rows: Floats,
    weight: Floats,
    n_train: int,
    least: float = 0.0,
    most: float = np.inf,
) -> list[float]:
    """50 numbers from a twentieth of Scott's, for the narrowest column, to twice the spread of the
    widest; of a kernel of bounded support as far as all rows reach. None is below `least`, if
    that is no more than Scott's, and none above `most`."""
    d = rows.shape[1]
    columns = (spread_matrix(rows[:, [j]], weight, unbiased=False) for j in range(d))
    spreads = np.array([column[0, 0] for column in columns])
    moving = np.ptp(rows, axis=0) > 0
    spreads = spreads[moving] if moving.any() else np.ones(1)
    n = max(float(n_train), 1.0)
    scott = rules.scott(n, d) * kernel.canonical(d)
    low = 0.05 * scott * float(spreads.min())
    low = max(low, min(least, scott * float(spreads.max())))
    high = 2.0 * float(spreads.max())
    if kernel.bounded and moving.any():
        unit = float(spreads.max())
        ranges = rows[:, moving].max(axis=0) / unit - rows[:, moving].min(axis=0) / unit
        high = max(high, 1.05 * float(np.linalg.norm(ranges)) * unit)
    ends = min(low, 0.9 * most), min(high, 0.999 * most)
    return [float(h) for h in np.geomspace(*ends, rules.STEPS)]


def rounding_step(rows: Floats, weight: Floats) -> float:
    """The step of rounded numbers, of the coarsest column, if half of the rows stand twice; else 0.

    The likelihood of held-out rows that stand among the training rows too grows without bound as
    the bandwidth falls below that step: it would choose spikes. A row of weight w stands w times.
    """
    group = _equal_rows(rows)
    twice = np.bincount(group, weight)[group] > 1
    if weight[twice].sum() < 0.5 * weight.sum():
        return 0.0
    return max(_median_gap(column, weight) for column in rows.T)


def _median_gap(x: Floats, weight: Floats) -> float:
    """The median, over rows, of the distance to the nearest value that is another one."""
    values, place = np.unique(x, return_inverse=True)
    if len(values) == 1:
        return 0.0
    gaps = np.concatenate([[np.inf], np.diff(values), [np.inf]])
    nearest = np.minimum(gaps[:-1], gaps[1:])[place.reshape(-1)]
    return rules.weighted_quantiles(nearest, weight, (0.5,))[0]


def _warn_of_planes(rows: Floats, spread: Floats) -> None:
    """Say that the rows do not spread in a direction, so that no density of theirs exists."""
    flat = np.ptp(rows, axis=0) == 0
    if flat.all():
        warn(
            "all rows are equal and have no density: the bandwidth is that of a standard deviation "
            "of 1; give it as a number",
            RankWarning,
        )
        return
    even = spread / np.abs(spread).max(axis=1, keepdims=True)  # whose squares are numbers
    even /= np.linalg.norm(even, axis=1, keepdims=True)
    roots = np.linalg.svd(even, compute_uv=False)  # those of the correlations
    # up to the rounding of sums of so many columns
    if flat.any() or roots[-1] <= 2 * np.sqrt(len(flat)) * LEAST_SPREAD * roots[0]:
        warn(
            f"the rows of X lie in fewer than {len(flat)} dimensions and have no density there: "
            "leave out columns that are constant or follow from others, or give the bandwidth in "
            "numbers",
            RankWarning,
        )


def _centred(rows: Floats, weight: Floats, spread: Floats) -> Floats:
    """Rows in units of the spread."""
    unit = float(np.abs(spread).max())
    near = rows - offset_of(rows)
    centre = (weight / weight.sum()) @ (near / unit)
    return (near / unit - centre) @ inverse_of(spread / unit)[0].T


def _alike(rows: Floats, placed: Floats) -> Floats:
    """Placed rows, equal to the last bit where the rows are equal.

    A product of matrices may round equal rows in other ways; a row left out would then not take
    its copies along.
    """
    if rows.shape[1] == 1:  # one product for each
        return placed
    _, first, group = np.unique(rows, axis=0, return_index=True, return_inverse=True)
    return placed[first[group.reshape(-1)]]


def _factor(name: str, kernel: Kernel, placed: Floats, weight: Floats, n_jobs: int | None) -> float:
    n, d = float(weight.sum()), placed.shape[1]
    if name == "cv":
        return rules.likelihood(kernel, placed, weight, _equal_rows(placed), n_jobs)
    if name == "scott":
        found = rules.scott(n, d)
    elif name == "silverman":
        found = rules.silverman(n, d)
    elif name == "ucv":
        if d == 1:
            found = rules.least_squares(placed[:, 0], weight, rounding_step(placed, weight))
        else:
            found = rules.least_squares_any(placed, weight, _equal_rows(placed), n_jobs)
    elif d > 1:
        raise ParameterError(
            f"'sheather-jones' is for one column, and X has {d}: use 'ucv', 'cv' or 'scott'"
        )
    else:
        found = rules.sheather_jones(placed[:, 0], weight)
    return found * kernel.canonical(d)


def _equal_rows(rows: Floats) -> Ints:
    """A number for each row; equal rows share one."""
    return np.unique(rows, axis=0, return_inverse=True)[1].reshape(-1).astype(np.int64)
