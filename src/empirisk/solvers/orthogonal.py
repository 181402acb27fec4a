"""The triangular factor of a tall design, block by block, and which columns depend on others.

Each block of rows is reduced to its triangular factor by Householder reflections, and the factors
are stacked and reduced again, in order (Demmel, Grigori, Hoemmen & Langou 2012, "TSQR"): nothing
but one small triangle is kept of the rows seen.
"""

from functools import partial, reduce

import numpy as np
from scipy.linalg import qr, solve_triangular

from empirisk.data.blocks import Blocks, Rows
from empirisk.runtime.arrays import Floats, Ints
from empirisk.solvers.normal_equations import DATA_NOISE
from empirisk.solvers.refinement import ROUNDING


def factor_noise(n: int) -> float:
    """What the factorisation leaves of a column that depends on others, relative to its parts.

    Measured: up to 7 rounding errors at a thousand rows, up to 30 at 200,000.
    """
    return (16 + np.sqrt(n) / 4) * ROUNDING


def triangular_factor(
    blocks: Blocks,
    centre: Floats,
    scale: Floats,
    *,
    intercept: bool,
    with_y: bool = False,
    n_jobs: int | None = None,
) -> Floats:
    """R with R'R = Z'WZ for Z = [1, (X - centre) / scale], or [1, (X - centre) / scale, y]."""
    reduce_rows = partial(_block_factor, centre, scale, intercept, with_y)
    R = reduce(_stack, blocks.each(reduce_rows, n_jobs=n_jobs))
    # Fewer rows than columns are filled up with zeros.
    return np.vstack([R, np.zeros((R.shape[1] - len(R), R.shape[1]))])


def _block_factor(
    centre: Floats, scale: Floats, intercept: bool, with_y: bool, rows: Rows
) -> Floats:
    n, p = rows.X.shape
    Z = np.empty((n, intercept + p + with_y * rows.y.shape[1]), order="F")
    Z[:, :intercept] = 1.0
    np.subtract(rows.X, centre, out=Z[:, intercept : intercept + p])
    Z[:, intercept : intercept + p] /= scale
    if with_y:
        Z[:, intercept + p :] = rows.y
    Z *= np.sqrt(rows.weight)[:, np.newaxis]
    return upper(Z)


def _stack(top: Floats, bottom: Floats) -> Floats:
    return upper(np.asfortranarray(np.vstack([top, bottom])))


def upper(Z: Floats) -> Floats:
    """The triangular factor of Z, which is overwritten."""
    return qr(Z, mode="raw", overwrite_a=True, check_finite=False)[1]


def independent_columns(R: Floats, raw: Floats, n: int) -> tuple[Ints, Floats]:
    """The columns that do not depend on those before them, and their own triangular factor.

    A column is dependent if its distance from the span of the columns kept so far is no more than
    rounding errors would leave. Those are in proportion to the parts that cancel: a column that
    is a sum of huge parts of opposite signs has a larger error than one that is a copy. So what is
    kept has a condition number below about 1e14, whatever the scales of the columns.

    Parameters
    ----------
    R : array of shape (q, q)
        Columns of about unit length.
    raw : array of shape (q,)
        Lengths of the columns before centring, in the same units.
    n : int
        Number of rows that R stands for.

    Returns
    -------
    columns : int array of shape (r,)
    R : array of shape (r, r)
    """
    noise = factor_noise(n) * np.linalg.norm(R, axis=0) + DATA_NOISE * raw
    Q, kept_R = np.zeros_like(R, order="F"), np.zeros_like(R, order="F")
    kept: list[int] = []
    for j in range(R.shape[1]):
        r = len(kept)
        basis = Q[:, :r]
        along = basis.T @ R[:, j]
        rest = R[:, j] - basis @ along
        again = basis.T @ rest  # a second time, for a basis orthogonal to working precision
        rest -= basis @ again
        along += again
        share = solve_triangular(kept_R[:r, :r], along, check_finite=False) if r else along
        distance = float(np.linalg.norm(rest))
        if distance > noise[j] + np.abs(share) @ noise[kept]:
            Q[:, r] = rest / distance
            kept_R[:r, r], kept_R[r, r] = along, distance
            kept.append(j)
    return np.array(kept, dtype=np.int64), kept_R[: len(kept), : len(kept)]
