"""Predictions of many sparse linear rules at once, such as those along a path of the lasso.

Along a path columns come into use one after the other. Taken out of X in that order, the columns
that a rule may need are the first so many, and a run of neighbouring rules is one matrix product
over the first columns. A product more costs about `COST_OF_A_RUN` multiplications for each row, and
runs are cut in two where that saves more. Before them stands a column of ones, for the intercepts.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from empirisk.runtime.arrays import Array, Floats, Ints
from empirisk.runtime.parallel import one_blas_thread

COST_OF_A_RUN = 1000


class Run(NamedTuple):
    """Neighbouring rules: which they are, and their coefficients (ones and columns, rules)."""

    rules: slice
    coef: Floats


class SparseLines:
    """Rules x'b + a with coefficients (values, outputs, p) and intercepts (values, outputs)."""

    def __init__(self, coef: Floats, intercept: Floats) -> None:
        self.shape = coef.shape[:2]
        lines = coef.reshape(intercept.size, -1)
        use = np.logical_or.accumulate(_simple_first(lines) != 0)
        width = np.count_nonzero(use, axis=1)
        order = np.argsort(~use.any(axis=0) * len(lines) + use.argmax(axis=0), kind="stable")
        columns = order[: width[-1]]
        self.columns = np.append(0, columns)  # the first gives room for the ones
        table = np.column_stack([intercept.reshape(-1), lines[:, columns]])
        self.runs = [
            Run(rules, np.ascontiguousarray(table[rules, : 1 + needed].T))
            for rules, needed in _runs(width, turned=_simple_first(lines) is not lines)
        ]

    def predict(self, X: Array, *, flat: bool) -> Floats:
        """(rows, values, outputs), or (rows, values) if `flat`."""
        prediction = np.empty((len(X), self.shape[0] * self.shape[1]))
        used = np.take(X, self.columns, axis=1)
        used[:, 0] = 1.0
        with one_blas_thread():
            for rules, coef in self.runs:
                np.matmul(used[:, : len(coef)], coef, out=prediction[:, rules])
        return prediction if flat else prediction.reshape(len(X), *self.shape)


def _simple_first(lines: Floats) -> Floats:
    """The rules, those that use few columns before those that use many."""
    first, last = np.count_nonzero(lines[[0, -1]], axis=1)
    return lines if first <= last else lines[::-1]


def _runs(width: Ints, *, turned: bool) -> Iterator[tuple[slice, int]]:
    """The rules of each run, and how many columns they need."""
    for start, stop, needed in _cuts(width, 0, len(width)):
        yield slice(len(width) - stop, len(width) - start) if turned else slice(start, stop), needed


def _cuts(width: Ints, start: int, stop: int) -> Iterator[tuple[int, int, int]]:
    """Runs (start, stop, columns) of the rules from `start`; rule i needs the first width[i]."""
    cut = np.arange(start + 1, stop)
    saved = (width[stop - 1] - width[cut - 1]) * (cut - start)
    if len(cut) and saved.max() > COST_OF_A_RUN:
        best = int(cut[saved.argmax()])
        yield from _cuts(width, start, best)
        yield from _cuts(width, best, stop)
    else:
        yield start, stop, int(width[stop - 1])
