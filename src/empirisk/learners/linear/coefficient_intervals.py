"""Standard errors and confidence intervals of the coefficients of logistic regression.

With the Hessian H of the objective at its minimum, a coefficient a'theta has the variance
a'H^-1 a (Wald). Its profile interval are the values t that a likelihood-ratio test does not reject:

    2 (min {F(theta) : a'theta = t} - min F) <= z^2,    z the normal quantile.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal

import numpy as np
from scipy.stats import norm

from empirisk.data.blocks import Rows
from empirisk.learners.linear.logistic_fit import MOST_COEFFICIENTS
from empirisk.learners.linear.logistic_objective import Penalty
from empirisk.learners.linear.logistic_penalty import effective_C, effective_ratio
from empirisk.learners.linear.logistic_problem import LogisticProblem
from empirisk.runtime.arrays import Array, Floats
from empirisk.runtime.deadlines import check_deadline
from empirisk.runtime.errors import DataError, ParameterError
from empirisk.runtime.parallel import one_blas_thread
from empirisk.runtime.scalars import check_level
from empirisk.solvers.inverse_hessian import InverseHessian, inverse_hessian
from empirisk.solvers.quasi_newton import quasi_newton

ELSEWHERE = 0.1
"""Standard errors between a fit and the minimum at which the rows must be others."""
EXACT = 1e-9  # of the root of twice the difference of objectives
ROUNDS = 60
LEFT = 1e-6
"""Of the rise of the objective, what the other coefficients may still gain where one is held."""
ROUNDED = 1e-4  # of the objective: at a smaller rise, near the fit, what is left is rounding


@dataclass(frozen=True, eq=False)
class CoefficientIntervals:
    """One line for each coefficient, and for each class where there are more than two.

    Attributes
    ----------
    name : tuple of str
        The column, or "intercept".
    of_class : tuple
        The class whose score it is part of.
    estimate, standard_error, lower, upper : arrays
    level : float
    method : {"wald", "profile"}
    """

    name: tuple[str, ...]
    of_class: tuple[Any, ...]
    estimate: Floats
    standard_error: Floats
    lower: Floats
    upper: Floats
    level: float
    method: Literal["wald", "profile"]

    def __str__(self) -> str:
        several = len(set(self.of_class)) > 1
        heads = [f"{c} of {k}" for c, k in zip(self.name, self.of_class, strict=True)]
        first = heads if several else list(self.name)
        wide = max(map(len, [*first, "coefficient"]))
        lines = [
            f"{'coefficient':<{wide}} {'estimate':>12} {'std. error':>12} "
            f"{f'{100 * self.level:g} % interval':>27}"
        ]
        columns = (self.estimate, self.standard_error, self.lower, self.upper)
        for head, *numbers in zip(first, *columns, strict=True):
            estimate, error, lower, upper = numbers
            lines.append(
                f"{head:<{wide}} {estimate:>12.5g} {error:>12.5g} {lower:>13.5g} {upper:>13.5g}"
            )
        return "\n".join(lines)


def coefficient_intervals(
    learner: Any,
    rows: Rows,
    classes: Array,
    names: Sequence[str] | None,
    level: float,
    method: Literal["wald", "profile"],
) -> CoefficientIntervals:
    """The intervals of a fitted learner, from the rows that it was fitted to."""
    _check(learner, level, method)
    problem = LogisticProblem(
        rows,
        len(classes),
        fit_intercept=learner.fit_intercept,
        l1_ratio=0.0,
        penalised=bool(np.isfinite(effective_C(learner, learner.C))),
    )
    if problem.loss.size > MOST_COEFFICIENTS:
        raise DataError(
            f"{problem.loss.size} coefficients are too many for intervals, "
            f"which need the inverse of a Hessian; at most {MOST_COEFFICIENTS}: use fewer columns"
        )
    with one_blas_thread():
        profile = Profile.of(problem, learner)
        lines = list(_functionals(problem))
        found = np.array([profile.interval(a, level, method) for _, _, a in lines])
    estimate, error, lower, upper = _in_raw_units(found, problem, [j for _, j, _ in lines]).T
    named = [column_name(names, j, problem) for _, j, _ in lines]
    of_class = tuple(classes.tolist()[k] for k, _, _ in lines)
    return CoefficientIntervals(
        tuple(named), of_class, estimate, error, lower, upper, level, method
    )


def column_name(names: Sequence[str] | None, j: int, problem: LogisticProblem) -> str:
    """Of the j-th coefficient; the last is the intercept."""
    if j == len(problem.centre):
        return "intercept"
    return f"x{j}" if names is None else str(names[j])


def _functionals(problem: LogisticProblem) -> Iterator[tuple[int, int, Floats]]:
    """(class, column, a) such that a'theta is the coefficient of the column as it was scaled."""
    loss = problem.loss
    p = len(problem.centre)
    scores = [(1, np.ones(1))] if loss.n_classes == 2 else list(enumerate(loss.basis))
    for k, score in scores:
        for j in range(loss.width):
            column = np.zeros(loss.width)
            if j < p:
                column[j] = 1.0
            else:
                column[:p], column[p] = -problem.centre, 1.0
            yield k, j, np.outer(score, column).reshape(-1)


