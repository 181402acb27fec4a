"""How far apart rows are, in the form that orders them: sums of powers of gaps, or the largest gap.

EUCLIDEAN  sum_j |x_j - z_j|^2     MANHATTAN  sum_j |x_j - z_j|
CHEBYSHEV  max_j |x_j - z_j|       MINKOWSKI  sum_j |x_j - z_j|^power

Terms are added in the order of the columns, always: so two ways of searching find the same bits.
Rows stand in buckets, feature-major, so that one instruction serves several rows: cells[b, j, r] is
column j of row r of bucket b. Buckets are as wide as the longest of them; beyond the end of the
others stands infinity.
"""

from empirisk.compiled.decorator import compiled

EUCLIDEAN, MANHATTAN, CHEBYSHEV, MINKOWSKI = 0, 1, 2, 3


@compiled(inner=True)
def gaps_to_bucket(bucket, x, norm, power, gap):
    """gap[r] = how far row r of a bucket is from x."""
    if norm == EUCLIDEAN:
        squares_to_bucket(bucket, x, gap)
        return
    for r in range(gap.size):
        gap[r] = 0.0
    for j in range(x.size):
        at = x[j]
        if norm == MANHATTAN:
            for r in range(gap.size):
                gap[r] += abs(bucket[j, r] - at)
        elif norm == CHEBYSHEV:
            for r in range(gap.size):
                gap[r] = max(gap[r], abs(bucket[j, r] - at))
        else:
            for r in range(gap.size):
                gap[r] += abs(bucket[j, r] - at) ** power


@compiled(inner=True)
def squares_to_bucket(bucket, x, gap):
    """Four columns at a time: the sums are written to memory less often."""
    p = x.size
    for r in range(gap.size):
        gap[r] = 0.0
    for j in range(0, p - 3, 4):
        x0, x1, x2, x3 = x[j], x[j + 1], x[j + 2], x[j + 3]
        for r in range(gap.size):
            g0, g1 = bucket[j, r] - x0, bucket[j + 1, r] - x1
            g2, g3 = bucket[j + 2, r] - x2, bucket[j + 3, r] - x3
            gap[r] = (((gap[r] + g0 * g0) + g1 * g1) + g2 * g2) + g3 * g3
    for j in range(p - p % 4, p):
        at = x[j]
        for r in range(gap.size):
            g = bucket[j, r] - at
            gap[r] += g * g


@compiled(inner=True)
def square_between(x, z):
    """The Euclidean gap of two rows, with the bits that a bucket gives."""
    total = 0.0
    for j in range(x.size):
        g = z[j] - x[j]
        total += g * g
    return total


@compiled
def fill_buckets(rows, order, begin, cells):
    """The cells of all buckets; bucket b has the rows order[begin[b]:begin[b + 1]]."""
    for b in range(begin.size - 1):
        for r in range(begin[b + 1] - begin[b]):
            i = order[begin[b] + r]
            for j in range(rows.shape[1]):
                cells[b, j, r] = rows[i, j]


@compiled(inner=True)
def look_through(order, begin, m, fold, own, gap, farthest, distance, row, count):
    """Add the rows of a bucket up to the farthest, but for those of an own fold; the new length."""
    for r in range(m):
        if gap[r] <= farthest and (fold.size == 0 or fold[begin + r] != own):
            distance[count], row[count] = gap[r], order[begin + r]
            count += 1
    return count
