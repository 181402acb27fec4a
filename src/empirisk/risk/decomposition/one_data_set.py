"""Bias and variance from one data set: bootstrap resamples stand in for training sets.

What this can and cannot tell: the noise is not seen apart from the bias, since each x comes with
one y; and resamples are drawn from the rows at hand and hold about 63 % of them, so that the
variance is that of a learner with fewer rows, and the two parts are only a picture of those over
new training sets.
"""

from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar

import numpy as np

from empirisk.losses import Loss, Squared, ZeroOne
from empirisk.risk.axis import PathMixin
from empirisk.risk.decomposition.group_sums import check_number_of_sets, in_time, sum_in_groups
from empirisk.risk.decomposition.parts import Parts
from empirisk.risk.decomposition.points import JudgedAt
from empirisk.risk.decomposition.squared import SquaredAccounts, SquaredDecomposition
from empirisk.risk.decomposition.zero_one import ZeroOneAccounts, ZeroOneDecomposition
from empirisk.risk.foreign import fit_foreign, foreign_prediction
from empirisk.risk.learner import learner_of
from empirisk.risk.problem import Problem
from empirisk.risk.resampling.leave_one_out_bootstrap import predict_left_out
from empirisk.risk.resampling.row_counts import row_counts
from empirisk.runtime.arrays import Array, Floats
from empirisk.runtime.complaints import refuse_one_class
from empirisk.runtime.errors import DataError, ParameterError
from empirisk.runtime.parallel import one_blas_thread
from empirisk.runtime.streams import spawn

CAVEAT = (
    "from one data set: the noise is part of the bias, and the variance is over resamples with "
    "about 63 % of these rows, not over new training sets"
)

NO_NOISE = "one data set does not show the noise: it is part of the bias"


@dataclass(frozen=True, eq=False)
class ResampledSquared(SquaredDecomposition):
    """`SquaredDecomposition` in which "bias_squared" holds the noise as well."""

    summands: ClassVar[tuple[str, ...]] = ("bias_squared", "variance")
    words: ClassVar[dict[str, str]] = {
        **SquaredDecomposition.words,
        "bias_squared": "squared bias with noise",
    }

    @property
    def noise(self) -> float:
        raise AttributeError(NO_NOISE)

    @property
    def excess(self) -> float:
        raise AttributeError(NO_NOISE)


@dataclass(frozen=True, eq=False)
class ResampledZeroOne(ZeroOneDecomposition):
    """`ZeroOneDecomposition` with each label as if it were the best prediction for its x."""

    summands: ClassVar[tuple[str, ...]] = ("bias", "net_variance")
    words: ClassVar[dict[str, str]] = {**ZeroOneDecomposition.words, "bias": "bias with noise"}

    @property
    def noise(self) -> float:
        raise AttributeError(NO_NOISE)

    @property
    def net_noise(self) -> float:
        raise AttributeError(NO_NOISE)

    @property
    def sentence(self) -> str:
        said = " + ".join(self._said(name) for name in self.summands)
        return (
            f"The 0-1 risk of {self.learner} is {self.total:.4g} = {said}; the net variance is "
            f"{self.unbiased_variance:.4g} where the learner is unbiased less "
            f"{self.biased_variance:.4g} where it is biased ({self.setting})."
        )


