"""The distances of nearest neighbours: norms of differences of mapped rows, or Gower's.

euclidean, manhattan, chebyshev, minkowski (of power p)
    of the columns as they are, or standardised.
mahalanobis
    sqrt((x - z)' V^-1 (x - z)), the Euclidean distance of the rows xA with A A' = V^-1; V is given,
    or the covariance of the training rows.
learned
    |xA - zA| with A learned from the targets (`learned_metric`).
gower
    for mixed tables with missing values (`compiled.neighbors.gower`).
cosine, hamming and others of scikit-learn's, or a function of two rows
    computed for all pairs (`pair_metric`).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from empirisk.compiled.neighbors.mapping import map_rows
from empirisk.data.scaling import power_of_two
from empirisk.learners.neighbors.matrix_roots import as_numbers, root_of, root_of_given
from empirisk.learners.neighbors.pair_metric import BY_PAIRS, PairMetric, is_by_pairs
from empirisk.learners.neighbors.searching import (
    Algorithm,
    MixedSearch,
    Norm,
    PointSearch,
    Search,
)
from empirisk.learners.soundness import check_numbers
from empirisk.runtime.arrays import Bools, Floats
from empirisk.runtime.errors import DataError, ParameterError
from empirisk.runtime.parallel import one_blas_thread
from empirisk.runtime.scalars import real

ALIASES: dict[str, Norm] = {
    "euclidean": "euclidean",
    "l2": "euclidean",
    "manhattan": "manhattan",
    "l1": "manhattan",
    "cityblock": "manhattan",
    "chebyshev": "chebyshev",
    "infinity": "chebyshev",
}
METRICS = (
    "minkowski", "euclidean", "manhattan", "chebyshev", "mahalanobis", "learned", "gower",
)  # fmt: skip
ORDINARY = 1e-90, 1e90  # sizes of columns whose squares and cubes are well within float64
FLOAT = np.finfo(np.float64)
FAR = 1e3  # widths of a column
CENTRED = 6  # binary digits of a standard deviation to which a column is centred
DIGITS = 40  # binary, of what is estimated from the rows: see `_short`


@dataclass(frozen=True, eq=False)
class PointMetric:
    """|f(x) - f(z)| by a norm, with f(x) = ((x / unit) - mean) A; A is a matrix, or scales.

    Attributes
    ----------
    norm : str
    power : float
        Of "minkowski"; else 2.
    unit : float64 array (p,)
        Powers of two that bring the columns to an ordinary size.
    mean : float64 array (p,), or None
    matrix : float64 array (p,) of scales or (p, q), or None
    scale : float
        The distance of the user's rows for a distance 1 of mapped ones.
    """

    norm: Norm
    power: float
    unit: Floats
    mean: Floats | None = None
    matrix: Floats | None = None
    scale: float = 1.0

    def place(self, X: Floats) -> Floats:
        """f of the rows of X; infinity where that is too large."""
        rows = self._in_units(X)
        if self.mean is not None:
            rows = rows - self.mean
        return self._map(rows)

    def _in_units(self, X: Floats) -> Floats:
        if (self.unit == 1.0).all():
            return X
        with np.errstate(over="ignore"):
            return X / self.unit

    def _map(self, rows: Floats) -> Floats:
        if self.matrix is None:
            return rows
        beyond = not np.isfinite(rows).all()
        if beyond:  # in a column that says nothing that is nothing
            rows = np.where(self.matrix.reshape(len(self.unit), -1).any(axis=1), rows, 0.0)
        if self.matrix.ndim == 1:
            return rows * self.matrix
        mapped = np.empty((len(rows), self.matrix.shape[1]))
        map_rows(rows, self.matrix, mapped)
        return np.where(np.isnan(mapped), np.inf, mapped) if beyond else mapped

    def distances(self, found: Floats, X: Floats) -> Floats:
        """Distances of the rows of X from those that a search found of mapped ones."""
        with np.errstate(over="ignore"):
            distances = found * self.scale
            beyond = np.isinf(distances).any(axis=1)
            if beyond.any():  # so far away that all training rows are at one place
                largest = np.abs(X[beyond]).max(axis=1, keepdims=True)
                seen = self._size(self._map(self._in_units(X[beyond] / largest)))
                distances[beyond] = seen * self.scale * largest
        return distances

    def _size(self, rows: Floats) -> Floats:
        """The norms of rows, (n, 1)."""
        power = {"euclidean": 2.0, "manhattan": 1.0, "chebyshev": np.inf}.get(self.norm, self.power)
        largest = np.abs(rows).max(axis=1, keepdims=True)
        return largest * np.linalg.norm(rows / largest, power, axis=1, keepdims=True)

    def search(self, X: Floats, algorithm: Algorithm, leaf_size: int) -> Search:
        return PointSearch(self.place(X), self.norm, self.power, algorithm, 2 * leaf_size)

    def check_loaded(self) -> None:
        """Raise a DataError unless this is a metric."""
        p = len(self.unit)
        if not isinstance(self.scale, float) or not 0 < self.scale < np.inf:
            raise DataError(f"the scale of a metric is {self.scale!r:.30}")
        if self.norm not in (*ALIASES.values(), "minkowski") or not self.power >= 1:
            raise DataError(f"a metric has the norm {self.norm!r:.30} of power {self.power!r:.30}")
        check_numbers("unit of a metric", self.unit, (p,))
        if p == 0 or not (self.unit > 0).all():
            raise DataError("the units of a metric are not positive")
        if self.mean is not None:
            check_numbers("mean of a metric", self.mean, (p,))
        if self.matrix is not None:
            check_numbers("matrix of a metric", self.matrix, (p, *np.shape(self.matrix)[1:2]))
            if self.matrix.size == 0:
                raise DataError("the matrix of a metric is empty")
        elif not (self.unit == self.unit[0]).all():
            raise DataError("the units of a metric differ")


@dataclass(frozen=True, eq=False)
class MixedMetric:
    """Gower's distance: which columns are categories, and the range of the others."""

    category: Bools
    span: Floats

    @classmethod
    def of(cls, X: Floats, category: Bools) -> "MixedMetric":
        """The ranges of the columns of X, of the cells that are there."""
        some = ~np.isnan(X).all(axis=0)
        span = np.zeros(X.shape[1])
        with np.errstate(over="ignore"):
            span[some] = np.nanmax(X[:, some], axis=0) - np.nanmin(X[:, some], axis=0)
        return cls(category, np.minimum(span, np.finfo(np.float64).max))

    def place(self, X: Floats) -> Floats:
        """X itself: cells are compared one by one."""
        return X

    def distances(self, found: Floats, X: Floats) -> Floats:
        """The distances that a search found."""
        return found

    def search(self, X: Floats, algorithm: Algorithm, leaf_size: int) -> Search:
        return MixedSearch(X, self.category, self.span)

    @property
    def scale(self) -> float:
        return 1.0

    def check_loaded(self) -> None:
        """Raise a DataError unless this is a metric."""
        category = self.category
        if not isinstance(category, np.ndarray) or category.dtype != np.bool_ or category.ndim != 1:
            raise DataError("category of a metric is not an array of truth values")
        check_numbers("span of a metric", self.span, category.shape)
        if (self.span < 0).any():
            raise DataError("a range of a metric is negative")


