"""Lloyd's iterations, by a team of threads that meets twice in each.

All threads send rows to their nearest centres, block after block; one of them then moves the
centres to the means of their rows and decides whether that was the last iteration.
"""

import numpy as np

from empirisk.compiled.clustering.assigning import assign_blocks
from empirisk.compiled.decorator import compiled
from empirisk.compiled.team import meet

STABILITY, MOVEMENT, UNCHANGED, GAIN = 0, 1, 2, 3
GOING_ON, CONVERGED, HOPELESS = 0, 1, 2
ROUNDED_UP = 1.0 + 1e-12
SAME = 4e-30  # a squared distance, of numbers up to 1, that may be rounding: for each feature
HOPE = 4.0  # times the last gain: what is still to be gained, at most


@compiled
def lloyd_iterations(
    sync, rank, team, first, last, X, unit, shift, weight, tiles, total, everything, criterion,
    tol, bar, centres, minus, half, radius, spent, labels, slack, block_sums, block_mass,
    block_count, block_moved, sums, mass, count, steps, kept, progress,
):  # fmt: skip
    """Iterations until they stop, or until the last: everything is changed in place.

    steps[t] are W before and after the centres are moved and the weight of the rows that changed
    their cluster, kept[t] the centres before, if there is room; progress is the number of
    iterations and how it stands. Where W is not going to fall below `bar` it is hopeless.
    """
    while True:
        assign_blocks(
            sync, first, X, unit, shift, weight, tiles, centres, minus, half, radius, spent,
            labels, slack, block_sums, block_mass, block_count, block_moved,
        )  # fmt: skip
        if not meet(sync, team):
            return
        if rank == 0:
            t = progress[0]
            if t < kept.shape[0]:
                kept[t] = centres
            add_blocks(block_sums, block_mass, block_count, sums, mass, count)
            steps[t, 2] = block_moved.sum()
            steps[t, 0] = within(total, centres, sums, mass)
            means = cluster_means(centres, sums, mass)
            seeded = reseed(X, unit, shift, labels, count, means)
            steps[t, 1] = within(total, means, sums, mass)
            movement = move_centres(centres, means, spent)
            score_centres(centres, minus, half, radius)
            progress[1] = standing(criterion, tol, bar, steps[: t + 1], movement, everything)
            if seeded:
                progress[1] = GOING_ON
            progress[0] = t + 1
        if not meet(sync, team):
            return
        if progress[1] != GOING_ON or progress[0] == last:
            return


@compiled(inner=True)
def standing(criterion, tol, bar, steps, movement, everything):
    """Whether iterations have converged, go on, or are hopeless."""
    t = steps.shape[0] - 1
    moved, now = steps[t, 2], steps[t, 1]
    gain = steps[t - 1, 1] - now if t > 0 else np.inf
    if (
        moved == 0.0
        or (criterion == MOVEMENT and movement <= tol)
        or (criterion == UNCHANGED and moved <= tol * everything)
        or (criterion == GAIN and gain <= tol * now)
    ):
        return CONVERGED
    return HOPELESS if now - HOPE * gain > bar else GOING_ON


@compiled(inner=True)
def add_blocks(block_sums, block_mass, block_count, sums, mass, count):
    """What rows that changed their cluster add to sums, weights and numbers of rows."""
    for b in range(block_mass.shape[0]):
        for k in range(mass.size):
            mass[k] += block_mass[b, k]
            count[k] += block_count[b, k]
            for j in range(sums.shape[1]):
                sums[k, j] += block_sums[b, k, j]
    for k in range(mass.size):
        if count[k] == 0:  # exactly, where rounding may have left a little
            mass[k] = 0.0
            sums[k] = 0.0


@compiled(inner=True)
def within(total, centres, sums, mass):
    """W of labels with these sums and weights, and of centres."""
    left = total
    for k in range(mass.size):
        for j in range(centres.shape[1]):
            left += centres[k, j] * (mass[k] * centres[k, j] - 2.0 * sums[k, j])
    return max(0.0, left)


@compiled(inner=True, makes_arrays=True)
def cluster_means(centres, sums, mass):
    """The mean of each cluster; an empty one keeps its centre."""
    means = centres.copy()
    for k in range(mass.size):
        if mass[k] > 0.0:
            for j in range(means.shape[1]):
                means[k, j] = sums[k, j] / mass[k]
    return means


@compiled(inner=True, makes_arrays=True)
def reseed(X, unit, shift, labels, count, means):
    """Put the means of empty clusters on the rows furthest from theirs, one by one, in place.

    Of rows equally far the first is taken. Where every row lies on a centre there is nothing to
    gain, and a cluster stays empty. The rows change their clusters in the next iteration.
    """
    seeded = False
    if count.min() > 0:
        return seeded
    distance = np.empty(X.shape[0])
    for i in range(X.shape[0]):
        distance[i] = square_to(X[i], unit, shift, means[labels[i]])
    for k in range(count.size):
        if count[k] == 0:
            furthest = distance.argmax()
            # a mean of n rows has rounding errors that grow with n
            if distance[furthest] <= SAME * means.shape[1] * X.shape[0]:
                return seeded
            for j in range(means.shape[1]):
                means[k, j] = X[furthest, j] * unit - shift[j]
            seeded = True
            for i in range(X.shape[0]):
                distance[i] = min(distance[i], square_to(X[i], unit, shift, means[k]))
    return seeded


@compiled(inner=True)
def square_to(x, unit, shift, centre):
    """The squared distance of x * unit - shift to a centre."""
    d = 0.0
    for j in range(x.size):
        d += (x[j] * unit - shift[j] - centre[j]) ** 2
    return d


@compiled
def move_centres(centres, means, spent):
    """Centres move, which uses up the slack of rows; returns the sum of the squared moves."""
    total, largest, second, which = 0.0, 0.0, 0.0, -1
    for k in range(spent.size):
        square = 0.0
        for j in range(centres.shape[1]):
            square += (means[k, j] - centres[k, j]) ** 2
            centres[k, j] = means[k, j]
        total += square
        move = np.sqrt(square) * ROUNDED_UP
        spent[k] += move
        if move > largest:
            largest, second, which = move, largest, k
        elif move > second:
            second = move
    for k in range(spent.size):
        spent[k] = (spent[k] + (second if k == which else largest)) * ROUNDED_UP
    return total


@compiled
def score_centres(centres, minus, half, radius):
    """What `tiles` takes: -c_k and |c_k|^2 / 2 in single precision, and the largest |c_k|.

    Rows and columns beyond the centres are left as they are.
    """
    most = 0.0
    for k in range(centres.shape[0]):
        most = max(most, score_centre(centres, k, minus, half))
    radius[0] = np.float32(np.sqrt(most) * (1.0 + 1e-6))


@compiled(inner=True)
def score_centre(centres, k, minus, half):
    """The same of one centre; returns |c_k|^2."""
    square = 0.0
    for j in range(centres.shape[1]):
        square += centres[k, j] * centres[k, j]
        minus[k, j] = np.float32(-centres[k, j])
    half[k] = np.float32(0.5 * square)
    return square
