"""Whether a penalty keeps probabilities too near to one another, as held-out losses tell it.

Of learners that do not tell how rows move their risk through what they learned (`influence.py`):
intervals cannot be widened, but it can be said that they may be too short.
"""

from typing import Any

import numpy as np
from scipy.special import expit

from empirisk.risk.learner import learner_of
from empirisk.runtime.arrays import Floats, Ints

PENALISED = ("LogisticRegression",)
STRETCH = 1.5
"""Simulated at 90 %, 16 populations with 8 penalties each, 250 to 400 sets, 200 of which
were looked at: where intervals contained the risk of the procedure in less than 60 % of the sets,
90 to 100 % of these are doubted; where in 65 to 86 %, 1 to 100 %; at the best penalty 0 to 9 %."""
TIMID = (
    "the probabilities are too near to one another, as a strong penalty makes them, and the risk "
    "then changes more from one training set to the next than the losses tell, so that the level "
    "is not guaranteed: choose C by Tuned"
)


def is_penalised(estimator: Any) -> bool:
    """Whether it is a learner of scikit-learn that is known to have such a penalty."""
    return type(learner_of(estimator)).__name__ in PENALISED


def are_timid(log_losses: Floats, y: Ints, weight: Floats) -> bool:
    """Whether log-odds of two classes, longer about those of the shares, had less log loss.

    The loss -log p of the class y has told all: p is exp(-loss). Losses of 0 tell nothing.
    """
    share = weight / weight.sum()
    positive = float(share @ y)
    if not (0 < positive < 1 and log_losses.any()):
        return False
    sign, base = 2.0 * y - 1, np.log(positive / (1 - positive))
    p = np.clip(np.exp(-log_losses), np.finfo(float).eps, 1 - np.finfo(float).eps)
    along = sign * np.log(p / (1 - p)) - base
    slope = -share @ (sign * along * expit(-sign * (base + STRETCH * along)))
    return bool(slope < 0)
