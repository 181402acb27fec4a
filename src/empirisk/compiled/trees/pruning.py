"""Weakest-link pruning (Breiman, Friedman, Olshen & Stone 1984, chapter 3).

Of a tree in preorder with risks R(t), the link of an inner node t is
g(t) = (R(t) - risk of its leaves) / (number of its leaves - 1). The node with the least g becomes a
leaf, again and again. Its g is the alpha from which on R(T) + alpha |leaves of T| is least without
its branch. The g of nodes above only grows on the way, so an old g in the heap is a lower bound.
"""

import numpy as np

from empirisk.compiled.decorator import compiled

TOP = np.int64(0)  # an integer of Python would be compiled for by its value


@compiled
def sift_down(heap, n, key, at):
    """Let the entry at a place of the heap sink: least key first, then least node."""
    node = heap[at]
    while 2 * at + 1 < n:
        child = 2 * at + 1
        if child + 1 < n:
            a, b = heap[child], heap[child + 1]
            if key[b] < key[a] or (key[b] == key[a] and b < a):
                child += 1
        other = heap[child]
        if key[node] < key[other] or (key[node] == key[other] and node < other):
            break
        heap[at] = other
        at = child
    heap[at] = node


@compiled
def weakest_links(right, parent, end, risk, alpha, steps, step_risk):
    """alpha[t] = the alpha at which inner node t is gone or a leaf; -inf in leaves.

    right, parent, end
        Right child (-1 in leaves), parent, and the node after the last one below, in preorder.
    steps, step_risk
        The alpha of each step, and the risk of the tree after it.

    Returns the number of steps.
    """
    n = right.size
    branch, leaves = np.zeros(n), np.zeros(n, np.int64)
    link, heap = np.full(n, np.inf), np.empty(n, np.int32)
    n_heap = TOP
    for t in range(n - 1, -1, -1):
        alpha[t] = -np.inf
        if right[t] < 0:
            branch[t], leaves[t] = risk[t], 1
        else:
            branch[t] = branch[t + 1] + branch[right[t]]
            leaves[t] = leaves[t + 1] + leaves[right[t]]
            link[t] = (risk[t] - branch[t]) / (leaves[t] - 1)
            heap[n_heap] = t
            n_heap += 1
    for at in range(n_heap // 2 - 1, -1, -1):
        sift_down(heap, n_heap, link, at)
    n_steps = 0
    while n_heap > 0:
        t = heap[0]
        gone = alpha[t] > -np.inf
        now = (risk[t] - branch[t]) / max(leaves[t] - 1, 1)
        if not gone and now > link[t]:
            link[t] = now
            sift_down(heap, n_heap, link, TOP)
            continue
        n_heap -= 1
        heap[0] = heap[n_heap]
        sift_down(heap, n_heap, link, TOP)
        if gone:
            continue
        value = max(now, steps[n_steps - 1]) if n_steps > 0 else max(now, 0.0)
        for below in range(t, end[t]):
            if right[below] >= 0 and alpha[below] == -np.inf:
                alpha[below] = value
        change, fewer = risk[t] - branch[t], leaves[t] - 1
        above = t
        while above >= 0:
            branch[above] += change
            leaves[above] -= fewer
            above = parent[above]
        steps[n_steps], step_risk[n_steps] = value, branch[0]
        n_steps += 1
    return n_steps
