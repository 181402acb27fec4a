"""The plug-in classifier at all values of its density's axis."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import clone

from empirisk.learners.density.class_conditional import log_density, log_joint
from empirisk.learners.generative.discriminants import largest, posterior
from empirisk.learners.generative.settings import checked_priors
from empirisk.losses import Costs
from empirisk.losses.costs import checked_costs
from empirisk.risk.axis import Output, Path
from empirisk.runtime.arrays import Array, Floats, Ints
from empirisk.runtime.errors import ParameterError

if TYPE_CHECKING:
    from empirisk.learners.density.density_classifier import DensityClassifier


class OneDensity:
    """A fitted density as a path of one value."""

    def __init__(self, density: Any) -> None:
        self.density = density

    def predict_path(self, X: Floats, output: Output) -> Floats:
        return 0.0 - log_density(self.density, X)[:, None]

    def at(self, j: int) -> Any:
        return self.density


class PlugInPath(Path):
    """The classifier at all values of its density's axis, from one training set."""

    def __init__(
        self,
        learner: "DensityClassifier",
        paths: Sequence[Any],
        count: Floats,
        values: Sequence[Any],
        p: int,
    ) -> None:
        self.learner, self.paths, self.count = learner, paths, count
        self.values, self.p = values, p
        given = checked_priors(learner.priors, len(paths))
        self.prior = count / count.sum() if given is None else given
        self.costs = checked_costs(learner.cost_matrix, np.arange(len(paths)))

    def predict_path(self, X: Floats, output: Output) -> Array:
        """Class codes (rows, values), or probabilities (rows, values, classes)."""
        logs = np.stack([0.0 - path.predict_path(X, "density") for path in self.paths], axis=1)
        joint = log_joint(logs, self.prior)
        if output == "value":
            return decided(joint, self.costs)
        if output == "probability":
            return posterior(joint)
        raise ParameterError(f"DensityClassifier gives classes, or probabilities, not {output!r}")

    def at(self, j: int) -> "DensityClassifier":
        """The fitted learner at the j-th value."""
        learner = clone(self.learner)
        if learner.axis is not None:
            learner.set_params(**learner.axis.settings(self.values[j]))
        densities = [path.at(j) for path in self.paths]
        return learner._learned(densities, np.arange(len(densities)), self.count, self.p)


def decided(joint: Floats, costs: Floats | None) -> Ints:
    """Codes (rows, V) of the most probable classes, or of those of least expected cost."""
    if costs is None:
        return largest(joint)
    return np.asarray(Costs(costs).bayes_action(posterior(joint)))
