"""Penalised margin risks of losses with a derivative: Newton, or L-BFGS.

J(b, b0) = sum_i v_i phi(y_i (b0 + x_i'b)) + strength |b|^2 / 2  or  strength |b|_1
"""

from dataclasses import dataclass

import numpy as np
from scipy.optimize import minimize

from empirisk.losses.margin_loss import MarginLoss
from empirisk.runtime.arrays import Floats
from empirisk.runtime.deadlines import check_deadline
from empirisk.solvers.margin_rows import MarginRows
from empirisk.solvers.newton import newton
from empirisk.solvers.proximal_newton import proximal_newton
from empirisk.solvers.steps import ROUNDING

MOST_COLUMNS = 2000
"""With more, a Hessian costs more than the gradients of L-BFGS."""

GAP = 1e-10  # root of the relative decrease that one more step would bring
ENDINGS = {
    "converged": "one more step would lower the objective by no more than its rounding error",
    "rounding": "no step lowers the objective by more than its rounding error",
    "max_iter": "as many steps were taken as allowed",
}


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

    def both(self, point: Floats) -> tuple[float, Floats]:
        """Value and gradient."""
        margin = self.sign * self.rows.score(point)
        pull = self.rows.share * self.sign * self.loss.derivative(margin)
        return float(self.rows.share @ self.loss.value(margin)), self.rows.back(pull)

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
    """The minimum with the penalty strength |b|_1."""
    if not (risk.has_hessian and risk.q <= MOST_COLUMNS):
        return _split_signs(risk, strength, start, max_iter, tol)

    def hessian(point: Floats) -> Floats:
        curvature = risk.hessian(point)  # of the squared hinge it may vanish along some columns
        curvature[np.diag_indices_from(curvature)] += ROUNDING * float(np.trace(curvature))
        return curvature

    penalty = np.full(len(start), strength)
    penalty[risk.q :] = 0.0
    found = proximal_newton(risk.both, hessian, penalty, start, tol=GAP, max_iter=max_iter)
    return Arrival(found.point, found.n_iter, found.ending != "max_iter", ENDINGS[found.ending])


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
