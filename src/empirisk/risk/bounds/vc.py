"""Bounds for a model on its own training rows, from how many labellings its class can make.

If the class makes at most G(n) different labellings of n rows, then with probability 1 - delta, for
all models h of the class at once,

    R(h) <= training error + sqrt(2 log G(n) / n) + sqrt(log(1/delta) / 2n)

(Mohri, Rostamizadeh and Talwalkar 2018, Corollary 3.9: symmetrisation, Massart's lemma, and
McDiarmid's inequality). Unequal weights w_i make n (sum w)^2 / sum w^2 in both terms.

Growth functions, as logarithms:
    linear    2 sum_{i <= p} C(n-1, i), exact for half-spaces (Cover 1965; VC dimension p + 1)
    Sauer     sum_{i <= d} C(n, i), any class of VC dimension d
    trees     K^J prod_{j < J} (1 + p (n - j)): partitions of n rows by p features, and labels
"""

from math import log, sqrt
from typing import Any

import numpy as np
from scipy.special import gammaln, logsumexp

from empirisk.data.table import Table
from empirisk.losses import ZeroOne
from empirisk.risk.bounds.bounded import Bound, Sides, bounded, error_probability, one_sided
from empirisk.risk.bounds.linear_columns import Parts
from empirisk.risk.estimate import RiskEstimate
from empirisk.risk.foreign import foreign_prediction
from empirisk.risk.penalties.training_error import TrainingFit
from empirisk.risk.problem import Problem
from empirisk.runtime.errors import ParameterError
from empirisk.runtime.scalars import check_whole, is_whole


def linear_growth(n: int, p: int, n_classes: int = 2) -> float:
    """log of the labellings of n points in p dimensions by linear rules with an intercept.

    For K classes each pair has its half-space, so that the number is at most the K(K-1)/2-th power.

    Examples
    --------
    >>> round(float(np.exp(linear_growth(3, 2)))), round(float(np.exp(linear_growth(4, 2))))
    (8, 14)
    """
    check_whole(p, "p", 0)
    _check_counts(n=n, n_classes=n_classes)
    half_spaces = log(2) + _log_sum_of_binomials(n - 1, p)
    return min(n_classes * (n_classes - 1) / 2 * half_spaces, n * log(n_classes))


def sauer_growth(n: int, dimension: int) -> float:
    """log of the largest number of labellings in two classes at this VC dimension (Sauer 1972).

    Examples
    --------
    >>> round(float(np.exp(sauer_growth(3, 2)))), round(float(np.exp(sauer_growth(2, 2))))
    (7, 4)
    """
    check_whole(n, "n", 1)
    check_whole(dimension, "dimension", 0)
    return _log_sum_of_binomials(n, dimension)


def tree_growth(n: int, p: int, leaves: int, n_classes: int = 2) -> float:
    """log of a bound of the labellings of n rows by trees of so many leaves on p numbers.

    j leaves with rows n_1 .. n_j can be split in p (n_1 - 1 + .. + n_j - 1) = p (n - j) ways, or
    stay as they are.

    Examples
    --------
    >>> round(float(np.exp(tree_growth(20, 1, 1))))  # one leaf: all of one class or of the other
    2
    >>> bool(tree_growth(20, 5, 3) > tree_growth(20, 1, 3))
    True
    """
    _check_counts(n=n, p=p, leaves=leaves, n_classes=n_classes)
    splits = sum(log(1 + p * max(n - j, 0)) for j in range(1, leaves))
    return min(leaves * log(n_classes) + splits, n * log(n_classes))


