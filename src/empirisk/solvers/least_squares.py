"""Least squares, plain and with a ridge penalty, as exactly as floating-point data allow.

Minimise over b and the intercept, for each output,

    sum_i w_i (y_i - intercept - x_i'b)^2 + penalty |b|^2

Summarise, add, solve: the moments of the columns are summed over blocks of rows. Where their
scatter is well conditioned its Cholesky factor is the triangle that the refinement needs;
elsewhere the triangle comes from an orthogonal factorisation of the scaled columns. Either way the
coefficients are refined until no digit changes. Outputs may have a penalty each: they share the
moments, and those of one penalty its factor, or where penalties are many all of them one spectrum.
Columns that depend on others are found on the way, and of all minimisers the one of least norm |b|
is returned.
"""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial

import numpy as np
from scipy.linalg import qr, solve_triangular
from scipy.linalg.lapack import dtrcon

from empirisk.data.blocks import Blocks, Rows
from empirisk.data.scaling import Scales, ordinary_moments, scaled_penalty
from empirisk.runtime.arrays import Floats, Ints
from empirisk.runtime.parallel import one_blas_thread
from empirisk.solvers.dual import dual_least_squares
from empirisk.solvers.normal_equations import NormalEquations, cholesky_triangle
from empirisk.solvers.orthogonal import independent_columns, triangular_factor, upper
from empirisk.solvers.output_penalties import solve_penalties
from empirisk.solvers.refinement import ROUNDING, Triangle, refine

NONE = np.array([], dtype=np.int64)
NEGLIGIBLE = 1e-12  # share of a column that is rounding error
FEW = 4  # penalties for which a Cholesky factor each costs less than one spectrum


@dataclass(frozen=True)
class Solution:
    """Coefficients (outputs, p), intercepts (outputs,), and what was learned on the way.

    `rank` does not count the intercept, `degrees_of_freedom`, the trace of the hat matrix, does;
    where outputs have a penalty each, it is their mean, and `rank` is that at the least penalty.
    `dependent` maps each column that is a combination of others to those others (none: it is
    constant). `wide` is True if there are too few rows to determine the coefficients. `settled`
    is False if the refinement did not come to rest. `factor`, where it is known, is a triangle with
    the singular values of the (centred, weighted, penalised) design, or of few rows these.
    """

    coef: Floats
    intercept: Floats
    rank: int
    degrees_of_freedom: float
    rows: int
    dependent: dict[int, Ints] = field(default_factory=dict)
    wide: bool = False
    settled: bool = True
    factor: Floats | None = None


@dataclass(frozen=True)
class Setting:
    """What all steps need to know: the data in ordinary range, and how they were brought there."""

    blocks: Blocks
    equations: NormalEquations
    penalty: Floats
    scale: Floats
    rows: int
    n_jobs: int | None

    def among(self, kept: Ints, outputs: Ints = NONE) -> "Setting":
        """With the kept columns only, and others as further outputs."""
        return replace(
            self,
            blocks=self.blocks.map(partial(_among, kept, outputs)),
            equations=self.equations.among(kept, outputs),
            penalty=self.penalty[kept],
            scale=self.scale[kept],
        )

    def of_outputs(self, own: Ints, penalty: Floats) -> "Setting":
        """With some of the outputs only, at their penalty."""
        return replace(
            self,
            blocks=self.blocks.map(partial(of_outputs, own)),
            equations=self.equations.of_outputs(own),
            penalty=penalty,
        )


def least_squares(
    blocks: Blocks,
    *,
    penalty: float | Floats = 0.0,
    fit_intercept: bool = True,
    n_jobs: int | None = None,
) -> Solution:
    """The minimiser; y in the blocks has shape (rows, outputs), a penalty may be for each output.

    Examples
    --------
    >>> X, y = np.array([[1.0], [2.0], [3.0]]), np.array([[3.0], [5.0], [7.0]])
    >>> solution = least_squares(Blocks.of_arrays(X, y, np.ones(3)))
    >>> solution.coef, solution.intercept
    (array([[2.]]), array([1.]))
    """
    with one_blas_thread():
        p = blocks.n_columns
        few = blocks.all_rows(at_most=p + fit_intercept - 1)
        if few is not None:
            solved = dual_least_squares(few, penalty, fit_intercept)
            return Solution(*solved[:4], rows=len(few.X), wide=True, factor=solved[4])
        moments, blocks, scales = ordinary_moments(blocks, n_jobs=n_jobs)
        equations = NormalEquations.of(moments, p, fit_intercept)
        setting = Setting(blocks, equations, np.zeros(p), scales.X, moments.rows, n_jobs)

        def solve(own: Ints | None, penalty: float) -> Solution:
            penalties = scaled_penalty(penalty, scales.X, scales.weight)
            if own is None:
                return _tall(replace(setting, penalty=penalties))
            return _tall(setting.of_outputs(own, penalties))

        solution = _by_spectrum(setting, penalty, scales) or at_each_penalty(penalty, solve)
        coef, intercept = scales.raw(solution.coef, solution.intercept)
        factor = None if solution.factor is None else solution.factor * np.sqrt(scales.weight)
        return replace(solution, coef=coef, intercept=intercept, factor=factor)


