"""The loss at the end of a network, and its derivative by what the last layer gives out.

Regression: f is the prediction, of counts its logarithm. Labels: each is there or not, whatever the
others, with f_k its log-odds. Classes: of two, f is the log-odds of the
second (a sigmoid of it the probability), of more a softmax of f_1..f_K are the probabilities;
margin losses take each class against the rest, with y = 1 for it and -1 for the others.
"""

from math import log

import numpy as np

from empirisk.compiled.decorator import compiled
from empirisk.compiled.networks.activations import softmax_columns

SQUARED, ABSOLUTE, QUANTILE, POISSON, LABELS, LOG = range(6)
HINGE, SQUARED_HINGE, LOGIT, EXPONENTIAL, SQUARE, PERCEPTRON = range(6, 12)
TINY = 1e-30  # a smaller probability is found from its logarithm
LOG_2 = log(2.0)
MOST = 700.0  # exp of more is no double
STEEPEST = 1e38  # in single precision


@compiled(inner=True)
def output_loss(kind, q, y, f):
    """(loss, derivative) of one output, the prediction of a value or the log-odds of a label."""
    apart = f - y
    if kind == SQUARED:
        return 0.5 * apart * apart, apart
    if kind == ABSOLUTE:
        return abs(apart), np.sign(apart)
    if kind == QUANTILE:
        slope = (1.0 - q) if apart > 0 else -q
        return slope * apart, (slope if apart != 0 else 0.0)
    if kind == POISSON:
        mean = np.exp(min(f, MOST))
        return mean - y * f, mean - y
    small = np.exp(-abs(f))
    probability = (1.0 if f > 0 else small) / (1.0 + small)
    return max(f, 0.0) + np.log1p(small) - y * f, probability - y


@compiled(inner=True)
def margin_loss(kind, m):
    """(phi(m), phi'(m)) of a margin m = y f; at a kink the derivative from the left."""
    if kind == HINGE:
        return max(0.0, 1.0 - m), (-1.0 if m <= 1.0 else 0.0)
    if kind == SQUARED_HINGE:
        short = max(0.0, 1.0 - m)
        return short * short, -2.0 * short
    if kind == PERCEPTRON:
        return max(0.0, -m), (-1.0 if m <= 0.0 else 0.0)
    if kind == SQUARE:
        return (1.0 - m) * (1.0 - m), 2.0 * (m - 1.0)
    small = np.exp(-abs(m))
    if kind == LOGIT:
        value = (max(-m, 0.0) + np.log1p(small)) / LOG_2
        return value, -(1.0 / (1.0 + small) if m < 0 else small / (1.0 + small)) / LOG_2
    value = np.exp(min(-m, MOST))
    return value, -value


@compiled(leaf=True, makes_arrays=True, signatures=2)
def head_loss(kind, number, f, aim, share, delta):
    """sum_i share_i L(y_i, f_i), and its derivative in delta; f is used up.

    aim has the values or labels y, a row for each output, or in its only row the class codes.
    """
    if kind == LOG and f.shape[0] > 1:
        return cross_entropy(f, aim, share, delta)
    total, unit = 0.0, LOG_2 if kind == LOG else 1.0
    for k in range(f.shape[0]):
        for i in range(f.shape[1]):
            score = np.float64(f[k, i])
            if kind < LOG:
                loss, slope = output_loss(kind, number, np.float64(aim[k, i]), score)
            else:
                second = k if f.shape[0] > 1 else 1
                sign = 1.0 if aim[0, i] == second else -1.0
                loss, slope = margin_loss(LOGIT if kind == LOG else kind, sign * score)
                loss, slope = unit * loss, unit * sign * slope
            if f.itemsize == 4:
                slope = min(max(slope, -STEEPEST), STEEPEST)
            total += share[i] * loss
            delta[k, i] = share[i] * slope
    return total


@compiled(leaf=True, makes_arrays=True, signatures=2)
def cross_entropy(f, aim, share, delta):
    """-sum_i share_i log p_i[y_i], p_i the softmax of column i; its derivative is p - 1{k = y}."""
    total = 0.0
    for k in range(f.shape[0]):
        for i in range(f.shape[1]):
            delta[k, i] = f[k, i]
    softmax_columns(delta)
    for i in range(f.shape[1]):
        y = np.int64(aim[0, i])
        top, rest = np.float64(f[0, i]), 0.0
        for k in range(1, f.shape[0]):
            top = max(top, np.float64(f[k, i]))
        p = np.float64(delta[y, i])
        if p > TINY:
            total -= share[i] * np.log(p)
        else:  # log p itself, where p is as good as 0
            for k in range(f.shape[0]):
                rest += np.exp(np.float64(f[k, i]) - top)
            total += share[i] * (top + np.log(rest) - np.float64(f[y, i]))
    for k in range(f.shape[0]):
        for i in range(f.shape[1]):
            slope = delta[k, i] - (1.0 if aim[0, i] == k else 0.0)
            delta[k, i] = share[i] * slope
    return total
