"""How far apart the risks of the folds' models lie, beyond what the rows of the folds explain.

Where chance decides what a learner finds, as with splits that say nothing by themselves or the
starts of a network, the risk differs from fold to fold, and no spread of losses over rows tells of
that. Of J folds with the mean losses m_j and the shares W_j of all weight,

    S^2 = J/(J - 1) sum_j W_j (m_j - m)^2,    s^2 = sum_j W_j (error of m_j)^2,

and where models are alike S^2/s^2 is about an F of J - 1 and n - J degrees of freedom. Their risks
have the variance V = S^2 - F_0.95 s^2 where that is positive, of which s^2 takes the place that
chance may have. The model of all rows is one more of them, and its risk R is V (1 + 1/J) from
their mean, beside what the rows add. As much is allowed for what the models have in common and
those of other samples have not, which one sample does not show.

The losses z of the model of all rows on the same rows are too small, but in all folds nearly alike:
of l - b z, b the slope within folds, the rows explain less, and V is seen earlier. By how much they
are too small, G on average, differs from fold to fold as a chi-square does: for losses that are
minus log-likelihoods with the variance 2 b^2 G/n, for squared ones with sqrt(8) b^2 G s/n, s the
standard deviation of the losses; s^2 is taken to be more by the latter.
"""

from typing import NamedTuple

import numpy as np
from scipy import stats

from empirisk.runtime.arrays import Floats, Ints

SURE = 0.95
ROUNDING = 1e-12  # of means of equal losses, relative to their size


class Apart(NamedTuple):
    """The error of the mean loss for what the models of the folds differ, and its degrees of
    freedom."""

    error: float
    freedom: float


ALIKE = Apart(0.0, np.inf)


def how_far_apart(
    losses: Floats, beside: Floats | None, share: Floats, unit: Ints, split: Ints
) -> Apart:
    """Of held-out losses, one entry for each held-out prediction.

    `beside` are the losses of the model of all rows on the same rows, if they are known. Repeats
    of a plan count as folds, but those of one repeat only as degrees of freedom.
    """
    folds = Folds(share, unit, split)
    if folds.freedom < 1 or folds.freedom_of_rows < 1:
        return ALIKE
    size = float(np.abs(losses).max()) or 1.0
    mean, deviation = folds.means_and_deviations(losses / size)
    explained = float(deviation @ deviation)
    if beside is not None:
        without = _taken_out(folds, losses / size, beside / size)
        if without[1] < explained:
            mean, explained = without
    chance = float(stats.f.ppf(SURE, folds.freedom, folds.freedom_of_rows))
    excess = folds.variance(mean) - chance * explained
    if not excess > ROUNDING**2:
        return ALIKE
    return Apart(size * float(np.sqrt(excess * (1 + 1 / folds.number))), folds.freedom)


def _taken_out(folds: "Folds", losses: Floats, beside: Floats) -> tuple[Floats, float]:
    """The means of the folds of l - b z, and what then their rows and z itself explain."""
    mean, deviation = folds.means_and_deviations(losses)
    size = np.abs(beside).max() or 1.0
    of_z, deviation_of_z = folds.means_and_deviations(beside / size)
    square = deviation_of_z @ deviation_of_z
    slope = deviation @ deviation_of_z / square if square > 0 else 0.0  # b times the size of z
    rest = deviation - slope * deviation_of_z
    too_small = max(float(folds.share @ (losses - beside)), 0.0)
    of_one_row = np.sqrt(deviation @ deviation * folds.rows / folds.number)
    with np.errstate(over="ignore"):  # of z that is next to nothing, which explains nothing
        by_z = np.sqrt(8) * (slope / size) ** 2 * too_small * of_one_row / folds.rows
    return mean - slope * of_z, float(rest @ rest + by_z)


class Folds:
    """The splits of a plan with what they hold out."""

    def __init__(self, share: Floats, unit: Ints, split: Ints) -> None:
        self.share, self.split = share, split
        self.weight = np.bincount(split, share)
        self.held = self.weight > 0
        self.number = int(np.count_nonzero(self.held))
        self.piece: Ints | None = None  # of a split and a unit, for each entry
        fold_of_piece: Ints = split
        units = int(np.count_nonzero(np.bincount(unit)))
        if units < len(unit):
            pairs = split.astype(np.int64) * (int(unit.max()) + 1) + unit
            found, self.piece = np.unique(pairs, return_inverse=True)
            fold_of_piece = found // (int(unit.max()) + 1)
        pieces = np.bincount(fold_of_piece, minlength=len(self.weight))
        repeats = len(fold_of_piece) / units
        self.freedom = round(self.number / repeats) - 1
        # Folds of one unit each, as leave-one-out has them, show no error of their own.
        shows_error = (pieces[self.held] > 1).all()
        self.freedom_of_rows = units - 1 - self.freedom if shows_error else 0
        of_piece = share if self.piece is None else np.bincount(self.piece, share).astype(float)
        self.rows = 1 / (repeats * float(of_piece @ of_piece))
        with np.errstate(divide="ignore", invalid="ignore"):  # folds of one unit, or none
            scale = self.weight * _unbiased(of_piece, fold_of_piece)
            self.factor = np.sqrt(scale)[fold_of_piece]

    def means_and_deviations(self, losses: Floats) -> tuple[Floats, Floats]:
        """The mean of each fold, and what each unit adds to its error, weighted as in s^2."""
        with np.errstate(invalid="ignore"):
            mean = np.bincount(self.split, self.share * losses) / self.weight
        deviation = self.share * (losses - mean[self.split]) / self.weight[self.split]
        if self.piece is not None:
            deviation = np.bincount(self.piece, deviation).astype(float)
        return mean, deviation * self.factor

    def variance(self, mean: Floats) -> float:
        """S^2 of the means of the folds."""
        mean, weight = mean[self.held], self.weight[self.held]
        square = float(weight @ np.square(mean - weight @ mean))
        return square * self.number / (self.number - 1)


def _unbiased(weight: Floats, fold: Ints) -> Floats:
    """For each fold 1 / (1 - 2 sum w^3 / (W sum w^2) + sum w^2 / W^2), n / (n - 1) if all w are 1:

    sum w^2 (l - m)^2 / W^2 times that is right on average if the variance of l is the same for all.
    """
    W, squares, cubes = (np.bincount(fold, weight**k) for k in (1, 2, 3))
    return 1 / (1 - 2 * cubes / (W * squares) + squares / W**2)
