"""What the covariances of components have in common: scikit-learn's four structures, and the sieve.

Each gives the M-step in closed form from the scatter of components about their new means,
sum_i r_ik (x_i - m_k)(x_i - m_k)', or its diagonal alone, and says how covariances in this form are
used. Covariances are kept from collapsing by a floor (`CovarianceFloor`); with it the M-step still
is the exact maximum, under the constraint, so that the likelihood never falls.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar
from warnings import warn

import numpy as np
from scipy.linalg.lapack import dtrtri

from empirisk.runtime.arrays import Floats
from empirisk.runtime.errors import DataError, RankWarning

LEAST = 1e-12  # of the covariance of all rows: what rounding leaves
AT_FLOOR = 1 + 1e-3
ROUNDED = 1e-14


@dataclass(frozen=True, eq=False)
class CovarianceFloor:
    """No covariance is less than `share` times that of all rows: S - share T is not negative.

    It has no unit: however small the scale of X, it asks for the same relative precision. The S
    that maximises -log|S| - tr(S^-1 A) under it has the eigenvectors of A, in coordinates where T
    is the identity, and its eigenvalues, raised to `share` (Ingrassia 2004).
    """

    share: float
    total: Floats
    in_a_plane: bool = False

    @classmethod
    def of(cls, reg_covar: float, total: Floats, *, diagonal: bool) -> "CovarianceFloor":
        """Where rows lie in a plane, T is taken without its correlations."""
        share = max(float(reg_covar), LEAST)
        if diagonal:
            return cls(share, total)
        size = np.sqrt(np.diagonal(total))
        spectrum = np.linalg.eigvalsh(total / size / size[:, np.newaxis])
        rank = int((spectrum > len(total) * ROUNDED * spectrum[-1]).sum())
        if rank == len(total):
            return cls(share, total)
        warn(
            f"the rows of X lie in {rank} of {len(total)} dimensions, where no density with full "
            "covariances exists: reg_covar holds them up; leave out columns that follow from "
            "others, give more rows, or covariance_type='diag'",
            RankWarning,
        )
        return cls(share, np.diag(np.diagonal(total)), in_a_plane=True)

    def raised(self, matrices: Floats) -> Floats:
        """The matrices (K, p, p), raised where they are below the floor."""
        if self.above(matrices):
            return matrices
        values, vectors = self._spectra(matrices)
        sides = self._root @ vectors
        lifted = (sides * np.maximum(values, self.share)[:, np.newaxis]) @ sides.swapaxes(1, 2)
        below = values[:, 0] < self.share
        return np.where(below[:, np.newaxis, np.newaxis], lifted, matrices)

    def above(self, matrices: Floats) -> bool:
        """Whether all of them are above the floor, as a factorisation tells."""
        try:
            np.linalg.cholesky(matrices - self.share * self.total)
        except np.linalg.LinAlgError:
            return False
        return True

    def holds_up(self, matrices: Floats) -> bool:
        """Whether one of them would be below without it."""
        return bool((self._spectra(matrices)[0][:, 0] < self.share * AT_FLOOR).any())

    @cached_property
    def _root(self) -> Floats:
        """Lower triangular L with L L' = T."""
        return np.asarray(np.linalg.cholesky(self.total), dtype=np.float64)

    @cached_property
    def _inverse_root(self) -> Floats:
        return inverse_roots(self.total[np.newaxis])[0]

    def _spectra(self, matrices: Floats) -> tuple[Floats, Floats]:
        """Eigenvalues, from the least on, and eigenvectors where T is the identity."""
        values, vectors = np.linalg.eigh(self._inverse_root @ matrices @ self._inverse_root.T)
        return values, vectors


class Full:
    """A covariance matrix of its own for each component: (K, p, p)."""

    diagonal: ClassVar[bool] = False
    common_unit: ClassVar[bool] = False
    equal_shares: ClassVar[bool] = False

    def fitted(self, mass: Floats, scatter: Floats, floor: CovarianceFloor) -> Floats:
        """The M-step."""
        return floor.raised(scatter / mass[:, np.newaxis, np.newaxis])

    def at_floor(self, covariances: Floats, floor: CovarianceFloor) -> bool:
        """Whether the floor holds up a component."""
        return floor.holds_up(covariances)

    def matrices(self, covariances: Floats, K: int, p: int) -> Floats:
        """The covariance matrix of each component, (K, p, p)."""
        return covariances

    def in_units(self, covariances: Floats, unit: Floats) -> Floats:
        """Of x = z / unit, of covariances of z."""
        return covariances / unit / unit[:, np.newaxis]

    def precisions(self, covariances: Floats, unit: Floats) -> tuple[Floats, Floats]:
        """Of x: upper triangular factors of the precisions, and the precisions themselves."""
        matrices = covariances.reshape(-1, *covariances.shape[-2:])
        lower = inverse_roots(matrices)
        upper = np.swapaxes(lower, 1, 2)
        return (
            (upper * unit[:, np.newaxis]).reshape(covariances.shape),
            (upper @ lower * unit * unit[:, np.newaxis]).reshape(covariances.shape),
        )

    def n_parameters(self, K: int, p: int) -> int:
        """Free numbers in the covariances."""
        return K * p * (p + 1) // 2

    def shape(self, K: int, p: int) -> tuple[int, ...]:
        """Of an array of covariances."""
        return K, p, p


