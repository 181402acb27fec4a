"""The bootstrap interval of measures: replicates, agreement with the formulas, groups, weights."""

from types import SimpleNamespace

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import stats
from sklearn import metrics
from sklearn.linear_model import LogisticRegression

from empirisk import risk
from empirisk.risk import measures
from empirisk.risk.measures.average_precision import mean_precision_under
from empirisk.risk.measures.bootstrapped import OfCopies, expanded
from empirisk.risk.measures.judged import JudgedRows
from empirisk.risk.measures.ranking import area, area_under
from empirisk.risk.measures.rates import rate
from empirisk.risk.resampling.intervals import acceleration
from empirisk.risk.resampling.sample import Resamples
from empirisk.runtime.errors import DataError, EmpiriskWarning, ParameterError
from empirisk.runtime.streams import spawn
from tolerances import SUMMED

AVERAGES = ["macro", "micro", "weighted"]


def judged(n=200, seed=0, n_classes=3):
    """Labels, predictions and a matrix of scores with ties."""
    rng = np.random.default_rng(seed)
    y = rng.choice(n_classes, size=n, p=np.arange(1, n_classes + 1) / sum(range(n_classes + 1)))
    score = np.round(rng.normal(size=(n, n_classes)) + 1.2 * (y[:, None] == range(n_classes)), 1)
    return y, score.argmax(axis=1), score


def drawn_weights(n, seed=0, resamples=7):
    """Copies of the rows in resamples."""
    return np.random.default_rng(seed).multinomial(n, np.full(n, 1 / n), size=resamples) * 1.0


def value_or_nan(measure, *args, **options):
    try:
        return measure(*args, **options).value
    except DataError:  # undefined: the resample lacks a class
        return np.nan


def test_areas_under_many_weights_are_those_of_scikit_learn():
    y, _, score = judged(n=60)
    weights = drawn_weights(60)
    own, positive = score[:, 1], y == 1
    areas, precisions = (
        area_under(own, positive, ~positive)(weights),
        mean_precision_under(own, positive)(weights),
    )
    for b, weight in enumerate(weights):
        peer = metrics.roc_auc_score(positive, own, sample_weight=weight)
        assert_allclose(areas[b], peer, rtol=SUMMED)
        peer = metrics.average_precision_score(positive, own, sample_weight=weight)
        assert_allclose(precisions[b], peer, rtol=SUMMED)
    none = np.where(positive, 0.0, 1.0)[None]
    assert np.isnan(area_under(own, positive, ~positive)(none)).all()
    assert np.isnan(mean_precision_under(own, positive)(none)).all()
    infinite = np.where(own == own.max(), np.inf, own)
    assert_allclose(area_under(infinite, positive, ~positive)(weights), areas, rtol=SUMMED)


@pytest.mark.parametrize("average", [None, *AVERAGES])
@pytest.mark.parametrize("name", ["precision", "recall", "specificity", "F"])
def test_rates_under_weights_are_those_of_weighted_rows(name, average):
    y, prediction, _ = judged(n=60)
    options = {"average": average} if average else {"positive": 1}
    rows = JudgedRows.of(y, prediction=prediction)
    weights = drawn_weights(60)
    found = rate(rows, name, **options)[0].statistic.at(weights)
    measure = getattr(measures, "f_score" if name == "F" else name)
    if average == "macro":
        options["labels"] = [0, 1, 2]
    expected = [value_or_nan(measure, y, prediction, sample_weight=w, **options) for w in weights]
    assert_allclose(found, expected, rtol=SUMMED)


@pytest.mark.parametrize("multi_class", ["ovr", "ovo"])
def test_averages_of_areas_under_weights_are_those_of_weighted_rows(multi_class):
    y, _, score = judged(n=60)
    weights = drawn_weights(60)
    found = area(JudgedRows.of(y, score=score), None, multi_class)[0].statistic.at(weights)
    options = {"multi_class": multi_class, "classes": [0, 1, 2]}
    expected = [value_or_nan(measures.auc, y, score, sample_weight=w, **options) for w in weights]
    assert np.isfinite(expected).sum() >= 5
    assert_allclose(found, expected, rtol=SUMMED)


def test_a_class_that_was_not_drawn_has_no_share_in_the_weighted_average():
    y, prediction, _ = judged(n=60)
    rows = JudgedRows.of(y, prediction=prediction)
    lacking = (y != 0).astype(float)[None]
    found = rate(rows, "recall", average="weighted")[0].statistic.at(lacking)
    assert_allclose(found, np.mean(prediction[y != 0] == y[y != 0]), rtol=SUMMED)


