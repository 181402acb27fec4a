"""`select`: choose a predictor, fit it, and certify it on rows that took no part (Algorithm 1)."""

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from empirisk.losses import Loss
from empirisk.risk.cross_validation import evaluate
from empirisk.risk.curves import RiskPath
from empirisk.risk.dealing import copies_of_rows
from empirisk.risk.estimate import RiskEstimate
from empirisk.risk.foreign import at_value, fit_foreign, mean_loss
from empirisk.risk.out_of_fold import Rule, out_of_fold
from empirisk.risk.plans import Plan
from empirisk.risk.problem import Problem, declared_axis
from empirisk.runtime.deadlines import deadline
from empirisk.runtime.errors import DeadlineError, EmpiriskError, ParameterError
from empirisk.runtime.parallel import one_blas_thread
from empirisk.runtime.progress import track
from empirisk.runtime.streams import spawn
from empirisk.selection.average import average_folds
from empirisk.selection.candidates import Candidates, named, with_baseline
from empirisk.selection.tuned import values_of

Refit = Literal["train", "average", "all"]


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
        What it was chosen by: the best of `chosen_among`, therefore without an interval.
    test_risk : RiskEstimate
        On rows that took no part: of this model, or of the procedure where `refit="all"`.
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
    paths: dict[str, RiskPath]
    failures: dict[str, str]
    plan: Plan
    test_rows: Any

    def ranking(self) -> list[tuple[str, Any, float]]:
        """Each candidate with its chosen value and risk, best first."""
        rows = [(n, p.values[p.chosen], float(p.risk[p.chosen])) for n, p in self.paths.items()]
        return sorted(rows, key=lambda row: row[2])

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
    sample_weight: Any = None,
    groups: Any = None,
    level: float = 0.95,
    time_limit: float | None = None,
    n_jobs: int | None = None,
    random_state: Any = None,
) -> Selection:
    """Split off a test part, cross-validate all candidates, choose, fit, and certify.

    Every candidate is judged along its whole axis on one plan; the candidate with the least risk
    wins, at the value that `rule` chooses. Copies of a row stay together.

    Parameters
    ----------
    candidates : list or dict of estimators
        Ours or scikit-learn's. A learner with an axis is unfolded along it; a `Tuned` is one
        procedure, tuned anew in every fold. A baseline is added.
    X, y, sample_weight, groups
    loss : Loss or str, optional
    cv : as in `Plan.of`
        The folds of the training part; a number or None, since the rows are split first.
    rule : {"best", "one_se"}
    test_size : float
        Share of the rows that take no part until the end.
    refit : {"train", "average", "all"}
        Fit the winner on all training rows (the model returned is the one certified); or average
        the models of the folds (also certified); or fit on all rows: then the test risk is that of
        the procedure, not of the model returned.
    level : float
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
    """
    if refit not in ("train", "average", "all"):
        raise ParameterError(f"refit is {refit!r}; choose 'train', 'average' or 'all'")
    rivals = named(candidates)
    first = next(iter(rivals.values()))
    problem = Problem.of(first, X, y, loss=loss, sample_weight=sample_weight, groups=groups)
    rivals = with_baseline(rivals, problem.loss)
    split_seed, fold_seed, fit_seed = spawn(0 if random_state is None else random_state, 3)
    counted = cv is None or isinstance(cv, int)
    with one_blas_thread():
        together = _copies_stay_together(problem)
        outer = problem.holdout(test_size, random_state=split_seed, keep_copies_together=together)
        train, test = problem.rows(outer.train(0)), problem.rows(outer.test(0))
        plan = train.plan(
            cv,
            random_state=fold_seed if counted else None,
            keep_copies_together=together and counted,
        )
        judged, failures = _judge(rivals, train, plan, rule, time_limit, n_jobs, fit_seed)
        name = min(judged, key=lambda rival: judged[rival].path.risk.min())
        winner = judged[name]
        model = winner.fit(train, plan, refit, n_jobs, fit_seed)
        certified = evaluate(
            model, test.X, test.y,
            loss=loss, sample_weight=test.weight, groups=test.groups, level=level,
        )  # fmt: skip
        if refit == "all":
            model = winner.fit(problem, plan, refit, n_jobs, fit_seed)
            certified = certified.of_the_procedure()
        seen = problem if refit == "all" else train
    among = sum(len(rival.path.values) for rival in judged.values())
    return Selection(
        name=name,
        value=winner.path.values[winner.path.chosen],
        model=model,
        training_risk=mean_loss(model, seen),
        cross_validated_risk=winner.risk.chosen(among),
        test_risk=certified,
        paths={rival: judged[rival].path for rival in judged},
        failures=failures,
        plan=plan,
        test_rows=outer.test(0),
    )


@dataclass(frozen=True, eq=False)
class Judged:
    """A candidate after cross-validation: its path, and the risk at the value chosen for it."""

    estimator: Any
    path: RiskPath
    risk: RiskEstimate

    def fit(self, problem: Problem, plan: Plan, refit: Refit, n_jobs: int | None, seed: int) -> Any:
        """The candidate at its chosen value, fitted on the problem or averaged over the folds."""
        value = self.path.values[self.path.chosen]
        if refit == "average":
            return average_folds(
                self.estimator, self.path.axis, value, problem, plan, n_jobs=n_jobs
            )
        return fit_foreign(at_value(self.estimator, self.path.axis, value), problem, seed)


def _judge(
    rivals: dict[str, Any],
    train: Problem,
    plan: Plan,
    rule: Rule,
    time_limit: float | None,
    n_jobs: int | None,
    seed: int,
) -> tuple[dict[str, Judged], dict[str, str]]:
    """Cross-validate every candidate along its axis on one plan."""
    judged: dict[str, Judged] = {}
    failures: dict[str, str] = {}
    for name in track(list(rivals), "candidates"):
        estimator = rivals[name]
        axis = declared_axis(estimator)
        try:
            with deadline(time_limit):
                problem = train.designed(estimator)
                values = values_of(estimator, axis, None, problem, plan.n_train)
                losses = out_of_fold(
                    estimator, problem, plan,
                    values=values, axis=axis, n_jobs=n_jobs, random_state=seed,
                )  # fmt: skip
                j = losses.choose(rule)
                judged[name] = Judged(estimator, RiskPath.of(losses, j), losses.estimate(j))
        except DeadlineError as late:
            failures[name] = str(late)
    if not judged:
        raise EmpiriskError(f"no candidate finished: {failures}")
    return judged, failures


def _copies_stay_together(problem: Problem, folds: int = 10) -> bool:
    """Equal rows stay in one fold, unless the table is so coarse that they are all there is.

    With fewer than ten distinct rows a fold, keeping them together would leave whole cells of the
    table unseen in training.
    """
    distinct = len(np.unique(copies_of_rows(problem.X)))
    return 10 * folds <= distinct < problem.n
