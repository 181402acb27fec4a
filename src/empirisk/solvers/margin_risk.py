"""Penalised margin risks of losses with a derivative: Newton, or L-BFGS.

J(b, b0) = sum_i v_i phi(y_i (b0 + x_i'b)) + strength |b|^2 / 2  or  strength |b|_1
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.optimize import minimize

from empirisk.losses.margin_loss import MarginLoss
from empirisk.runtime.arrays import Floats
from empirisk.runtime.deadlines import check_deadline
from empirisk.solvers.margin_rows import MarginRows
from empirisk.solvers.newton import newton
from empirisk.solvers.proximal_newton import proximal_newton
from empirisk.solvers.steps import DOUBTFUL, ROUNDING

MOST_COLUMNS = 2000
"""With more, a Hessian costs more than the gradients of L-BFGS."""

GAP = 1e-10  # root of the relative decrease that one more step would bring
ENDINGS = {
    "converged": "one more step would lower the objective by no more than its rounding error",
    "rounding": "no step lowers the objective by more than its rounding error",
    "max_iter": "as many steps were taken as allowed",
}
SMALL = 1e-5  # of the gradient at zero: what L-BFGS leaves where the derivative is continuous
STARTS = 3  # of L-BFGS, which forgets a bad curvature when it begins again
KINK = "no step is found that lowers the objective: the loss seems to have a kink"
NO_KINK = 'give it a continuous derivative, or take loss="hinge"'
NEAR = 1e-5  # how far from a margin a jump of the derivative is looked for
JUMP = 1e-2  # of the largest derivative


@dataclass(frozen=True, eq=False)
class Arrival:
    """[b, b0] (or b, without an intercept), the number of steps, and whether it is the minimum.

    If it is not, `advice` says what helps.
    """

    point: Floats
    n_iter: int
    converged: bool
    reason: str
    advice: str = "raise max_iter, or lower C"


def has_second_derivative(loss: MarginLoss) -> bool:
    """Whether the loss gives one."""
    return type(loss).second_derivative is not MarginLoss.second_derivative


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
        return has_second_derivative(self.loss)

    @property
    def q(self) -> int:
        return self.rows.X.shape[1]

    @property
    def zero(self) -> Floats:
        return np.zeros(self.rows.n_coefficients)


def ridge_margin(risk: MarginRisk, strength: float, start: Floats, max_iter: int) -> Arrival:
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
        way = newton(value, gradient, hessian, start, max_iter=max_iter, tol=0.0)
        return Arrival(way.minimiser, way.n_iter, way.converged, way.reason)
    arrival = _quasi_newton(lambda point: (value(point), gradient(point)), start, max_iter, None)
    return _unless_kinked(risk, arrival)


def lasso_margin(risk: MarginRisk, strength: float, start: Floats, max_iter: int) -> Arrival:
    """The minimum with the penalty strength |b|_1."""
    if not (risk.has_hessian and risk.q <= MOST_COLUMNS):
        return _split_signs(risk, strength, start, max_iter)

    def hessian(point: Floats) -> Floats:
        curvature = risk.hessian(point)  # of the squared hinge it may vanish along some columns
        curvature[np.diag_indices_from(curvature)] += ROUNDING * float(np.trace(curvature))
        return curvature

    penalty = np.full(len(start), strength)
    penalty[risk.q :] = 0.0
    found = proximal_newton(risk.both, hessian, penalty, start, tol=GAP, max_iter=max_iter)
    return Arrival(found.point, found.n_iter, found.ending != "max_iter", ENDINGS[found.ending])


def _split_signs(risk: MarginRisk, strength: float, start: Floats, max_iter: int) -> Arrival:
    """b = u - v with u, v >= 0, so that the penalty is linear, and L-BFGS within these bounds."""
    q = risk.q

    def joined(long: Floats) -> Floats:
        return np.concatenate([long[:q] - long[q : 2 * q], long[2 * q :]])

    def both(long: Floats) -> tuple[float, Floats]:
        slope = risk.gradient(joined(long))
        value = risk.value(joined(long)) + strength * float(long[: 2 * q].sum())
        return value, np.concatenate([slope[:q] + strength, strength - slope[:q], slope[q:]])

    parts = [np.maximum(start[:q], 0), np.maximum(-start[:q], 0), start[q:]]
    bounds = [(0.0, None)] * (2 * q) + [(-np.inf, None)] * (len(start) - q)
    arrival = _quasi_newton(both, np.concatenate(parts), max_iter, bounds)
    return _unless_kinked(risk, replace(arrival, point=joined(arrival.point)))


def _unless_kinked(risk: MarginRisk, arrival: Arrival) -> Arrival:
    """A small gradient proves nothing if the derivative of the loss jumps where a row lies."""
    margin = risk.sign * risk.rows.score(arrival.point)
    near = NEAR * np.maximum(np.abs(margin), 1.0)
    before, after, zero = (
        risk.loss.derivative(z) for z in (margin - near, margin + near, np.zeros(1))
    )
    largest = max(float(np.abs(slope).max()) for slope in (before, after, zero))
    if not arrival.converged or (np.abs(after - before) <= JUMP * largest).all():
        return arrival
    return replace(arrival, converged=False, reason=KINK, advice=NO_KINK)


def _quasi_newton(
    both: Callable[[Floats], tuple[float, Floats]],
    start: Floats,
    max_iter: int,
    bounds: Sequence[tuple[float, float | None]] | None,
) -> Arrival:
    """L-BFGS. Where it stalls it has arrived only if the gradient is small."""

    def watched(point: Floats) -> tuple[float, Floats]:
        check_deadline()
        with np.errstate(over="ignore", invalid="ignore"):
            value, slope = both(point)
        # SciPy's line search takes large numbers, not infinite ones.
        return min(value, 1e300), np.nan_to_num(slope, posinf=1e300, neginf=-1e300)

    low = np.full(len(start), -np.inf) if bounds is None else np.array([b[0] for b in bounds])
    nothing = np.zeros_like(start)
    value, slope = watched(nothing)
    small = max(SMALL * _steepness(nothing, slope, low), DOUBTFUL * abs(value))
    t, point = 0, start
    for _ in range(STARTS):
        limits = {"maxiter": 20 * max_iter - t, "maxfun": 50 * max_iter, "maxcor": 20}
        found = minimize(
            watched, point, jac=True, method="L-BFGS-B", bounds=bounds,
            options={**limits, "gtol": 0.0, "ftol": 1e-16},
        )  # fmt: skip
        t, point = t + int(found.nit), found.x
        if found.status == 1:
            return Arrival(point, t, False, str(found.message))
        if _steepness(point, found.jac, low) <= small:
            return Arrival(point, t, True, str(found.message))
    return Arrival(point, t, False, KINK, NO_KINK)


def _steepness(point: Floats, slope: Floats, low: Floats) -> float:
    """The largest partial derivative along which there is room."""
    return float(np.abs(point - np.maximum(point - slope, low)).max())
