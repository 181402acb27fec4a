"""Bandwidths from the data: rules of thumb, plug-in, and cross-validation.

All are for a Gaussian kernel; another kernel is given the bandwidth at which it smoothes as much
(`Kernel.canonical`). n is the sum of the weights.
"""

from math import log, pi, sqrt
from typing import Literal, NamedTuple
from warnings import warn

import numpy as np
from scipy.fft import irfft, rfft
from scipy.optimize import brentq, minimize_scalar

from empirisk.learners.density.kernel_sums import KernelSums
from empirisk.learners.density.kernels import KERNELS, Kernel
from empirisk.learners.density.pair_sums import pair_logs
from empirisk.runtime.arrays import Floats, Ints
from empirisk.runtime.errors import ConvergenceWarning, DataError

FEWEST_BINS, MOST_BINS = 14, 20  # powers of two
BINS_OF_BANDWIDTH = 400
REACH = 16.0  # bandwidths, at which a Gaussian and its derivatives are below 1e-47
FARTHEST = 24.0  # bandwidths, beyond which rows do not see each other
WIDEST = 2.0  # bandwidths of pilots, in units of the scale
WIDENED = 1.5  # by how much a grid goes on
STEPS = 50  # of a grid of bandwidths
AGAIN = 16  # between the neighbours of the best of them
MOST_GRIDS = 20
LARGE = 2000  # rows on a line from which boxes are faster than pairs


def scott(n: float, d: int) -> float:
    """n^(-1/(d+4)), in standard deviations (Scott 1992)."""
    return float(n ** (-1 / (d + 4)))


def silverman(n: float, d: int) -> float:
    """(4 / ((d + 2) n))^(1/(d+4)), best for Gaussian data, in standard deviations."""
    return float((4 / ((d + 2) * n)) ** (1 / (d + 4)))


class PairCounts(NamedTuple):
    """How many pairs of rows lie so many bins apart, rows counted in bins of equal width."""

    counts: Floats
    width: float
    n: float

    @classmethod
    def of(cls, x: Floats, weight: Floats, low: float, high: float) -> "PairCounts":
        """For bandwidths from low to high.

        Bins are a small part of the one, and gaps between rows that no kernel of the other reaches
        over are shortened, so that a few values far from all others do not make the bins coarse.
        """
        order = np.argsort(x, kind="stable")
        place = np.cumsum(np.minimum(np.diff(x[order], prepend=x[order[0]]), FARTHEST * high))
        wanted = int(np.ceil(np.log2(max(BINS_OF_BANDWIDTH * place[-1] / low, 1.0))))
        bins = 2 ** min(max(wanted, FEWEST_BINS), MOST_BINS)
        width = float(place[-1]) * 1.01 / bins
        mass = np.bincount((place / width).astype(np.int64), weight[order], minlength=bins)
        transform = rfft(mass, 2 * bins)
        counts = irfft(transform * transform.conj(), 2 * bins)[:bins]
        counts[0] = (mass * (mass - 1)).sum() / 2  # a row of weight w is w copies
        if (weight == np.rint(weight)).all():
            counts = np.rint(counts)
        return cls(counts, width, float(weight.sum()))

    def functional(self, h: float, order: int) -> float:
        """The estimate of the integral of f^(order) f by a Gaussian of bandwidth h, order 4 or 6.

        The rows themselves are counted as pairs, too (Sheather and Jones 1991).
        """
        reach = min(len(self.counts), int(REACH * h / self.width) + 2)
        u = (np.arange(reach) * (self.width / h)) ** 2
        hermite = u**2 - 6 * u + 3 if order == 4 else u**3 - 15 * u**2 + 45 * u - 15
        total = 2 * (np.exp(-u / 2) * hermite) @ self.counts[:reach] + self.n * hermite[0]
        return float(total / (self.n * (self.n - 1) * h ** (order + 1) * sqrt(2 * pi)))

    def unbiased_risk(self, h: float) -> float:
        """The integral of f_h^2 - 2 f_h f, from rows left out, up to a constant.

        R's bw.ucv has n where n - 1 rows are left.
        """
        reach = min(len(self.counts), int(sqrt(2) * REACH * h / self.width) + 2)
        u = (np.arange(reach) * (self.width / h)) ** 2
        wide, thin = (np.exp(-u / part) @ self.counts[:reach] for part in (4, 2))
        sums = 0.5 + wide / self.n - sqrt(8) * thin / (self.n - 1)
        return float(sums / (self.n * h * sqrt(pi)))


