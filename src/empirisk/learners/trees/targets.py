"""Criteria by name: what the grower is given, and what its numbers are in the units of the target.

Extreme values and weights are divided by a power of two before growing, so that products neither
overflow nor vanish.
"""

from dataclasses import dataclass, replace
from math import log

import numpy as np

from empirisk.compiled.trees import criteria
from empirisk.data.coded_column import rank_numbers
from empirisk.data.rank_coding import RankCoding
from empirisk.data.scaling import power_of_two
from empirisk.learners.trees.finishing import PackedTree
from empirisk.learners.trees.terms import Target
from empirisk.learners.trees.tree import Tree
from empirisk.losses import class_frequencies
from empirisk.runtime.arrays import Array, Floats, Ints
from empirisk.runtime.errors import DataError, ParameterError

REGRESSION = ("squared_error", "absolute_error", "poisson")
CLASSIFICATION = ("gini", "entropy", "log_loss", "misclassification")
NOTHING = np.zeros(1, np.int32)
BITS = 1 / log(2)  # the grower has entropies in nats
ORDINARY = (2.0**-100, 2.0**100)  # products of three such sums are far from overflow


@dataclass(frozen=True, eq=False)
class Problem:
    """A target for the grower, the weights of its rows, and the way back from its numbers.

    An impurity of the grower is so many `unit`, or squares of it; a weight so many `weight_unit`.
    `factors` are those of the classes by altered priors.
    """

    target: Target
    weight: Floats
    gain_scale: float
    unit: float = 1.0
    squared: bool = False
    weight_unit: float = 1.0
    n_classes: int = 0
    factors: Floats | None = None

    def in_units(self, tree: Tree) -> Tree:
        """The tree with values, impurities and weights in the units of the target, in place."""
        value, weight, impurity = tree.value, tree.weighted_n_node_samples, tree.impurity
        with np.errstate(over="ignore", under="ignore"):
            np.multiply(impurity, self.unit, out=impurity)
            if self.squared:
                np.multiply(impurity, self.unit, out=impurity)
            if self.n_classes == 0:
                np.multiply(value, self.unit, out=value)
                value = value[:, :, None]
            else:
                value, weight[:] = self._shares(value, weight)
                value = value[:, None, :]
            np.multiply(weight, self.weight_unit, out=weight)
        return replace(tree, value=value)

    def packed_in_units(self, tree: PackedTree) -> PackedTree:
        """The same of a packed tree, in place; shares of classes have no units."""
        with np.errstate(over="ignore", under="ignore"):
            if self.n_classes == 0:
                np.multiply(tree.value, self.unit, out=tree.value)
            np.multiply(tree.impurity, self.unit, out=tree.impurity)
            if self.squared:
                np.multiply(tree.impurity, self.unit, out=tree.impurity)
            np.multiply(tree.weight, self.weight_unit, out=tree.weight)
        return tree

    def with_copies(self, y: Ints, given: Floats) -> Target:
        """The target that knows what weights were given, before classes had factors."""
        n = max(self.n_classes, 2)  # a class may have no rows
        ours, theirs = (np.bincount(y, w, minlength=n) for w in (self.weight, given))
        copies = np.divide(theirs, ours, out=np.zeros(len(ours)), where=ours > 0)
        return replace(self.target, copies=copies)

    def gain_of(self, decrease: float) -> float:
        """What the grower calls a decrease of weight times impurity."""
        with np.errstate(over="ignore", under="ignore"):
            gain = np.float64(decrease) / self.unit / (self.unit if self.squared else 1.0)
            return float(gain / self.gain_scale)

    def _shares(self, shares: Floats, weight: Floats) -> tuple[Floats, Floats]:
        """Shares of the classes in the nodes and weights of these, without altered priors."""
        if self.target.kind in _TWO:
            shares = np.column_stack([1.0 - shares[:, 0], shares[:, 0]])[:, : self.n_classes]
        if self.factors is None:
            return shares, weight
        weights = shares * weight[:, None] / self.factors
        total = weights.sum(axis=1)
        return weights / total[:, None], total


_TWO = (criteria.GINI_TWO, criteria.ENTROPY_TWO, criteria.COST_TWO)


def regression_problem(criterion: str, coding: RankCoding, y: Floats, weight: Floats) -> Problem:
    """Of values (rows,) or (rows, outputs), for the rows of a coding."""
    if criterion not in REGRESSION:
        same = ": it is squared_error by another name" if criterion == "friedman_mse" else ""
        raise ParameterError(
            f"criterion is {criterion!r}; it must be one of {', '.join(REGRESSION)}{same}"
        )
    y = y.reshape(len(y), -1)
    many = y.shape[1] > 1
    if criterion == "poisson":
        _check_counts(y)
    if criterion == "absolute_error" and many:
        raise ParameterError(
            f"criterion is 'absolute_error' and y has {y.shape[1]} columns; fit a tree for each "
            "column, or use 'squared_error'"
        )
    scaled, unit = _ordinary(y)
    labels = rank_numbers(scaled[:, 0].copy())[1] if criterion == "absolute_error" else NOTHING
    kind = {
        "squared_error": criteria.SQUARED_MANY if many else criteria.SQUARED,
        "poisson": criteria.POISSON_MANY if many else criteria.POISSON,
        "absolute_error": criteria.ABSOLUTE,
    }[criterion]
    weight, weight_unit = _ordinary(weight)
    target = Target(
        kind,
        _spread(coding, scaled),
        labels if labels is NOTHING else _spread(coding, labels.astype(np.int32)),
        _weights(coding, weight),
        n_sums=y.shape[1],
    )
    squared = criterion == "squared_error"
    return Problem(target, weight, 1.0 / y.shape[1], unit, squared, weight_unit)