def _in_raw_units(found: Floats, problem: LogisticProblem, columns: Sequence[int]) -> Floats:
    """Lines of numbers for the columns as given, within the range of floating point.

    Squares of errors in these units may overflow or vanish, so they are formed before.
    """
    unit = np.append(problem.scales.X, 1.0)[list(columns)]
    largest = np.finfo(float).max
    with np.errstate(over="ignore", under="ignore"):
        return np.clip(found / unit[:, np.newaxis], -largest, largest)


@dataclass(frozen=True, eq=False)
class Profile:
    """The objective around its minimum."""

    problem: LogisticProblem
    penalty: Penalty
    theta: Floats
    value: float
    inverse: InverseHessian

    @classmethod
    def of(cls, problem: LogisticProblem, learner: Any) -> "Profile":
        """At the exact minimum, which must be the fitted one."""
        C = effective_C(learner, learner.C)
        penalty = problem.penalty(C)
        fitted = problem.theta(
            learner._dense_coef, learner.intercept_ + learner._dense_coef @ problem.raw_centre
        )
        _, gradient = penalty.smooth(problem.loss, fitted)
        inverse = penalty.inverse(problem.loss, fitted)
        away = np.sqrt(gradient @ inverse.solve(gradient) * problem.scales.weight)
        if not away < ELSEWHERE:
            raise DataError(
                f"the fit is {away:.2g} standard errors away from the best one for these rows: "
                "give the rows and weights that it was fitted to, or fit to convergence"
            )
        if inverse.null.shape[1]:
            raise DataError(
                "columns of X depend on one another, so their coefficients have no intervals: "
                "drop some, or set C to a finite value"
            )
        best = problem.fit(C, fitted, tol=1e-12, max_iter=50).theta
        value, _ = penalty.smooth(problem.loss, best)
        return cls(problem, penalty, best, value, penalty.inverse(problem.loss, best))

    def interval(self, a: Floats, level: float, method: str) -> tuple[float, float, float, float]:
        """Estimate, standard error and both ends."""
        estimate, along = float(a @ self.theta), self.inverse.solve(a)
        error = float(np.sqrt(a @ along))
        z = float(norm.isf((1 - level) / 2))
        # Weights were divided by a power of two with the objective: errors are those of the rows.
        unit = 1.0 / np.sqrt(self.problem.scales.weight)
        if method == "wald":
            reach = z * error * unit
            return estimate, error * unit, estimate - reach, estimate + reach
        ends = [self._end(a, along, error, sign * z * unit) for sign in (-1.0, 1.0)]
        return estimate, error * unit, ends[0], ends[1]

    def _end(self, a: Floats, along: Floats, error: float, z: float) -> float:
        """The t on one side where the root of twice the rise of the objective is |z|.

        That root is nearly linear in t: Newton's method from Wald's end.
        """
        estimate = float(a @ self.theta)
        t, theta = estimate, self.theta
        move = z * error
        inside, outside = estimate, np.inf * z  # the end lies between
        for _ in range(ROUNDS):
            check_deadline()
            t += move
            theta, rise, slope = self._constrained(a, t, theta + along * (move / (error * error)))
            root = np.sqrt(max(2 * rise, 0.0))
            if abs(root - abs(z)) <= EXACT * abs(z):
                break
            if root < abs(z):
                inside = t
            else:
                outside = t
            move = (abs(z) - root) * root / slope if slope != 0 else z * error
            if not min(inside, outside) < t + move < max(inside, outside):
                to = 0.5 * (inside + outside) if np.isfinite(outside) else t + z * error
                move = to - t
        return t

    def _constrained(self, a: Floats, t: float, start: Floats) -> tuple[Floats, float, float]:
        """The best point with a'theta = t, the objective above the best, its slope in t."""
        plane = Plane(a, t)
        others = np.delete(start, plane.k)
        if len(others):  # a single coefficient is alone
            others = quasi_newton(
                partial(plane.smooth, self),
                others,
                partial(plane.inverse, self),
                cost=1.0,
                tol=1e-10,
                max_iter=100,
            ).point
        point = plane.point(others)
        value, gradient = self.penalty.smooth(self.problem.loss, point)
        rise = value - self.value
        left = np.abs(plane.along(gradient)) @ np.abs(others)  # at most to be gained, about
        if not left <= LEFT * max(rise, ROUNDED * value):
            raise DataError(
                "a profile interval reaches to where all probabilities are 0 or 1 and the Hessian "
                "has no inverse, so little do rows of such weights tell: give larger weights, if "
                "these are not counts of copies, or method='wald'"
            )
        return point, rise, float(gradient[plane.k] / a[plane.k])


