"""One chunk of rows: from the table to the loss, and back to the gradient."""

from empirisk.compiled.decorator import compiled
from empirisk.compiled.networks.heads import head_loss
from empirisk.compiled.networks.layout import N_OUT, START, TO, matrix
from empirisk.compiled.networks.passing import go_back, go_forth

WIDE = 16  # columns of X that are turned at a time: a cache line or two of each row


@compiled(leaf=True, signatures=3)
def turn_rows(X, centre, unit, rows, to):
    """Columns of the batch from rows of X: to[j, i] = (X[rows[i], j] - centre[j]) / unit[j]."""
    kind = to.dtype.type
    for start in range(0, X.shape[1], WIDE):
        end = min(start + WIDE, X.shape[1])
        for i in range(len(rows)):
            row = X[rows[i]]
            for j in range(start, end):
                to[j, i] = kind((row[j] - centre[j]) / unit[j])


@compiled(inner=True, makes_arrays=True, signatures=3)
def enter_chunk(network, data, rows, c, room, seed, draw):
    """Take rows in, and through the network; returns what the last layer gives out, (K, n)."""
    layers, rates, params = network
    X, n = data[0], len(rows)
    _, values, _, marks, scratch, _, _ = room
    turn_rows(X, data[1], data[2], rows, matrix(values[c], START, X.shape[1], n))
    go_forth(layers, rates, params, values[c], marks[c], scratch[c], n, seed, draw)
    last = layers[len(layers) - 1]
    return matrix(values[c], last[TO], last[N_OUT], n)


@compiled(inner=True, makes_arrays=True, signatures=3)
def learn_chunk(network, data, head, rows, total, c, room, seed, draw):
    """sum_i w_i L(y_i, f(x_i)) / total of these rows, and its gradient in that of the chunk."""
    layers, _, params = network
    X, _, _, y, weight = data
    kind, number = head
    gradients, values, deltas, marks, scratch, aims, shares = room
    n = len(rows)
    f = enter_chunk(network, data, rows, c, room, seed, draw)
    for i in range(n):
        shares[c, i] = weight[rows[i]] / total
    aim = matrix(values[c], START, X.shape[1], n)  # without targets, the row itself is the target
    if y.shape[1] > 0:
        aim = matrix(aims[c], START, y.shape[1], n)
        for i in range(n):
            for k in range(y.shape[1]):
                aim[k, i] = y[rows[i], k]
    delta = matrix(deltas[c, 0], START, f.shape[0], n)
    loss = head_loss(kind, number, f, aim, shares[c, :n], delta)
    go_back(layers, params, gradients[c], values[c], marks[c], scratch[c], deltas[c], n)
    return loss
