"""Shapley values of the features in a sum of trees, by the paths of the trees.

At a row x a tree is a game of its features (path-dependent TreeSHAP, Lundberg et al. 2020): the
worth of a set S is the mean over all walks that go the way of x at splits by features of S, and
both ways, by the weight that went there in training, at all others. A leaf of value v adds to it

    v prod_{j in S} o_j prod_{j not in S} z_j

with o_j = 1 where x agrees with all splits by j on the path to the leaf, else 0, and z_j the
product of the shares of the weight that went on at these splits. A Shapley value is the integral
along the diagonal of the derivative of the multilinear extension of the game (Owen 1972):

    phi_j = v (o_j - z_j) integral over 0 < t < 1 of prod_{k != j} (o_k t + z_k (1 - t)).

The integrand is a polynomial, of degree m - 1 on a path with m features, so that Gauss's rule with
half as many points as features is exact. All its terms are positive: nothing cancels. On the way
down the product over k is carried along, at each point t; on the way back the sums over the leaves
below an edge are added up, and each edge gives its feature what the sums are worth once the factor
of the edge is divided out, less what the edge before it by the same feature would have given. A
leaf costs as many steps as there are points, not the square of its depth.

Of an edge there are three states: cold before (an edge above it, by the same feature, is not the
way of x), cold, and hot. Its factors in the product are numbers of the tree, not of the row.

Many rows go through a tree side by side, as the last axis of arrays: each edge is looked up once
for all of them. The arrays of a tree are as in `forest_walking`.
"""

import numpy as np

from empirisk.compiled.decorator import compiled
from empirisk.compiled.trees.walking import goes_left

LEVEL, FEATURE, BEFORE = 0, 1, 2  # of `edges`
COVER, RATIO, SHARE, SHARE_BEFORE = 0, 1, 2, 3  # of `shares`
COLD, HOT, COLD_PART, HOT_PART = 0, 1, 2, 3  # of `factors`


@compiled(inner=True, makes_arrays=True)
def trace_edges(links, weight, edges, shares):
    """Of the edge that leads to each node: where it stands on its path, and shares of weight.

    edges : int32 (nodes, 3)
        The level of the node; the feature of the edge; the level that the last edge above it by the
        same feature leads to, 0 if there is none.
    shares : float64 (nodes, 4)
        The weight of the node; its part of that of its parent; the product of these parts over all
        edges of the path by the same feature; and this product before the edge.

    Returns the largest level, and the largest number of features on a path.
    """
    n, leaf = links.shape[0], weight.size
    for node in range(n - 1, -1, -1):
        right = links[node, 3]
        if right == node:
            leaf -= 1
            shares[node, COVER] = weight[leaf]
        else:
            shares[node, COVER] = shares[node + 1, COVER] + shares[right, COVER]
    path = np.zeros(n + 1, np.int32)  # the node at each level
    features = np.zeros(n + 1, np.int32)  # how many there are on the path to each level
    edges[0], shares[0, RATIO:] = 0, 1.0
    deepest = most = 0
    for node in range(n):
        level = edges[node, LEVEL]
        path[level] = node
        if level > 0:
            parent = path[level - 1]
            feature, before = links[parent, 2] >> 2, level - 1
            while before > 0 and edges[path[before], FEATURE] != feature:
                before -= 1
            edges[node, FEATURE], edges[node, BEFORE] = feature, before
            cover = shares[parent, COVER]
            ratio = shares[node, COVER] / cover if cover > 0.0 else 0.5
            shares[node, RATIO] = ratio
            shares[node, SHARE_BEFORE] = shares[path[before], SHARE]
            shares[node, SHARE] = ratio * shares[node, SHARE_BEFORE]
            features[level] = features[level - 1] + (before == 0)
            deepest, most = max(deepest, level), max(most, features[level])
        right = links[node, 3]
        if right != node:
            edges[node + 1, LEVEL] = edges[right, LEVEL] = level + 1
    return deepest, most


@compiled(inner=True)
def set_factors(shares, points, rates, factors):
    """factors[node, :, i] at point t_i, of weight w_i: of a cold and of a hot edge, its factor in
    the product, and what a unit of the sums below it gives to its feature."""
    for node in range(1, shares.shape[0]):
        share, before = shares[node, SHARE], shares[node, SHARE_BEFORE]
        for i in range(points.size):
            t, rate = points[i], rates[i]
            above, cold = t + before * (1.0 - t), share * (1.0 - t)
            given = rate * (1.0 - before) / above
            factors[node, COLD, i] = cold / above
            factors[node, HOT, i] = (t + cold) / above
            factors[node, COLD_PART, i] = -rate / (1.0 - t) - given
            factors[node, HOT_PART, i] = rate * (1.0 - share) / (t + cold) - given


@compiled(inner=True)
def decide(thresholds, links, subsets, node, X, left):
    """left[r] = 1.0 where row r goes left at a node, else 0.0."""
    kind, threshold, rows = links[node, 2], thresholds[node, 0], left.size
    x = X[kind >> 2]
    if kind & 2:
        for r in range(rows):
            left[r] = 1.0 if goes_left(thresholds, links, subsets, node, x[r]) else 0.0
    elif kind & 1:
        for r in range(rows):
            left[r] = 0.0 if x[r] > threshold else 1.0
    else:
        for r in range(rows):
            left[r] = 1.0 if x[r] <= threshold else 0.0


