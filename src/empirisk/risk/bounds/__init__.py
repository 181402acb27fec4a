"""Bounds of a risk that hold at their stated probability, whatever the distribution.

Each states its assumptions and returns a `Bound`, a `RiskEstimate` whose interval reaches from the
least loss there can be to the bound; of an accuracy, from the bound to 1; with `sides="both"`, from
bound to bound.
"""

from empirisk.risk.bounds.bounded import Bound
from empirisk.risk.bounds.comparison import compare_bounds
from empirisk.risk.bounds.independent_rows import (
    chernoff,
    clopper_pearson,
    empirical_bernstein,
    hoeffding,
)
from empirisk.risk.bounds.rademacher import rademacher, rademacher_complexity
from empirisk.risk.bounds.union import union
from empirisk.risk.bounds.vc import linear_growth, sauer_growth, tree_growth, vc

__all__ = [
    "Bound",
    "chernoff",
    "clopper_pearson",
    "compare_bounds",
    "empirical_bernstein",
    "hoeffding",
    "linear_growth",
    "rademacher",
    "rademacher_complexity",
    "sauer_growth",
    "tree_growth",
    "union",
    "vc",
]
