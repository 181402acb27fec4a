"""Leave-one-out of quadratic discriminant analysis from one factorisation for each class.

Only the class of the row that is left out changes. Let the row have weight w, its class c the
weight n, and let it lie at d from the mean of c. With t = w / (n - w) and a = d' S_c^-1 d, where
S_c is the scatter divided by n, without the row

    m_c      becomes  m_c - t d,  so that x lies at (1 + t) d from it
    S_c      becomes  n / (n - w) (S_c - t d d')
    x's squared distance to c      (1 + t)^2 (n - w) / n  a / (1 - t a)
    log det S_c                    log det S_c + p log(n / (n - w)) + log(1 - t a).
"""

from collections.abc import Iterator
from typing import Any

import numpy as np

from empirisk.learners.generative.class_covariances import ClassCovariances
from empirisk.learners.generative.discriminants import among_all, decide
from empirisk.learners.generative.held_out import LEAST_SHARE, refuse_condition
from empirisk.learners.generative.quadratic import Bundle, QuadraticDiscriminants
from empirisk.risk.axis import Block, CannotSubtractError, Output
from empirisk.runtime.arrays import Floats, Ints
from empirisk.runtime.deadlines import check_deadline
from empirisk.runtime.parallel import one_blas_thread, slices


def predict_left_out(parts: Any, output: Output, rows_per_block: int) -> Iterator[Block]:
    """Predictions of each row by what is learned from all the others."""
    with one_blas_thread():
        left_out = LeftOut(parts)
        left_out.refuse_inexact()
    return _blocks(left_out, output, rows_per_block)


def _blocks(left_out: "LeftOut", output: Output, rows_per_block: int) -> Iterator[Block]:
    total = left_out.parts.total
    for part in slices(len(left_out.code), rows_per_block):
        check_deadline()
        rows = np.arange(part.start, part.stop)
        with one_blas_thread():
            values = left_out.values(rows)[:, :, None]
        yield 0, rows, decide(among_all(values, left_out.present, len(total.rows)), output)


class LeftOut:
    """The discriminants at each row, without it; of the classes that have rows."""

    def __init__(self, parts: Any) -> None:
        self.parts = parts
        self.present = np.flatnonzero(parts.total.rows)
        self.moments = parts.total.present()
        self.code = np.searchsorted(self.present, parts.rows.y)
        mixture = ClassCovariances(
            self.moments, 1.0, parts.unit, parts.tol, cholesky=parts.cholesky
        )
        self.condition = mixture.condition(0.0)
        self.limit = mixture.each[0].largest_condition(0.0)
        bundle = Bundle.of([0], [[factor] for factor in mixture.factors(0.0)])
        self.log_determinant = bundle.log_determinant[:, 0]
        nothing = np.zeros(len(self.present))
        self.rule = QuadraticDiscriminants(
            self.moments.mean, np.zeros_like(parts.unit), nothing, [bundle]
        )

    def refuse_inexact(self) -> None:
        """Refuse if without one of the rows a covariance, or a class, is nearly gone."""
        if (self.moments.rows == 1).any():
            raise CannotSubtractError("a class has a single row, and is gone without it")
        weight = self.parts.rows.weight
        share = 1 - weight / self.moments.weight[self.code]
        if share.min() < LEAST_SHARE:
            i = int(np.argmin(share))
            raise CannotSubtractError(
                f"row {i} has all but {share[i]:.1e} of the weight of its class"
            )
        if (weight + self.parts.lost >= self.moments.weight[self.code]).any():
            raise CannotSubtractError("without a row a class is too light for its covariance")
        for part in slices(len(weight), 2**16):
            rows = np.arange(part.start, part.stop)
            step, own = self._own_distance(rows)
            with np.errstate(divide="ignore"):
                condition = self.condition[self.code[rows]] / np.maximum(1 - step * own, 0.0)
            where = f"without row {rows[condition.argmax()]}"
            refuse_condition(float(condition.max()), where, "of its class", self.limit)

    def _own_distance(self, rows: Ints) -> tuple[Floats, Floats]:
        """t and a of some rows."""
        own = self.code[rows]
        weight = self.parts.rows.weight[rows]
        values = self.rule.values(self.parts.rows.X[rows])[np.arange(len(rows)), own, 0]
        return weight / (self.moments.weight[own] - weight), (
            -2 * values - self.log_determinant[own]
        )

    def values(self, rows: Ints) -> Floats:
        """f_k without the row itself: (rows, classes)."""
        own, at = self.code[rows], np.arange(len(rows))
        weight, n = self.parts.rows.weight[rows], self.moments.weight[self.code[rows]]
        p, lost = self.moments.mean.shape[1], self.parts.lost
        values = self.rule.values(self.parts.rows.X[rows])[:, :, 0]
        distance = -2 * values - self.log_determinant
        determinant = np.tile(self.log_determinant, (len(rows), 1))
        a, t = distance[at, own], weight / (n - weight)
        distance[at, own] = (1 + t) ** 2 * (1 - weight / n) * a / (1 - t * a)
        determinant[at, own] += np.log1p(-t * a) - p * np.log1p(-weight / n)
        # Divided by n - 1 instead of n, a covariance grows by n / (n - 1).
        left = np.tile(self.moments.weight, (len(rows), 1))
        left[at, own] -= weight
        grown = left / (left - lost)
        distance /= grown
        determinant += p * np.log(grown)
        priors = left if self.parts.priors is None else self.parts.priors[self.present]
        with np.errstate(divide="ignore"):
            return np.log(priors) - (distance + determinant) / 2
