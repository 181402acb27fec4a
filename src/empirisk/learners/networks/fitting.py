"""From rows to trained networks: one training to the largest number of epochs gives them all."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from empirisk.learners.networks.architecture import Architecture
from empirisk.learners.networks.full_batch import WholeLoss, descend
from empirisk.learners.networks.heads import Head
from empirisk.learners.networks.initialising import random_start
from empirisk.learners.networks.rows import NetworkRows, network_outputs
from empirisk.learners.networks.settings import Settings
from empirisk.learners.networks.stopping import Patience
from empirisk.learners.networks.training import Training
from empirisk.runtime.arrays import Array, Floats
from empirisk.runtime.parallel import parallel
from empirisk.runtime.progress import track
from empirisk.runtime.streams import spawn


@dataclass
class Record:
    """One training: the parameters after wanted epochs, and what was seen on the way.

    Attributes
    ----------
    kept : dict
        The parameters after so many epochs.
    losses, scores, norms : lists
        After each epoch: the training loss; minus the loss of held-out rows; the length of the
        gradient in each layer.
    ending : str
        "converged", or what was used up: "max_iter", or "max_fun" of L-BFGS.
    """

    kept: dict[int, Array] = field(default_factory=dict)
    losses: list[float] = field(default_factory=list)
    scores: list[float] = field(default_factory=list)
    norms: list[Floats] = field(default_factory=list)
    ending: str = "max_iter"
    best: Array | None = None
    n_rows: int = 0

    @property
    def n_iter(self) -> int:
        """Epochs that were run."""
        return len(self.losses)

    def at(self, epochs: int) -> Array:
        """The parameters after so many epochs, or the last; with early stopping the best ones."""
        return self.kept[min(epochs, self.n_iter)] if self.best is None else self.best

    def cost(self, epochs: int) -> float:
        """By which starts are compared."""
        if self.scores:
            return -max(self.scores)
        return self.losses[min(epochs, self.n_iter) - 1]


class Fit:
    """All that one training needs but its start."""

    def __init__(
        self,
        architecture: Architecture,
        rows: NetworkRows,
        judged: NetworkRows | None,
        head: Head,
        settings: Settings,
        dtype: Any,
        n_jobs: int | None,
        verbose: bool = False,
    ) -> None:
        self.architecture, self.rows, self.judged, self.head = architecture, rows, judged, head
        self.settings, self.dtype, self.n_jobs, self.verbose = settings, dtype, n_jobs, verbose

    def from_starts(self, epochs: Sequence[int], seed: int) -> list[Record]:
        """A record for each of `n_starts` random starts."""
        seeds = spawn(seed, self.settings.n_starts)
        if len(seeds) == 1:
            return [self.from_seed(epochs, seeds[0])]
        return parallel(lambda each: self.from_seed(epochs, each), seeds, n_jobs=self.n_jobs)

    def from_seed(self, epochs: Sequence[int], seed: int) -> Record:
        """One random start, and its training."""
        first, rest = spawn(seed, 2)
        law: Any = self.settings.initialization
        return self.train(random_start(self.architecture, law, first), epochs, rest)

    def train(self, start: Floats, epochs: Sequence[int], seed: int) -> Record:
        """Train from a start, and keep the parameters after these numbers of epochs."""
        if self.settings.solver == "lbfgs":
            return self._by_whole_batches(start, epochs)
        record, wanted = Record(n_rows=len(self.rows)), set(epochs)
        params = start.astype(self.dtype)
        training = Training(
            self.architecture, params, self.rows, self.head, self.settings, seed, self.n_jobs
        )
        patience, best = Patience(self.settings), np.inf
        bar = track(range(1, max(epochs) + 1), "epochs")
        for epoch in bar:
            record.losses.append(training.epoch())
            record.norms.append(training.gradient_norms())
            cost = self._judge(params, record)
            if self.judged is not None and cost < best:
                best, record.best = cost, params.copy()
            if epoch in wanted:
                record.kept[epoch] = params.copy()
            bar.say(self._tell(record))
            if patience.is_out(cost):
                if training.shorten():
                    patience.start_again()
                    continue
                record.ending = "converged"
                break
        record.kept.setdefault(record.n_iter, params)
        return record

    def _judge(self, params: Array, record: Record) -> float:
        """What patience looks at after an epoch: the loss of held-out rows, or of training."""
        if self.judged is None:
            return record.losses[-1]
        cost = self.loss_of(params, self.judged)
        record.scores.append(-cost)
        return cost

    def _tell(self, record: Record) -> str:
        """The loss of the last epoch, in words, which are printed if they are wanted."""
        words = f"loss {record.losses[-1]:.4g}"
        if self.verbose:
            print(f"epoch {record.n_iter}, {words}")
        return words

    def loss_of(self, params: Array, rows: NetworkRows) -> float:
        """The mean loss of rows, without a penalty."""
        f = network_outputs(self.architecture, params, rows.X, rows.standard, n_jobs=self.n_jobs)
        losses = self.head.losses(rows.targets(), f)
        return float(losses @ rows.weight / rows.weight.sum())

    def _by_whole_batches(self, start: Floats, epochs: Sequence[int]) -> Record:
        record, wanted, best = Record(n_rows=len(self.rows)), set(epochs), [np.inf]
        loss = WholeLoss(self.architecture, self.rows, self.head, self.settings, self.n_jobs)
        patience = Patience(self.settings)

        def look(point: Floats, value: float) -> bool:
            record.losses.append(value)
            self._tell(record)
            cost = self._judge(point, record)
            if self.judged is not None and cost < best[0]:
                best[0], record.best = cost, point.copy()
            record.kept[record.n_iter] = point.copy()
            kept = [epoch for epoch in record.kept if epoch in wanted or epoch == record.n_iter]
            record.kept = {epoch: record.kept[epoch] for epoch in kept}
            return self.judged is not None and patience.is_out(cost)

        record.ending = descend(loss, start, max(epochs), look)
        return record


def best_of(records: Sequence[Record], epochs: int) -> Record:
    """The start whose training led to the lowest objective after so many epochs."""
    return min(records, key=lambda record: record.cost(epochs))
