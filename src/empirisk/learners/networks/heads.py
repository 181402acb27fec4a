"""The loss that a network minimises, and what its outputs mean.

Regression: the output is the prediction (of counts its logarithm). Labels, of which a row may have
several: an output for each, the log-odds that it is there. Two classes: one output, the
log-odds of the second, or its margin. More: an output for each, of which a softmax gives the
probabilities, or a margin of each class against the rest.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import expit, log_softmax, softmax

from empirisk.compiled.networks import heads
from empirisk.losses import (
    Absolute,
    Exponential,
    Hinge,
    Log,
    Logit,
    Loss,
    MarginLoss,
    Perceptron,
    Quantile,
    Square,
    Squared,
    SquaredHinge,
    as_loss,
    as_margin_loss,
)
from empirisk.losses.regression import RegressionLoss
from empirisk.runtime.arrays import Array, Floats
from empirisk.runtime.errors import ParameterError

REGRESSION: dict[str, Any] = {
    "squared_error": Squared(),
    "absolute_error": Absolute(),
    "poisson": None,
    "squared": Squared(),
    "absolute": Absolute(),
}
MARGINS: dict[type[MarginLoss], int] = {
    Hinge: heads.HINGE,
    SquaredHinge: heads.SQUARED_HINGE,
    Logit: heads.LOGIT,
    Exponential: heads.EXPONENTIAL,
    Square: heads.SQUARE,
    Perceptron: heads.PERCEPTRON,
}
OWN = -1
"""The code of a margin loss that Python knows alone."""


@dataclass(frozen=True)
class Head:
    """The end of a network.

    Attributes
    ----------
    kind, number
        By which compiled code knows the loss, and its parameter.
    loss : Loss or None
        Of predictions, by which a model is judged; None if it is the usual one.
    margin : MarginLoss or None
    """

    kind: int
    number: float = 0.0
    loss: Loss | None = None
    margin: MarginLoss | None = None

    def losses(self, y: Array, f: Floats) -> Floats:
        """The loss of each row: y (n, outputs) values or labels, (n, 1) codes; f (n, outputs)."""
        if self.kind == heads.LOG:
            return log_losses(y[:, 0].astype(int), f)
        if self.margin is not None:
            return self.margin.value(signs(y, f.shape[1]) * f).sum(axis=1)
        if self.kind == heads.SQUARED:
            return 0.5 * ((f - y) ** 2).sum(axis=1)
        if self.kind == heads.LABELS:
            return (np.logaddexp(0.0, f) - y * f).sum(axis=1)
        if self.kind == heads.POISSON:
            return (np.exp(np.minimum(f, heads.MOST)) - y * f).sum(axis=1)
        below = self.number if self.kind == heads.QUANTILE else 1.0
        above = 1.0 - self.number if self.kind == heads.QUANTILE else 1.0
        return np.where(f > y, above * (f - y), below * (y - f)).sum(axis=1)

    def probabilities(self, f: Floats) -> Floats:
        """(..., classes) of outputs (..., 1 or classes); of labels, that each is there."""
        if self.kind == heads.LABELS:
            return expit(f)
        if f.shape[-1] > 1 and self.kind == heads.LOG:
            return softmax(f, axis=-1)
        second = expit(f) if self.margin is None else self.margin.probability(f)
        if f.shape[-1] == 1:
            return np.concatenate([1.0 - second, second], axis=-1)
        total = second.sum(axis=-1, keepdims=True)
        even = np.full_like(second, 1.0 / f.shape[-1])
        return np.divide(second, total, out=even, where=total > 0)

    @property
    def gives_probabilities(self) -> bool:
        """Whether outputs tell the probabilities of classes."""
        return self.margin is None or self.margin.has_probability


def log_losses(y: Array, f: Floats) -> Floats:
    """-log p of the class of each row."""
    if f.shape[1] == 1:
        return np.logaddexp(0.0, np.where(y == 1, -f[:, 0], f[:, 0]))
    return -np.take_along_axis(log_softmax(f, axis=1), y[:, np.newaxis], axis=1)[:, 0]


def signs(y: Array, outputs: int) -> Floats:
    """1 for the class of an output, -1 for the others, (n, outputs); one output is of class 1."""
    of = np.array([1]) if outputs == 1 else np.arange(outputs)
    return np.where(y == of, 1.0, -1.0)


def regression_head(loss: Any) -> Head:
    """The head of a loss of values, by name or as a loss of `empirisk.losses`."""
    if isinstance(loss, str) and loss == "poisson":
        return Head(heads.POISSON)
    known = REGRESSION.get(loss) if isinstance(loss, str) else loss
    if isinstance(loss, str) and loss.startswith("quantile:"):
        known = as_loss(loss)
    if isinstance(known, Squared):
        return Head(heads.SQUARED)
    if isinstance(known, Absolute):
        return Head(heads.ABSOLUTE, loss=known)
    if isinstance(known, Quantile):
        return Head(heads.QUANTILE, float(known.q), loss=known)
    named = ", ".join(REGRESSION)
    raise ParameterError(
        f"loss is {loss!r}; it must be one of {named}, quantile:Q, or losses.Squared(), "
        f"Absolute() or Quantile(q){_hint(loss)}"
    )


def _hint(loss: Any) -> str:
    if isinstance(loss, RegressionLoss):
        return ": a loss of your own has no derivative that a network could follow"
    sizes = isinstance(loss, int | tuple | list)
    return f": sizes of layers go by name, hidden_layer_sizes={loss!r}" if sizes else ""


def classification_head(loss: Any) -> Head:
    """The head of the log loss, or of a margin loss."""
    if isinstance(loss, Log) or (isinstance(loss, str) and loss in ("log_loss", "log")):
        return Head(heads.LOG)
    try:
        margin = as_margin_loss(loss)
    except (ParameterError, TypeError):
        raise ParameterError(
            f"loss is {loss!r}; it must be 'log_loss', the name of a margin loss (hinge, "
            "squared_hinge, logit, exponential, square, perceptron) or a MarginLoss"
        ) from None
    return Head(MARGINS.get(type(margin), OWN), margin=margin)
