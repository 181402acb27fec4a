"""The graph of a network: nodes, edges, sheets and words are those of its layers."""

import numpy as np
import pytest
from matplotlib.collections import LineCollection
from matplotlib.figure import Figure
from numpy.testing import assert_allclose

from empirisk.charts.network_graph import draw_network_graph
from empirisk.charts.network_layout import MOST_NODES, MOST_SHEETS, GraphPart
from tolerances import SUMMED

MLP = [
    GraphPart("input", (4,), kind="input"),
    GraphPart("Dense", (5,), 25, "tanh", bias=True),
    GraphPart("Dropout", (5,), kind="each"),
    GraphPart("Bottleneck", (2,), 10, "identity"),
    GraphPart("Dense", (3,), 9, "softmax", bias=True),
]
LENET = [
    GraphPart("input", (1, 28, 28), kind="input"),
    GraphPart("Conv2d", (6, 28, 28), 156, "tanh", "convolution", True, (5, 5)),
    GraphPart("AveragePool", (6, 14, 14), 0, "", "pool", False, (2, 2)),
    GraphPart("Conv2d", (16, 10, 10), 2416, "tanh", "convolution", True, (5, 5)),
    GraphPart("AveragePool", (16, 5, 5), 0, "", "pool", False, (2, 2)),
    GraphPart("Flatten", (400,), kind="flatten"),
    GraphPart("Dense", (120,), 48120, "tanh", bias=True),
    GraphPart("Dense", (84,), 10164, "tanh", bias=True),
    GraphPart("Dense", (10,), 850, "softmax", bias=True),
]


def named(ax, word):
    return [patch for patch in ax.patches if (patch.get_gid() or "").split(" ")[0] == word]


def words(ax):
    return [text.get_text() for text in ax.texts]


def edges(ax):
    """The lines of each collection, in order."""
    lines = [each for each in ax.collections if isinstance(each, LineCollection)]
    return [each.get_segments() for each in lines]


def test_a_small_network_has_all_its_nodes_and_edges(tmp_path):
    ax = draw_network_graph(MLP)
    ax.figure.savefig(tmp_path / "graph.svg")
    assert len(named(ax, "node")) == 4 + 5 + 5 + 2 + 3
    assert [one.get_gid() for one in named(ax, "one")] == ["one 0", "one 3"]  # the biased layers
    assert [len(lines) for lines in edges(ax)] == [4 * 5, 5, 5, 5 * 2, 2 * 3, 3]
    across = edges(ax)[2]
    assert_allclose([start[1] for start, _ in across], [end[1] for _, end in across], rtol=SUMMED)
    assert {"$x_{4}$", "$z_{5}$", "$p_{3}$", "1"} <= set(words(ax))


def test_edges_run_from_node_to_node():
    ax = draw_network_graph(MLP[:2])
    places = {node.get_gid(): node.center for node in named(ax, "node")}
    wanted = [(places[f"node 0 {i}"], places[f"node 1 {k}"]) for i in range(4) for k in range(5)]
    assert_allclose(edges(ax)[0], wanted, rtol=SUMMED)


def test_words_are_the_shapes_activations_and_counts():
    ax = draw_network_graph(LENET)
    said = words(ax)
    for word in ("6 x 28 x 28", "156 parameters", "48,120 parameters", "softmax"):
        assert word in said
    assert "61,706 parameters in all" in said
    assert said.count("tanh") == 4
    assert "0 parameters" not in said


def test_of_many_nodes_the_first_and_the_last_are_drawn():
    ax = draw_network_graph(LENET)
    flat = [node.get_gid() for node in named(ax, "node") if node.get_gid().startswith("node 5")]
    assert flat == [f"node 5 {k}" for k in (0, 1, 2, 3, 4, 399)]
    assert words(ax).count("⋮") == 3
    assert len([n for n in named(ax, "node") if n.get_gid().startswith("node 8")]) == MOST_NODES


def test_pictures_are_sheets_in_proportion_and_windows_lie_on_them():
    ax = draw_network_graph(LENET)
    sheets = named(ax, "sheet")
    counts = [sum(s.get_gid().startswith(f"sheet {j} ") for s in sheets) for j in range(5)]
    assert counts == [1, 6, 6, MOST_SHEETS, MOST_SHEETS]
    sides = [next(s for s in sheets if s.get_gid() == f"sheet {j} 0").get_width() for j in range(5)]
    assert_allclose(np.array(sides) / sides[0], np.array([28, 28, 14, 10, 5]) / 28, rtol=SUMMED)
    windows = [patch for patch in ax.patches if patch.get_alpha() == 0.8]
    pixel = sides[0] / 28
    assert_allclose([w.get_width() for w in windows], np.array([5, 2, 5, 2]) * pixel, rtol=SUMMED)


def test_signals_are_one_pixel_high_and_go_to_nodes():
    parts = [
        GraphPart("input", (2, 100), kind="input"),
        GraphPart("Conv1d", (4, 98), 28, "relu", "convolution", True, (1, 3)),
        GraphPart("Dense", (1,), 393, bias=True),
    ]
    ax = draw_network_graph(parts)
    sheet = named(ax, "sheet")[0]
    assert sheet.get_width() > 5 * sheet.get_height()
    assert "$y$" in words(ax)
    assert not named(ax, "one")  # the node 1 is drawn beside nodes alone


def test_inputs_have_their_names():
    inputs = ["bill_length", "depth $ in mm", "x" * 40, "mass"]
    ax = draw_network_graph(MLP, inputs=inputs)
    said = words(ax)
    assert {"bill_length", "depth $ in mm", "mass"} <= set(said)
    assert "x" * 21 + "..." in said
    ax.figure.draw_without_rendering()
    whole = ax.get_window_extent()
    for text in ax.texts:
        extent = text.get_window_extent()
        assert whole.x0 <= extent.x0
        assert extent.x1 <= whole.x1


@pytest.mark.parametrize("parts", [MLP, LENET], ids=["mlp", "lenet"])
@pytest.mark.parametrize("size", [None, (3, 2), (12, 8)])
def test_no_text_lies_upon_another(parts, size):
    ax = None if size is None else Figure(figsize=size, layout="constrained").add_subplot()
    ax = draw_network_graph(parts, ax=ax)
    ax.figure.draw_without_rendering()
    extents = [text.get_window_extent() for text in ax.texts if text.get_text()]
    low = np.array([[e.x0, e.y0] for e in extents])
    high = np.array([[e.x1, e.y1] for e in extents])
    both = (np.minimum(high[:, None], high) - np.maximum(low[:, None], low) > 1).all(axis=2)
    assert not np.triu(both, 1).any()  # a pixel may be rounding