class Tied(Full):
    """One covariance matrix for all components: (p, p)."""

    def fitted(self, mass: Floats, scatter: Floats, floor: CovarianceFloor) -> Floats:
        return floor.raised((scatter.sum(axis=0) / mass.sum())[np.newaxis])[0]

    def at_floor(self, covariances: Floats, floor: CovarianceFloor) -> bool:
        return floor.holds_up(covariances[np.newaxis])

    def matrices(self, covariances: Floats, K: int, p: int) -> Floats:
        return np.broadcast_to(covariances, (K, p, p))

    def n_parameters(self, K: int, p: int) -> int:
        return p * (p + 1) // 2

    def shape(self, K: int, p: int) -> tuple[int, ...]:
        return p, p


class Diagonal(Full):
    """Independent features within each component: variances (K, p)."""

    diagonal = True

    def fitted(self, mass: Floats, scatter: Floats, floor: CovarianceFloor) -> Floats:
        least = floor.share * np.diagonal(floor.total)
        return np.maximum(scatter / mass[:, np.newaxis], least)

    def at_floor(self, covariances: Floats, floor: CovarianceFloor) -> bool:
        return bool((covariances < AT_FLOOR * floor.share * np.diagonal(floor.total)).any())

    def matrices(self, covariances: Floats, K: int, p: int) -> Floats:
        return covariances[:, :, np.newaxis] * np.eye(p)

    def in_units(self, covariances: Floats, unit: Floats) -> Floats:
        return covariances / unit / unit

    def precisions(self, covariances: Floats, unit: Floats) -> tuple[Floats, Floats]:
        size = unit if covariances.ndim == 2 else unit[0]
        root = size / np.sqrt(covariances)
        return root, root * root

    def n_parameters(self, K: int, p: int) -> int:
        return K * p

    def shape(self, K: int, p: int) -> tuple[int, ...]:
        return K, p


class Spherical(Diagonal):
    """One variance for each component, the same along all features: (K,)."""

    common_unit = True

    def fitted(self, mass: Floats, scatter: Floats, floor: CovarianceFloor) -> Floats:
        least = floor.share * np.diagonal(floor.total).mean()
        return np.maximum(scatter.mean(axis=1) / mass, least)

    def at_floor(self, covariances: Floats, floor: CovarianceFloor) -> bool:
        least = floor.share * np.diagonal(floor.total).mean()
        return bool((covariances < AT_FLOOR * least).any())

    def matrices(self, covariances: Floats, K: int, p: int) -> Floats:
        return np.broadcast_to(covariances, (K,))[:, np.newaxis, np.newaxis] * np.eye(p)

    def in_units(self, covariances: Floats, unit: Floats) -> Floats:
        return covariances / unit[0] / unit[0]

    def n_parameters(self, K: int, p: int) -> int:
        return K

    def shape(self, K: int, p: int) -> tuple[int, ...]:
        return (K,)


class Sieve(Spherical):
    """One variance for all components and features, (1,), and equal weights: the means are free.

    The variance step is sum_ik r_ik |x_i - m_k|^2 / (n p).
    """

    equal_shares = True

    def fitted(self, mass: Floats, scatter: Floats, floor: CovarianceFloor) -> Floats:
        return super().fitted(mass.sum(keepdims=True), scatter.sum(axis=0, keepdims=True), floor)

    def n_parameters(self, K: int, p: int) -> int:
        return 1

    def shape(self, K: int, p: int) -> tuple[int, ...]:
        return (1,)


STRUCTURES = {
    "full": Full(), "tied": Tied(), "diag": Diagonal(), "spherical": Spherical(), "sieve": Sieve(),
}  # fmt: skip


def inverse_roots(matrices: Floats) -> Floats:
    """Lower triangular R_k with R_k S_k R_k' = I, of each matrix."""
    try:
        return np.array([dtrtri(L, lower=1)[0] for L in np.linalg.cholesky(matrices)])
    except np.linalg.LinAlgError:
        raise DataError(
            "a covariance is not positive definite: a component has collapsed; give fewer "
            "components, a larger reg_covar, or covariance_type='diag'"
        ) from None
