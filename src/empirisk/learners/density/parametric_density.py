"""Parametric densities by maximum likelihood."""

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Literal, Self

import numpy as np
from sklearn.base import BaseEstimator, clone
from sklearn.utils.validation import _is_fitted, check_is_fitted

from empirisk.learners.density.density_estimator import DensityMixin
from empirisk.learners.density.families import Family, Parameters
from empirisk.learners.density.gaussian import Gaussian
from empirisk.learners.density.maximum_likelihood import fit_family
from empirisk.learners.density.parametric_soundness import check_parametric
from empirisk.risk.axis import Axis, Output, Path
from empirisk.risk.without_labels import FittedPath
from empirisk.runtime.arrays import Floats
from empirisk.runtime.column_names import column_names
from empirisk.runtime.errors import ParameterError
from empirisk.runtime.scalars import is_number, is_whole
from empirisk.runtime.streams import generator, spawn
from empirisk.runtime.validation import check_predict, check_rows

GAUSSIAN = "gaussian"
FITTED = ("mean_", "scale_", "correlation_", "_variances", "_axes", "parameters_")
SHRINKAGES = tuple(np.linspace(0.0, 1.0, 21).tolist())


class ParametricDensity(DensityMixin, BaseEstimator):
    """The density of a parametric family that makes the rows most likely:

        maximise  sum_i log f_theta(x_i)    over theta.

    As rows become many it tends to the member of the family that is nearest to their density g by
    KL(g, f_theta), whether or not g is in the family. A Gaussian has a mean and a covariance in
    all dimensions; the columns of other families are independent, each with its own parameters.

    Complexity axis: `shrinkage`; `Tuned(ParametricDensity())` chooses it, of a Gaussian.

    Parameters
    ----------
    family : str
        "gaussian", or the name of a continuous family of scipy.stats: "gamma", "lognorm", "t", ...
    shrinkage : float
        Of the correlations of a Gaussian towards 0: 0 is maximum likelihood, 1 that of independent
        columns. Other families do not depend on it.
    fixed : "auto", dict or None
        Parameters that are not to be found, such as {"loc": 0, "df": 4}, by scipy's names. "auto"
        is as in textbooks and in R's fitdistr: a half line begins at 0 ("gamma", "lognorm",
        "weibull_min", ... have loc = 0), and an interval is that of scipy ("beta" lies on [0, 1]).
        None finds all, which often has no answer: with a free end of the half line the likelihood
        can be infinite. Of "gaussian" all are found; of "norm" loc and scale can be fixed.
    variance_floor : float
        The least variance of a Gaussian along an axis of the correlations, where 1 is that of a
        column: if the rows lie in a plane it takes the place of 0, with a `RankWarning`. A column
        of one value c has so much of c^2, or of 1 if c is 0.

    Attributes
    ----------
    mean_ : array of shape (p,)
        Of a Gaussian; as are the following three.
    scale_ : array of shape (p,)
        Standard deviations, divided by n.
    correlation_ : array of shape (p, p)
        Of the rows, not shrunk.
    covariance_ : array of shape (p, p)
        With the correlations shrunk; the density has besides no variance below the floor.
    parameters_ : list of dict
        Of the columns, for other families.
    n_parameters_ : int
        How many were found.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Notes
    -----
    Of "expon", "halfnorm", "invgauss", "laplace", "lognorm", "maxwell", "norm", "pareto",
    "powerlaw", "rayleigh" and "uniform" the maximum is a formula, of "gamma", "truncexpon" and
    "weibull_min" the root of one equation. Of others, and for other parameters fixed, it is found
    by Newton's method from several starts; a `ConvergenceWarning` says where the point found is not
    stationary, or goes on to a limit of the family. A row of weight w counts as w rows.

    References
    ----------
    H. White (1982), Maximum likelihood estimation of misspecified models, Econometrica 50.
    W. Venables & B. Ripley (2002), Modern Applied Statistics with S, section 16.3.

    Examples
    --------
    >>> X = [[1.0, 2.0], [2.0, 3.0], [3.0, 5.0], [6.0, 6.0]]
    >>> density = ParametricDensity().fit(X)
    >>> density.mean_, density.covariance_
    (array([3., 4.]), array([[3.5 , 2.75],
           [2.75, 2.5 ]]))
    >>> density.score_samples([[3.0, 4.0]]).round(4)
    array([-1.9238])
    >>> ParametricDensity("expon").fit([[1.0], [3.0]]).parameters_
    [{'loc': 0.0, 'scale': 2.0}]
    """

    axis: ClassVar[Axis | None] = Axis(("shrinkage",), larger="simpler", scale="linear")
    feature_scaling: ClassVar[Literal["each", "common"] | None] = "each"

    def __init__(
        self,
        family: str = GAUSSIAN,
        *,
        shrinkage: float = 0.0,
        fixed: Any = "auto",
        variance_floor: float = 1e-9,
    ) -> None:
        self.family = family
        self.shrinkage = shrinkage
        self.fixed = fixed
        self.variance_floor = variance_floor

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Find the parameters.

        Parameters
        ----------
        X : array-like of shape (n, p)
        y : ignored
        sample_weight : array-like of shape (n,), optional
            A row of weight w counts as w copies of it.

        Returns
        -------
        self
        """
        rows, weight = check_rows(self, X, sample_weight)
        return self._learned(self._found(rows, weight), rows.shape[1])

    def score_samples(self, X: Any) -> Floats:
        """log f(x) of each row, minus infinity where the density is 0."""
        rows = check_predict(self, X)
        if self.family == GAUSSIAN:
            return self._gaussian().log_density(rows, self._shrinkages([self.shrinkage]))[:, 0]
        check_is_fitted(self, "parameters_")
        return _log_densities(self._family(), self.parameters_, rows)

    def sample(self, n_samples: int = 1, random_state: Any = None) -> Floats:
        """New rows that the density gives, (n_samples, p)."""
        check_is_fitted(self)
        if not is_whole(n_samples, 1):
            raise ParameterError(f"n_samples is {n_samples!r}; give a whole number of 1 or more")
        seeds = spawn(random_state, self.n_features_in_)
        if self.family == GAUSSIAN:
            found = self._gaussian()
            normal = generator(seeds[0]).standard_normal((n_samples, len(found.mean)))
            return found.mean + normal @ found.root(float(self.shrinkage)).T
        check_is_fitted(self, "parameters_")
        family = self._family()
        columns = [
            family.distribution.rvs(
                *(column[name] for name in family.names),
                size=n_samples,
                random_state=generator(seed),
            )
            for column, seed in zip(self.parameters_, seeds, strict=True)
        ]
        return np.column_stack(columns)

    def aic(self, X: Any) -> float:
        """Akaike's criterion on rows X: -2 log likelihood + 2 parameters."""
        found = self.score_samples(X)
        return float(-2 * found.sum() + 2 * self.n_parameters_)

    def bic(self, X: Any) -> float:
        """Schwarz's criterion on rows X: -2 log likelihood + log(n) parameters."""
        found = self.score_samples(X)
        return float(-2 * found.sum() + np.log(len(found)) * self.n_parameters_)

    @property
    def covariance_(self) -> Floats:
        """D ((1 - s) R + s I) D of a Gaussian."""
        check_is_fitted(self, "correlation_")
        shrunk = (1 - self.shrinkage) * self.correlation_
        np.fill_diagonal(shrunk, 1.0)
        with np.errstate(over="ignore"):
            return shrunk * self.scale_[:, None] * self.scale_

    @property
    def n_parameters_(self) -> int:
        """How many were found: p + p (p + 1) / 2 of a Gaussian, 2 p if columns are independent."""
        check_is_fitted(self)
        p = self.n_features_in_
        if self.family != GAUSSIAN:
            return p * len(self._family().free)
        return 2 * p if self.shrinkage == 1 else p + p * (p + 1) // 2

    def axis_values(
        self, X: Floats, y: Any, sample_weight: Floats, *, n_train: int
    ) -> Sequence[float]:
        """From 0 to 1 by steps of 0.05; the learner's own for one column, or another family."""
        shrinks = self.family == GAUSSIAN and X.shape[1] > 1
        return SHRINKAGES if shrinks else (self.shrinkage,)

    def fit_path(
        self, X: Floats, y: Any, sample_weight: Floats, values: Sequence[Any], *, n_classes: int = 0
    ) -> "FamilyPath | GaussianPath":
        """All shrinkages from the axes of one matrix of correlations."""
        found = self._found(X, sample_weight)
        if isinstance(found, Gaussian):
            return GaussianPath(self, found, values, self._shrinkages(values))
        learners = [clone(self).set_params(shrinkage=value) for value in values]
        return FamilyPath([each._learned(found, X.shape[1]) for each in learners])

    def check_loaded(self) -> None:
        """Raise a DataError unless what a file has of a fitted density belongs together."""
        if _is_fitted(self):
            check_parametric(self)

    def _found(self, rows: Floats, weight: Floats) -> Gaussian | list[Parameters]:
        names = column_names(rows)
        if self.family == GAUSSIAN:
            self._refuse_fixed()
            return Gaussian.fit(rows, weight, self._floor(), names)
        family = self._family()
        return [
            fit_family(family, column, weight, j if names is None else names[j])
            for j, column in enumerate(rows.T)
        ]

    def _learned(self, found: Gaussian | list[Parameters], p: int) -> Self:
        self.n_features_in_ = p
        for name in FITTED:  # an earlier fit may have been of another family
            self.__dict__.pop(name, None)
        if isinstance(found, Gaussian):
            found.warn_of_planes(float(self._shrinkages([self.shrinkage])[0]))
            self.mean_, self.scale_ = found.mean, found.deviation
            self.correlation_ = found.correlation
            self._variances, self._axes = found.variances, found.axes
        else:
            self.parameters_ = [dict(column) for column in found]
        return self

    def _gaussian(self) -> Gaussian:
        check_is_fitted(self, "correlation_")
        return Gaussian(
            self.mean_, self.scale_, self.correlation_, self._variances, self._axes, self._floor()
        )

    def _family(self) -> Family:
        return Family.of(self.family, self.fixed)

    def _refuse_fixed(self) -> None:
        """Raise a ParameterError where parameters of a Gaussian are to be fixed."""
        if not (self.fixed is None or self.fixed == "auto" or self.fixed == {}):
            raise ParameterError(
                f"fixed is {self.fixed!r:.60}; of 'gaussian' all parameters are found: give None, "
                "or family='norm', whose loc and scale can be fixed"
            )

    def _floor(self) -> float:
        floor = self.variance_floor
        if not (is_number(floor) and 0 <= floor <= 1):
            raise ParameterError(f"variance_floor is {floor!r}; it must lie between 0 and 1")
        return float(floor)

    def _shrinkages(self, values: Sequence[Any]) -> Floats:
        for value in values:
            if not (is_number(value) and 0 <= value <= 1):
                raise ParameterError(f"shrinkage is {value!r}; it must lie between 0 and 1")
        return np.array(values, dtype=float)


