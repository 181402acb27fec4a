"""Linear discriminants at one shrinkage without each fold: from sums over parts of the rows.

With the class means m_k of all rows, each part has for each class the sums of w and w (x - m_k),
and over all classes that of w (x - m_y)(x - m_y)'. Those of a training part are the sums of its
parts'.
"""

from functools import partial
from typing import NamedTuple

import numpy as np

from empirisk.data.blocks import Rows
from empirisk.data.class_moments import ClassMoments
from empirisk.learners.generative.covariance import LARGEST_CONDITION, least_variance
from empirisk.learners.generative.tied_covariance import ClassMeans, pooled_divisor
from empirisk.risk.plans.parts import Parts, about_own_means
from empirisk.runtime.arrays import Floats, Ints
from empirisk.solvers.many_systems import solve_each

LARGEST_COEFFICIENT = 1e200
"""Times a number of ordinary size that is far from overflow."""


class TrainedDiscriminants(NamedTuple):
    """Of each split the functions  constant_k + coef_k (x - centre), of two classes one."""

    centre: Floats  # (p,)
    coef: Floats  # (splits, K or 1, p)
    constant: Floats  # (splits, K or 1)


def trained_discriminants(
    rows: Rows,
    total: ClassMoments,
    parts: Parts,
    shrinkage: float,
    priors: Floats | None,
    tol: float,
    lost: float,
) -> TrainedDiscriminants | None:
    """What the training parts give; None where one lacks a class, or is close to singular."""
    p = rows.X.shape[1]
    if not parts.have_room_for(p):
        return None
    count, weight, first, scatter = parts.training_sums(partial(_sums, rows, total.mean))
    if not (count > 0).all():
        return None
    shift, grown = about_own_means(scatter, first, weight)
    n = pooled_divisor(weight, lost)
    covariance = _shrink(scatter / n[:, np.newaxis, np.newaxis], shrinkage)
    prior = weight if priors is None else np.broadcast_to(priors, weight.shape)
    means = ClassMeans.of(total.mean + shift, prior / prior.sum(axis=1, keepdims=True))
    solution, condition = solve_each(covariance, means.directions.transpose(0, 2, 1))
    # LAPACK's estimate of a condition number may be too small, hardly ever tenfold.
    limit = min(LARGEST_CONDITION, 0.1 / least_variance(tol, p))
    coef = np.ascontiguousarray(solution.transpose(0, 2, 1))
    exact = (condition * grown.max(axis=1) <= limit).all()
    if not (exact and np.abs(coef).max() < LARGEST_COEFFICIENT):
        return None
    centre = total.weight @ total.mean / total.weight.sum()
    constant = means.log_prior - np.einsum("skj,skj->sk", means.halfway, coef)
    constant += np.einsum("skj,sj->sk", coef, centre - means.common)
    return TrainedDiscriminants(centre, coef, constant)


def _shrink(covariance: Floats, s: float) -> Floats:
    """(1 - s) S + s (trace S / p) I of each, in place."""
    diagonal = np.einsum("sjj->sj", covariance)
    towards = s * diagonal.mean(axis=1, keepdims=True)
    covariance *= 1 - s
    diagonal += towards
    return covariance


def _sums(rows: Rows, mean: Floats, own: Ints) -> tuple[Floats, Floats, Floats, Floats]:
    """Of 1, w and w (x - m_k) by class, and of w (x - m_y)(x - m_y)' over all."""
    X, y, weight = (column[own] for column in rows)
    root = np.sqrt(weight)
    Z = (X - mean[y]) * root[:, np.newaxis]
    of_class = (y == np.arange(len(mean))[:, np.newaxis]).astype(float)
    return of_class.sum(axis=1), of_class @ weight, (of_class * root) @ Z, Z.T @ Z
