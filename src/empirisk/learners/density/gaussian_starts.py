"""Parameters of a Gaussian mixture to start from: those of rows dealt to components, or given."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from empirisk.learners.density.covariance_structures import CovarianceFloor, Full
from empirisk.learners.density.gaussian_model import GaussianModel, GaussianParameters
from empirisk.learners.density.mixture_starts import (
    by_place,
    label_moments,
    random_responsibilities,
    start_labels,
    way_of_start,
)
from empirisk.learners.density.tiled_rows import Place, TiledRows
from empirisk.learners.team import Team
from empirisk.learners.unsupervised.lloyd import nearest
from empirisk.learners.unsupervised.placed_rows import PlacedRows
from empirisk.runtime.arrays import Floats, Int32s
from empirisk.runtime.errors import ParameterError
from empirisk.runtime.streams import generator, spawn

FAR_MEAN = 1e100  # where rows have a size of about 1
CONSTANT = 1e-10  # of the largest variance: what rounding leaves of none
LEAST_SHARE = 1e-10  # of a component that no row was dealt to


class PreparedRows(NamedTuple):
    """Rows of positive weight, in their place and in tiles, and the floor of covariances."""

    X: Floats
    weight: Floats
    tiled: TiledRows
    floor: CovarianceFloor

    def drawn(self, n: int, seed: int) -> "PreparedRows":
        """So many of the rows, drawn without replacement, in the place of all."""
        few = np.sort(generator(seed).permutation(len(self.X))[:n])
        X = np.ascontiguousarray(self.X[few])
        tiled = TiledRows.of(X, self.tiled.place, self.tiled.team)
        return PreparedRows(X, self.weight[few], tiled, self.floor)


def drawn_starts(
    rows: PreparedRows, K: int, init_params: str, seeds: Sequence[int], model: GaussianModel
) -> list[GaussianParameters]:
    """The parameters of a start for each seed."""
    Z = rows.tiled.whole(rows.X)
    views = two_views(Z, rows, spheres=model.structure.common_unit)
    starts = []
    for number, seed in enumerate(seeds):
        way, again = way_of_start(init_params, number)
        if way == "random" and K > 1:
            labels: Any = random_responsibilities(len(Z), K, seed)
        else:
            labels = start_labels(views[again], rows.weight, K, way, seed, rows.tiled.team)
        starts.append(dealt_parameters(Z, rows.weight, labels, K, model))
    return starts


def two_views(Z: Floats, rows: PreparedRows, *, spheres: bool) -> tuple[Floats, Floats]:
    """Rows in which nearness is told in two ways, as maxima are missed that one of them hides.

    Features of one variance, and then without correlations; for spheres as they are, and then of
    one variance.
    """
    size = np.sqrt(np.diagonal(rows.floor.total))
    scaled = Z / np.where(size > 0, size, 1.0)  # beside another feature's unit, one may vanish
    return (Z, scaled) if spheres else (scaled, sphered(scaled, rows.weight))


def sphered(Z: Floats, weight: Floats) -> Floats:
    """Rows along their principal components, each of variance 1; without those that are constant.

    Examples
    --------
    >>> sphered(np.array([[0.0, 0.0], [2.0, 2.0]]), np.ones(2)).round(9)
    array([[-1.],
           [ 1.]])
    """
    gaps = Z - np.average(Z, axis=0, weights=weight)
    variances, axes = np.linalg.eigh((gaps * weight[:, np.newaxis]).T @ gaps / weight.sum())
    varies = variances > CONSTANT * variances[-1]
    return np.ascontiguousarray(gaps @ (axes[:, varies] / np.sqrt(variances[varies])))


def dealt_parameters(
    Z: Floats, weight: Floats, labels: Any, K: int, model: GaussianModel
) -> GaussianParameters:
    """The parameters of rows dealt to components."""
    mass, means, matrices = label_moments(Z, weight, labels, K)
    order = by_place(means)
    mass, means, matrices = mass[order], means[order], matrices[order]
    shares = np.full(K, 1 / K) if model.structure.equal_shares else mass / mass.sum()
    covariances = dealt_covariances(mass, matrices, model)
    return GaussianParameters(np.maximum(shares, LEAST_SHARE), means, covariances)


def dealt_covariances(mass: Floats, matrices: Floats, model: GaussianModel) -> Floats:
    """Covariances in the form of the model's structure, of matrices for each component."""
    size = np.maximum(mass, np.finfo(float).tiny)
    scatter = np.einsum("kjj->kj", matrices) if model.structure.diagonal else matrices
    return model.structure.fitted(size, (scatter.T * size).T, model.floor)


