"""Regularised discriminant analysis: between one covariance for each class and one for all."""

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from empirisk.data.blocks import Blocks, Rows
from empirisk.data.class_moments import measured_moments
from empirisk.learners.generative.class_covariances import ClassCovariances, Point
from empirisk.learners.generative.complete_rows import complete_rows
from empirisk.learners.generative.gaussian_classifier import GaussianClassifier
from empirisk.learners.generative.quadratic_held_out import UntiedParts, predict_folds
from empirisk.learners.generative.quadratic_path import QuadraticPath
from empirisk.learners.generative.settings import (
    checked_share,
    checked_target,
    checked_tol,
)
from empirisk.risk.axis import Axis, HeldOut, Output
from empirisk.risk.plans.plan import Plan
from empirisk.runtime.arrays import Array, Floats

ALPHAS = (0.0, 0.05, 0.1, 0.2, 0.3, 0.4, 0.55, 0.7, 0.85, 1.0)
DELTAS = (0.0, 0.001, 0.003, 0.01, 0.03, 0.1, 0.2, 0.4, 0.7, 1.0)
"""Shrinkage matters by its size relative to the small eigenvalues: most values near 0."""


class RegularizedDiscriminantAnalysis(GaussianClassifier):
    """Bayes' rule for Gaussian classes whose covariances S_k are drawn towards the one S that
    all share, and then towards a multiple of the identity:

        A_k     = alpha S_k + (1 - alpha) S
        Sigma_k = (1 - delta) A_k + delta (trace A_k / p) I.

    (alpha, delta) = (1, 0) is quadratic, (0, 0) linear discriminant analysis, (0, 1) with
    equal priors the rule of the nearest class mean. S_k and S are those of maximum likelihood.

    Complexity axis: `alpha` and `delta`, a tuple of both; richer is a larger alpha, and a smaller
    delta among equal ones. `Tuned(RegularizedDiscriminantAnalysis())` chooses among 10 x 10 points,
    90 where a covariance has no inverse without delta; `values=[(alpha, delta), ...]` gives others.

    Features that are missing (NaN) when it predicts are left out by the marginal densities of the
    others. Training rows must be complete; others are left out, with a warning.

    Parameters
    ----------
    alpha, delta : float between 0 and 1
    target : {"scaled", "identity"}
        What delta draws towards: (trace A_k / p) I, or I itself. The former goes along with the
        unit in which all columns are measured, the latter does not.
    priors : array-like of shape (n_classes,), optional
        The shares pi_k; by default the weighted frequencies of the classes.
    solver : {"auto", "cholesky", "eigen"}
        Where delta is 0, covariances are factored by Cholesky, or by their eigenvectors if so
        asked or where they are nearly singular. The rule is the same.
    unbiased : bool
        Divide the scatter of a class by n_k - 1 instead of n_k, and that of all by n - K.
    store_covariance : bool
        Keep Sigma_k as `covariance_`.
    tol : float
        As in `QuadraticDiscriminantAnalysis`: where delta is 0, a direction in which A_k has no
        variance is given the variance tol^2, and a warning says so; where it is above 0, the same
        is done if A_k is 0.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
    priors_ : array of shape (n_classes,)
    means_ : array of shape (n_classes, n_features)
    covariance_ : array of shape (n_classes, n_features, n_features)
        Only with `store_covariance`.
    rank_ : array of shape (n_classes,)
        In how many directions each class has variance; below n_features, the others were given
        the variance tol^2.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Notes
    -----
    At delta 0 predictions do not depend on the units of the columns (`feature_scaling = "each"`),
    at other values all columns must be measured in the same unit.

    References
    ----------
    J. H. Friedman (1989), Regularized discriminant analysis.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from empirisk import Tuned
    >>> X, y = load_iris(return_X_y=True)
    >>> rda = RegularizedDiscriminantAnalysis(0.3, 0.01).fit(X, y)
    >>> rda.predict(X[::60])
    array([0, 1, 2])
    >>> grid = [(alpha, delta) for alpha in (0, 0.5, 1) for delta in (0, 0.01, 0.1)]
    >>> tuned = Tuned(rda, values=grid, loss="log", random_state=0).fit(X, y)
    >>> tuned.best_value_
    (0.5, 0)
    """

    axis: ClassVar[Axis | None] = Axis(
        ("alpha", "delta"), larger=("richer", "simpler"), scale="linear"
    )

    def __init__(
        self,
        alpha: float = 0.5,
        delta: float = 0.0,
        *,
        target: str = "scaled",
        priors: ArrayLike | None = None,
        solver: str = "auto",
        unbiased: bool = False,
        store_covariance: bool = False,
        tol: float = 1e-4,
    ) -> None:
        self.alpha = alpha
        self.delta = delta
        self.target = target
        self.priors = priors
        self.solver = solver
        self.unbiased = unbiased
        self.store_covariance = store_covariance
        self.tol = tol

    @property
    def remedy(self) -> str:
        """What to do about a singular covariance, beside dropping columns."""
        return "or set delta above 0" + (" or alpha below 1" if self.alpha == 1 else "")

    def axis_values(
        self, X: Floats, y: Array, sample_weight: Floats, *, n_train: int
    ) -> Sequence[tuple[float, float]]:
        """10 values of each; no delta of 0 where a covariance cannot be inverted."""
        codes = np.unique(y, return_inverse=True)[1]
        complete = ~np.isnan(X).any(axis=1)
        if not complete.any():
            labels = getattr(self, "_labels", np.arange(codes.max() + 1))
            complete_rows(Rows(X, codes, sample_weight), labels, type(self).__name__)  # complains
        rows = Rows(X[complete], codes[complete], sample_weight[complete])
        moments, units = measured_moments(Blocks.of_arrays(*rows), int(codes.max()) + 1, tied=False)
        moments, share = moments.present(), n_train / len(y)
        of_each = (moments.rows * share - 1 >= X.shape[1]).all()
        of_all = (moments.rows * share - 1).sum() >= X.shape[1]
        invertible = {}
        for alpha in ALPHAS:
            mixture = ClassCovariances(moments, alpha, units.column, checked_tol(self.tol))
            enough = of_each if alpha == 1 else of_all
            invertible[alpha] = bool(enough) and bool((mixture.rank == X.shape[1]).all())
        return [
            (alpha, delta)
            for alpha in ALPHAS
            for delta in (DELTAS if invertible[alpha] else DELTAS[1:])
        ]

    def _learn(self, blocks: Blocks, classes: Array, names: Sequence[str] | None) -> None:
        self._path(blocks, [(self.alpha, self.delta)], classes, names).write(0, self)

    def _path(
        self, blocks: Blocks, values: Sequence[Any], classes: Array, names: Sequence[str] | None
    ) -> QuadraticPath:
        """All points from one pass over the rows, and an eigendecomposition for each alpha."""
        scaled = checked_target(self.target)
        points = [_point(value) for value in values]
        return QuadraticPath(self, blocks, points, values, classes, names, scaled=scaled)

    def _held_out(
        self,
        rows: Rows,
        fold_map: Any,
        plan: Plan,
        values: Sequence[Any],
        n_classes: int,
        output: Output,
        rows_per_block: int,
    ) -> HeldOut:
        """All points from the class moments of all rows minus those of the fold: rows are looked
        at again where they are held out, and nowhere else."""
        points, scaled = [_point(value) for value in values], checked_target(self.target)
        parts = UntiedParts.of_learner(
            self, rows, n_classes, points, scaled=scaled, fold_map=fold_map
        )
        return HeldOut(predict_folds(parts, plan, output, rows_per_block))


def _point(value: Any) -> Point:
    alpha, delta = value
    return Point(checked_share(alpha, "alpha"), checked_share(delta, "delta"))
