"""The columns of a table coded once as integer ranks, for trees: nothing is lost.

A split of a tree depends on a feature by the order of its values alone. So each feature becomes
codes 0..d-1 of its d distinct values in order, as small integers as can hold them, and the values
are kept beside: a threshold lies half way between two of them. A missing value has the code d; a
category has the codes of its levels. All folds, trees and rounds share one coding.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from empirisk.compiled.trees.layout import FEATURE
from empirisk.data.coded_column import CodedColumn, code_column
from empirisk.data.raw_columns import as_category, raw_columns
from empirisk.runtime.arrays import Array, Floats
from empirisk.runtime.parallel import stream

TABLES = (np.uint8, np.uint16, np.uint32)
FEW = 2**14  # rows of a column that is coded before another thread would begin


@dataclass(frozen=True, eq=False)
class RankCoding:
    """A table in codes, or some rows of it.

    Attributes
    ----------
    small, medium, large : uint8, uint16 and uint32 arrays of shape (features, rows of the table)
        The codes of the features that need so many bits.
    features : record array of shape (p,)
        Where the codes of each feature are, and how many there are (`compiled.trees.layout`).
    columns : tuple of CodedColumn
    points : float64 array
        The numbers that codes stand for, one feature after the other; `values` of the columns are
        views of them, but for integers beyond 2^53.
    rows : uint32 array or None
        The rows of the table that this is; None for all.
    """

    small: Array
    medium: Array
    large: Array
    features: Array
    columns: tuple[CodedColumn, ...]
    points: Floats
    rows: Array | None = None

    @classmethod
    def of(
        cls, X: Any, categories: Sequence[bool | None], *, n_jobs: int | None = None
    ) -> "RankCoding":
        """Code a frame or an array of numbers.

        Parameters
        ----------
        X : frame or array of shape (n, p)
        categories : sequence of True, False or None
            Whether each column is a category; None goes by its type.
        n_jobs : int, optional
            Threads share the columns.

        Examples
        --------
        >>> import numpy as np
        >>> coding = RankCoding.of(np.array([[2.5, 7.0], [np.nan, 7.0], [-1.0, 9.0]]), [None] * 2)
        >>> coding.small
        array([[1, 2, 0],
               [0, 0, 1]], dtype=uint8)
        >>> coding.columns[0].values
        array([-1. ,  2.5])
        """
        tables, used = [np.empty((0, 0), dtype) for dtype in TABLES], [0, 0, 0]
        features, columns = [], []
        points, n_points = np.empty(0), 0
        raws = raw_columns(X, [asked is True for asked in categories])
        asked = (as_category(raw, wanted) for raw, wanted in zip(raws, categories, strict=True))
        shared = n_jobs is not None and len(X) > FEW
        coded = stream(code_column, asked, n_jobs=n_jobs) if shared else map(code_column, asked)
        for column, codes in coded:
            d = len(column.values)
            table = 0 if d < 2**8 else 1 if d < 2**16 else 2
            if not used[table]:  # room for all: what is not written to takes no memory
                tables[table] = np.empty((len(categories), len(codes)), TABLES[table])
            tables[table][used[table]] = codes
            category = column.kind == "category"
            features.append((d, used[table], table, category, column.missing, 0, n_points))
            used[table] += 1
            if column.kind != "category":
                if not points.size:
                    points = np.empty(len(categories) * len(codes))
                points[n_points : n_points + d] = column.values
                n_points += d
            if column.kind == "number":
                column = replace(column, values=points[n_points - d : n_points])
            columns.append(column)
        small, medium, large = (
            table[:k] if k else np.empty((0, len(codes)), table.dtype)
            for table, k in zip(tables, used, strict=True)
        )
        records = np.array(features, dtype=FEATURE)
        return cls(small, medium, large, records, tuple(columns), points[:n_points])

    @property
    def shape(self) -> tuple[int, int]:
        n = self.small.shape[1] if self.rows is None else len(self.rows)
        return n, len(self.columns)

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, key: Any) -> "RankCoding":
        """`coding[rows, ...]` are some rows, as scikit-learn asks for them; nothing is copied."""
        rows = key[0] if isinstance(key, tuple) else key
        return replace(self, rows=self.row_numbers()[rows])

    def row_numbers(self) -> Array:
        """The rows of the table that this is."""
        if self.rows is None:
            return np.arange(self.small.shape[1], dtype=np.uint32)
        return self.rows

    @cached_property
    def has_integers(self) -> bool:
        """Whether some column has integers beyond 2^53."""
        return any(column.kind == "integer" for column in self.columns)

    def codes(self, j: int) -> Array:
        """The codes of a feature in these rows."""
        feature = self.features[j]
        table = (self.small, self.medium, self.large)[feature["table"]]
        codes = table[feature["place"]]
        return codes if self.rows is None else codes[self.rows]

    def places(self) -> Floats:
        """The table as trees compare it when they predict (`CodedColumn.places`)."""
        X = np.empty(self.shape)
        for j, column in enumerate(self.columns):
            values = np.arange(float(len(column.values)))
            if column.kind == "number":
                values = column.values
            X[:, j] = np.append(values, np.nan)[self.codes(j)]
        return X
