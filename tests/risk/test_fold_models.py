"""Models of folds that differ by chance: seen where they do, and not where they do not."""

import tracemalloc
import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import stats
from sklearn.base import clone
from sklearn.linear_model import LinearRegression as PeersLinearRegression
from sklearn.model_selection import LeaveOneOut, RepeatedKFold, TimeSeriesSplit
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier as PeersTree

from empirisk import (
    DecisionTreeRegressor,
    HistGradientBoostingRegressor,
    LinearRegression,
    MLPClassifier,
    Plan,
    Ridge,
    risk,
)
from empirisk.risk.intervals.cautions import MODELS_DIFFER
from empirisk.risk.intervals.fold_models import ALIKE, how_far_apart
from empirisk.risk.intervals.interval import drawn_out, interval, widening
from empirisk.risk.intervals.loss_table import LossTable
from tolerances import SOLVED, SUMMED

K = 10


def sample(rng, n=400, apart=0.0, kind=None):
    """Losses of ten folds, of which the means lie `apart`; in groups, weighted or repeated."""
    repeats = 3 if kind == "repeated" else 1
    row = np.tile(np.arange(n), repeats)
    fold = np.concatenate([rng.permutation(n) % K + K * r for r in range(repeats)])
    if kind == "groups":
        row, fold = np.arange(n) // 4, np.arange(n) // 4 % K
    weight = rng.exponential(size=n)[row] if kind == "weights" else np.ones(len(row))
    noise = rng.normal(size=row.max() + 1)[row] + 0.1 * rng.normal(size=len(row))
    means = apart * rng.normal(size=fold.max() + 1)
    return 5 + means[fold] + noise, weight / weight.sum(), row, fold


def by_loops(losses, beside, share, unit, split):
    """The formulas of the file, one fold and one unit after another."""
    folds = sorted(set(split.tolist()))
    units = len(set(unit.tolist()))
    pieces = dict.fromkeys(zip(unit, split, strict=True), 0.0)
    for u, j, w in zip(unit, split, share, strict=True):
        pieces[u, j] += w
    repeats = len(pieces) / units
    freedom = round(len(folds) / repeats) - 1
    rows = 1 / (repeats * sum(w**2 for w in pieces.values()))

    def parts(of):
        means, errors = {}, {}
        for j in folds:
            mine = split == j
            means[j] = np.average(of[mine], weights=share[mine])
            own, total = sorted(set(unit[mine].tolist())), share[mine].sum()
            w = np.array([share[mine & (unit == u)].sum() for u in own])
            unbiased = 1 / (1 - 2 * (w**3).sum() / total / (w**2).sum() + (w**2).sum() / total**2)
            for u in own:
                entries = mine & (unit == u)
                sum_of_unit = (share[entries] * (of[entries] - means[j])).sum()
                errors[j, u] = np.sqrt(unbiased * total) * sum_of_unit / total
        return means, errors

    means, errors = parts(losses)
    too_small = 0.0
    if beside is not None:
        s = np.sqrt(sum(e**2 for e in errors.values()) * rows / len(folds))
        other_means, other = parts(beside)
        b = sum(errors[k] * other[k] for k in errors) / sum(e**2 for e in other.values())
        means = {j: means[j] - b * other_means[j] for j in folds}
        errors = {k: errors[k] - b * other[k] for k in errors}
        too_small = np.sqrt(8) * b**2 * max(share @ (losses - beside), 0) * s / rows
    W = {j: share[split == j].sum() for j in folds}
    mean = sum(W[j] * means[j] for j in folds)
    J = len(folds)
    between = J / (J - 1) * sum(W[j] * (means[j] - mean) ** 2 for j in folds)
    within = sum(e**2 for e in errors.values()) + too_small
    V = between - stats.f.ppf(0.95, freedom, units - 1 - freedom) * within
    return np.sqrt(max(V, 0) * (1 + 1 / J)), freedom


