"""LogitBoost's working responses: Newton steps on the log-likelihood of the classes.

At the log odds f of two classes, p = 1 / (1 + exp(-f)), the Newton step is the weighted least
squares fit to

    z_i = (y_i - p_i) / (p_i (1 - p_i)),  with weights w_i p_i (1 - p_i).

Of K classes each has its own column f_k and p = softmax(f); a Newton step that takes the classes
one by one is too long by K / (K - 1) (Friedman, Hastie & Tibshirani 2000, Algorithms 3 and 6).
"""

import numpy as np
from scipy.special import expit, log_expit, log_softmax, softmax

from empirisk.runtime.arrays import Floats, Ints

LEAST = 2 * float(np.finfo(float).eps)  # of p (1 - p): what is certain still counts a little


class LikelihoodCost:
    """The binomial or multinomial deviance of class codes.

    Parameters
    ----------
    y : int64 array of shape (n,)
        Codes 0..n_classes-1.
    weight : float64 array of shape (n,)
    n_classes : int
    z_max : float
        Working responses are cut off at -z_max and z_max.
    """

    def __init__(self, y: Ints, weight: Floats, n_classes: int, z_max: float) -> None:
        self.y, self.weight, self.n_classes, self.z_max = y, weight, n_classes, z_max

    @property
    def columns(self) -> int:
        """Of f: one for two classes."""
        return 1 if self.n_classes == 2 else self.n_classes

    def targets(self, f: Floats) -> list[tuple[Floats, Floats]]:
        if self.n_classes == 2:
            return [self._working(self.y == 1, expit(f[:, 0]), expit(-f[:, 0]))]
        p = softmax(f, axis=1)
        return [self._working(self.y == k, p[:, k], 1.0 - p[:, k]) for k in range(self.n_classes)]

    def _working(self, member: Floats, p: Floats, q: Floats) -> tuple[Floats, Floats]:
        """Responses 1/p of members and -1/q of others, q = 1 - p, and weights."""
        least = 1.0 / self.z_max
        z = np.where(member, 1.0 / np.maximum(p, least), -1.0 / np.maximum(q, least))
        return z, self.weight * np.maximum(p * q, LEAST)

    def step(self, f: Floats, h: Floats) -> float:
        K = self.n_classes
        return 1.0 if K == 2 else (K - 1) / K

    def mean_loss(self, f: Floats) -> float:
        """-log p of the classes that came."""
        if self.n_classes == 2:
            losses = -log_expit(np.where(self.y == 1, f[:, 0], -f[:, 0]))
        else:
            losses = -np.take_along_axis(log_softmax(f, axis=1), self.y[:, None], axis=1)[:, 0]
        return float(self.weight @ losses / self.weight.sum())


def probabilities(f: Floats) -> Floats:
    """(..., classes) of columns (..., 1) of log odds, or (..., classes) of scores."""
    if f.shape[-1] == 1:
        return np.concatenate([expit(-f), expit(f)], axis=-1)
    return softmax(f, axis=-1)