def test_the_acceleration_is_that_of_the_jackknife():
    y, _, score = judged(n=80, n_classes=2)
    groups = np.arange(80) // 2
    rows = JudgedRows.of(y, score=score[:, 1] + y, groups=groups)
    part, _ = area(rows)
    statistic = OfCopies(rows, part.statistic)
    exact = acceleration(statistic.leave_one_out(np.ones(40)))
    assert_allclose(
        acceleration(statistic.left_out()), exact, rtol=0, atol=0.01
    )  # to first order in 1/n
    assert abs(exact[0]) > 0.02  # so that a lost sign would show


def test_the_interval_is_the_bca_of_scipy_with_t_quantiles_for_normal_ones():
    rng = np.random.default_rng(3)
    y, weight = np.repeat([1, 0], [40, 160]), rng.exponential(size=200)
    score = y + rng.normal(size=200)
    found = measures.auc(
        y, score, sample_weight=weight, level=0.9, method="bootstrap", random_state=0
    )

    def of(row):
        return metrics.roc_auc_score(y[row], score[row], sample_weight=weight[row])

    rows = JudgedRows.of(y, score=score, sample_weight=weight)
    statistic = OfCopies(rows, area(rows)[0].statistic)
    drawn = statistic.replicates(Resamples(200, 200, 1999, spawn(0, 1)[0]))[:, 0]
    worth = rows.worth(y == 1)
    assert 5 < worth < 15

    def peer(z):
        return stats.bootstrap(
            (np.arange(200),), of, vectorized=False, method="BCa", n_resamples=0,
            confidence_level=1 - 2 * stats.norm.sf(z),
            bootstrap_result=SimpleNamespace(bootstrap_distribution=drawn),
        ).confidence_interval  # fmt: skip

    # The acceleration is the jackknife's to first order in 1/n, and quantiles of 1,999 resamples
    # lie between two of them in another way.
    near = 0.05 * found.standard_error
    assert_allclose(found.interval, peer(stats.t.ppf(0.95, worth - 1)), rtol=0, atol=near)
    narrower = peer(stats.norm.ppf(0.95))
    assert found.interval[0] < narrower[0] - 3 * near
    assert found.interval[1] > narrower[1] + 3 * near


def test_the_expanded_level_is_between_the_level_and_what_resamples_tell():
    z = stats.norm.isf((1 - expanded(0.95, 12.5, 1999)) / 2)
    assert_allclose(z, stats.t.ppf(0.975, 11.5), rtol=SUMMED)
    assert_allclose(expanded(0.95, 1e9, 1999), 0.95, rtol=1e-7)  # t is normal to 1/units
    assert expanded(0.95, 1.01, 1999) == 1 - 2 / 2000
    assert expanded(0.95, 5.0, 20) == 0.95  # to be refused as it was given


