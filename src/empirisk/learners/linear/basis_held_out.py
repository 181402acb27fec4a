"""Held-out predictions of least squares on nested basis functions: all degrees, a whole plan.

The functions of all rows are orthogonalised once, Q'Q = I. The matrix of the normal equations of a
training part is then I - Q_f'Q_f, f its fold, as well conditioned as can be, and its Cholesky
factor serves all degrees at once. Leave-one-out takes no factor: the leverage of a row at the first
m functions is the sum of its first m squares in Q, and

    y_i - prediction without row i = r_i / (1 - h_i)
"""

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np
from scipy.linalg import LinAlgError, cholesky, solve_triangular
from scipy.linalg.lapack import dpocon

from empirisk.data.blocks import Rows
from empirisk.learners.linear.basis_path import BasisLearner, BasisPath, rules_of
from empirisk.learners.linear.linear_rule import as_columns
from empirisk.learners.linear.nested_columns import Factors, beginnings, factorise
from empirisk.risk.axis import Block, CannotSubtractError, HeldOut, refuse_no_partition
from empirisk.risk.plans.plan import Plan
from empirisk.runtime.arrays import Array, Floats, Ints
from empirisk.runtime.column_names import column_names
from empirisk.runtime.deadlines import check_deadline
from empirisk.runtime.parallel import one_blas_thread, slices

CONDITION_LIMIT = 1e6
"""Of I - Q_f'Q_f; predictions then have 10 correct digits."""
LEAST_GAP = 1e-4
"""Of 1 - leverage, to have 11 correct digits."""

Part = tuple[int, Ints, Callable[[Ints], Floats]]


def held_out(
    learner: BasisLearner,
    X: Floats,
    y: Array,
    sample_weight: Floats,
    plan: Plan,
    degrees: Sequence[int],
    values: Sequence[Any],
    *,
    rows_per_block: int,
) -> HeldOut:
    """Predictions (rows, values[, outputs]) of held-out rows, or `CannotSubtractError` at once."""
    expansion = learner.expansion(max(degrees))
    if not expansion.is_nested:
        raise CannotSubtractError("each training part has knots at its own quantiles")
    if expansion.depends_on_range or (expansion.is_polynomial and not learner.fit_intercept):
        raise CannotSubtractError("the functions depend on the range of each training part")
    refuse_no_partition(plan)
    expansion.learn(X, sample_weight)
    names = column_names(X)
    if names is not None:
        expansion.feature_names_in_ = np.array(names, dtype=object)
    ends = np.array([expansion.size_at(degree) for degree in degrees])
    intercept = bool(learner.fit_intercept)
    with one_blas_thread():
        rows = Rows(expansion.expand(X), as_columns(y), sample_weight)
        factors = factorise(rows, intercept)
        if factors is None:
            raise CannotSubtractError("functions depend on others, or almost, on these rows")
        root = np.sqrt(sample_weight / factors.weight)
        if plan.n_splits == plan.n * plan.repeats:
            predict = _leave_one_out(factors, rows, root, ends + intercept)
            parts = [(repeat, np.arange(plan.n), predict) for repeat in range(plan.repeats)]
        else:
            parts = _folds(factors, rows, root, ends + intercept, plan)
    places = [(0, k) for k in range(len(ends))]
    path = BasisPath(learner, values, [rules_of(factors, expansion, ends)], places, y.ndim == 1)
    return HeldOut(_blocks(parts, y.ndim == 1, rows_per_block), path)


def _blocks(parts: list[Part], flat: bool, rows_per_block: int) -> Iterator[Block]:
    for repeat, rows, predict in parts:
        for block in slices(len(rows), rows_per_block):
            check_deadline()
            with one_blas_thread():
                prediction = predict(rows[block])
            yield repeat, rows[block], prediction[:, :, 0] if flat else prediction


def _leave_one_out(
    factors: Factors, rows: Rows, root: Floats, ends: Ints
) -> Callable[[Ints], Floats]:
    smallest = float(1.0 - np.einsum("ij,ij->i", factors.Q, factors.Q).max())
    if not smallest >= LEAST_GAP:
        raise CannotSubtractError(
            f"1 - leverage is {max(smallest, 0.0):.1e} for one row: it all but determines its own "
            "fit, and its leave-one-out prediction would lose digits"
        )
    starts = np.concatenate([[0], np.sort(ends)[:-1]])
    order = np.argsort(ends, kind="stable")

    def predict(some: Ints) -> Floats:
        """From sums over the functions that each value has and the one before has not."""
        Q, own = factors.Q[some], root[some, np.newaxis]
        leverage = np.empty((len(some), len(ends)))
        fitted = np.empty((len(some), len(ends), rows.y.shape[1]))
        h, fit = np.zeros(len(some)), np.zeros((len(some), rows.y.shape[1]))
        for k, start in zip(order, starts, strict=True):
            columns = slice(start, ends[k])
            h = h + np.einsum("ij,ij->i", Q[:, columns], Q[:, columns])
            fit = fit + Q[:, columns] @ factors.along[columns]
            leverage[:, k], fitted[:, k] = h, fit
        y = rows.y[some, np.newaxis]
        residual = y - fitted / own[:, :, np.newaxis]
        return y - residual / (1.0 - leverage)[:, :, np.newaxis]

    return predict


def _folds(factors: Factors, rows: Rows, root: Floats, ends: Ints, plan: Plan) -> list[Part]:
    parts: list[Part] = []
    for s in range(plan.n_splits):
        check_deadline()
        test = plan.test(s)
        Q, y = factors.Q[test], rows.y[test] * root[test, np.newaxis]
        R = _training_factor(np.eye(Q.shape[1]) - Q.T @ Q)
        along = solve_triangular(R, factors.along - Q.T @ y, trans="T", check_finite=False)
        coef = beginnings(R, along, ends)
        parts.append((plan.repeat(s), test, partial(_predict, factors.Q, root, coef)))
    return parts


def _training_factor(gram: Floats) -> Floats:
    """R with R'R = gram, or a refusal."""
    try:
        R = cholesky(gram, check_finite=False)
        reciprocal = float(dpocon(R, np.abs(gram).sum(axis=0).max())[0])
    except LinAlgError:
        reciprocal = 0.0
    if reciprocal * CONDITION_LIMIT >= 1.0:
        return R
    raise CannotSubtractError(
        f"without one fold the functions are close to dependent (condition number "
        f"{1 / max(reciprocal, 1e-16):.1e}): it would cost digits to subtract it"
    )


def _predict(Q: Floats, root: Floats, coef: Floats, some: Ints) -> Floats:
    values, outputs, q = coef.shape
    prediction = Q[some] @ coef.reshape(-1, q).T
    prediction /= root[some, np.newaxis]
    return prediction.reshape(len(some), values, outputs)
