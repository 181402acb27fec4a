"""Losses without labels: how far a row is from what an encoder and a decoder make of it.

There is no y to predict; the row itself is the truth. So a learner gives the loss of each row
itself, and the engine asks it for these (see `Output` in `empirisk.risk.axis`).
"""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from empirisk.losses.loss import Loss, LossOutput, LossTask
from empirisk.losses.weighted import checked_sample, weighted_mean
from empirisk.runtime.arrays import Floats


@dataclass(frozen=True)
class Reconstruction(Loss):
    """|x - g(e(x))|^2: the squared distance of a row from its reconstruction, summed over columns.

    e is an encoder and g a decoder. Its best constant, the decoder without any code, is the mean.

    Examples
    --------
    >>> Reconstruction()([[1.0, 2.0], [0.0, 0.0]], [[1.0, 0.0], [0.0, 1.0]])
    array([4., 1.])
    """

    name: ClassVar[str] = "reconstruction"
    task: ClassVar[LossTask] = "reconstruction"
    output: ClassVar[LossOutput] = "reconstruction"

    def __call__(self, y: ArrayLike, prediction: ArrayLike) -> Floats:
        """Of rows y and their reconstructions; infinite only where the square is."""
        apart = np.asarray(y, dtype=float) - np.asarray(prediction, dtype=float)
        with np.errstate(over="ignore"):
            return np.einsum("...j,...j->...", apart, apart)

    def best_constant(
        self, y: ArrayLike, sample_weight: ArrayLike | None = None, *, n_classes: int = 0
    ) -> Floats:
        """The weighted mean of the rows."""
        values, weight = checked_sample(np.asarray(y, dtype=float).T, sample_weight)
        return weighted_mean(values, weight)


@dataclass(frozen=True)
class HeldOutEntries(Reconstruction):
    """sum_j (x_j - x~_j)^2 / total variance, where x~_j is predicted from the other entries of x.

    The reconstruction of a row is made from all its entries, the one that is judged included: more
    components always reconstruct better, rows that were held out too. Here each entry is held out
    from its own row as well. The total variance is that of the training rows, so the loss has no
    unit, and 1 is what the mean alone achieves.

    Examples
    --------
    >>> import numpy as np
    >>> from empirisk import PCA, Tuned
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(100, 1)) @ np.ones((1, 5)) + 0.3 * rng.normal(size=(100, 5))
    >>> tuned = Tuned(PCA(), values=[1, 2, 3], random_state=0).fit(X)
    >>> tuned.risk_.loss, tuned.best_value_
    ('entries', 1)
    """

    name: ClassVar[str] = "entries"
    output: ClassVar[LossOutput] = "entries"
