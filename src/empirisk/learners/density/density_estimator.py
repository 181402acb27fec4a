"""Estimating a density without labels, as minimisation of a risk.

A learner of this room looks for a density f of which the rows are a sample. Its risk is

    R(f) = E[-log f(X)] = entropy of g + KL(g, f),

where g is the density that the rows come from; it is least for f = g, and densities of any kind are
compared by it on rows held out. A row of weight w counts as w rows.
"""

from collections.abc import Sequence
from typing import Any

from empirisk.losses import LogDensity, Loss
from empirisk.risk.axis import Output, PathMixin
from empirisk.risk.cross_validation import cross_validate
from empirisk.risk.curves import RiskPath
from empirisk.risk.estimate import RiskEstimate
from empirisk.risk.without_labels import risk_along_axis
from empirisk.runtime.arrays import Floats
from empirisk.runtime.errors import ParameterError
from empirisk.runtime.targets import check_weights


class DensityMixin(PathMixin):
    """What every density has beside scikit-learn's methods.

    A learner gives `score_samples`, the log density of each row; its losses follow. Its path
    answers `predict_path(X, "density")` with the loss -log f(x) of each row at each value.
    """

    def score_samples(self, X: Any) -> Floats:
        """log f(x) of each row, minus infinity where the density is 0."""
        raise NotImplementedError

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """The mean log density of the rows; y is ignored."""
        logs = self.score_samples(X)
        weight = check_weights(sample_weight, len(logs))
        return weighted_sum(logs, weight / weight.sum())

    @property
    def own_loss(self) -> Loss:
        """The loss by which densities are compared, and by which `Tuned` judges them."""
        return LogDensity()

    def losses_of_rows(self, X: Any, output: Output = "density") -> Floats:
        """-log f(x) of each row under the fitted density; infinite where it is 0."""
        if output != "density":
            raise ParameterError(
                f"{type(self).__name__} has no {output!r} of rows: use the loss 'log_density'"
            )
        return 0.0 - self.score_samples(X)

    def density_risk(
        self,
        X: Any,
        *,
        cv: Any = None,
        sample_weight: Any = None,
        groups: Any = None,
        level: float = 0.95,
        method: str = "auto",
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> RiskEstimate:
        """The mean of -log f(x) over rows held out, each under a density fitted without it.

        It is minus the held-out log likelihood of a row. The density has the parameters that the
        learner has; whether it is fitted makes no difference. It is infinite, and without an
        interval, if the density of a single held-out row is 0. Of a fitted density and rows that
        took no part in fitting it, `risk.evaluate(density, X, None, loss="log_density")` is the
        risk.

        Parameters
        ----------
        X : the rows
        cv, sample_weight, groups, level, method, n_jobs, random_state
            As in `risk.cross_validate`.
        """
        return cross_validate(
            self, X, None,
            cv=cv, loss=LogDensity(), sample_weight=sample_weight, groups=groups, level=level,
            method=method, n_jobs=n_jobs, random_state=random_state,
        )  # fmt: skip

    def density_path(
        self,
        X: Any,
        values: Sequence[Any] | None = None,
        *,
        cv: Any = None,
        sample_weight: Any = None,
        groups: Any = None,
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> RiskPath:
        """`density_risk` at all values of the axis, on the same held-out rows.

        Beside it stands the training risk. The value that is marked has the least risk, ties going
        to the simpler.

        Parameters
        ----------
        X : the rows
        values : sequence, optional
            Of the axis; None is the default grid.
        cv, sample_weight, groups, n_jobs, random_state
            As in `risk.cross_validate`.
        """
        return risk_along_axis(
            self, X, values, LogDensity(),
            cv=cv, sample_weight=sample_weight, groups=groups, n_jobs=n_jobs,
            random_state=random_state,
        )  # fmt: skip

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()  # type: ignore[misc]  # of BaseEstimator, beside which this stands
        tags.estimator_type = "density_estimator"
        return tags


def weighted_sum(logs: Floats, weight: Floats) -> float:
    """Of log densities; a row of weight 0 counts nothing, though its density be 0.

    Examples
    --------
    >>> import numpy as np
    >>> weighted_sum(np.array([-np.inf, -1.0]), np.array([0.0, 2.0]))
    -2.0
    """
    used = weight > 0
    return float(weight[used] @ logs[used])
