"""A table in at most 255 bins for each feature, for histogram boosting."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from empirisk.compiled.boosting.layout import CODES, FEATURE
from empirisk.data.coded_column import CodedColumn
from empirisk.learners.ensembles.boosting.binning import MOST_BINS, Binning, pieces_of, sampled
from empirisk.learners.ensembles.boosting.sharing import share_columns
from empirisk.runtime.arrays import Array, Floats
from empirisk.runtime.errors import ParameterError
from empirisk.runtime.parallel import parallel


@dataclass(frozen=True, eq=False)
class BinnedTable:
    """A table in bins, or some rows of it; made once and shared by folds, trees and rounds.

    Attributes
    ----------
    codes : uint8 array of shape (columns of codes, rows of the table)
        The bin of each value, and behind the last bin a code for missing values. Features that are
        hardly ever off their default share columns (`sharing`).
    features : record array of shape (p,)
        Where the codes of each feature are (`compiled.boosting.layout`).
    columns : tuple of CodedColumn
        What the columns of the table are; numbers keep no values.
    low, high : float64 arrays of shape (p, 255)
        The least and the largest value of each bin, as trees compare values
        (`CodedColumn.places`).
    level_bins : uint8 array
        The bins of the levels of categories, one category after the other. Where there are more
        levels than bins, the rarest ones share the last bin, until a tree groups them
        (`level_groups`).
    levels : dict of uint32 arrays
        Of categories with more levels than bins, by their number: the level of each row of the
        table, and behind the last level a code for missing values.
    rows : uint32 array or None
        The rows of the table that this is; None for all.
    """

    codes: Array
    features: Array
    columns: tuple[CodedColumn, ...]
    low: Floats
    high: Floats
    level_bins: Array
    levels: Mapping[int, Array] = field(default_factory=dict)
    rows: Array | None = None

    @classmethod
    def of(
        cls,
        X: Any,
        categories: Sequence[bool | None],
        *,
        max_bins: int = MOST_BINS,
        weight: Floats | None = None,
        n_jobs: int | None = None,
    ) -> "BinnedTable":
        """Put the columns of a frame, or of an array of numbers, in bins.

        Parameters
        ----------
        X : frame or array of shape (n, p)
        categories : sequence of True, False or None
            Whether each column is a category; None goes by its type.
        max_bins : int
            At most so many bins for each feature, besides one for missing values: 2..255.
        weight : float array of shape (n,), optional
            A row of weight w counts as w copies of it.
        n_jobs : int or None
            Threads that share the columns.

        Examples
        --------
        >>> import numpy as np
        >>> table = BinnedTable.of(np.array([[2.5, 7.0], [np.nan, 7.0], [-1.0, 9.0]]), [None] * 2)
        >>> table.codes
        array([[1, 2, 0],
               [0, 0, 1]], dtype=uint8)
        >>> table.low[0, :2]
        array([-1. ,  2.5])
        """
        if not 2 <= max_bins <= MOST_BINS:
            raise ParameterError(f"max_bins is {max_bins!r}; give a whole number from 2 to 255")
        binning = Binning(max_bins, sampled(X.shape[0], weight), weight)
        pieces = list(pieces_of(X, categories))
        parts = [part for some in parallel(binning.of, pieces, n_jobs=n_jobs) for part in some]
        codes, places = share_columns(
            [part.codes for part in parts], [part.n_codes for part in parts]
        )
        first = 0
        features = np.zeros(len(parts), FEATURE)
        for j, (part, place) in enumerate(zip(parts, places, strict=True)):
            features[j] = (place.column, part.n_bins, place.first, place.default,
                           part.column.missing, part.is_category, 0, first,
                           len(part.level_bins))  # fmt: skip
            first += len(part.level_bins)
        return cls(
            codes,
            features,
            tuple(part.column for part in parts),
            np.stack([part.low for part in parts]),
            np.stack([part.high for part in parts]),
            np.concatenate([part.level_bins for part in parts]),
            {j: part.levels for j, part in enumerate(parts) if part.levels is not None},
        )

    @property
    def shape(self) -> tuple[int, int]:
        n = self.codes.shape[1] if self.rows is None else len(self.rows)
        return n, len(self.columns)

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, key: Any) -> "BinnedTable":
        """`table[rows, ...]` are some rows, as scikit-learn asks for them; nothing is copied."""
        rows = key[0] if isinstance(key, tuple) else key
        return replace(self, rows=np.ascontiguousarray(self.row_numbers()[rows]))

    def row_numbers(self) -> Array:
        """The rows of the whole table that this is."""
        if self.rows is None:
            return np.arange(self.codes.shape[1], dtype=np.uint32)
        return self.rows

    def own_codes(self) -> Array:
        """The codes of these rows, column by column."""
        if self.rows is None:
            return self.codes
        return np.ascontiguousarray(self.codes[:, self.rows])

    def own_levels(self, j: int) -> Array:
        """The levels of these rows, of a category with more levels than bins."""
        return self.levels[j] if self.rows is None else self.levels[j][self.rows]

    def places(self) -> Floats:
        """A table that every tree grown on these bins sends the same ways as the one it is of."""
        X = np.empty(self.shape)
        for j, feature in enumerate(self.features):
            if j in self.levels:
                level = self.own_levels(j)
                X[:, j] = np.where(level < feature["n_levels"], level, np.nan)
                continue
            values = self.low[j, : feature["n_bins"]]
            if feature["category"]:
                first, n = int(feature["levels"]), int(feature["n_levels"])
                values = np.full(feature["n_bins"], np.nan)
                values[self.level_bins[first : first + n]] = np.arange(n)
            X[:, j] = np.append(values, np.nan)[self._bins(j)]
        return X

    def _bins(self, j: int) -> Array:
        """The bins of a feature in these rows."""
        column, n_bins, first, default, missing = self.features[j].tolist()[:5]
        codes = self.codes[column]
        codes = codes if self.rows is None else codes[self.rows]
        if default < 0:
            return codes
        bins = np.full(CODES, default, np.uint8)
        n = n_bins + missing
        bins[first : first + n - 1] = np.flatnonzero(np.arange(n) != default)
        return bins[codes]