def _check_counts(y: Floats) -> None:
    for j in np.flatnonzero((y.min(axis=0) < 0) | (y.max(axis=0) <= 0)):
        where = "y" if y.shape[1] == 1 else f"column {j} of y"
        raise DataError(
            "the criterion 'poisson' needs values y >= 0 that are not all 0; "
            f"{where} has a negative value, or none above 0: it goes from {y[:, j].min():g} to "
            f"{y[:, j].max():g}"
        )


def classification_problem(
    criterion: str,
    coding: RankCoding,
    y: Ints,
    weight: Floats,
    n_classes: int,
    costs: Floats | None,
    cost_growth: str,
) -> Problem:
    """Of class codes, for the rows of a coding; costs[i, j] = C(i | j)."""
    if criterion not in CLASSIFICATION:
        raise ParameterError(
            f"criterion is {criterion!r}; it must be one of {', '.join(CLASSIFICATION)}"
        )
    if cost_growth not in ("priors", "gini"):
        raise ParameterError(f"cost_growth is {cost_growth!r}; it must be 'priors' or 'gini'")
    factors, matrix, unit = None, None, 1.0
    weight, weight_unit = _ordinary(weight)
    if costs is not None:
        costs, unit = _ordinary(costs)  # which altered priors do not depend on
    if criterion == "misclassification":
        matrix = 1.0 - np.eye(n_classes) if costs is None else costs
    elif costs is not None and cost_growth == "gini":
        if criterion != "gini":
            raise ParameterError(
                f"cost_growth is 'gini' and criterion is {criterion!r}; the generalised Gini index "
                "goes with criterion='gini', 'priors' with all"
            )
        matrix = (costs + costs.T) / 2
    elif costs is not None and n_classes > 1:
        factors = altered_priors(costs, class_frequencies(y, weight, n_classes=n_classes))
        weight = weight * factors[y]
    two = n_classes <= 2 and not (costs is not None and criterion == "gini" and matrix is not None)
    kind = _kind(criterion, two, matrix is not None)
    if matrix is None:
        unit = BITS if kind in (criteria.ENTROPY, criteria.ENTROPY_TWO) else 1.0
    target = Target(
        kind,
        _spread(coding, (y == 1).astype(float)[:, None]) if two else np.zeros((1, 1)),
        NOTHING if two else _spread(coding, y.astype(np.int32)),
        _weights(coding, weight),
        n_sums=1 if two else n_classes,
        costs=matrix if matrix is None or n_classes > 1 else np.zeros((2, 2)),
    )
    return Problem(
        target,
        weight,
        gain_scale=2.0 if kind == criteria.GINI_TWO else 1.0,
        unit=unit,
        weight_unit=weight_unit,
        n_classes=n_classes,
        factors=factors,
    )


def altered_priors(costs: Floats, shares: Floats) -> Floats:
    """Factors of the weights of classes j in proportion to sum_i C(i | j), that keep the total.

    A class whose mistakes cost more counts as if it were more frequent (Breiman et al. 1984, 4.4).
    One whose mistakes cost nothing would not count at all, and nodes would not know its share: it
    counts like that with the least costs of the others.
    """
    factors = (costs / power_of_two(costs.max())).sum(axis=0)  # which does not overflow
    least = factors[factors > 0].min(initial=factors.max() or 1.0)
    factors = np.where(factors > 0, factors, least)
    return factors / (factors @ shares)


def _kind(criterion: str, two: bool, matrix: bool) -> int:
    if matrix:
        general = criteria.COST if criterion == "misclassification" else criteria.GINI_COST
        return criteria.COST_TWO if two else general
    if criterion == "gini":
        return criteria.GINI_TWO if two else criteria.GINI
    return criteria.ENTROPY_TWO if two else criteria.ENTROPY


def _spread(coding: RankCoding, values: Array) -> Array:
    """Values of the rows of a coding, by row of its whole table.

    They can be written to: to compiled code an array that cannot is of another type.
    """
    if coding.rows is None:
        return np.require(values, requirements=["C", "W"])
    spread = np.zeros((coding.small.shape[1], *values.shape[1:]), values.dtype)
    spread[coding.rows] = values
    return spread


def _ordinary(numbers: Floats) -> tuple[Floats, float]:
    """Numbers whose products are far from overflow, and the power of two they were divided by."""
    largest = max(numbers.max(), -numbers.min())
    if largest == 0.0 or ORDINARY[0] < largest < ORDINARY[1]:
        return numbers, 1.0
    unit = float(power_of_two(np.array([largest]))[0])
    return numbers / unit, unit


def _weights(coding: RankCoding, weight: Floats) -> Floats | None:
    return None if (weight == 1.0).all() else _spread(coding, weight)
