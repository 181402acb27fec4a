"""The model of a node: ridge regression on its rows about their means, and its predictions."""

import numpy as np

from empirisk.compiled.decorator import compiled
from empirisk.compiled.trees.linear_sums import add_rows, clear, combine, eliminate, substitute

LARGEST = 1e100  # standardised values beyond this are cut off, so that products stay finite


@compiled
def centre_rows(Z, Y, weights, rows, weight, centre, value, design):
    """Fill weight, the means `centre` and `value`, and the rows [1, z, y] about them.

    A missing value (NaN) stands at the mean of the others; so does all of a constant column.
    """
    m, p, n_outputs = rows.size, Z.shape[1], Y.shape[1]
    total = 0.0
    for i in range(m):
        weight[i] = weights[rows[i]]
        total += weight[i]
        design[i, 0] = 1.0
    for j in range(p):
        seen, product, low, high = 0.0, 0.0, np.inf, -np.inf
        for i in range(m):
            z = Z[rows[i], j]
            if z == z:
                seen += weight[i]
                product += weight[i] * z
                low, high = min(low, z), max(high, z)
        centre[j] = product / seen if low < high else (low if seen > 0.0 else 0.0)
        for i in range(m):
            z = Z[rows[i], j]
            design[i, 1 + j] = z - centre[j] if z == z else 0.0
    for k in range(n_outputs):
        product = 0.0
        for i in range(m):
            product += weight[i] * Y[rows[i], k]
        value[k] = product / total
        for i in range(m):
            design[i, 1 + p + k] = Y[rows[i], k] - value[k]
    return total


@compiled
def fit_node(design, weight, alpha, entries, coef, value, sums, matrix, column, vectors):
    """Ridge regression: minimise sum_i w_i |y_i - a - B z_i|^2 + alpha |B|^2.

    Fills coef = B, adds a to value, and leaves r = y - a - B z in the place of y. A second step on
    the residuals gives back the digits that the sums of squares lost. Returns the penalised error.
    """
    m = weight.size
    n_outputs, p = coef.shape
    size, right, solution = vectors[0], vectors[1], vectors[2]
    for i in range(m):
        entries[i] = np.uint64(i)
    clear(sums)
    add_rows(design, weight, entries, np.int64(0), m, sums)
    combine(sums, sums, 0.0, matrix)
    for j in range(p):
        matrix[1 + j, 1 + j] += alpha
    for c in range(1 + p):
        size[c] = sums[c, c] + (alpha if c > 0 else 0.0)
    eliminate(matrix, 1 + p, size, column)
    clear(coef)
    for _ in range(2):
        for k in range(n_outputs):
            r = 1 + p + k
            for c in range(1 + p):
                right[c] = -alpha * coef[k, c - 1] if c > 0 else 0.0
            for i in range(m):
                x = weight[i] * design[i, r]
                for c in range(1 + p):
                    right[c] += x * design[i, c]
            substitute(matrix, 1 + p, right, solution)
            value[k] += solution[0]
            for j in range(p):
                coef[k, j] += solution[1 + j]
            for i in range(m):
                fitted = 0.0
                for c in range(1 + p):
                    fitted += solution[c] * design[i, c]
                design[i, r] -= fitted
    return penalised_error(design, weight, alpha, coef)


@compiled(inner=True)
def penalised_error(design, weight, alpha, coef):
    """sum_i w_i |r_i|^2 + alpha |coef|^2."""
    n_outputs, p = coef.shape
    error = 0.0
    for k in range(n_outputs):
        for i in range(weight.size):
            error += weight[i] * design[i, 1 + p + k] * design[i, 1 + p + k]
        for j in range(p):
            error += alpha * coef[k, j] * coef[k, j]
    return error


@compiled
def subtract_model(design, coef, shift):
    """Put r = y - shift - coef z in the place of y."""
    n_outputs, p = coef.shape
    for k in range(n_outputs):
        for i in range(design.shape[0]):
            fitted = shift[k]
            for j in range(p):
                fitted += coef[k, j] * design[i, 1 + j]
            design[i, 1 + p + k] -= fitted


@compiled
def model_values(Z, leaves, centre, coef, offset, values):
    """values[i, v] = offset + coef (z_i - centre) of the model leaves[i, v].

    A missing value stands at the centre. Neighbouring v often have one leaf: it is computed once.
    """
    n, n_values = leaves.shape
    n_outputs, p = coef.shape[1], coef.shape[2]
    for i in range(n):
        for v in range(n_values):
            leaf = leaves[i, v]
            if v > 0 and leaf == leaves[i, v - 1]:
                for k in range(n_outputs):
                    values[i, v, k] = values[i, v - 1, k]
                continue
            for k in range(n_outputs):
                total = 0.0
                for j in range(p):
                    z = Z[i, j] - centre[leaf, j]
                    if z == z:
                        total += coef[leaf, k, j] * min(max(z, -LARGEST), LARGEST)
                values[i, v, k] = offset[leaf, k] + total
