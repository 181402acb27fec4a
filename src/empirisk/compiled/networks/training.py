"""Training by minibatches: a team of threads goes through them together.

A batch is cut into chunks, whose number does not depend on the team. Each chunk goes through the
network forth and back in memory of its own; then the team meets, adds up the gradients in the order
of the chunks, piece by piece, and takes the step. So the bits are the same for every team.
"""

import numpy as np

from empirisk.compiled.decorator import compiled
from empirisk.compiled.networks.chunks import learn_chunk
from empirisk.compiled.networks.updating import LONGEST, add_up, step_length, take_step
from empirisk.compiled.team import meet, take

PIECE = 8192  # parameters that a thread takes at a time


@compiled(inner=True, makes_arrays=True, signatures=3)
def learn_batch(sync, network, data, head, room, rows, mean_weight, seed, draw, losses):
    """The losses and gradients of all chunks of a batch; threads take one chunk after the other."""
    gradients, values = room[0], room[1]
    chunks, m = len(gradients), len(rows)
    each = (m + chunks - 1) // chunks
    while True:
        c = take(sync)
        if c >= chunks:
            return
        low, high = min(c * each, m), min((c + 1) * each, m)
        if low < high:
            losses[c] = learn_chunk(
                network,
                data,
                head,
                rows[low:high],
                m * mean_weight,
                c,
                room,
                seed,
                draw + c * values.shape[1],
            )
        else:
            losses[c] = 0.0
            gradients[c, :] = 0.0


@compiled(inner=True, makes_arrays=True, signatures=2)
def shortening(sync, team, network, gradients, penalised, settings, squares):
    """What the gradient is multiplied by so that it is no longer than allowed; 0 to stop."""
    params = network[2]
    while True:
        k = take(sync)
        if k >= len(squares):
            break
        end = min((k + 1) * PIECE, len(params))
        squares[k] = add_up(gradients, params, penalised, settings, k * PIECE, end)
    if not meet(sync, team):
        return 0.0
    norm = 0.0
    for k in range(len(squares)):
        norm += squares[k]
    norm = np.sqrt(norm)
    return settings[LONGEST] / norm if norm > settings[LONGEST] else 1.0


@compiled(signatures=3)
def learn(
    team, sync, network, data, head, room, batches, solver, settings, memory, losses, squares
):
    """Go through batches of rows, with one step of all parameters after each.

    Every thread of a team calls it.

    Parameters
    ----------
    team, sync : see `compiled.team`
    network : (table, rates, params)
    data : (X, centre, unit, y, weight)
    head : (kind, number)
    room : (gradients, values, deltas, marks, scratch, aims, shares), a row of each for each chunk
    batches : (order of the rows, rows of a batch, mean weight, first step, seed)
    solver : SGD or ADAM
    settings : see `updating`
    memory : (velocity or mean, square, penalised)
    losses : (batches, chunks), filled
    squares : (pieces,), room for parts of the gradient's square
    """
    params, gradients = network[2], room[0]
    order, size, mean_weight, t, seed = batches
    moment, square, penalised = memory
    for b in range(len(losses)):
        rows = order[b * size : min((b + 1) * size, len(order))]
        draw = (t + b) * len(gradients) * room[1].shape[1]
        learn_batch(sync, network, data, head, room, rows, mean_weight, seed, draw, losses[b])
        if not meet(sync, team):
            return
        scale = 1.0
        if settings[LONGEST] > 0.0:
            scale = shortening(sync, team, network, gradients, penalised, settings, squares)
        length = step_length(settings, t + b)
        while scale > 0.0:
            k = take(sync)
            if k >= len(squares):
                break
            first, last = k * PIECE, min((k + 1) * PIECE, len(params))
            if not settings[LONGEST] > 0.0:
                add_up(gradients, params, penalised, settings, first, last)
            take_step(
                solver,
                params,
                gradients[0],
                moment,
                square,
                settings,
                length,
                t + b,
                scale,
                first,
                last,
            )
        if not meet(sync, team):
            return


@compiled(signatures=3)
def add_gradients(sync, network, data, head, room, rows, size, total, seed, sums, losses):
    """The loss over all rows and its gradient, for methods that take no batches.

    Slot c of `sums` and `losses` has those of every so manieth block of `size` rows.
    """
    gradients = room[0]
    slots = len(gradients)
    while True:
        c = take(sync)
        if c >= slots:
            return
        losses[c] = 0.0
        sums[c, :] = 0.0
        for first in range(c * size, len(rows), slots * size):
            block = rows[first : min(first + size, len(rows))]
            losses[c] += learn_chunk(
                network, data, head, block, total, c, room, seed, first * room[1].shape[1]
            )
            for j in range(sums.shape[1]):
                sums[c, j] += gradients[c, j]