def vc(
    model: Any,
    X: Any,
    y: Any,
    *,
    dimension: int | None = None,
    level: float = 0.95,
    sides: Sides = "upper",
    sample_weight: Any = None,
) -> Bound:
    """A bound of the error rate of a classifier from its training rows alone.

    It holds for every model of the class at once, so that no test rows are needed, and is loose.

    Parameters
    ----------
    model : fitted classifier
        A linear rule (it has `coef_`) or a tree (`get_n_leaves`), or any with `dimension` given.
        A linear rule may stand behind scalers, PCA and selections of columns, and those behind
        PolynomialFeatures: it is linear in the columns that the former take.
    X, y : the rows it was fitted to, independent draws
    dimension : int, optional
        VC dimension of a class of two-class rules that was fixed beforehand, by Sauer's lemma.
    level, sides
        As in `hoeffding`.
    sample_weight : array, optional

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.linear_model import LogisticRegression
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(2000, 2))
    >>> y = X[:, 0] > 0
    >>> print(vc(LogisticRegression().fit(X, y), X, y))
    The zero_one risk of this model is at most 0.1... with probability 95 % (VC bound: ...); it is
    0... on the training rows.
    """
    problem = Problem.of(
        model,
        X,
        y,
        loss=ZeroOne(),
        sample_weight=sample_weight,
        classes=getattr(model, "classes_", None),
    )
    training = training_mistakes(model, problem)
    log_growth, delta_share, family = _growth(model, problem, dimension)
    delta = error_probability(level, sides) * delta_share
    spread = float(np.square(problem.weight / problem.weight.sum()).sum())
    half = sqrt(2 * log_growth * spread) + sqrt(log(1 / delta) * spread / 2)
    ends = (max(training.value - half, 0.0), min(training.value + half, 1.0))
    reason = (
        f"at once for all {family}, if the rows are independent: growth function, Massart's lemma "
        "and McDiarmid's inequality"
    )
    assert training.table is not None
    return bounded(
        training, training.table, one_sided(ends, (0.0, 1.0), sides),
        level=level, sides=sides, method="VC bound", reason=reason,
    )  # fmt: skip


def training_mistakes(model: Any, problem: Problem) -> RiskEstimate:
    """The training error of a fitted classifier."""
    prediction = foreign_prediction(model, problem.X, problem, "value")
    losses = problem.row_losses(prediction)
    return TrainingFit(problem, prediction, losses).training()


def _growth(model: Any, problem: Problem, dimension: int | None) -> tuple[float, float, str]:
    """log G(n), the share of delta that is left for it, and the class in words."""
    n, K = problem.n, problem.n_classes
    if dimension is not None:
        if not is_whole(dimension, 1) or K > 2:
            raise ParameterError(
                f"dimension is {dimension!r} with {K} classes; the VC dimension is 1 or more, of a "
                "class of two-class rules"
            )
        return sauer_growth(n, dimension), 1.0, f"rules of a class of VC dimension {dimension}"
    if hasattr(model, "get_n_leaves"):
        J, p = int(model.get_n_leaves()), int(model.n_features_in_)
        _refuse_other_splits(model, problem)
        # The data choose the number of leaves: each J gets 1/(J (J+1)) of delta.
        return tree_growth(n, p, J, K), 1 / (J * (J + 1)), f"trees of {J} leaves on {p} numbers"
    parts = Parts.of(model)
    if hasattr(parts.learner, "coef_"):
        p = parts.n_columns
        return linear_growth(n, p, K), 1.0, f"linear rules of {p} columns with an intercept"
    name = type(parts.learner).__name__
    if hasattr(parts.learner, "get_n_leaves"):
        raise ParameterError(
            f"{name} stands behind steps of a pipeline; the number of trees is known for the "
            "columns that it is given: fit the tree to X itself, which needs no scaling"
        )
    raise ParameterError(
        f"{name} is neither a linear rule nor a tree: give dimension=, its VC dimension"
    )


def _refuse_other_splits(model: Any, problem: Problem) -> None:
    """Levels can be parted in more ways than numbers by a threshold, and so can missing values."""
    by_levels = bool((getattr(model.tree_, "subset", np.array([-1])) >= 0).any())
    if by_levels or any(column.missing.any() for column in Table.of(problem.X).columns):
        raise ParameterError(
            "the number of trees is known for splits of numbers by a threshold, and this one parts "
            "categories or has missing values: give dimension=, its VC dimension"
        )


def _check_counts(**counts: Any) -> None:
    for name, value in counts.items():
        check_whole(value, name, 1)


def _log_sum_of_binomials(n: int, most: int) -> float:
    """log sum_{i <= most} C(n, i)."""
    i = np.arange(min(most, n) + 1)
    return float(logsumexp(gammaln(n + 1) - gammaln(i + 1) - gammaln(n - i + 1)))
