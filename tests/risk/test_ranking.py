"""AUC, the ROC curve and average precision: values, DeLong's error, ties, weights, many classes."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import stats
from scipy.special import logit
from sklearn import metrics
from sklearn.linear_model import LogisticRegression
from sklearn.svm import LinearSVC

from empirisk.risk import measures
from empirisk.risk.measures.judged import JudgedRows
from empirisk.runtime.errors import DataError, ParameterError
from tolerances import LAST_BITS, SUMMED


def scored(n=150, seed=0, shift=1.0):
    """Two classes with tied scores and unequal weights."""
    rng = np.random.default_rng(seed)
    y = rng.integers(2, size=n)
    return y, np.round(rng.normal(size=n) + shift * y, 1), rng.integers(1, 4, size=n) / 2


def three_classes(n=150, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.choice(["a", "b", "c"], size=n, p=[0.2, 0.3, 0.5])
    raw = np.exp(rng.normal(size=(n, 3)) + (y[:, None] == ["a", "b", "c"]))
    return y, raw / raw.sum(axis=1, keepdims=True), rng.uniform(0.5, 2, size=n)


def by_all_pairs(y, score):
    """AUC and DeLong's variance from the matrix of all pairs, as in the paper."""
    above, below = score[y == 1][:, None], score[y == 0]
    wins = (above > below) + 0.5 * (above == below)
    variance = wins.mean(axis=1).var(ddof=1) / len(above)
    return wins.mean(), variance + wins.mean(axis=0).var(ddof=1) / len(below)


@pytest.mark.parametrize("seed", range(5))
def test_auc_and_its_error_are_those_of_all_pairs(seed):
    y, score, _ = scored(seed=seed)
    found = measures.auc(y, score)
    value, variance = by_all_pairs(y, score)
    assert_allclose(found.value, value, rtol=LAST_BITS)
    assert_allclose(found.standard_error, np.sqrt(variance), rtol=SUMMED)
    assert_allclose(found.table.standard_error(), np.sqrt(variance), rtol=SUMMED)


def test_the_difference_of_two_areas_has_the_error_of_delong():
    y, first, _ = scored(seed=1)
    second = np.round(first + np.random.default_rng(9).normal(size=len(y)), 1)
    found = measures.auc(y, second) - measures.auc(y, first)
    parts = []
    for own, other in ((1, 0), (0, 1)):
        placement = [
            ((s[y == own][:, None] > s[y == other]) + 0.5 * (s[y == own][:, None] == s[y == other]))
            .mean(axis=1)
            for s in (second, first)
        ]  # fmt: skip
        parts.append(np.var(placement[0] - placement[1], ddof=1) / (y == own).sum())
    assert_allclose(found.standard_error, np.sqrt(sum(parts)), rtol=SUMMED)


def test_the_interval_is_that_of_the_logit_with_the_degrees_of_the_scarcer_class():
    y, score, _ = scored()
    found = measures.auc(y, score, level=0.9)
    value, variance = by_all_pairs(y, score)
    t = stats.t.ppf(0.95, np.bincount(y).min() - 1)
    middle, half = np.log(value / (1 - value)), t * np.sqrt(variance) / (value * (1 - value))
    expected = [1 / (1 + np.exp(-end)) for end in (middle - half, middle + half)]
    assert_allclose(found.interval, expected, rtol=SUMMED)
    assert found.method == "DeLong on the logit scale"


@pytest.mark.parametrize("measure", [measures.auc, measures.average_precision])
def test_under_weights_t_has_the_degrees_of_what_the_scarcest_class_is_worth(measure):
    rng = np.random.default_rng(3)
    y, weight = np.repeat([1, 0], [30, 90]), rng.lognormal(size=120)
    found = measure(y, rng.normal(size=120) + y, sample_weight=weight, level=0.9)
    worth = JudgedRows.of(y, sample_weight=weight).worth(y == 1)
    assert 1 < worth < 15
    half = stats.t.ppf(0.95, worth - 1) * found.standard_error / (found.value * (1 - found.value))
    assert_allclose(
        logit(found.interval), logit(found.value) + np.array([-half, half]), rtol=SUMMED
    )
    assert f"rows of a class worth {worth:.0f} of equal weight are few" in str(found)


