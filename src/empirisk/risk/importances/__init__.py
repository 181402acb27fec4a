"""The importance of features: permuted, permuted and retrained, or told by trees themselves."""

from empirisk.risk.importances.association import correlated_features
from empirisk.risk.importances.importance import importance
from empirisk.risk.importances.result import Importance

__all__ = ["Importance", "correlated_features", "importance"]
