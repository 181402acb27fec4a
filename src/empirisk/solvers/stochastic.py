"""Stochastic gradient descent: each step from a few rows."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from empirisk.runtime.arrays import Floats, Ints
from empirisk.runtime.deadlines import check_deadline
from empirisk.runtime.errors import ParameterError
from empirisk.runtime.scalars import is_whole
from empirisk.runtime.streams import generator, spawn
from empirisk.solvers.descent import Descent, Way, check_callables, check_limits, gradient_at
from empirisk.solvers.steps import Backtracking, Decaying, Objective, as_step, value_at

DECAYING = Decaying()
LOOK = 64  # steps between looks at the clock


def stochastic_gradient(
    gradient: Callable[[Floats, Ints], Any],
    start: ArrayLike,
    n_rows: int,
    *,
    objective: Objective | None = None,
    step: float | Decaying = DECAYING,
    first_step: int = 0,
    batch_size: int = 32,
    max_epochs: int = 100,
    average: bool = False,
    shuffle: bool = True,
    tol: float = 0.0,
    random_state: Any = None,
) -> Descent:
    """b <- b - s_t g_t(b), g_t the mean gradient over the rows of the t-th minibatch.

    Parameters
    ----------
    gradient : callable
        From a point of shape (p,) and row numbers to the mean gradient over these rows, of shape
        (p,), a penalty included.
    start : array-like of shape (p,)
    n_rows : int
        How many rows there are.
    objective : callable, optional
        From a point to a number, over all rows; looked at after each epoch.
    step : float or Decaying
        The lengths s_t. With a constant step the points never come to rest; see `average`.
    first_step : int
        The t of the first step, for work that goes on from where it stopped.
    batch_size : int
    max_epochs : int
        How often all rows are gone through.
    average : bool
        Return the mean of all points of the second half of the epochs instead of the last point
        (Polyak & Juditsky 1992).
    shuffle : bool
        Draw a new order of the rows for each epoch; else they come as they are.
    tol : float
        With an objective: it has arrived when an epoch changes it by at most tol times itself.
        With 0 all epochs are run.
    random_state : None, int, RandomState or Generator

    Returns
    -------
    Descent
        Its steps are epochs.

    Examples
    --------
    >>> y = np.array([1.0, 2.0, 6.0])
    >>> slope = lambda b, rows: b - y[rows].mean()
    >>> step = Decaying(eta=1.0, t0=1.0, a=1.0)
    >>> way = stochastic_gradient(slope, [0.0], 3, step=step, batch_size=1, max_epochs=200)
    >>> print(way.minimiser.round(6), way.reason)
    [3.] max_epochs = 200 epoch(s) were run
    """
    lengths = as_step(step)
    if isinstance(lengths, Backtracking):
        raise ParameterError(
            "step is a line search, which needs all rows; give a number or Decaying(eta, t0, a)"
        )
    check_callables(gradient=gradient, **({} if objective is None else {"objective": objective}))
    check_limits(max_epochs, tol, "max_epochs")
    _check_counts(n_rows, batch_size, first_step)
    way = Way(objective, start)
    draw = generator(spawn(random_state, 1)[0])
    point, mean, averaged, t = way.point.copy(), way.point, 0, int(first_step)
    while way.t < max_epochs:
        check_deadline()
        order = draw.permutation(n_rows) if shuffle else np.arange(n_rows)
        for first in range(0, n_rows, batch_size):
            if t % LOOK == 0:
                check_deadline()
            slope = gradient_at(gradient, point, order[first : first + batch_size])
            with np.errstate(over="ignore", invalid="ignore"):
                point = point - lengths.length(t) * slope
            t += 1
            if not np.isfinite(point).all():
                return _too_long(way, t - 1)
            if average and 2 * way.t >= max_epochs - 1:
                averaged += 1
                mean = mean + (point - mean) / averaged
        here = mean if averaged else point
        value = np.nan if objective is None else value_at(objective, here)
        if np.isinf(value):
            return _too_long(way, t - 1)
        change = abs(value - way.value)
        way.go(here, value)
        if tol > 0 and change <= tol * abs(value):
            reason = f"an epoch changed the objective by at most {tol:g} times itself"
            return way.stop(reason, converged=True)
    return way.stop(f"max_epochs = {max_epochs} epoch(s) were run", converged=False)


def _too_long(way: Way, t: int) -> Descent:
    reason = f"step {t} led to numbers that are not finite: take shorter steps"
    return way.stop(reason, converged=False)


def _check_counts(n_rows: Any, batch_size: Any, first_step: Any) -> None:
    for name, value, least in (
        ("n_rows", n_rows, 1),
        ("batch_size", batch_size, 1),
        ("first_step", first_step, 0),
    ):
        if not is_whole(value, least):
            raise ParameterError(f"{name} is {value!r}; it must be an integer, {least} or more")
