"""The picture of a tree: every node drawn once, with its words, and no text upon another."""

import re

import numpy as np
import pytest
from matplotlib.figure import Figure
from numpy.testing import assert_allclose

from empirisk import DecisionTreeClassifier, DecisionTreeRegressor, Table, datasets, draw_tree
from empirisk.charts.tidy_layout import tidy_layout
from empirisk.runtime.errors import ParameterError
from tolerances import SUMMED


def penguins(leaves, **how):
    table = datasets.penguins()
    learner = DecisionTreeClassifier(max_leaf_nodes=leaves, **how)
    return learner.fit(table.drop(["species"]), table["species"].values().astype(str))


def cars(leaves):
    table = datasets.auto_mpg()
    X = table.drop(["mpg", "car_name"])
    return DecisionTreeRegressor(max_leaf_nodes=leaves).fit(X, table["mpg"].numbers())


def boxes(ax):
    return {patch.get_gid(): patch for patch in ax.patches if patch.get_gid()}


def words(ax):
    return [text.get_text() for text in ax.texts]


def overlaps(extents):
    """Pairs of rectangles on the screen that have a common area."""
    low = np.array([[e.x0, e.y0] for e in extents])
    high = np.array([[e.x1, e.y1] for e in extents])
    both = (np.minimum(high[:, None], high) - np.maximum(low[:, None], low) > 0.5).all(axis=2)
    return [(i, j) for i, j in np.argwhere(both) if i < j]  # half a pixel may be rounding


def extents(ax, things):
    ax.figure.draw_without_rendering()
    return [thing.get_window_extent() for thing in things]


@pytest.mark.parametrize(
    ("leaves", "direction"), [(8, "down"), (16, "down"), (16, "right"), (32, "down")]
)
@pytest.mark.parametrize("tree", [penguins, cars], ids=["classes", "values"])
def test_every_node_is_drawn_and_nothing_overlaps(tree, leaves, direction):
    model = tree(leaves)
    ax = model.plot(direction=direction)
    found = boxes(ax)
    assert sorted(found) == sorted(f"node-{node}" for node in range(model.tree_.node_count))
    assert overlaps(extents(ax, found.values())) == []
    legend = ax.get_legend()
    texts = [*ax.texts, *(legend.get_texts() if legend else [])]
    assert overlaps(extents(ax, texts)) == []
    frames = extents(ax, found.values())
    inside = [text for text in ax.texts if text.get_text() not in ("yes", "no")]
    for text in extents(ax, inside):
        assert any(
            box.x0 <= text.x0 and text.x1 <= box.x1 and box.y0 <= text.y0 and text.y1 <= box.y1
            for box in frames
        )


@pytest.mark.parametrize("size", [(5, 4), (16, 9)])
def test_text_is_made_to_fit_into_given_axes(size):
    ax = Figure(figsize=size, layout="constrained").add_subplot()
    assert cars(16).plot(ax) is ax
    assert overlaps(extents(ax, ax.texts)) == []
    assert overlaps(extents(ax, boxes(ax).values())) == []


def test_boxes_say_what_the_nodes_are():
    colour, age = ["red", "blue", "green", "red"], [1.0, 2.0, None, 9.0]
    X = Table.of({"colour": 2 * colour, "age": 2 * age})
    model = DecisionTreeRegressor().fit(X, 2 * [1.0, 1.0, 6.0, 4.0])
    said = words(draw_tree(model))
    assert said[:2] == ["yes", "no"]
    assert said[2:] == [
        "age <= 5.5", "missing: no", "3", "100 %", "1", "50 %",
        "colour in {red}", "5", "50 %", "4", "25 %", "6", "25 %",
    ]  # fmt: skip
    assert "missing: no" not in words(draw_tree(model, missing=False))
    assert "years <= 5.5" in words(draw_tree(model, feature_names=["paint", "years"]))


def test_bars_are_the_shares_of_the_classes():
    model = penguins(4)
    ax = model.plot()
    bars = [patch for patch in ax.patches if not patch.get_gid()]
    shares = model.tree_.value[:, 0]
    assert len(bars) == np.count_nonzero(shares)
    widths = np.array([bar.get_width() for bar in bars])
    nodes, classes = np.nonzero(shares)
    for node in range(model.tree_.node_count):
        mine = widths[nodes == node]
        assert_allclose(mine / mine.sum(), shares[node, classes[nodes == node]], rtol=SUMMED)
    legend = [text.get_text() for text in ax.get_legend().get_texts()]
    assert legend == ["Adelie", "Chinstrap", "Gentoo"]