Metric = PointMetric | MixedMetric | PairMetric


def named_norm(metric: Any, power: Any) -> tuple[Norm, float]:
    """The norm that a name and scikit-learn's `p` ask for."""
    if metric in ALIASES:
        return ALIASES[metric], 2.0
    if not (real(power) or 0.0) >= 1:
        raise ParameterError(f"p is {power!r}; the power of a distance must be a number >= 1")
    named: dict[float, Norm] = {1.0: "manhattan", 2.0: "euclidean", np.inf: "chebyshev"}
    norm = named.get(float(power), "minkowski")
    return norm, float(power) if norm == "minkowski" else 2.0


def check_metric(metric: Any, params: Any) -> dict[str, Any]:
    """The parameters of a metric that there is."""
    by_pairs = is_by_pairs(metric)
    named = isinstance(metric, str) and (metric in METRICS or metric in ALIASES)
    if not by_pairs and not named:
        raise ParameterError(
            f"metric is {metric!r:.60}; there are {', '.join((*METRICS, *BY_PAIRS))}, and "
            "functions of two rows"
        )
    if params is None:
        return {}
    if by_pairs and isinstance(params, Mapping):
        return dict(params)
    known = {"mahalanobis": ("V", "VI"), "minkowski": ("w",)}.get(metric, ())
    if not isinstance(params, Mapping) or not set(params) <= set(known) or len(params) > 1:
        wanted = f"a dict with one of {', '.join(known)}, or None" if known else "None"
        raise ParameterError(
            f"metric_params is {params!r:.60}; for metric={metric!r} give {wanted}"
        )
    return dict(params)


def units_of(X: Floats, *, each: bool, power: float = 2.0) -> Floats:
    """1 for columns of ordinary size, else powers of two; one for all columns unless `each`.

    Sizes are ordinary whose powers are well within float64.
    """
    size = np.maximum(X.max(axis=0), -X.min(axis=0))
    size = size if each else np.full_like(size, size.max())
    low, high = (bound ** min(1.0, 3.0 / power) for bound in ORDINARY)
    ordinary = (size == 0) | ((size > low) & (size < high))
    return np.where(ordinary, 1.0, power_of_two(size))


