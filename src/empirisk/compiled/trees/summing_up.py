"""What inner nodes are, from the leaves below them."""

from empirisk.compiled.decorator import compiled


@compiled
def sum_up(right, table):
    """table[node] += the rows of all nodes below it, which are in preorder; -1 right in leaves."""
    for node in range(right.size - 1, -1, -1):
        if right[node] >= 0:
            for k in range(table.shape[1]):
                table[node, k] += table[node + 1, k] + table[right[node], k]
