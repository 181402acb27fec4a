"""Pictures of a fitted Gaussian mixture: ellipses of two features, or the density of one."""

from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from empirisk.charts.mixture import draw_density_parts, draw_ellipses
from empirisk.runtime.column_names import shown_names
from empirisk.runtime.errors import ParameterError
from empirisk.runtime.scalars import is_number
from empirisk.runtime.validation import check_predict

POINTS = 400
REACH = 4.0  # standard deviations about the outermost components


class MixtureDrawing:
    """`plot` of a mixture that has means_, covariances_ and weights_."""

    def plot(
        self: Any,
        X: Any = None,
        *,
        features: tuple[int, int] = (0, 1),
        share: float = 0.9,
        ax: Any = None,
    ) -> Any:
        """Components as ellipses that hold a share of each; of one feature, the density.

        Parameters
        ----------
        X : array-like, optional
            Rows to draw, in the colours of their components.
        features : pair of int
            Which two to draw.
        share : float between 0 and 1
        ax : matplotlib axes, optional

        Returns
        -------
        matplotlib axes
        """
        check_is_fitted(self)
        if not (is_number(share) and 0 < share < 1):
            raise ParameterError(f"share is {share!r}; give a number between 0 and 1")
        rows = None if X is None else check_predict(self, X, allow_nan=True)
        labels = None if X is None else self.predict(X)
        names = shown_names(self, self.n_features_in_)
        means, matrices, unit = self.means_, self._matrices(), self._unit
        if means.shape[1] == 1:
            spread = REACH * np.sqrt(matrices[:, 0, 0]) / unit[0]
            low, high = (means[:, 0] - spread).min(), (means[:, 0] + spread).max()
            at = np.linspace(low, high, POINTS)[:, np.newaxis]
            parts = np.exp(self._joint_at(at))
            seen = None if rows is None else rows[:, 0]
            return draw_density_parts(at[:, 0], parts, seen, names[0], ax=ax)
        two = list(features)
        if len(two) != 2 or not all(0 <= j < means.shape[1] for j in two) or two[0] == two[1]:
            raise ParameterError(f"features is {features!r}; give two of 0..{means.shape[1] - 1}")
        roots = np.linalg.cholesky(matrices[:, two][:, :, two]) / unit[two][:, np.newaxis]
        seen = None if rows is None else rows[:, two]
        shown = [names[j] for j in two]
        return draw_ellipses(means[:, two], roots, share, seen, labels, shown, ax=ax)
