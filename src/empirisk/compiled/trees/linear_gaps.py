"""Missing values in the sums of linear trees: on each side of a cut they stand at its own means.

In the design of a node a missing value is 0, the node's mean of the column. On a side of a cut the
values of column g that are seen have another mean c_g, and a row v = [1, z, r] becomes
v + sum_g c_g h_g u_g: h_g is 1 where the value is missing, and u_g moves z_g by 1 and, since
r = y - coef z, each r by -coef_g. So the sums A = sum_i w_i v_i v_i' become

    A + sum_g c_g (F_g u_g' + u_g F_g'),   F_g = G_g + sum_l c_l H_gl u_l / 2,

with G_g = sum_i w_i h_ig v_i and H_gl = sum_i w_i h_ig h_il, which are additive like A.
"""

from empirisk.compiled.decorator import compiled
from empirisk.compiled.trees.linear_sums import combine
from empirisk.compiled.trees.ordering import LOW


@compiled
def add_gaps(design, weight, entries, begin, end, starts, holes, gaps):
    """Add the rows of entries[begin:end] to gaps: [G_g, H_g, number of rows] for each column g.

    starts, holes
        Of row i the columns holes[starts[i]:starts[i + 1]] are missing, numbers into gaps.
    """
    d, q = design.shape[1], gaps.shape[0]
    for e in range(begin, end):
        i = entries[e] & LOW
        for a in range(starts[i], starts[i + 1]):
            g = holes[a]
            for c in range(d):
                gaps[g, c] += weight[i] * design[i, c]
            for b in range(starts[i], starts[i + 1]):
                gaps[g, d + holes[b]] += weight[i]
            gaps[g, d + q] += 1.0


@compiled
def combine_gaps(gaps, others, sign, result):
    """result = gaps + sign others."""
    for g in range(gaps.shape[0]):
        for c in range(gaps.shape[1]):
            result[g, c] = gaps[g, c] + sign * others[g, c]


@compiled
def at_own_means(sums, gaps, columns, n_rows, coef, centre, moved, result):
    """The sums of a side of n_rows rows with its missing values at its own means.

    columns
        Which columns of the models have missing values in the node.
    centre, moved
        Room for a number for each of them, and for F_g.
    """
    n_outputs, p = coef.shape
    d, q = sums.shape[0], gaps.shape[0]
    combine(sums, sums, 0.0, result)
    for g in range(q):
        n_missing, seen = gaps[g, d + q], sums[0, 0] - gaps[g, 0]
        some = 0.0 < n_missing < n_rows and seen > 0.0
        centre[g] = sums[1 + columns[g], 0] / seen if some else 0.0
    for g in range(q):
        if centre[g] == 0.0:
            continue
        for c in range(d):
            moved[c] = gaps[g, c]
        for other in range(q):
            half = 0.5 * centre[other] * gaps[g, d + other]
            moved[1 + columns[other]] += half
            for k in range(n_outputs):
                moved[1 + p + k] -= half * coef[k, columns[other]]
        add_both(result, 1 + columns[g], centre[g], moved)
        for k in range(n_outputs):
            add_both(result, 1 + p + k, -centre[g] * coef[k, columns[g]], moved)


@compiled
def add_both(matrix, a, factor, vector):
    """Add factor (vector e_a' + e_a vector') to the lower triangle, e_a the a-th unit vector."""
    for b in range(a + 1):
        matrix[a, b] += factor * vector[b]
    for b in range(a, matrix.shape[0]):  # the diagonal a second time
        matrix[b, a] += factor * vector[b]