@pytest.mark.parametrize("scale", [1.0, 0.3, 1e-200, 1e200])
def test_rows_and_groups_of_equal_weight_are_worth_their_number(scale):
    y, weight = np.repeat([1, 0], [24, 40]), np.full(64, scale)
    assert JudgedRows.of(y, sample_weight=weight).worth(y == 1) == 24
    assert JudgedRows.of(y, sample_weight=weight, groups=np.arange(64) // 2).worth(y == 1) == 12
    assert JudgedRows.of(y, sample_weight=weight).worth(np.arange(64) == 5) == 1
    uneven = np.arange(64) + 1.0
    expected = JudgedRows.of(y, sample_weight=uneven).worth(y == 0)
    assert 20 < expected < 40
    found = JudgedRows.of(y, sample_weight=scale * uneven).worth(y == 0)
    assert_allclose(found, expected, rtol=SUMMED)


@pytest.mark.parametrize("draw", ["uniform", "exponential", "lognormal"])
@pytest.mark.parametrize("m", [10, 30, 100])
def test_what_rows_are_worth_is_as_much_as_the_spread_of_normal_losses_tells(draw, m):
    """l'Al with A = (I - 1s')' diag(s^2) (I - 1s') has tr(A)^2 / tr(A^2) degrees of freedom.

    It is the squared error of the mean of losses l with the shares s of the weight.
    """
    rng, ratios = np.random.default_rng(0), []
    for _ in range(100):
        weight = getattr(rng, draw)(size=m)
        share = weight / weight.sum()
        centred = np.eye(m) - share
        A = centred.T @ np.diag(share**2) @ centred
        rows = JudgedRows.of(np.ones(m), sample_weight=weight)
        worth = rows.worth(np.ones(m, dtype=bool))
        ratios.append((worth - 1) * np.trace(A @ A) / np.trace(A) ** 2)
    # The mean takes 1/m of the freedom where weights are equal, a little less where they are not.
    assert 0.85 < np.mean(ratios) < 1.02


@pytest.mark.parametrize("weighted", [False, True])
def test_curves_and_areas_are_those_of_scikit_learn(weighted):
    y, score, weight = scored()
    weight = weight if weighted else None
    curve = measures.roc_curve(y, score, sample_weight=weight)
    peer = metrics.roc_curve(y, score, sample_weight=weight, drop_intermediate=False)
    ours = curve.false_positive_rate, curve.true_positive_rate, curve.thresholds
    for series, other in zip(ours, peer, strict=True):
        assert_allclose(series, other, rtol=SUMMED)
    peer = metrics.roc_auc_score(y, score, sample_weight=weight)
    assert_allclose(curve.auc.value, peer, rtol=SUMMED)
    curve = measures.precision_recall_curve(y, score, sample_weight=weight)
    precision, recall, thresholds = metrics.precision_recall_curve(y, score, sample_weight=weight)
    whole = len(thresholds)  # scikit-learn goes from the laxest threshold on, and adds (0, 1)
    assert_allclose(curve.precision[::-1], precision[:whole], rtol=SUMMED)
    assert_allclose(curve.recall[::-1], recall[:whole], rtol=SUMMED)
    assert_array_equal(curve.thresholds[::-1], thresholds)
    peer = metrics.average_precision_score(y, score, sample_weight=weight)
    assert_allclose(curve.average_precision.value, peer, rtol=SUMMED)


@pytest.mark.parametrize("weighted", [False, True])
def test_many_classes_are_averaged_as_scikit_learn_does(weighted):
    y, probability, weight = three_classes()
    weight = weight if weighted else None
    ours = measures.auc(y, probability, sample_weight=weight)
    peer = metrics.roc_auc_score(y, probability, multi_class="ovr", sample_weight=weight)
    assert_allclose(ours.value, peer, rtol=SUMMED)
    assert ours.loss == "AUC (each class against the rest)"
    if not weighted:  # scikit-learn takes no weights here
        ours = measures.auc(y, probability, multi_class="ovo")
        peer = metrics.roc_auc_score(y, probability, multi_class="ovo")
        assert_allclose(ours.value, peer, rtol=SUMMED)
    one = measures.auc(y, probability, positive="b", sample_weight=weight)
    peer = metrics.roc_auc_score(y == "b", probability[:, 1], sample_weight=weight)
    assert_allclose(one.value, peer, rtol=SUMMED)


@pytest.mark.parametrize("multi_class", ["ovr", "ovo"])
def test_the_error_of_an_average_is_that_of_the_jackknife(multi_class):
    y, probability, _ = three_classes(n=80)
    found = measures.auc(y, probability, multi_class=multi_class)
    left_out = [np.arange(80) != i for i in range(80)]
    values = [
        measures.auc(y[rest], probability[rest], multi_class=multi_class).value for rest in left_out
    ]
    jackknife = np.sqrt(79 / 80 * np.square(np.array(values) - np.mean(values)).sum())
    assert_allclose(found.standard_error, jackknife, rtol=0.05)  # both to first order in 1/n


@pytest.mark.parametrize("weighted", [False, True])
def test_the_error_of_average_precision_is_that_of_the_jackknife(weighted):
    y, score, weight = scored(n=120)
    weight = weight if weighted else np.ones(120)
    found = measures.average_precision(y, score, sample_weight=weight)
    left_out = [np.arange(120) != i for i in range(120)]
    values = [
        measures.average_precision(y[rest], score[rest], sample_weight=weight[rest]).value
        for rest in left_out
    ]
    jackknife = np.sqrt(119 / 120 * np.square(np.array(values) - np.mean(values)).sum())
    assert_allclose(found.standard_error, jackknife, rtol=0.05)  # they differ by O(1 / n)


def test_only_the_order_of_the_scores_counts():
    y, score, weight = scored()
    plain = measures.auc(y, score, sample_weight=weight)
    for moved in (1e200 * score, 1e-200 * score, np.exp(score), score.astype(np.float32)):
        again = measures.auc(y, moved, sample_weight=weight)
        assert (again.value, again.interval) == (plain.value, plain.interval)
    reverse = measures.auc(y, -score, sample_weight=weight)
    assert_allclose(reverse.value, 1 - plain.value, rtol=LAST_BITS)
    assert_allclose(reverse.interval, [1 - end for end in plain.interval[::-1]], rtol=SUMMED)
    other = measures.auc(y, -score, positive=0, sample_weight=weight)
    assert_allclose(other.value, plain.value, rtol=LAST_BITS)
    infinite = np.where(score == score.max(), np.inf, score)
    assert measures.auc(y, infinite).value == measures.auc(y, score).value


def test_strided_and_read_only_scores_and_a_column_for_each_class():
    y, score, _ = scored()
    columns = np.asfortranarray(np.column_stack([-score, score]))
    columns.setflags(write=False)
    plain = measures.auc(y, score)
    assert measures.auc(y, columns).value == plain.value
    assert measures.auc(y[::-1], columns[::-1, 1]).value == pytest.approx(
        plain.value, rel=LAST_BITS
    )
    assert measures.auc(y, columns, positive=0).value == pytest.approx(plain.value, rel=LAST_BITS)


def test_separated_classes_have_the_exact_bound_of_disjoint_pairs():
    y = np.repeat([0, 1], [30, 12])
    found = measures.auc(y, np.arange(42.0))
    assert found.value == 1
    assert_allclose(found.interval, (0.025 ** (1 / 12), 1), rtol=SUMMED)
    assert "12 pairs without a row in common are all in the right order" in str(found)
    wrong = measures.auc(y, -np.arange(42.0))
    assert_allclose(wrong.interval, (0, 1 - 0.025 ** (1 / 12)), rtol=SUMMED)
    weight = np.random.default_rng(0).uniform(1e-3, 1e3, size=42)
    weighted = measures.auc(y, np.arange(42.0), sample_weight=weight)
    assert weighted.value == 1
    assert weighted.interval[0] < found.interval[0]
    # A group of both classes is used once.
    grouped = measures.auc(np.tile([0, 1], 12), np.tile([0.0, 1.0], 12), groups=np.arange(24) // 2)
    assert_allclose(grouped.interval[0], 0.025 ** (1 / 6), rtol=SUMMED)


def test_few_rows_of_a_class_and_ties_throughout_are_said():
    single = measures.auc([0, 0, 0, 1], [1.0, 2.0, 3.0, 2.5])
    assert single.interval is None
    assert "a class has a single row" in str(single)
    tied = measures.auc([0, 1] * 30, np.zeros(60))
    assert (tied.value, tied.interval) == (0.5, None)
    assert "no spread" in str(tied)
    few = measures.auc([0] * 50 + [1] * 5, np.r_[np.arange(50.0), 10, 20, 30, 40, 50])
    assert "5 rows of a class are few" in str(few)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: measures.auc([1, 1], [0.2, 0.3], positive=1), "no row is of any other class"),
        (lambda: measures.auc([0, 0], [0.2, 0.3], positive=1), "of class 1, .* give rows of it"),
        (lambda: measures.auc([0, 1], [0.2, np.nan]), "1 scores are NaN"),
        (lambda: measures.auc([0, 1], ["a", "b"]), "a number for each row"),
        (lambda: measures.auc([0, 1, 2], np.ones((3, 4))), "4 columns for 3 classes"),
        (lambda: measures.average_precision([0, 0], [1, 2], positive=1), "no row is of class 1"),
        (
            lambda: measures.auc([0, 1, 1], np.ones((3, 3)), classes=[0, 1, 2]),
            "no row is of class 2.*name another class, positive=",
        ),
        (
            lambda: measures.auc([0, 1, 1], np.ones((3, 3)), classes=[0, 1, 2], multi_class="ovo"),
            "no row is of class 2, so the AUC of class 0 is undefined: give rows",
        ),
    ],
)
def test_what_cannot_be_ranked_is_an_error_that_says_why(call, words):
    with pytest.raises(DataError, match=words):
        call()