def test_edges_are_as_wide_as_the_share_of_the_rows():
    model = cars(6)
    ax = model.plot()
    weight = model.tree_.weighted_n_node_samples
    width = np.array([line.get_linewidth() for line in ax.lines])
    slope = np.polyfit(weight[1:] / weight[0], width, 1)
    assert slope[0] > 5
    assert_allclose(width, np.polyval(slope, weight[1:] / weight[0]), rtol=0, atol=SUMMED)


def test_darker_boxes_have_larger_values():
    model = cars(8)
    found = boxes(model.plot())
    tone = [sum(found[f"node-{i}"].get_facecolor()[:3]) for i in range(model.tree_.node_count)]
    order = np.argsort(model.tree_.value[:, 0, 0])
    assert (np.diff(np.array(tone)[order]) <= 1e-9).all()


def test_deep_trees_are_cut_and_say_how_many_leaves_are_left_out():
    model = cars(30)
    ax = model.plot(max_depth=2)
    depth = model.tree_.depth
    assert len(boxes(ax)) == np.count_nonzero(depth <= 2)
    end = model.tree_.relatives()[2]
    cut = [n for n in np.flatnonzero(depth == 2) if not model.tree_.is_leaf[n]]
    for node in cut:
        assert f"... {model.tree_.is_leaf[node : end[node]].sum()} leaves" in words(ax)
    assert len(boxes(model.plot(max_depth=0))) == 1
    rng = np.random.default_rng(0)
    wide = DecisionTreeRegressor().fit(rng.normal(size=(500, 3)), rng.normal(size=500))
    assert 33 < len(boxes(wide.plot())) < 2 * 64
    assert any(text.endswith("leaves") for text in words(wide.plot()))


def test_names_are_text_and_never_mathematics(tmp_path):
    X = Table.of({"a_$\\frac$ {x}": [1.0, 2.0, 2.0] * 3, "$": ["$^$", "b_b", "%"] * 3})
    model = DecisionTreeClassifier().fit(X, ["$\\bad", "_$", "$x$"] * 3)
    ax = model.plot()
    ax.figure.savefig(tmp_path / "tree.svg")
    text = (tmp_path / "tree.svg").read_text()
    assert {"a_$\\frac$ {x} <= 1.5", "$ in {b_b}"} <= set(words(ax))
    assert all(not t.get_parse_math() for t in ax.texts if t.get_text() not in ("yes", "no"))
    assert all(not t.get_parse_math() for t in ax.get_legend().get_texts())
    assert "<svg" in text


def test_long_names_and_many_levels_are_wrapped():
    rng = np.random.default_rng(0)
    town = rng.integers(0, 60, size=600)
    X = Table.of({"the town in which the customer lives": [f"town {v}" for v in town]})
    model = DecisionTreeRegressor(max_leaf_nodes=4).fit(X, np.sin(town) + rng.normal(size=600))
    ax = model.plot()
    assert max(map(len, words(ax))) <= 26
    assert re.search(r"\d+ other levels", " ".join(words(ax)))
    assert overlaps(extents(ax, ax.texts)) == []


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("scale", [1e-200, 1e200])
def test_the_unit_changes_the_numbers_of_a_picture_alone(scale, tmp_path):
    """Squares of such values overflow or vanish."""
    X, y = np.arange(8.0)[:, None], np.sqrt(np.arange(8.0))
    plain = DecisionTreeRegressor(max_leaf_nodes=4).fit(X, y).plot()
    ax = DecisionTreeRegressor(max_leaf_nodes=4).fit(X * scale, y * scale).plot()
    ax.figure.savefig(tmp_path / "tree.png", dpi=30)
    assert len(words(ax)) == len(words(plain))
    for mine, theirs in zip(words(ax), words(plain), strict=True):
        assert mine == theirs or float(mine.removeprefix("x0 <= ")) == pytest.approx(
            scale * float(theirs.removeprefix("x0 <= ")),
            rel=1e-3,  # four digits are written
        )
    assert "x0 <= 1.5e" in words(ax)[2]
    assert overlaps(extents(ax, ax.texts)) == []
    width, height = ax.figure.bbox.size
    for thing in extents(ax, [*ax.texts, *ax.patches, *ax.lines]):
        assert 0 <= thing.x0 < thing.x1 <= width
        assert 0 <= thing.y0 < thing.y1 <= height
    tones = [[box.get_facecolor() for box in boxes(a).values()] for a in (ax, plain)]
    assert_allclose(*tones, rtol=0, atol=SUMMED)
    assert_allclose(*([edge.get_linewidth() for edge in a.lines] for a in (ax, plain)), rtol=SUMMED)


