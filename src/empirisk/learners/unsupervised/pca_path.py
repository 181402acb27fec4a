"""PCA at all numbers of components, from the axes of one training set."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import clone

from empirisk.learners.unsupervised.held_out_entries import entry_losses_along
from empirisk.learners.unsupervised.number_of_components import checked_number, settled_number
from empirisk.learners.unsupervised.ways_to_axes import ScaledAxes
from empirisk.risk.axis import Output, Path
from empirisk.runtime.arrays import Array, Floats
from empirisk.runtime.errors import ParameterError
from empirisk.runtime.parallel import one_blas_thread

if TYPE_CHECKING:
    from empirisk.learners.unsupervised.pca import PCA


class PCAPath(Path):
    """The pairs of the first axes, as many as each value says.

    Parameters
    ----------
    learner : PCA
    found : ScaledAxes
        As many as the largest value needs.
    values : sequence
        Numbers of components, or what else `n_components` may be.
    """

    def __init__(self, learner: "PCA", found: ScaledAxes, values: Sequence[Any]) -> None:
        self.learner, self.found, self.values = learner, found, values
        squares, p = found.axes.squares, len(found.scale)
        self.numbers = [
            settled_number(
                value, squares, found.weight,
                checked_number(value, found.rows, p, learner.svd_solver),
            )
            for value in values
        ]  # fmt: skip

    def predict_path(self, X: Array, output: Output) -> Floats:
        """The loss of each row, a column for each value: its reconstruction, or its entries."""
        found, axes, n = self.found, self.found.axes, self.found.weight
        Z = (X - found.mean) / (found.scale * found.unit)
        with one_blas_thread():
            if output == "entries":
                variance, dropped = axes.squares / (n - 1), axes.dropped / (n - 1)
                return entry_losses_along(Z, axes.directions, variance, dropped, self.numbers)
            if output == "reconstruction":
                return self._reconstruction_losses(Z)
        raise ParameterError(
            f"PCA has no {output!r} of rows: use the loss 'reconstruction' or 'entries'"
        )

    def at(self, j: int) -> "PCA":
        """The fitted learner at the j-th value."""
        learner = clone(self.learner).set_params(n_components=self.values[j])
        return learner._take(self.found, self.values[j])

    def _reconstruction_losses(self, Z: Floats) -> Floats:
        """From the largest number down: what an axis more would have taken away comes back."""
        directions, scale = self.found.axes.directions, self.found.scale * self.found.unit
        numbers = np.array(self.numbers)
        most = int(numbers.max(initial=0))
        scores = Z @ directions[:most].T
        residual = (Z - scores @ directions[:most]) * scale
        losses = np.empty((len(Z), len(numbers)))
        with np.errstate(over="ignore"):
            for k in range(most, -1, -1):
                if k in numbers:
                    losses[:, numbers == k] = np.einsum("ij,ij->i", residual, residual)[:, None]
                if k:
                    residual += np.multiply.outer(scores[:, k - 1], directions[k - 1] * scale)
        return losses
