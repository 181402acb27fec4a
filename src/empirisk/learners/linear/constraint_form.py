"""Penalty and constraint: two forms of one problem.

With a convex penalty P(b), the minimiser of  loss(b) + alpha P(b)  is that of  loss(b)  among all b
with P(b) <= t, for t = P of the minimiser; alpha is the multiplier of the constraint. As alpha
grows, t shrinks, so that each t between 0 and its value for least squares belongs to some alpha.

P is sum_j f_j |b_j| for the lasso, sum_j f_j (r |b_j| + (1 - r) b_j^2 / 2) for the elastic net with
l1_ratio r, and |b|^2 for ridge.
"""

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.optimize import brentq
from sklearn.base import clone

from empirisk.learners.linear.lasso_path import SparsePath
from empirisk.learners.linear.ridge import Ridge
from empirisk.runtime.arrays import Floats
from empirisk.runtime.errors import ParameterError
from empirisk.runtime.scalars import is_number
from empirisk.runtime.validation import check_fit

if TYPE_CHECKING:
    from empirisk.learners.linear.sparse_rule import SparseRule

NOTHING = 1e-10  # of a small penalty
EXACT = 1e-14  # of alpha: some roundings


def norm_for_penalty(
    learner: "SparseRule | Ridge", X: Any, y: Any, alpha: Any, sample_weight: Any = None
) -> Any:
    """P(b) at the minimiser for a penalty: the t of the constraint P(b) <= t.

    Parameters
    ----------
    learner : Lasso, ElasticNet or Ridge
        Its `alpha` is not used.
    X : array-like of shape (n, p)
    y : array-like of shape (n,)
    alpha : float or array-like
    sample_weight : array-like of shape (n,), optional

    Returns
    -------
    float or array

    Examples
    --------
    >>> from empirisk.learners.linear.lasso import Lasso
    >>> X, y = [[1.0], [2.0], [3.0], [4.0]], [1.0, 3.0, 2.0, 4.0]
    >>> t = norm_for_penalty(Lasso(), X, y, 0.5)
    >>> round(t, 12), round(penalty_for_norm(Lasso(), X, y, t), 12)
    (0.4, 0.5)
    """
    data = check_fit(clone(learner), X, y, sample_weight)  # a fitted one keeps its columns
    try:
        alphas = np.asarray(alpha, dtype=float)
    except (TypeError, ValueError):
        raise ParameterError(
            f"alpha is {alpha!r:.80}; give a number, or an array of them"
        ) from None
    norms = _norms(learner, data.X, data.y, data.sample_weight, alphas.ravel())
    return norms.reshape(alphas.shape) if alphas.ndim else float(norms[0])


def penalty_for_norm(
    learner: "SparseRule | Ridge", X: Any, y: Any, t: float, sample_weight: Any = None
) -> float:
    """The multiplier of the constraint P(b) <= t: the alpha whose minimiser has P(b) = t.

    It is 0 where least squares keeps the constraint anyway.

    Parameters
    ----------
    learner : Lasso, ElasticNet or Ridge
        Its `alpha` is not used.
    X : array-like of shape (n, p)
    y : array-like of shape (n,)
    t : float
        0 or more; for 0 it is the least alpha at which P(b) is 0, which ridge does not have.
    sample_weight : array-like of shape (n,), optional

    Returns
    -------
    float
    """
    comes_to_0 = not isinstance(learner, Ridge) and learner.l1_ratio > 0
    if not (is_number(t) and (t > 0 or (t == 0 and comes_to_0))):
        raise ParameterError(
            f"t is {t!r}; give a number > 0: only a penalty on absolute values comes down to 0"
        )
    data = check_fit(clone(learner), X, y, sample_weight)  # a fitted one keeps its columns
    rows = data.X, data.y, data.sample_weight
    if t == 0 and not isinstance(learner, Ridge):
        return learner._task(*rows).largest_alpha()
    grid = np.asarray(learner.axis_values(*rows, n_train=len(data.X)))
    norms = _norms(learner, *rows, grid)
    low = int(np.searchsorted(norms, t))  # the norms grow as the penalties shrink
    if low == len(grid):
        # At 0 itself a design of many columns has many minimisers; the limit has the least norm.
        least = NOTHING * float(grid[-1])
        if _norms(learner, *rows, np.array([least]))[0] <= t:
            return 0.0
        bracket = least, float(grid[-1])
    elif low == 0:  # only ridge is not yet at 0 at the largest penalty of its grid
        top = float(grid[0])
        while _norms(learner, *rows, np.array([top]))[0] > t:
            top *= 4
        bracket = top / 4 if top > grid[0] else float(grid[0]), top
    else:
        bracket = float(grid[low]), float(grid[low - 1])

    def surplus(alpha: float) -> float:
        return float(_norms(learner, *rows, np.array([alpha]))[0] - t)

    if surplus(bracket[1]) >= 0:  # t is met at the end of the bracket, to the last digit
        return bracket[1]
    return float(brentq(surplus, *bracket, xtol=EXACT * bracket[1], rtol=EXACT))


def _norms(
    learner: "SparseRule | Ridge", X: Floats, y: Floats, weight: Floats, alphas: Floats
) -> Floats:
    path = learner.fit_path(X, y, weight, [float(alpha) for alpha in alphas])
    return path.norm[:, 0] if isinstance(path, SparsePath) else (path.coef[:, 0] ** 2).sum(axis=1)
