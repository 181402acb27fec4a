"""Several random starts, of which the lowest objective is kept."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from empirisk.runtime.errors import ParameterError
from empirisk.runtime.parallel import parallel
from empirisk.runtime.scalars import is_whole
from empirisk.runtime.streams import generator, spawn
from empirisk.solvers.descent import Descent

Draw = Callable[[np.random.Generator], ArrayLike]
"""From a generator to a start."""


def random_starts(
    solve: Callable[[Any], Descent],
    starts: Draw | Sequence[ArrayLike],
    *,
    n_starts: int = 10,
    random_state: Any = None,
    n_jobs: int | None = None,
) -> Descent:
    """The descent with the lowest objective; of equals the first.

    Descent finds the minimum of the valley it starts in. Which start arrives first says nothing:
    the lowest objective decides.

    Parameters
    ----------
    solve : callable
        From a start to its `Descent`.
    starts : callable or sequence
        draw(generator) gives a start; or the starts themselves.
    n_starts : int
        How many are drawn; not used if the starts are given.
    random_state : None, int, RandomState or Generator
    n_jobs : int or None
        Threads; the result does not depend on it.

    Returns
    -------
    Descent
        Its `starts` has the objective that each start led to.

    Examples
    --------
    >>> from empirisk.solvers import gradient_descent
    >>> J = lambda b: float((b[0] ** 2 - 1) ** 2 + 0.3 * b[0])
    >>> slope = lambda b: 4 * b * (b**2 - 1) + 0.3
    >>> best = random_starts(lambda start: gradient_descent(J, slope, start), [[1.0], [-1.0]])
    >>> print(best.minimiser.round(3), best.starts.round(3))
    [-1.036] [ 0.294 -0.305]
    """
    if callable(starts):
        if not is_whole(n_starts, 1):
            raise ParameterError(f"n_starts is {n_starts!r}; it must be an integer, 1 or more")
        points = [starts(generator(seed)) for seed in spawn(random_state, int(n_starts))]
    else:
        points = list(starts)
        if not points:
            raise ParameterError("starts is empty; give at least one start, or a function")
    ways = parallel(solve, points, n_jobs=n_jobs)
    objectives = np.array([way.objective for way in ways])
    if np.isnan(objectives).all():
        raise ParameterError("no start led to a number: the solver needs the objective")
    return replace(ways[int(np.nanargmin(objectives))], starts=objectives)
