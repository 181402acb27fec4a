"""Least squares and ridge with coefficients that must not be negative.

Minimise over b >= 0 and the intercept, for each output,

    sum_i w_i (y_i - intercept - x_i'b)^2 + penalty |b|^2

The solver of the lasso finds which coefficients are zero, from sums over the rows; where rows are
few and there is a penalty, the dual problem tells, and where columns all but depend on one another,
the triangular factor of the rows. Given these, the others solve an ordinary least-squares problem,
and its degrees of freedom are those of the fit (Meyer & Woodroofe 2000, On the degrees of freedom
in shape-restricted regression).
"""

from functools import partial
from typing import Any, NamedTuple, NoReturn
from warnings import warn

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from empirisk.data.blocks import Blocks, Rows
from empirisk.data.scaling import Scales, ordinary_moments, ordinary_rows, power_of_two
from empirisk.learners.linear.lasso_problem import Columns, Sums
from empirisk.learners.linear.nonnegative_triangle import Triangle, sums_tell
from empirisk.risk.axis import CannotSubtractError
from empirisk.runtime.arrays import Floats, Ints
from empirisk.runtime.deadlines import check_deadline
from empirisk.runtime.errors import ConvergenceWarning
from empirisk.runtime.parallel import one_blas_thread, slices
from empirisk.solvers.active_set import settle
from empirisk.solvers.lasso import NUMBERS_AT_ONCE, GramProblem, Solutions, Stopping
from empirisk.solvers.least_squares import Solution, at_each_penalty, least_squares, of_outputs
from empirisk.solvers.nonnegative_ridge import nonnegative_ridge

STOPPING = Stopping(tol=1e-12, max_iter=1000)
LARGEST_RIDGE = 1e100  # on columns of length 1: stands for infinity, but its inverse has a square
SLACK = 1e-13  # rounding error of a correlation
FEW_COLUMNS = 64  # of many, with which the search begins


class NonnegativePath(NamedTuple):
    """Coefficients (penalties, outputs, p), intercepts (penalties, outputs), degrees of freedom."""

    coef: Floats
    intercept: Floats
    degrees_of_freedom: Floats
    rows: int


def nonnegative_least_squares(
    blocks: Blocks,
    *,
    penalty: float | Floats = 0.0,
    fit_intercept: bool = True,
    n_jobs: int | None = None,
) -> Solution:
    """The minimiser, with as many correct digits as least squares has without the constraint.

    The penalty is one number, or one for each output.

    Examples
    --------
    >>> X, y = np.array([[1.0, 1], [2, 0], [3, 1]]), np.array([[2.0], [5], [6]])
    >>> found = nonnegative_least_squares(Blocks.of_arrays(X, y, np.ones(3)))
    >>> found.coef, found.intercept.round(12), found.degrees_of_freedom
    (array([[2., 0.]]), array([0.33333333]), 2.0)
    """
    settings: Any = {"fit_intercept": fit_intercept, "n_jobs": n_jobs}

    def solve(own: Ints | None, penalty: float) -> Solution:
        part = blocks if own is None else blocks.map(partial(of_outputs, own))
        return _at_one_penalty(part, penalty, settings)

    return at_each_penalty(penalty, solve)


def _at_one_penalty(blocks: Blocks, penalty: float, settings: Any) -> Solution:
    path = nonnegative_path(blocks, np.array([penalty]), **settings)
    coef, intercept = path.coef[0], path.intercept[0]
    for k, positive in enumerate(coef > 0):
        if positive.any():
            used = np.flatnonzero(positive)
            part = least_squares(blocks.map(partial(_among, used, k)), penalty=penalty, **settings)
            # Columns that all but depend on one another may turn negative: then sums must do.
            if part.settled and (part.coef >= 0).all():
                coef[k, used], intercept[k] = part.coef[0], part.intercept[0]
    rank = int((coef > 0).sum(axis=1).max())
    return Solution(coef, intercept, rank, float(path.degrees_of_freedom[0]), path.rows)