def _by_spectrum(setting: Setting, penalty: float | Floats, scales: Scales) -> Solution | None:
    """Many penalties from one spectrum; None where they are few, or the columns have units."""
    if np.ndim(penalty) == 0 or len(np.unique(penalty)) <= FEW or np.ptp(scales.X) > 0:
        return None
    penalties = np.asarray(scaled_penalty(penalty, scales.X[0], scales.weight))
    found = solve_penalties(setting.blocks, setting.equations, penalties, n_jobs=setting.n_jobs)
    if found is None:
        return None
    coef, trace = found
    p, freedom = len(setting.penalty), trace + setting.equations.intercept
    return Solution(coef[:, :p], coef[:, p], p, freedom, setting.rows)


def at_each_penalty(
    penalty: float | Floats, solve: Callable[[Ints | None, float], Solution]
) -> Solution:
    """Solve for all outputs at one penalty, or for those that share one, penalty by penalty.

    `solve` takes the numbers of outputs, None for all of them, and their penalty.
    """
    if np.ndim(penalty) == 0:
        return solve(None, float(penalty))
    distinct, place = np.unique(penalty, return_inverse=True)
    if len(distinct) == 1:
        return solve(None, float(distinct[0]))
    groups = [np.flatnonzero(place == v) for v in range(len(distinct))]
    parts = [solve(own, float(value)) for own, value in zip(groups, distinct, strict=True)]
    order = np.argsort(np.concatenate(groups))
    freedom = [part.degrees_of_freedom * len(own) for part, own in zip(parts, groups, strict=True)]
    return replace(
        parts[0],
        coef=np.concatenate([part.coef for part in parts])[order],
        intercept=np.concatenate([part.intercept for part in parts])[order],
        degrees_of_freedom=sum(freedom) / len(place),
        settled=all(part.settled for part in parts),
    )


def of_outputs(own: Ints, rows: Rows) -> Rows:
    """The rows with some of their outputs only."""
    return rows._replace(y=np.ascontiguousarray(rows.y[:, own]))


def _tall(setting: Setting) -> Solution:
    """At least as many rows as coefficients. Constant columns get coefficient 0."""
    varying = setting.equations.varying()
    if varying.all():
        return _varying(setting)
    kept, constant = np.flatnonzero(varying), np.flatnonzero(~varying)
    solution = _varying(setting.among(kept)) if len(kept) else _level(setting)
    coef = np.zeros((len(solution.coef), len(varying)))
    coef[:, kept] = solution.coef
    dependent = {int(kept[j]): kept[parts] for j, parts in solution.dependent.items()}
    dependent |= {int(j): constant[:0] for j in constant}
    factor = np.zeros((len(varying), len(varying)))
    if solution.factor is not None:
        factor[: len(kept), kept] = solution.factor
    return replace(solution, coef=coef, dependent=dict(sorted(dependent.items())), factor=factor)


def _level(setting: Setting) -> Solution:
    """The intercept alone."""
    equations = setting.equations
    intercept = equations.level / equations.weight * equations.intercept
    return Solution(
        np.zeros((len(intercept), 0)), intercept, 0, float(equations.intercept), setting.rows
    )


def _varying(setting: Setting) -> Solution:
    """Normal equations if well conditioned, else orthogonal factorisation."""
    equations, penalty = setting.equations, setting.penalty
    triangle = cholesky_triangle(equations, penalty)
    if triangle is not None:
        solution = _refined(setting, triangle)
        if solution.settled:
            return replace(solution, factor=_unscaled(setting, triangle.R, triangle.scale))
    square = np.diagonal(equations.gram) + penalty
    scale = np.sqrt(np.where(square > 0, square, 1.0))
    R = _factor(setting, scale)
    factor = _unscaled(setting, R, scale)
    lengths = equations.lengths() / scale
    if equations.intercept:
        lengths = np.append(np.sqrt(equations.weight), lengths)
    columns, R = independent_columns(R, lengths, setting.rows)
    kept = columns[equations.intercept :] - equations.intercept
    rate = 10 * ROUNDING / max(dtrcon(R)[0], ROUNDING)
    triangle = Triangle(R, equations.centre[kept], scale[kept], equations.intercept, rate)
    solve = _refined if len(kept) == len(scale) else partial(_least_norm, kept=kept)
    return replace(solve(setting, triangle), factor=factor)


