"""Least squares on a basis at several degrees, from one training set."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple, Protocol

import numpy as np
from sklearn.base import BaseEstimator, clone

from empirisk.data.blocks import Blocks, Rows, compilable
from empirisk.learners.linear.basis_expansion import BasisExpansion
from empirisk.learners.linear.knots import Spread
from empirisk.learners.linear.linear_rule import predict_all, warn_of
from empirisk.learners.linear.nested_columns import Factors, factorise
from empirisk.learners.linear.piecewise import CONSTANT, CUBIC, Cells
from empirisk.risk.axis import Output
from empirisk.runtime.arrays import Array, Floats, Ints
from empirisk.runtime.deadlines import check_deadline
from empirisk.solvers.least_squares import least_squares


class BasisLearner(Protocol):
    """What of the learner the fit needs to know."""

    fit_intercept: bool

    def expansion(self, degree: int | None) -> BasisExpansion: ...


class Rules(NamedTuple):
    """Linear rules on the first functions of one basis: so many (`ends`) of them each.

    `coef` is (rules, outputs, functions), zero from the end on; `intercept` (rules, outputs).
    """

    expansion: BasisExpansion
    ends: Ints
    coef: Floats
    intercept: Floats
    rank: Ints


@dataclass(frozen=True, eq=False)
class BasisPath:
    """A learner fitted at several degrees.

    Rule k of basis g belongs to the j-th value if place[j] = (g, k); `flat` says that y had one
    axis.
    """

    learner: Any
    values: Sequence[Any]
    bases: list[Rules]
    place: list[tuple[int, int]]
    flat: bool

    @property
    def degrees_of_freedom(self) -> Floats:
        rank = [self.bases[g].rank[k] for g, k in self.place]
        return np.array(rank, dtype=float) + bool(self.learner.fit_intercept)

    def predict_path(self, X: Array, output: Output = "value") -> Floats:
        """Predictions (rows, values), or (rows, values, outputs)."""
        found = [
            predict_all(rules.expansion.expand(X), rules.coef, rules.intercept, flat=False)
            for rules in self.bases
        ]
        prediction = np.stack([found[g][:, k] for g, k in self.place], axis=1)
        return prediction[:, :, 0] if self.flat else prediction

    def at(self, j: int) -> BaseEstimator:
        """The fitted learner at the j-th value."""
        learner = clone(self.learner)
        learner.set_params(**learner.axis.settings(self.values[j]))
        return self.put_into(learner, j)

    def put_into(self, learner: Any, j: int) -> Any:
        """Make the learner what it is at the j-th value."""
        g, k = self.place[j]
        rules = self.bases[g]
        end = int(rules.ends[k])
        coef, intercept = rules.coef[k, :, :end].copy(), rules.intercept[k].copy()
        learner.n_features_in_ = rules.expansion.n_features_in_
        learner.expansion_ = rules.expansion.first(end, learner.expansion(learner.degree))
        if hasattr(learner, "feature_names_in_"):
            learner.expansion_.feature_names_in_ = learner.feature_names_in_
        learner.coef_ = coef[0] if self.flat else coef
        learner.intercept_ = float(intercept[0]) if self.flat else intercept
        learner.rank_ = int(rules.rank[k])
        learner.degrees_of_freedom_ = float(rules.rank[k] + bool(learner.fit_intercept))
        return learner


def fit_degrees(
    learner: BasisLearner,
    rows: Rows,
    degrees: Sequence[int],
    values: Sequence[Any],
    *,
    flat: bool,
    names: Sequence[str] | None,
) -> BasisPath:
    """Where the functions of a lower degree are the first of a higher, one basis for all."""
    distinct, nested = sorted(set(degrees)), learner.expansion(None).is_nested
    groups = [distinct] if nested else [[d] for d in distinct]
    spreads = None if nested else [Spread.of(x, rows.weight) for x in rows.X.T]
    expansions = [learner.expansion(g[-1]).learn(rows.X, rows.weight, spreads) for g in groups]
    cells = None if spreads is None else _cells(expansions, rows, spreads)
    bases = []
    for group, expansion in zip(groups, expansions, strict=True):
        check_deadline()
        if names is not None:
            expansion.feature_names_in_ = np.array(names, dtype=object)
        ends = np.array([expansion.size_at(d) for d in group])
        bases.append(_fit(learner, expansion, ends, rows, cells))
    where = {d: (g, k) for g, group in enumerate(groups) for k, d in enumerate(group)}
    return BasisPath(learner, values, bases, [where[d] for d in degrees], flat)


def rules_of(factors: Factors, expansion: BasisExpansion, ends: Ints) -> Rules:
    """The rules that a factorisation gives."""
    return Rules(expansion, ends, *factors.coefficients(ends), ends)


def _cells(
    expansions: Sequence[BasisExpansion], rows: Rows, spreads: Sequence[Spread]
) -> Cells | None:
    """The rows between the knots of all splines or steps; None of several features."""
    one = expansions[0]
    if rows.X.shape[1] > 1 or not one.training_range.half > 0:
        return None
    order = spreads[0].order
    t = one.training_range.scaled(rows.X[order])[:, 0]
    knots = np.concatenate([expansion.scaled_knots()[0] for expansion in expansions])
    places = CONSTANT if one.basis == "steps" else CUBIC
    return Cells.of(t, rows.y[order], rows.weight[order], knots, places)


def _fit(
    learner: BasisLearner, expansion: BasisExpansion, ends: Ints, rows: Rows, cells: Cells | None
) -> Rules:
    intercept = bool(learner.fit_intercept)
    if cells is not None:
        factors = cells.factorise(expansion.families()[0], intercept)
    else:
        factors = factorise(_expanded(expansion, rows), intercept)
    if factors is not None:
        return rules_of(factors, expansion, ends)
    return _fit_dependent(learner, expansion, ends, rows)


def _fit_dependent(
    learner: BasisLearner, expansion: BasisExpansion, ends: Ints, rows: Rows
) -> Rules:
    """Each rule by itself: where functions depend on others, that of least norm.

    The functions are computed anew in every pass, block by block: of many rows they are large.
    """
    names, blocks = expansion.get_feature_names_out(), Blocks.of_arrays(*rows)
    outputs, q = rows.y.shape[1], expansion.n_output_features_
    coef, intercept = np.zeros((len(ends), outputs, q)), np.empty((len(ends), outputs))
    rank = np.empty(len(ends), dtype=np.int64)
    for k, m in enumerate(ends):
        design = blocks.map(partial(_expanded, expansion, first=m))
        solution = least_squares(design, fit_intercept=bool(learner.fit_intercept))
        warn_of(solution, learner, list(names))  # type: ignore[arg-type]  # it has names and a solver
        coef[k, :, :m], intercept[k], rank[k] = solution.coef, solution.intercept, solution.rank
    return Rules(expansion, ends, coef, intercept, rank)


def _expanded(expansion: BasisExpansion, rows: Rows, first: int | None = None) -> Rows:
    """The values of the first functions of the basis, all by default, in place of the features."""
    return Rows(compilable(expansion.expand(rows.X)[:, :first]), rows.y, rows.weight)