def test_a_classifier_is_measured_by_name():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 3))
    y = np.where(X[:, 0] + rng.normal(size=400) > 0, "yes", "no")
    train, test = slice(200), slice(200, 400)
    model = LogisticRegression().fit(X[train], y[train])
    probability, prediction = model.predict_proba(X[test])[:, 1], model.predict(X[test])
    for name, found in (
        ("auc", measures.auc(y[test], probability)),
        ("average_precision", measures.average_precision(y[test], probability)),
        ("accuracy", measures.accuracy(y[test], prediction)),
        ("precision", measures.precision(y[test], prediction)),
        ("specificity", measures.specificity(y[test], prediction)),
    ):
        by_name = measures.evaluate(model, X[test], y[test], name)
        assert by_name.value == pytest.approx(found.value, rel=LAST_BITS)
        assert_allclose(by_name.interval, found.interval, rtol=SUMMED)
        assert by_name.loss == found.loss
        assert (by_name - found).value == pytest.approx(0, abs=1e-15)  # the same rows
    f2 = measures.evaluate(model, X[test], y[test], "f_score", beta=2, positive="no")
    assert f2.value == measures.f_score(y[test], prediction, beta=2, positive="no").value
    margin = LinearSVC().fit(X[train], y[train])
    by_margin = measures.evaluate(margin, X[test], y[test], positive="no")
    peer = metrics.roc_auc_score(y[test] == "no", -margin.decision_function(X[test]))
    assert_allclose(by_margin.value, peer, rtol=SUMMED)
    with pytest.raises(ParameterError, match="there is no measure 'kappa'"):
        measures.evaluate(model, X, y, "kappa")


