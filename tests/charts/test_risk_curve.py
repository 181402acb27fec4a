"""Risk paths drawn along one parameter, and along the rank of several."""

from itertools import pairwise

import numpy as np

from empirisk import Axis
from empirisk.charts.risk_curve import draw_risk_curve
from empirisk.risk.curves import RiskPath


def drawn(values, axis):
    risk = np.array([3.0, 2.0, 2.5])
    path = RiskPath(values, axis.complexity(values), risk, risk / 9, risk - 1, 1, axis, "path", "")
    ax = path.plot()
    return ax.get_xlabel(), [text.get_text() for text in ax.get_legend().get_texts()][-1]


def test_the_choice_is_called_by_its_value_also_where_several_parameters_make_it():
    both = Axis(("alpha", "delta"), ("richer", "simpler"), "linear")
    values = [(0.0, 0.5), (0.25, np.float64(0.125)), (1.0, 0.5)]
    assert drawn(values, both) == (
        "rank of alpha, delta (richer to the right)",
        "chosen: 0.25, 0.125",
    )
    one = Axis(("alpha",), "richer", "linear")
    assert drawn([0.0, 0.25, 1.0], one) == ("alpha (richer to the right)", "chosen: 0.25")


def test_a_penalty_of_zero_is_drawn_beside_others_on_their_log_scale():
    penalty, ones = Axis(("alpha",), "simpler", "log"), np.ones(3)
    for least, scale in ((0.0, "symlog"), (0.01, "log")):
        values = [least, 0.1, 100.0]
        ranks = penalty.complexity(values)
        ax = RiskPath(values, ranks, ones, ones, ones, 1, penalty, "path", "").plot()
        assert ax.get_xscale() == scale
        assert min(ax.get_xlim()) >= 0


def test_the_label_of_a_penalty_of_zero_stands_apart_from_that_of_the_least_decade():
    for least in (9e-9, 7e-6, 1e-3, 0.05):
        values = np.array([0.0, least, 0.3])
        ax = draw_risk_curve(values, values, None, None, label="", scale="log", richer_right=False)
        ax.figure.draw_without_rendering()
        rich, poor = ax.get_xlim()[::-1]
        ticks = [each for each in ax.xaxis.get_major_ticks() if rich <= each.get_loc() <= poor]
        left = sorted(each.label1.get_window_extent().extents[[0, 2]].tolist() for each in ticks)
        assert len(left) > 1
        assert all(one[1] < other[0] for one, other in pairwise(left))


def test_a_curve_that_explodes_among_the_rich_is_cut_and_one_that_falls_is_not():
    degree = Axis(("degree",), "richer", "integer")
    values, training = [1, 2, 3], np.array([1.0, 0.7, 0.6])
    for risk, top in ((np.array([1.0, 0.8, 500.0]), 3.2), (np.array([500.0, 1.0, 1.1]), 500.0)):
        ranks = degree.complexity(values)
        ax = RiskPath(values, ranks, risk, risk / 9, training, 1, degree, "path", "").plot()
        assert (ax.get_ylim()[1] < 501.0) == (top < 500.0)
        assert ax.get_ylim()[1] >= top
