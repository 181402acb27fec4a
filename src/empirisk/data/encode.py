"""A mixed table as numbers for learners that need them: standardised, one-hot, nothing missing.

The encoding is a linear map of a design that needs no statistics,

    X = Z A + b,

where Z has, for a number, its value (0 where missing) and whether it is missing, and for a category
a column for each level. A and b (means for what is missing, standardisation, rare levels pooled, a
reference level left out) come from the weighted moments of Z alone. So a learner that works from
moments needs only Z, once, and each fold's moments to have the encoder of that fold.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import reduce
from operator import add
from typing import Any, Self

import numpy as np
from scipy.sparse import issparse
from sklearn.base import BaseEstimator, TransformerMixin, clone
from sklearn.utils.validation import check_is_fitted, validate_data

from empirisk.data import raw_columns
from empirisk.data.blocks import ROWS_PER_BLOCK
from empirisk.data.column import Kind
from empirisk.data.encoding_soundness import check_encoding
from empirisk.data.features import Encoding, Feature, features_of
from empirisk.data.moments import Moments
from empirisk.data.table import Table
from empirisk.data.table_blocks import Weighted, weighted_blocks, weighted_pieces
from empirisk.runtime.arrays import Array, Floats
from empirisk.runtime.column_names import (
    check_names,
    column_names,
    distinct_names,
    name_columns,
)
from empirisk.runtime.complaints import refuse_no_rows
from empirisk.runtime.conversion import unmasked_table
from empirisk.runtime.errors import DataError, ParameterError
from empirisk.runtime.parallel import one_blas_thread, slices
from empirisk.runtime.targets import check_weights

FoldMap = Callable[[Moments], tuple[Floats, Floats]]
"""From the moments of the training rows of Z to A and b."""


class Encoder(TransformerMixin, BaseEstimator):
    """Numbers standardised, missing ones replaced by the mean and marked; categories one-hot.

    Learned from the training rows only. A date becomes days, month, weekday and hour; text is left
    out, and `dropped_` says so.

    Parameters
    ----------
    min_frequency : float
        Levels of a category with less weight than this among the training rows are pooled as
        "other", where a level that was never seen goes too. Without an "other", an unseen level
        counts as the reference.
    standardize : bool
        Give numbers mean 0 and variance 1; without it they keep their units.

    Attributes
    ----------
    dropped_ : list of str
        Columns that are not used.
    n_features_in_, feature_names_in_

    Notes
    -----
    The most frequent level of each category is the reference and has no column: with it the
    columns would add up to one and depend on the intercept. Columns that are missing together
    share one indicator. Where nothing is left, since each category has one level among the training
    rows, there is one column of zeros. A name that stands already, as that of a level "other"
    beside rare ones, is given a number: "colour=other (2)".

    Examples
    --------
    >>> table = {"size": [1.0, None, 3.0, 2.0], "colour": ["red", "blue", "red", "red"]}
    >>> encoder = Encoder(min_frequency=1).fit(table)
    >>> list(encoder.get_feature_names_out())
    ['size', 'size missing', 'colour=blue']
    >>> encoder.transform(table).round(3)
    array([[-1.414,  0.   ,  0.   ],
           [ 0.   ,  1.   ,  1.   ],
           [ 1.414,  0.   ,  0.   ],
           [ 0.   ,  0.   ,  0.   ]])
    """

    _kinds: dict[str, Kind]
    _features: list[Feature]
    _map: tuple[Floats, Floats]
    _names: list[str]

    def __init__(self, *, min_frequency: float = 5, standardize: bool = True) -> None:
        self.min_frequency = min_frequency
        self.standardize = standardize

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Learn levels, means and spreads from the training rows."""
        table = self._door(X, reset=True)
        weight = check_weights(sample_weight, len(table))
        if not (weight > 0).all():
            table, weight = table.take(np.flatnonzero(weight > 0)), weight[weight > 0]
        return self._fit(lambda: weighted_blocks(table, weight))

    def fit_blocks(self, source: Any) -> Self:
        """Learn from a table that comes in pieces: the same bits as `fit` on all rows.

        Parameters
        ----------
        source : TableBlocks, callable, or iterable that can be gone through again
            Gives tables with the same columns, kinds and levels, or pairs (table, sample_weight),
            of any number of rows. It is gone through twice: for the levels and the range of the
            numbers, and for their moments.

        Examples
        --------
        >>> from empirisk.data.table_blocks import TableBlocks
        >>> table = Table.of({"size": [1.0, None, 3.0, 2.0], "price": [2.0, 3.0, 5.0, 4.0]})
        >>> blocks = TableBlocks.of(table, rows_per_block=3)
        >>> encoder = Encoder().fit_blocks(blocks.drop(["price"]))
        >>> [encoder.transform(block).shape for block in blocks]
        [(3, 2), (1, 2)]
        """
        blocks = weighted_pieces(source, type(self).__name__)
        first = next(blocks(), None)
        if first is None:
            raise DataError("the source gave no rows of weight > 0; a fit needs some")
        self._table_door(first.table, reset=True)
        return self._fit(blocks)

    def _fit(self, blocks: Callable[[], Iterable[Weighted]]) -> Self:
        self.learn_features(blocks())
        with one_blas_thread():
            parts = (Moments.of(self.expand(table), weight=weight) for table, weight in blocks())
            moments = reduce(add, parts)
        A, b, names = self._encoding(moments)
        self._map, self._names = (A, b), distinct_names(names)
        return self

    def learn_features(self, blocks: Iterable[Weighted]) -> Self:
        """Which columns Z has: what `expand` needs, before any statistics."""
        if not self.min_frequency >= 0:
            raise ParameterError(f"min_frequency is {self.min_frequency!r}; wanted 0 or more")
        self._features = features_of(blocks)
        self.dropped_ = [name for name, kind in self._kinds.items() if kind == "text"]
        if not self._features:
            raise DataError("all columns are text: there is nothing to learn from")
        return self

    def expand(self, table: Table, *, start: int = 0) -> Floats:
        """Z: row by row and without statistics, so the same for every fold.

        The first row is called `start` in an error.
        """
        Z = np.empty((len(table), self._width))
        first = 0
        for feature in self._features:
            feature.expand(table, Z[:, first : first + feature.width], start)
            first += feature.width
        return Z

    def fold_map(self, moments: Moments) -> tuple[Floats, Floats]:
        """A and b of the encoder of those training rows whose Z has these moments."""
        A, b, _ = self._encoding(moments)
        return A, b

    def _encoding(self, moments: Moments) -> Encoding:
        columns, shifts, names = [], [], []
        first = 0
        for feature in self._features:
            part = slice(first, first + feature.width)
            small = Moments(
                moments.rows, moments.weight, moments.mean[part], moments.scatter[part, part]
            )
            A, b, outputs = feature.encode(small, self.min_frequency, self.standardize)
            columns.append((part, A))
            shifts.append(b)
            names += outputs
            first += feature.width
        if not names:  # learners want a column, though it tells nothing
            return np.zeros((self._width, 1)), np.zeros(1), [f"{self._features[0].name}=other"]
        return _assemble(columns, self._width), np.concatenate(shifts), names

    def transform(self, X: Any) -> Floats:
        """The numbers of each row."""
        check_is_fitted(self, "_map")
        table = self._door(X, reset=False)
        A, b = self._map
        result = np.empty((len(table), A.shape[1]))
        with one_blas_thread():
            for part in slices(len(table), ROWS_PER_BLOCK):
                result[part] = self.expand(table.rows(part), start=part.start) @ A + b
        return name_columns(result, self._names)

    def get_feature_names_out(self, input_features: Any = None) -> Array:
        """A name for each column of numbers."""
        check_is_fitted(self, "_map")
        return np.array(self._names, dtype=object)

    def check_loaded(self) -> None:
        """Raise a DataError unless what was read from a file is what a fit leaves."""
        if vars(self).keys() - self.get_params().keys():
            check_encoding(self)

    def _door(self, X: Any, *, reset: bool) -> Table:
        """X as a table; at prediction with the kinds that the columns had in training."""
        if isinstance(X, Table) or (isinstance(X, Mapping) and not issparse(X)):
            return self._table_door(Table.of(X), reset=reset)
        refuse_no_rows(X, "X")
        if hasattr(X, "columns") or hasattr(X, "__arrow_c_stream__"):
            check_names(column_names(X) or ())
            validate_data(self, X, reset=reset, skip_check_array=True)
        else:
            X = unmasked_table(X) if isinstance(X, np.ma.MaskedArray) else X
            cells = validate_data(
                self,
                X,
                reset=reset,
                dtype=None,
                ensure_all_finite="allow-nan",
                ensure_min_features=1,
            )
            mixed = cells.dtype.kind == "U" and not hasattr(X, "dtype")
            X = np.array(X, dtype=object) if mixed else cells  # NumPy made words of the numbers
        if not reset:
            return check_some_rows(Table.of(X, self._kinds, names=self._names_of(X)))
        table = Table.of(X)
        self._kinds = table.kinds
        return check_some_rows(table)

    def _names_of(self, X: Any) -> list[str] | None:
        """None where X has the names of training; where it or training had none, those by place."""
        found = raw_columns.column_names(X) if raw_columns.is_frame(X) else []
        return None if set(self._kinds) <= set(found) else list(self._kinds)

    def _table_door(self, table: Table, *, reset: bool) -> Table:
        """Columns are found by their names; what training did not have is left aside."""
        if reset:
            self._kinds = table.kinds
            self.n_features_in_ = len(table.names)
            self.feature_names_in_ = np.array(table.names, dtype=object)
            return check_some_rows(table)
        return check_some_rows(Table.of(table.select(self._kinds), self._kinds))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.string = True
        tags.input_tags.categorical = True
        return tags

    @property
    def _width(self) -> int:
        return sum(feature.width for feature in self._features)


@dataclass(frozen=True, eq=False)
class FoldDesign:
    """Rows that every training part encodes in its own way, X = Z A + b, from its moments."""

    Z: Floats
    fold_map: FoldMap

    @classmethod
    def of(cls, encoder: Encoder, table: Table, weight: Floats) -> Self:
        """The design of an encoder that has yet to be fitted, for all rows that it will meet."""
        encoder = clone(encoder)
        encoder._table_door(table, reset=True)
        encoder.learn_features(weighted_blocks(table, weight))
        return cls(encoder.expand(table), encoder.fold_map)


def check_some_rows(table: Table) -> Table:
    """The table, or an error if it has no rows."""
    if not len(table):
        raise DataError("found a table with 0 sample(s), and at least one row is needed")
    return table


def _assemble(parts: list[tuple[slice, Floats]], height: int) -> Floats:
    """The maps of the features, side by side and one below the other."""
    A = np.zeros((height, sum(block.shape[1] for _, block in parts)))
    first = 0
    for rows, block in parts:
        A[rows, first : first + block.shape[1]] = block
        first += block.shape[1]
    return A
