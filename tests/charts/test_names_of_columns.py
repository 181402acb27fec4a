"""Pictures name their sides after the columns of a frame, and do not warn of what they ask."""

import warnings

import numpy as np
import pandas as pd
import pytest
from matplotlib.text import Text

from empirisk import (
    GaussianMixture,
    KernelDensity,
    KMeans,
    LinearDiscriminantAnalysis,
    draw_fisher_coordinates,
)
from empirisk.charts.basis_functions import draw_basis_functions
from empirisk.charts.confusion import draw_confusion
from empirisk.charts.coordinates import draw_coordinates
from empirisk.charts.decision_boundary import class_colours, draw_points, draw_regions
from empirisk.charts.first_split import draw_shares, draw_thresholds
from empirisk.charts.fitted_curve import draw_fitted_curve
from empirisk.charts.importance import draw_importance
from empirisk.charts.intervals import draw_intervals
from empirisk.charts.loadings import draw_loadings
from empirisk.charts.log_ratios import draw_log_ratios
from empirisk.charts.partial_dependence import draw_curve, draw_levels, draw_plane
from empirisk.charts.prediction_errors import draw_prediction_errors
from empirisk.charts.roc import draw_roc
from empirisk.charts.shapley import draw_swarm, draw_waterfall
from empirisk.charts.silhouettes import draw_silhouettes
from empirisk.charts.voronoi import draw_cells

NAME = "$_in_$"  # as a formula, an error
rng = np.random.default_rng(0)
FRAME = pd.DataFrame(rng.normal(size=(40, 2)), columns=["width", "a$^b"])
FRAME.iloc[20:] += 4.0


def density(rows):
    return KernelDensity().fit(rows).plot()


def ellipses(rows):
    return GaussianMixture(2, random_state=0).fit(rows).plot(rows)


def steps_of_em(rows):
    model = GaussianMixture(2, random_state=0, keep_steps=True).fit(rows)
    return model.trajectory_.plot_steps(rows).axes[-1]


def steps_of_lloyd(rows):
    model = KMeans(2, random_state=0, keep_steps=True).fit(rows)
    return model.trajectory_.plot_steps(rows).axes[-1]


@pytest.mark.parametrize("picture", [density, ellipses, steps_of_em, steps_of_lloyd])
def test_two_columns_name_the_sides(picture):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ax = picture(FRAME)
        ax.figure.draw_without_rendering()  # a name is no formula
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("width", "a$^b")
    plain = picture(FRAME.to_numpy())
    assert (plain.get_xlabel(), plain.get_ylabel()) == ("x0", "x1")


@pytest.mark.parametrize("picture", [density, ellipses])
def test_one_column_names_the_line(picture):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ax = picture(FRAME[["width"]])
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("width", "density")
    assert picture(FRAME[["width"]].to_numpy()).get_xlabel() == "x0"


def test_any_two_features_of_a_mixture_have_their_names():
    three = FRAME.assign(depth=rng.normal(size=40))
    ax = GaussianMixture(2, random_state=0).fit(three).plot(three, features=(2, 0))
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("depth", "width")


def test_the_legend_of_fisher_coordinates_covers_no_row():
    X = rng.normal(size=(90, 4)) + np.repeat(np.eye(4)[:3] * 3, 30, axis=0)
    y = np.repeat(["low", "middle", "high"], 30)
    figure = draw_fisher_coordinates(LinearDiscriminantAnalysis().fit(X, y), X, y)
    figure.draw_without_rendering()
    (legend,) = figure.legends
    assert sorted(text.get_text() for text in legend.get_texts()) == ["high", "low", "middle"]
    boxes = [ax.get_window_extent() for ax in figure.axes]
    assert not legend.get_window_extent().count_overlaps(boxes)
    two = draw_fisher_coordinates(LinearDiscriminantAnalysis().fit(X[:60], y[:60]), X[:60], y[:60])
    assert not two.legends  # each class has its line, and its name beside it


TWO, NAMES, ENDS = np.arange(2.0), (NAME, f"{NAME}2"), np.array([[0.0, 1.0], [1.0, 2.0]])
CODES = np.array([0, 1])
PICTURES = {
    "bars": lambda: draw_importance(NAMES, TWO, ENDS, label=NAME),
    "curve": lambda: draw_curve(TWO, TWO, ENDS, None, None, labels=NAMES),
    "levels": lambda: draw_levels(NAMES, TWO, ENDS, labels=NAMES),
    "plane": lambda: draw_plane((NAME, NAMES, False), (NAME, TWO, True), ENDS, label=NAME),
    "swarm": lambda: draw_swarm(NAMES, ENDS, [TWO, TWO], label=NAME),
    "waterfall": lambda: draw_waterfall(NAMES, TWO, 0.0, label=NAME),
    "confusion": lambda: draw_confusion(ENDS, ENDS, NAMES),
    "intervals": lambda: draw_intervals(NAMES, TWO, [None, None], label=NAME),
    "line": lambda: draw_coordinates(ENDS[:, :1], CODES, NAMES, ["x"], "title"),
    "silhouettes": lambda: draw_silhouettes(TWO, CODES, np.array(NAMES), 0.5),
    "loadings": lambda: draw_loadings(ENDS, NAMES),
    "cells": lambda: draw_cells([ENDS], ["C0"], ENDS, NAMES),
    "ratios": lambda: draw_log_ratios(NAMES, TWO, label=NAME, title=NAME),
    "fit": lambda: draw_fitted_curve(TWO, ENDS, None, label=NAME),
    "basis": lambda: draw_basis_functions(TWO, ENDS, TWO, label=NAME),
    "roc": lambda: draw_roc(TWO, TWO, label=NAME),
    "errors": lambda: draw_prediction_errors(TWO, TWO, TWO > 0, label=NAME),
    "shares": lambda: draw_shares(NAMES, TWO, TWO),
    "thresholds": lambda: draw_thresholds(TWO, 0.5, label=NAME),
    "regions": lambda: draw_regions(TWO, TWO, np.array([[0, 1], [0, 1]]), NAMES, NAMES),
    "points": lambda: draw_points(
        ENDS, CODES, TWO > 0, NAMES, ax=draw_cells([ENDS], ["C0"], ENDS, NAMES)
    ),
}


@pytest.mark.parametrize("picture", PICTURES)
def test_a_name_with_two_dollar_signs_is_no_formula(picture):
    figure = PICTURES[picture]().figure
    figure.draw_without_rendering()
    assert any(NAME in text.get_text() for text in figure.findobj(Text))


@pytest.mark.parametrize("names", [("", "_a", "b"), (NAME, "a", "b")])
def test_the_legend_of_fisher_coordinates_has_every_class_in_its_colour(names):
    X = rng.normal(size=(90, 4)) + np.repeat(np.eye(4)[:3] * 3, 30, axis=0)
    y = np.repeat(names, 30)
    figure = draw_fisher_coordinates(LinearDiscriminantAnalysis().fit(X, y), X, y)
    figure.draw_without_rendering()
    (legend,) = figure.legends
    assert [text.get_text() for text in legend.get_texts()] == sorted(names)
    found = [handle.get_facecolor()[0, :3] for handle in legend.legend_handles]
    np.testing.assert_array_equal(found, class_colours(3))
