"""`LogRatios`: what each feature says for one class against another."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from empirisk.charts.log_ratios import draw_log_ratios
from empirisk.data.coded_column import CodedColumn
from empirisk.learners.trees.bounds import date_of
from empirisk.runtime.arrays import Array, Floats, Ints
from empirisk.runtime.errors import ParameterError
from empirisk.runtime.scalars import is_whole

LONGEST = 40  # of a name with its value
MOST_LINES = 20


@dataclass(frozen=True, eq=False)
class LogRatios:
    """log g_kj(x_j) - log g_lj(x_j) of each row and feature j, for the class k against l.

    Positive where the feature speaks for the class, 0 where it is missing. Ratios and prior add up
    to the log-odds log P(k | x) / P(l | x), where all are finite.

    Attributes
    ----------
    ratios : array of shape (rows, features)
        Infinite where a value is impossible in one of the classes; 0 where in both.
    prior : array of shape (rows,)
        log pi_k - log pi_l.
    log_odds : array of shape (rows,)
        Of the two classes; infinite where one of them has probability 0, and 0 where both have.
    label, against : arrays of shape (rows,)
        The classes k and l.
    cells : array of shape (rows, features)
        The values, in numbers.
    columns : tuple of CodedColumn
        What the features are.
    """

    ratios: Floats
    prior: Floats
    log_odds: Floats
    label: Array
    against: Array
    cells: Floats
    columns: tuple[CodedColumn, ...]

    @classmethod
    def of(
        cls,
        terms: Floats,
        log_prior: Floats,
        values: Floats,
        label: int | None,
        against: int | None,
        classes: Array,
        cells: Floats,
        columns: Sequence[CodedColumn],
    ) -> "LogRatios":
        """From terms (rows, K, features) and sums (rows, K); None takes the most probable."""
        if label is not None and label == against:
            raise ParameterError(
                f"label and against are both {classes.tolist()[label]!r}; give two classes"
            )
        rows = np.arange(len(values))
        none = np.full(len(rows), -1)
        other = none if against is None else none + 1 + against
        one = _most_probable(values, other) if label is None else none + 1 + label
        other = _most_probable(values, one) if against is None else other
        return cls(
            _difference(terms[rows, one], terms[rows, other]),
            _difference(log_prior[one], log_prior[other]),
            _difference(values[rows, one], values[rows, other]),
            classes[one],
            classes[other],
            cells,
            tuple(columns),
        )

    def __len__(self) -> int:
        return len(self.ratios)

    @property
    def names(self) -> tuple[str, ...]:
        """Of the features."""
        return tuple(column.name for column in self.columns)

    def in_words(self, row: int, j: int) -> str:
        """A feature of a row with its value: `hair = dark`."""
        column, cell = self.columns[j], self.cells[row, j]
        if np.isnan(cell):
            value = "missing"
        elif column.kind == "category":
            value = str(column.values[int(cell)])
        else:
            value = f"{cell:g}" if column.calendar is None else date_of(cell, column.calendar)
        return f"{column.name} = {value}"[:LONGEST]

    def order(self, row: int) -> Ints:
        """The features of a row, from the largest ratio, whatever its sign, to the least."""
        return np.argsort(-np.abs(self.ratios[row]), kind="stable")

    def __str__(self) -> str:
        return "\n".join(self._lines(row) for row in range(len(self)))

    def _lines(self, row: int) -> str:
        order = self.order(row)
        named = [(self.in_words(row, j), self.ratios[row, j]) for j in order[:MOST_LINES]]
        rest = order[MOST_LINES:]
        if len(rest):
            named.append((f"{len(rest)} more", self.ratios[row, rest].sum()))
        named += [("prior", self.prior[row]), ("together", self.log_odds[row])]
        width = max(len(name) for name, _ in named)
        return "\n".join(
            [
                f"row {row}: {self.label[row]} against {self.against[row]}",
                f"  {'feature':{width}}  log-ratio",
                *(f"  {name:{width}}  {ratio + 0.0:>9.4g}" for name, ratio in named),
            ]
        )

    def plot(self, row: int = 0, *, most: int = MOST_LINES, ax: Any = None) -> Any:
        """The ratios of a row as bars, the largest `most` of them, then the prior.

        Examples
        --------
        >>> from empirisk import NaiveBayes
        >>> model = NaiveBayes().fit([[1.0, 2.0], [3.0, 1.0], [8.0, 2.0], [9.0, 3.0]], [0, 0, 1, 1])
        >>> ax = model.explain([[4.0, 2.0]]).plot()
        """
        if not (is_whole(row, 0) and row < len(self)):
            raise ParameterError(f"row is {row!r}; there are the rows 0 to {len(self) - 1}")
        order = self.order(row)[:most]
        names = [self.in_words(row, j) for j in order] + ["prior"]
        one, other = self.label[row], self.against[row]
        return draw_log_ratios(
            names,
            np.append(self.ratios[row, order], self.prior[row]),
            label=f"log-likelihood ratio of {one} against {other}",
            title=f"log-odds {self.log_odds[row]:.4g}",
            ax=ax,
        )


def _most_probable(values: Floats, but: Ints) -> Ints:
    """The class of the largest value of each row, another one than `but`."""
    columns = np.arange(values.shape[1])
    allowed = columns != but[:, None]
    best = np.where(allowed, values, -np.inf).max(axis=1, keepdims=True)
    return (allowed & (values == best)).argmax(axis=1)


def _difference(one: Floats, other: Floats) -> Floats:
    """one - other, where infinities that are equal differ by 0."""
    with np.errstate(invalid="ignore"):
        return np.where(one == other, 0.0, one - other)
