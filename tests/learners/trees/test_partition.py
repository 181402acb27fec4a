"""The partition of a plane: rectangles tile it and predict what the tree predicts."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from empirisk import DecisionTreeClassifier, DecisionTreeRegressor, Table, draw_partition, risk
from empirisk.learners.trees.partition import Partition, fixed_places
from empirisk.runtime.errors import DataError, ParameterError
from tolerances import SUMMED


def curve(X):
    return np.sin(4 * X[:, 0]) + 2 * X[:, 0] * X[:, 1]


def plane(seed, n=200, p=2):
    rng = np.random.default_rng(seed)
    X = rng.uniform(size=(n, p))
    return X, curve(X) + 0.2 * rng.normal(size=n), rng


def members(part, points):
    """(points, rectangles): which point lies in which rectangle."""
    inside = (points[:, None] > part.low) & (points[:, None] <= part.high)
    return inside.all(axis=2)


@pytest.mark.parametrize("seed", range(4))
def test_rectangles_tile_the_plane_and_predict_what_the_tree_predicts(seed):
    X, y, rng = plane(seed)
    model = DecisionTreeRegressor(max_leaf_nodes=15).fit(X, y)
    part = Partition.of(model.tree_, model.columns_, (0, 1), np.zeros(2))
    assert sorted(part.leaf) == np.flatnonzero(model.tree_.is_leaf).tolist()
    points = np.vstack([rng.uniform(-1, 2, size=(500, 2)), X])
    points[:20, 0] = model.tree_.threshold[0]  # on a threshold, too
    inside = members(part, points)
    assert_array_equal(inside.sum(axis=1), 1)
    assert_array_equal(part.leaf[inside.argmax(axis=1)], model.apply(points))


@pytest.mark.parametrize("seed", range(3))
def test_a_slice_of_more_features_predicts_what_the_tree_predicts_there(seed):
    X, y, rng = plane(seed, p=4)
    X[rng.random(X.shape) < 0.1] = np.nan
    X[0] = 0.5
    y += 2 * (X[:, 2] > 0.5)
    model = DecisionTreeRegressor(max_leaf_nodes=30).fit(X, y)
    for at in ({}, {2: 0.9}, {"x2": None, "x3": 0.1}):
        fixed = fixed_places(model, X, at)
        part = Partition.of(model.tree_, model.columns_, (1, 0), fixed)
        points = np.tile(fixed, (300, 1))
        points[:, :2] = rng.uniform(-0.5, 1.5, size=(300, 2))
        inside = members(part, points[:, [1, 0]])
        assert_array_equal(inside.sum(axis=1), 1)
        assert_array_equal(part.leaf[inside.argmax(axis=1)], model.apply(points))
    middle = np.nanquantile(X, 0.5, axis=0, method="lower")
    assert_allclose(fixed_places(model, X, None), middle, rtol=SUMMED)


def test_categories_are_fixed_at_the_commonest_level():
    X, y, _ = plane(3)
    colour = np.where(np.arange(200) % 3 == 0, "red", "blue")
    table = Table.of({"a": X[:, 0], "colour": colour, "b": X[:, 1]})
    model = DecisionTreeRegressor(max_leaf_nodes=12).fit(table, y + 3 * (colour == "red"))
    ax = draw_partition(model, table)
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("a", "b")
    values = {text.get_text() for text in ax.texts}
    red = draw_partition(model, table, at={"colour": "red"})
    assert values != {text.get_text() for text in red.texts}
    places = model.design(table).places()
    level = fixed_places(model, places, {})[1]
    assert model.columns_[1].values[int(level)] == "blue"


def test_lines_are_numbered_in_the_order_of_the_splits():
    X, y, _ = plane(0)
    model = DecisionTreeRegressor(max_leaf_nodes=9).fit(X, y)
    part = Partition.of(model.tree_, model.columns_, (0, 1), np.zeros(2))
    assert [line.order for line in part.lines] == list(range(1, 9))
    for size in range(2, 10):  # the first splits are those of the smaller tree
        smaller = DecisionTreeRegressor(max_leaf_nodes=size).fit(X, y)
        fewer = Partition.of(smaller.tree_, smaller.columns_, (0, 1), np.zeros(2))
        assert fewer.lines == part.lines[: size - 1]
    ax = draw_partition(model, X, y)
    numbers = [t.get_text() for t in ax.texts if t.get_bbox_patch() is not None]
    assert numbers == [str(k) for k in range(1, 9)]
    first = model.tree_.threshold[0]
    line = ax.lines[0]
    drawn = line.get_xdata() if model.tree_.feature[0] == 0 else line.get_ydata()
    assert_allclose(drawn, first, rtol=SUMMED)


def test_colours_are_the_predictions_and_points_the_data(tmp_path):
    X, y, _ = plane(1)
    labels = np.where(y > 0.8, "$high_$", "low")
    model = DecisionTreeClassifier(max_leaf_nodes=6).fit(X, labels)
    ax = draw_partition(model, X, labels)
    colour = {}
    for patch in ax.patches:
        x, z = patch.get_xy()[0] + patch.get_width() / 2, patch.get_xy()[1] + patch.get_height() / 2
        colour.setdefault(model.predict([[x, z]])[0], set()).add(patch.get_facecolor())
    assert {len(each) for each in colour.values()} == {1}
    assert len(set.union(*colour.values())) == len(colour) == 2
    shown = [t.get_text() for t in ax.get_legend().get_texts()]
    assert shown == ["$high_$", "low"]
    wrong = sum(len(c.get_offsets()) for c in ax.collections[1::2])
    assert wrong == (model.predict(X) != labels).sum()
    ax.figure.savefig(tmp_path / "plane.png", dpi=40)


def test_the_truth_is_drawn_from_a_function_or_a_population(tmp_path):
    X, y, _ = plane(2)
    model = DecisionTreeRegressor(max_leaf_nodes=5).fit(X, y)
    plain = len(draw_partition(model, X).collections)
    assert len(draw_partition(model, X, truth=curve).collections) == plain + 1
    population = risk.populations.Regression(curve, risk.populations.Uniform(n_features=2))
    ax = draw_partition(model, X, truth=population)
    assert len(ax.collections) == plain + 1
    ax.figure.savefig(tmp_path / "truth.png", dpi=40)
    labels = y > 1
    tree = DecisionTreeClassifier(max_leaf_nodes=5).fit(X, labels)
    ax = draw_partition(tree, X, truth=lambda X: curve(X) > 1)
    assert len(ax.collections) == 1


@pytest.mark.parametrize("scale", [1e-200, 1e200])
def test_huge_and_tiny_features(scale, tmp_path):
    X, y, _ = plane(4)
    model = DecisionTreeRegressor(max_leaf_nodes=5).fit(scale * X, y)
    ax = draw_partition(model, scale * X, y)
    ax.figure.savefig(tmp_path / "scaled.png", dpi=30)
    assert len(ax.patches) == 5


def test_axes_are_those_that_matter_most_unless_given():
    X, y, _ = plane(5, p=4)
    model = DecisionTreeRegressor(max_leaf_nodes=8).fit(X[:, [2, 0, 3, 1]], y)
    ax = draw_partition(model, X[:, [2, 0, 3, 1]])
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("x1", "x3")
    ax = draw_partition(model, X[:, [2, 0, 3, 1]], features=["x3", 1])
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("x3", "x1")


def test_what_cannot_be_drawn_is_refused():
    X, y, _ = plane(6)
    model = DecisionTreeRegressor(max_leaf_nodes=4).fit(X, y)
    for features, message in (
        (["a", "b"], "there is no column 'a'"),
        (["x0"], "give two names or numbers"),
        (["x0", 0], "two different columns"),
    ):
        with pytest.raises(ParameterError, match=message):
            draw_partition(model, X, features=features)
    with pytest.raises(DataError, match="3 values for the 200 rows"):
        draw_partition(model, X, y[:3])
    with pytest.raises(DataError, match="`truth` gave 1 values"):
        draw_partition(model, X, truth=lambda X: [1.0])
    with pytest.raises(DataError, match=r"1 feature\(s\) that are numbers"):
        draw_partition(DecisionTreeRegressor().fit(X[:, :1], y), X[:, :1])
    two = DecisionTreeRegressor().fit(X, np.column_stack([y, y]))
    with pytest.raises(ParameterError, match="one value or label"):
        draw_partition(two, X)
    labels = DecisionTreeClassifier().fit(X, y > 0)
    with pytest.raises(DataError, match="does not know"):
        draw_partition(labels, X, np.full(200, 7))
    table = Table.of({"a": X[:, 0], "b": X[:, 1], "colour": ["red", "blue"] * 100})
    model = DecisionTreeRegressor().fit(table, y)
    with pytest.raises(DataError, match="'colour' is a category"):
        draw_partition(model, table, features=["a", "colour"])
    with pytest.raises(ParameterError, match="no level 'pink'"):
        draw_partition(model, table, at={"colour": "pink"})
    with pytest.raises(DataError, match="leave `truth` out"):
        draw_partition(model, table, truth=curve)


def test_long_names_of_axes_stay_inside_the_picture_and_dates_are_dates():
    X, y, _ = plane(3)
    long = "a very long name of a column that goes on and on without an end in sight, really " * 3
    when = (np.datetime64("2020-01-01") + np.arange(200)).tolist()
    table = Table.of({long: X[:, 0], "when": when})
    model = DecisionTreeRegressor(max_leaf_nodes=4).fit(table, y + np.arange(200) / 50)
    for features in ([long, "when"], ["when", long]):
        ax = draw_partition(model, table, y, features=features)
        ax.figure.draw_without_rendering()
        page = ax.figure.bbox
        for axis in (ax.xaxis, ax.yaxis):
            label = axis.label.get_window_extent()
            assert page.x0 <= label.x0 < label.x1 <= page.x1
            assert page.y0 <= label.y0 < label.y1 <= page.y1
            assert axis.label.get_text()[:20] in (long[:20], "when")
        dated = ax.yaxis if features[1] == "when" else ax.xaxis
        labels = [text.get_text() for text in [*dated.get_ticklabels(), dated.get_offset_text()]]
        assert any("2020" in label for label in labels)
        assert "Mar" in labels
    place = fixed_places(model, np.zeros((1, 2)), {"when": "2020-01-02"})[1]
    assert place == 18263.0