def nonnegative_path(
    blocks: Blocks, penalties: Floats, *, fit_intercept: bool, n_jobs: int | None = None
) -> NonnegativePath:
    """The minimisers at all penalties; y has shape (rows, outputs)."""
    p = blocks.n_columns
    with one_blas_thread():
        few = blocks.all_rows(at_most=p)
        if few is not None:
            return _from_few_rows(few, penalties, bool(fit_intercept))
        moments, scaled, scales = ordinary_moments(blocks, n_jobs=n_jobs)
        sums = Sums.of(moments, p, bool(fit_intercept))
        alphas = _alphas(penalties, scales.weight, moments.weight)
        triangle = Triangle(scaled, sums, moments.weight, bool(fit_intercept))
        coef, trace = _from_sums(sums, scales.X, alphas, triangle)
        return _path(sums, scales, coef, trace, fit_intercept, moments.rows)


def refuse_to_subtract() -> NoReturn:
    """What a plan-wide rung says."""
    raise CannotSubtractError(
        "coefficients must not be negative, and which of them are zero each fold finds for itself"
    )


def _path(
    data: Sums | Columns, scales: Scales, coef: Floats, trace: Floats, intercept: bool, rows: int
) -> NonnegativePath:
    raw = scales.raw(coef, data.level - coef @ data.centre)
    return NonnegativePath(*raw, trace.mean(axis=1) + bool(intercept), rows)


def _from_sums(
    sums: Sums, scale: Floats, alphas: Floats, triangle: Triangle | None = None
) -> tuple[Floats, Floats]:
    """Coefficients (alphas, outputs, p) and traces of hat matrices (alphas, outputs).

    `scale` is what the columns were divided by: the penalty is on their coefficients before that.
    Columns are brought to about length 1, so that no product of two numbers vanishes. Where the
    sums do not tell, the triangle does.
    """
    unit = power_of_two(np.sqrt(np.diagonal(sums.gram)))
    gram = sums.gram / unit / unit[:, np.newaxis]
    with np.errstate(over="ignore", under="ignore"):
        ridges = np.minimum(alphas[:, np.newaxis] / (scale * unit) / (scale * unit), LARGEST_RIDGE)
    coef = np.empty((len(alphas), *sums.right.shape))
    trace = np.empty(coef.shape[:2])
    for k, (right, square) in enumerate(zip(sums.right, sums.square, strict=True)):
        size = float(power_of_two(np.sqrt(square)))
        problem = GramProblem(gram, right / unit / size, float(square) / size / size)
        found = _solutions(problem, ridges)
        for v, ridge in enumerate(ridges):
            # The solver stops where the objective has no more to gain than rounding errors; columns
            # that nearly depend on others may have a way to go there.
            found[v], settled = settle(gram + np.diag(ridge), problem.right, found[v])
            if triangle is not None and not sums_tell(gram, ridge):
                exact = triangle.minimum(unit, k, size, ridge)
                found[v], settled = (found[v], False) if exact is None else (exact, True)
            trace[v, k] = _trace(gram, ridge, found[v])
            if not settled:
                _warn()
        coef[:, k] = found / unit * size
    return coef, trace


def _warn() -> None:
    warn(
        "columns of X are so close to dependent that which coefficients are zero could not be "
        "told for certain: drop a column, or use Ridge with a larger alpha",
        ConvergenceWarning,
        stacklevel=7,
    )


