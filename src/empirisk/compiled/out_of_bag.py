"""The running sums of an ensemble's scores, of the rows that a member lacks."""

import numpy as np

from empirisk.compiled.decorator import compiled


@compiled
def add_scores(total, members, rows, scores):
    """total[rows] += scores and members[rows] += 1, in place; a row comes once."""
    for i in range(rows.size):
        row = rows[i]
        members[row] += 1
        for k in range(total.shape[1]):
            total[row, k] += scores[i, k]


@compiled
def largest(total, rows):
    """The column of the largest sum of each row, of equal ones the first."""
    winner = np.zeros(rows.size, np.int64)
    for i in range(rows.size):
        row = rows[i]
        for k in range(1, total.shape[1]):
            if total[row, k] > total[row, winner[i]]:
                winner[i] = k
    return winner


@compiled
def mean_scores(total, members, rows):
    """total / members of these rows, each of which has a member."""
    mean = np.empty((rows.size, total.shape[1]))
    for i in range(rows.size):
        row = rows[i]
        for k in range(total.shape[1]):
            mean[i, k] = total[row, k] / members[row]
    return mean
