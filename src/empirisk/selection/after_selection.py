"""What to expect of the best of many, whose risk on the losses it was chosen by is too good.

The rows of the loss matrix are resampled (BBC-CV; Tsamardinos, Greasidou & Borboudakis 2018): each
resample chooses by its own means, and what it chose is judged on the rows left out of it. By how
much that is worse, on those same rows, than what all rows choose is what choosing cost.

The losses of different rows share training rows, so a rival that fits the noise of the sample does
well on the rows left out, too, and part of the cost is not seen: nothing where models hardly differ
between the folds, about a third where there is only noise. How much is noise shows as in the .632+
bootstrap, by the share r of the way from the risk that was seen to that of guessing which choosing
takes back. From r = 0.4 on, the estimate moves on towards guessing, and is there at 0.55. The two
were found by simulation, and how well it does is in docs/coverage.md. With a weak signal and few
rows r may be that large by chance, and what is moved is too high: the interval begins where that
around an estimate does which only moves from r = 0.5 on, and is at guessing at 0.65.

The losses of a rival may lie in few rows, as where a polynomial leaves the range of its training
rows. A resample without them chooses it, and pays for them on the rows left out; samples of so many
rows always have some of their own, so that this cost is too high. Where it is more than the error
of the risk, and a hundredth of the rows make a third of it, the estimate says so, and its interval
begins where that of the risk as it looked does. If losses may be of any size, those rows are then
in every resample, which brings the estimate to about that of choosing anew in every training part;
its interval ends where that around the whole cost does, or around guessing where that is less.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from scipy.sparse import csc_array

from empirisk.risk.choosing import Rule, first_least, simplest_within
from empirisk.risk.estimate import COST_OF_FEW, COST_WITHOUT_FEW, RiskEstimate
from empirisk.risk.intervals.no_information import guessing_risk
from empirisk.risk.out_of_fold import OutOfFold
from empirisk.runtime.arrays import Floats, Ints
from empirisk.runtime.parallel import parallel, slices
from empirisk.runtime.streams import generator, spawn

RESAMPLES = 500
NOISE = 0.4, 0.55
SURELY_NOISE = 0.5, 0.65
FEW_ROWS, MUCH = 0.01, 1 / 3
AT_ONCE = 100
MOST_UNITS = 2000
"""More rows than that are resampled in random bunches of equal size: means of so many bunches vary
as means of the rows do, and the matrix is read once."""


@dataclass(frozen=True, eq=False)
class BunchedLosses:
    """The losses of one candidate, summed over the rows or groups that are resampled together.

    `sums` is (bunches, values), sum of w l; `weight` (bunches,), sum of w; `complexity` (values,);
    `guessing` the risk of predictions that do not look at the features.
    """

    sums: Floats
    weight: Floats
    complexity: Floats
    guessing: float

    @classmethod
    def of(cls, losses: OutOfFold, seed: int) -> "BunchedLosses":
        """The same seed puts the same rows of a plan together, whatever the candidate."""
        share = losses.weight / losses.weight.sum()
        held_out = np.bincount(losses.unit) > 0
        bunch = np.zeros(len(held_out), dtype=np.int64)
        bunch[held_out] = _bunches(int(held_out.sum()), seed)
        bunch = bunch[losses.unit]
        weight = np.bincount(bunch, share).astype(float)
        shape = len(weight), len(bunch)
        gather = csc_array((share, bunch, np.arange(len(bunch) + 1)), shape=shape)
        return cls(
            gather @ losses.losses, weight, losses.complexity, guessing_risk(losses.work.problem)
        )

    def risk(self, counts: Floats) -> Floats:
        """Mean losses (resamples, values); infinite where a loss is."""
        with np.errstate(invalid="ignore"):
            risk = counts @ self.sums / (counts @ self.weight)[:, None]
        return np.where(np.isnan(risk), np.inf, risk)

    def choose(self, risk: Floats, counts: Floats, rule: Rule) -> Ints:
        """The value that each resample chooses."""
        slack = self._errors(risk.argmin(axis=1), counts) if rule == "one_se" else 0.0
        return simplest_within(risk, self.complexity, slack)

    def at(self, value: Ints, counts: Floats) -> Floats:
        """The mean loss of each resample at a value of its own."""
        total = np.empty(len(counts))
        for j in np.unique(value):
            mine = value == j
            total[mine] = counts[mine] @ self.sums[:, j]
        return total / (counts @ self.weight)

    def _errors(self, value: Ints, counts: Floats) -> Floats:
        """The standard error of each resample's mean at a value of its own."""
        n = len(self.weight)
        total, mean = counts @ self.weight, self.at(value, counts)
        errors = np.empty(len(counts))
        for b, j in enumerate(value):
            deviation = self.sums[:, j] - mean[b] * self.weight
            size = float(np.abs(deviation).max()) or 1.0
            square = counts[b] @ np.square(deviation / size)
            errors[b] = size * np.sqrt(n / max(n - 1, 1) * square) / total[b]
        return errors


