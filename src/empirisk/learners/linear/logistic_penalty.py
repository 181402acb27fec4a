"""Which penalty a logistic rule has, by `C` and `l1_ratio`, or by scikit-learn's older `penalty`.

| penalty      | C     | l1_ratio    |
| ------------ | ----- | ----------- |
| "deprecated" | C     | l1_ratio    |
| "l2"         | C     | 0           |
| "l1"         | C     | 1           |
| "elasticnet" | C     | l1_ratio    |
| None         | inf   | of no matter |
"""

from numbers import Real
from typing import Any
from warnings import warn

import numpy as np

from empirisk.runtime.errors import EmpiriskWarning, ParameterError

NOT_GIVEN = "deprecated"
"""The default of `penalty`."""
RATIO = {"l2": 0.0, "l1": 1.0}


def effective_C(learner: Any, C: Any) -> float:
    """C as a float; infinite where there is no penalty."""
    C = checked_C(C)
    return np.inf if learner.penalty is None else C


def effective_ratio(learner: Any) -> float:
    """The share of the L1 penalty."""
    penalty, ratio = learner.penalty, learner.l1_ratio
    known = (NOT_GIVEN, *RATIO, "elasticnet")
    if not (penalty is None or (isinstance(penalty, str) and penalty in known)):
        raise ParameterError(
            f"penalty is {penalty!r}; it must be one of ('l1', 'l2', 'elasticnet', None): better, "
            "leave it out and give l1_ratio"
        )
    if ratio is None and penalty == "elasticnet":
        raise ParameterError("l1_ratio is None; penalty='elasticnet' needs a number from 0 to 1")
    given = 0.0 if ratio is None else checked_ratio(ratio)
    return RATIO.get(penalty, given) if penalty is not None else 0.0


def warn_of_penalty(learner: Any) -> None:
    """Say, as scikit-learn does, that `penalty` is deprecated, and what it overrides."""
    penalty, ratio = learner.penalty, learner.l1_ratio
    if penalty == NOT_GIVEN and ratio is not None:
        return
    warn(
        "penalty and l1_ratio=None are deprecated, as in scikit-learn 1.8. Leave penalty out and "
        "give l1_ratio=1 for 'l1', l1_ratio=0 for 'l2', an l1_ratio between them for "
        "'elasticnet', C=np.inf for None",
        FutureWarning,
        stacklevel=4,
    )
    if penalty in RATIO and ratio != RATIO[penalty]:
        warn(
            f"penalty={penalty!r} overrides l1_ratio={ratio}: leave penalty out",
            EmpiriskWarning,
            stacklevel=4,
        )
    if penalty is None and learner.C != 1.0:
        warn(
            f"penalty=None overrides C={learner.C}: leave penalty out, and set C=np.inf",
            EmpiriskWarning,
            stacklevel=4,
        )


def checked_C(value: Any) -> float:
    """C as a float above 0; infinite is no penalty."""
    if not isinstance(value, bool) and isinstance(value, Real) and float(value) > 0:
        return float(value)
    raise ParameterError(
        f"C is {value!r}; it must be a number above 0, the inverse of the penalty (np.inf: none)"
    )


def checked_ratio(value: Any) -> float:
    """l1_ratio as a float."""
    if isinstance(value, Real) and 0 <= float(value) <= 1:
        return float(value)
    raise ParameterError(f"l1_ratio is {value!r}; it must lie between 0 (L2) and 1 (L1)")