@pytest.mark.parametrize("kind", [None, "groups", "weights", "repeated"])
@pytest.mark.parametrize("with_beside", [False, True])
def test_it_is_what_the_formulas_say(kind, with_beside):
    rng = np.random.default_rng(0)
    losses, share, unit, split = sample(rng, 200, 1.0, kind)
    of_fold = np.bincount(split, losses) / np.bincount(split)
    beside = None
    if with_beside:
        beside = losses - of_fold[split] + 4.9 + rng.normal(size=len(losses))
    found = how_far_apart(losses, beside, share, unit, split)
    error, freedom = by_loops(losses, beside, share, unit, split)
    assert error > 0
    assert_allclose(found.error, error, rtol=SUMMED)
    assert found.freedom == freedom == K - 1


@pytest.mark.parametrize("kind", [None, "groups", "weights"])
def test_models_that_are_alike_are_taken_for_others_in_one_sample_of_twenty(kind):
    rng = np.random.default_rng(1)
    seen = [how_far_apart(a, None, *rest).error > 0 for a, *rest in draws(rng, 600, 0.0, kind)]
    # 0.05 with a standard error of 0.009; of 2,000 samples 0.044, 0.056 and 0.058
    assert np.mean(seen) < 0.09


def test_the_spread_of_the_risks_is_found():
    rng = np.random.default_rng(2)
    found = [how_far_apart(a, None, *rest).error for a, *rest in draws(rng, 300, 1.0)]
    # V = 1, less 0.95 times what rows explain, 1/40; its standard error is 0.03
    assert_allclose(np.mean(np.square(found)), 1.1 * (1 - 0.95 / 40), rtol=0.1)


def draws(rng, times, apart, kind=None):
    return [sample(rng, 400, apart, kind) for _ in range(times)]


def test_losses_of_the_model_of_all_rows_let_a_small_spread_be_seen():
    rng = np.random.default_rng(3)
    n, alone, together = 1000, 0, 0
    for _ in range(50):
        split, noise = rng.permutation(n) % K, rng.exponential(size=n)
        losses = noise + 0.1 * rng.normal(size=K)[split] + 0.1 * rng.normal(size=n)
        args = np.full(n, 1 / n), np.arange(n), split
        alone += how_far_apart(losses, None, *args).error > 0
        together += how_far_apart(losses, 0.8 * noise, *args).error > 0
    assert together == 50
    assert alone < 25  # the rows explain as much as the models: 0.1 both


@pytest.mark.parametrize("unit_of_loss", [1e-150, 1.0, 1e150])
def test_the_unit_of_the_loss_and_the_order_of_rows_do_not_matter(unit_of_loss):
    rng = np.random.default_rng(4)
    losses, share, unit, split = sample(rng, 200, 1.0)
    whole = how_far_apart(losses, losses**2, share, unit, split)
    order = rng.permutation(len(losses))
    scaled = unit_of_loss * losses[order], unit_of_loss * losses[order] ** 2
    again = how_far_apart(*scaled, share[order], unit[order], split[order])
    assert_allclose(again.error, unit_of_loss * whole.error, rtol=SUMMED)


@pytest.mark.parametrize("size", [0.0, 1e-8, 1e-158, 1e-160, 1.0])
def test_losses_that_explain_nothing_hide_nothing(size):
    rng = np.random.default_rng(9)
    losses, share, unit, split = sample(rng, 200, 3.0)
    alone = how_far_apart(losses, None, share, unit, split)
    beside = size * rng.normal(size=200)
    found = how_far_apart(losses, beside, share, unit, split).error
    # by chance a twentieth of what is left is explained, and moved between the folds
    assert_allclose(found, alone.error, rtol=0.1)


def test_leave_one_out_of_weighted_rows_warns_of_nothing():
    rng = np.random.default_rng(10)
    X, y = rng.normal(size=(60, 2)), rng.normal(size=60)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        risk.leave_one_out(PeersTree(max_depth=2), X, y > 0, sample_weight=rng.random(60))