def plain_metric(X: Floats, norm: Norm, power: float, weight_of_columns: Any) -> PointMetric:
    """Of the columns as they are; weights of columns are those of scikit-learn's `w`."""
    unit = units_of(X, each=False, power=power)
    if weight_of_columns is None:
        return PointMetric(norm, power, unit, scale=float(unit[0]))
    w = as_numbers("w", weight_of_columns)
    if w.shape != (X.shape[1],) or not np.isfinite(w).all() or not (w >= 0).all() or not w.any():
        raise ParameterError(
            f"metric_params['w'] has shape {w.shape}; give {X.shape[1]} numbers >= 0, a weight for "
            "each column"
        )
    exponent = {"euclidean": 0.5, "manhattan": 1.0, "chebyshev": 0.0}.get(norm, 1 / power)
    scales = np.where(w > 0, w**exponent, 0.0)
    return _given_metric(norm, power, X, unit, scales)


def _given_metric(norm: Norm, power: float, X: Floats, unit: Floats, matrix: Floats) -> PointMetric:
    """By a matrix of the user's, whose distances may be too large or too small to be squared."""
    most = float(unit.max()), float(power_of_two(np.abs(matrix).max()))
    unit_of_row = (unit / most[0]).reshape(-1, *[1] * (matrix.ndim - 1))
    mapping = unit_of_row * (matrix / most[1])
    size = float(power_of_two(np.abs(mapping).max()))
    scale = min(max(size * most[0] * most[1], FLOAT.tiny), FLOAT.max)
    return PointMetric(norm, power, unit, _far_centre(X / unit), mapping / size, float(scale))


def _far_centre(X: Floats) -> Floats | None:
    """About the middle of columns that are far from 0, where differences would lose digits."""
    low, high = X.min(axis=0), X.max(axis=0)
    middle, width = low + (high - low) / 2, high - low
    far = np.abs(middle) > FAR * width
    return np.where(far, _short(middle, width, CENTRED), 0.0) if far.any() else None


def standardized_metric(X: Floats, weight: Floats, norm: Norm, power: float) -> PointMetric:
    """Of columns with mean 0 and standard deviation 1; a constant column says nothing."""
    unit = units_of(X, each=True)
    mean, scale = _standards(X / unit, weight)
    return PointMetric(norm, power, unit, mean, scale)


def mahalanobis_metric(X: Floats, weight: Floats, params: dict[str, Any]) -> PointMetric:
    """By the covariance given (V), its inverse given (VI), or that of the rows."""
    unit = units_of(X, each=True)
    if not params:
        mean, scale = _standards(X / unit, weight)
        Z = (X / unit - mean) * scale
        share = weight / weight.sum()
        Z = Z - np.einsum("i,ij->j", share, Z)
        with one_blas_thread():
            correlation = (Z * share[:, None]).T @ Z
        root = root_of(correlation, -0.5)
        matrix = scale[:, None] * root
        matrix = _short(matrix, scale[:, None] * np.abs(root).max(axis=0))
        return PointMetric("euclidean", 2.0, unit, mean, matrix)
    name, given = next(iter(params.items()))
    root = root_of_given(name, given, X.shape[1])
    return _given_metric("euclidean", 2.0, X, unit, root)


def _standards(X: Floats, weight: Floats) -> tuple[Floats, Floats]:
    """About the mean of each column, and 1 / its standard deviation; 0 where it is constant."""
    share = weight / weight.sum()
    mean = np.einsum("i,ij->j", share, X)
    apart = X - mean
    deviation = np.sqrt(np.einsum("i,ij,ij->j", share, apart, apart))
    varies = (X.max(axis=0) > X.min(axis=0)) & (deviation > 0)
    scale = np.divide(1.0, deviation, out=np.zeros_like(deviation), where=varies)
    centre = _short(mean, np.where(varies, deviation, np.abs(mean)), CENTRED)
    return centre, _short(scale, scale)


def _short(numbers: Floats, size: Floats, digits: int = DIGITS) -> Floats:
    """Multiples of the size, as a power of two, over 2^digits.

    So sums that are rounded in another order, as those over copies instead of weights, give the
    same bits but by a rare chance; and whole numbers times such ones are exact, so that rows which
    are equally far from a point stay so after mapping, and ties are ties.
    """
    step = np.ldexp(power_of_two(size), -digits)
    return np.where(size > 0, np.rint(numbers / step) * step, numbers)
