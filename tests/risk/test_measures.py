"""Measures of predicted classes: values, intervals, weights, groups, and what is undefined."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import stats
from sklearn import metrics

from empirisk.risk import measures
from empirisk.risk.estimate import RiskEstimate
from empirisk.runtime.errors import DataError, ParameterError
from tolerances import SOLVED, SUMMED

OF_CLASS = [measures.precision, measures.recall, measures.specificity, measures.f_score]


def judged(seed=0, n=120, n_classes=3):
    """True and predicted labels that agree more often than not, with unequal weights."""
    rng = np.random.default_rng(seed)
    labels = np.array(["ash", "beech", "cedar", "damson"])[:n_classes]
    y = rng.choice(n_classes, size=n, p=np.arange(1, n_classes + 1) / sum(range(n_classes + 1)))
    prediction = np.where(rng.random(n) < 0.6, y, rng.integers(n_classes, size=n))
    return labels[y], labels[prediction], rng.integers(1, 5, size=n) * 0.5


def scores(seed=0, n=120, n_classes=3):
    """Labels with a matrix of probabilities, rounded so that there are ties."""
    y, _, weight = judged(seed, n, n_classes)
    rng = np.random.default_rng(seed + 100)
    classes = np.unique(y)
    raw = rng.normal(size=(n, len(classes))) + 1.2 * (y[:, None] == classes)
    probability = np.exp(np.round(raw, 1))
    return y, probability / probability.sum(axis=1, keepdims=True), weight


def peer_specificity(y, prediction, positive, weight):
    others = y != positive
    return metrics.recall_score(others, prediction != positive, sample_weight=weight)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("positive", ["ash", "cedar"])
def test_measures_of_one_class_are_those_of_scikit_learn(positive, weighted):
    y, prediction, weight = judged()
    weight = weight if weighted else None
    ours = [
        measure(y, prediction, positive=positive, sample_weight=weight).value
        for measure in (*OF_CLASS, lambda *a, **k: measures.f_score(*a, beta=2.5, **k))
    ]
    peer = {"labels": [positive], "average": "macro", "sample_weight": weight}
    theirs = [
        metrics.precision_score(y, prediction, **peer),
        metrics.recall_score(y, prediction, **peer),
        peer_specificity(y, prediction, positive, weight),
        metrics.f1_score(y, prediction, **peer),
        metrics.fbeta_score(y, prediction, beta=2.5, **peer),
    ]
    assert_allclose(ours, theirs, rtol=1e-12)  # sums of a hundred numbers


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("average", ["macro", "micro", "weighted"])
def test_averages_are_those_of_scikit_learn(average, weighted):
    y, prediction, weight = judged()
    weight = weight if weighted else None
    for ours, theirs in (
        (measures.precision, metrics.precision_score),
        (measures.recall, metrics.recall_score),
        (measures.f_score, metrics.f1_score),
    ):
        found = ours(y, prediction, average=average, sample_weight=weight).value
        peer = theirs(y, prediction, average=average, sample_weight=weight)
        assert_allclose(found, peer, rtol=1e-12)  # sums of a hundred numbers
    if average == "macro":
        chosen = measures.recall(y, prediction, average="macro", labels=["ash", "cedar"])
        peer = metrics.recall_score(y, prediction, average="macro", labels=["ash", "cedar"])
        assert_allclose(chosen.value, peer, rtol=SUMMED)


def test_specificity_averages_are_means_and_pooled_shares_of_the_classes():
    y, prediction, weight = judged()
    classes = np.unique(y)
    each = [peer_specificity(y, prediction, k, weight) for k in classes]
    share = [weight[y == k].sum() / weight.sum() for k in classes]
    negative = np.array([weight[y != k].sum() for k in classes])
    expected = {
        "macro": np.mean(each),
        "weighted": np.dot(share, each),
        "micro": np.dot(negative, each) / negative.sum(),
    }
    for average, value in expected.items():
        found = measures.specificity(y, prediction, average=average, sample_weight=weight)
        assert_allclose(found.value, value, rtol=SUMMED)


@pytest.mark.parametrize("weighted", [False, True])
def test_accuracy_and_the_confusion_matrix_are_those_of_scikit_learn(weighted):
    y, prediction, weight = judged()
    weight = weight if weighted else None
    found = measures.accuracy(y, prediction, sample_weight=weight)
    peer = metrics.accuracy_score(y, prediction, sample_weight=weight)
    assert_allclose(found.value, peer, rtol=SUMMED)
    matrix = measures.confusion_matrix(y, prediction, sample_weight=weight)
    peer = metrics.confusion_matrix(y, prediction, sample_weight=weight)
    assert_array_equal(matrix, peer)  # halves add without rounding
    assert matrix.counts.dtype == (float if weighted else int)
    for normalize in ("true", "pred", "all"):
        peer = metrics.confusion_matrix(y, prediction, sample_weight=weight, normalize=normalize)
        assert_allclose(matrix.shares(normalize), peer, rtol=SUMMED)


def test_the_confusion_matrix_lists_classes_that_do_not_occur_and_says_what_is_undefined():
    matrix = measures.confusion_matrix([0, 0, 1], [0, 1, 1], labels=[0, 1, 2])
    assert_array_equal(matrix.counts, [[1, 1, 0], [0, 1, 0], [0, 0, 0]])
    assert_array_equal(matrix.shares("true")[2], 0)
    of_class = matrix.by_class()
    assert of_class[1]["precision"].value == 0.5
    assert of_class[2]["precision"] is None
    assert of_class[2]["F"] is None
    assert of_class[2]["specificity"].value == 1
    assert str(matrix).splitlines()[0].split() == ["true", "\\", "predicted", "0", "1", "2", "all"]
    with pytest.raises(ParameterError, match="'true', 'pred' or 'all'"):
        matrix.shares("both")


def everything(y, prediction, probability, **options):
    """Every measure, by name; the labels come with their classes where there is a matrix."""
    found = {"accuracy": measures.accuracy(y, prediction, **options)}
    for measure in OF_CLASS:
        for average in ("macro", "micro", "weighted"):
            name = f"{measure.__name__} {average}"
            found[name] = measure(y, prediction, average=average, **options)
        found[measure.__name__] = measure(y, prediction, positive="beech", **options)
    found["F_0.5"] = measures.f_score(y, prediction, beta=0.5, positive="beech", **options)
    for strategy in ("ovr", "ovo"):
        found[strategy] = measures.auc(y, probability, multi_class=strategy, **options)
    found["auc"] = measures.auc(y, probability, positive="beech", **options)
    found["ap"] = measures.average_precision(y, probability, positive="beech", **options)
    found["log"] = measures.log_loss(y, probability, **options)
    found["Brier"] = measures.brier(y, probability, **options)
    return found


def test_weights_are_copies():
    y, prediction, _ = judged(n=60)
    _, probability, _ = scores(n=60)
    weight = np.random.default_rng(1).integers(0, 4, size=60)
    weighted = everything(y, prediction, probability, sample_weight=weight)
    row = np.repeat(np.arange(60), weight)
    repeated = everything(y[row], prediction[row], probability[row])
    for name, measure in weighted.items():
        assert_allclose(measure.value, repeated[name].value, err_msg=name, rtol=SUMMED)


def test_the_influence_of_a_row_is_the_derivative_in_its_weight():
    # T(w + h e_i) - T(w - h e_i) over 2h is influence_i / sum w. In groups, so that the influences
    # on AUC are not scaled to DeLong's divisors.
    n, h = 40, 1e-5
    y, prediction, weight = judged(n=n)
    _, probability, _ = scores(n=n)
    groups = np.arange(n) // 2
    found = everything(y, prediction, probability, sample_weight=weight, groups=groups)
    for i in (0, 7, 21, 38):
        step = h * (np.arange(n) == i)
        after = everything(y, prediction, probability, sample_weight=weight + step)
        before = everything(y, prediction, probability, sample_weight=weight - step)
        for name, measure in found.items():
            slope = (after[name].value - before[name].value) / (2 * h)
            influence = (measure.losses[i] - measure.value) / weight.sum()
            # The third derivative times h^2, and rounding 1e-16 over h.
            assert_allclose(influence, slope, err_msg=name, rtol=0, atol=1e-09)
    for name, measure in found.items():
        assert_allclose(measure.table.mean(), measure.value, err_msg=name, rtol=SUMMED)


def test_a_row_of_weight_zero_is_not_there():
    y, prediction, _ = judged(n=60)
    _, probability, _ = scores(n=60)
    weight = (np.arange(60) < 50).astype(float)
    with_zeros = everything(y, prediction, probability, sample_weight=weight)
    without = everything(y[:50], prediction[:50], probability[:50])
    for name, measure in with_zeros.items():
        assert measure.value == without[name].value
        assert measure.interval == without[name].interval


@pytest.mark.parametrize("scale", [1e-200, 1e200])
def test_the_size_of_weights_does_not_matter(scale):
    y, prediction, weight = judged(n=60)
    _, probability, _ = scores(n=60)
    plain = everything(y, prediction, probability, sample_weight=weight)
    scaled = everything(y, prediction, probability, sample_weight=scale * weight)
    for name, measure in scaled.items():
        assert_allclose(measure.value, plain[name].value, err_msg=name, rtol=SUMMED)
        assert_allclose(measure.interval, plain[name].interval, err_msg=name, rtol=SUMMED)


def test_shares_have_the_exact_interval_on_the_rows_that_count():
    y = np.array([1] * 40 + [0] * 60)
    prediction = np.array([1] * 33 + [0] * 7 + [1] * 12 + [0] * 48)
    for measure, right, counted in (
        (measures.accuracy, 81, 100),
        (measures.precision, 33, 45),
        (measures.recall, 33, 40),
        (measures.specificity, 48, 60),
    ):
        found = measure(y, prediction, level=0.9)
        expected = stats.binomtest(right, counted).proportion_ci(0.9, "exact")
        assert found.value == right / counted
        assert_allclose(found.interval, expected, rtol=1e-10)  # two routines for beta quantiles
        error = np.sqrt(found.value * (1 - found.value) / counted)
        assert_allclose(found.standard_error, error, rtol=SUMMED)
        assert found.cautions == ()


def test_the_interval_of_f_is_exact_through_the_share_of_hits():
    y = np.array([1] * 40 + [0] * 60)
    prediction = np.array([1] * 33 + [0] * 7 + [1] * 12 + [0] * 48)
    found = measures.f_score(y, prediction)
    low, high = stats.binomtest(33, 52).proportion_ci(0.95, "exact")
    assert_allclose(found.interval, [2 * j / (1 + j) for j in (low, high)], rtol=SOLVED)
    # Delta method for F = 2J/(1+J), with the divisor n - 1 of all 100 rows.
    j = 33 / 52
    error = np.sqrt(j * (1 - j) / 52) * 2 / (1 + j) ** 2 * np.sqrt(100 / 99)
    assert_allclose(found.standard_error, error, rtol=SUMMED)


@pytest.mark.parametrize("beta", [1e-200, 0.3, 1.0, 3.0, 1e200])
def test_f_lies_between_precision_and_recall_and_has_an_interval_at_its_ends(beta):
    y = np.array([1] * 40 + [0] * 60)
    prediction = np.array([1] * 33 + [0] * 7 + [1] * 12 + [0] * 48)
    precision, recall = 33 / 45, 33 / 40
    found = measures.f_score(y, prediction, beta=beta)
    limits = {1e-200: precision, 1e200: recall}
    if beta in limits:
        assert_allclose(found.value, limits[beta], rtol=SUMMED)
    assert precision <= found.value * (1 + 1e-15)
    assert found.value <= recall * (1 + 1e-15)
    assert 0 < found.interval[0] < found.value < found.interval[1] < 1
    perfect = measures.f_score(y, y, beta=beta)
    assert perfect.value == 1
    assert 0.8 < perfect.interval[0] < 1
    assert perfect.interval[1] == 1
    hopeless = measures.f_score(y, 1 - y, beta=beta)
    assert hopeless.value == 0
    assert hopeless.interval[0] == 0
    assert hopeless.interval[1] < 0.35 or beta in limits  # there the bound says nothing


@pytest.mark.parametrize("measure", OF_CLASS, ids=lambda measure: measure.__name__)
def test_an_average_without_spread_is_bounded_class_by_class(measure):
    y = np.repeat([0, 1, 2], 30)
    found = measure(y, y, average="macro")
    assert found.value == 1
    assert found.method == "Bonferroni"
    low = (0.05 / 3 / 2) ** (1 / (60 if measure is measures.specificity else 30))
    low = 2 * low / (1 + low) if measure is measures.f_score else low
    assert_allclose(found.interval, (low, 1), rtol=SUMMED)


def test_groups_are_the_unit():
    # Copies of a row in one group tell nothing new: value and error are those of the single rows.
    y, prediction, _ = judged(n=80)
    _, probability, _ = scores(n=80)
    once = everything(y, prediction, probability)
    row = np.repeat(np.arange(80), 3)
    copies = everything(y[row], prediction[row], probability[row], groups=row)
    naive = everything(y[row], prediction[row], probability[row])
    for name, measure in copies.items():
        assert_allclose(measure.value, once[name].value, err_msg=name, rtol=SUMMED)
        width, alone, short = (np.diff(m.interval)[0] for m in (measure, once[name], naive[name]))
        # t quantiles for groups, normal ones for rows, and divisors n - 1: a few per cent.
        assert_allclose(width, alone, rtol=0.12, err_msg=name)
        assert short < 0.75 * width, name


def test_measures_of_two_classifiers_subtract_row_by_row():
    y, first, _ = judged(seed=0)
    rng = np.random.default_rng(5)
    second = np.where(rng.random(len(y)) < 0.1, y, first)  # a little better, mostly the same
    for measure in OF_CLASS:
        a, b = (measure(y, p, average="macro") for p in (first, second))
        difference = b - a
        assert_allclose(difference.value, b.value - a.value, rtol=SUMMED)
        assert difference.standard_error < 0.7 * np.hypot(a.standard_error, b.standard_error)
        assert f"The difference in {a.loss} of this model" in str(difference)
        assert type(difference) is measures.Measure


def test_a_measure_is_a_risk_estimate_with_a_sentence_of_its_own():
    y, prediction, _ = judged(n_classes=2)
    found = measures.recall(y, prediction)
    assert isinstance(found, RiskEstimate)
    assert str(found).startswith("The recall (class beech) of this model is ")
    assert "risk" not in str(found)
    assert repr(found).startswith("Measure(recall (class beech): ")
    ax = found.plot()
    assert ax.get_xlabel() == "recall (class beech)"


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: measures.precision([0, 1], [0, 0]), "no row is predicted to be of class 1"),
        (lambda: measures.recall([0, 0], [0, 1]), "no row is of class 1, so its recall"),
        (lambda: measures.specificity([1, 1], [0, 1]), "all rows are of class 1"),
        (lambda: measures.f_score([0, 0], [0, 0], positive=1), "no row is of class 1 or predicted"),
        (lambda: measures.recall([0, 1], [0, 2], average="macro"), "no row is of class 2"),
        (lambda: measures.precision([0, 1], ["a", "b"]), "never equal"),
        (lambda: measures.precision([0, 1], [0, 1, 1]), "one entry a row"),
        (lambda: measures.precision([0, None], [0, 1]), "y has 1 missing"),
        (lambda: measures.precision([0, 1], [0, np.nan]), "prediction has 1 missing"),
        (lambda: measures.accuracy([0, 1], [0, 1], groups=[1]), "1 entries for 2 rows"),
        (lambda: measures.accuracy([0, 1], [0, 1], groups=[1, None]), "row 1 has no group"),
        (lambda: measures.accuracy([], []), "empty"),
    ],
)
def test_what_is_undefined_is_an_error_that_says_why(call, words):
    with pytest.raises(DataError, match=words):
        call()


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({}, "positive=..., or take an average"),
        ({"positive": "elm", "average": "macro"}, "without an average"),
        ({"average": "micro", "labels": ["ash"]}, "average 'macro'"),
        ({"average": "mean"}, "'macro', 'micro' or 'weighted'"),
        ({"positive": "ash", "level": 1.5}, "between 0 and 1"),
        ({"positive": "ash", "methd": "auto"}, "'methd' is no option of this measure"),
    ],
)
def test_wrong_options_are_named(options, words):
    y, prediction, _ = judged()
    with pytest.raises(ParameterError, match=words):
        measures.recall(y, prediction, **options)
    for beta in (0, -1, np.inf, np.nan):
        with pytest.raises(ParameterError, match="beta"):
            measures.f_score(y, prediction, beta=beta, positive="ash")


def test_one_row_and_any_kind_of_label_will_do():
    assert_allclose(measures.accuracy([True], [True]).interval, (0.025, 1), rtol=SUMMED)
    pandas = pytest.importorskip("pandas")
    polars = pytest.importorskip("polars")
    y, prediction = ["yes", "no", "yes"], ["yes", "yes", "yes"]
    plain = measures.recall(y, prediction)
    for kind in (pandas.Series, polars.Series, lambda x: pandas.Series(x, dtype="category")):
        assert measures.recall(kind(y), kind(prediction)).value == plain.value == 1


@pytest.mark.parametrize("labels", [[2, 5, 7], [False, True], [0.5, 1.5]])
def test_numbers_that_came_as_objects_are_those_numbers(labels):
    y, prediction = np.array(labels * 4), np.roll(labels * 4, 1)
    prediction[::3] = y[::3]
    plain = measures.recall(y, prediction, positive=labels[1])
    for a, b in ((y.astype(object), prediction), (y, prediction.astype(object))):
        found = measures.recall(a, b, positive=labels[1])
        assert (found.value, found.loss) == (plain.value, plain.loss)
