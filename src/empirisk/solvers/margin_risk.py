"""Penalised margin risks of losses with a derivative: Newton, or L-BFGS.

J(b, b0) = sum_i v_i phi(y_i (b0 + x_i'b)) + strength |b|^2 / 2  or  strength |b|_1
"""

from dataclasses import dataclass

import numpy as np
from scipy.optimize import minimize

from empirisk.compiled.l1_quadratic import l1_sweeps
from empirisk.losses.margin_loss import MarginLoss
from empirisk.runtime.arrays import Floats
from empirisk.runtime.deadlines import check_deadline
from empirisk.solvers.margin_rows import MarginRows
from empirisk.solvers.newton import newton
from empirisk.solvers.steps import DOUBTFUL, ROUNDING, Backtracking

MOST_COLUMNS = 2000
"""With more, a Hessian costs more than the gradients of L-BFGS."""

SWEEPS = 1000
RULE = Backtracking(1.0)


@dataclass(frozen=True, eq=False)
class Arrival:
    """[b, b0] (or b, without an intercept), the number of steps, and whether it is the minimum."""

    point: Floats
    n_iter: int
    converged: bool
    reason: str


@dataclass(frozen=True, eq=False)
class MarginRisk:
    """J without its penalty."""

    rows: MarginRows
    sign: Floats
    loss: MarginLoss

    def value(self, point: Floats) -> float:
        margin = self.sign * self.rows.score(point)
        return float(self.rows.share @ self.loss.value(margin))

    def gradient(self, point: Floats) -> Floats:
        margin = self.sign * self.rows.score(point)
        return self.rows.back(self.rows.share * self.sign * self.loss.derivative(margin))

    def hessian(self, point: Floats) -> Floats:
        margin = self.sign * self.rows.score(point)
        return self.rows.scatter(self.rows.share * self.loss.second_derivative(margin))

    @property
    def has_hessian(self) -> bool:
        return type(self.loss).second_derivative is not MarginLoss.second_derivative

    @property
    def q(self) -> int:
        return self.rows.X.shape[1]

    @property
    def zero(self) -> Floats:
        return np.zeros(self.rows.n_coefficients)


def ridge_margin(
    risk: MarginRisk, strength: float, start: Floats, max_iter: int, tol: float
) -> Arrival:
    """The minimum with the penalty strength |b|^2 / 2."""
    q = risk.q

    def value(point: Floats) -> float:
        return risk.value(point) + 0.5 * strength * float(point[:q] @ point[:q])

    def gradient(point: Floats) -> Floats:
        slope = risk.gradient(point)
        slope[:q] += strength * point[:q]
        return slope

    def hessian(point: Floats) -> Floats:
        curvature = risk.hessian(point)
        curvature[np.arange(q), np.arange(q)] += strength
        return curvature

    if risk.has_hessian and q <= MOST_COLUMNS:
        way = newton(value, gradient, hessian, start, max_iter=max_iter, tol=tol)
        return Arrival(way.minimiser, way.n_iter, way.converged, way.reason)
    return _quasi_newton(lambda point: (value(point), gradient(point)), start, max_iter, tol, None)


def lasso_margin(
    risk: MarginRisk, strength: float, start: Floats, max_iter: int, tol: float
) -> Arrival:
    """The minimum with the penalty strength |b|_1: proximal Newton (Lee, Sun & Saunders 2014).

    Each step minimises the quadratic approximation of the risk plus the penalty, by coordinate
    descent, and goes as far along as it lowers the objective.
    """
    if not (risk.has_hessian and risk.q <= MOST_COLUMNS):
        return _split_signs(risk, strength, start, max_iter, tol)
    q, point = risk.q, start

    def value(point: Floats) -> float:
        return risk.value(point) + strength * float(np.abs(point[:q]).sum())

    here = value(point)
    for t in range(max_iter):
        check_deadline()
        slope, curvature = risk.gradient(point), risk.hessian(point)
        if _violation(slope, point, strength, q) <= tol:
            return Arrival(point, t, True, f"no optimality condition fails by more than {tol:g}")
        diagonal = np.arange(len(point))
        curvature[diagonal, diagonal] += ROUNDING * max(float(np.trace(curvature)), 1e-300)
        best = point.copy()
        l1_sweeps(curvature, slope, point, best, strength, q, SWEEPS, 1e-14)
        direction = best - point
        fall = float(slope @ direction) + strength * float(
            np.abs(best[:q]).sum() - np.abs(point[:q]).sum()
        )
        taken = RULE.search(value, point, here, direction, fall, 1.0)
        if taken is None:
            flat = bool(-fall <= DOUBTFUL * abs(here))
            last = best if flat and value(best) <= here + DOUBTFUL * abs(here) else point
            return Arrival(last, t, flat, "no step lowers the objective")
        # The whole step ends on exact zeros; a sum with the start need not.
        point, here = (best if taken.length == 1.0 else taken.point), taken.value
    return Arrival(point, max_iter, False, f"max_iter = {max_iter} step(s) were taken")


def _violation(slope: Floats, point: Floats, strength: float, q: int) -> float:
    """By how much the optimality conditions fail: 0 in grad + strength sign(b)."""
    b, g = point[:q], slope[:q]
    fails = np.where(b == 0, np.maximum(np.abs(g) - strength, 0), np.abs(g + strength * np.sign(b)))
    return float(max(fails.max(initial=0.0), np.abs(slope[q:]).max(initial=0.0)))


def _split_signs(
    risk: MarginRisk, strength: float, start: Floats, max_iter: int, tol: float
) -> Arrival:
    """b = u - v with u, v >= 0, so that the penalty is linear, and L-BFGS within these bounds."""
    q = risk.q

    def joined(long: Floats) -> Floats:
        return np.concatenate([long[:q] - long[q : 2 * q], long[2 * q :]])

    def both(long: Floats) -> tuple[float, Floats]:
        slope = risk.gradient(joined(long))
        value = risk.value(joined(long)) + strength * float(long[: 2 * q].sum())
        return value, np.concatenate([slope[:q] + strength, strength - slope[:q], slope[q:]])

    parts = [np.maximum(start[:q], 0), np.maximum(-start[:q], 0), start[q:]]
    bounds = [(0.0, None)] * (2 * q) + [(None, None)] * (len(start) - q)
    arrival = _quasi_newton(both, np.concatenate(parts), max_iter, tol, bounds)
    return Arrival(joined(arrival.point), arrival.n_iter, arrival.converged, arrival.reason)


def _quasi_newton(both, start, max_iter, tol, bounds) -> Arrival:  # type: ignore[no-untyped-def]
    def watched(point: Floats) -> tuple[float, Floats]:
        check_deadline()
        with np.errstate(over="ignore", invalid="ignore"):
            value, slope = both(point)
        # SciPy's line search takes large numbers, not infinite ones.
        return min(value, 1e300), np.nan_to_num(slope, posinf=1e300, neginf=-1e300)

    limits = {"maxiter": 20 * max_iter, "maxfun": 50 * max_iter, "maxcor": 20}
    found = minimize(
        watched, start, jac=True, method="L-BFGS-B", bounds=bounds,
        options={**limits, "gtol": tol, "ftol": 1e-16},
    )  # fmt: skip
    stalled = found.status == 2  # no lower value is found: the rounding of the objective
    reason = str(found.message)
    return Arrival(found.x, int(found.nit), found.status == 0 or stalled, reason)