@compiled(inner=True)
def go_down(above, ratio, factors, hot, before, product):
    """product[i, r] = above[i, r] times the factor of an edge."""
    rows = hot.size
    for i in range(above.shape[0]):
        cold_factor, hot_factor = factors[COLD, i], factors[HOT, i]
        for r in range(rows):
            factor = hot_factor if hot[r] > 0.0 else cold_factor
            product[i, r] = above[i, r] * (factor if before[r] > 0.0 else ratio)


@compiled(inner=True)
def value_edge(sums, factors, hot, before, value, above, given):
    """given[r] = what sums below an edge, times a value, give to its feature; `above` gets them."""
    rows = given.size
    for r in range(rows):
        given[r] = 0.0
    for i in range(sums.shape[0]):
        cold_part, hot_part = factors[COLD_PART, i], factors[HOT_PART, i]
        for r in range(rows):
            below = value * sums[i, r]
            above[i, r] += below
            given[r] += below * (hot_part if hot[r] > 0.0 else cold_part)
    for r in range(rows):
        given[r] = given[r] if before[r] > 0.0 else 0.0


@compiled(inner=True, makes_arrays=True)
def add_block(thresholds, links, subsets, edges, shares, factors, value, X, hot, left, product,
              sums, given, total):  # fmt: skip
    """Add the Shapley values of one tree at some rows.

    value : (leaves, columns); X : (features, rows); total : (columns, features, rows)
    hot, left : (levels, rows)
        Whether rows agree with the last edge of the path, at each level, and all those above it by
        the same feature; whether they go left.
    product, sums : (levels, points, rows), (levels, columns, points, rows)
    """
    n, leaf, rows = links.shape[0], 0, X.shape[1]
    path = np.zeros(hot.shape[0], np.int32)
    hot[0], product[0] = 1.0, 1.0
    for node in range(1, n):
        level = np.int64(edges[node, LEVEL])
        up, before = level - 1, hot[edges[node, BEFORE]]
        path[level] = node
        if links[node - 1, 3] != node - 1:  # its left child
            decide(thresholds, links, subsets, node - 1, X, left[up])
            sums[up] = 0.0
        else:
            for r in range(rows):
                left[up, r] = 1.0 - left[up, r]
        for r in range(rows):
            hot[level, r] = before[r] * left[up, r]
        go_down(product[up], shares[node, RATIO], factors[node], hot[level], before, product[level])
        if links[node, 3] != node:
            continue
        following = np.int64(edges[node + 1, LEVEL]) if node + 1 < n else 1
        for back in range(level, following - 1, -1):  # edges all below which is done
            here = path[back]
            before, feature = hot[edges[here, BEFORE]], edges[here, FEATURE]
            for k in range(value.shape[1]):
                below = product[level] if back == level else sums[back, k]
                factor = value[leaf, k] if back == level else 1.0
                value_edge(
                    below, factors[here], hot[back], before, factor, sums[back - 1, k], given
                )
                for r in range(rows):
                    total[k, feature, r] += given[r]
        leaf += 1


@compiled
def add_shapley_values(
    thresholds, links, subsets, first_node, first_leaf, first_subset, value, weight, column, points,
    rates, X, total,
):  # fmt: skip
    """Add the Shapley values of all trees, one after the other.

    column : (trees,), which column of the total the first value of a tree's leaves belongs to
    points, rates : (most, most)
        Gauss's rule with q points on (0, 1) in row q - 1.
    X : (blocks, features, rows); total : (blocks, columns, features, rows)
    """
    width, rows = value.shape[1], X.shape[2]
    for tree in range(first_node.size - 1):
        first, end = first_node[tree], first_node[tree + 1]
        if end - first == 1:
            continue
        nodes, ways = thresholds[first:end], links[first:end]
        lists = subsets[first_subset[tree] : first_subset[tree + 1]]
        leaves = slice(first_leaf[tree], first_leaf[tree + 1])
        edges = np.empty((end - first, 3), np.int32)
        shares = np.empty((end - first, 4))
        levels, features = trace_edges(ways, weight[leaves], edges, shares)
        q = (features + 1) // 2
        factors = np.empty((end - first, 4, q))
        set_factors(shares, points[q - 1, :q], rates[q - 1, :q], factors)
        hot, left = np.empty((levels + 1, rows)), np.empty((levels + 1, rows))
        product = np.empty((levels + 1, q, rows))
        sums = np.empty((levels + 1, width, q, rows))
        given = np.empty(rows)
        for block in range(X.shape[0]):
            add_block(
                nodes, ways, lists, edges, shares, factors, value[leaves], X[block], hot, left,
                product, sums, given, total[block, column[tree] : column[tree] + width],
            )  # fmt: skip


@compiled
def count_features(links, weight, first_node, first_leaf, found):
    """found[tree] = the largest number of features on a path."""
    for tree in range(found.size):
        first, end = first_node[tree], first_node[tree + 1]
        edges = np.empty((end - first, 3), np.int32)
        shares = np.empty((end - first, 4))
        leaves = slice(first_leaf[tree], first_leaf[tree + 1])
        _, found[tree] = trace_edges(links[first:end], weight[leaves], edges, shares)
