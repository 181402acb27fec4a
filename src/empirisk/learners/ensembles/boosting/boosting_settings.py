"""The parameters of boosted trees, checked."""

from dataclasses import dataclass
from typing import Any

from empirisk.learners.ensembles.boosting.bins import BinnedTable
from empirisk.learners.ensembles.boosting.constraints import interaction_groups, monotone_signs
from empirisk.learners.ensembles.boosting.number_of_rounds import checked_rate
from empirisk.learners.ensembles.boosting.room import Limits
from empirisk.runtime.errors import ParameterError
from empirisk.runtime.scalars import is_flag, is_number, is_whole, real, whole

MANY_ROWS = 10_000  # from which "auto" stops early, as in scikit-learn


@dataclass(frozen=True)
class Stopping:
    """When rounds end before `max_iter`.

    share
        Rows that are set aside to judge: a share, a number, or None to judge by training rows.
    """

    share: float | int | None
    patience: int
    tolerance: float


def growth_limits(learner: Any, bins: BinnedTable, n_trees: int) -> Limits:
    """The limits of each tree."""
    return Limits(
        max_leaf_nodes=_whole_or_none(learner, "max_leaf_nodes", 2),
        max_depth=_whole_or_none(learner, "max_depth", 1),
        min_samples_leaf=_count(learner, "min_samples_leaf"),
        l2=_at_least_zero(learner, "l2_regularization"),
        min_gain=_at_least_zero(learner, "min_gain_to_split"),
        max_features=_share(learner, "max_features"),
        learning_rate=checked_rate(learner.learning_rate),
        monotone=monotone_signs(learner.monotonic_cst, bins.columns, n_trees),
        interactions=interaction_groups(learner.interaction_cst, [c.name for c in bins.columns]),
    )


def checked_bins(max_bins: Any) -> int:
    """How many bins a feature may have."""
    number = whole(max_bins)
    if number is None or not 2 <= number <= 255:
        raise ParameterError(f"max_bins is {max_bins!r}; it must be a whole number from 2 to 255")
    return number


def checked_subsample(learner: Any) -> float:
    """The share of the rows that each round draws."""
    return _share(learner, "subsample")


def stops_early(learner: Any, n: int) -> bool:
    """Whether rounds may end before `max_iter`."""
    asked = learner.early_stopping
    if isinstance(asked, str) and asked == "auto":
        return n > MANY_ROWS
    return _truth(learner, "early_stopping", " or 'auto'")


def goes_on(learner: Any) -> bool:
    """Whether fitting adds to the rounds that there are."""
    return _truth(learner, "warm_start") and hasattr(learner, "trees_")


def stopping_of(learner: Any) -> Stopping:
    """The parameters of early stopping."""
    share = learner.validation_fraction
    number = whole(share)
    part = real(share)
    sound = share is None or (number is not None and number >= 1)
    if not (sound or (number is None and part is not None and 0 < part < 1)):
        raise ParameterError(
            f"validation_fraction is {share!r}; it must be a share of the rows between 0 and 1, a "
            "number of rows from 1, or None"
        )
    return Stopping(
        share=share,
        patience=_count(learner, "n_iter_no_change"),
        tolerance=_at_least_zero(learner, "tol"),
    )


def _truth(learner: Any, name: str, besides: str = "") -> bool:
    value = getattr(learner, name)
    if not is_flag(value):
        raise ParameterError(f"{name} is {value!r}; give True or False{besides}")
    return bool(value)


def _count(learner: Any, name: str) -> int:
    value = getattr(learner, name)
    if not is_whole(value, 1):
        raise ParameterError(f"{name} is {value!r}; it must be a whole number from 1")
    return int(value)


def _whole_or_none(learner: Any, name: str, least: int) -> int | None:
    value = getattr(learner, name)
    if value is not None and not is_whole(value, least):
        raise ParameterError(f"{name} is {value!r}; it must be None or a whole number from {least}")
    return whole(value)


def _at_least_zero(learner: Any, name: str) -> float:
    value = getattr(learner, name)
    if not (is_number(value) and value >= 0):
        raise ParameterError(f"{name} is {value!r}; it must be a number >= 0")
    return float(value)


def _share(learner: Any, name: str) -> float:
    share = real(getattr(learner, name))
    if share is None or not 0 < share <= 1:
        raise ParameterError(
            f"{name} is {getattr(learner, name)!r}; it must be a share above 0 and up to 1"
        )
    return share
