"""Whether the absolute risk of least squares moves with what it learned, which losses do not tell.

Least squares minimises another loss, so that to first order the risk moves through what it learns
from each row, too (`influence.py`): where errors are skew, a large one pulls predictions up, away
from most rows. Of the coefficients a constant and a multiple of the prediction f are let move,
those b of z = (1, f), and a row with the residual r_i has

    t_i = g'(mean zz')^-1 z_i r_i,    g = mean l'(f) z.
"""

import numpy as np

from empirisk.losses import Absolute, Quantile
from empirisk.risk.intervals.loss_table import standard_errors
from empirisk.runtime.arrays import Floats, Ints

MOVED = 1.15
"""Times the error of the losses. Simulated at 90 %, least squares judged by the absolute loss, 11
populations, 120 sets of 100 rows each: where 80 % of the sets or more are doubted, intervals
contained the risk of the procedure in 61 to 87 %, where 56 to 77 % are in 81 to 92 %; of normal
errors 1 % are, of those of t with 3 degrees of freedom 13 %, and 90 to 96 % cover."""
OTHER_LOSS = (
    "the learner aims at the squared loss, and the risk by this one changes more from one training "
    "set to the next than the losses tell, so that the level is not guaranteed"
)


def moves_much(loss: Absolute | Quantile, y: Floats, f: Floats, weight: Floats, unit: Ints) -> bool:
    """Whether l_i + t_i of rows predicted f, by a fit to them, are that much less sure than l_i."""
    losses = loss(y, f)
    both = np.stack([losses, losses + through_mean(loss, y, f, weight)], axis=1)
    error = standard_errors(both, weight, unit)
    return bool(error[1] > MOVED * error[0])


def through_mean(loss: Absolute | Quantile, y: Floats, f: Floats, weight: Floats) -> Floats:
    """t_i of each row."""
    share, level = weight / weight.sum(), f / (float(np.abs(f).max()) or 1.0)
    varied = (level - share @ level) / (float(np.ptp(level)) or 1.0)
    z = np.stack([np.ones(len(f)), varied], axis=1)
    slope = z.T @ (share * loss.derivative(y, f))
    along = np.linalg.lstsq(z.T @ (share[:, np.newaxis] * z), slope)[0]
    return (y - f) * (z @ along)
