"""Training a network by minibatches, epoch by epoch."""

from typing import Any

import numpy as np

from empirisk.compiled.networks.training import PIECE, learn
from empirisk.learners.networks.architecture import Architecture
from empirisk.learners.networks.heads import OWN, Head
from empirisk.learners.networks.own_loss import learn_in_python
from empirisk.learners.networks.rows import NetworkRows, number_of_chunks, room_for
from empirisk.learners.networks.settings import SOLVERS, Settings
from empirisk.learners.networks.stopping import LEAST_RATE
from empirisk.learners.team import Team
from empirisk.runtime.arrays import Array, Floats, Ints
from empirisk.runtime.deadlines import check_deadline
from empirisk.runtime.errors import DivergenceError
from empirisk.runtime.parallel import one_blas_thread
from empirisk.runtime.streams import generator, spawn

SLICE = 64  # batches between two looks at the clock


class Training:
    """A network in training: minimise, over all parameters,

        1/W sum_i w_i L(y_i, f(x_i)) + alpha / W ((1 - r) |weights|^2 / 2 + r |weights|_1),

    W the sum of the weights, by steps along the gradient of some rows' mean loss. A row of weight
    w counts w times in its batch.

    Parameters
    ----------
    architecture : Architecture
    params : array of shape (n_parameters,)
        Where it starts; trained in place.
    rows : NetworkRows
    head : Head
    settings : Settings
    seed : int
        Of the order of the rows and of dropout.
    n_jobs : int or None
    """

    def __init__(
        self,
        architecture: Architecture,
        params: Array,
        rows: NetworkRows,
        head: Head,
        settings: Settings,
        seed: int,
        n_jobs: int | None,
    ) -> None:
        self.architecture, self.params, self.head, self.settings = (
            architecture, params, head, settings,
        )  # fmt: skip
        shuffle, self.dropout = spawn(seed, 2)
        self.draw, self.team = generator(shuffle), Team(n_jobs)
        self.penalised = architecture.penalised().astype(params.dtype)
        self.memory = (np.zeros_like(params), np.zeros_like(params), self.penalised)
        self.rate, self.t, self.seen = settings.learning_rate_init, 0, 0.0
        self.squares = np.zeros(max(1, -(-architecture.n_parameters // PIECE)))
        self.rows, self.total = rows, float(rows.weight.sum())
        self.batch = settings.batch(len(rows))
        chunks = number_of_chunks(self.batch, architecture.n_parameters)
        if head.kind == OWN:
            chunks = 1
        each = -(-self.batch // chunks)
        self.room = room_for(architecture, chunks, each, rows.y.shape[1], params.dtype, back=True)
        self.losses = np.zeros((-(-len(rows) // self.batch), chunks))

    def epoch(self) -> float:
        """Go through all rows once; returns the mean loss on the way, with the penalty."""
        n, settings = len(self.rows), self.settings
        order = self.draw.permutation(n) if settings.shuffle else np.arange(n)
        numbers = settings.compiled(self.rate, self.total)
        mean_weight = self.total / n
        with one_blas_thread(), np.errstate(over="ignore", invalid="ignore"):
            for first in range(0, len(self.losses), SLICE):
                check_deadline()
                few = self.losses[first : first + SLICE]
                rows = order[first * self.batch : (first + len(few)) * self.batch]
                self._learn(rows, mean_weight, numbers, few)
                self.t += len(few)
        self.seen += n
        self._next_rate()
        sizes = np.full(len(self.losses), float(self.batch))
        sizes[-1] = n - self.batch * (len(sizes) - 1)
        loss = float(sizes @ self.losses.sum(axis=1) / n) + self.penalty()
        if not np.isfinite(loss) or not np.isfinite(self.params).all():
            raise DivergenceError(self._diverged())
        return loss

    def _learn(self, rows: Ints, mean_weight: float, numbers: Floats, losses: Floats) -> None:
        network = (self.architecture.table, self.architecture.rates, self.params)
        batches = (rows, self.batch, mean_weight, self.t, self.dropout)
        data, solver = self.rows.compiled, SOLVERS[self.settings.solver]
        if self.head.kind == OWN:
            learn_in_python(
                network, data, self.head, self.room, batches, solver, numbers, self.memory, losses
            )
            return
        head, team = (self.head.kind, self.head.number), self.team
        rest = (solver, numbers, self.memory, losses, self.squares)
        team.run(
            lambda _: learn(team.size, team.sync, network, data, head, self.room, batches, *rest)
        )

    def _next_rate(self) -> None:
        """With "invscaling" the rate falls with the number of rows seen, as in scikit-learn."""
        settings = self.settings
        if settings.solver == "sgd" and settings.learning_rate == "invscaling":
            self.rate = settings.learning_rate_init / (self.seen + 1) ** settings.power_t

    def shorten(self) -> bool:
        """Take a fifth of an adaptive rate, unless it is small already; whether to go on."""
        if self.settings.learning_rate != "adaptive" or self.settings.solver != "sgd":
            return False
        if self.rate <= LEAST_RATE:
            return False
        self.rate /= 5.0
        return True

    def state(self) -> dict[str, Any]:
        """What a further training goes on from: momenta, the rate, and how much was done."""
        moment, square, _ = self.memory
        return {"moment": moment, "square": square, "rate": self.rate, "t": self.t,
                "seen": self.seen}  # fmt: skip

    def go_on(self, state: dict[str, Any]) -> None:
        """Go on from where another training was."""
        self.memory = (state["moment"].copy(), state["square"].copy(), self.penalised)
        self.rate, self.t, self.seen = float(state["rate"]), int(state["t"]), float(state["seen"])

    def penalty(self) -> float:
        """alpha / W times the norms of the weights."""
        return penalty(self.params, self.penalised, self.settings, self.total)

    def gradient_norms(self) -> Floats:
        """The length of the last batch's gradient, layer by layer of those with parameters."""
        gradient = self.room[0][0].astype(float)
        return np.array(
            [
                np.sqrt(sum(float(gradient[place] @ gradient[place]) for place, _ in parameters))
                for parameters in (part.parameters for part in self.architecture.parts)
                if parameters
            ]
        )

    def _diverged(self) -> str:
        settings = self.settings
        rate: Any = settings.learning_rate_init
        if not isinstance(settings.learning_rate, str):
            rate = settings.learning_rate
        return (
            f"training diverged: after {self.t} steps the loss is no longer finite. Take shorter "
            f"steps (learning_rate_init is {rate}), limit them by max_grad_norm=1.0, or "
            "standardise X and y"
        )


def penalty(params: Array, penalised: Array, settings: Settings, total: float) -> float:
    """alpha / W ((1 - r) |weights|^2 / 2 + r |weights|_1)."""
    weights = params[penalised > 0].astype(float)
    with np.errstate(over="ignore", invalid="ignore"):
        ridge = 0.5 * (1 - settings.l1_ratio) * float(weights @ weights)
        return settings.alpha / total * (ridge + settings.l1_ratio * float(np.abs(weights).sum()))
