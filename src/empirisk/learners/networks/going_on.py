"""Learning more: in the units that a network has, with one epoch over the rows of `partial_fit`."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from empirisk.learners.networks.fitting import Record
from empirisk.learners.networks.initialising import random_start
from empirisk.learners.networks.network_path import write_network
from empirisk.learners.networks.prepared import Prepared
from empirisk.learners.networks.settings import checked_settings
from empirisk.learners.networks.standardising import Standard, unit_if_flat
from empirisk.learners.networks.training import Training
from empirisk.runtime.arrays import Floats
from empirisk.runtime.errors import ParameterError
from empirisk.runtime.streams import spawn


def units_so_far(learner: Any) -> tuple[Standard, Standard] | None:
    """The units of X and y in which a fitted network learns on; None of one that is not fitted.

    In the unit of a y that never changed nothing else could be said: y is given one of its size,
    and the last layer is divided accordingly, so that predictions stay what they are.
    """
    if not hasattr(learner, "params_"):
        return None
    standard = Standard(learner._centre, learner._unit)
    target = Standard(learner._target_centre, learner._target_unit)
    size = unit_if_flat(target)
    if size is None:
        return standard, target
    params = learner.params_.copy()
    for place, _ in learner._architecture.parts[-1].parameters:
        params[place] *= target.unit[0] / size
    learner.params_, learner._target_unit = params, np.full_like(target.unit, size)
    return standard, Standard(target.centre, learner._target_unit)


@dataclass(frozen=True)
class Past:
    """What a network has gone through before a warm start; its curves go on from there."""

    losses: list[float]
    scores: list[float]
    norms: Floats
    seen: int

    @classmethod
    def of(cls, learner: Any) -> "Past | None":
        """None where training begins anew."""
        if not (learner.warm_start and hasattr(learner, "params_")):
            return None
        scores = learner.validation_scores_ or []
        return cls(learner.loss_curve_, scores, learner.gradient_norms_, learner.t_)

    def precede(self, learner: Any) -> None:
        """Put it before what the learner has gone through since."""
        learner.loss_curve_ = [*self.losses, *learner.loss_curve_]
        if learner.validation_scores_ is not None:  # those of a fit that set no rows aside are past
            learner.validation_scores_ = [*self.scores, *learner.validation_scores_]
        learner.gradient_norms_ = np.vstack([self.norms, learner.gradient_norms_])
        learner.t_ += self.seen


def _state_of(solver: str, state: dict[str, Any] | None) -> dict[str, Any] | None:
    """Where this solver was; None of a state of the other: their momenta have other units.

    Adam alone leaves squares.
    """
    if state is None or bool(state["square"].any()) != (solver == "adam"):
        return None
    return state


def learn_more(learner: Any, data: Prepared) -> Any:
    """One epoch over these rows, from what there is, or from a random start.

    Momenta and the learning rate go on from the last call; after `fit`, or with another solver,
    they begin anew.
    """
    settings = checked_settings(learner)
    if settings.early_stopping:
        raise ParameterError("partial_fit sets no rows aside: give early_stopping=False")
    before = _state_of(settings.solver, getattr(learner, "_optimizer", None))
    if before is None:
        start, seed = spawn(spawn(learner.random_state, 1)[0], 2)
    else:
        start, seed = 0, learner._seed  # there is no new start
    order, following = spawn(seed, 2)
    if not hasattr(learner, "params_"):
        law: Any = settings.initialization
        params = random_start(data.architecture, law, start).astype(data.dtype)
        write_network(learner, data, params, Record(), 0)
    learner.refuse_another(data.architecture)
    training = Training(
        data.architecture, learner.params_.copy(), data.rows, data.head, settings, order,
        learner.n_jobs,
    )  # fmt: skip
    if before is not None:
        training.go_on(before)
    learner.loss_curve_ = [*learner.loss_curve_, training.epoch() * data.loss_unit]
    learner.gradient_norms_ = np.vstack([learner.gradient_norms_, training.gradient_norms()])
    learner.params_, learner.validation_scores_ = training.params, None
    learner.n_iter_, learner.t_ = learner.n_iter_ + 1, learner.t_ + len(data.rows)
    learner._optimizer, learner._seed = training.state(), following
    learner._written()
    return learner
