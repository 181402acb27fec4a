"""Training by L-BFGS: all rows in every step, for small data; an iteration is an epoch."""

from collections.abc import Callable

import numpy as np
from scipy.optimize import OptimizeResult, minimize

from empirisk.compiled.networks.training import add_gradients
from empirisk.learners.networks.architecture import Architecture
from empirisk.learners.networks.heads import Head
from empirisk.learners.networks.rows import NetworkRows, number_of_chunks, room_for
from empirisk.learners.networks.settings import Settings
from empirisk.learners.networks.training import penalty
from empirisk.learners.team import Team
from empirisk.runtime.arrays import Floats
from empirisk.runtime.deadlines import check_deadline
from empirisk.runtime.errors import DivergenceError, ParameterError
from empirisk.runtime.parallel import one_blas_thread

BLOCK = 256  # rows that go through the network together
LEAST_GAIN = 2.2e-9  # of a step, relative to the loss, at the tol of 1e-4; SciPy's
LIMIT = 1  # the status with which SciPy says that iterations or evaluations were used up


class WholeLoss:
    """The objective of `Training` over all rows, and its gradient."""

    def __init__(
        self,
        architecture: Architecture,
        rows: NetworkRows,
        head: Head,
        settings: Settings,
        n_jobs: int | None,
    ) -> None:
        if (architecture.rates > 0).any():
            raise ParameterError(
                "solver 'lbfgs' minimises one function, and dropout draws another one in each "
                "step: take 'adam' or 'sgd', or no Dropout"
            )
        if head.kind < 0:
            raise ParameterError("solver 'lbfgs' does not take a loss of your own: take 'adam'")
        self.architecture, self.rows, self.head, self.settings = architecture, rows, head, settings
        self.slots = number_of_chunks(len(rows), architecture.n_parameters)
        self.room = room_for(
            architecture, self.slots, min(BLOCK, len(rows)), rows.y.shape[1], float, back=True
        )
        self.sums = np.zeros((self.slots, architecture.n_parameters))
        self.losses, self.total = np.zeros(self.slots), float(rows.weight.sum())
        self.penalised, self.team = architecture.penalised(), Team(n_jobs)

    def __call__(self, params: Floats) -> tuple[float, Floats]:
        """(objective, gradient)."""
        check_deadline()
        a, numbers = self.architecture, np.arange(len(self.rows))
        network, head = (a.table, a.rates, params), (self.head.kind, self.head.number)
        size = min(BLOCK, len(self.rows))
        with one_blas_thread(), np.errstate(over="ignore", invalid="ignore"):
            rest = (numbers, size, self.total, -1, self.sums, self.losses)
            self.team.run(
                lambda _: add_gradients(
                    self.team.sync, network, self.rows.compiled, head, self.room, *rest
                )
            )
        r, strength = self.settings.l1_ratio, self.settings.alpha / self.total
        shrink = strength * self.penalised * ((1 - r) * params + r * np.sign(params))
        value = self.losses.sum() + penalty(params, self.penalised, self.settings, self.total)
        return float(value), self.sums.sum(axis=0) + shrink


def descend(
    loss: WholeLoss, start: Floats, most: int, look: Callable[[Floats, float], bool]
) -> str:
    """L-BFGS for up to `most` iterations; `look`, after each, says whether it was the last.

    Returns why it ended: "converged", "max_iter" or "max_fun".
    """

    def stepped(intermediate_result: OptimizeResult) -> None:
        if look(np.asarray(intermediate_result.x), float(intermediate_result.fun)):
            raise StopIteration

    tol = loss.settings.tol
    limits = {"gtol": tol, "ftol": LEAST_GAIN * min(1.0, tol / 1e-4)}
    options = {"maxiter": most, "maxfun": loss.settings.max_fun, **limits}
    found = minimize(loss, start, jac=True, method="L-BFGS-B", callback=stepped, options=options)
    if not np.isfinite(found.fun):
        raise DivergenceError(
            f"solver 'lbfgs' met no finite loss (it is {found.fun}): standardise X and y, or take "
            "smaller numbers"
        )
    if found.nit == 0:
        look(found.x, float(found.fun))
    if found.status != LIMIT:
        return "converged"
    return "max_iter" if found.nit >= most else "max_fun"