def _solutions(problem: GramProblem, ridges: Floats) -> Floats:
    """From large to small ridges, each from the last one."""
    found, order = Solutions.none_yet(*ridges.shape), np.argsort(-ridges.max(axis=1), kind="stable")
    for some in slices(len(order), max(1, NUMBERS_AT_ONCE // ridges.shape[1] ** 2)):
        check_deadline()
        several = ridges[order[some]]
        solved = problem.solve_all(np.zeros_like(several), several, True, STOPPING)
        for part, new in zip(found, solved, strict=True):
            part[order[some]] = new
    return found.coef


def _trace(gram: Floats, ridge: Floats, coef: Floats) -> float:
    """That of (G + D)^-1 G for the columns in use, D the diagonal of their ridges."""
    used = np.flatnonzero(coef)
    if not ridge[used].any():
        return float(len(used))
    G = gram[np.ix_(used, used)]
    try:
        factor = cho_factor(G + np.diag(ridge[used]), check_finite=False)
    except LinAlgError:  # the ridge is lost in rounding
        return float(np.linalg.matrix_rank(G, hermitian=True))
    return float(np.trace(cho_solve(factor, G, check_finite=False)))


def _from_few_rows(given: Rows, penalties: Floats, intercept: bool) -> NonnegativePath:
    """No more rows than columns: through the rows where there is a penalty, else by few columns."""
    rows, scales = ordinary_rows(given, each=True)
    columns = Columns.of(rows, intercept)
    alphas = _alphas(penalties, scales.weight, float(rows.weight.sum()))
    coef = np.empty((len(alphas), len(columns.y), len(columns.columns)))
    trace, exact = np.empty(coef.shape[:2]), np.zeros(coef.shape[:2], dtype=bool)
    if scales.are_ones:
        for k, y in enumerate(columns.y):
            coef[:, k], trace[:, k], exact[:, k] = nonnegative_ridge(columns.columns, y, alphas)
    left = ~exact.all(axis=1)
    if left.any():
        coef[left], trace[left] = _by_few_columns(columns, scales.X, alphas[left])
    return _path(columns, scales, coef, trace, intercept, len(rows.X))


def _by_few_columns(columns: Columns, scale: Floats, alphas: Floats) -> tuple[Floats, Floats]:
    """By the columns that turn out to be needed: the products of all might fill the memory.

    Columns come in, those first along which the loss falls most, until it falls along none.
    """
    used, found = np.empty(0, dtype=np.int64), np.zeros((len(alphas), len(columns.y), 0))
    while True:
        check_deadline()
        slope = _steepest(columns, used, found)
        if len(used) and slope.max() <= SLACK:
            break
        used = np.union1d(used, np.argsort(-slope, kind="stable")[: FEW_COLUMNS + len(used) // 2])
        found, trace = _from_sums(_products(columns, used), scale[used], alphas)
    coef = np.zeros((*found.shape[:2], len(columns.columns)))
    coef[:, :, used] = found
    return coef, trace


def _products(columns: Columns, used: Ints) -> Sums:
    X, y = columns.columns[used], columns.y
    return Sums(X @ X.T, y @ X.T, (y**2).sum(axis=1), columns.centre[used], columns.level)


def _steepest(columns: Columns, used: Ints, coef: Floats) -> Floats:
    """The largest correlation of each column with residuals, of all penalties and outputs.

    -1 for the columns that are used.
    """
    X, largest = columns.columns, np.full(len(columns.columns), -1.0)
    length = np.sqrt(np.einsum("ji,ji->j", X, X))
    length[length == 0] = 1.0
    for k, y in enumerate(columns.y):
        residual = y - coef[:, k] @ X[used]
        slope = (residual @ X.T).max(axis=0) / length
        largest = np.maximum(largest, slope / (np.sqrt(y @ y) or 1.0))
    largest[used] = -1.0
    return largest


def _alphas(penalties: Floats, *weights: float) -> Floats:
    """Penalties for the mean over the rows; 0 or a number beyond all others where they are too.

    The weight is given as factors, since their product may be beyond the range of numbers.
    """
    with np.errstate(over="ignore", under="ignore"):
        for weight in weights:
            penalties = penalties / weight
    return np.minimum(penalties, np.finfo(float).max)


def _among(used: Ints, output: int, rows: Rows) -> Rows:
    X, y = rows.X[:, used], rows.y[:, output : output + 1]
    return Rows(np.ascontiguousarray(X), np.ascontiguousarray(y), rows.weight)
