"""The lasso and the elastic net by coordinate descent on the residuals: no Gram matrix at all."""

import numpy as np

from empirisk.compiled.decorator import compiled


@compiled
def sweep_rows(columns, square, ridge, threshold, positive, only, coef, residual):
    """One cyclic pass over the coefficients, or only those that are not zero, in place.

    `columns` (p, n) holds the columns of the design as rows, `square` their squared lengths.
    Returns the largest change of the fit, |x_j| |move|.
    """
    largest = 0.0
    for j in range(coef.size):
        old, curvature = coef[j], square[j] + ridge[j]
        if curvature <= 0.0 or (only and old == 0.0):
            continue
        slope = np.dot(columns[j], residual) + square[j] * old
        new = 0.0
        if slope > threshold[j]:
            new = (slope - threshold[j]) / curvature
        elif slope < -threshold[j] and not positive:
            new = (slope + threshold[j]) / curvature
        if new != old:
            move = old - new
            for i in range(residual.size):
                residual[i] += columns[j, i] * move
            coef[j] = new
            largest = max(largest, abs(move) * np.sqrt(square[j]))
    return largest
