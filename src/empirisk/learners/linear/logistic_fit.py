"""Fitting logistic rules with a smooth penalty, or none.

    minimise  L(f) + (1 / C) |b|^2 / 2

Newton's method where a Hessian is cheap. Where it costs as much as many gradients, L-BFGS goes
first, and Newton's method goes on from there if that many gradients did not suffice; where there
is no room for a Hessian, L-BFGS alone. With many rows, the start is the rule of a part of them,
and the Hessian there serves for all rows as long as it pays. So does, along a path, the Hessian of
the last fit.
"""

from functools import partial
from typing import NamedTuple

import numpy as np

from empirisk.learners.linear.logistic_cost import Cost
from empirisk.learners.linear.logistic_loss import LogisticLoss
from empirisk.learners.linear.logistic_objective import Penalty
from empirisk.runtime.arrays import Floats
from empirisk.solvers.inverse_hessian import InverseHessian
from empirisk.solvers.limited_memory import limited_memory
from empirisk.solvers.quasi_newton import Diagonal, Minimum, quasi_newton

ROWS_PER_COEFFICIENT = 15
LEAST_PART = 4
"""A start from a part of the rows pays where the part is a quarter or less."""
DEAR = 300
"""Coefficients from which on a Hessian is so dear that L-BFGS tries first."""
MOST_COEFFICIENTS = 6000
"""Beyond these a Hessian (288 MB) is not computed."""
SEPARATED = 1e-10
"""A mean loss that only rules reach which separate the classes."""


class Fit(NamedTuple):
    """A point in the coordinates of the loss, and how it was reached."""

    theta: Floats
    n_iter: int
    ending: str
    """"converged", "rounding", "floor" or "max_iter"."""
    accuracy: float
    """The Newton decrement over the root of the objective, which `tol` bounds."""
    null: Floats  # columns: directions along which the loss does not change


def by_hessians(
    loss: LogisticLoss,
    penalty: Penalty,
    start: Floats,
    inverse: InverseHessian | None = None,
    *,
    cost: float,
    tol: float,
    max_iter: int,
) -> Minimum:
    """Newton's method, with a Hessian where it pays; at each step if the cost is -inf."""
    return quasi_newton(
        partial(penalty.smooth, loss),
        start,
        partial(penalty.inverse, loss),
        inverse=inverse,
        cost=cost,
        tol=tol,
        floor=_floor(loss, penalty),
        max_iter=max_iter,
    )


def by_gradients(
    loss: LogisticLoss,
    penalty: Penalty,
    start: Floats,
    *,
    max_calls: float = np.inf,
    tol: float,
    max_iter: int,
) -> Minimum:
    """L-BFGS in the metric of a diagonal; after so many gradients its ending is "max_iter"."""
    function = partial(penalty.smooth, loss)
    diagonal = penalty.diagonal(loss)
    if loss.X.shape[1] > len(loss.X) and penalty.l2 > 0:
        # In most directions the loss is level and the Hessian that of the penalty, l2 times 1.
        diagonal = np.full_like(diagonal, diagonal.mean())
    floor = _floor(loss, penalty)
    arrival = limited_memory(
        function, start, diagonal, tol=tol, floor=floor, max_iter=max_iter, max_calls=max_calls
    )
    found = quasi_newton(
        function,
        arrival.point,
        lambda _: Diagonal(diagonal),
        inverse=arrival.inverse,
        seen=arrival.seen,
        cost=np.inf,
        tol=tol,
        floor=floor,
        max_iter=int(min(max_iter - arrival.n_iter, max_calls - arrival.n_calls)),
    )
    return found._replace(n_iter=found.n_iter + arrival.n_iter)


def _floor(loss: LogisticLoss, penalty: Penalty) -> float:
    return 0.0 if penalty.l2 > 0 else SEPARATED * float(loss.weight.sum())


def first_point(
    loss: LogisticLoss, penalty: Penalty, start: Floats
) -> tuple[Floats, InverseHessian | None]:
    """A start from part of the rows, and the inverse Hessian there, where that is worth it."""
    step = len(loss.X) // max(ROWS_PER_COEFFICIENT * loss.size, 2000)
    if step < LEAST_PART or loss.size > MOST_COEFFICIENTS:
        return start, None
    part = loss.part(step)
    if len(np.unique(part.y)) < loss.n_classes:
        return start, None
    cost = Cost.of(part).hessian
    found = by_hessians(part, penalty, start, cost=cost, tol=1e-4, max_iter=15)
    if loss.value_and_gradient(found.point)[0] > loss.value_and_gradient(start)[0]:
        return start, None
    inverse = penalty.inverse(part, found.point)
    return (start, None) if inverse.null.shape[1] else (found.point, inverse)
