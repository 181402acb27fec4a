"""PCA of rows that come piece by piece: their moments add up, and the axes follow from the sum."""

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
from sklearn.utils.metaestimators import available_if

from empirisk.data.blocks import Blocks, Rows, check_repeatable
from empirisk.data.moments import Moments
from empirisk.data.table import Table
from empirisk.learners.unsupervised.number_of_components import checked_number
from empirisk.learners.unsupervised.ways_to_axes import (
    ShiftedMoments,
    axes_of_moments,
    check_parameters,
    copies,
    refuse_one_row,
    shifted_moments,
)
from empirisk.runtime.arrays import Floats
from empirisk.runtime.validation import check_rows


def _by_pieces(pca: Any) -> bool:
    """Whether its way to the axes goes from the covariance matrix, which pieces add up to."""
    return pca.svd_solver in ("auto", "covariance_eigh")


class StreamingMixin:
    """`partial_fit` and `fit_blocks` from weights, means and scatter matrices, which add up.

    The scatter of each block is taken about its own mean, and blocks are joined by the stable
    update of Chan, Golub & LeVeque (1983), so that an offset costs no digits. What is kept is a
    matrix of p x p numbers, whatever the number of rows.
    """

    @available_if(_by_pieces)
    def partial_fit(self: Any, X: Any, y: Any = None, sample_weight: Any = None) -> Any:
        """Learn from further rows, beside those of earlier calls; a `fit` between begins anew.

        Parameters
        ----------
        X : array-like of shape (n, p)
        y : ignored
        sample_weight : array-like of shape (n,), optional
            A row of weight w counts as w copies of it.
        """
        before = self._kept_moments()
        rows, weight = check_rows(self, X, sample_weight, reset=before is None)
        shift = weight @ rows / weight.sum() if before is None else before.shift
        blocks = Blocks.of_arrays(rows, np.empty((len(rows), 0)), weight)
        moments = shifted_moments(blocks, self.n_jobs, shift=shift)
        return self._learn_moments(moments if before is None else _joined(before, moments))

    @available_if(_by_pieces)
    def fit_blocks(self: Any, source: Any) -> Any:
        """Learn from pieces of any size: the result has the same bits as that of `fit`.

        That is so where `fit` goes by the covariance matrix, the one way for pieces.

        Parameters
        ----------
        source : callable, or iterable that can be gone through again
            Gives pieces: tables, as `read_blocks` does, frames or arrays X, or tuples (X, y) or
            (X, y, sample_weight) as for learners with labels, whose y is left aside. One pass is
            enough unless a mean is far from 0, or numbers are beyond 1e±100.
        """
        check_repeatable(source, type(self).__name__)
        blocks = Blocks.of_pieces(lambda: _with_targets(source), self).map(_without_targets)
        return self._learn_moments(shifted_moments(blocks, self.n_jobs))

    def _learn_moments(self: Any, shifted: ShiftedMoments) -> Any:
        check_parameters(self)
        moments = shifted.moments
        refuse_one_row(moments.rows, moments.weight)
        rows = copies(moments.rows, moments.weight)
        number = checked_number(self.n_components, rows, len(moments.mean))
        found = axes_of_moments(shifted, number, correlation=self.correlation)
        self._moments_rows, self._moments_unit = moments.rows, shifted.unit
        self._moments_mean, self._moments_scatter = moments.mean, moments.scatter
        self._moments_shift = shifted.shift
        return self._take(found, self.n_components)

    def _kept_moments(self: Any) -> ShiftedMoments | None:
        if not hasattr(self, "_moments_scatter"):
            return None
        moments = Moments(
            self._moments_rows, self._weight, self._moments_mean, self._moments_scatter
        )
        return ShiftedMoments(moments, self._moments_shift, self._moments_unit)

    def _forget_moments(self: Any) -> None:
        for name in [name for name in vars(self) if name.startswith("_moments_")]:
            del self.__dict__[name]


def _joined(left: ShiftedMoments, right: ShiftedMoments) -> ShiftedMoments:
    """Both together, which have one shift, in the larger of their units."""
    unit = max(left.unit, right.unit)
    one, other = (_in_unit(part.moments, part.unit / unit) for part in (left, right))
    return ShiftedMoments(one + other, left.shift, unit)


def _in_unit(moments: Moments, factor: float) -> Moments:
    if factor == 1.0:
        return moments
    scatter = moments.scatter * factor * factor
    return Moments(moments.rows, moments.weight, moments.mean * factor, scatter)


def _with_targets(source: Any) -> Iterator[tuple[Any, Floats, Any]]:
    """Pieces as learners with labels have them, without any labels."""
    pieces: Iterable[Any] = source() if callable(source) else source
    for piece in pieces:
        X, weight = piece, None
        if isinstance(piece, tuple):
            X, weight = piece[0], piece[2] if len(piece) > 2 else None
        X = X.to_arrow() if isinstance(X, Table) else X  # in the form whose names are known
        yield X, np.zeros(len(X)), weight


def _without_targets(rows: Rows) -> Rows:
    return Rows(rows.X, np.empty((len(rows.X), 0)), rows.weight)
