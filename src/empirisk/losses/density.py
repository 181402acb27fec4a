"""The loss of a density without labels: how little it expected of a row."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from empirisk.losses.loss import Loss, LossOutput, LossTask
from empirisk.runtime.arrays import Floats
from empirisk.runtime.errors import ParameterError


@dataclass(frozen=True)
class LogDensity(Loss):
    """-log f(x), whose mean is least for the density that the rows come from.

    The risk of f is the entropy of the rows' own density g plus the Kullback-Leibler divergence
    KL(g, f), so that densities are compared by it without knowing g. It has no sign: a density may
    be above one, and in other units of X the risk of every density is shifted by the same number.
    It is infinite where f is 0.

    Examples
    --------
    >>> LogDensity()([[0.0], [1.0]], [0.5, 1.0])
    array([0.69314718, 0.        ])
    """

    name: ClassVar[str] = "log_density"
    task: ClassVar[LossTask] = "density"
    output: ClassVar[LossOutput] = "density"

    @property
    def bounds(self) -> tuple[float, float]:
        return -np.inf, np.inf

    def __call__(self, y: ArrayLike, prediction: ArrayLike) -> Floats:
        """Of rows y, which do not matter, and the densities at them."""
        with np.errstate(divide="ignore"):
            return 0.0 - np.log(np.asarray(prediction, dtype=float))

    def best_constant(
        self, y: ArrayLike, sample_weight: ArrayLike | None = None, *, n_classes: int = 0
    ) -> float:
        """There is none: no density is constant on all of the space."""
        raise ParameterError("no constant is a density; compare with another density instead")