@dataclass(frozen=True, eq=False)
class Plane:
    """Where a'theta = t, in all coordinates but the one that counts most in it.

    The Hessian there has an inverse even where that of all coordinates all but has none, as far
    out, where a score is large for all rows.
    """

    a: Floats
    t: float

    @property
    def k(self) -> int:
        return int(np.abs(self.a).argmax())

    @property
    def ratio(self) -> Floats:
        """What the coordinate k falls by for each unit of the others."""
        return np.delete(self.a, self.k) / self.a[self.k]

    def point(self, others: Floats) -> Floats:
        return np.insert(others, self.k, self.t / self.a[self.k] - self.ratio @ others)

    def smooth(self, profile: Profile, others: Floats) -> tuple[float, Floats]:
        value, gradient = profile.penalty.smooth(profile.problem.loss, self.point(others))
        return value, self.along(gradient)

    def along(self, gradient: Floats) -> Floats:
        return np.delete(gradient, self.k) - gradient[self.k] * self.ratio

    def inverse(self, profile: Profile, others: Floats) -> InverseHessian:
        H = profile.penalty.hessian(profile.problem.loss, self.point(others))
        row, ratio = np.delete(H[self.k], self.k), self.ratio
        H_kk = H[self.k, self.k]
        H = np.delete(np.delete(H, self.k, axis=0), self.k, axis=1)
        H += np.outer(ratio, H_kk * ratio - row) - np.outer(row, ratio)
        return inverse_hessian(H)


def _check(learner: Any, level: float, method: str) -> None:
    if method not in ("wald", "profile"):
        raise ParameterError(f"method is {method!r}; it must be 'wald' or 'profile'")
    check_level(level)
    ratio = effective_ratio(learner)
    if ratio > 0:
        raise ParameterError(
            f"l1_ratio is {ratio}: coefficients that an L1 penalty chose have no "
            "standard errors; fit with l1_ratio=0"
        )
    if learner.separation_ is not None:
        raise DataError(
            f"the classes are separated ({learner.separation_.kind}): coefficients without penalty "
            "are infinite and have no intervals; set C to a finite value"
        )