@pytest.mark.slow
@pytest.mark.parametrize(("m", "n", "shift"), [(15, 15, 1.0), (30, 100, 1.5), (100, 100, 2.5)])
def test_the_interval_of_auc_covers(m, n, shift):
    """At 90 %: of 4,000 samples between 87 % and 95 %, where the truth is AUC = Phi(shift/sqrt 2).

    At a true coverage of 90 % fewer than 87 % are seen with probability 2e-10.
    """
    rng = np.random.default_rng(0)
    truth = stats.norm.cdf(shift / np.sqrt(2))
    y = np.repeat([1, 0], [m, n])
    covered = 0
    for _ in range(4000):
        low, high = measures.auc(y, rng.normal(size=m + n) + shift * y, level=0.9).interval
        covered += low <= truth <= high
    assert 0.87 < covered / 4000 < 0.95


@pytest.mark.slow
@pytest.mark.parametrize("measure", [measures.auc, measures.average_precision])
@pytest.mark.parametrize(("n", "prevalence"), [(100, 0.3), (400, 0.1)])
def test_the_interval_covers_under_uneven_weights(measure, n, prevalence):
    """At 90 %, scores of standard normal noise and a shift of 2, and lognormal weights.

    At a true coverage of 90 % fewer than 88 % of 3,000 samples are seen with probability 2e-4.
    """
    rng = np.random.default_rng(0)

    def draw(n):
        y = (rng.random(n) < prevalence).astype(int)
        return y, rng.normal(size=n) + 2 * y

    truth = measure(*draw(2_000_000)).value
    covered = 0
    for _ in range(3000):
        low, high = measure(*draw(n), sample_weight=rng.lognormal(size=n), level=0.9).interval
        covered += low <= truth <= high
    assert 0.88 < covered / 3000 < 0.96


@pytest.mark.parametrize("score", [["high", "low"], [0.5, None]])
def test_scores_that_are_no_numbers_are_refused(score):
    with pytest.raises(DataError, match=r"no numbers|array of|NaN"):
        measures.auc([0, 1], np.array(score, dtype=object))


@pytest.mark.parametrize("kind", [int, float, object])
def test_masked_labels_are_missing(kind):
    y = np.ma.array([0, 1, 0, 1, 1, 0], mask=[0, 0, 0, 0, 0, 1], dtype=kind)
    with pytest.raises(DataError, match="NaN"):
        measures.auc(y, np.arange(6.0))
