"""The way of EM: the likelihood at each step, and the components if they were kept."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from empirisk.charts.em_steps import draw_em_steps, draw_likelihood
from empirisk.learners.density.covariance_structures import Full
from empirisk.learners.density.gaussian_model import GaussianParameters
from empirisk.learners.density.tiled_rows import Place
from empirisk.learners.soundness import is_floats
from empirisk.runtime.arrays import Floats
from empirisk.runtime.column_names import shown_names
from empirisk.runtime.conversion import numbers
from empirisk.runtime.errors import DataError
from empirisk.solvers.em import Ascent


@dataclass(frozen=True, eq=False)
class EMTrajectory:
    """The mean log-likelihood of a row at each step of EM, and the components.

    Attributes
    ----------
    log_likelihoods : array of shape (n_iter,)
        At each E-step: never falling, up to rounding.
    starts : array
        What each of several starts led to; empty if there was one.
    weights, means, covariances : arrays or None
        Of shape (n_iter + 1, n_components), (n_iter + 1, n_components, n_features) and (n_iter + 1,
        n_components, n_features, n_features): the parameters of each E-step and the last ones,
        with `keep_steps` alone.
    roots : array or None
        Lower triangular, of the covariances; they are numbers where covariances would overflow.
    """

    log_likelihoods: Floats
    starts: Floats
    weights: Floats | None
    means: Floats | None
    roots: Floats | None

    @property
    def covariances(self) -> Floats | None:
        """The covariance matrices of components at each step."""
        if self.roots is None:
            return None
        with np.errstate(over="ignore", invalid="ignore"):
            return self.roots @ np.swapaxes(self.roots, 2, 3)

    @classmethod
    def of(
        cls,
        found: Ascent[GaussianParameters],
        log_likelihoods: Floats,
        starts: Floats,
        structure: Full,
        place: Place,
    ) -> "EMTrajectory":
        """Of what the solver found, in the units of X."""
        if not found.steps:
            return cls(log_likelihoods, starts, None, None, None)
        matrices = [structure.matrices(s.covariances, *s.means.shape) for s in found.steps]
        return cls(
            log_likelihoods,
            starts,
            np.array([step.shares for step in found.steps]),
            np.array([place.put_back(step.means) for step in found.steps]),
            np.linalg.cholesky(np.array(matrices)) / place.unit[:, np.newaxis],
        )

    def check_loaded(self) -> None:
        """Raise a DataError unless what was read from a file is a way of EM."""
        for name in ("log_likelihoods", "starts"):
            if not is_floats(getattr(self, name), (None,)):
                raise DataError(f"{name} of a trajectory is not a list of numbers")
        kept: tuple[Any, ...] = (self.weights, self.means, self.roots)
        if all(each is None for each in kept):
            return
        steps = len(self.log_likelihoods) + 1
        for dimensions, each in zip((2, 3, 4), kept, strict=True):
            if not is_floats(each, (None,) * dimensions):
                raise DataError("the steps of a trajectory are not arrays of numbers")
            if len(each) != steps or each.shape[1] != kept[0].shape[1]:
                raise DataError("the steps of a trajectory do not belong together")
        _, means, roots = kept
        if roots.shape[1:] != (*means.shape[1:], means.shape[2]):
            raise DataError("means and roots of a trajectory do not belong together")

    def plot(self, ax: Any = None) -> Any:
        """The log-likelihood at each step, on the axes given or on new ones."""
        return draw_likelihood(self.log_likelihoods, ax=ax)

    def plot_steps(self, X: Any, *, most: int = 6, share: float = 0.9) -> Any:
        """A figure with the first two features of the rows of X, and components at steps.

        Ellipses hold `share` of each component. The first and the last step are among the `most`
        that are shown.
        """
        if self.means is None or self.roots is None:
            raise DataError("the steps were not kept: fit GaussianMixture(keep_steps=True)")
        rows = numbers(X, "a picture of steps")
        p = self.means.shape[2]
        if rows.shape[1] != p or p < 2:
            raise DataError(f"X has {rows.shape[1]} features; wanted {p}, and 2 at least")
        last = len(self.log_likelihoods) - 1
        shown = np.unique(np.linspace(0, last, min(most, last + 1)).round().astype(int))
        return draw_em_steps(
            rows[:, :2],
            shown_names(X, p)[:2],
            self.means[shown][:, :, :2],
            self.roots[shown][:, :, :2, :2],
            shown,
            self.log_likelihoods[shown],
            share,
        )
