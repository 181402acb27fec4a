"""The action of least expected loss under a distribution of y, for any loss of numbers.

Of the squared loss it is the mean, of the absolute loss the median, of the pinball loss a quantile.
Of a loss that knows no rule it is searched between the least and the largest value of y: first
among 65 equal steps, then around the best of them by golden section. That finds the minimum of a
loss with several valleys too, if they are wider than a step. Or it is the best of actions given.
"""

from typing import Any

import numpy as np
from scipy.special import ndtri

from empirisk.losses import Absolute, Quantile, RegressionLoss, Squared
from empirisk.losses.minimise import golden_section
from empirisk.losses.weighted import checked_sample, weighted_mean
from empirisk.runtime.arrays import Array, Floats
from empirisk.runtime.errors import ParameterError

STEPS = 64


def best_actions(
    loss: RegressionLoss, values: Floats, weight: Floats, actions: Floats | None = None
) -> Floats:
    """For each distribution along the last axis the action of least expected loss.

    Examples
    --------
    >>> y, share = np.array([[0.0, 1.0, 5.0]]), np.array([[0.5, 0.25, 0.25]])
    >>> best_actions(Squared(), y, share), best_actions(Quantile(0.9), y, share)
    (array([1.5]), array([5.]))
    >>> best_actions(Squared(), y, share, actions=np.array([0.0, 2.0, 4.0]))
    array([2.])
    """
    values, weight = checked_sample(values, weight)
    if actions is not None:
        return _best_of(loss, values, weight, actions)
    if type(loss).bayes_action is not RegressionLoss.bayes_action:
        return np.asarray(loss.bayes_action(values, weight))
    return _searched(loss, values, weight)


def expected_losses(loss: RegressionLoss, values: Floats, weight: Floats, action: Array) -> Floats:
    """The expected loss of an action for each distribution along the last axis."""
    weight = np.broadcast_to(weight, values.shape)
    return np.asarray(weighted_mean(loss(values, np.asarray(action)[..., None]), weight))


def gaussian_actions(loss: RegressionLoss, mean: Floats, deviation: float) -> Floats | None:
    """Of normal distributions, where the rule is a formula; else None."""
    if isinstance(loss, Squared | Absolute):
        return mean
    return mean + deviation * float(ndtri(loss.q)) if isinstance(loss, Quantile) else None


def checked_actions(actions: Any) -> Floats | None:
    """The actions that a user allows, increasing; None if any number may be taken."""
    if actions is None:
        return None
    try:
        found = np.unique(np.asarray(actions, dtype=float))
    except (TypeError, ValueError):
        found = np.empty(0)
    if not found.size or not np.isfinite(found).all():
        raise ParameterError(
            f"actions is {actions!r:.60}; give a list of finite numbers, or None for any number"
        )
    return found


def _best_of(loss: RegressionLoss, values: Floats, weight: Floats, actions: Floats) -> Floats:
    """The first of the best."""
    best = np.full(values.shape[:-1], actions[0])
    least = expected_losses(loss, values, weight, best)
    for action in actions[1:]:
        cost = expected_losses(loss, values, weight, np.full_like(best, action))
        best, least = np.where(cost < least, action, best), np.minimum(cost, least)
    return best


def _searched(loss: RegressionLoss, values: Floats, weight: Floats) -> Floats:
    low = values.min(axis=-1, where=weight > 0, initial=np.inf)
    high = values.max(axis=-1, where=weight > 0, initial=-np.inf)

    def cost(action: Array) -> Array:
        found = expected_losses(loss, values, weight, action)
        return np.where(np.isnan(found), np.inf, found)

    def at(step: Array) -> Array:
        share = np.clip(step, 0, STEPS) / STEPS
        return (1 - share) * low + share * high

    best, least = np.zeros(low.shape), cost(low)
    for step in range(1, STEPS + 1):
        found = cost(at(np.full(low.shape, float(step))))
        best, least = np.where(found < least, step, best), np.minimum(found, least)
    return golden_section(cost, at(best - 1), at(best), at(best + 1))[0]


def best_classes(loss: Any, probabilities: Array) -> Array:
    """Codes; under a loss of probabilities, of which no class is best, the most probable ones."""
    if loss.output == "probability":
        return np.argmax(probabilities, axis=-1)
    return np.asarray(loss.bayes_action(probabilities))
