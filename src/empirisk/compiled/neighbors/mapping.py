"""Rows through a matrix: each has the same bits, alone or among others."""

from empirisk.compiled.decorator import compiled


@compiled
def map_rows(rows, matrix, out):
    """out = rows @ matrix, terms added in the order of the columns."""
    for i in range(rows.shape[0]):
        for k in range(matrix.shape[1]):
            out[i, k] = 0.0
        for j in range(matrix.shape[0]):
            at = rows[i, j]
            for k in range(matrix.shape[1]):
                out[i, k] += at * matrix[j, k]
