"""How often a bootstrap resample holds each row of a problem."""

import numpy as np

from empirisk.risk.problem import Problem
from empirisk.runtime.arrays import Ints
from empirisk.runtime.streams import generator


def row_counts(problem: Problem, seed: int) -> Ints:
    """Of a resample of as many rows as there are; where there are groups, of whole groups."""
    unit = problem.unit
    units = int(unit.max()) + 1
    drawn = generator(seed).integers(units, size=units)
    return np.bincount(drawn, minlength=units)[unit]
