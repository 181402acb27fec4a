"""Pictures of classifiers show the numbers they are given, with both axes labelled."""

from types import SimpleNamespace

import numpy as np
import pyarrow as pa
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.cluster import KMeans
from sklearn.linear_model import LinearRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline

from empirisk import Encoder, LinearDiscriminantAnalysis, Table
from empirisk.risk import measures
from empirisk.risk.decision_boundary import draw_decision_boundary
from empirisk.runtime.errors import DataError, ParameterError

rng = np.random.default_rng(0)
y = rng.integers(2, size=100)
probability = np.clip(0.5 + 0.3 * (y - 0.5) + 0.2 * rng.normal(size=100), 0, 1)


def drawn(ax, tmp_path):
    """Renders the whole picture: what cannot be drawn fails here."""
    ax.figure.savefig(tmp_path / "picture.svg")
    return ax


def test_the_roc_picture_shows_the_curve_and_the_area_with_its_interval(tmp_path):
    curve = measures.roc_curve(y, probability)
    ax = drawn(curve.plot(), tmp_path)
    assert_array_equal(ax.lines[0].get_xdata(), curve.false_positive_rate)
    assert_array_equal(ax.lines[0].get_ydata(), curve.true_positive_rate)
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("false positive rate", "true positive rate")
    low, high = curve.auc.interval
    text = ax.get_legend().get_texts()[0].get_text()
    assert text == f"AUC (class 1): {curve.auc.value:.3f} ({low:.3f} to {high:.3f} at 95 %)"


def test_the_precision_recall_picture_begins_at_recall_zero(tmp_path):
    curve = measures.precision_recall_curve(y, probability)
    ax = drawn(curve.plot(), tmp_path)
    assert ax.lines[0].get_xdata()[0] == 0
    assert_array_equal(ax.lines[0].get_ydata()[1:], curve.precision)
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("recall", "precision")


def test_the_reliability_diagram_has_a_point_and_an_interval_for_each_bin(tmp_path):
    curve = measures.calibration_curve(y, probability)
    ax = drawn(curve.plot(), tmp_path)
    assert_array_equal(ax.lines[1].get_xdata(), curve.predicted)
    assert_array_equal(ax.lines[1].get_ydata(), curve.observed)
    assert [tuple(line.get_ydata()) for line in ax.lines[2:]] == curve.intervals
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("predicted probability", "observed share")


@pytest.mark.parametrize("normalize", [None, "true", "pred", "all"])
def test_the_confusion_picture_has_truth_in_rows(normalize, tmp_path):
    matrix = measures.confusion_matrix(["no"] * 6 + ["yes"] * 4, ["no"] * 5 + ["yes"] * 5)
    ax = drawn(matrix.plot(normalize), tmp_path)
    numbers = matrix.counts if normalize is None else matrix.shares(normalize)
    assert [text.get_text() for text in ax.texts] == [f"{number:.4g}" for number in numbers.flat]
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("predicted class", "true class")
    assert [text.get_text() for text in ax.get_yticklabels()] == ["no", "yes"]


def test_the_cost_picture_marks_the_least_and_the_bayes_threshold(tmp_path):
    found = measures.best_threshold(y, probability, a=1, b=4)
    ax = drawn(found.plot(), tmp_path)
    assert_array_equal(ax.lines[0].get_ydata(), found.costs[1:-1])
    assert [line.get_xdata()[0] for line in ax.lines[1:]] == [found.value, 0.2]
    never = measures.best_threshold(y, 10 + probability, a=1, b=0)
    assert never.value == np.inf
    assert len(drawn(never.plot(), tmp_path).lines) == 1


def plane(n=60, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 2)) * [1, 10] + [0, 100]
    return X, np.array(["ash", "beech", "cedar"])[np.digitize(X[:, 0], [-0.5, 0.5])]


def test_regions_are_what_the_classifier_predicts(tmp_path):
    X, labels = plane()
    model = KNeighborsClassifier(1).fit(X[:40], labels[:40])
    ax = drawn(draw_decision_boundary(model, X, labels, resolution=30), tmp_path)
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("x0", "x1")
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["ash", "beech", "cedar"]
    picture = ax.collections[0].get_array().reshape(30, 30, 3)
    across, up = (np.linspace(*limits, 30) for limits in (ax.get_xlim(), ax.get_ylim()))
    grid = np.array([[x, z] for z in up for x in across])
    colours = {
        label: np.unique(picture.reshape(-1, 3)[model.predict(grid) == label], axis=0)
        for label in ("ash", "beech", "cedar")
    }
    assert all(len(colour) == 1 for colour in colours.values())
    assert len({tuple(colour[0]) for colour in colours.values()}) == 3


