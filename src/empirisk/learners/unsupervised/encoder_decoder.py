"""Learning without labels, as empirical risk minimisation over pairs of encoder and decoder.

An encoder e gives each row x a code, a decoder g gives each code a point, and a learner of this
room looks, among the pairs (e, g) of its class, for the one with the least empirical risk

    1/n sum_i |x_i - g(e(x_i))|^2,

the mean squared distance between rows and their reconstructions; a row of weight w counts as w
rows. For PCA e(x) are K coordinates and g is affine; for k-means e(x) is one of K labels and g any
map of them, so that g(1), ..., g(K) are the centroids. K is the complexity axis of both.
"""

from collections.abc import Sequence
from typing import Any

from empirisk.losses import Loss, Reconstruction
from empirisk.risk.axis import Output, PathMixin
from empirisk.risk.cross_validation import cross_validate
from empirisk.risk.curves import RiskPath
from empirisk.risk.estimate import RiskEstimate
from empirisk.risk.without_labels import risk_along_axis
from empirisk.runtime.arrays import Array, Floats
from empirisk.runtime.errors import ParameterError
from empirisk.runtime.validation import check_predict


class EncoderDecoderMixin(PathMixin):
    """What every learner of encoder and decoder has beside scikit-learn's methods.

    A learner gives `encode` and `decode`; what is lost in between follows. Its path answers
    `predict_path(X, "reconstruction")` with the loss |x - g(e(x))|^2 of each row at each value.
    """

    def encode(self, X: Any) -> Array:
        """The code of each row, for the fitted pair."""
        raise NotImplementedError

    def decode(self, code: Any) -> Floats:
        """The point that each code stands for."""
        raise NotImplementedError

    def reconstruct(self, X: Any) -> Floats:
        """What encoder and decoder make of each row: decode(encode(X))."""
        return self.decode(self.encode(X))

    @property
    def own_loss(self) -> Loss:
        """The loss that the learner minimises, and by which `Tuned` judges it."""
        return Reconstruction()

    def losses_of_rows(self, X: Any, output: Output = "reconstruction") -> Floats:
        """The loss of each row under the fitted pair; "reconstruction" is |x - g(e(x))|^2."""
        if output != "reconstruction":
            raise ParameterError(
                f"{type(self).__name__} has no {output!r} of rows: use the loss 'reconstruction'"
            )
        return Reconstruction()(check_predict(self, X), self.reconstruct(X))

    def reconstruction_risk(
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
        """The mean squared distance between rows and their reconstructions, of rows held out.

        Each row is reconstructed by a pair that was fitted without it, with the parameters that
        the learner has; whether it is fitted makes no difference. Of a fitted pair and rows that
        took no part in fitting it, `risk.evaluate(pair, X, None, loss="reconstruction")` is the
        risk.

        Parameters
        ----------
        X : the rows
        cv, sample_weight, groups, level, method, n_jobs, random_state
            As in `risk.cross_validate`.
        """
        return cross_validate(
            self, X, None,
            cv=cv, loss=Reconstruction(), sample_weight=sample_weight, groups=groups, level=level,
            method=method, n_jobs=n_jobs, random_state=random_state,
        )  # fmt: skip

    def reconstruction_path(
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
        """`reconstruction_risk` at all values of the axis, each row held out from the same pairs.

        Beside it stands the training risk, what the learner minimises. The value that is marked
        has the least risk, ties going to the simpler.

        Parameters
        ----------
        X : the rows
        values : sequence, optional
            Of the axis; None is the default grid.
        cv, sample_weight, groups, n_jobs, random_state
            As in `risk.cross_validate`.
        """
        return risk_along_axis(
            self, X, values, Reconstruction(),
            cv=cv, sample_weight=sample_weight, groups=groups, n_jobs=n_jobs,
            random_state=random_state,
        )  # fmt: skip
