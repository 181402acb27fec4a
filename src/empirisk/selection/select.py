"""`select`: choose a predictor, fit it, and certify it on rows that took no part (Algorithm 1)."""

from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Literal

from empirisk.losses import Loss
from empirisk.risk.choosing import Rule, check_rule
from empirisk.risk.curves import RiskPath
from empirisk.risk.estimate import RiskEstimate
from empirisk.risk.foreign import at_value, fit_foreign, mean_loss
from empirisk.risk.learner import along_axis
from empirisk.risk.out_of_fold import OutOfFold, out_of_fold
from empirisk.risk.plans.plan import Plan
from empirisk.risk.problem import Problem
from empirisk.risk.rungs import of_all_rows
from empirisk.risk.suitable_loss import common_loss
from empirisk.runtime.errors import ParameterError
from empirisk.runtime.parallel import one_blas_thread
from empirisk.runtime.streams import spawn
from empirisk.selection.after_selection import BunchedLosses, after_choice
from empirisk.selection.average import average_folds
from empirisk.selection.candidates import Candidates, named, settled, with_baseline
from empirisk.selection.judging import Choice, judge, look_at_rows, winner_of
from empirisk.selection.procedure import SelectionProcedure, inner_folds
from empirisk.selection.set_aside import certify, set_aside

Refit = Literal["train", "average", "all"]
Honest = Literal["bootstrap", "nested"]


@dataclass(frozen=True, eq=False)
class Selection:
    """What `select` chose and what is known of it.

    Attributes
    ----------
    name, value : the chosen candidate, and the chosen value of its axis (None without one)
    model : the fitted predictor
    training_risk : float
        Its mean loss on the rows it was fitted on: too good.
    cross_validated_risk : RiskEstimate
        What is to be expected of it after the choice among all values of all candidates.
    test_risk : RiskEstimate
        On rows that took no part: of this model, or of the procedure where `refit="all"`.
    risks : dict of RiskEstimate
        Of every candidate at its chosen value, corrected for the choice along its own axis.
    paths : dict of RiskPath
        Of every candidate, along its axis.
    failures : dict of str
        Candidates that gave no risk, and why.
    plan : Plan
        The folds of the training rows.
    test_rows : int array
        The rows that were kept untouched.
    """

    name: str
    value: Any
    model: Any
    training_risk: float
    cross_validated_risk: RiskEstimate
    test_risk: RiskEstimate
    risks: dict[str, RiskEstimate]
    paths: dict[str, RiskPath]
    failures: dict[str, str]
    plan: Plan
    test_rows: Any

    def ranking(self) -> list[tuple[str, Any, float]]:
        """Each candidate with its chosen value and risk: the chosen one, then the best first."""
        rows = [(n, p.values[p.chosen], self.risks[n].value) for n, p in self.paths.items()]
        return sorted(rows, key=lambda row: (row[0] != self.name, row[2]))

    def __str__(self) -> str:
        number = isinstance(self.value, float)
        at = (
            "" if self.value is None else f" at {self.value:.4g}" if number else f" at {self.value}"
        )
        lines = [f"chosen: {self.name}{at}", f"training risk: {self.training_risk:.4g}"]
        lines += [str(self.cross_validated_risk), str(self.test_risk)]
        return "\n".join(lines)


