"""A Cholesky factor that grows and shrinks by one column at a time, each in O(k^2).

`factor[:k, :k]` is upper triangular, U'U = G with G symmetric. Rows of U are walked along, never
columns, so that each inner loop runs over neighbours in memory.
"""

import numpy as np

from empirisk.compiled.decorator import compiled

PANEL = 64  # rows of the factor that are found together


@compiled(inner=True, makes_arrays=True)
def factorise(matrix, factor, least):
    """The factor of a whole matrix, which is spent; False if a column all but depends on others.

    In panels of rows, so that most of the work is products of matrices.
    """
    k = len(matrix)
    diagonal = np.empty(k)
    for i in range(k):
        diagonal[i] = matrix[i, i]
    for start in range(0, k, PANEL):
        end = min(start + PANEL, k)
        for i in range(start, end):
            if not matrix[i, i] > least * diagonal[i]:
                return False
            root = np.sqrt(matrix[i, i])
            for c in range(i, k):
                matrix[i, c] /= root
            for r in range(i + 1, end):
                for c in range(r, k):
                    matrix[r, c] -= matrix[i, r] * matrix[i, c]
        panel = matrix[start:end, end:].copy()
        product = np.dot(panel.T, panel)
        for r in range(end, k):
            for c in range(r, k):
                matrix[r, c] -= product[r - end, c - end]
    for i in range(k):
        for c in range(i, k):
            factor[i, c] = matrix[i, c]
    return True


@compiled(inner=True)
def append_column(factor, k, column, diagonal, least):
    """Add a column of G, `column[:k]` above `diagonal`; False if it all but depends on the others.

    All but: what is left of its squared length is at most `least` times it. `column` is spent.
    """
    left = diagonal
    for i in range(k):
        value = column[i] / factor[i, i]
        for c in range(i + 1, k):
            column[c] -= value * factor[i, c]
        factor[i, k] = value
        left -= value * value
    if not left > least * diagonal:
        return False
    factor[k, k] = np.sqrt(left)
    return True


@compiled(inner=True)
def delete_column(factor, k, i):
    """Take out the i-th of k columns and make what is left triangular again (Givens rotations)."""
    for r in range(k):
        for c in range(max(r - 1, i), k - 1):
            factor[r, c] = factor[r, c + 1]
    for r in range(i, k - 1):
        a, b = factor[r, r], factor[r + 1, r]
        length = np.hypot(a, b)
        cos, sin = a / length, b / length
        factor[r, r] = length
        for c in range(r + 1, k - 1):
            upper, lower = factor[r, c], factor[r + 1, c]
            factor[r, c] = cos * upper + sin * lower
            factor[r + 1, c] = cos * lower - sin * upper


@compiled(inner=True)
def solve_factored(factor, k, x):
    """Turn x[:k] into the solution of U'U x = what it held, in place."""
    solve_lower(factor, k, k, x)
    solve_upper(factor, k, x)


@compiled(inner=True)
def solve_lower(factor, k, new, x):
    """Turn x[:k] into the solution of U'x = what it held, in place; only the last `new` are not yet
    the solution."""
    known = k - new
    for i in range(k):
        if i >= known:
            x[i] /= factor[i, i]
        for c in range(max(i + 1, known), k):
            x[c] -= x[i] * factor[i, c]


@compiled(inner=True, makes_arrays=True)
def solve_upper(factor, k, x):
    """Turn x[:k] into the solution of U x = what it held, in place."""
    for i in range(k - 1, -1, -1):
        x[i] = (x[i] - np.dot(factor[i, i + 1 : k], x[i + 1 : k])) / factor[i, i]
