"""Leave-one-out of linear discriminant analysis from one factorisation of the covariance.

Let a row of weight w and class c lie at d = x - m_c from the mean of its class. The class has the
weight w_c, all rows together W. Without the row, with t = w / (w_c - w),

    m_c      becomes  m_c - t d
    W S      becomes  W S - t w_c d d'
    trace S  becomes  (W trace S - t w_c d'd) / (W - w).

In the basis of the eigenvectors of S the shrunken covariance is therefore, up to the factor
W / (W - w), a diagonal matrix A minus h d d', h = (1 - s) t w_c / W, and its inverse is

    A^-1 + h A^-1 d d' A^-1 / (1 - h d' A^-1 d)        (Sherman & Morrison 1950).

With u_k = (m_c - t d) - m_k and x - (m_c - t d) = (1 + t) d, the discriminants need u_k' A^-1 u_k,
u_k' A^-1 d and d' A^-1 d only.
"""

from collections.abc import Iterator

import numpy as np

from empirisk.data.class_moments import ClassMoments
from empirisk.learners.generative.covariance import Factor
from empirisk.learners.generative.discriminants import among_all, decide
from empirisk.learners.generative.held_out import LEAST_SHARE, Fitted, refuse_condition
from empirisk.learners.generative.tied_covariance import TiedCovariance
from empirisk.learners.generative.tied_held_out import TiedParts
from empirisk.risk.axis import Block, CannotSubtractError, Output
from empirisk.runtime.arrays import Floats, Ints
from empirisk.runtime.deadlines import check_deadline
from empirisk.runtime.parallel import one_blas_thread, slices

NUMBERS_AT_ONCE = 2**18
"""In an array of one block, so that the few arrays it takes stay in the cache."""


def predict_left_out(parts: TiedParts, output: Output, rows_per_block: int) -> Iterator[Block]:
    """Predictions of each row by what is learned from all the others."""
    with one_blas_thread():
        downdate = Downdate(parts)
        downdate.refuse_ill_conditioned()
        alone = downdate.rows_alone_in_their_class()
    return _blocks(downdate, alone, output, rows_per_block)


def _blocks(
    downdate: "Downdate", alone: dict[int, Fitted], output: Output, rows_per_block: int
) -> Iterator[Block]:
    for index in downdate.blocks(rows_per_block):
        check_deadline()
        with one_blas_thread():
            values = downdate.values(index)
        yield 0, index, decide(among_all(values, downdate.present, downdate.n_classes), output)
    for i, fitted in alone.items():
        yield 0, np.array([i]), fitted.predict(downdate.parts.rows.X[[i]], output)


class Downdate:
    """The discriminants at each row, without it; of the classes that have rows."""

    def __init__(self, parts: TiedParts) -> None:
        self.parts = parts
        self.n_classes = len(parts.total.rows)
        self.present = np.flatnonzero(parts.total.rows)
        self.moments = parts.total.present()
        self.total_weight = float(self.moments.weight.sum())
        self.covariance = TiedCovariance(self.moments, parts.unit, parts.tol)
        self.code = np.searchsorted(self.present, parts.rows.y)

    def blocks(self, rows_per_block: int) -> Iterator[Ints]:
        """The rows that are not alone in their class."""
        index = np.flatnonzero(self.moments.rows[self.code] > 1)
        fitting = NUMBERS_AT_ONCE // self.moments.mean.size
        for part in slices(len(index), max(1, min(rows_per_block, fitting))):
            yield index[part]

    def refuse_ill_conditioned(self) -> None:
        """Refuse if without one of the rows the covariance, or its class, is nearly gone."""
        for s in self.parts.decisive():
            limit = self.covariance.largest_condition(s)
            refuse_condition(self.covariance.condition(s), "with all rows", limit=limit)
        lost = self.parts.lost * len(self.present)
        if lost and self.total_weight - self.parts.rows.weight.max() <= lost:
            raise CannotSubtractError("without a row there are too few for an unbiased covariance")
        share = 1 - self.parts.rows.weight / self.moments.weight[self.code]
        for index in self.blocks(len(share)):
            i = index[np.argmin(share[index])]
            if share[i] < LEAST_SHARE:
                raise CannotSubtractError(
                    f"row {i} has all but {share[i]:.1e} of the weight of its class"
                )
            for s in self.parts.decisive():
                condition = LeftOut(self, index, self.factor(s)).condition(s)
                i = np.argmax(condition)
                limit = self.covariance.largest_condition(s)
                refuse_condition(float(condition[i]), f"without row {index[i]}", limit=limit)

    def rows_alone_in_their_class(self) -> dict[int, Fitted]:
        """What is learned without such a row: its class is gone, the scatter is what it was."""
        total, fitted = self.parts.total, {}
        for i in np.flatnonzero(total.rows[self.parts.rows.y] == 1):
            here = np.arange(self.n_classes) != self.parts.rows.y[i]
            rest = ClassMoments(
                total.rows * here, total.weight * here, total.mean * here[:, None], total.scatter
            )
            fitted[int(i)] = self.parts.learn(rest, f"without row {i} the plan")
        return fitted

    def factor(self, s: float) -> Factor:
        """The factorisation that serves shrinkage s."""
        return self.covariance.standardised if s == 0 else self.covariance.spherical

    def values(self, index: Ints) -> Floats:
        """log pi_k minus half the squared distance to class k, relative to the row's own class:
        an array (rows, classes, shrinkages)."""
        shrinkages = self.parts.shrinkages
        distance = np.empty((len(index), len(self.present), len(shrinkages)))
        for scaled in (True, False):
            chosen = [j for j, s in enumerate(shrinkages) if (s == 0) == scaled]
            if chosen:
                left_out = LeftOut(self, index, self.factor(shrinkages[chosen[0]]))
                distance[:, :, chosen] = left_out.distances([shrinkages[j] for j in chosen])
        return self._log_priors(index)[:, :, None] - distance / 2

    def _log_priors(self, index: Ints) -> Floats:
        """The logarithms of the priors, learned without the row where they are learned."""
        if self.parts.priors is not None:
            share = np.tile(self.parts.priors[self.present], (len(index), 1))
        else:
            share = np.tile(self.moments.weight, (len(index), 1))
            share[np.arange(len(index)), self.code[index]] -= self.parts.rows.weight[index]
        with np.errstate(divide="ignore"):
            return np.log(share)


