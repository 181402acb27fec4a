"""Forward stagewise additive modelling: one loop for any weak learner and any loss.

    f_t = f_(t-1) + rate * step_t * h_t,    t = 1, 2, ...

h_t is a weak learner that is fitted to what the loss asks for at f_(t-1), by weighted least
squares: residuals, the negative gradient, or the working response of a Newton step. f may have
several columns, a weak learner for each: those of the classes. What is fitted stays as it is.
"""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np

from empirisk.runtime.arrays import Floats
from empirisk.runtime.deadlines import check_deadline
from empirisk.runtime.parallel import one_blas_thread, parallel
from empirisk.runtime.progress import track
from empirisk.runtime.streams import spawn


class Cost(Protocol):
    """What a round needs of the loss on the training rows."""

    def targets(self, f: Floats) -> list[tuple[Floats, Floats]]:
        """For each column of f: what the weak learner is fitted to, and the weights of the rows."""

    def step(self, f: Floats, h: Floats) -> float:
        """How far to go along h from f; both have shape (rows, columns)."""

    def mean_loss(self, f: Floats) -> float:
        """The weighted mean of the loss."""


class Stages(Protocol):
    """Fitted weak learners, round after round, within a round one for each column of f."""

    @property
    def weights(self) -> Floats:
        """What each member counts in the sum."""

    def staged(
        self, X: Any, start: Floats, rounds: Sequence[int], n_jobs: int | None
    ) -> Iterator[Floats]:
        """f at the rows of X after each of these rounds, which increase: (rows, columns).

        What comes is overwritten by the next.
        """

    def first(self, rounds: int, columns: int) -> "Stages":
        """The first rounds alone."""


class WeakLearner(Protocol):
    """Fits weak learners to one training set, one after the other."""

    def fit(self, target: Floats, weight: Floats, seed: int) -> tuple[Any, Floats]:
        """A member that is fitted by weighted least squares, and what it says of the rows."""

    def stages(self, members: list[Any], weights: Floats) -> Stages:
        """The members with their weights in the sum."""


class Additive(NamedTuple):
    """What the loop has found: the members, and the mean loss after each round."""

    stages: Stages
    losses: Floats


def forward_stagewise(
    weak: WeakLearner,
    cost: Cost,
    f: Floats,
    *,
    rounds: int,
    rate: float,
    random_state: Any = None,
    n_jobs: int | None = None,
) -> Additive:
    """Add a weak learner to each column of f, round after round; f is changed in place.

    Parameters
    ----------
    weak : WeakLearner
    cost : Cost
    f : float64 array of shape (rows, columns)
        The start; in the end what the sum says of the training rows.
    rounds : int
    rate : float
        What each step is multiplied by.
    random_state : int, RandomState, Generator or None
        The first rounds do not depend on how many there are.
    n_jobs : int, optional
        Threads, that share the columns of a round.
    """
    K = f.shape[1]
    seeds = spawn(random_state, rounds * K)
    members: list[Any] = []
    weights, losses = np.empty(rounds * K), np.empty(rounds)
    with one_blas_thread():
        for t in track(range(rounds), "rounds"):
            check_deadline()
            asked = [(*pair, seeds[t * K + k]) for k, pair in enumerate(cost.targets(f))]
            found = _fitted(weak, asked, n_jobs)
            h = np.column_stack([prediction for _, prediction in found])
            weights[t * K : (t + 1) * K] = weight = rate * cost.step(f, h)
            f += weight * h
            members += [member for member, _ in found]
            losses[t] = cost.mean_loss(f)
    return Additive(weak.stages(members, weights), losses)


def _fitted(
    weak: WeakLearner, asked: list[tuple[Floats, Floats, int]], n_jobs: int | None
) -> list[tuple[Any, Floats]]:
    if len(asked) == 1:
        return [weak.fit(*asked[0])]
    return parallel(lambda arguments: weak.fit(*arguments), asked, n_jobs=n_jobs)
