"""Which products of powers a polynomial in several features has, lowest degree first."""

from collections.abc import Iterator, Sequence
from itertools import combinations_with_replacement
from math import comb

import numpy as np

from empirisk.runtime.arrays import Bools, Floats, Ints
from empirisk.runtime.errors import ParameterError

MOST_COLUMNS = 1_000_000


def number_of_terms(features: int, degree: int, interactions: bool) -> int:
    """How many terms of degree 1 to `degree` there are, the constant not counted.

    Examples
    --------
    >>> number_of_terms(2, 2, interactions=True)  # x, y, x^2, xy, y^2
    5
    """
    return comb(features + degree, degree) - 1 if interactions else features * degree


def refuse_too_many(features: int, degree: int, interactions: bool) -> None:
    """A complaint where the columns would fill the memory."""
    wanted = number_of_terms(features, degree, interactions)
    if wanted > MOST_COLUMNS:
        raise ParameterError(
            f"degree={degree} of {features} features gives {wanted:,} columns; at most "
            f"{MOST_COLUMNS:,} are made: take a lower degree, or interactions=False"
        )


def polynomial_terms(
    largest: Sequence[int], degree: int, interactions: bool, redundant: Bools | None = None
) -> Ints:
    """The powers (terms, features) of each term, by total degree.

    The terms of a lower degree come first, so they are the first columns of every higher one.
    `largest` is the highest power that each feature may have; those that are `redundant` together,
    (features, features), are in no product.

    Examples
    --------
    >>> polynomial_terms([2, 1], 2, interactions=True).tolist()
    [[1, 0], [0, 1], [2, 0], [1, 1]]
    """
    features = len(largest)
    terms = [
        np.bincount(term, minlength=features)
        for d in range(1, degree + 1)
        for term in _of_degree(features, d, interactions)
    ]
    powers = np.array(terms, dtype=np.int64)
    powers = powers[(powers <= np.asarray(largest)).all(axis=1)]
    if redundant is None or not redundant.any():
        return powers
    inside = (powers > 0).astype(float)
    return powers[np.einsum("rj,rj->r", inside @ redundant, inside) == 0]


def redundant_products(X: Floats, low: Floats, high: Floats) -> Bools:
    """Which pairs of features have a product that is a combination of lower terms on these rows.

    A constant and any other; and two features of two values each, unless all four pairs of values
    occur. Of the columns that stand for the levels of one category they never do.

    Examples
    --------
    >>> X = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0]])  # with [1, 1] the product would be new
    >>> redundant_products(X, X.min(axis=0), X.max(axis=0)).tolist()
    [[False, True], [True, False]]
    """
    constant = low == high
    redundant = constant[:, np.newaxis] | constant
    two = np.flatnonzero(((low == X) | (high == X)).all(axis=0) & ~constant)
    ends = [(X[:, two] == end[two]).astype(float) for end in (low, high)]
    rows = [one.T @ other for one in ends for other in ends]  # with each pair of values
    redundant[np.ix_(two, two)] = np.min(rows, axis=0) == 0
    np.fill_diagonal(redundant, False)
    return redundant


def _of_degree(features: int, degree: int, interactions: bool) -> Iterator[tuple[int, ...]]:
    if interactions:
        return combinations_with_replacement(range(features), degree)
    return ((j,) * degree for j in range(features))


def multiply_out(powers: Ints, values: Sequence[Floats], out: Floats) -> None:
    """Row r of `out` becomes the product over the features j of values[j][powers[r, j] - 1].

    A term without its last factor is a term of lower degree, and stands above: one product each.
    """
    place: dict[bytes, int] = {}
    for r, term in enumerate(powers):
        last = int(np.flatnonzero(term)[-1])
        factor = values[last][term[last] - 1]
        place[term.tobytes()] = r
        if not term[:last].any():
            out[r] = factor
            continue
        rest = term.copy()
        rest[last] = 0
        np.multiply(out[place[rest.tobytes()]], factor, out=out[r])
