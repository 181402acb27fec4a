"""Coordinate descent on a quadratic function plus an L1 penalty."""

from empirisk.compiled.decorator import compiled


@compiled
def l1_sweeps(curvature, slope, origin, b, strength, penalised, sweeps, tol):
    """Minimise slope'd + d'Hd / 2 + strength sum_{j < penalised} |b_j|, d = b - origin, in place.

    `b` begins where `origin` is. Sweeps over all coordinates and over those that are not zero take
    turns, until one over all moves none by more than `tol` times the largest. Returns whether it
    came to that.
    """
    p = b.size
    gradient = slope.copy()  # of the quadratic part, at b
    whole = True
    for _ in range(sweeps):
        largest_move, largest = 0.0, 0.0
        for j in range(p):
            if not whole and j < penalised and b[j] == 0.0:
                continue
            h = curvature[j, j]
            if h <= 0.0:
                continue
            z = h * b[j] - gradient[j]
            if j >= penalised:
                new = z / h
            elif z > strength:
                new = (z - strength) / h
            elif z < -strength:
                new = (z + strength) / h
            else:
                new = 0.0
            move = new - b[j]
            if move != 0.0:
                b[j] = new
                for k in range(p):
                    gradient[k] += move * curvature[j, k]
                largest_move = max(largest_move, abs(move))
            largest = max(largest, abs(new))
        if largest_move <= tol * largest:
            if whole:
                return True
            whole = True
        else:
            whole = False
    return False
