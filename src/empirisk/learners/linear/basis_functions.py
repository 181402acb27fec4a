"""The functions of a basis, fitted to training rows."""

from collections.abc import Sequence
from typing import Any, Self

import numpy as np

from empirisk.learners.linear.accepted_parameters import FLAG, check_accepted
from empirisk.learners.linear.bases import Extrapolation, Family, Nothing, extended, with_knots
from empirisk.learners.linear.basis_parameters import (
    OUTSIDE,
    Basis,
    check_basis,
    check_degree,
    check_knots,
    refuse_knots,
)
from empirisk.learners.linear.callables import column_of
from empirisk.learners.linear.knots import Spread, place_knots
from empirisk.learners.linear.orthogonal_polynomials import OrthogonalPolynomials
from empirisk.learners.linear.polynomial_terms import (
    multiply_out,
    polynomial_terms,
    redundant_products,
    refuse_too_many,
)
from empirisk.learners.linear.training_range import TrainingRange
from empirisk.runtime.arrays import Floats, Ints
from empirisk.runtime.errors import DataError
from empirisk.runtime.parallel import slices

OF_ONE_BASIS = ("powers_", "recurrences_", "knots_", "spline_degrees_")
ROWS_AT_ONCE = 4096  # columns of this length stay in the cache


class BasisFunctions:
    """What `BasisExpansion` learns from rows that are checked, and computes of such rows."""

    basis: Basis
    degree: int | None
    interactions: bool
    knots: Any
    extrapolation: Extrapolation | None

    n_features_in_: int
    n_output_features_: int
    low_: Floats
    high_: Floats
    powers_: Ints
    recurrences_: list[Floats]
    knots_: list[Floats]
    spline_degrees_: Ints

    def learn(self, X: Floats, weight: Floats, spreads: Sequence[Spread] | None = None) -> Self:
        """`fit` on rows that are checked; `spreads` of the features may be known already."""
        check_accepted(self, {"interactions": FLAG})
        check_basis(self.basis, self.extrapolation)
        degree = check_degree(self.degree, self.basis)
        refuse_knots(self.knots, self.basis, self.degree)
        for old in OF_ONE_BASIS:  # of a fit with another
            self.__dict__.pop(old, None)
        self.n_features_in_ = X.shape[1]
        self.low_, self.high_ = X.min(axis=0), X.max(axis=0)
        if self.is_polynomial:
            self._make_polynomials(X, weight, degree)
        elif isinstance(self.basis, str):
            if self.knots is not None:
                self.knots_ = check_knots(self.knots, self.low_, self.high_)
                self.spline_degrees_ = np.full(X.shape[1], 3)
            else:
                spreads = spreads or [Spread.of(x, weight) for x in X.T]
                self.knots_, self.spline_degrees_ = place_knots(self.basis, spreads, degree)
            self.n_output_features_ = sum(family.size for family in self.families())
        else:
            self.n_output_features_ = degree
        return self

    def _make_polynomials(self, X: Floats, weight: Floats, degree: int) -> None:
        interactions = bool(self.interactions)
        refuse_too_many(X.shape[1], degree, interactions)
        scaled = self.training_range.scaled(X).T
        found = [OrthogonalPolynomials.of(np.ascontiguousarray(t), weight, degree) for t in scaled]
        self.recurrences_ = [polynomials.steps for polynomials in found]
        largest = [max(1, polynomials.size) for polynomials in found]
        products = interactions and degree > 1
        redundant = redundant_products(X, self.low_, self.high_) if products else None
        self.powers_ = polynomial_terms(largest, degree, interactions, redundant)
        self.n_output_features_ = len(self.powers_)

    def expand(self, X: Floats) -> Floats:
        """`transform` of rows that are checked."""
        columns = np.empty((self.n_output_features_, len(X)))
        if not isinstance(self.basis, str):
            for j, function in enumerate(self.basis[: len(columns)]):
                columns[j] = column_of(function, j, X)
            return columns.T
        outside = self.training_range.outside(X)
        if outside and self._outside == "error":
            self.training_range.refuse_outside(X)
        families = self.families()
        with np.errstate(over="ignore", invalid="ignore"):
            for part in slices(len(X), ROWS_AT_ONCE):
                t = np.ascontiguousarray(self.training_range.scaled(X[part]).T)
                self._fill(families, t, columns[:, part])
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

    @property
    def training_range(self) -> TrainingRange:
        return TrainingRange(self.low_, self.high_)

    def families(self) -> list[Family]:
        """The functions of each feature, as they are on -1..1."""
        if self.is_polynomial:
            return [
                OrthogonalPolynomials(steps[:, :most]) if steps.size else Nothing()
                for steps, most in zip(self.recurrences_, self.powers_.max(axis=0), strict=True)
            ]
        return [
            with_knots(str(self.basis), knots, int(degree)) if half > 0 else Nothing()
            for knots, degree, half in zip(
                self.scaled_knots(), self.spline_degrees_, self.training_range.half, strict=True
            )
        ]

    def scaled_knots(self) -> list[Floats]:
        """The knots or cuts of each feature, its range scaled to -1..1.

        Rounding may put a cut at the least value below -1, where rows of that value never are.
        """
        return [
            np.clip(self.training_range.of_feature(j).scaled(knots), -1.0, 1.0)
            for j, knots in enumerate(self.knots_)
        ]

    @property
    def _outside(self) -> Extrapolation:
        chosen = OUTSIDE[str(self.basis)] if self.extrapolation is None else self.extrapolation
        return "linear" if chosen == "continue" and self.basis == "natural_spline" else chosen

    @property
    def is_polynomial(self) -> bool:
        return self.basis == "polynomial"

    @property
    def is_nested(self) -> bool:
        """Whether the functions of a lower degree are the first ones of a higher."""
        return self.is_polynomial or not isinstance(self.basis, str)

    @property
    def depends_on_range(self) -> bool:
        """Whether what the functions span depends on the training range."""
        return isinstance(self.basis, str) and self._outside != "continue"

    def size_at(self, degree: int) -> int:
        """How many functions a lower degree has."""
        if self.is_polynomial:
            return int((self.powers_.sum(axis=1) <= degree).sum())
        return min(degree, self.n_output_features_) if self.is_nested else self.n_output_features_

    def first(self, size: int, blank: Self) -> Self:
        """The first functions only, put into a basis that is not fitted."""
        blank.__dict__.update({k: own for k, own in self.__dict__.items() if k.endswith("_")})
        blank.n_output_features_ = size
        if self.is_polynomial:
            blank.powers_ = self.powers_[:size]
        return blank
