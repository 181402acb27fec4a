"""The union bound: for the best of M candidates that were judged on the same losses.

Each of M bounds fails with probability delta/M at most, so all hold together with probability
1 - delta, and with them the bound of the candidate that was chosen.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from empirisk.risk.bounds.bounded import Range, Sides
from empirisk.risk.bounds.independent_rows import (
    chernoff,
    clopper_pearson,
    empirical_bernstein,
    hoeffding,
)
from empirisk.risk.estimate import RiskEstimate
from empirisk.runtime.errors import ParameterError

BOUNDS: dict[str, Callable[..., RiskEstimate]] = {
    "hoeffding": hoeffding,
    "chernoff": chernoff,
    "empirical_bernstein": empirical_bernstein,
    "clopper_pearson": clopper_pearson,
}


def union(
    rivals: Any,
    *,
    among: int | None = None,
    bound: str = "hoeffding",
    level: float = 0.95,
    sides: Sides = "upper",
    loss_range: Range | None = None,
) -> RiskEstimate:
    """A bound for the best of M candidates that holds although it was chosen for being the best.

    Parameters
    ----------
    rivals : Comparison, Selection, dict of RiskEstimate, or RiskEstimate
        Of a selection, the cross-validated risk of its winner among all candidates and all values
        of their axes. Of a comparison or a dict, the least of the risks. A single estimate is the
        best of `among`.
    among : int, optional
        M, where it is not the number of the rivals.
    bound : {"hoeffding", "chernoff", "empirical_bernstein", "clopper_pearson"}
        The bound of each; all but the first are for a test set.
    level, sides, loss_range
        As in `hoeffding`.

    Examples
    --------
    >>> import numpy as np
    >>> from empirisk import LinearDiscriminantAnalysis, Plan, compare
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(400, 2))
    >>> y = X[:, 0] + rng.normal(size=400) > 0
    >>> plan = Plan.holdout(X, y, test_size=0.5, classifier=True)
    >>> rivals = compare([LinearDiscriminantAnalysis()], X, y, cv=plan)
    >>> print(union(rivals))
    The zero_one risk of this model is ..., 95 % interval 0 to ... (union bound over 2, Hoeffding
    bound: ...).
    """
    best, M = _best(rivals, among)
    if bound not in BOUNDS:
        raise ParameterError(f"bound is {bound!r}; choose one of {sorted(BOUNDS)}")
    if not 0 < level < 1:
        raise ParameterError(f"level is {level}; it must lie between 0 and 1, such as 0.95")
    options: dict[str, Any] = {"level": 1 - (1 - level) / M, "sides": sides}
    if loss_range is not None and bound != "clopper_pearson":
        options["loss_range"] = loss_range
    found = BOUNDS[bound](replace(best, chosen_among=1, corrected=False), **options)
    return replace(
        found,
        level=level,
        chosen_among=M,
        corrected=M > 1,
        method=f"union bound over {M}, {found.method}",
        reason=f"{found.reason}; the candidates did not depend on these losses",
    )


def _best(rivals: Any, among: int | None) -> tuple[RiskEstimate, int]:
    """The one that was chosen, and from among how many."""
    if hasattr(rivals, "cross_validated_risk"):
        rivals = rivals.cross_validated_risk
    if isinstance(rivals, RiskEstimate):
        best, M = rivals, rivals.chosen_among
    else:
        risks = getattr(rivals, "risks", rivals)
        if not isinstance(risks, Mapping) or not risks:
            raise ParameterError(
                f"rivals is {type(rivals).__name__}; give a Comparison, a Selection, a dict of "
                "RiskEstimates, or a RiskEstimate and among=M"
            )
        best, M = min(risks.values(), key=lambda risk: risk.value), len(risks)
    if among is not None and among < M:
        raise ParameterError(f"among is {among}, and there are {M} rivals: give no less")
    return best, M if among is None else int(among)