def bootstrap_bias_variance(
    learner: Any,
    X: Any,
    y: Any,
    *,
    loss: Loss | str | None = None,
    sample_weight: Any = None,
    n_resamples: int = 200,
    n_jobs: int | None = None,
    random_state: Any = None,
) -> ResampledSquared | ResampledZeroOne:
    """Bias with noise, and variance, from one data set.

    Rows are drawn with replacement, the learner is fitted to each resample, and each row is judged
    by the resamples that do not hold it. The parts add up to the mean out-of-bag loss.

    Parameters
    ----------
    learner : estimator or Pipeline
        Resamples reach it as counts in `sample_weight`; as repeated rows where it takes none.
    X, y : the rows
    loss : Loss or str, optional
        "squared" or "zero_one".
    sample_weight : array, optional
        A row of weight w counts as w copies; it is drawn as one row.
    n_resamples : int
    n_jobs : int, optional
    random_state : None, int, RandomState or Generator

    Examples
    --------
    >>> from empirisk import LinearRegression
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(40, 2))
    >>> y = X[:, 0] + rng.normal(size=40)
    >>> found = bootstrap_bias_variance(LinearRegression(), X, y, n_resamples=50, random_state=0)
    >>> print(found)
    The squared risk of LinearRegression is ... = squared bias with noise ... + variance ...
    (50 resamples of 40 rows; from one data set: the noise is part of the bias, ...).
    """
    check_number_of_sets(n_resamples, "n_resamples")
    problem = Problem.of(learner, X, y, loss=loss, sample_weight=sample_weight)
    if not isinstance(problem.loss, Squared | ZeroOne):
        raise ParameterError(
            f"the {problem.loss} risk has no decomposition whose parts add up; take the loss "
            "'squared' or 'zero_one'"
        )
    if problem.classes is not None:
        refuse_one_class(problem.classes, "a decomposition of the 0-1 risk")
    seeds = spawn(random_state, n_resamples)
    weight = problem.weight / problem.weight.sum()
    at = JudgedAt(problem.X, weight, None, drawn=True)
    problem = problem.typed(learner)
    with one_blas_thread():
        foreign = not isinstance(learner_of(learner), PathMixin)
        accounts = in_time(partial(_accounts, learner), foreign)(problem)
        summary = partial(_resampled, learner, problem, accounts)
        sums = sum_in_groups(summary, seeds, what="resamples", foreign=foreign, n_jobs=n_jobs)
        _refuse_unjudged(accounts.parts(sums.total)["total"], problem.n)
        parts = Parts.of(sums, accounts, at)
    setting = f"{n_resamples} resamples of {problem.n} rows; {CAVEAT}"
    return accounts.result(parts, 0, learner=type(learner_of(learner)).__name__, setting=setting)


class _Squared(SquaredAccounts):
    result_class = ResampledSquared

    def parts(self, sums: Array) -> dict[str, Floats]:
        return _without_noise(super().parts(sums))


class _ZeroOne(ZeroOneAccounts):
    result_class = ResampledZeroOne

    def parts(self, sums: Array) -> dict[str, Floats]:
        return _without_noise(super().parts(sums))


def _without_noise(parts: dict[str, Floats]) -> dict[str, Floats]:
    return {name: part for name, part in parts.items() if name not in ("noise", "net_noise")}


def _accounts(learner: Any, problem: Problem) -> Any:
    """The label, or y itself, stands for what is best to predict, and for noise there is none."""
    assert problem.target is not None
    if problem.classes is not None:
        return _ZeroOne(np.eye(problem.n_classes)[problem.target], problem.classes)
    pilot = fit_foreign(learner, problem, None)
    prediction = foreign_prediction(pilot, problem.X, problem, "value")
    if prediction.ndim > 1:
        raise DataError("y has several columns; take one at a time")
    return _Squared(problem.target, np.zeros(problem.n), prediction[:, None])


def _resampled(learner: Any, problem: Problem, accounts: Any, seed: int) -> Array:
    """What one resample adds: predictions of the rows that it does not hold."""
    count = row_counts(problem, seed)
    out = np.flatnonzero(count == 0)
    prediction = np.zeros((problem.n, 1), dtype=float if problem.classes is None else np.int64)
    if len(out):
        prediction[out, 0] = predict_left_out(learner, problem, count, out, spawn(seed, 1)[0])
    return accounts.summarise(prediction, count == 0)


def _refuse_unjudged(total: Floats, n: int) -> None:
    if np.isnan(total).all():
        raise DataError(
            f"no row was left out of two resamples, of {n} rows: give more rows or more resamples"
        )