def test_one_leaf_several_outputs_and_many_classes(tmp_path):
    one = DecisionTreeRegressor().fit([[1.0], [2.0]], [3.0, 3.0])
    assert words(one.plot()) == ["3", "100 %"]
    two = DecisionTreeRegressor().fit([[1.0], [2.0]], [[1.0, 2.0], [3.0, 4.0]])
    assert "(1, 2)" in words(two.plot())
    y = np.arange(60) % 30
    many = DecisionTreeClassifier(max_leaf_nodes=5).fit(np.sin(np.arange(60.0))[:, None], y)
    ax = many.plot()
    assert ax.get_legend().get_texts()[-1].get_text() == "10 more"
    ax.figure.savefig(tmp_path / "many.png", dpi=30)


def test_what_cannot_be_drawn_is_refused():
    model = cars(4)
    with pytest.raises(ParameterError, match="direction is 'up'"):
        model.plot(direction="up")
    for wrong in (-1, 1.5):
        with pytest.raises(ParameterError, match="max_depth is"):
            model.plot(max_depth=wrong)


def test_the_layout_is_tidy():
    rng = np.random.default_rng(0)
    parent = [-1]
    for _ in range(20):
        parent = _grown(parent, rng)
    breadth = rng.uniform(1, 5, size=len(parent))
    centre = tidy_layout(parent, breadth, gap=1.0)
    level = np.zeros(len(parent), int)
    for node in range(1, len(parent)):
        level[node] = level[parent[node]] + 1
    for k in range(level.max() + 1):
        row = np.flatnonzero(level == k)
        assert (np.diff(centre[row]) > 0).all()
        edge = centre[row] + breadth[row] / 2
        assert ((centre[row] - breadth[row] / 2)[1:] - edge[:-1] > 1 - 1e-9).all()
    for node in range(len(parent)):
        children = [i for i in range(len(parent)) if parent[i] == node]
        if children:
            assert centre[node] == pytest.approx(centre[children].mean(), rel=SUMMED)
    assert (centre - breadth / 2).min() == pytest.approx(0, rel=SUMMED)


def _grown(parent, rng):
    """Two children for a random leaf, numbered in preorder."""
    inner = set(parent)
    leaf = int(rng.choice([i for i in range(len(parent)) if i not in inner]))
    moved = [p if p <= leaf else p + 2 for p in parent]
    return [*moved[: leaf + 1], leaf, leaf, *moved[leaf + 1 :]]


QUESTION = (
    "How satisfied are you with the opening hours of your local public library on weekdays, "
    "weekends and public holidays (give a number from 1 to 10)?"
)


def test_a_long_name_is_shortened_and_the_threshold_stays():
    answer = np.arange(1.0, 11.0)
    model = DecisionTreeClassifier(max_depth=1).fit(Table.of({QUESTION: answer}), answer > 6)
    said = words(model.plot())
    assert said[2:7] == [
        "How satisfied are you with",
        "the opening hours of your",
        "local public library on",
        "weekdays, weekends and...",
        "<= 6.5",
    ]
    levels = [f"{QUESTION} {k}" for k in range(6)]
    X = Table.of({QUESTION: 4 * levels}, kinds={QUESTION: "category"})
    model = DecisionTreeRegressor(max_depth=1).fit(X, np.tile(np.arange(6) < 3, 4))
    said = words(model.plot())
    assert said[2].endswith("...")
    assert said[3].startswith("in {'How satisfied")


@pytest.mark.parametrize("leaves", [1, 2])
def test_the_legend_of_a_small_tree_is_inside_the_picture(leaves):
    X = np.arange(20.0)[:, None]
    labels = np.where(X[:, 0] > 9, "very satisfied overall", "not satisfied at all, nor ever were")
    least = 20 if leaves == 1 else 1
    ax = DecisionTreeClassifier(min_samples_leaf=least, max_depth=1).fit(X, labels).plot()
    ax.figure.draw_without_rendering()
    legend, page = ax.get_legend().get_window_extent(), ax.figure.bbox
    assert page.x0 <= legend.x0 < legend.x1 <= page.x1
    for box in extents(ax, boxes(ax).values()):
        assert page.x0 <= box.x0 < box.x1 <= page.x1


def test_missing_values_are_spoken_of_where_they_pass():
    x = np.r_[np.full(10, np.nan), np.arange(30.0)]
    y = np.r_[np.full(10, 9.0), np.full(10, 9.0), np.zeros(10), np.full(10, 2.0)]
    model = DecisionTreeRegressor(max_leaf_nodes=3).fit(x[:, None], y)
    assert model.tree_.missing_go_to_left[0]
    assert words(model.plot()).count("missing: yes") == 1
    assert not any(text == "missing: no" for text in words(model.plot()))
