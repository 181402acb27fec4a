"""Coordinate descent for a quadratic with an L1 penalty."""

import numpy as np

from empirisk.compiled.decorator import compiled


@compiled
def penalised_quadratic(hessian, start, penalty, step, slope, tol, sweeps):
    """Minimise g'd + d'Hd/2 + sum_j penalty_j |b_j + d_j| over d, cyclically, in place.

    `slope` is g + Hd and kept so. Ends when no coordinate of a sweep moves further than `tol` in
    the metric of the Hessian; returns the number of sweeps, or -1 if they did not suffice.
    """
    p = step.size
    for sweep in range(sweeps):
        furthest = 0.0
        for j in range(p):
            curvature = hessian[j, j]
            if curvature <= 0.0:
                continue
            old = start[j] + step[j]
            free = curvature * old - slope[j]
            new = np.sign(free) * max(abs(free) - penalty[j], 0.0) / curvature
            change = new - old
            if change != 0.0:
                step[j] = new - start[j]
                for k in range(p):
                    slope[k] += change * hessian[j, k]
                furthest = max(furthest, abs(change) * np.sqrt(curvature))
        if furthest <= tol:
            return sweep + 1
    return -1
