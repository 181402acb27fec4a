"""Principal axes: the orthogonal directions of largest spread of rows about their mean.

For rows z_i of weight w_i about their mean, with S = sum w_i z_i z_i', the axes are the unit
eigenvectors v_1, v_2, ... of S in the order of their eigenvalues, which are the sums of squares
sum_i w_i (z_i'v_j)^2 = sigma_j^2. Each way here finds the same axes:

covariance  S by blocks of rows, then its eigenvectors: for many rows
gram        the eigenvectors of Z Z', which has the same eigenvalues other than 0: for many columns
svd         singular values of Z without squaring them: exact for the smallest too
randomised  the first few of very many, by subspace iteration (Halko, Martinsson & Tropp 2011)
arpack      the first few by Lanczos iteration, through SciPy
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import reduce
from operator import iadd
from typing import Literal, NamedTuple

import numpy as np
from scipy.linalg import eigh, lu, qr, svd
from scipy.sparse.linalg import svds

from empirisk.data.moments import Moments
from empirisk.runtime.arrays import Floats
from empirisk.runtime.parallel import one_blas_thread, parallel, slices
from empirisk.runtime.streams import generator

EXACT = 1e-6
"""Eigenvalues over the largest from which squares keep ten digits of an axis."""

ALIKE = 1e-6
"""A relative difference of entries of an axis that rounding errors may make."""

TINY, HUGE = 1e-200, 1e200
"""Sums of squares between which neither a square has vanished that matters, nor one overflows."""

COLUMNS_AT_ONCE = 5120

Normalizer = Literal["auto", "QR", "LU", "none"]


@dataclass(frozen=True, eq=False)
class PrincipalAxes:
    """The first axes, in order, and what they leave out.

    Attributes
    ----------
    mean : array of shape (p,)
    directions : array of shape (axes, p)
        Unit vectors; in each the entry of largest size is positive, or the first of several.
    squares : array of shape (axes,)
        Eigenvalues of S, sums of squares along the axes.
    dropped : float
        The sum of the eigenvalues of all other axes.
    """

    mean: Floats
    directions: Floats
    squares: Floats
    dropped: float

    def first(self, number: int) -> "PrincipalAxes":
        """The first of these axes; the others are among those left out."""
        return replace(
            self,
            directions=self.directions[:number],
            squares=self.squares[:number],
            dropped=float(self.squares[number:][::-1].sum() + self.dropped),
        )


def by_covariance(moments: Moments, number: int) -> PrincipalAxes:
    """From the scatter of the columns."""
    return _in_order(moments.mean, *_first_eigenvectors(moments.scatter, number, 0))


def completed(axes: PrincipalAxes, number: int, noise: float) -> PrincipalAxes:
    """So many axes, where some have no spread, or the rows are too few to show them.

    Any directions that are orthogonal to the others will do then. These depend on the others alone:
    each is the column least in use so far, less its part along the axes before. `noise` is what
    rounding errors make of no spread, a share of the largest sum of squares.
    """
    largest = axes.squares.max(initial=0.0)
    alive = int((axes.squares > noise * largest).sum())
    if alive >= number:
        return axes.first(number)
    directions = np.empty((number, axes.directions.shape[1]))
    directions[:alive] = axes.directions[:alive]
    in_use = np.einsum("ij,ij->j", directions[:alive], directions[:alive])
    for k in range(alive, number):
        directions[k] = _orthogonal_to(directions[:k], int(in_use.round(6).argmin()))
        in_use += directions[k] ** 2
    _settle_signs(directions[alive:])
    squares = np.zeros(number)
    squares[:alive] = axes.squares[:alive]
    return PrincipalAxes(axes.mean, directions, squares, axes.dropped)


def covariance_is_exact(axes: PrincipalAxes, moments: Moments) -> bool:
    """Whether squares are far enough from rounding errors; those of constant columns are 0."""
    varying = int((np.diagonal(moments.scatter) > 0).sum())
    kept = axes.squares[:varying]
    return bool((kept >= EXACT * axes.squares[0]).all()) if len(kept) else True


def by_gram(
    X: Floats, weight: Floats, number: int, *, n_jobs: int | None = None
) -> PrincipalAxes | None:
    """From the inner products of the rows; None where that would cost digits or leave the range.

    With v = Z'u / sigma for a unit eigenvector u of Z Z'. Rows about their mean depend on one
    another, so there is one axis fewer than there are rows.
    """
    n, p = X.shape
    shift = np.zeros(p)
    about = _products_of_rows(X, weight, shift, n_jobs)
    if about.is_far:
        shift = about.mean
        about = _products_of_rows(X, weight, shift, n_jobs)
    found, mean, total = min(number, n - 1), shift + about.mean, float(np.trace(about.gram))
    if not TINY < total < HUGE:  # also if some row is not finite
        return None
    if found == 0:
        return PrincipalAxes(mean, np.empty((0, p)), np.empty(0), total if n > 1 else 0.0)
    vectors, squares, dropped = _first_eigenvectors(about.gram, found, 1)
    if not squares[-1] >= EXACT * squares[0]:
        return None
    vectors /= np.sqrt(squares)[:, None]
    astray = vectors @ np.sqrt(weight)  # 0 but for rounding errors, which a mean makes larger
    directions = np.empty((found, p))

    def project(each: tuple[slice, Floats]) -> None:
        block, Z = each
        directions[:, block] = vectors @ Z
        directions[:, block] -= np.multiply.outer(astray, about.mean[block])

    parallel(project, zip(slices(p, COLUMNS_AT_ONCE), about.parts, strict=True), n_jobs=n_jobs)
    return _in_order(mean, directions, squares, dropped)


def _first_eigenvectors(S: Floats, number: int, nullity: int) -> tuple[Floats, Floats, float]:
    """Eigenvectors in rows, their eigenvalues, and the sum of the others, some of which are 0."""
    n, trace = len(S), float(np.trace(S))
    if number == 0:
        return np.empty((0, n)), np.empty(0), trace
    with one_blas_thread():
        values, vectors = eigh(S, subset_by_index=[n - number, n - 1], check_finite=False)
    values = np.maximum(values[::-1], 0.0)
    dropped = max(trace - float(values.sum()), 0.0) if number + nullity < n else 0.0
    return np.ascontiguousarray(vectors.T[::-1]), values, dropped


class _RowProducts(NamedTuple):
    """Columns of sqrt(w_i) (x_i - shift) in parts, their mean, and the products about the mean.

    The mean `is_far` if digits were lost to it.
    """

    parts: tuple[Floats, ...]
    mean: Floats
    gram: Floats
    is_far: bool


def _products_of_rows(X: Floats, weight: Floats, shift: Floats, n_jobs: int | None) -> _RowProducts:
    """With Z' sqrt(w) = total * mean, the products Z Z' tell what to take from them.

    Without shift and weights there is no copy of the rows.
    """
    root, total = np.sqrt(weight), float(weight.sum())
    shifted, weighted = bool(shift.any()), bool((weight != 1.0).any())

    def products(block: slice) -> tuple[Floats, Floats, Floats]:
        Z = X[:, block] - shift[block] if shifted else X[:, block]
        Z = Z * root[:, None] if weighted else Z
        with np.errstate(over="ignore", invalid="ignore"):  # the caller looks at their sum
            return Z, root @ Z, Z @ Z.T

    parts, sums, grams = zip(
        *parallel(products, slices(X.shape[1], COLUMNS_AT_ONCE), n_jobs=n_jobs), strict=True
    )
    with np.errstate(over="ignore", invalid="ignore"):
        gram = reduce(iadd, grams)
        pull = gram @ root / total
        offset = float(root @ pull)
        part = np.multiply.outer(root, pull - root * (offset / total / 2))
        gram -= part
        gram -= part.T
        is_far = offset > np.trace(gram)
    return _RowProducts(parts, np.concatenate(sums) / total, gram, bool(is_far))


def by_svd(X: Floats, weight: Floats, number: int) -> PrincipalAxes:
    """From the singular values of the rows about their mean."""
    mean, Z = centred_rows(X, weight)
    with one_blas_thread():
        _, sizes, directions = svd(Z, full_matrices=False, overwrite_a=True, check_finite=False)
    return _in_order(mean, directions, sizes**2, 0.0).first(number)


def by_randomised_svd(
    X: Floats,
    weight: Floats,
    number: int,
    *,
    oversamples: int,
    iterations: int | Literal["auto"],
    normalizer: Normalizer,
    seed: int,
) -> PrincipalAxes:
    """The first axes from a random subspace that the rows have pulled towards them."""
    mean, Z = centred_rows(X, weight)
    wide = Z.shape[0] < Z.shape[1]
    A = Z.T if wide else Z
    size = min(number + oversamples, A.shape[1])
    if iterations == "auto":
        iterations = 7 if number < 0.1 * A.shape[1] else 4
    steady = _normalised("LU" if normalizer == "auto" else normalizer)
    with one_blas_thread():
        Q = generator(seed).normal(size=(A.shape[1], size))
        for _ in range(iterations):
            Q = steady(A.T @ steady(A @ Q))
        Q = qr(A @ Q, mode="economic", check_finite=False)[0]
        U, sizes, V = svd(Q.T @ A, full_matrices=False, check_finite=False)
    directions = (Q @ U).T if wide else V
    return _first_few(mean, directions[:number], sizes[:number] ** 2, Z)


def by_arpack(
    X: Floats, weight: Floats, number: int, *, tolerance: float, seed: int
) -> PrincipalAxes:
    """The first axes, fewer than there are rows and columns, by Lanczos iteration."""
    mean, Z = centred_rows(X, weight)
    if not Z.any():
        return PrincipalAxes(mean, np.empty((0, Z.shape[1])), np.empty(0), 0.0)
    start = generator(seed).uniform(-1, 1, size=min(Z.shape))
    with one_blas_thread():
        _, sizes, directions = svds(Z, k=number, tol=tolerance, v0=start)
    return _first_few(mean, directions[::-1], sizes[::-1] ** 2, Z)


def centred_rows(X: Floats, weight: Floats) -> tuple[Floats, Floats]:
    """The weighted mean, and sqrt(w_i) (x_i - mean)."""
    total, root = weight.sum(), np.sqrt(weight)
    mean = weight @ X / total
    Z = X - mean
    missed = weight @ Z / total  # rounding errors of the mean, which offsets make large
    Z -= missed
    Z *= root[:, None]
    return mean + missed, Z


def _first_few(mean: Floats, directions: Floats, squares: Floats, Z: Floats) -> PrincipalAxes:
    total = float(np.einsum("ij,ij->", Z, Z))
    return _in_order(mean, directions, squares, max(total - float(squares.sum()), 0.0))


def _in_order(mean: Floats, directions: Floats, squares: Floats, dropped: float) -> PrincipalAxes:
    directions = np.ascontiguousarray(directions)
    _settle_signs(directions)
    return PrincipalAxes(mean, directions, np.ascontiguousarray(squares), dropped)


def _settle_signs(directions: Floats) -> None:
    """The entry of largest size becomes positive, in place.

    Of entries that differ by rounding errors alone, the first.
    """
    size = np.abs(directions)
    largest = (size >= (1 - ALIKE) * size.max(axis=1, keepdims=True)).argmax(axis=1)
    directions *= np.sign(directions[np.arange(len(directions)), largest])[:, None]


def _orthogonal_to(directions: Floats, column: int) -> Floats:
    """A unit vector orthogonal to the rows, which are orthonormal, nearest to a column's own."""
    vector = np.zeros(directions.shape[1])
    vector[column] = 1.0
    for _ in range(2):  # twice is enough (Kahan): the first time may leave rounding errors
        vector -= (directions @ vector) @ directions
        vector /= np.sqrt(vector @ vector)
    return vector


def _normalised(how: Normalizer) -> Callable[[Floats], Floats]:
    if how == "none":
        return lambda Q: Q
    if how == "QR":
        return lambda Q: qr(Q, mode="economic", check_finite=False)[0]
    return lambda Q: lu(Q, permute_l=True, check_finite=False)[0]