def raised_parameters(parameters: GaussianParameters, model: GaussianModel) -> GaussianParameters:
    """With covariances at the floor where they are below: the first step would lower them there."""
    matrices = model.structure.matrices(parameters.covariances, *parameters.means.shape)
    if model.floor.above(matrices):
        return parameters
    raised = dealt_covariances(np.ones(len(matrices)), np.array(matrices), model)
    return parameters._replace(covariances=raised)


def given_parameters(
    mixture: Any, place: Place, Z: Floats, weight: Floats, model: GaussianModel
) -> GaussianParameters | None:
    """What the user gave, and for the rest that of rows dealt to the nearest mean, or by k-means.

    None if nothing was given.
    """
    if all(x is None for x in (mixture.weights_init, mixture.means_init, mixture.precisions_init)):
        return None
    K, p = int(mixture.n_components), Z.shape[1]
    means = given(mixture, "means_init", (K, p))
    means = None if means is None else near_means(place.put(means))
    covariances = given_covariances(mixture, model.structure, place, K, p)
    shares = given_shares(mixture, K)
    if means is None or covariances is None or shares is None:
        labels = given_labels(mixture, Z, weight, means)
        mass, centres, matrices = label_moments(Z, weight, labels, K)
        means = centres if means is None else means
        if covariances is None:
            covariances = dealt_covariances(mass, matrices, model)
        shares = np.maximum(mass / mass.sum(), LEAST_SHARE) if shares is None else shares
    if model.structure.equal_shares:
        shares = np.full(K, 1 / K)
    return raised_parameters(GaussianParameters(shares, means, covariances), model)


def near_means(means: Floats) -> Floats:
    """Means that were given, unless they are so far from all rows that no density reaches them."""
    if not np.abs(means).max() < FAR_MEAN:
        raise ParameterError(
            "means_init has a mean that is more than 1e100 times as far from the rows as these "
            "are from each other; give means among the rows"
        )
    return means


def given_labels(mixture: Any, Z: Floats, weight: Floats, means: Floats | None) -> Int32s:
    """The nearest of the means that were given, or the cluster of k-means, of each row."""
    team = Team(mixture.n_jobs)
    if means is None:
        seed = spawn(mixture.random_state, 1)[0]
        return start_labels(Z, weight, int(mixture.n_components), "kmeans", seed, team)
    placed = PlacedRows.of(Z, weight, team, beside=means)
    return nearest(placed, placed.place(means), team)


def given(mixture: Any, name: str, shape: tuple[int, ...]) -> Floats | None:
    """A parameter that was given, as an array of finite numbers of this shape."""
    value = getattr(mixture, name)
    if value is None:
        return None
    try:
        array = np.array(value, dtype=float, order="C")
    except (TypeError, ValueError):
        raise ParameterError(f"{name} is {value!r}; give numbers of shape {shape}") from None
    if array.shape != shape or not np.isfinite(array).all():
        raise ParameterError(
            f"{name} has shape {array.shape}; wanted finite numbers of shape {shape}"
        )
    return array


def given_shares(mixture: Any, K: int) -> Floats | None:
    """Weights of components that were given: positive, and with sum 1."""
    shares = given(mixture, "weights_init", (K,))
    if shares is not None and (shares.min() <= 0 or abs(shares.sum() - 1) > 1e-6):
        raise ParameterError(f"weights_init is {shares}; give positive numbers with sum 1")
    return shares if shares is None else shares / shares.sum()


def given_covariances(mixture: Any, structure: Full, place: Place, K: int, p: int) -> Floats | None:
    """Inverses of the precisions that were given, in the place of rows."""
    precisions = given(mixture, "precisions_init", structure.shape(K, p))
    if precisions is None:
        return None
    if structure.diagonal:
        if precisions.min() <= 0:
            raise ParameterError("precisions_init has numbers <= 0; give positive ones")
        return structure.in_units(1 / precisions, 1 / place.unit)
    try:
        np.linalg.cholesky(precisions)
        symmetric = np.allclose(precisions, np.swapaxes(precisions, -1, -2), rtol=1e-6, atol=0)
    except np.linalg.LinAlgError:
        symmetric = False
    if not symmetric:
        raise ParameterError(
            "precisions_init has a matrix that is not positive definite; give symmetric, positive "
            "definite ones"
        )
    inverse = np.linalg.inv(precisions).astype(np.float64)
    return structure.in_units(inverse, 1 / place.unit)