def _unscaled(setting: Setting, R: Floats, scale: Floats) -> Floats:
    """The triangle of the columns as they came, without the intercept."""
    first = int(setting.equations.intercept)
    return R[first:, first:] * (scale * setting.scale)


def _factor(setting: Setting, scale: Floats) -> Floats:
    """The triangular factor of the design with the penalty as further rows."""
    equations = setting.equations
    R = triangular_factor(
        setting.blocks,
        equations.centre,
        scale,
        intercept=equations.intercept,
        n_jobs=setting.n_jobs,
    )
    if not setting.penalty.any():
        return R
    rows = np.pad(np.diag(np.sqrt(setting.penalty) / scale), ((0, 0), (equations.intercept, 0)))
    return upper(np.asfortranarray(np.vstack([R, rows])))


def _refined_coef(setting: Setting, triangle: Triangle) -> tuple[Floats, bool]:
    equations = setting.equations
    coef = equations.solve(triangle)
    settled = refine(
        setting.blocks,
        coef,
        triangle,
        setting.penalty,
        equations.length_of_y,
        n_jobs=setting.n_jobs,
    )
    return coef.hi, settled


def _refined(setting: Setting, triangle: Triangle) -> Solution:
    penalty, p = setting.penalty, len(setting.penalty)
    coef, settled = _refined_coef(setting, triangle)
    shrunk = float(penalty @ triangle.inverse_diagonal()) if penalty.any() else 0.0
    return Solution(
        coef[:, :p],
        coef[:, p],
        rank=p,
        degrees_of_freedom=max(p - shrunk, 0.0) + triangle.intercept,
        rows=setting.rows,
        settled=settled,
    )


def _least_norm(setting: Setting, triangle: Triangle, kept: Ints) -> Solution:
    """Where columns depend on others: of all minimisers, that of least norm.

    Least squares on the kept columns K gives y = K b + ... and, for the dependent columns, D = K A.
    All (b - A c, c) predict alike; least squares for c makes |b - A c|^2 + |c|^2 least.
    """
    p = len(setting.penalty)
    dependent = np.setdiff1d(np.arange(p), kept)
    # The penalty, if any, was lost in rounding.
    part = replace(setting.among(kept, dependent), penalty=np.zeros(len(kept)))
    coef, settled = _refined_coef(part, triangle)
    outputs = len(setting.equations.length_of_y)
    b, level = coef[:outputs, :-1], coef[:outputs, -1]
    A, A_level = coef[outputs:, :-1], coef[outputs:, -1]
    length = np.sqrt(np.diagonal(setting.equations.gram))
    share = np.abs(A) * length[kept] / length[dependent, np.newaxis]
    A = np.where(share > NEGLIGIBLE, A, 0.0)
    c = _shared_out(b, A, setting.scale[kept], setting.scale[dependent])
    full = np.zeros((outputs, p))
    full[:, kept], full[:, dependent] = b - c @ A, c + 0.0  # no minus zeros
    return Solution(
        full,
        level - c @ A_level,
        rank=len(kept),
        degrees_of_freedom=float(len(kept) + setting.equations.intercept),
        rows=setting.rows,
        dependent={int(j): kept[a != 0] for j, a in zip(dependent, A, strict=True)},
        settled=settled,
    )


def _among(kept: Ints, dependent: Ints, rows: Rows) -> Rows:
    X = np.ascontiguousarray(rows.X[:, kept])
    return Rows(X, np.hstack([rows.y, rows.X[:, dependent]]), rows.weight)


def _shared_out(b: Floats, A: Floats, kept_scale: Floats, dependent_scale: Floats) -> Floats:
    """The coefficients c (outputs, dependent) of the solution of least norm in raw units."""
    smallest = min(kept_scale.min(initial=np.inf), dependent_scale.min())
    kept_unit, unit = smallest / kept_scale, np.maximum(smallest / dependent_scale, 1e-300)
    rows = np.vstack([(A * kept_unit).T, np.diag(unit)])
    right = np.vstack([(b * kept_unit).T, np.zeros((len(A), len(b)))])
    Q, R = qr(rows, mode="economic", check_finite=False)
    return solve_triangular(R, Q.T @ right, check_finite=False).T
