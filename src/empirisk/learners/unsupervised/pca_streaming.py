"""PCA of rows that come piece by piece: their moments add up, and the axes follow from the sum."""

from collections.abc import Iterable, Iterator
from numbers import Integral
from typing import Any

import numpy as np
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import _num_samples

from empirisk.data.blocks import Blocks, Rows, check_repeatable
from empirisk.data.moments import Moments
from empirisk.data.shifted_moments import ShiftedMoments, shifted_moments
from empirisk.data.table import Table
from empirisk.learners.unsupervised.number_of_components import checked_number
from empirisk.learners.unsupervised.ways_to_axes import (
    axes_of_moments,
    check_parameters,
    copies,
    refuse_one_row,
)
from empirisk.runtime.arrays import Floats
from empirisk.runtime.validation import check_rows


def _by_pieces(pca: Any) -> bool:
    """Whether its way to the axes goes from the covariance matrix, which pieces add up to."""
    return pca.svd_solver in ("auto", "covariance_eigh")


class StreamingMixin:
    """`partial_fit` and `fit_blocks` from weights, means and scatter matrices, which add up.

    The scatter of each piece is taken about a shift close to its own mean, and pieces are joined by
    the stable update of Chan, Golub & LeVeque (1983), so that an offset costs no digits. What is
    kept is a matrix of p x p numbers, whatever the number of rows.
    """

    @available_if(_by_pieces)
    def partial_fit(self: Any, X: Any, y: Any = None, sample_weight: Any = None) -> Any:
        """Learn from further rows, beside those of earlier calls; a `fit` between begins anew.

        Pieces may be of any size. Until there are two rows, and as many as `n_components` needs,
        they are kept in mind and the PCA is not fitted.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, p)
        y : ignored
        sample_weight : array-like of shape (n,), optional
            A row of weight w counts as w copies of it.
        """
        if _weighs_nothing(sample_weight, X):
            return self
        check_parameters(self)
        before = self._kept_moments()
        rows, weight = check_rows(self, X, sample_weight, reset=before is None)
        blocks = Blocks.of_arrays(rows, np.empty((len(rows), 0)), weight)
        shifted = shifted_moments(blocks, self.n_jobs, each=self.correlation)
        shifted = shifted if before is None else before + shifted
        if self._has_enough(shifted.moments):
            return self._learn_moments(shifted)
        self._forget()
        return self._keep_moments(shifted)

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
        check_parameters(self)
        blocks = Blocks.of_pieces(lambda: _with_targets(source), self).map(_without_targets)
        return self._learn_moments(shifted_moments(blocks, self.n_jobs, each=self.correlation))

    def _has_enough(self: Any, moments: Moments) -> bool:
        """Whether there are rows enough for the number of components, which may be wrong anyway."""
        rows, p = copies(moments.rows, moments.weight), len(moments.mean)
        number = checked_number(self.n_components, max(rows, p), p)
        needed = number if isinstance(self.n_components, Integral | str) else 0
        return moments.weight > 1 and rows >= needed

    def _learn_moments(self: Any, shifted: ShiftedMoments) -> Any:
        moments = shifted.moments
        refuse_one_row(moments.rows, moments.weight)
        rows = copies(moments.rows, moments.weight)
        number = checked_number(self.n_components, rows, len(moments.mean))
        found = axes_of_moments(shifted, number, correlation=self.correlation)
        self._keep_moments(shifted)
        return self._take(found, self.n_components)

    def _keep_moments(self: Any, shifted: ShiftedMoments) -> Any:
        moments = shifted.moments
        self._moments_rows, self._moments_weight = moments.rows, moments.weight
        self._moments_mean, self._moments_scatter = moments.mean, moments.scatter
        self._moments_shift, self._moments_unit = shifted.shift, shifted.unit
        return self

    def _kept_moments(self: Any) -> ShiftedMoments | None:
        if not hasattr(self, "_moments_scatter"):
            return None
        moments = Moments(
            self._moments_rows, self._moments_weight, self._moments_mean, self._moments_scatter
        )
        return ShiftedMoments(moments, self._moments_shift, self._moments_unit)

    def _forget(self: Any) -> None:
        """What was fitted, and moments that were kept; not the names of the columns."""
        for name in set(vars(self)) - {"n_features_in_", "feature_names_in_"}:
            if (name.endswith("_") and not name.startswith("_")) or name.startswith("_moments_"):
                delattr(self, name)


def _weighs_nothing(sample_weight: Any, X: Any) -> bool:
    """Whether the rows of X have weights, all of which are 0."""
    if sample_weight is None or np.any(sample_weight):
        return False
    return np.shape(sample_weight) in ((), (_num_samples(X),))


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
