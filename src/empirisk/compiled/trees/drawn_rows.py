"""The rows that a tree of a forest is grown on, from how often it drew each."""

from empirisk.compiled.decorator import compiled


@compiled(signatures=2)
def enter_drawn(numbers, counts, weight, rows, weights):
    """Write the rows that were drawn, in order, and their weights; returns how many there are.

    `numbers` are the rows of the table that could be drawn, `counts` how often each was. `weight`
    (None: all 1) and `weights` are by row of the table; a row that was not drawn may get 0.
    """
    n = 0
    for i in range(counts.size):
        row = numbers[i]
        rows[n] = row
        n += counts[i] > 0
        weights[row] = counts[i] if weight is None else counts[i] * weight[row]
    return n