def sheather_jones(x: Floats, weight: Floats) -> float:
    """The h that solves the equation for the best one with estimated derivatives.

    S. Sheather and M. Jones (1991), the solve-the-equation rule.
    """
    refuse_one_sample(float(np.ptp(x)) > 0)
    refuse_light(weight)
    n, scale = float(weight.sum()), robust_scale(x, weight)
    high = 1.144 * scale * n ** (-1 / 5)
    pairs = PairCounts.of(x, weight, 0.5 * high, WIDEST * scale)
    sixth = -pairs.functional(1.23 * scale * n ** (-1 / 9), 6)
    if not 0 < sixth < np.inf:
        raise DataError(
            "the rows are too few, or too many are equal, for 'sheather-jones': use 'silverman'"
        )
    fourth = pairs.functional(1.24 * scale * n ** (-1 / 7), 4)
    ratio = 1.357 * (fourth / sixth) ** (1 / 7)

    def equation(h: float) -> float:
        curvature = pairs.functional(ratio * h ** (5 / 7), 4)
        return float((1 / (2 * sqrt(pi) * n * curvature)) ** 0.2 - h) if curvature > 0 else -h

    low = 0.1 * high
    while ratio * high ** (5 / 7) < WIDEST * scale and low > 1e-9 * scale:
        if equation(low) > 0 > equation(high):
            return float(brentq(equation, low, high, xtol=1e-10 * low, rtol=1e-10))
        low, high = low / 1.2, high * 1.2
    raise DataError("the equation of 'sheather-jones' has no solution: use 'silverman'")


def least_squares(x: Floats, weight: Floats, least: float = 0.0) -> float:
    """Unbiased cross-validation on a line.

    From a tenth of what is best for Gaussian data with the spread of the middle half of the rows,
    or `least`, the step of rounded numbers, if that is more: equal rows would make the least h the
    best one. To 1.144 n^(-1/5) standard deviations, the largest h that any density asks for, and on
    where the risk is least there: of Gaussian rows it often is. R's bw.ucv ends there.
    """
    refuse_one_sample(float(np.ptp(x)) > 0)
    refuse_light(weight)
    n, deviation = float(weight.sum()), standard_deviation(x, weight)
    factor = 1.144 * n ** (-1 / 5)
    high = max(factor * deviation, 2 * least)
    low = max(0.1 * factor * robust_scale(x, weight), least)
    found, end = _least_between(x, weight, low, high)
    if end == "low":
        groups = np.unique(x, return_inverse=True)[1].reshape(-1)
        warn_of_narrowest(weight, groups, "'sheather-jones' or 'cv'")
    for _ in range(MOST_GRIDS):
        if end != "high":
            break
        # From below the end, on which the least may lie.
        low, high = high / WIDENED, WIDENED * high
        found, end = _least_between(x, weight, low, high)
    return found


