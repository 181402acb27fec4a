"""The Gaussians of a fitted mixture, in the units of X and in the place where EM found them."""

from typing import Any

import numpy as np

from empirisk.learners.density.covariance_structures import STRUCTURES, Full
from empirisk.learners.density.em_trajectory import EMTrajectory
from empirisk.learners.density.gaussian_model import GaussianModel, GaussianParameters, log_joint
from empirisk.learners.density.gaussian_starts import PreparedRows, raised_parameters
from empirisk.learners.density.mixture import Mixture
from empirisk.learners.density.mixture_drawing import MixtureDrawing
from empirisk.learners.density.tiled_rows import Place, TiledRows
from empirisk.learners.team import Team
from empirisk.runtime.arrays import Floats, Ints
from empirisk.runtime.errors import DataError
from empirisk.runtime.parallel import one_blas_thread
from empirisk.runtime.validation import check_predict
from empirisk.solvers.em import Ascent


class FittedGaussians(MixtureDrawing, Mixture):
    """What a fit leaves, what is said and drawn from it, and where the next fit can start."""

    n_components: int
    covariance_type: str
    n_jobs: int | None
    means_: Floats
    _placed_means: Floats
    _placed_covariances: Floats
    _unit: Floats
    _shift: Floats

    def sample(self, n_samples: int = 1, random_state: Any = None) -> tuple[Floats, Ints]:
        """Rows drawn from the mixture, and their components, in the order of components.

        Parameters
        ----------
        n_samples : int
        random_state : None, int, RandomState or Generator
            None is that of the learner.
        """
        labels, rng = self._drawn_components(n_samples, random_state)
        matrices, means = self._matrices(), self._placed_means
        noise = rng.standard_normal((n_samples, means.shape[1]))
        with one_blas_thread():
            roots = np.linalg.cholesky(matrices)
            spread = np.concatenate(
                [noise[labels == k] @ roots[k].T for k in range(len(means))] or [noise]
            )
        return self._place().put_back(means[labels] + spread), labels

    def _take(self, found: Ascent[GaussianParameters], rows: PreparedRows) -> None:
        """Become what was found, in the units of X."""
        place, log_volume = rows.tiled.place, self._log_volume(rows)
        shares, means, covariances = found.parameters
        structure = self._structure()
        self._unit, self._shift = place.unit, place.shift
        self._placed_means, self._placed_covariances = means, covariances
        self.weights_, self.means_ = shares, place.put_back(means)
        with np.errstate(over="ignore"):
            self.covariances_ = structure.in_units(covariances, place.unit)
            self.precisions_cholesky_, self.precisions_ = structure.precisions(
                covariances, place.unit
            )
        self.converged_, self.n_iter_ = found.converged, found.n_iter
        self.lower_bound_ = found.log_likelihood + log_volume
        self.lower_bounds_ = found.log_likelihoods + log_volume
        self.n_features_in_ = means.shape[1]
        self.trajectory_ = EMTrajectory.of(
            found, self.lower_bounds_, found.starts + log_volume, structure, place
        )

    def _log_volume(self, rows: PreparedRows) -> float:
        """What the log-likelihood of a row has more in the units of X than in their place."""
        place = rows.tiled.place
        if rows.tiled.incomplete is None:
            return place.log_volume
        observed = ~np.isnan(rows.X)
        return float(np.average(observed @ np.log(place.unit), weights=rows.weight))

    def _last_end(self, rows: PreparedRows, model: GaussianModel) -> GaussianParameters | None:
        """Where the last fit ended, if that is a start for these rows."""
        if not self._fits_in((int(self.n_components), rows.X.shape[1])):
            return None
        last = self._parameters_in(rows.tiled.place)
        finite = all(np.isfinite(each).all() for each in last)
        return raised_parameters(last, model) if finite else None

    def _fits_in(self, shape: tuple[int, int]) -> bool:
        """Whether the last fit had so many components and features, and such covariances."""
        return (
            hasattr(self, "_placed_means")
            and self._placed_means.shape == shape
            and self._placed_covariances.shape == self._structure().shape(*shape)
        )

    def _parameters_in(self, place: Place) -> GaussianParameters:
        """The fitted parameters, in another place."""
        with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
            scale = place.unit / self._unit
            return GaussianParameters(
                self.weights_,
                (self._placed_means + self._shift) * scale - place.shift,
                self._structure().in_units(self._placed_covariances, 1 / scale),
            )

    def _log_joint(self, X: Any) -> Floats:
        return self._joint_at(check_predict(self, X, allow_nan=True))

    def _joint_at(self, X: Floats) -> Floats:
        """log a_k N(x; m_k, S_k) at rows that have been checked."""
        self._heed_written()
        place = self._place()
        rows = TiledRows.of(X, place, Team(self.n_jobs))
        parameters = GaussianParameters(
            self.weights_, np.array(self._placed_means), self._placed_covariances
        )
        with one_blas_thread():
            joint = log_joint(rows, parameters, self._structure())
        if rows.incomplete is None:
            joint += place.log_volume
        else:
            joint += (~np.isnan(X) @ np.log(place.unit))[:, np.newaxis]
        return joint

    def _heed_written(self) -> None:
        """Take over means and covariances that were written into the learner.

        A fit leaves them in their place as well, where they have more digits. That holds as long
        as they are the same: who writes others means those.
        """
        if not hasattr(self, "covariances_"):
            raise DataError("means_ were written into the mixture: covariances_ are wanted, too")
        structure, means = self._structure(), np.asarray(self.means_, dtype=float)
        if not hasattr(self, "_unit"):
            self._unit, self._shift = np.ones(means.shape[1]), np.zeros(means.shape[1])
        place, written = self._place(), np.asarray(self.covariances_, dtype=float)
        wanted = structure.shape(*means.shape)
        if written.shape != wanted:
            raise DataError(
                f"covariances_ has shape {written.shape}, and covariance_type="
                f"{self.covariance_type!r} has {wanted}: fit again, or write others"
            )
        with np.errstate(over="ignore"):
            if hasattr(self, "_placed_means"):
                known = structure.in_units(self._placed_covariances, place.unit)
                if np.array_equal(written, known, equal_nan=True) and np.array_equal(
                    means, place.put_back(self._placed_means), equal_nan=True
                ):
                    return
            self._placed_means = place.put(means)
            self._placed_covariances = structure.in_units(written, 1 / place.unit)

    def _place(self) -> Place:
        return Place(np.array(self._unit), np.array(self._shift))  # writable

    def _structure(self) -> Full:
        return STRUCTURES[self.covariance_type]

    def _matrices(self) -> Floats:
        """The covariance matrix of each component, of rows in their place."""
        self._heed_written()
        return self._structure().matrices(self._placed_covariances, *self._placed_means.shape)

    def _n_parameters(self) -> int:
        K, p = self.means_.shape
        free_shares = 0 if self._structure().equal_shares else K - 1
        return self._structure().n_parameters(K, p) + K * p + free_shares