CALLS = {
    "auc": lambda y, prediction, score, **o: measures.auc(y == 2, score[:, 2], **o),
    "ovr": lambda y, prediction, score, **o: measures.auc(y, score, **o),
    "average precision": lambda y, prediction, score, **o: measures.average_precision(
        y == 2, score[:, 2], **o
    ),
    "roc": lambda y, prediction, score, **o: measures.roc_curve(y == 2, score[:, 2], **o).auc,
    "F": lambda y, prediction, score, **o: measures.f_score(y, prediction, positive=2, **o),
    "F_2": lambda y, prediction, score, **o: measures.f_score(
        y, prediction, positive=2, beta=2, **o
    ),
    "F macro": lambda y, prediction, score, **o: measures.f_score(
        y, prediction, average="macro", **o
    ),
    "recall weighted": lambda y, prediction, score, **o: measures.recall(
        y, prediction, average="weighted", **o
    ),
    "accuracy": lambda y, prediction, score, **o: measures.accuracy(y, prediction, **o),
}


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.parametrize("setting", ["rows", "weights", "groups"])
def test_with_many_rows_it_agrees_with_the_formula(name, setting):
    data = judged(n=400)
    options = {
        "rows": {},
        "weights": {"sample_weight": np.random.default_rng(1).integers(1, 4, size=400)},
        "groups": {"groups": np.arange(400) // 4},
    }[setting]
    formula = CALLS[name](*data, **options)
    drawn = CALLS[name](*data, method="bootstrap", random_state=0, **options)
    assert drawn.value == formula.value
    assert drawn.method == "BCa bootstrap"
    assert "1,999 resamples of the " + ("groups" if setting == "groups" else "rows") in str(drawn)
    # 1,999 resamples leave an error of 1/sqrt(2 * 1999) = 1.6 % in the standard error and about
    # 4 % of its length in each end; exact intervals are longer, and t quantiles of groups too.
    assert_allclose(drawn.standard_error, formula.standard_error, rtol=0.12)
    assert_allclose(drawn.interval, formula.interval, rtol=0, atol=0.45 * formula.standard_error)


def test_groups_of_copies_are_the_single_rows():
    y, prediction, score = judged(n=80)
    once = measures.auc(y, score, method="bootstrap", random_state=3)
    row = np.repeat(np.arange(80), 3)
    copies = measures.auc(y[row], score[row], groups=row, method="bootstrap", random_state=3)
    # The same draws of the same units; DeLong's divisors in the acceleration differ by 1/n.
    assert_allclose(copies.interval, once.interval, rtol=0, atol=0.01)
    assert_allclose(copies.standard_error, once.standard_error, rtol=1e-10)
    prediction = np.where(np.arange(80) % 7 == 0, prediction, y)
    plain = measures.f_score(y, prediction, average="macro", method="bootstrap", random_state=3)
    weighted = measures.f_score(
        y, prediction, average="macro", method="bootstrap", random_state=3,
        sample_weight=np.full(80, 1e200),
    )  # fmt: skip
    assert_allclose(weighted.interval, plain.interval, rtol=SUMMED)


def test_the_same_seed_gives_the_same_interval():
    y, _, score = judged()
    first, again, other = (
        measures.auc(y, score, method="bootstrap", random_state=seed).interval for seed in (1, 1, 2)
    )
    assert first == again != other
    few = measures.auc(y, score, method="bootstrap", n_resamples=99, random_state=1)
    assert "99 resamples" in str(few)


def test_without_spread_it_is_the_bound_of_the_formula():
    y = np.repeat([0, 1], [30, 12])
    for call in (
        lambda **o: measures.auc(y, np.arange(42.0), **o),
        lambda **o: measures.f_score(y, y, **o),
        lambda **o: measures.accuracy(y, y, **o),
    ):
        drawn, formula = call(method="bootstrap", random_state=0), call()
        assert drawn.interval == formula.interval
        assert drawn.method == formula.method
    single = measures.auc([0, 0, 1], [0.0, 2.0, 1.0], method="bootstrap")
    assert single.interval is None
    assert "a single row" in str(single)


def test_resamples_without_a_class_are_left_out_and_said():
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], [60, 3])
    with pytest.warns(EmpiriskWarning, match="beyond the last"):  # t has 2 degrees of freedom
        found = measures.auc(y, y + rng.normal(size=63), method="bootstrap", random_state=0)
    lacking = int(found.cautions[1].split()[0])
    # A resample misses all three with probability (60/63)^63 = 0.046; 1,999 draws, 6 deviations.
    assert abs(lacking - 1999 * (60 / 63) ** 63) < 6 * np.sqrt(1999 * 0.046)
    assert "3 rows of a class are few" in found.cautions[0]


def test_by_name_of_a_model_and_of_a_hold_out_split():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 2))
    y = (X[:, 0] + rng.normal(size=300) > 0).astype(int)
    model = LogisticRegression().fit(X[:100], y[:100])
    options = {"method": "bootstrap", "random_state": 1}
    by_name = risk.evaluate(model, X[100:], y[100:], loss="auc", **options)
    direct = measures.auc(y[100:], model.predict_proba(X[100:])[:, 1], **options)
    assert (by_name.value, by_name.interval) == (direct.value, direct.interval)
    held = risk.holdout(LogisticRegression(), X, y, loss="auc", **options)
    assert held.method == "BCa bootstrap"
    assert held.estimates == "this model"
    state = np.random.RandomState(0)
    with_state = {**options, "random_state": state}
    first, second = (risk.holdout(model, X, y, loss="auc", **with_state) for _ in range(2))
    assert first.value != second.value  # drawn from, and so moved on
    with pytest.raises(ParameterError, match="'auto' or 'bootstrap'"):
        measures.auc(y, X[:, 0], method="wilson")
    with pytest.raises(ParameterError, match="n_resamples"):
        measures.auc(y, X[:, 0], method="bootstrap", n_resamples=0)
    with pytest.raises(ParameterError, match="too few for an interval"):
        measures.auc(y, X[:, 0], method="bootstrap", n_resamples=20)


@pytest.mark.slow
def test_the_bootstrap_interval_of_macro_f_covers():
    """At 90 %: of 1,500 samples of 150 rows between 86 % and 94 %.

    At a true coverage of 90 % that fails with probability 5e-7.
    """
    truth = measures.f_score(*judged(n=2_000_000, seed=9)[:2], average="macro").value
    covered = 0
    for seed in range(1500):
        y, prediction, _ = judged(n=150, seed=100 + seed)
        found = measures.f_score(
            y, prediction, average="macro", level=0.9,
            method="bootstrap", n_resamples=999, random_state=seed,
        )  # fmt: skip
        covered += found.interval[0] <= truth <= found.interval[1]
    assert 0.86 < covered / 1500 < 0.94
