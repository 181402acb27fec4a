"""The union bound: for the best of M candidates that were judged on the same losses.

Each of M bounds fails with probability delta/M at most, so all hold together with probability
1 - delta, and with them the bound of the candidate that was chosen.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from empirisk.risk.bounds.bounded import Bound, Range, Sides, larger_is_better
from empirisk.risk.bounds.independent_rows import (
    chernoff,
    clopper_pearson,
    empirical_bernstein,
    hoeffding,
)
from empirisk.risk.estimate import RiskEstimate
from empirisk.runtime.errors import ParameterError
from empirisk.runtime.scalars import check_level, is_whole

BOUNDS: dict[str, Callable[..., Bound]] = {
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
    sides: Sides | None = None,
    loss_range: Range | None = None,
) -> Bound:
    """A bound for the best of M candidates that holds although it was chosen for being the best.

    Parameters
    ----------
    rivals : Comparison, Selection, dict of RiskEstimate, or RiskEstimate
        Of a selection, the cross-validated risk of its winner among all candidates and all values
        of their axes. Of a comparison or a dict, the least of the risks, or the largest accuracy. A
        single estimate is the best of `among`.
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
    The zero_one risk of this model is at most ... with probability 95 % (union bound over 2,
    Hoeffding bound: ...); it is ... on the held-out rows.
    """
    best, M = _best(rivals, among)
    if bound not in BOUNDS:
        raise ParameterError(f"bound is {bound!r}; choose one of {sorted(BOUNDS)}")
    check_level(level)
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
        found = list(risks.values())
        choose = max if larger_is_better(found[0]) else min
        best, M = choose(found, key=lambda risk: risk.value), len(found)
    if among is not None and not is_whole(among, M):
        raise ParameterError(f"among is {among!r}, and there are {M} rivals: give no less")
    return best, M if among is None else int(among)