class FamilyPath(FittedPath):
    """Of families without an axis: one fit, whatever the value."""

    same_as_fit = True


class GaussianPath(Path):
    """A Gaussian at all shrinkages, from one training set."""

    same_as_fit = True

    def __init__(
        self, learner: ParametricDensity, found: Gaussian, values: Sequence[Any], shrinkages: Floats
    ) -> None:
        self.learner, self.found = learner, found
        self.values, self.shrinkages = values, shrinkages

    def predict_path(self, X: Floats, output: Output) -> Floats:
        """-log f of each row, a column for each shrinkage."""
        if output != "density":
            raise ParameterError(
                f"ParametricDensity has no {output!r} of rows: use the loss 'log_density'"
            )
        return 0.0 - self.found.log_density(X, self.shrinkages)

    def at(self, j: int) -> ParametricDensity:
        """The fitted learner at the j-th value."""
        learner = clone(self.learner).set_params(shrinkage=self.values[j])
        return learner._learned(self.found, len(self.found.mean))


def _log_densities(family: Family, columns: Sequence[Mapping[str, float]], X: Floats) -> Floats:
    """Of independent columns: the sum of their log densities.

    Where one of them is 0 the density is 0, though another one be infinite.
    """
    logs = [family.log_density(X[:, j], column) for j, column in enumerate(columns)]
    with np.errstate(invalid="ignore"):
        total = np.sum(logs, axis=0)
    return np.where(np.isnan(total), -np.inf, total)
