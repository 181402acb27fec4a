"""Gaussian mixtures as a latent model: the hidden part of a row is the number of its component."""

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from empirisk.compiled.mixtures.gaussian import diagonal_step, full_step, joint_densities
from empirisk.compiled.mixtures.missing import missing_densities, missing_step
from empirisk.compiled.mixtures.tiles import WIDTH
from empirisk.learners.density.covariance_structures import CovarianceFloor, Full, inverse_roots
from empirisk.learners.density.tiled_rows import Incomplete, TiledRows, share, symmetric
from empirisk.runtime.arrays import Floats
from empirisk.solvers.em import ROUNDING

LOG_2PI = float(np.log(2 * np.pi))
NOTHING = 1e-12  # of all rows: a component with less keeps its place
PRECISION = float(np.finfo(float).eps)


class GaussianParameters(NamedTuple):
    """Weights of components (K,), means (K, p), and covariances in the form of a structure."""

    shares: Floats
    means: Floats
    covariances: Floats


class Moments(NamedTuple):
    """Of each component: the expected weight of its rows, their mean, and scatter about it."""

    mass: Floats
    means: Floats
    scatter: Floats


@dataclass(frozen=True, eq=False)
class GaussianModel:
    """The steps of EM for rows z, `weight` of each, and a structure of covariances."""

    rows: TiledRows
    weight: Floats
    structure: Full
    floor: CovarianceFloor

    @cached_property
    def tiled(self) -> Floats:
        """The weights of complete rows, in tiles."""
        return self.rows.tiled(self.weight)

    @cached_property
    def total(self) -> float:
        """The weight of all rows."""
        return float(self.weight.sum())

    @property
    def rounding(self) -> float:
        """What rounding may take from the likelihood: digits of covariances near their floor."""
        return max(ROUNDING, PRECISION / self.floor.share)

    def e_step(self, parameters: GaussianParameters) -> tuple[Moments, float]:
        """Expected moments, and the mean log-likelihood of a row z."""
        mass, sums, products, likelihood = self._complete(parameters)
        if self.rows.incomplete is not None:
            more = self._incomplete(parameters, self.rows.incomplete)
            mass, sums, likelihood = mass + more[0], sums + more[1], likelihood + more[3]
            diagonal = self.structure.diagonal
            products = products + (np.einsum("kjj->kj", more[2]) if diagonal else more[2])
        return self._moments(parameters, mass, sums, products), likelihood / self.total

    def m_step(self, statistics: Moments) -> GaussianParameters:
        """The parameters of these moments."""
        mass = np.maximum(statistics.mass, np.finfo(float).tiny)
        shares = statistics.mass / statistics.mass.sum()
        if self.structure.equal_shares:
            shares = np.full(len(mass), 1 / len(mass))
        covariances = self.structure.fitted(mass, statistics.scatter, self.floor)
        return GaussianParameters(shares, statistics.means, covariances)

    def sound(self, parameters: GaussianParameters) -> bool:
        """Whether no component is held up by the floor alone."""
        return not self.structure.at_floor(parameters.covariances, self.floor)

    def _complete(self, parameters: GaussianParameters) -> tuple[Floats, Floats, Floats, float]:
        """Sums over complete rows of r, r u and r uu' (or its diagonal), and the likelihood."""
        K, p = parameters.means.shape
        rows, B, wide = self.rows, len(self.rows.first) - 1, self.rows.wide
        diagonal = self.structure.diagonal
        roots, constants = factors(parameters, self.structure, wide)
        sums, found = np.empty((B, K, p + 1, WIDTH)), np.empty(B)
        products = np.empty((B, K, p, WIDTH) if diagonal else (B, K, p, wide, WIDTH))
        roots = np.ascontiguousarray(np.einsum("kjj->kj", roots)[:, :p]) if diagonal else roots
        share(
            rows.team, diagonal_step if diagonal else full_step, rows.first, rows.tiles, self.tiled,
            parameters.means, roots, constants, sums, products, found,
        )  # fmt: skip
        first = sums.sum(axis=(0, 3))
        second = products.sum(axis=(0, -1))
        second = second if diagonal else symmetric(second[:, :, :p])
        return first[:, p].copy(), first[:, :p], second, float(found.sum())

    def _incomplete(
        self, parameters: GaussianParameters, rows: Incomplete
    ) -> tuple[Floats, Floats, Floats, float]:
        """The same sums over rows with missing values, by their conditional moments."""
        K, p = parameters.means.shape
        B = len(rows.first) - 1
        mass, sums = np.empty((B, K)), np.empty((B, K, p))
        products, found = np.empty((B, K, p, p)), np.empty(B)
        matrices, logs = dense(parameters, self.structure)
        share(
            self.rows.team, missing_step, rows.first, rows.patterns, rows.Z,
            self.weight[rows.rows], parameters.means, matrices, logs, mass, sums, products, found,
        )  # fmt: skip
        second = symmetric(products.sum(axis=0))
        return mass.sum(axis=0), sums.sum(axis=0), second, float(found.sum())

    def _moments(
        self, parameters: GaussianParameters, mass: Floats, sums: Floats, products: Floats
    ) -> Moments:
        """From moments about the present means to those about the new ones."""
        empty = mass <= NOTHING * self.total
        move = sums / np.where(empty, 1.0, mass)[:, np.newaxis]
        move[empty] = 0.0
        if self.structure.diagonal:
            scatter = np.maximum(products - mass[:, np.newaxis] * move * move, 0.0)
        else:
            outer = move[:, :, np.newaxis] * move[:, np.newaxis, :]
            scatter = products - mass[:, np.newaxis, np.newaxis] * outer
        if empty.any():
            matrices = self.structure.matrices(parameters.covariances, *parameters.means.shape)
            kept = np.einsum("kjj->kj", matrices) if self.structure.diagonal else matrices
            tiny = np.maximum(mass, np.finfo(float).tiny)
            scatter[empty] = (kept.T * tiny).T[empty]
        return Moments(mass, parameters.means + move, scatter)


