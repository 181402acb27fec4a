"""Quantiles of the training values that share leaves with a row (Meinshausen 2006)."""

from empirisk.compiled.decorator import compiled

ROUNDING = 1e-12  # of a sum of shares


@compiled
def find_quantiles(leaves, first_leaf, first, ranks, weight, share, touched, levels, found):
    """found[i, q] = the least rank at which the weights of row i reach levels[q].

    leaves[i, b] is the leaf of row i in tree b, first_leaf[b] where the leaves of the tree begin.
    The members of a leaf have ranks[first[leaf] : first[leaf + 1]] and weights that sum to one.
    `share` has room for the weight of each rank, 0, and `touched` for ranks; levels grow. A weight
    that is too small to count is left out: its rank would look untouched, and be noted again.
    """
    for i in range(leaves.shape[0]):
        n = 0
        for b in range(leaves.shape[1]):
            leaf = first_leaf[b] + leaves[i, b]
            for at in range(first[leaf], first[leaf + 1]):
                rank, part = ranks[at], weight[at] / leaves.shape[1]
                if not part > 0.0:
                    continue
                if share[rank] == 0.0:
                    touched[n] = rank
                    n += 1
                share[rank] += part
        touched[:n].sort()
        upto, q = 0.0, 0
        for t in range(n):
            upto += share[touched[t]]
            share[touched[t]] = 0.0
            while q < levels.size and (upto >= levels[q] - ROUNDING or t == n - 1):
                found[i, q] = touched[t]
                q += 1
