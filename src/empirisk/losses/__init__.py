"""What a mistake costs: losses, their Bayes rules, and margin losses."""

from empirisk.losses.classification import (
    Brier,
    ClassificationLoss,
    DecisionLoss,
    Log,
    ZeroOne,
)
from empirisk.losses.costs import Asymmetric, Costs
from empirisk.losses.density import LogDensity
from empirisk.losses.loss import Loss
from empirisk.losses.margin import (
    Exponential,
    Hinge,
    Logit,
    Perceptron,
    Square,
    SquaredHinge,
    as_margin_loss,
)
from empirisk.losses.margin_loss import MarginLoss
from empirisk.losses.names import as_loss, default_loss
from empirisk.losses.probabilities import class_frequencies
from empirisk.losses.reconstruction import HeldOutEntries, Reconstruction
from empirisk.losses.regression import Absolute, Quantile, RegressionLoss, Squared
from empirisk.losses.surrogate import Calibration, calibration, is_surrogate

__all__ = [
    "Absolute",
    "Asymmetric",
    "Brier",
    "Calibration",
    "ClassificationLoss",
    "Costs",
    "DecisionLoss",
    "Exponential",
    "HeldOutEntries",
    "Hinge",
    "Log",
    "LogDensity",
    "Logit",
    "Loss",
    "MarginLoss",
    "Perceptron",
    "Quantile",
    "Reconstruction",
    "RegressionLoss",
    "Square",
    "Squared",
    "SquaredHinge",
    "ZeroOne",
    "as_loss",
    "as_margin_loss",
    "calibration",
    "class_frequencies",
    "default_loss",
    "is_surrogate",
]
