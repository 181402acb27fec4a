"""The logistic loss of linear rules on a training set: value, gradient, Hessian.

With scores f_k(x) = constant_k + (x - centre)'b_k of K classes,

    L = sum_i w_i (log sum_k exp f_k(x_i) - f_{y_i}(x_i)),

which does not change when one function is added to all scores. Two classes therefore have one
score, f_1 - f_0, and more classes K - 1 coordinates in an orthonormal basis of the scores that sum
to zero: |b|^2 is the same in them, and the minimiser is unique.
"""

from dataclasses import dataclass, replace
from functools import cached_property, partial

import numpy as np
from scipy.linalg.blas import dsyrk

from empirisk.compiled.logistic import (
    logistic_curvature,
    logistic_rows,
    softmax_probabilities,
    softmax_rows,
    weigh_rows,
)
from empirisk.runtime.arrays import Floats, Ints
from empirisk.runtime.deadlines import check_deadline
from empirisk.runtime.parallel import parallel, slices

NUMBERS_AT_ONCE = 2**18
"""Numbers of X in a block: 2 MB stay in the cache."""
LEAST_ROWS = 512
"""Rows of a block of a wide design, enough for BLAS to run at full speed."""
STRIPS = 8
"""Parts that threads share; their sums are added in order, so the bits do not depend on n_jobs."""


