"""Every honest estimate of risk."""

from empirisk.risk.axis import Axis, PathMixin
from empirisk.risk.cross_validation import cross_validate, evaluate, holdout, leave_one_out
from empirisk.risk.curves import RiskPath
from empirisk.risk.estimate import RiskEstimate
from empirisk.risk.out_of_fold import OutOfFold, out_of_fold
from empirisk.risk.plans import Plan
from empirisk.risk.problem import Problem

__all__ = [
    "Axis",
    "OutOfFold",
    "PathMixin",
    "Plan",
    "Problem",
    "RiskEstimate",
    "RiskPath",
    "cross_validate",
    "evaluate",
    "holdout",
    "leave_one_out",
    "out_of_fold",
]
