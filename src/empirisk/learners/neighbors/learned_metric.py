"""A metric learned from the targets, by how well each row is predicted from the others.

With p_ij proportional to exp(-|x_i A - x_j A|^2), the chance that row i takes j as its neighbour
among the rows at other places,

    classes   maximise  sum_i sum_j p_ij [y_i = y_j]         (neighbourhood components analysis;
                                                              Goldberger et al. 2005)
    numbers   minimise  sum_i (y_i - sum_j p_ij y_j)^2       (Weinberger & Tesauro 2007)

over the matrices A, from the standardised columns on, by L-BFGS. Rows at the same place are at
distance 0 under every A. Copies become one row of their weight first, so that a row of weight w is
w copies, and rows may come in any order. Costs n^2 numbers in each step; of more than MOST_ROWS
different rows so many are taken, evenly along the order of the targets.
"""

import numpy as np
from scipy.optimize import minimize

from empirisk.learners.neighbors.metrics import PointMetric, standardized_metric
from empirisk.runtime.arrays import Array, Floats
from empirisk.runtime.deadlines import check_deadline
from empirisk.runtime.parallel import one_blas_thread

MOST_ROWS = 1000
MOST_STEPS = 50


def learned_metric(X: Floats, y: Array, weight: Floats, n_classes: int) -> PointMetric:
    """The metric under which neighbours predict y best; n_classes is 0 for numbers."""
    p = X.shape[1]
    rows, at = np.unique(np.column_stack([X, y]), axis=0, return_inverse=True)
    weight = np.bincount(at.reshape(-1), weight).astype(np.float64)
    X, y = np.ascontiguousarray(rows[:, :p]), rows[:, p]
    start = standardized_metric(X, weight, "euclidean", 2.0)
    assert start.matrix is not None
    kept = _some_rows(y)
    learning = _Learning(start.place(X[kept]), y[kept], weight[kept], n_classes)
    with one_blas_thread():
        found = minimize(
            learning.cost,
            np.eye(p).reshape(-1),
            jac=True,
            method="L-BFGS-B",
            options={"maxiter": MOST_STEPS},
        )
    A = found.x.reshape(p, -1)
    if not np.isfinite(A).all() or not A.any():
        A = np.eye(p)
    matrix = np.ascontiguousarray(start.matrix[:, np.newaxis] * A)
    return PointMetric("euclidean", 2.0, start.unit, start.mean, matrix)


def _some_rows(y: Array) -> Array:
    n = len(y)
    if n <= MOST_ROWS:
        return np.arange(n)
    along = np.argsort(y, kind="stable")
    return np.sort(along[np.linspace(0, n - 1, MOST_ROWS).round().astype(np.int64)])


class _Learning:
    """The cost of a matrix A on standardised rows Z, and its gradient."""

    def __init__(self, Z: Floats, y: Array, weight: Floats, n_classes: int) -> None:
        self.Z, self.share, self.classes = Z, weight / weight.sum(), n_classes > 0
        place = np.unique(Z, axis=0, return_inverse=True)[1].reshape(-1)
        with np.errstate(divide="ignore"):
            elsewhere = np.log((place[:, np.newaxis] != place).astype(np.float64))
        self.log_share = elsewhere + np.log(self.share)
        if self.classes:
            self.same = (y[:, np.newaxis] == y).astype(np.float64)
        else:
            size = float(np.abs(y).max()) or 1.0
            scaled = y / size
            spread = float(np.sqrt(self.share @ (scaled - self.share @ scaled) ** 2)) or 1.0
            self.y = (scaled - self.share @ scaled) / spread

    def cost(self, flat: Floats) -> tuple[float, Floats]:
        check_deadline()
        A = flat.reshape(self.Z.shape[1], -1)
        ZA = self.Z @ A
        p = self._chances(ZA)
        if self.classes:
            right = (p * self.same).sum(axis=1)
            costs, slope = -right, -self.same
            mean_slope = -right
        else:
            off = self.y - p @ self.y
            costs = off * off
            slope = -2.0 * off[:, np.newaxis] * self.y
            mean_slope = -2.0 * off * (self.y - off)
        pull = -self.share[:, np.newaxis] * p * (slope - mean_slope[:, np.newaxis])
        both = pull + pull.T
        gradient = 2.0 * self.Z.T @ (both.sum(axis=1)[:, np.newaxis] * ZA - both @ ZA)
        return float(self.share @ costs), gradient.reshape(-1)

    def _chances(self, U: Floats) -> Floats:
        """p_ij; a row without any other one takes nobody."""
        size = (U * U).sum(axis=1)
        score = 2.0 * U @ U.T - size[:, np.newaxis] - size + self.log_share
        top = score.max(axis=1, keepdims=True)
        p = np.exp(score - np.where(np.isfinite(top), top, 0.0))
        total = p.sum(axis=1, keepdims=True)
        return p / np.where(total > 0, total, 1.0)
