"""The no-information rate: the loss to be expected if targets had nothing to do with features."""

import numpy as np

from empirisk.losses import Squared
from empirisk.risk.problem import Problem
from empirisk.runtime.arrays import Array, Floats
from empirisk.runtime.deadlines import check_deadline
from empirisk.runtime.parallel import slices
from empirisk.runtime.streams import generator

PAIRS = 10**8  # so many are looked at, all of them up to 10,000 rows
PAIRS_AT_ONCE = 2**18


def no_information_rate(problem: Problem, prediction: Array, seed: int) -> float:
    """The mean of L(y_i, prediction_j) over all pairs i, j, each by its weight.

    Exact for classes, whatever the loss, and for the squared loss; for other losses exact up to
    10,000 rows, and beyond from a random sample of the pairs.
    """
    share = problem.weight / problem.weight.sum()
    if problem.classes is not None:
        return _of_classes(problem, prediction, share)
    if isinstance(problem.loss, Squared):
        return _squared(problem, prediction, share)
    return _of_pairs(problem, prediction, share, seed)


def guessing_risk(problem: Problem) -> float:
    """The mean loss of guesses that know how targets are distributed, but not the features.

    Classes are guessed as often as they occur, numbers and probabilities are the best constant;
    infinite where nothing is to be predicted.
    """
    target, loss = problem.target, problem.loss
    if target is None or loss.output not in ("value", "probability"):
        return np.inf
    share = problem.weight / problem.weight.sum()
    if problem.classes is not None and loss.output == "value":
        codes = np.arange(problem.n_classes)
        frequency = np.bincount(target, share, minlength=problem.n_classes)
        return float(frequency @ loss(codes[:, None], codes[None, :]) @ frequency)
    outputs = target.reshape(problem.n, -1).T
    best = [loss.best_constant(y, share, n_classes=problem.n_classes) for y in outputs]
    return float(np.mean([share @ loss(y, c) for y, c in zip(outputs, best, strict=True)]))


def _of_classes(problem: Problem, prediction: Array, share: Floats) -> float:
    """sum_k p_k mean_j L(k, prediction_j): the loss knows y only by its class."""
    assert problem.target is not None
    frequency = np.bincount(problem.target, share, minlength=problem.n_classes)
    of_class = [
        share @ problem.loss(np.full(problem.n, k), prediction) for k in range(problem.n_classes)
    ]
    return float(frequency @ of_class)


def _squared(problem: Problem, prediction: Array, share: Floats) -> float:
    """Var y + Var prediction + (difference of their means)^2, over outputs on average."""
    assert problem.target is not None
    y, f = problem.target.reshape(problem.n, -1), prediction.reshape(problem.n, -1)
    mean_y, mean_f = share @ y, share @ f
    with np.errstate(over="ignore"):
        spread = share @ (np.square(y - mean_y) + np.square(f - mean_f))
        return float(np.mean(spread + np.square(mean_y - mean_f)))


def _of_pairs(problem: Problem, prediction: Array, share: Floats, seed: int) -> float:
    """Predictions moved on by s places against the targets, for all s or a random sample of them.

    A sample of shifts uses every row equally often; weights enter as those of the pairs.
    """
    n = problem.n
    shifts = np.arange(n)
    if n * n > PAIRS:
        shifts = np.sort(generator(seed).choice(n, size=max(1, PAIRS // n), replace=False))
    rows, total, weight = np.arange(n), 0.0, 0.0
    for block in slices(len(shifts), max(1, PAIRS_AT_ONCE // n)):
        check_deadline()
        partner = (rows[:, None] + shifts[block]) % n
        pair = share[:, None] * share[partner]
        total += float(np.sum(pair * problem.losses(rows, prediction[partner])))
        weight += float(pair.sum())
    return total / weight