def test_a_rare_class_does_not_make_models_differ():
    rng = np.random.default_rng(11)
    y = np.arange(600) < 12
    for seed in range(10):
        X = rng.normal(size=(600, 2)) + 0.7 * y[:, None]
        found = risk.cross_validate(GaussianNB(), X, y, loss="auc", random_state=seed)
        assert MODELS_DIFFER not in found.cautions


def test_no_model_of_all_rows_is_fitted_where_folds_are_not_compared():
    sizes = []

    class Counting(DecisionTreeRegressor):
        def fit_path(self, X, y, *args, **kwargs):
            sizes.append(len(y))
            return super().fit_path(X, y, *args, **kwargs)

        has_doubts = False

    X, y = np.random.default_rng(0).normal(size=(2, 60))
    one_split = [(np.arange(10), np.arange(10, 60))]
    for cv in (TimeSeriesSplit(4), LeaveOneOut(), one_split):
        risk.cross_validate(Counting(), X[:, None], y, cv=cv)
    assert max(sizes) == 59
    risk.cross_validate(Counting(), X[:, None], y, cv=4)
    assert max(sizes) == 60


def test_nothing_is_told_by_single_folds_single_units_or_equal_losses():
    rng = np.random.default_rng(5)
    losses, share, unit, split = sample(rng, 60, 1.0)
    assert how_far_apart(losses, None, share, unit, np.zeros_like(split)) == ALIKE
    assert how_far_apart(losses, None, share, unit, unit) == ALIKE  # leave-one-out
    assert how_far_apart(losses, None, share, split, split) == ALIKE  # a group a fold
    assert how_far_apart(np.ones(60), np.zeros(60), share, unit, split) == ALIKE


@pytest.mark.parametrize("seed", range(5))
def test_a_fold_of_a_single_weighted_row_tells_nothing(seed):
    rng = np.random.default_rng(seed)
    losses, split = rng.normal(size=60), np.append(np.arange(59) % 5, 5)
    losses[-1], weight = 100.0, rng.random(60)
    assert how_far_apart(losses, None, weight / weight.sum(), np.arange(60), split) == ALIKE


def table(losses, share, unit, split, **more):
    return LossTable(losses, share, unit, split, 360.0, "kfold", **more)


def test_the_error_of_the_folds_is_added_with_its_own_degrees_of_freedom():
    losses, share, unit, split = sample(np.random.default_rng(6), 400, 1.0)
    known = table(losses, share, unit, split, bounds=(0.0, np.inf), degrees_of_freedom=50.0)
    unknown = table(losses, share, unit, split, bounds=(0.0, np.inf))
    assert drawn_out(known) == widening(known)
    error, apart = unknown.standard_error(), unknown.apart.error
    by_rows = widening(unknown) * error
    assert_allclose(drawn_out(unknown) * error, np.hypot(by_rows, apart), rtol=SUMMED)
    freedom = (by_rows**2 + apart**2) ** 2 / (by_rows**4 / 399 + apart**4 / 9)
    found = interval(unknown, 0.9)
    half = stats.t.ppf(0.95, freedom) * np.hypot(by_rows, apart) / losses.mean()
    assert_allclose(np.log(found.ends) - np.log(losses.mean()), [-half, half], rtol=SUMMED)
    assert MODELS_DIFFER in found.cautions
    assert "their models differ in risk" in found.reason
    assert interval(known, 0.9).cautions == ()


def test_of_a_difference_what_both_have_in_common_is_gone():
    losses, share, unit, split = sample(np.random.default_rng(7), 400, 1.0)
    one, other = (table(losses + shift, share, unit, split) for shift in (0.0, 1.0))
    other.losses[:] += np.random.default_rng(8).normal(size=400)
    assert one.apart.error > 0
    assert one.minus(other).apart == ALIKE


