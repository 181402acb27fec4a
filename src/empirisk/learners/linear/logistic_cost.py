"""What the parts of a fit of logistic rules cost, as nanoseconds of one core.

Measured for 2 to 40 classes, 4 to 2000 columns and 200 to 200,000 rows; right to a factor of two.
Only their ratios matter: they choose between ways to the same solution.
"""

from typing import NamedTuple

from empirisk.learners.linear.logistic_loss import LogisticLoss

HESSIANS = 2
"""Hessians that a fit needs, as a rule, where L-BFGS has gone before."""
SHARING = 3
"""Fits along a path that share a Hessian, as a rule."""
SHARED_STEPS = 12
"""Steps to a fit with a Hessian from the one before it on the path."""


class Cost(NamedTuple):
    """Of a loss with n rows, the columns that a score uses, and K classes."""

    n: int
    width: int
    n_classes: int
    size: int

    @classmethod
    def of(cls, loss: LogisticLoss) -> "Cost":
        return cls(len(loss.X), loss.width, loss.n_classes, loss.size)

    @property
    def evaluation(self) -> float:
        """A value with its gradient: exponentials, and two products with X."""
        return 1e5 + self.n * (20.0 * self.n_classes + 0.4 * self.width + 0.2 * self.size)

    @property
    def inverse(self) -> float:
        """A Hessian: Z'WZ for each pair of classes, their assembly, and a Cholesky factor."""
        K, d, w = self.n_classes, float(self.size), self.width
        pairs = K * (K - 1) / 2
        products = pairs * (1e4 + self.n * (20.0 + 2.0 * w + 0.035 * w * w))
        assembly = 0.6 * K * d * d if K > 2 else 0.0
        return 1e5 + products + assembly + 0.013 * d**3

    @property
    def newton_step(self) -> float:
        """An evaluation, and two triangular systems."""
        return self.evaluation + 0.9 * float(self.size) ** 2

    @property
    def gradient_step(self) -> float:
        """A step of L-BFGS: an evaluation, and products with the pairs that it keeps."""
        return self.evaluation + 1e5 + 80.0 * self.size

    @property
    def hessian(self) -> float:
        """In steps with a Hessian from before."""
        return self.inverse / self.newton_step

    @property
    def newton(self) -> float:
        """A fit by Newton's method."""
        return HESSIANS * self.inverse + SHARED_STEPS * self.newton_step

    @property
    def on_a_path(self) -> float:
        """A fit that shares Hessians with its neighbours."""
        return self.inverse / SHARING + SHARED_STEPS * self.newton_step


def rotation(n: int, p: int) -> float:
    """The QR decomposition of n rows of more columns p."""
    return 0.15 * float(n) ** 2 * p