def test_crosses_are_the_rows_that_are_wrong():
    X, labels = plane()
    model = KNeighborsClassifier(1).fit(X[:30], labels[:30])
    ax = draw_decision_boundary(model, X, labels, resolution=10)
    scattered = ax.collections[-6:]  # right and wrong ones of each class
    right, wrong = (sum(len(part.get_offsets()) for part in scattered[k::2]) for k in (0, 1))
    assert wrong == np.count_nonzero(model.predict(X) != labels)
    assert right + wrong == 60


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("names", [("_a", "_b", "_c"), ("", "$b_$", "c")])
def test_every_class_is_in_the_legend_whatever_its_name(names, tmp_path):
    X, labels = plane()
    words = np.array(names)[np.unique(labels, return_inverse=True)[1]]
    frame = Table.of({"$x_$": X[:, 0], "_": X[:, 1]})
    model = make_pipeline(Encoder(), LinearDiscriminantAnalysis()).fit(frame, words)
    ax = drawn(draw_decision_boundary(model, frame, words, resolution=10), tmp_path)
    assert [text.get_text() for text in ax.get_legend().get_texts()] == sorted(names)


@pytest.mark.parametrize("kind", ["pandas", "polars", "arrow", "Table"])
def test_frames_keep_their_names_and_their_kind(kind, tmp_path):
    X, labels = plane()
    columns = {"width": X[:, 0], "height": X[:, 1]}
    if kind in ("pandas", "polars"):
        frame = pytest.importorskip(kind).DataFrame(columns)
    else:
        frame = pa.table(columns) if kind == "arrow" else Table.of(columns)
    model = make_pipeline(Encoder(), LinearDiscriminantAnalysis()).fit(frame, labels)
    ax = drawn(draw_decision_boundary(model, frame, labels, resolution=20), tmp_path)
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("width", "height")


@pytest.mark.parametrize("scale", [1e-200, 1e200])
def test_huge_and_tiny_numbers_and_a_constant_column(scale, tmp_path):
    X, labels = plane()
    model = LinearDiscriminantAnalysis().fit(X, labels)
    ax = drawn(draw_decision_boundary(model, scale * X, resolution=5), tmp_path)
    low, high = ax.get_xlim()
    # The picture reaches a little beyond the rows.
    assert_allclose([low, high], scale * np.array([X[:, 0].min(), X[:, 0].max()]), rtol=0.25)
    X[:, 1] = 3.0
    flat = KNeighborsClassifier(1).fit(X, labels)
    low, high = draw_decision_boundary(flat, X, resolution=5).get_ylim()
    assert low < 3 < high


def test_functions_untagged_objects_and_clusters_are_drawn_too():
    X, labels = plane()
    model = KNeighborsClassifier(1).fit(X[:40], labels[:40])
    pictures = [
        draw_decision_boundary(given, X, labels, resolution=10).collections[0].get_array()
        for given in (model, model.predict, SimpleNamespace(predict=model.predict))
    ]
    assert_array_equal(pictures[0], pictures[1])
    assert_array_equal(pictures[0], pictures[2])
    signs = draw_decision_boundary(lambda X: np.sign(X[:, 0]), X, resolution=10)
    assert len(np.unique(signs.collections[0].get_array().reshape(-1, 3), axis=0)) == 2
    clusters = KMeans(3, n_init=1, random_state=0).fit(X)
    assert draw_decision_boundary(clusters, X, resolution=5).get_xlabel() == "x0"


def test_what_cannot_be_drawn_is_refused():
    X, labels = plane()
    three = np.column_stack([X, X[:, 0]])
    model = KNeighborsClassifier(1).fit(three, labels)
    with pytest.raises(DataError, match=r"3 column\(s\) and KNeighborsClassifier was fitted to 3"):
        draw_decision_boundary(model, three)
    with pytest.raises(DataError, match="fit it to two columns"):
        draw_decision_boundary(model, X)
    model = KNeighborsClassifier(1).fit(X, labels)
    with pytest.raises(DataError, match="2 labels for the 60 rows"):
        draw_decision_boundary(model, X, labels[:2])
    with pytest.raises(ParameterError, match="resolution"):
        draw_decision_boundary(model, X, resolution=1)
    numbers = np.linspace(0, 1, 60)
    line = LinearRegression().fit(X, numbers)
    for regressor in (line, line.predict):
        with pytest.raises(ParameterError, match="give a classifier"):
            draw_decision_boundary(regressor, X, numbers)
    with pytest.raises(ParameterError, match="predicts 900 different values"):
        draw_decision_boundary(lambda X: np.arange(len(X)), X, resolution=30)
    with pytest.raises(DataError, match=r"shape \(100, 2\) for 100 points; a label"):
        draw_decision_boundary(lambda X: X, X, resolution=10)
    whole = KNeighborsClassifier(1).fit(X, labels == "ash")
    for given in (labels, labels.astype(object)):
        with pytest.raises(DataError, match="one is text and one a number"):
            draw_decision_boundary(whole, X, given, resolution=5)
    with pytest.raises(DataError, match="y has 1 missing"):
        draw_decision_boundary(model, X, [None, *labels[1:]], resolution=5)
    words = Table.of({"x": X[:, 0], "colour": ["red", "green"] * 30})
    model = make_pipeline(Encoder(), LinearDiscriminantAnalysis()).fit(words, labels)
    with pytest.raises(DataError, match="column 'colour' is a category"):
        draw_decision_boundary(model, words)