def _least_between(
    x: Floats, weight: Floats, low: float, high: float
) -> tuple[float, Literal["low", "high"] | None]:
    """The h of least unbiased risk, and at which end of a grid it was found."""
    grid = np.geomspace(low, high, max(100, int(40 * log(high / low))))
    parts = np.array_split(grid, -(-len(grid) // 100))
    pairs = [PairCounts.of(x, weight, part[0] / 1.1, part[-1] * 1.1) for part in parts]
    risks = [each.unbiased_risk(h) for part, each in zip(parts, pairs, strict=True) for h in part]
    best = int(np.argmin(risks))
    own = pairs[int(np.searchsorted(np.cumsum([len(part) for part in parts]), best, "right"))]
    ends = grid[max(best - 1, 0)], grid[min(best + 1, len(grid) - 1)]
    found = minimize_scalar(
        own.unbiased_risk, bounds=ends, method="bounded", options={"xatol": 1e-8 * ends[0]}
    )
    end: Literal["low", "high"] | None = "low" if best == 0 else None
    return float(found.x), "high" if best == len(grid) - 1 else end


def least_squares_any(rows: Floats, weight: Floats, groups: Ints, n_jobs: int | None) -> float:
    """Unbiased cross-validation in d columns: the same from all pairs of rows."""
    refuse_one_sample(int(groups.max()) > 0)
    refuse_light(weight)
    n, d = float(weight.sum()), rows.shape[1]
    high = 2.0 * silverman(n, d)  # no sample of a Gaussian that was tried has it beyond 2.06
    values = np.geomspace(high / 20, high, STEPS)
    gaussian = KERNELS["gaussian"]
    nobody = np.full(len(rows), -1)
    wide = pair_logs(gaussian, rows, nobody, rows, groups * 0, weight, values * sqrt(2), n_jobs)
    thin = pair_logs(gaussian, rows, nobody, rows, groups * 0, weight, values, n_jobs)
    squares = weight @ np.exp(wide) / (2 ** (d / 2) * n)
    others = weight @ (np.exp(thin) - 1) / (n - 1)  # all copies but the row itself
    best = int(np.argmin((squares - 2 * others) / (n * values**d)))
    if best == 0:
        warn_of_narrowest(weight, groups, "'cv'")
    return float(values[best])


def likelihood(
    kernel: Kernel, rows: Floats, weight: Floats, groups: Ints, n_jobs: int | None
) -> float:
    """The h with the largest likelihood of rows left out; equal rows are left out together.

    Otherwise there is no largest one: it grows without bound as h tends to 0.
    """
    distinct, d = int(groups.max()) + 1, rows.shape[1]
    refuse_one_sample(distinct > 1)
    start = silverman(distinct, d) * kernel.canonical(d)
    values = np.geomspace(start / 20, max(20 * start, 1.0), STEPS)
    if kernel.bounded:  # far rows are to be within reach of others
        values = np.geomspace(start / 20, 1.05 * float(np.linalg.norm(np.ptp(rows, axis=0))), STEPS)
    best = _best_likelihood(kernel, rows, weight, groups, values, n_jobs)
    for _ in range(MOST_GRIDS):  # groups of rows that are far apart for their own spread
        if best > 0:
            break
        values = values * (values[2] / values[-1])
        best = _best_likelihood(kernel, rows, weight, groups, values, n_jobs)
    low, high = values[max(best - 1, 0)], values[min(best + 1, STEPS - 1)]
    finer = np.geomspace(low, high, AGAIN)
    return float(finer[_best_likelihood(kernel, rows, weight, groups, finer, n_jobs)])


def left_out_logs(
    kernel: Kernel,
    rows: Floats,
    weight: Floats,
    groups: Ints,
    values: Floats,
    n_jobs: int | None,
) -> Floats:
    """log of the sum at each row over the rows of other groups, a column for each bandwidth."""
    if not (rows.shape[1] == 1 and kernel.name == "gaussian" and len(rows) > LARGE):
        return pair_logs(kernel, rows, groups, rows, groups, weight, values, n_jobs)
    own = np.bincount(groups, weight)[groups]
    logs = np.empty((len(rows), len(values)))
    for v, h in enumerate(values):
        sums = np.exp(KernelSums(rows, weight, kernel.kind, 0.0, float(h), 0.0, n_jobs).logs(rows))
        rest = sums - own
        few = np.flatnonzero(rest < 1e-3 * sums)  # digits are lost by subtracting
        with np.errstate(divide="ignore", invalid="ignore"):
            logs[:, v] = np.log(rest)
        if len(few):
            logs[few, v] = pair_logs(
                kernel, rows[few], groups[few], rows, groups, weight, values[v : v + 1], n_jobs
            )[:, 0]
    return logs


def refuse_one_sample(differ: bool) -> None:
    """No rule compares rows that do not differ."""
    if not differ:
        raise DataError(
            "the rows are one sample, or copies of it, from which no bandwidth can be chosen: give "
            "a number"
        )


def refuse_light(weight: Floats) -> None:
    """A row of weight w is w rows, and one row has no other to be compared with."""
    if not float(weight.sum()) > 1:
        raise DataError(
            f"the weights sum to {weight.sum():.4g}, and a row of weight w counts as w rows: more "
            "than one is needed to choose a bandwidth; multiply the weights, or use 'cv'"
        )


def warn_of_narrowest(weight: Floats, groups: Ints, others: str) -> None:
    """Say that the risk would be less still at a narrower bandwidth than was tried, and why."""
    copies = float(np.bincount(groups, weight).max()) > 1
    reason = "rows that are equal" if copies else "rows that are far denser in some places"
    warn(
        "the risk of 'ucv' is least at the narrowest bandwidth that was tried, as "
        f"{reason} make it: use {others}",
        ConvergenceWarning,
        stacklevel=2,
    )


def standard_deviation(x: Floats, weight: Floats) -> float:
    """With divisor n - 1, the sum of the weights less one; 0 where n is not above one."""
    n = float(weight.sum())
    square = float(np.average((x - np.average(x, weights=weight)) ** 2, weights=weight))
    return sqrt(square * n / (n - 1)) if n > 1 else 0.0


def robust_scale(x: Floats, weight: Floats) -> float:
    """The least of standard deviation and interquartile range / 1.349; one of them if the other
    is 0, and 1 if both are."""
    deviation = standard_deviation(x, weight)
    low, high = weighted_quantiles(x, weight, (0.25, 0.75))
    spread = (high - low) / 1.349
    return min(deviation, spread) or deviation or spread or 1.0


def weighted_quantiles(x: Floats, weight: Floats, shares: tuple[float, ...]) -> list[float]:
    """As those of NumPy and R (type 7) of so many copies of each number.

    Examples
    --------
    >>> weighted_quantiles(np.array([3.0, 1.0, 2.0]), np.array([1.0, 2.0, 1.0]), (0.5,))
    [1.5]
    """
    order = np.argsort(x, kind="stable")
    ends = np.cumsum(weight[order])
    found = []
    for share in shares:
        place = (ends[-1] - 1) * share if ends[-1] > 1 else 0.0
        below = min(int(np.searchsorted(ends, np.floor(place), side="right")), len(x) - 1)
        above = min(int(np.searchsorted(ends, np.floor(place) + 1, side="right")), len(x) - 1)
        part = place - np.floor(place)
        found.append(float(x[order[below]] * (1 - part) + x[order[above]] * part))
    return found


def _best_likelihood(
    kernel: Kernel,
    rows: Floats,
    weight: Floats,
    groups: Ints,
    values: Floats,
    n_jobs: int | None,
) -> int:
    logs = left_out_logs(kernel, rows, weight, groups, values, n_jobs)
    found = weight @ logs / weight.sum() - rows.shape[1] * np.log(values)
    found = np.where(np.isnan(found), -np.inf, found)
    best = int(np.argmax(found))
    ties = np.flatnonzero(found >= found[best] - 1e-12 * abs(found[best]))
    return int(ties[-1])  # the largest of equals