@dataclass(frozen=True, eq=False)
class LogisticLoss:
    """L of a training set, as a function of a flat vector of coordinates.

    The vector is a matrix (scores, columns + 1), the constants in its last column; without an
    intercept (scores, columns) and the centre is 0. y are class codes.
    """

    X: Floats
    y: Ints
    weight: Floats
    n_classes: int
    centre: Floats
    fit_intercept: bool
    n_jobs: int | None = None
    symmetric: bool = False
    """Whether more than two classes have a score each, as an L1 penalty needs them."""

    @property
    def n_scores(self) -> int:
        if self.n_classes == 2:
            return 1
        return self.n_classes if self.symmetric else self.n_classes - 1

    @property
    def width(self) -> int:
        """Coordinates of one score."""
        return self.X.shape[1] + self.fit_intercept

    @property
    def size(self) -> int:
        return self.n_scores * self.width

    @cached_property
    def basis(self) -> Floats:
        """Scores of all classes = basis @ coordinates."""
        if self.symmetric and self.n_classes > 2:
            return np.eye(self.n_classes)
        return zero_sum_basis(self.n_classes)

    def part(self, step: int) -> "LogisticLoss":
        """The loss of every step-th row, for all rows: weights grow by that factor."""
        X, y = np.ascontiguousarray(self.X[::step]), np.ascontiguousarray(self.y[::step])
        weight = self.weight[::step] * (self.weight.sum() / self.weight[::step].sum())
        return replace(self, X=X, y=y, weight=weight)

    def columns(self, which: Ints) -> "LogisticLoss":
        """The loss of rules that use some columns only."""
        return replace(
            self, X=np.ascontiguousarray(self.X[:, which]), centre=self.centre[which].copy()
        )

    def scores(self, theta: Floats) -> Floats:
        """Scores (rows, classes), of two classes the first 0."""
        coef, constant = self._raw_rule(theta)
        return (self.X @ coef.T + constant) @ self.basis.T

    def rule(self, theta: Floats) -> tuple[Floats, Floats]:
        """Coefficients (scores, columns) and constants at the centre (scores,)."""
        matrix = theta.reshape(self.n_scores, self.width)
        if self.fit_intercept:
            return matrix[:, :-1], matrix[:, -1]
        return matrix, np.zeros(self.n_scores)

    def value_and_gradient(self, theta: Floats) -> tuple[float, Floats]:
        work = partial(self._strip_gradient, *self._raw_rule(theta))
        parts = parallel(work, self._strips(), n_jobs=self.n_jobs)
        residuals = sum(part[1] for part in parts)
        coef = sum(part[2] for part in parts) - np.outer(residuals, self.centre)
        gradient = np.column_stack([coef, residuals]) if self.fit_intercept else coef
        return float(sum(part[0] for part in parts)), np.ascontiguousarray(gradient).reshape(-1)

    def hessian(self, theta: Floats) -> Floats:
        """The matrix of second derivatives, sum_i w_i M_i (x) z_i z_i' with z = (x - centre, 1).

        M_i is the covariance of the class indicator at the fitted probabilities.
        """
        work = partial(self._strip_curvature, *self._raw_rule(theta))
        total = parallel(work, self._strips(), n_jobs=self.n_jobs)
        grams = [sum(part[pair] for part in total) for pair in range(len(total[0]))]
        full = [np.tril(gram) + np.tril(gram, -1).T for gram in grams]
        return full[0] if self.n_classes == 2 else self._assemble(full)

    def _raw_rule(self, theta: Floats) -> tuple[Floats, Floats]:
        coef, constant = self.rule(theta)
        return np.ascontiguousarray(coef), constant - coef @ self.centre

    def _strips(self) -> list[slice]:
        n = len(self.X)
        return slices(n, max(self._rows_at_once(), -(-n // STRIPS)))

    def _rows_at_once(self) -> int:
        return max(LEAST_ROWS, NUMBERS_AT_ONCE // max(self.X.shape[1], 1))

    def _blocks(self, strip: slice) -> list[slice]:
        size = self._rows_at_once()
        return [
            slice(strip.start + part.start, strip.start + part.stop)
            for part in slices(strip.stop - strip.start, size)
        ]

    def _scores(self, rows: slice, coef: Floats, constant: Floats) -> Floats:
        """Scores (rows,) of two classes, or (rows, classes)."""
        if self.n_classes == 2:
            return self.X[rows] @ coef[0] + constant[0]
        # The product in this order runs several times as fast: few columns in the result.
        coordinates = np.ascontiguousarray((coef @ self.X[rows].T).T)
        return (coordinates + constant) @ self.basis.T

    def _strip_gradient(
        self, coef: Floats, constant: Floats, strip: slice
    ) -> tuple[float, Floats, Floats]:
        total, residuals, gradient = 0.0, np.zeros(self.n_scores), np.zeros_like(coef)
        for rows in self._blocks(strip):
            check_deadline()
            scores, y, weight = self._scores(rows, coef, constant), self.y[rows], self.weight[rows]
            if self.n_classes == 2:
                residual = np.empty((len(y), 1))
                total += logistic_rows(scores, y, weight, residual[:, 0])
            else:
                total += softmax_rows(scores, y, weight)
                residual = scores @ self.basis
            residuals += residual.sum(axis=0)
            gradient += residual.T @ self.X[rows]
        return total, residuals, gradient

    def _strip_curvature(self, coef: Floats, constant: Floats, strip: slice) -> list[Floats]:
        """Lower triangles of Z'WZ, for two classes one, else one for each pair of classes."""
        pairs = 1 if self.n_classes == 2 else self.n_classes * (self.n_classes - 1) // 2
        grams = [np.zeros((self.width, self.width), order="F") for _ in range(pairs)]
        Z = np.empty((self._rows_at_once(), self.width))
        for rows in self._blocks(strip):
            check_deadline()
            for gram, root in zip(grams, self._roots(rows, coef, constant), strict=True):
                check_deadline()
                part = Z[: len(root)]
                weigh_rows(self.X[rows], self.centre, root, part)
                dsyrk(1.0, part.T, beta=1.0, c=gram, lower=1, overwrite_c=1)
        return grams

    def _roots(self, rows: slice, coef: Floats, constant: Floats) -> list[Floats]:
        """Square roots of the weights w_i p_ik p_il of the pairs k < l."""
        scores, weight = self._scores(rows, coef, constant), self.weight[rows]
        if self.n_classes == 2:
            root = np.empty(len(scores))
            logistic_curvature(scores, weight, root)
            return [root]
        softmax_probabilities(scores)
        share = np.sqrt(scores.T)
        share_weighted = share * np.sqrt(weight)
        K = self.n_classes
        return [share_weighted[k] * share[m] for k in range(K) for m in range(k + 1, K)]

    def _assemble(self, grams: list[Floats]) -> Floats:
        """The Hessian in the basis, from the blocks -Z'diag(w p_k p_l)Z of pairs of classes.

        The rows of blocks sum to zero, which gives the diagonal ones.
        """
        K, q, width = self.n_classes, self.n_scores, self.width
        H = np.zeros((K, K, width, width))
        for gram, k, m in zip(grams, *np.triu_indices(K, 1), strict=True):
            H[k, k] += gram
            H[m, m] += gram
            H[k, m] = H[m, k] = -gram
        if not self.symmetric:
            H = np.tensordot(self.basis, np.tensordot(self.basis, H, (0, 1)), (0, 1))
        return np.ascontiguousarray(H.transpose(0, 2, 1, 3)).reshape(q * width, q * width)


def zero_sum_basis(n_classes: int) -> Floats:
    """Orthonormal columns (classes, classes - 1) that sum to zero; for two classes (0, 1)'.

    Examples
    --------
    >>> zero_sum_basis(3).round(3)
    array([[-0.816,  0.   ],
           [ 0.408, -0.707],
           [ 0.408,  0.707]])
    """
    if n_classes == 2:
        return np.array([[0.0], [1.0]])
    basis = np.zeros((n_classes, n_classes - 1))
    for k in range(n_classes - 1):
        rest = n_classes - 1 - k
        basis[k, k] = -rest
        basis[k + 1 :, k] = 1.0
        basis[:, k] /= np.sqrt(rest * (rest + 1.0))
    return basis
