"""Training curves, gradient norms and feature maps show the numbers they are given."""

import numpy as np
import pytest
from matplotlib.figure import Figure
from numpy.testing import assert_allclose, assert_array_equal

from empirisk.charts.feature_maps import draw_feature_maps
from empirisk.charts.gradient_norms import draw_gradient_norms
from empirisk.charts.training_curve import draw_training_curve
from empirisk.runtime.errors import DataError, ParameterError
from tolerances import SUMMED

rng = np.random.default_rng(0)
LOSS, LATER = np.array([3.0, 2.0, 1.5, 1.2]), np.array([3.1, 2.2, 2.0, 2.4])


def drawn(ax, tmp_path):
    """Renders the whole picture: what cannot be drawn fails here."""
    ax.figure.savefig(tmp_path / "picture.svg")
    return ax


def legend(ax):
    return [text.get_text() for text in ax.get_legend().get_texts()]


def test_the_training_curve_marks_the_epoch_of_the_least_validation_loss(tmp_path):
    ax = drawn(draw_training_curve(LOSS, LATER), tmp_path)
    assert_array_equal(ax.lines[0].get_xdata(), [1, 2, 3, 4])
    assert_array_equal(ax.lines[0].get_ydata(), LOSS)
    assert_array_equal(ax.lines[1].get_ydata(), LATER)
    assert (ax.lines[2].get_xdata()[0], ax.lines[2].get_ydata()[0]) == (3, 2.0)
    assert legend(ax) == ["training loss", "validation loss", "best epoch: 3"]
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("epoch", "loss")


def test_without_validation_no_epoch_is_marked(tmp_path):
    assert legend(drawn(draw_training_curve(LOSS), tmp_path)) == ["training loss"]


def test_a_loss_that_is_not_finite_is_never_the_best(tmp_path):
    broken = np.array([np.nan, 2.0, -np.inf, 3.0])
    assert legend(drawn(draw_training_curve(LOSS, broken), tmp_path))[-1] == "best epoch: 2"
    lost = draw_training_curve(LOSS, np.full(4, np.nan))
    assert legend(drawn(lost, tmp_path)) == ["training loss", "validation loss"]


def test_gradient_norms_have_a_line_for_each_layer_on_a_log_scale(tmp_path):
    norms = 10.0 ** rng.normal(size=(6, 3))
    ax = drawn(draw_gradient_norms(norms, names=["Conv2d", "Dense", "Dense_2"]), tmp_path)
    assert ax.get_yscale() == "log"
    for j in range(3):
        assert_array_equal(ax.lines[j].get_xdata(), np.arange(1, 7))
        assert_array_equal(ax.lines[j].get_ydata(), norms[:, j])
    assert legend(ax) == ["Conv2d", "Dense", "Dense_2"]
    assert legend(draw_gradient_norms(norms[:, :2])) == ["layer 1", "layer 2"]


def test_norms_of_zero_are_seen_and_infinite_ones_leave_a_gap(tmp_path):
    norms = np.array([[0.0, 1.0], [0.0, np.inf], [0.3, np.nan]])
    ax = drawn(draw_gradient_norms(norms), tmp_path)
    assert legend(ax) == ["layer 1", "layer 1: 0", "layer 2"]
    assert_array_equal(ax.lines[1].get_xdata(), [1, 2])
    assert 0 < ax.lines[1].get_ydata()[0] < 0.3
    assert_array_equal(ax.lines[2].get_ydata(), [1.0, np.nan, np.nan])
    drawn(draw_gradient_norms(np.zeros((3, 1))), tmp_path)


@pytest.mark.parametrize("names", [None, [f"kernel {i}" for i in range(1, 8)]])
def test_feature_maps_stand_side_by_side_with_one_scale(names, tmp_path):
    maps = rng.normal(size=(7, 4, 6))
    ax = drawn(draw_feature_maps(maps, names=names, columns=3), tmp_path)
    for image, picture in zip(ax.images, maps, strict=True):
        assert_array_equal(image.get_array(), picture)
        assert image.get_clim() == (maps.min(), maps.max())
    left, right, bottom, top = np.transpose([image.get_extent() for image in ax.images])
    assert_allclose(right - left, 6, rtol=SUMMED)
    assert_allclose(bottom - top, 4, rtol=SUMMED)
    assert len(np.unique(left)) == 3
    assert_array_equal(np.unique(top, return_counts=True)[1], [3, 3, 1])
    assert (np.diff(np.unique(left)) > 6).all()  # none covers another
    assert (np.diff(np.unique(top)) > 4).all()
    assert [text.get_text() for text in ax.texts] == (names or [])
    assert len(ax.figure.axes) == 2  # the scale


def test_kernels_of_several_channels_are_a_table_of_signed_pictures(tmp_path):
    kernels = rng.normal(size=(4, 3, 5, 5))
    ax = drawn(draw_feature_maps(kernels, signed=True), tmp_path)
    assert_array_equal([image.get_array() for image in ax.images], kernels.reshape(-1, 5, 5))
    most = np.abs(kernels).max()
    assert {image.get_clim() for image in ax.images} == {(-most, most)}
    assert len({image.get_extent()[0] for image in ax.images}) == 3


def test_pictures_with_their_own_scales_in_given_axes(tmp_path):
    maps = np.stack([rng.normal(size=(5, 5)), np.full((5, 5), 2.0)])
    given = Figure().add_subplot()
    assert draw_feature_maps(maps, own_scale=True, ax=given) is given
    drawn(given, tmp_path)
    assert [image.get_clim() for image in given.images] == [
        (maps[0].min(), maps[0].max()), (2.0, 3.0),
    ]  # fmt: skip
    assert len(given.figure.axes) == 1
    drawn(draw_feature_maps(np.zeros((2, 3, 3)), signed=True), tmp_path)


@pytest.mark.parametrize("pictures", [np.zeros((3, 3)), [np.zeros((2, 2)), np.zeros((3, 3))], []])
def test_what_are_no_pictures_of_one_size_is_refused(pictures):
    with pytest.raises(DataError, match="pictures"):
        draw_feature_maps(pictures)


def test_every_picture_has_a_name_or_none_has():
    with pytest.raises(ParameterError, match="3 pictures and 1 names"):
        draw_feature_maps(np.ones((3, 4, 5)), names=["a"])