def crossed(n, seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4))
    return X, (rng.random(n) < np.where(X[:, 0] * X[:, 1] > 0, 0.9, 0.1)).astype(int)


def test_shallow_trees_of_a_product_are_known_to_differ_and_lines_not():
    X, y = crossed(2000, 3)
    tree = risk.cross_validate(PeersTree(max_depth=3), X, y, random_state=0)
    assert MODELS_DIFFER in tree.cautions
    # The risk of one such tree or another is 0.1 to 0.5; the rows alone told it to 0.02.
    assert tree.interval[1] - tree.interval[0] > 0.2
    for line in (LinearRegression(), PeersLinearRegression()):
        found = risk.cross_validate(line, X, X @ [1, 2, 3, 4] + y, random_state=0)
        assert found.cautions == ()
    auc = risk.cross_validate(PeersTree(max_depth=3), X, y, loss="auc", random_state=0)
    assert MODELS_DIFFER in auc.cautions
    f_score = risk.cross_validate(PeersTree(max_depth=3), X, y, loss="f_score", random_state=0)
    assert MODELS_DIFFER in f_score.cautions


def test_repeats_and_leave_one_out_have_their_intervals_too():
    X, y = crossed(300, 1)
    again = RepeatedKFold(n_splits=5, n_repeats=3, random_state=0)
    assert MODELS_DIFFER in risk.cross_validate(PeersTree(max_depth=3), X, y, cv=again).cautions
    alone = risk.cross_validate(PeersTree(max_depth=3), X, y, cv=LeaveOneOut())
    assert MODELS_DIFFER not in alone.cautions


def in_a_circle(X):
    return np.where(X[:, 0] ** 2 + X[:, 1] ** 2 < 1.4, 0.95, 0.05)


def test_intervals_of_small_networks_hold_the_risk_of_the_procedure():
    """At 90 %, of 1,000 rows; without what the models differ about half of them did."""
    network = MLPClassifier(hidden_layer_sizes=(4,), max_iter=40, n_iter_no_change=None)
    ends, risks, x = [], [], np.random.default_rng(99).normal(size=(4000, 3))
    for seed in range(40):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(1000, 3))
        y = (rng.random(1000) < in_a_circle(X)).astype(int)
        ends.append(risk.cross_validate(network, X, y, random_state=seed, level=0.9).interval)
        h = clone(network).set_params(random_state=seed).fit(X, y).predict(x)
        risks.append(np.where(h == 1, 1 - in_a_circle(x), in_a_circle(x)).mean())
    low, high = np.array(ends).T
    held = (low < np.mean(risks)) & (np.mean(risks) < high)
    assert held.mean() >= 0.78  # if 0.9 hold, less happens once in 100 times


def test_boosted_trees_that_differ_little_are_told_beside_the_model_of_all_rows():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30_000, 4))
    y = X[:, 0] * X[:, 1] + X[:, 2] + rng.normal(size=30_000)
    found = risk.cross_validate(HistGradientBoostingRegressor(max_iter=20), X, y, random_state=0)
    rows = found.table
    assert rows.apart.error > 0
    assert how_far_apart(rows.losses, None, rows.share, rows.unit, rows.split) == ALIKE


def test_losses_of_the_model_of_all_rows_are_not_kept_at_all_values():
    n, values = 20_000, np.geomspace(1e-3, 1e3, 200).tolist()
    X, y = np.random.default_rng(0).normal(size=(n, 3)), np.arange(float(n))
    problem = risk.Problem.of(Ridge(), X, y)
    losses = risk.out_of_fold(Ridge(), problem, Plan.of(2, X, y), values=values)
    assert losses.whole is not None
    tracemalloc.start()
    found = losses.work.training_losses(values, losses.whole, 7)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    expected = np.square(y - Ridge(values[7]).fit(X, y).predict(X))
    assert_allclose(found, expected, rtol=SOLVED, atol=SOLVED * expected.max())
    assert peak < 8 * n * len(values) / 2  # bytes of the losses of all rows at all values
