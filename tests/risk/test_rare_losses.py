"""Large losses that a sample may lack are doubted, wherever losses become an interval."""

import numpy as np
import pytest

from empirisk import Baseline, risk
from empirisk.losses import Absolute, Asymmetric, Costs, Quantile, Squared, ZeroOne
from empirisk.risk.intervals.interval import interval
from empirisk.risk.intervals.loss_table import LossTable
from empirisk.risk.intervals.rare_losses import with_doubts

ZERO_ONE = np.repeat([0, 1], [90, 10])
FEATURE = np.zeros((100, 1))


def of_rows(losses, loss):
    ones, rows = np.ones(len(losses)), np.arange(len(losses))
    table = LossTable.of_test_rows(np.asarray(losses, dtype=float), ones, rows, loss.bounds)
    return with_doubts(table, loss)


def said(losses, loss):
    return " ".join(of_rows(losses, loss).doubts)


def test_a_cost_that_no_row_met_is_doubted_where_it_would_count():
    cheap = np.repeat([0, 1], [80, 20])
    assert "the largest cost of 20" in said(cheap, Asymmetric(1, 20))
    assert "the largest cost of 9" in said(cheap, Costs([[0, 1], [9, 0]]).for_classes([0, 1]))
    assert said(np.append(cheap, 20), Asymmetric(1, 20)) == ""  # met once
    assert said(np.tile(cheap, 100), Asymmetric(1, 1.5)) == ""  # 3 of 10,000 rows hardly count
    assert said(np.append(cheap, 12.6), Asymmetric(1, 20)) == ""  # in a part of the resamples
    assert said(np.zeros(100), ZeroOne()) == said(cheap, ZeroOne()) == ""


def test_intervals_without_a_caution_cover_where_one_cost_is_rare():
    rng = np.random.default_rng(0)
    losses = rng.choice([0.0, 1.0, 100.0], size=(400, 100), p=[0.795, 0.2, 0.005])
    found = [interval(of_rows(row, Asymmetric(1, 100)), 0.9) for row in losses]
    holds = np.array([each.ends[0] <= 0.7 <= each.ends[1] for each in found])
    plain = np.array([not each.cautions for each in found])
    assert holds.mean() < 0.5  # without the caution: 36 % of such sets were covered
    # Of 158 sets expected to have met the cost 90 % and more are covered; fewer than 84 % of so
    # many would be 2.5 standard errors off, and the seed is fixed.
    assert holds[plain].mean() > 0.84


@pytest.mark.parametrize(("q", "n", "doubted"), [(0.99, 500, 1), (0.01, 500, 1), (0.9, 200, 0)])
def test_few_rows_beyond_a_quantile_are_doubted(q, n, doubted):
    losses = np.random.default_rng(0).exponential(size=n)
    assert ("expected beyond" in said(losses, Quantile(q))) == doubted
    assert said(losses, Absolute()) == said(losses, Squared()) == ""


def test_every_estimate_from_rows_carries_the_doubt():
    X, y = np.zeros((60, 1)), np.linspace(0.0, 1.0, 60)
    loss = Quantile(0.95)
    model = Baseline(loss=loss).fit(X, y)
    estimates = [
        risk.evaluate(model, X, y, loss=loss),
        risk.cross_validate(Baseline(), X, y, loss=loss, random_state=0),
        risk.holdout(Baseline(), X, y, loss=loss, random_state=0),
        risk.bootstrap_632plus(Baseline(), X, y, loss=loss, n_resamples=20, random_state=0),
    ]
    assert all("0.95 quantile" in estimate.sentence for estimate in estimates)


def test_rivals_that_differ_on_few_rows_say_so():
    def difference(k):
        wrong = [np.where(np.arange(100) < rows, 1 - ZERO_ONE, ZERO_ONE) for rows in (5, 5 + k)]
        one, other = (
            risk.evaluate(lambda X, own=own: own, FEATURE, ZERO_ONE, loss="zero_one")
            for own in wrong
        )
        return other - one

    assert "but they differ on 1 row only" in difference(1).sentence
    assert "but they differ on 5 rows only" in difference(5).sentence
    assert difference(6).cautions == ()
    assert difference(0).interval is None
