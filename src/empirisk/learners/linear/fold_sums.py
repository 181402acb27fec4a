"""Least squares, or ridge at one penalty, without each fold: from sums over parts of the rows.

With the mean c of all rows z = [x, y], each part has the sums of w, w (z - c) and
w (z - c)(z - c)'. Those of a training part are the sums of its parts'.
"""

from functools import partial
from typing import NamedTuple

import numpy as np

from empirisk.compiled.centring import centre_rows
from empirisk.data.blocks import Rows, compilable
from empirisk.risk.plans.parts import Parts, about_own_means
from empirisk.runtime.arrays import Floats, Ints
from empirisk.solvers.many_systems import solve_each


class TrainedRules(NamedTuple):
    """Of each split the rule  constant + coef (x - centre)."""

    centre: Floats  # (p,)
    coef: Floats  # (splits, outputs, p)
    constant: Floats  # (splits, outputs)


def trained_rules(
    rows: Rows, parts: Parts, penalty: float, intercept: bool, condition_limit: float
) -> TrainedRules | None:
    """The rules that the training parts give; None where sums are not exact enough, or too few.

    `condition_limit` is that of a design.
    """
    p, outputs = rows.X.shape[1], rows.y.shape[1]
    if parts.trained_on.min() < p + intercept or not parts.have_room_for(p + outputs):
        return None
    mean = np.append(rows.weight @ rows.X, rows.weight @ rows.y)
    mean *= intercept / rows.weight.sum()
    weight, first, scatter = parts.training_sums(partial(_sums, rows, mean))
    np.einsum("sjj->sj", scatter)[:, :p] += penalty
    shift, lost = np.zeros_like(first), np.ones_like(first)
    if intercept:
        own, lost = about_own_means(scatter, first[:, np.newaxis], weight[:, np.newaxis])
        shift = own[:, 0]
    gram = np.ascontiguousarray(scatter[:, :p, :p])
    solution, condition = solve_each(gram, scatter[:, :p, p:])
    if not (condition * lost[:, :p].max(axis=1) <= condition_limit**2).all():
        return None
    coef = np.ascontiguousarray(solution.transpose(0, 2, 1))
    constant = mean[p:] + shift[:, p:] - np.einsum("skj,sj->sk", coef, shift[:, :p])
    return TrainedRules(mean[:p], coef, constant)


def _sums(rows: Rows, mean: Floats, own: Ints) -> tuple[float, Floats, Floats]:
    """Of w, w (z - mean) and w (z - mean)(z - mean)'."""
    X, y, weight = (compilable(column[own]) for column in rows)
    root = np.sqrt(weight)
    Z = np.empty((len(X), len(mean)))
    centre_rows(X, y, mean, root, Z)
    return float(weight.sum()), root @ Z, Z.T @ Z