def select(
    candidates: Candidates,
    X: Any,
    y: Any,
    *,
    loss: Loss | str | None = None,
    cv: Any = None,
    rule: Rule = "best",
    test_size: float = 0.25,
    refit: Refit = "train",
    honest: Honest = "bootstrap",
    sample_weight: Any = None,
    groups: Any = None,
    level: float = 0.95,
    time_limit: float | None = None,
    n_jobs: int | None = None,
    random_state: Any = None,
) -> Selection:
    """Set a test part aside, cross-validate all candidates, choose, fit, and certify.

    Every candidate is judged along its whole axis on one plan; the candidate with the least risk
    wins, at the value that `rule` chooses. Copies of a row stay together, unless so few rows differ
    (less than 100) that whole cells of the table would be missing in training, rows are in the
    order of time, or groups or folds are given; where they are a fifth of the rows or more,
    intervals count a row and its copies as one group.

    Parameters
    ----------
    candidates : list or dict of estimators
        Ours or scikit-learn's. A learner with an axis is unfolded along it; a `Tuned` is one
        procedure, tuned anew in every fold. A baseline is added where there are labels.
    X, y, sample_weight, groups
    loss : Loss or str, optional
    cv : as in `Plan.of`
        The folds of the training part; a number, None or a splitter, since the rows are split
        first. With a `TimeSeriesSplit` the test part is the last rows, not rows at random, and its
        risk comes without an interval: rows in time order may depend on one another.
    rule : {"best", "one_se"}
    test_size : float
        Share of the rows that take no part until the end.
    refit : {"train", "average", "all"}
        Fit the winner on all training rows (the model returned is the one certified); or average
        the models of the folds (also certified); or fit on all rows: then the test risk is that of
        the procedure, not of the model returned.
    honest : {"bootstrap", "nested"}
        How the cross-validated risk of the winner is corrected for the choice: by resampling the
        losses that are there, or by choosing anew inside every training part, at the price of so
        many selections and, under the 0-1 loss, of an interval that is a little short.
    level : float
        Of the intervals.
    time_limit : float, optional
        Seconds for each candidate; one that needs more is reported as a failure.
    n_jobs, random_state

    Examples
    --------
    >>> import numpy as np
    >>> from empirisk import LinearRegression, Ridge, select
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(120, 30))
    >>> y = X[:, 0] + rng.normal(size=120)
    >>> chosen = select([LinearRegression(), Ridge()], X, y, random_state=0)
    >>> chosen.name
    'Ridge'
    >>> chosen.training_risk < chosen.test_risk.value
    True
    >>> chosen.test_risk.estimates, chosen.cross_validated_risk.chosen_among
    ('this model', 102)
    >>> chosen.cross_validated_risk.uncorrected < chosen.cross_validated_risk.value
    True
    """
    _check(rule, refit, honest)
    rivals = settled(named(candidates))
    first = next(iter(rivals.values()))
    loss = common_loss(rivals.values(), y) if loss is None else loss
    problem = Problem.of(first, X, y, loss=loss, sample_weight=sample_weight, groups=groups)
    if refit == "average" and problem.loss.task == "reconstruction":
        raise ParameterError(
            "refit='average' averages predictions or densities, and encoders and decoders give "
            "neither: choose 'train' or 'all'"
        )
    look_again = partial(look_at_rows, rivals, problem)
    rivals = with_baseline(rivals, problem.loss, problem.X)
    split_seed, fold_seed, fit_seed, choice_seed = spawn(
        0 if random_state is None else random_state, 4
    )
    with one_blas_thread(), of_all_rows(look_again):
        parts = set_aside(problem, cv, test_size, split_seed=split_seed, fold_seed=fold_seed)
        train, plan = parts.train, parts.plan
        look = partial(_look, rule, level, choice_seed)
        judged, failures = judge(
            rivals, train, plan, look, time_limit=time_limit, n_jobs=n_jobs, seed=fit_seed
        )
        name = winner_of({rival: each.choice for rival, each in judged.items()})
        risks, expected = _honest_risks(judged, name, rule, choice_seed, n_jobs)
        if honest == "nested":
            procedure = SelectionProcedure(
                {rival: rivals[rival] for rival in judged},
                loss=loss, cv=inner_folds(cv, plan), rule=rule, random_state=fit_seed,
            )  # fmt: skip
            expected = _nested(procedure, expected, train, plan, n_jobs, fit_seed)
        chosen = judged[name].choice
        model = _fit(rivals[name], chosen, train, plan, refit, n_jobs, fit_seed)
        certified = certify(model, parts.test, loss=loss, level=level, time_order=parts.time_order)
        if refit == "all":
            model = _fit(rivals[name], chosen, parts.whole, plan, refit, n_jobs, fit_seed)
            certified = certified.of_the_procedure()
        training_risk = mean_loss(model, problem if refit == "all" else train)
    return Selection(
        name=name,
        value=chosen.value,
        model=model,
        training_risk=training_risk,
        cross_validated_risk=expected,
        test_risk=certified,
        risks=risks,
        paths={rival: each.path for rival, each in judged.items()},
        failures=failures,
        plan=plan,
        test_rows=parts.test_rows,
    )


def _check(rule: str, refit: str, honest: str) -> None:
    check_rule(rule)
    if refit not in ("train", "average", "all"):
        raise ParameterError(f"refit is {refit!r}; choose 'train', 'average' or 'all'")
    if honest not in ("bootstrap", "nested"):
        raise ParameterError(f"honest is {honest!r}; choose 'bootstrap' or 'nested'")


@dataclass(frozen=True, eq=False)
class Judged:
    """A candidate after cross-validation: its path, and the risk at the value chosen for it.

    `looked` is that risk as it looks; `bunched` are the losses that tell what choosing cost.
    """

    path: RiskPath
    choice: Choice
    looked: RiskEstimate
    bunched: BunchedLosses


def _look(rule: Rule, level: float, seed: int, losses: OutOfFold) -> Judged:
    j = losses.choose(rule)
    looked = losses.estimate(j, level=level)
    return Judged(
        RiskPath.of(losses, j), Choice.of(losses, j), looked, BunchedLosses.of(losses, seed)
    )


def _honest_risks(
    judged: dict[str, Judged], name: str, rule: Rule, seed: int, n_jobs: int | None
) -> tuple[dict[str, RiskEstimate], RiskEstimate]:
    """Of each candidate after the choice along its axis; of the winner after that among all."""

    def corrected(each: Judged, rivals: list[Judged]) -> RiskEstimate:
        return after_choice(
            each.looked,
            [rival.bunched for rival in rivals],
            (rivals.index(each), each.path.chosen),
            rule,
            random_state=seed,
            n_jobs=n_jobs,
        )

    risks = {rival: corrected(each, [each]) for rival, each in judged.items()}
    return risks, corrected(judged[name], list(judged.values()))


def _nested(
    procedure: SelectionProcedure,
    expected: RiskEstimate,
    train: Problem,
    plan: Plan,
    n_jobs: int | None,
    seed: int,
) -> RiskEstimate:
    """The risk of choosing anew in every training part, in place of the bootstrap's."""
    table = out_of_fold(procedure, train, plan, n_jobs=n_jobs, random_state=seed).table(0)
    found = RiskEstimate.of(
        table,
        loss=expected.loss,
        estimates=expected.estimates,
        fingerprint=expected.fingerprint,
        level=expected.level,
    )
    looked = expected.value if expected.uncorrected is None else expected.uncorrected
    return replace(
        found,
        rule=expected.rule,
        chosen_among=expected.chosen_among,
        corrected=True,
        uncorrected=looked,
    )


def _fit(
    estimator: Any,
    choice: Choice,
    problem: Problem,
    plan: Plan,
    refit: Refit,
    n_jobs: int | None,
    seed: int,
) -> Any:
    """The candidate at its chosen value, fitted on the problem or averaged over the folds."""
    estimator = along_axis(estimator, choice.axis)
    if refit == "average":
        return average_folds(
            estimator, choice.axis, choice.value, problem, plan, n_jobs=n_jobs, seed=seed
        )
    return fit_foreign(at_value(estimator, choice.axis, choice.value), problem, seed)
