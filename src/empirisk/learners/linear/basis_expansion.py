"""Basis expansion: features turned into the values of basis functions, for any linear learner."""

from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from empirisk.charts.basis_functions import draw_basis_functions
from empirisk.learners.linear.bases import Extrapolation
from empirisk.learners.linear.basis_functions import BasisFunctions
from empirisk.learners.linear.basis_names import (
    names_of_family,
    names_of_functions,
    names_of_inputs,
    names_of_terms,
    number_of_feature,
)
from empirisk.learners.linear.basis_parameters import Basis
from empirisk.learners.linear.rule_soundness import check_basis_read
from empirisk.runtime.arrays import Array, Floats
from empirisk.runtime.column_names import name_columns
from empirisk.runtime.conversion import numbers
from empirisk.runtime.parallel import one_blas_thread
from empirisk.runtime.targets import check_weights
from empirisk.runtime.validation import check_predict


class BasisExpansion(BasisFunctions, TransformerMixin, BaseEstimator):
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
    recurrences_ : list of p arrays of shape (3, largest power)
        Of polynomials: the numbers a, b and c of c P_k+1(t) = (t - a) P_k(t) - b P_k-1(t), where
        t is the feature with its training range scaled to -1..1.
    knots_ : list of p arrays
        Of splines and steps.
    spline_degrees_ : int array of shape (p,)
        Of "spline": the degree of the pieces, 3 if there is room for it.
    n_output_features_ : int
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Notes
    -----
    In place of powers there are polynomials with mean 0 and mean square 1 that are uncorrelated on
    the training rows: the columns span the same functions, but stay far from dependent, wherever
    the data lie. They are named P1(x0), P2(x0), P1(x0) P1(x1) and so on.

    A feature gets no more functions than it has distinct values less one; quantiles that fall on
    the same value are one knot. A feature that is constant gets a column of zeros, and is in no
    product. Nor are two features of two values each, unless all four pairs of values occur in
    training: their product is a combination of themselves and a constant. So the columns that an
    `Encoder` makes of a category are not multiplied with one another. A training row of weight w
    counts as w copies; weight 0 is not there.

    A model file holds named bases; models with callables are kept by pickle or joblib.

    References
    ----------
    C. de Boor (1978), A practical guide to splines.
    G. Forsythe (1957), Generation and use of orthogonal polynomials for data-fitting.

    Examples
    --------
    >>> X = [[0.0], [1.0], [2.0], [4.0]]
    >>> BasisExpansion("polynomial", degree=2).fit_transform(X).round(4)
    array([[-1.1832,  1.1282],
           [-0.5071, -0.6447],
           [ 0.169 , -1.2893],
           [ 1.5213,  0.8058]])
    >>> steps = BasisExpansion("steps", degree=1).fit(X)
    >>> steps.get_feature_names_out()
    array(['x0 > 1.5'], dtype=object)
    >>> steps.transform([[1.5], [7.0]])
    array([[0.],
           [1.]])
    """

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
        """Learn the range, and the knots or the orthogonal polynomials, of each feature.

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
        with one_blas_thread():
            return self.learn(rows[kept], weight[kept])

    def transform(self, X: Any) -> Floats:
        """The values of the basis functions, a column for each."""
        rows = check_predict(self, X)
        with one_blas_thread():
            return name_columns(self.expand(rows), self.get_feature_names_out())

    def check_loaded(self) -> None:
        """Raise an error unless what was read from a file is a basis."""
        check_basis_read(self)

    def get_feature_names_out(self, input_features: Any = None) -> Array:
        """P1(x0) P2(x1), spline1(x0), natural1(x0), x0 > cut, or the name of the function."""
        check_is_fitted(self)
        if not isinstance(self.basis, str):
            return names_of_functions(self.basis[: self.n_output_features_])
        features = names_of_inputs(self, input_features)
        if self.is_polynomial:
            return names_of_terms(self.powers_, features)
        each = zip(features, self.families(), self.knots_, strict=True)
        return np.array([name for one in each for name in names_of_family(*one)], dtype=object)

    def plot(self, feature: int | str = 0, ax: Any = None) -> Any:
        """Draw the basis functions of one feature over its training range, the knots marked.

        Parameters
        ----------
        feature : int or str, default=0
            Its number or its name.
        ax : matplotlib axes, optional

        Returns
        -------
        matplotlib axes
        """
        check_is_fitted(self)
        feature = number_of_feature(self, feature)
        if not isinstance(self.basis, str):
            grid = np.tile(self.low_ / 2 + self.high_ / 2, (500, 1))
            grid[:, feature] = x = np.linspace(self.low_[feature], self.high_[feature], 500)
            values = self.expand(grid)
        else:
            x = np.linspace(self.low_[feature], self.high_[feature], 500)
            values = self.families()[feature].values(np.linspace(-1.0, 1.0, 500)).T
        knots = self.knots_[feature] if hasattr(self, "knots_") else np.zeros(0)
        label = names_of_inputs(self, None)[feature]
        return draw_basis_functions(x, values, knots, label=label, ax=ax)
