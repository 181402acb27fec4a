"""Measures of classifiers, each with its standard error and an interval that is valid for it."""

from empirisk.risk.measures.average_precision import (
    PrecisionRecallCurve,
    average_precision,
    precision_recall_curve,
)
from empirisk.risk.measures.calibration import CalibrationCurve, calibration_curve
from empirisk.risk.measures.confusion import ConfusionMatrix, confusion_matrix
from empirisk.risk.measures.cross_validated import cross_validate
from empirisk.risk.measures.measure import Measure
from empirisk.risk.measures.of_classifier import evaluate
from empirisk.risk.measures.probabilities import brier, log_loss
from empirisk.risk.measures.ranking import auc
from empirisk.risk.measures.rates import accuracy, f_score, precision, recall, specificity
from empirisk.risk.measures.roc import RocCurve, roc_curve
from empirisk.risk.measures.threshold import Threshold, best_threshold

__all__ = [
    "CalibrationCurve",
    "ConfusionMatrix",
    "Measure",
    "PrecisionRecallCurve",
    "RocCurve",
    "Threshold",
    "accuracy",
    "auc",
    "average_precision",
    "best_threshold",
    "brier",
    "calibration_curve",
    "confusion_matrix",
    "cross_validate",
    "evaluate",
    "f_score",
    "log_loss",
    "precision",
    "precision_recall_curve",
    "recall",
    "roc_curve",
    "specificity",
]
