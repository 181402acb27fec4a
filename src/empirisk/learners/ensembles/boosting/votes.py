"""From weighted votes to decisions, probabilities, classes and margins.

Votes have a column for each class; of two classes one, the votes for the second minus those for the
first. Axes before it may be any.
"""

import numpy as np
from scipy.special import expit, softmax

from empirisk.runtime.arrays import Array, Floats, Ints


def decisions(votes: Floats, norm: Array | float, n_classes: int) -> Floats:
    """scikit-learn's decision function, of votes whose weights have the sum `norm`.

    Of two classes without the last axis; of one class zeros.

    Examples
    --------
    >>> decisions(np.array([[3.0, 1.0, 0.0]]), 4.0, 3)
    array([[ 0.625, -0.125, -0.5  ]])
    >>> decisions(np.array([[1.0]]), 4.0, 2)
    array([0.5])
    """
    if n_classes == 1:
        return np.zeros_like(votes)
    share = votes / norm
    if n_classes == 2:
        return 2.0 * share[..., 0]
    return (n_classes * share - 1.0) / (n_classes - 1)


def probabilities(scores: Floats, n_classes: int) -> Floats:
    """softmax(f_k / (K - 1)) of a decision function.

    Examples
    --------
    >>> probabilities(np.array([0.0, 2.0]), 2).round(3)
    array([[0.5  , 0.5  ],
           [0.119, 0.881]])
    """
    if n_classes == 1:
        return np.ones_like(scores)
    if n_classes == 2:
        return np.stack([expit(-scores), expit(scores)], axis=-1)
    return softmax(scores / (n_classes - 1), axis=-1)


def chosen(scores: Floats, n_classes: int) -> Ints:
    """The class codes of the highest scores, the first of equals."""
    if n_classes == 2:
        return (scores > 0).astype(np.int64)
    return scores.argmax(axis=-1)


def margins(votes: Floats, norm: float, codes: Ints, n_classes: int) -> Floats:
    """The share of the votes for the class of each row minus the largest of the others.

    Examples
    --------
    >>> margins(np.array([[3.0, 1.0, 0.0], [3.0, 1.0, 0.0]]), 4.0, np.array([0, 2]), 3)
    array([ 0.5 , -0.75])
    """
    share = votes / norm
    if n_classes == 1:
        return np.ones(len(votes))
    if n_classes == 2:
        return np.where(codes == 1, share[:, 0], -share[:, 0])
    rows = np.arange(len(votes))
    own = share[rows, codes]
    share[rows, codes] = -np.inf
    return own - share.max(axis=1)
