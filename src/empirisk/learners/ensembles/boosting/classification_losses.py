"""The log loss of boosted classifiers, of two classes and of more."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from scipy.special import expit, log_softmax, softmax

from empirisk.learners.ensembles.boosting.boosting_loss import BoostingLoss, Link, OwnLoss
from empirisk.losses import class_frequencies
from empirisk.runtime.arrays import Array, Floats
from empirisk.runtime.errors import ParameterError


@dataclass(frozen=True)
class BinaryLogLoss(BoostingLoss):
    """log(1 + exp(f)) - y f, y = 0 or 1; 1 / (1 + exp(-f)) is the probability of 1."""

    link: ClassVar[Link] = "logit"
    kernel: ClassVar[Any] = "log"
    has_unit: ClassVar[bool] = False

    def value(self, y: Array, raw: Floats) -> Floats:
        """log(1 + exp(f)) - y f."""
        return np.logaddexp(0, raw) - y * raw

    def gradient(self, y: Array, raw: Floats) -> Floats:
        """p - y."""
        return expit(raw) - y

    def curvature(self, y: Array, raw: Floats) -> Floats:
        """p (1 - p)."""
        p = expit(raw)
        return p * (1 - p)

    def derivatives(self, y: Array, raw: Floats) -> tuple[Floats, Floats]:
        p = expit(raw)
        return p - y, p * (1 - p)

    def initial(self, y: Array, sample_weight: Floats) -> float:
        """log(p / (1 - p)) of the share p of class 1."""
        share = class_frequencies(y, sample_weight, n_classes=2)
        return float(np.log(share[1]) - np.log(share[0]))


@dataclass(frozen=True)
class MultinomialLogLoss(BoostingLoss):
    """log sum_k exp(f_k) - f_y; the probabilities are p_k = exp(f_k) / sum_l exp(f_l).

    The curvature is the matrix diag(p) - p p', and all scores move at once: twice its diagonal,
    2 p_k (1 - p_k), bounds it (Gershgorin), and is what each tree of a round sees. So two classes
    would have the steps of the binary loss. XGBoost does the same, LightGBM has K / (K - 1) in
    place of 2; scikit-learn has 1, by which scores of many classes go too far.
    """

    n_classes: int = 3
    link: ClassVar[Link] = "softmax"
    kernel: ClassVar[Any] = "softmax"
    has_unit: ClassVar[bool] = False

    def value(self, y: Array, raw: Floats) -> Floats:
        """-log p_y."""
        return -np.take_along_axis(log_softmax(raw, axis=1), y[:, None], axis=1)[:, 0]

    def gradient(self, y: Array, raw: Floats) -> Floats:
        """p_k - 1(y = k)."""
        return self.derivatives(y, raw)[0]

    def curvature(self, y: Array, raw: Floats) -> Floats:
        """2 p_k (1 - p_k)."""
        return self.derivatives(y, raw)[1]

    def derivatives(self, y: Array, raw: Floats) -> tuple[Floats, Floats]:
        p = softmax(raw, axis=1)
        curvature = 2 * p * (1 - p)
        p[np.arange(len(y)), y] -= 1.0
        return p, curvature

    def initial(self, y: Array, sample_weight: Floats) -> Floats:
        """The logarithms of the shares of the classes, with mean 0."""
        score = np.log(class_frequencies(y, sample_weight, n_classes=self.n_classes))
        return score - score.mean()


def classification_loss(loss: Any, n_classes: int) -> BoostingLoss:
    """The loss that a name means for so many classes, or a user's own.

    Examples
    --------
    >>> classification_loss("log_loss", 2)
    BinaryLogLoss()
    """
    if isinstance(loss, str):
        if loss != "log_loss":
            raise ParameterError(f"loss is {loss!r}; it must be 'log_loss', or a loss of your own")
        return BinaryLogLoss() if n_classes == 2 else MultinomialLogLoss(n_classes)
    return OwnLoss(loss)
