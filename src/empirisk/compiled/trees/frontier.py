"""The open nodes of a tree that grows best first: a heap, largest gain on top, then oldest node."""

from empirisk.compiled.decorator import compiled


@compiled(inner=True, signatures=2)
def better(opened, nodes, a, b):
    """Whether the node at place a is to be split before the one at place b."""
    node_a, node_b = opened[a].node, opened[b].node
    gain_a, gain_b = nodes[node_a].gain, nodes[node_b].gain
    return gain_a > gain_b or (gain_a == gain_b and node_a < node_b)


@compiled(inner=True, signatures=2)
def push(heap, n, opened, nodes, place):
    """Add a place to a heap of n."""
    at = n
    while at > 0 and better(opened, nodes, place, heap[(at - 1) // 2]):
        heap[at] = heap[(at - 1) // 2]
        at = (at - 1) // 2
    heap[at] = place


@compiled(inner=True, signatures=2)
def pop(heap, n, opened, nodes):
    """Take the first place from a heap of n."""
    first, last = heap[0], heap[n - 1]
    at = 0
    while 2 * at + 1 < n - 1:
        child = 2 * at + 1
        if child + 1 < n - 1 and better(opened, nodes, heap[child + 1], heap[child]):
            child += 1
        if not better(opened, nodes, heap[child], last):
            break
        heap[at] = heap[child]
        at = child
    heap[at] = last
    return first
