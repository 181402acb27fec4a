"""The correction for having chosen: against a slow loop, and where the answer is known."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.base import BaseEstimator, ClassifierMixin

from empirisk import (
    BasisRegression,
    KNeighborsClassifier,
    LinearDiscriminantAnalysis,
    LinearRegression,
    Ridge,
    Tuned,
    risk,
)
from empirisk.risk.axis import Axis
from empirisk.risk.choosing import TIE
from empirisk.risk.estimate import COST_OF_FEW, COST_WITHOUT_FEW
from empirisk.risk.out_of_fold import CHOSEN_ANEW
from empirisk.runtime.streams import spawn
from empirisk.selection import after_selection
from empirisk.selection.after_selection import (
    AT_ONCE,
    MOST_UNITS,
    BunchedLosses,
    costs_of_choosing,
    counts_of_units,
    towards_guessing,
)
from tolerances import LAST_BITS, SUMMED

rng = np.random.default_rng(0)


def cost_of_choosing(*rivals_and_rule, **options):
    return float(costs_of_choosing(*rivals_and_rule, **options).sum())


class OneFeature(ClassifierMixin, BaseEstimator):
    """The sign of the difference of class means, from their middle, in one column."""

    def __init__(self, column=0):
        self.column = column

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        self.low_, self.high_ = (X[y == c, self.column].mean() for c in self.classes_)
        return self

    def predict(self, X):
        x = X[:, self.column] - (self.low_ + self.high_) / 2
        return self.classes_[(x * (self.high_ - self.low_) > 0).astype(int)]


def losses_of(losses, *, weight=None, unit=None, complexity=None):
    """What `BunchedLosses.of` reads of an `OutOfFold`."""
    n, v = losses.shape
    return SimpleNamespace(
        losses=losses,
        weight=np.ones(n) if weight is None else weight,
        unit=np.arange(n) if unit is None else unit,
        complexity=np.arange(float(v)) if complexity is None else complexity,
        work=SimpleNamespace(problem=SimpleNamespace(target=None, loss=None)),
    )


def slow_mean(losses, weight):
    return sum(w * loss for w, loss in zip(weight, losses, strict=True)) / sum(weight)


def slow_choice(out, times, rule):
    """The value chosen from rows that are there so many times, with copies written out."""
    rows = np.repeat(np.arange(len(out.unit)), times[out.unit].astype(int))
    weight = out.weight[rows]
    risk = [slow_mean(column, weight) for column in out.losses[rows].T]
    limit = min(risk) * (1 + TIE)
    if rule == "one_se":
        column = out.losses[:, np.argmin(risk)]
        sums = [
            (out.weight * (column - min(risk)))[out.unit == u].sum()
            for u in np.repeat(np.arange(len(times)), times.astype(int))
        ]
        n = len(sums)
        limit += np.sqrt(n / (n - 1) * np.sum(np.square(sums))) / weight.sum()
    return min((c, j) for j, c in enumerate(out.complexity) if risk[j] <= limit)[1], min(risk)


def slow_cost(rivals, chosen, rule, seed, resamples):
    """Each resample chooses, and pays on the rows it has not seen."""
    costs = []
    n = rivals[0].unit.max() + 1
    for part in spawn(seed, -(-resamples // AT_ONCE)):
        for times in counts_of_units(n, part, min(AT_ONCE, resamples)):
            if times.all():
                continue
            choices = [slow_choice(rival, times, rule) for rival in rivals]
            k = int(np.argmin([risk for _, risk in choices]))
            unseen = times[rivals[0].unit] == 0
            paid = []
            for rival, j in ((k, choices[k][0]), chosen):
                out = rivals[rival]
                paid.append(slow_mean(out.losses[unseen, j], out.weight[unseen]))
            costs.append(paid[0] - paid[1])
    return np.mean(costs)


@pytest.mark.parametrize("rule", ["best", "one_se"])
@pytest.mark.parametrize("sampled", ["rows", "weighted rows", "groups"])
def test_the_cost_is_that_of_a_slow_loop_over_the_same_resamples(rule, sampled):
    weight = np.ones(24) if sampled == "rows" else rng.uniform(0.5, 2, size=24)
    unit = np.arange(24) // 3 if sampled == "groups" else np.arange(24)
    level = rng.exponential(size=(24, 1))
    rivals = [
        losses_of(
            level * rng.uniform(0.5, 1.5, size=(24, v)),
            weight=weight, unit=unit, complexity=rng.permutation(v).astype(float),
        )
        for v in (1, 6, 4)
    ]  # fmt: skip
    bunched = [BunchedLosses.of(rival, 0) for rival in rivals]
    found = cost_of_choosing(bunched, (1, 2), rule, random_state=3, n_resamples=AT_ONCE)
    expected = slow_cost(rivals, (1, 2), rule, 3, AT_ONCE)
    assert_allclose(found, expected, rtol=1e-10)  # sums of 24 numbers in another order


def test_the_same_bits_for_every_number_of_jobs():
    bunched = [BunchedLosses.of(losses_of(rng.exponential(size=(60, v))), 0) for v in (3, 20)]
    costs = {
        cost_of_choosing(bunched, (1, 0), "one_se", random_state=1, n_jobs=jobs)
        for jobs in (None, 2, 3)
    }
    assert len(costs) == 1
    assert costs != {cost_of_choosing(bunched, (1, 0), "one_se", random_state=2)}


def test_what_is_always_chosen_costs_nothing():
    losses = rng.exponential(size=(50, 1)) + [[0.0, 5.0, 9.0]]
    bunched = BunchedLosses.of(losses_of(losses), 0)
    assert cost_of_choosing([bunched], (0, 0), "best", random_state=0) == 0.0


def test_the_best_of_forty_coins_is_no_better_than_a_coin():
    # 40 rivals that all err in half of 100 rows.
    found, naive = [], []
    for seed in range(20):
        losses = np.random.default_rng(seed).integers(0, 2, size=(100, 40)).astype(float)
        risk = losses.mean(axis=0)
        bunched = BunchedLosses.of(losses_of(losses), 0)
        cost = cost_of_choosing([bunched], (0, int(risk.argmin())), "best", random_state=seed)
        found.append(risk.min() + cost)
        naive.append(risk.min())
    # The mean of 20 corrected risks has a standard deviation of 0.04 / sqrt(20) = 0.009 at most,
    # and BBC-CV is exact here: 5 of them.
    assert abs(np.mean(found) - 0.5) < 0.045
    assert np.mean(naive) < 0.42


@pytest.mark.parametrize(
    ("looked", "corrected", "expected"),
    [
        (0.20, 0.32, 0.32),  # r = 0.4: as it is
        (0.20, 0.365, 0.50),  # r = 0.55: guessing
        (0.20, 0.3425, 0.42125),  # half way between
        (0.20, 0.20, 0.20),
        (0.20, 0.60, 0.60),  # worse than guessing already
        (0.55, 0.60, 0.60),
    ],
)
def test_where_choosing_takes_back_much_only_guessing_is_left(looked, corrected, expected):
    assert_allclose(towards_guessing(looked, corrected, 0.5), expected, rtol=SUMMED)


def test_an_interval_that_moved_towards_guessing_begins_where_one_that_is_slower_to_move_does(
    monkeypatch,
):
    # r = (0.45 - 0.36) / (0.56 - 0.36) = 0.45 moves a third of the way, but is not surely noise.
    draw = np.random.default_rng(0)
    X, y = draw.normal(size=(100, 5)), draw.integers(0, 2, 100)
    looked = risk.cross_validate(LinearDiscriminantAnalysis(), X, y, random_state=0)
    looked = replace(looked, value=0.36)
    rival = SimpleNamespace(complexity=np.zeros(2), guessing=0.56)
    costs = np.full(100, 0.0009)
    monkeypatch.setattr(after_selection, "costs_of_choosing", lambda *_, **__: costs)
    found = after_selection.after_choice(looked, [rival], (0, 0), "best", random_state=0)
    assert_allclose(found.value, 0.45 + 0.11 / 3, rtol=SUMMED)
    slower, moved = looked.expected(0.45, 2).interval, looked.expected(found.value, 2).interval
    assert_allclose(found.interval, (slower[0], moved[1]), rtol=LAST_BITS)


def test_the_best_of_forty_features_of_noise_is_expected_to_guess():
    # 40 discriminants of one feature each; their losses share training rows.
    column = Axis(("column",), larger="richer", scale="integer")
    found, naive = [], []
    for seed in range(12):
        X, y = np.random.default_rng(seed).normal(size=(100, 40)), np.arange(100) % 2
        model = Tuned(OneFeature(), values=range(40), axis=column, random_state=seed)
        model.fit(X, y)
        found.append(model.risk_.value)
        naive.append(model.risk_.uncorrected)
    # The expectation over training sets is 0.5 less 0.014 (docs/coverage.md); its spread for one
    # set is 0.04, so that of the mean of 12 is 0.0115: 5 of them, and the naive minimum is 9 away.
    assert abs(np.mean(found) - 0.486) < 0.058
    assert np.mean(naive) < 0.42


def test_bunches_of_rows_cost_what_rows_cost(monkeypatch):
    losses = losses_of(rng.exponential(size=(1600, 30)))
    chosen = (0, int(losses.losses.mean(axis=0).argmin()))
    rows = BunchedLosses.of(losses, 0)
    monkeypatch.setattr("empirisk.selection.after_selection.MOST_UNITS", 400)
    bunches = BunchedLosses.of(losses, 0)
    assert len(bunches.weight) == 400 < len(rows.weight) == 1600 <= MOST_UNITS
    assert_allclose(bunches.sums.sum(axis=0), rows.sums.sum(axis=0), rtol=SUMMED)
    assert_allclose(bunches.weight, 1 / 400, rtol=SUMMED)
    a, b = (
        cost_of_choosing([each], chosen, "best", random_state=0, n_resamples=2000)
        for each in (rows, bunches)
    )
    # Each is a mean of 2,000 costs of spread about a: 2 % of a; bunches add sqrt(2/400) = 7 %.
    assert_allclose(b, a, rtol=0.4)


def test_an_infinite_loss_is_never_chosen():
    losses = rng.exponential(size=(40, 3))
    finite = BunchedLosses.of(losses_of(losses[:, :2]), 0)
    losses[7, 2] = np.inf
    losses[:7, 2] = losses[8:, 2] = 0.0
    three = BunchedLosses.of(losses_of(losses), 0)
    a, b = (cost_of_choosing([each], (0, 0), "best", random_state=0) for each in (finite, three))
    assert a == b


@pytest.mark.parametrize("scale", [1e-200, 1e200])
def test_the_cost_scales_with_the_losses(scale):
    losses = rng.exponential(size=(40, 5))
    for rule in ("best", "one_se"):
        a, b = (
            cost_of_choosing(
                [BunchedLosses.of(losses_of(factor * losses), 0)], (0, 1), rule, random_state=0
            )
            for factor in (1.0, scale)
        )
        assert_allclose(b, scale * a, rtol=SUMMED)


def test_a_single_group_cannot_correct_and_gives_no_interval():
    one = BunchedLosses.of(losses_of(rng.exponential(size=(10, 3)), unit=np.zeros(10, int)), 0)
    assert np.isnan(cost_of_choosing([one], (0, 0), "best", random_state=0))


def test_nothing_to_choose_is_nothing_to_correct():
    X = rng.normal(size=(40, 2))
    model = Tuned(LinearRegression()).fit(X, X[:, 0] + rng.normal(size=40))
    assert (model.risk_.chosen_among, model.risk_.corrected) == (1, False)
    assert model.risk_.interval is not None


def test_the_correction_of_a_tuned_learner_depends_on_its_seed_alone():
    X = rng.normal(size=(60, 8))
    y = X[:, 0] + rng.normal(size=60)
    one, two = (Tuned(Ridge(), random_state=4, n_jobs=jobs).fit(X, y).risk_ for jobs in (1, 2))
    assert one.value == two.value
    assert one.uncorrected < one.value
    again = Tuned(Ridge(), random_state=4, rule="one_se").fit(X, y).risk_
    assert again.corrected
    within = "the simplest within one standard error of the best of 100 looked like"
    assert within in again.sentence


def test_a_cost_that_few_rows_make_is_left_to_the_interval():
    # Polynomials of degree 4 and more err by far at the ends of the range, in a few rows; a
    # resample without them chooses such a degree. The mean risk of what is chosen, over 300
    # training sets, is 1.8; intervals at 95 % around the corrected risk alone covered it in 75 %.
    # Of 40 sets, 95 % would be 38, of which the standard deviation is 1.4. With the cost of those
    # rows the corrected risks were up to 6.9, without it they are up to 2.5.
    covered, doubted = 0, 0
    for seed in range(40):
        draw = np.random.default_rng(seed)
        X = draw.normal(size=(100, 5))
        y = np.sin(2 * X[:, 0]) + X[:, 1] + draw.normal(size=100)
        learner = BasisRegression(interactions=False)
        found = Tuned(learner, values=range(1, 7), random_state=seed).fit(X, y).risk_
        covered += found.interval[0] <= 1.8 <= found.interval[1]
        if COST_WITHOUT_FEW in found.cautions:
            doubted += 1
            assert found.interval[0] < found.uncorrected < found.value < found.interval[1]
            assert found.value < 2 * 1.8
    assert covered >= 38 - 3 * 1.4
    assert 10 <= doubted <= 35


def test_a_cost_that_many_rows_make_is_not_doubted():
    X = rng.normal(size=(100, 30))
    y = rng.normal(size=100)
    found = Tuned(Ridge(), random_state=0).fit(X, y).risk_
    assert not {COST_OF_FEW, COST_WITHOUT_FEW} & set(found.cautions)


def test_few_mistakes_among_classes_are_no_reason_to_leave_out_their_cost():
    # A wrong class costs as much as any other: no row is an exception.
    X = np.random.default_rng(6).normal(size=(60, 2))
    found = Tuned(KNeighborsClassifier(), random_state=0).fit(X, X[:, 0] > 0).risk_
    assert COST_OF_FEW in found.cautions
    assert found.value > found.uncorrected


def test_a_choice_made_anew_in_every_training_part_is_judged_as_one():
    X = rng.normal(size=(120, 5))
    y = (X[:, 0] + rng.normal(size=120) > 0).astype(int)
    tuned = Tuned(LinearDiscriminantAnalysis())
    anew = risk.cross_validate(tuned, X, y, random_state=0)
    assert anew.table.is_best
    assert CHOSEN_ANEW in anew.cautions
    kept = risk.holdout(tuned, X, y, random_state=0)  # of one model, however it was chosen
    assert not kept.table.is_best
    assert (kept.method, kept.cautions) == ("Clopper-Pearson", ())
