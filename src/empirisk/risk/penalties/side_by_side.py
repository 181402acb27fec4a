"""Several estimates of one risk beside each other, and in words why they differ."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from empirisk.charts.intervals import draw_intervals
from empirisk.losses import Loss
from empirisk.risk.bagging.out_of_bag import out_of_bag
from empirisk.risk.estimate import RiskEstimate
from empirisk.risk.foreign import fit_foreign
from empirisk.risk.out_of_fold import OutOfFold, out_of_fold
from empirisk.risk.penalties.information_criteria import InformationCriteria, criteria_of
from empirisk.risk.penalties.noise_model import Resampling, as_copies
from empirisk.risk.penalties.optimism import Optimism, optimism_of
from empirisk.risk.penalties.training_error import TrainingFit
from empirisk.risk.problem import Problem
from empirisk.runtime.errors import DataError
from empirisk.runtime.streams import settled


@dataclass(frozen=True, eq=False)
class SideBySide:
    """Estimates by name, and notes on what sets them apart.

    Attributes
    ----------
    estimates : dict of RiskEstimate
    notes : tuple of str
    label : str
        What the numbers are.

    Examples
    --------
    >>> import numpy as np
    >>> from empirisk import LinearRegression, risk
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(60, 8))
    >>> found = risk.side_by_side(LinearRegression(), X, X[:, 0] + rng.normal(size=60))
    >>> found["training"].value < found["cross-validation"].value
    True
    """

    estimates: dict[str, RiskEstimate]
    notes: tuple[str, ...]
    label: str

    def __getitem__(self, name: str) -> RiskEstimate:
        return self.estimates[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.estimates)

    @property
    def table(self) -> str:
        """A line for each estimate: name, value, interval, what it is."""
        width = max(len(name) for name in self.estimates)
        lines = [f"{self.label}:"]
        for name, estimate in self.estimates.items():
            interval = "" if estimate.interval is None else estimate.ends
            what = "" if estimate.method == "none" else estimate.method
            lines.append(f"  {name:{width}}  {estimate.value:<9.4g} {interval:20}  {what}".rstrip())
        return "\n".join(lines)

    def __str__(self) -> str:
        return "\n".join([self.table, *(f"- {note}" for note in self.notes)])

    def plot(self, ax: Any = None) -> Any:
        """The estimates in order, those without an interval as open points."""
        found = list(self.estimates.values())
        return draw_intervals(
            list(self.estimates),
            [estimate.value for estimate in found],
            [estimate.interval for estimate in found],
            label=self.label,
            ax=ax,
        )


def side_by_side(
    learner: Any,
    X: Any,
    y: Any,
    *,
    loss: Loss | str | None = None,
    cv: Any = None,
    noise_variance: float | None = None,
    n_resamples: int = 200,
    sample_weight: Any = None,
    groups: Any = None,
    level: float = 0.95,
    n_jobs: int | None = None,
    random_state: Any = None,
) -> SideBySide:
    """The training error of a learner, its corrections and honest estimates, side by side.

    Parameters
    ----------
    learner : estimator, ours or not
    X, y, sample_weight, groups
        Groups matter to cross-validation; the corrections take all rows as independent.
    loss : Loss or str, optional
    cv : as in `cross_validate`
    noise_variance, n_resamples
        As in `optimism`.
    level, n_jobs, random_state

    Returns
    -------
    SideBySide
        "training"; the in-sample error as "covariance penalty"; for the squared loss "Cp", "AIC",
        "BIC" and "GCV" (for the log loss "AIC" and "BIC"); "cross-validation"; and of bagged
        learners "out-of-bag".

    Examples
    --------
    >>> import numpy as np
    >>> from empirisk import LinearRegression
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(60, 8))
    >>> y = X[:, 0] + rng.normal(size=60)
    >>> found = side_by_side(LinearRegression(), X, y)
    >>> list(found)
    ['training', 'covariance penalty', 'Cp', 'AIC', 'BIC', 'GCV', 'cross-validation']
    >>> found["training"].value < found["Cp"].value
    True
    >>> print(found.notes[0])
    Training: the model was fitted to these very rows; expect 0.2787 more.
    """
    problem = Problem.of(learner, X, y, loss=loss, sample_weight=sample_weight, groups=groups)
    resampling = Resampling(n_resamples, n_jobs, settled(random_state))
    alone = replace(problem, groups=None)
    found = optimism_of(learner, alone, "auto", noise_variance, resampling)
    estimates = {"training": found.training, "covariance penalty": found.in_sample}
    notes = [_of_training(found), _of_in_sample(found, problem, noise_variance is not None)]
    try:
        listed = _criteria(learner, alone, found, resampling.seed)
        estimates |= listed.estimates
        notes.append(_of_criteria(listed))
    except DataError as refusal:
        notes.append(f"AIC, BIC and GCV are left out: {refusal}.")
    plan = problem.plan(cv, random_state=resampling.random_state)
    losses = out_of_fold(
        learner, problem, plan, n_jobs=n_jobs, random_state=resampling.random_state
    )
    estimates["cross-validation"] = losses.estimate(0, level=level)
    notes.append(_of_cross_validation(losses, estimates["cross-validation"], found))
    if hasattr(type(learner), "estimators_samples_"):
        try:
            judged = _out_of_bag(learner, problem, loss, resampling, level)
            estimates["out-of-bag"] = judged
            notes.append(f"Out-of-bag: for new rows, of the ensemble of all rows, {judged.reason}.")
        except DataError as refusal:
            notes.append(f"Out-of-bag is left out: {refusal}.")
    return SideBySide(estimates, tuple(notes), f"{problem.loss} risk")


def _criteria(
    learner: Any, problem: Problem, found: Optimism, seed: int | None
) -> InformationCriteria:
    if problem.loss.name not in ("squared", "log"):
        raise DataError(f"they are for the squared and the log loss, and this is {problem.loss}")
    copies = problem if problem.classes is None else as_copies(problem)
    return criteria_of(TrainingFit.of(learner, copies, seed), found, None)


def _out_of_bag(
    learner: Any, problem: Problem, loss: Loss | str | None, resampling: Resampling, level: float
) -> RiskEstimate:
    return out_of_bag(
        fit_foreign(learner, problem, resampling.seed),
        problem.X,
        problem.y,
        loss=loss,
        sample_weight=problem.weight if problem.weighted else None,
        groups=problem.groups,
        level=level,
        n_jobs=resampling.n_jobs,
    )


def _of_training(found: Optimism) -> str:
    return f"Training: the model was fitted to these very rows; expect {found.value:.4g} more."


def _of_in_sample(found: Optimism, problem: Problem, given: bool) -> str:
    text = (
        f"Covariance penalty: the in-sample error, for new outcomes at the same {problem.n} rows "
        f"({found.method}: {found.reason}). It takes the outcomes as independent"
    )
    if found.noise_variance is not None:
        how = "given" if given else "estimated"
        text += f", with one noise variance, {found.noise_variance:.4g}, {how}"
    if problem.groups is not None:
        text += "; the groups say that they are not"
    return f"{text}."


def _of_criteria(listed: InformationCriteria) -> str:
    df, n = listed.degrees_of_freedom, listed.n
    factor = np.log(n) / 2
    text = (
        f"AIC: for the same rows too, from {df:.4g} degrees of freedom. BIC takes "
        f"{factor:.3g} times the penalty of AIC (log n / 2): it is for choosing, not for the risk"
    )
    if listed.gcv is None or listed.noise_variance is None:
        return f"{text}."
    own = listed.gcv * (1 - df / n)  # RSS / (n - df)
    if np.isclose(own, listed.noise_variance):
        return (
            f"{text}. AIC and GCV need no noise variance; with df/n = {df / n:.2g} they differ "
            "from Cp by terms of its square."
        )
    return (
        f"{text}. AIC and GCV know of the noise by what the fit leaves, a variance RSS/(n - df) of "
        f"{own:.4g}, where Cp takes {listed.noise_variance:.4g}: of a fit that recites they are "
        "too small."
    )


def _of_cross_validation(losses: OutOfFold, risk: RiskEstimate, found: Optimism) -> str:
    n, n_train = losses.plan.n, losses.plan.n_train
    gap = risk.value - found.in_sample.value
    text = (
        f"Cross-validation: for new rows, by models of {n_train} of the {n} rows; both make it "
        f"larger than the in-sample error as a rule. Here it is {gap:+.4g} away"
    )
    if risk.interval is None:
        return f"{text}."
    inside = risk.interval[0] <= found.in_sample.value <= risk.interval[1]
    return f"{text}, {'inside' if inside else 'outside'} its interval."
