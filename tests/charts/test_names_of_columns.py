"""Pictures name their sides after the columns of a frame, and do not warn of what they ask."""

import warnings

import numpy as np
import pandas as pd
import pytest

from empirisk import (
    GaussianMixture,
    KernelDensity,
    KMeans,
    LinearDiscriminantAnalysis,
    draw_fisher_coordinates,
)

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
