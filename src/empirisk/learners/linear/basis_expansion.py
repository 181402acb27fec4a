"""Basis expansion: features turned into the values of basis functions, for any linear learner."""

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from empirisk.charts.basis_functions import draw_basis_functions
from empirisk.learners.linear.bases import (
    BSplines,
    Extrapolation,
    Family,
    Legendre,
    NaturalSplines,
    Nothing,
    Steps,
    extended,
)
from empirisk.learners.linear.basis_names import (
    names_of_family,
    names_of_functions,
    names_of_inputs,
    names_of_terms,
)
from empirisk.learners.linear.basis_parameters import (
    OUTSIDE,
    Basis,
    check_basis,
    check_degree,
    check_knots,
)
from empirisk.learners.linear.callables import column_of
from empirisk.learners.linear.knots import Spread, largest_power
from empirisk.learners.linear.polynomial_terms import multiply_out, polynomial_terms
from empirisk.runtime.arrays import Array, Floats, Ints
from empirisk.runtime.column_names import name_columns
from empirisk.runtime.errors import DataError, ParameterError
from empirisk.runtime.parallel import slices
from empirisk.runtime.validation import check_predict, check_weights, numbers

ROWS_AT_ONCE = 4096  # columns of this length stay in the cache


class BasisExpansion(TransformerMixin, BaseEstimator):
    """Basis functions of the features, without the constant: put it before any linear learner.

    Parameters
    ----------
    basis : {"polynomial", "spline", "natural_spline", "steps"} or list of callables
        "polynomial" has all products of powers of the features up to a total degree. The others
        expand each feature by itself. A callable takes the rows, an array (n, p), and returns one
        number for each, computed from this row alone.
    degree : int, optional
        1 or more; by default 3, or all of the callables.

        - "polynomial": the largest total degree.
        - "spline": the number of functions of each feature. 1, 2 and 3 are polynomials of that
          degree; from there on they are cubic with degree - 3 knots.
        - "natural_spline": the number of functions of each feature; degree - 1 knots.
        - "steps": the number of cuts, with one region more; the lowest has no column.
        - callables: how many, the first ones, are used.
    interactions : bool, default=True
        Without them a polynomial has the powers of each feature, but no products of features.
    knots : list of numbers, or list of such lists, optional
        Knots or cuts inside the range of the one feature, or of each. They replace `degree`. By
        default they are the quantiles that cut the training rows into equal parts.
    extrapolation : {"continue", "linear", "constant", "error"}, optional
        Outside of the training range of a feature its functions go on by their formula, as
        straight lines, with their last value, or there is an error. By default polynomials
        continue, splines and steps are constant, and natural splines are straight lines (so are
        those that "continue"). Callables are always computed as they are.

    Attributes
    ----------
    low_, high_ : array of shape (p,)
        The training range.
    powers_ : int array of shape (n_output_features_, p)
        Of polynomials: the degrees of the factors of each column.
    knots_ : list of p arrays
        Of splines and steps.
    spline_degrees_ : int array of shape (p,)
        Of "spline": the degree of the pieces, 3 if there is room for it.
    n_output_features_ : int
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Notes
    -----
    Each feature is scaled so that its training range becomes -1..1, and in place of powers there
    are Legendre polynomials: the columns span the same functions, but stay far from dependent,
    wherever the data lie. They are named P1(x0), P2(x0), P1(x0) P1(x1) and so on.

    A feature gets no more functions than it has distinct values less one. One that is constant
    gets a column of zeros. A training row of weight w counts as w copies; weight 0 is not there.

    Examples
    --------
    >>> X = [[0.0], [1.0], [2.0], [4.0]]
    >>> BasisExpansion("polynomial", degree=2).fit_transform(X)
    array([[-1.   ,  1.   ],
           [-0.5  , -0.125],
           [ 0.   , -0.5  ],
           [ 1.   ,  1.   ]])
    >>> steps = BasisExpansion("steps", degree=1).fit(X)
    >>> steps.get_feature_names_out()
    array(['x0 > 1.5'], dtype=object)
    >>> steps.transform([[1.5], [7.0]])
    array([[0.],
           [1.]])
    """

    low_: Floats
    high_: Floats
    powers_: Ints
    knots_: list[Floats]
    spline_degrees_: Ints

    def __init__(
        self,
        basis: Basis = "polynomial",
        degree: int | None = None,
        *,
        interactions: bool = True,
        knots: Any = None,
        extrapolation: Extrapolation | None = None,
    ) -> None:
        self.basis = basis
        self.degree = degree
        self.interactions = interactions
        self.knots = knots
        self.extrapolation = extrapolation

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Learn the range, the knots and the distinct values of each feature.

        Parameters
        ----------
        X : array-like of shape (n, p)
        y : ignored
        sample_weight : array-like of shape (n,), optional
            A row of weight w counts as w copies of it.
        """
        validate_data(self, X, skip_check_array=True)
        rows = numbers(X, self)
        weight = check_weights(sample_weight, len(rows))
        kept = weight > 0
        return self.learn(rows[kept], weight[kept])

    def learn(self, X: Floats, weight: Floats, spreads: Sequence[Spread] | None = None) -> Self:
        """`fit` on rows that are checked; `spreads` of the features may be known already."""
        check_basis(self.basis, self.extrapolation)
        degree = check_degree(self.degree, self.basis)
        for old in ("powers_", "knots_", "spline_degrees_"):  # of a fit with another basis
            vars(self).pop(old, None)
        self.n_features_in_ = X.shape[1]
        self.low_, self.high_ = X.min(axis=0), X.max(axis=0)
        if self.is_polynomial:
            largest = [largest_power(x, degree) for x in X.T]
            self.powers_ = polynomial_terms(largest, degree, bool(self.interactions))
            self.n_output_features_ = len(self.powers_)
        elif isinstance(self.basis, str):
            self._place_knots(spreads or [Spread.of(x, weight) for x in X.T], degree)
            self.n_output_features_ = sum(family.size for family in self._families())
        else:
            self.n_output_features_ = degree
        if self.knots is not None and (self.degree is not None or not hasattr(self, "knots_")):
            raise ParameterError(
                "knots were given together with a degree, or to a basis without knots: give them "
                "to splines or steps, and no degree"
            )
        return self

    @property
    def is_polynomial(self) -> bool:
        return isinstance(self.basis, str) and self.basis == "polynomial"

    @property
    def is_nested(self) -> bool:
        """Whether the functions of a lower degree are the first ones of a higher."""
        return self.is_polynomial or not isinstance(self.basis, str)

    @property
    def depends_on_range(self) -> bool:
        """Whether the functions, not just their scale, depend on the training range."""
        return isinstance(self.basis, str) and self._outside != "continue"

    def size_at(self, degree: int) -> int:
        """How many functions a lower degree has."""
        if self.is_polynomial:
            return int((self.powers_.sum(axis=1) <= degree).sum())
        return min(degree, self.n_output_features_) if self.is_nested else self.n_output_features_

    def first(self, size: int, blank: "BasisExpansion") -> "BasisExpansion":
        """The first functions only, put into an expansion that is not fitted."""
        vars(blank).update({name: own for name, own in vars(self).items() if name.endswith("_")})
        blank.n_output_features_ = size
        if self.is_polynomial:
            blank.powers_ = self.powers_[:size]
        return blank

    def transform(self, X: Any) -> Floats:
        """The values of the basis functions, a column for each."""
        rows = check_predict(self, X)
        return name_columns(self.expand(rows), self.get_feature_names_out())

    def expand(self, X: Floats) -> Floats:
        """`transform` of rows that are checked."""
        columns = np.empty((self.n_output_features_, len(X)))
        if not isinstance(self.basis, str):
            for j, function in enumerate(self.basis[: len(columns)]):
                columns[j] = column_of(function, j, X)
            return columns.T
        middle, half = self.low_ / 2 + self.high_ / 2, self.high_ / 2 - self.low_ / 2
        outside = bool(((self.low_ > X) | (self.high_ < X)).any())
        if outside and self._outside == "error":
            self._refuse_outside(X)
        families = self._families()
        with np.errstate(over="ignore", invalid="ignore"):
            for part in slices(len(X), ROWS_AT_ONCE):
                t = np.where(half > 0, X[part] - middle, 0.0) / np.where(half > 0, half, 1.0)
                self._fill(families, np.ascontiguousarray(t.T), columns[:, part])
        if outside and not np.isfinite(columns).all():
            raise DataError(
                "a row lies so far outside of the training range that its basis functions are too "
                "large for floating-point numbers: leave it out, or set extrapolation='constant'"
            )
        return columns.T

    def _fill(self, families: list[Family], t: Floats, out: Floats) -> None:
        values = [
            extended(family, own, self._outside) for family, own in zip(families, t, strict=True)
        ]
        if self.is_polynomial:
            multiply_out(self.powers_, values, out)
        else:
            np.concatenate(values, out=out)

    def get_feature_names_out(self, input_features: Any = None) -> Array:
        """P1(x0) P2(x1), spline1(x0), natural1(x0), x0 > cut, or the name of the function."""
        check_is_fitted(self)
        if not isinstance(self.basis, str):
            return names_of_functions(self.basis[: self.n_output_features_])
        features = names_of_inputs(self, input_features)
        if self.is_polynomial:
            return names_of_terms(self.powers_, features)
        each = zip(features, self._families(), self.knots_, strict=True)
        return np.array([name for one in each for name in names_of_family(*one)], dtype=object)

    def plot(self, feature: int = 0, ax: Any = None) -> Any:
        """Draw the basis functions of one feature over its training range, the knots marked."""
        check_is_fitted(self)
        if not isinstance(self.basis, str):
            grid = np.tile(self.low_ / 2 + self.high_ / 2, (500, 1))
            grid[:, feature] = x = np.linspace(self.low_[feature], self.high_[feature], 500)
            values = self.expand(grid)
        else:
            x = np.linspace(self.low_[feature], self.high_[feature], 500)
            values = self._families()[feature].values(np.linspace(-1.0, 1.0, 500)).T
        knots = self.knots_[feature] if hasattr(self, "knots_") else np.zeros(0)
        label = str(getattr(self, "feature_names_in_", [f"x{feature}"] * (feature + 1))[feature])
        return draw_basis_functions(x, values, knots, label=label, ax=ax)

    @property
    def _outside(self) -> Extrapolation:
        chosen = OUTSIDE[str(self.basis)] if self.extrapolation is None else self.extrapolation
        return "linear" if chosen == "continue" and self.basis == "natural_spline" else chosen

    def _families(self) -> list[Family]:
        """The functions of each feature."""
        p = len(self.low_)
        if self.is_polynomial:
            return [Legendre(int(self.powers_[:, j].max())) for j in range(p)]
        middle, half = self.low_ / 2 + self.high_ / 2, self.high_ / 2 - self.low_ / 2
        found: list[Family] = []
        for j in range(p):
            if not half[j] > 0:
                found.append(Nothing())
                continue
            knots = (self.knots_[j] - middle[j]) / half[j]
            if self.basis == "steps":
                found.append(Steps(knots))
            elif self.basis == "natural_spline":
                found.append(NaturalSplines(knots))
            else:
                found.append(BSplines(knots, int(self.spline_degrees_[j])))
        return found

    def _place_knots(self, spreads: Sequence[Spread], degree: int) -> None:
        if self.knots is not None:
            self.spline_degrees_ = np.full(len(spreads), 3)
            self.knots_ = check_knots(self.knots, self.low_, self.high_)
            return
        size = np.array([min(degree, len(spread.value) - 1) for spread in spreads])
        self.spline_degrees_ = np.minimum(size, 3)
        if self.basis == "steps":
            self.knots_ = [s.cuts(int(m)) for s, m in zip(spreads, size, strict=True)]
            return
        inside = size - (1 if self.basis == "natural_spline" else self.spline_degrees_)
        inside = np.maximum(inside, 0)  # a constant feature has none
        self.knots_ = [s.knots(int(m)) for s, m in zip(spreads, inside, strict=True)]

    def _refuse_outside(self, X: Floats) -> None:
        row, j = np.argwhere((self.low_ > X) | (self.high_ < X))[0]
        raise DataError(
            f"row {row} has {X[row, j]} in feature {j}, outside of its training range "
            f"{self.low_[j]} to {self.high_[j]}: leave it out, or choose another extrapolation"
        )
