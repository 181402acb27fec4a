"""Rows in blocks of one fixed size, as often as wanted, from memory or from a stream.

Sums over blocks depend in their last bits on where the blocks end. Here the ends depend on the
rows alone, never on how the data arrive, so data in memory and the same data streamed in pieces
of any size give the same bits.
"""

from collections.abc import Callable, Iterable, Iterator
from functools import cached_property
from typing import Any, NamedTuple, TypeVar

import numpy as np
from sklearn.utils.validation import check_array, validate_data

from empirisk.runtime.arrays import Array, Floats
from empirisk.runtime.complaints import refuse_missing_labels, refuse_not_finite
from empirisk.runtime.conversion import numbers
from empirisk.runtime.errors import DataError, DataTypeError
from empirisk.runtime.parallel import AHEAD, stream
from empirisk.runtime.targets import check_weights

ROWS_PER_BLOCK = 4096
"""Large enough for BLAS to run at full speed, small enough for a block to stay in the cache."""

NUMBERS_AT_ONCE = 2**25
"""What blocks that threads work ahead on may hold: 256 MB."""

P = TypeVar("P")
R = TypeVar("R")


class Rows(NamedTuple):
    """Some rows of a data set; the weights are positive."""

    X: Floats
    y: Array
    weight: Floats


class Blocks:
    """A data set that can be gone through, block by block, any number of times.

    Parameters
    ----------
    passes : callable
        Called at the start of each pass; returns the blocks of the pass in order.

    Examples
    --------
    >>> X, y = np.arange(10.0).reshape(5, 2), np.arange(5.0)
    >>> blocks = Blocks.of_arrays(X, y, np.ones(5))
    >>> [block.X.shape for block in blocks]
    [(5, 2)]
    """

    def __init__(self, passes: Callable[[], Iterable[Rows]]) -> None:
        self._passes = passes

    def __iter__(self) -> Iterator[Rows]:
        return iter(self._passes())

    @classmethod
    def of_arrays(cls, X: Floats, y: Array, weight: Floats) -> "Blocks":
        """Views into arrays that have passed the door of `fit`; read-only ones are copied."""
        rows = Rows(compilable(X), compilable(y), compilable(weight))
        return cls(lambda: _rechunk([rows]))

    @classmethod
    def of_pieces(cls, source: Any, estimator: Any) -> "Blocks":
        """The blocks of a stream, each piece checked as `fit` would check it.

        Parameters
        ----------
        source : callable, or iterable that can be gone through again
            Gives pieces (X, y) or (X, y, sample_weight) of any number of rows.
        estimator : estimator
            Learns the number and the names of the features from the first piece.
        """
        check_repeatable(source, type(estimator).__name__)
        return cls(lambda: _rechunk(_checked(source() if callable(source) else source, estimator)))

    @cached_property
    def n_columns(self) -> int:
        """Number of columns of X."""
        return next(iter(self)).X.shape[1]

    def all_rows(self, at_most: int) -> Rows | None:
        """The rows of all blocks together, or None if there are more than `at_most`."""
        gathered, count = [], 0
        for rows in self:
            count += len(rows.X)
            if count > at_most:
                return None
            gathered.append(rows)
        return _join(gathered)

    def each(self, function: Callable[[Rows], R], *, n_jobs: int | None = None) -> Iterator[R]:
        """What the function makes of each block, in order; threads share the work."""
        ahead = min(AHEAD, NUMBERS_AT_ONCE // (ROWS_PER_BLOCK * self.n_columns))
        return stream(function, self, n_jobs=n_jobs, ahead=ahead)

    def map(self, change: Callable[[Rows], Rows]) -> "Blocks":
        """The same blocks, each changed in passing."""
        return Blocks(lambda: map(change, self))


def compilable(array: Array) -> Array:
    """The array, or a copy if it is not contiguous, aligned and writable.

    For another layout compiled code would be compiled once more.
    """
    return array if array.flags.carray else np.require(array, None, ["C", "A", "W"])


def _checked(source: Iterable[Any], estimator: Any) -> Iterator[Rows]:
    """Pieces as arrays of our own (the source may reuse its memory), without rows of weight 0."""
    first = True
    for number, piece in enumerate(source):
        if not isinstance(piece, tuple | list) or len(piece) not in (2, 3):
            raise DataTypeError(
                f"piece {number} is a {type(piece).__name__}; give (X, y) or (X, y, sample_weight)"
            )
        X, y, *rest = piece
        weight = rest[0] if rest else None
        if np.shape(X)[0] == 0 or (weight is not None and not np.any(weight)):
            continue
        validate_data(estimator, X, reset=first, skip_check_array=True)
        first = False
        try:
            rows = _checked_piece(X, y, weight, estimator)
        except DataError as error:
            raise type(error)(f"piece {number}, rows counted within it: {error}") from error
        yield rows
    if first:
        raise DataError("the source gave no rows of weight > 0 (0 sample(s)); a fit needs some")


def _checked_piece(X: Any, y: Any, weight: Any, estimator: Any) -> Rows:
    X = numbers(X, estimator)
    _refuse_missing_targets(np.asarray(y), type(estimator).__name__)
    y = check_array(y, dtype=None, ensure_2d=False, input_name="y", estimator=estimator)
    if len(y) != len(X):
        raise DataError(f"{len(X)} rows in X and {len(y)} in y; give as many")
    weight = check_weights(weight, len(X))
    kept = weight > 0  # indexing by it copies
    return Rows(X[kept], y[kept], weight[kept])


def _refuse_missing_targets(y: Array, name: str) -> None:
    if y.dtype.kind == "f":
        refuse_not_finite(y, y, "y", name)
    elif y.ndim == 1:
        refuse_missing_labels(y, name)


def regroup(
    pieces: Iterable[P], length: Callable[[P], int], size: int = ROWS_PER_BLOCK
) -> Iterator[list[tuple[P, slice]]]:
    """What blocks of `size` rows, the last one shorter, consist of: pieces and which rows of them.

    Examples
    --------
    >>> list(regroup(["abc", "de"], len, size=4))
    [[('abc', slice(0, 3, None)), ('de', slice(0, 1, None))], [('de', slice(1, 2, None))]]
    """
    waiting: list[tuple[P, slice]] = []
    count = 0
    for piece in pieces:
        start, n = 0, length(piece)
        while count + n - start >= size:
            end = start + size - count
            yield [*waiting, (piece, slice(start, end))]
            waiting, count, start = [], 0, end
        if start < n:
            waiting.append((piece, slice(start, n)))
            count += n - start
    if waiting:
        yield waiting


def check_repeatable(source: Any, what: str) -> None:
    """Complain of pieces that can be gone through only once."""
    if isinstance(source, Iterator):
        raise DataError(
            f"{what} goes through the blocks several times, but a {type(source).__name__} can be "
            "used only once: pass a function that returns it, or a list of blocks"
        )


def _rechunk(pieces: Iterable[Rows]) -> Iterator[Rows]:
    """Pieces of any size as blocks of one size; views where possible."""
    for parts in regroup(pieces, lambda rows: len(rows.X)):
        yield _join([_cut(rows, which) for rows, which in parts])


def _cut(rows: Rows, which: slice) -> Rows:
    return Rows(*(column[which] for column in rows))


def _join(parts: list[Rows]) -> Rows:
    if len(parts) == 1:
        return parts[0]
    return Rows(*(np.concatenate(columns) for columns in zip(*parts, strict=True)))