def factors(parameters: GaussianParameters, structure: Full, wide: int) -> tuple[Floats, Floats]:
    """Triangular roots of the precisions, padded, and the constants of log(a_k f_k)."""
    K, p = parameters.means.shape
    roots = np.zeros((K, wide, wide))
    matrices = structure.matrices(parameters.covariances, K, p)
    if structure.diagonal:
        diagonal = np.arange(p)
        roots[:, diagonal, diagonal] = 1 / np.sqrt(np.einsum("kjj->kj", matrices))
    else:
        roots[:, :p, :p] = inverse_roots(matrices)
    size = np.log(np.einsum("kjj->kj", roots)[:, :p]).sum(axis=1)
    with np.errstate(divide="ignore"):
        return roots, np.log(parameters.shares) + size - 0.5 * p * LOG_2PI


def dense(parameters: GaussianParameters, structure: Full) -> tuple[Floats, Floats]:
    """Covariance matrices of all components, and the logarithms of their weights."""
    matrices = structure.matrices(parameters.covariances, *parameters.means.shape)
    with np.errstate(divide="ignore"):
        return np.array(matrices, order="C"), np.log(parameters.shares)  # writable


def log_joint(rows: TiledRows, parameters: GaussianParameters, structure: Full) -> Floats:
    """log(a_k f_k(z_i)) of all rows and components; of the observed part where some is missing."""
    K = len(parameters.means)
    joint = np.empty((len(rows.rows), K))
    roots, constants = factors(parameters, structure, rows.wide)
    share(
        rows.team, joint_densities, rows.first, rows.tiles, parameters.means, roots, constants,
        joint,
    )  # fmt: skip
    if rows.incomplete is None:
        return joint
    other = np.empty((len(rows.incomplete.rows), K))
    share(
        rows.team, missing_densities, rows.incomplete.first, rows.incomplete.patterns,
        rows.incomplete.Z, parameters.means, *dense(parameters, structure), other,
    )  # fmt: skip
    whole = np.empty((rows.n, K))
    whole[rows.rows], whole[rows.incomplete.rows] = joint, other
    return whole