class LeftOut:
    """Some rows, each left out by itself, in the basis of one factorisation."""

    def __init__(self, downdate: Downdate, index: Ints, factor: Factor) -> None:
        moments, rows = downdate.moments, downdate.parts.rows
        self.code, weight = downdate.code[index], rows.weight[index]
        self.variances = factor.variances
        self.deviation = (rows.X[index] - moments.mean[self.code]) @ factor.basis
        self.mean = (moments.mean - moments.mean[0]) @ factor.basis
        own = moments.weight[self.code]
        self.step = weight / (own - weight)
        self.removed = self.step * own / downdate.total_weight
        self.remaining = 1 - weight / downdate.total_weight
        # An unbiased covariance is that of maximum likelihood times n / (n - K), for every s.
        lost = downdate.parts.lost * len(moments.weight)
        self.remaining *= 1 - lost / (downdate.total_weight - weight)
        length = np.square(self.deviation).sum(axis=1) / len(factor.variances)
        self.mean_variance = np.maximum(downdate.covariance.target - self.removed * length, 0.0)

    def diagonal(self, s: float) -> Floats:
        """A, one row for each row that is left out."""
        if s == 0:
            return np.broadcast_to(self.variances, self.deviation.shape)
        return (1 - s) * self.variances + (s * self.mean_variance)[:, None]

    def condition(self, s: float) -> Floats:
        """A bound of the condition number of the covariance without the row."""
        diagonal = self.diagonal(s)
        least, largest = diagonal.min(axis=1), diagonal.max(axis=1)
        with np.errstate(divide="ignore", invalid="ignore"):
            leverage = (np.square(self.deviation) / diagonal).sum(axis=1)
            rest = 1 - (1 - s) * self.removed * leverage
            condition = largest / least / rest
        return np.where((least > 0) & (rest > 0), condition, np.inf)

    def distances(self, shrinkages: list[float]) -> Floats:
        """Squared distances to the class means minus that to the mean of the own class, with the
        inverse of the covariance without the row: (rows, classes, shrinkages)."""
        rows = np.arange(len(self.code))
        apart = self.mean[self.code][:, None] - self.mean
        apart -= (self.step[:, None] * self.deviation)[:, None]
        apart[rows, self.code] = 0.0
        along, squared = apart * self.deviation[:, None], np.square(apart)
        length = np.square(self.deviation)
        distances = np.empty((*apart.shape[:2], len(shrinkages)))
        for j, s in enumerate(shrinkages):
            inverse = 1 / self.diagonal(s)
            removed = (1 - s) * self.removed
            rest = (1 - removed * (length * inverse).sum(axis=1))[:, None]
            with_row = np.einsum("ikj,ij->ik", along, inverse)
            distances[:, :, j] = np.einsum("ikj,ij->ik", squared, inverse)
            distances[:, :, j] += removed[:, None] * np.square(with_row) / rest
            distances[:, :, j] += 2 * (1 + self.step)[:, None] * with_row / rest
        return distances * self.remaining[:, None, None]
