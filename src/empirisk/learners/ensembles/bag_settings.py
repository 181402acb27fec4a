"""The parameters of a bag, checked, and the draws that they ask for."""

from typing import Any

import numpy as np

from empirisk.learners.ensembles.draws import Draws, draws_of
from empirisk.learners.ensembles.judged import asked_loss
from empirisk.runtime.arrays import Floats, Ints
from empirisk.runtime.errors import DataError, ParameterError
from empirisk.runtime.scalars import is_flag, real, whole


def checked_settings(bag: Any) -> None:
    """Raise a ParameterError where a parameter has no meaning."""
    if (whole(bag.n_estimators) or 0) < 1:
        raise ParameterError(
            f"n_estimators is {bag.n_estimators!r}; it must be a whole number from 1"
        )
    for name in ("bootstrap", "bootstrap_features", "warm_start"):
        if not is_flag(getattr(bag, name)):
            raise ParameterError(f"{name} is {getattr(bag, name)!r}; give True or False")
    asked_loss(bag.oob_score)
    if bag.block_size is not None and (whole(bag.block_size) or 0) < 1:
        raise ParameterError(
            f"block_size is {bag.block_size!r}; it must be None or a whole number from 1"
        )
    if getattr(bag, "voting", "soft") not in ("soft", "hard"):
        raise ParameterError(f"voting is {bag.voting!r}; it must be 'soft' or 'hard'")


def row_draws(bag: Any, n: int, weight: Floats | None, unit: Ints | None) -> Draws:
    """How members draw rows: one by one, whole groups, or blocks of consecutive rows."""
    block = bag.block_size
    if block is None:
        size = draws_of(bag.max_samples, n, weight, unit=unit, replace=bag.bootstrap)
        return Draws(n, size, bool(bag.bootstrap), weight, unit)
    if unit is not None:
        raise ParameterError(
            "groups were given, and block_size asks for blocks of consecutive rows: leave out one"
        )
    if block > n:
        raise DataError(f"block_size is {block}, and there are {n} rows: give a smaller one")
    runs = None if bag.bootstrap else np.arange(n) // block
    size = draws_of(bag.max_samples, n, None, unit=runs, replace=bag.bootstrap)
    return Draws(n, size, bool(bag.bootstrap), weight, block=int(block))


def columns_drawn(max_features: Any, p: int, replace: bool) -> Draws | None:
    """How members draw columns; None where each has all of them, once."""
    number, share = whole(max_features), real(max_features)
    if number is not None and 1 <= number <= p:
        size = number
    elif number is None and share is not None and 0 < share <= 1:
        size = max(1, int(share * p))
    else:
        raise ParameterError(
            f"max_features is {max_features!r}; it must be a number of columns from 1 to {p}, or a "
            "share of them above 0 and up to 1"
        )
    return None if size == p and not replace else Draws(p, size, bool(replace))
