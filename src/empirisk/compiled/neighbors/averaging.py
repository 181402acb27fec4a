"""What the k nearest rows say, for many k from one list of neighbours.

Neighbours come nearest first. A row of weight w stands for w copies, of which those count that are
needed to make k; `share` is what each copy counts for, 1 or less with the distance. Values of k
come in increasing order; beyond the last neighbour all rows count.
"""

import numpy as np

from empirisk.compiled.decorator import compiled


@compiled
def average_targets(rows, share, weight, y, ks, out):
    """out[q, v] = the mean of y over the ks[v] nearest copies."""
    for q in range(rows.shape[0]):
        copies, mass, total, v = 0.0, 0.0, 0.0, 0
        for a in range(rows.shape[1]):
            i = rows[q, a]
            if i < 0 or v == ks.size:
                break
            while v < ks.size and copies + weight[i] >= ks[v]:
                part = (ks[v] - copies) * share[q, a]
                out[q, v] = (total + part * y[i]) / (mass + part)
                v += 1
            copies += weight[i]
            mass += weight[i] * share[q, a]
            total += weight[i] * share[q, a] * y[i]
        while v < ks.size:
            out[q, v] = total / mass
            v += 1


@compiled(makes_arrays=True)
def class_shares(rows, share, weight, y, ks, out):
    """out[q, v, c] = the share of class c among the ks[v] nearest copies."""
    total = np.empty(out.shape[2])
    for q in range(rows.shape[0]):
        copies, v = 0.0, 0
        total[:] = 0.0
        for a in range(rows.shape[1]):
            i = rows[q, a]
            if i < 0 or v == ks.size:
                break
            while v < ks.size and copies + weight[i] >= ks[v]:
                write_shares(total, y[i], (ks[v] - copies) * share[q, a], out[q, v])
                v += 1
            copies += weight[i]
            total[y[i]] += weight[i] * share[q, a]
        while v < ks.size:
            write_shares(total, np.int64(0), 0.0, out[q, v])
            v += 1


@compiled(inner=True)
def write_shares(total, c, part, out):
    """Totals with a last part for class c, divided by their sum."""
    mass = part
    for k in range(total.size):
        out[k] = total[k]
        mass += total[k]
    out[c] += part
    for k in range(total.size):
        out[k] /= mass


@compiled(makes_arrays=True)
def class_votes(rows, share, weight, y, ks, out):
    """out[q, v] = the class with the largest share, as `class_shares` has it; the first of ties."""
    shares = np.empty((1, ks.size, total_classes(y)))
    for q in range(rows.shape[0]):
        class_shares(rows[q : q + 1], share[q : q + 1], weight, y, ks, shares)
        for v in range(ks.size):
            out[q, v] = np.argmax(shares[0, v])


@compiled(inner=True)
def total_classes(y):
    """One more than the largest code."""
    most = 0
    for i in range(y.size):
        most = max(most, y[i])
    return most + 1


@compiled
def neighbor_shares(rows, share, weight, k, out):
    """out[q, a] = the share of neighbour a in what the k nearest copies say; they sum to one."""
    for q in range(rows.shape[0]):
        copies, mass = 0.0, 0.0
        for a in range(rows.shape[1]):
            out[q, a] = 0.0
            if rows[q, a] >= 0 and copies < k:
                w = weight[rows[q, a]]
                out[q, a] = min(w, k - copies) * share[q, a]
                copies += w
                mass += out[q, a]
        for a in range(rows.shape[1]):
            out[q, a] /= mass
