"""All settings of the certificate by name."""

from functools import cache

from benchmarks.coverage.learners import (
    discriminants,
    foreign,
    least_squares,
    logistic,
    ridge,
    several_classes,
)
from benchmarks.coverage.sets import Setting
from benchmarks.coverage.trials import (
    best_of_forty,
    groups,
    heavy_tails,
    locked,
    misspecified,
    refitted,
    tuned,
    weights,
)
from benchmarks.coverage.unstable import by_another_loss, by_chance

FAMILIES = (
    least_squares,
    ridge,
    discriminants,
    several_classes,
    logistic,
    foreign,
    misspecified,
    heavy_tails,
    groups,
    weights,
    locked,
    best_of_forty,
    tuned,
    refitted,
    by_chance,
    by_another_loss,
)


@cache
def settings() -> dict[str, Setting]:
    """Every setting, in the order of the tables."""
    found = [setting for family in FAMILIES for setting in family()]
    by_name = {setting.name: setting for setting in found}
    assert len(by_name) == len(found)
    return by_name
