"""Sums from which a ridge model and its error follow, without a second look at the rows.

A row of the design is [1, z, r]: z the features and r the outputs, both about the node's means. The
sums of a set of rows are A = sum_i w_i v_i v_i' over its rows v_i, lower triangle only. Eliminating
1 and z from A, with alpha added to the diagonal of z, leaves the penalised error of the set's own
model on the diagonal of r.
"""

from empirisk.compiled.decorator import compiled
from empirisk.compiled.trees.ordering import LOW

DEPENDENT = 1e-12
"""A column of which so small a part is left by those before it depends on them: it gets 0."""


@compiled
def add_rows(design, weight, entries, begin, end, sums):
    """Add the rows of entries[begin:end], four at a time: each sum is read and written less."""
    d = design.shape[1]
    i = begin
    while i + 4 <= end:
        i0, i1 = entries[i] & LOW, entries[i + 1] & LOW
        i2, i3 = entries[i + 2] & LOW, entries[i + 3] & LOW
        w0, w1, w2, w3 = weight[i0], weight[i1], weight[i2], weight[i3]
        for a in range(d):
            x0, x1 = w0 * design[i0, a], w1 * design[i1, a]
            x2, x3 = w2 * design[i2, a], w3 * design[i3, a]
            for b in range(a + 1):
                sums[a, b] += (x0 * design[i0, b] + x1 * design[i1, b]) + (
                    x2 * design[i2, b] + x3 * design[i3, b]
                )
        i += 4
    while i < end:
        i0 = entries[i] & LOW
        for a in range(d):
            x0 = weight[i0] * design[i0, a]
            for b in range(a + 1):
                sums[a, b] += x0 * design[i0, b]
        i += 1


@compiled(inner=True)
def clear(matrix):
    """Set all to 0."""
    for a in range(matrix.shape[0]):
        for b in range(matrix.shape[1]):
            matrix[a, b] = 0.0


@compiled(inner=True)
def combine(sums, others, sign, result):
    """result = sums + sign others, lower triangles."""
    for a in range(sums.shape[0]):
        for b in range(a + 1):
            result[a, b] = sums[a, b] + sign * others[a, b]


@compiled(inner=True)
def eliminate(matrix, n_known, size, column):
    """Eliminate the first columns of a symmetric matrix, in place (L D L', no square roots).

    size
        Of each column, what its pivot is measured by: the pivot of a column that depends on those
        before it becomes 0, and the column changes nothing.
    """
    d = matrix.shape[0]
    for c in range(n_known):
        pivot = matrix[c, c]
        if not pivot > DEPENDENT * size[c]:
            matrix[c, c] = 0.0
            continue
        for a in range(c + 1, d):
            column[a] = matrix[a, c]
        for a in range(c + 1, d):
            factor = column[a] / pivot
            if factor != 0.0:
                for b in range(c + 1, a + 1):
                    matrix[a, b] -= factor * column[b]


@compiled(inner=True)
def substitute(matrix, n_known, right, solution):
    """Solve for a right-hand side with what `eliminate` left; 0 for dependent columns."""
    for c in range(n_known):
        total = right[c]
        for b in range(c):
            if matrix[b, b] > 0.0:
                total -= matrix[c, b] / matrix[b, b] * solution[b]
        solution[c] = total if matrix[c, c] > 0.0 else 0.0
    for c in range(n_known - 1, -1, -1):
        if matrix[c, c] > 0.0:
            total = solution[c]
            for a in range(c + 1, n_known):
                total -= matrix[a, c] * solution[a]
            solution[c] = total / matrix[c, c]


@compiled(inner=True)
def model_error(sums, size, coef, alpha, matrix, column):
    """The least of sum_i w_i |y_i - a - B z_i|^2 + alpha |B|^2 over a and B, from sums.

    The sums are those of r = y - coef z, for which B = coef + C: |coef + C|^2 adds -alpha coef to
    the products of z and r. Small residuals cost no digits so.
    """
    n_outputs, p = coef.shape
    combine(sums, sums, 0.0, matrix)
    for j in range(p):
        matrix[1 + j, 1 + j] += alpha
    for k in range(n_outputs):
        r = 1 + p + k
        for j in range(p):
            matrix[r, 1 + j] -= alpha * coef[k, j]
            matrix[r, r] += alpha * coef[k, j] * coef[k, j]
    eliminate(matrix, 1 + p, size, column)
    error = 0.0
    for k in range(n_outputs):
        error += max(matrix[1 + p + k, 1 + p + k], 0.0)
    return error


@compiled(inner=True)
def mean_error(sums, coef):
    """sum_i w_i |y_i - mean|^2, from sums of r = y - coef z."""
    n_outputs, p = coef.shape
    error = 0.0
    for k in range(n_outputs):
        r = 1 + p + k
        total, squares = sums[r, 0], sums[r, r]
        for j in range(p):
            total += coef[k, j] * sums[1 + j, 0]
            squares += 2.0 * coef[k, j] * sums[r, 1 + j]
            for i in range(p):
                high, low = max(i, j), min(i, j)
                squares += coef[k, i] * coef[k, j] * sums[1 + high, 1 + low]
        error += max(squares - total * total / sums[0, 0], 0.0)
    return error
