"""Linear discriminant functions, and the rule and the probabilities they give.

    f_k(x) = offset_k + (x - centre)' coef_k,    P(k | x) = exp f_k(x) / sum_l exp f_l(x)

A row goes to the class with the largest f_k, to the first of equals.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import expit, log_expit, logsumexp, softmax

from empirisk.risk.axis import Output
from empirisk.runtime.arrays import Array, Floats, Ints
from empirisk.runtime.errors import ParameterError

LARGEST_EXPONENT = 1000
"""Powers of two up to here leave room for the sums that follow."""

LARGEST = np.finfo(float).max
ROUNDED = 4 * np.finfo(float).eps
"""For each term of an intercept: by so much other orders of summation differ, relative to them."""


@dataclass(frozen=True, eq=False)
class LinearDiscriminants:
    """The discriminant functions of K classes, for V values of a parameter at once.

    Of two classes only the difference f = f_1 - f_0 is kept.

    Parameters
    ----------
    coef : array of shape (K, V, p), or (1, V, p) for two classes
    offset : array of shape (K, V), or (1, V)
        The functions at the centre; minus infinity for a class that is never predicted.
    centre : array of shape (p,)
        About it the products are small, and large offsets of the columns cost no digits.
    """

    coef: Floats
    offset: Floats
    centre: Floats

    def values(self, X: Floats) -> Floats:
        """f_k at the rows of X, an array (rows, K or 1, V).

        Where they would leave the range of floating point, all those of the row are scaled down
        by one power of two.
        """
        coef = self.coef.reshape(-1, self.coef.shape[-1])
        with np.errstate(over="ignore", invalid="ignore"):
            linear = (X - self.centre) @ coef.T
        values = linear.reshape(len(X), *self.offset.shape) + self.offset
        overflown = ~np.isfinite(linear).all(axis=1)
        if overflown.any():
            values[overflown] = self._scaled_values(X[overflown])
        return values

    def predict(self, X: Floats, output: Output) -> Array:
        """Class codes (rows, V), or probabilities (rows, V, K)."""
        return decide(self.values(X), output)

    def at(self, j: int) -> "LinearDiscriminants":
        """The functions at the j-th value alone."""
        return LinearDiscriminants(self.coef[:, [j]], self.offset[:, [j]], self.centre)

    def in_units(self, unit: Ints) -> "LinearDiscriminants":
        """The same functions of columns that were measured in units of 2^unit."""
        with np.errstate(over="ignore"):
            coef = np.clip(np.ldexp(self.coef, -unit), -LARGEST, LARGEST)
        return LinearDiscriminants(coef, self.offset, np.ldexp(self.centre, unit))

    def _scaled_values(self, X: Floats) -> Floats:
        halved = 0.5 * X - 0.5 * self.centre
        of_row = np.frexp(np.abs(halved).max(axis=1))[1]
        of_coef = int(np.frexp(np.abs(self.coef).max())[1])
        coef = np.ldexp(self.coef, -of_coef).reshape(-1, self.coef.shape[-1])
        linear = np.ldexp(halved, -of_row[:, None]) @ coef.T
        exponent = of_row + of_coef + 1
        room = LARGEST_EXPONENT - X.shape[1].bit_length()
        down = np.maximum(exponent - room, 0)[:, None, None]
        linear = linear.reshape(len(X), *self.offset.shape)
        return np.ldexp(linear, exponent[:, None, None] - down) + np.ldexp(self.offset, -down)


def as_written(
    coef: Any, intercept: Any, offset: Floats | None, centre: Floats | None
) -> LinearDiscriminants:
    """The functions that `coef_` and `intercept_` of a learner say.

    A fit leaves them about a centre as well, where they have more digits. That holds as long as
    it gives the same intercept: who writes other numbers into the learner means those.
    """
    coef, intercept = np.atleast_2d(coef), np.atleast_1d(intercept)
    if offset is None or centre is None or not _agree(coef, intercept, offset, centre):
        intercept = np.broadcast_to(intercept, len(coef))
        return LinearDiscriminants(coef[:, None], intercept[:, None], np.zeros(coef.shape[1]))
    return LinearDiscriminants(coef[:, None], offset[:, None], centre)


def _agree(coef: Floats, intercept: Floats, offset: Floats, centre: Floats) -> bool:
    """Whether two forms are the same functions, up to rounding, or beyond all numbers."""
    if coef.shape != (len(offset), len(centre)):
        return False
    with np.errstate(over="ignore", invalid="ignore"):
        again = offset - coef @ centre
        if np.array_equal(again, intercept):
            return True
        size = np.abs(offset) + np.abs(coef) @ np.abs(centre)
        return not (np.abs(again - intercept) > ROUNDED * (1 + len(centre)) * size).any()


def decide(values: Floats, output: Output) -> Array:
    """What a loss asks for, from the values (rows, K or 1, V) of the functions."""
    if output == "value":
        return largest(values)
    if output == "probability":
        return posterior(values)
    raise ParameterError(f"discriminants give a class or its probability, not {output!r}")


def among_all(values: Floats, present: Ints, n_classes: int) -> Floats:
    """Values of the classes `present` as values of all classes; the others are never predicted."""
    if len(present) == n_classes:
        return values
    if values.shape[1] == 1:
        values = np.concatenate([np.zeros_like(values), values], axis=1)
    full = np.full((len(values), n_classes, values.shape[2]), -np.inf)
    full[:, present] = values
    return full


def largest(values: Floats) -> Ints:
    """The class of the largest value, the first of equals: (rows, K or 1, V) -> (rows, V)."""
    if values.shape[1] == 1:
        return (values[:, 0] > 0).astype(np.int64)
    best = values[:, 0].copy()
    code = np.zeros(best.shape, np.int64)
    for k in range(1, values.shape[1]):
        code[values[:, k] > best] = k
        np.maximum(best, values[:, k], out=best)
    return code


def posterior(values: Floats) -> Floats:
    """exp f_k / sum_l exp f_l without overflow: (rows, K or 1, V) -> (rows, V, K)."""
    if values.shape[1] == 1:
        return np.stack([expit(-values[:, 0]), expit(values[:, 0])], axis=-1)
    return softmax(np.moveaxis(values, 1, -1), axis=-1)


def log_posterior(values: Floats) -> Floats:
    """The logarithm of `posterior`, accurate where the probability itself underflows.

    The largest f_k is taken off first: from a value of 1e17 the logarithm of a sum would be lost.
    """
    if values.shape[1] == 1:
        return np.stack([log_expit(-values[:, 0]), log_expit(values[:, 0])], axis=-1)
    values = values - values.max(axis=1, keepdims=True)
    return np.moveaxis(values - logsumexp(values, axis=1, keepdims=True), 1, -1)