def after_choice(
    estimate: RiskEstimate,
    rivals: Sequence[BunchedLosses],
    chosen: tuple[int, int],
    rule: Rule,
    *,
    random_state: Any,
    n_jobs: int | None = None,
) -> RiskEstimate:
    """The estimate of what was chosen, corrected for the choice.

    Parameters
    ----------
    estimate : RiskEstimate
        Of the chosen value of the chosen rival, as it looked.
    rivals : sequence of BunchedLosses
        All that it was chosen among, in order.
    chosen : (int, int)
        Which rival, and which of its values.
    rule : {"best", "one_se"}
    random_state, n_jobs
        The result has the same bits for any number of jobs.
    """
    among = sum(len(rival.complexity) for rival in rivals)
    if among == 1:
        return estimate
    again = partial(
        costs_of_choosing, rivals, chosen, rule, random_state=random_state, n_jobs=n_jobs
    )
    costs = again()
    guessing = rivals[chosen[0]].guessing
    corrected = _corrected(estimate, costs)
    value = towards_guessing(estimate.value, corrected, guessing)
    expected = partial(estimate.expected, among=among, rule=rule)
    if not np.isfinite(value):
        return estimate.chosen(among, rule)
    if costs.sum() > (estimate.standard_error or np.inf) and made_by_few(costs):
        if np.isfinite(estimate.bounds[1]):
            return expected(value, least=estimate.value, cautions=(COST_OF_FEW,))
        without = _corrected(estimate, again(always=greatest(costs)))
        typical = towards_guessing(estimate.value, without, guessing)
        most = min(value, max(typical, guessing))
        cautions = (COST_WITHOUT_FEW,)
        return expected(typical, least=estimate.value, most=most, cautions=cautions)
    least = towards_guessing(estimate.value, corrected, guessing, SURELY_NOISE)
    return expected(value, least=least)


def _corrected(estimate: RiskEstimate, costs: Floats) -> float:
    return float(np.clip(estimate.value + costs.sum(), *estimate.bounds))


def made_by_few(costs: Floats) -> bool:
    """Whether a hundredth of the rows makes a third of the costs or more.

    Examples
    --------
    >>> made_by_few(np.array([5.0, 1.0, 1.0, 1.0])), made_by_few(np.ones(300))
    (True, False)
    """
    return bool(costs[greatest(costs)].sum() > MUCH * costs.sum())


def greatest(costs: Floats) -> Ints:
    """The hundredth of the rows that costs most."""
    few = max(1, round(FEW_ROWS * len(costs)))
    return np.argsort(costs, kind="stable")[-few:]


def towards_guessing(
    looked: float, corrected: float, guessing: float, noise: tuple[float, float] = NOISE
) -> float:
    """The corrected risk, moved on towards that of guessing where choosing took back much.

    Examples
    --------
    >>> towards_guessing(0.2, 0.25, guessing=0.5), towards_guessing(0.4, 0.48, guessing=0.5)
    (0.25, 0.5)
    """
    if not looked < corrected < guessing < np.inf:
        return corrected
    r = (corrected - looked) / (guessing - looked)
    first, last = noise
    step = min(max((r - first) / (last - first), 0.0), 1.0)
    return corrected + step * (guessing - corrected)


def costs_of_choosing(
    rivals: Sequence[BunchedLosses],
    chosen: tuple[int, int],
    rule: Rule,
    *,
    random_state: Any,
    n_jobs: int | None = None,
    n_resamples: int = RESAMPLES,
    always: Sequence[int] | Ints = (),
) -> Floats:
    """How much greater the risk of what is chosen will be than it looked, as a sum over bunches.

    No resample leaves out a bunch of `always`. NaN where the cost is unknown, since no resample
    leaves a row out.
    """
    starts = slices(n_resamples, AT_ONCE)
    seeds = spawn(random_state, len(starts))
    work = partial(_resampled_costs, rivals, chosen, rule, np.asarray(always, dtype=np.int64))
    pieces = [(seed, part.stop - part.start) for seed, part in zip(seeds, starts, strict=True)]
    found = parallel(work, pieces, n_jobs=n_jobs)
    resamples = sum(number for _, number in found)
    total = np.sum([costs for costs, _ in found], axis=0)
    return total / resamples if resamples else np.full(len(total), np.nan)


def _resampled_costs(
    rivals: Sequence[BunchedLosses],
    chosen: tuple[int, int],
    rule: Rule,
    always: Ints,
    piece: tuple[int, int],
) -> tuple[Floats, int]:
    """What the choices of resamples cost more on the rows that those leave out, for each bunch.

    Summed over the resamples that leave some out; and how many these are.
    """
    counts = counts_of_units(len(rivals[0].weight), *piece)
    counts[:, always] = np.maximum(counts[:, always], 1.0)
    counts = counts[(counts == 0).any(axis=1)]
    left_out = (counts == 0).astype(float)
    share = left_out / (left_out @ rivals[0].weight)[:, None]
    risks = [rival.risk(counts) for rival in rivals]
    winner = first_least(np.stack([risk.min(axis=1) for risk in risks], axis=1))
    mine = rivals[chosen[0]].sums[:, chosen[1]]
    costs = np.zeros(len(mine))
    for k in np.unique(winner):
        by = winner == k
        value = rivals[k].choose(risks[k][by], counts[by], rule)
        for j in np.unique(value):
            costs += share[by][value == j].sum(axis=0) * (rivals[k].sums[:, j] - mine)
    return costs, len(counts)


def counts_of_units(n: int, seed: int, resamples: int) -> Floats:
    """How often each of n units is drawn when n are drawn with replacement: (resamples, n)."""
    drawn = generator(seed).integers(0, n, size=(resamples, n))
    return np.array([np.bincount(units, minlength=n) for units in drawn], dtype=float)


def _bunches(units: int, seed: int) -> Ints:
    """The bunch of each unit: its own, or one of MOST_UNITS at random."""
    if units <= MOST_UNITS:
        return np.arange(units)
    return generator(seed).permutation(units) % MOST_UNITS
