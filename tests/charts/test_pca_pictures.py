"""Scree plot, biplot and loadings show the numbers of the PCA."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose

from empirisk import PCA
from empirisk.runtime.errors import DataError, EmpiriskWarning, ParameterError
from tolerances import SUMMED

rng = np.random.default_rng(0)
X = pd.DataFrame(rng.normal(size=(60, 3)) * [3, 2, 1], columns=["a", "b", "c"])
PAIR = PCA().fit(X)


def test_the_scree_plot_has_a_bar_for_each_share_and_a_line_to_one():
    ax = PAIR.plot_scree()
    assert_allclose(
        [bar.get_height() for bar in ax.patches], PAIR.explained_variance_ratio_, rtol=SUMMED
    )
    assert_allclose(ax.lines[0].get_ydata(), np.cumsum(PAIR.explained_variance_ratio_), rtol=SUMMED)


def test_bootstrap_intervals_are_drawn_and_hold_the_shares():
    explained = PAIR.bootstrap_explained_variance(X, n_resamples=199, random_state=0)
    assert_allclose(explained.value, PAIR.explained_variance_ratio_, rtol=SUMMED)
    low, high = explained.interval("bca")
    assert (low < high).all()
    assert_allclose(explained.replicates.sum(axis=1), 1, rtol=SUMMED)
    ax = PAIR.plot_scree(explained)
    (segments,) = (c.get_segments() for c in ax.collections)
    assert_allclose(
        [s[:, 1] for s in segments], np.transpose(explained.interval("percentile")), rtol=SUMMED
    )


def test_equal_variances_are_named_where_the_bootstrap_would_be_trusted():
    """Equal ones are within two errors of each other in all but a few of a hundred samples."""
    Z = np.random.default_rng(1).normal(size=(80, 4)) * [3, 1, 1, 1]
    with pytest.warns(EmpiriskWarning, match="components 2 and 3 are closer"):
        PCA(2).fit(Z).bootstrap_explained_variance(Z, n_resamples=9)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:the variances of components")  # in a few samples
def test_intervals_of_variances_that_are_apart_cover_them():
    """60 samples, two shares: P(fewer than 50 covered) < 1e-3 at 95 %."""
    variance = np.array([5, 3, 1.5, 0.7, 0.3])
    true, covered = (variance / variance.sum())[:2], np.zeros(2)
    for seed in range(60):
        Z = np.random.default_rng(seed).normal(size=(150, 5)) * np.sqrt(variance)
        pca, how = PCA(2).fit(Z), {"n_resamples": 199, "random_state": seed}
        low, high = pca.bootstrap_explained_variance(Z, **how).interval("percentile")
        covered += (low <= true) & (true <= high)
    assert (covered >= 50).all()


def test_replicates_are_fits_to_copies_of_the_drawn_rows():
    explained = PAIR.bootstrap_explained_variance(X, n_resamples=20, random_state=1)
    copies = explained.resamples.copies(slice(0, 20)).astype(int)
    for counts, shares in zip(copies, explained.replicates, strict=True):
        again = PCA().fit(np.repeat(X.to_numpy(), counts, axis=0))
        assert_allclose(shares, again.explained_variance_ratio_, rtol=SUMMED)


def test_weights_of_the_bootstrap_are_those_of_the_rows():
    for weight in ([1.0, 1.0], ["a"] * 60, np.full(60, -1.0)):
        with pytest.raises(DataError, match="sample_weight"):
            PAIR.bootstrap_explained_variance(X, n_resamples=9, sample_weight=weight)
    how = {"n_resamples": 9, "random_state": 0}
    one = PAIR.bootstrap_explained_variance(X, sample_weight=np.full(60, 2.0), **how)
    other = PAIR.bootstrap_explained_variance(X, sample_weight=2.0, **how)
    assert (one.replicates == other.replicates).all()


def test_more_components_than_a_resample_has_rows_have_no_share():
    wide = rng.normal(size=(6, 30))
    with pytest.warns(EmpiriskWarning, match="1 and 2, 2 and 3, 3 and 4, ... are closer"):
        explained = PCA().fit(wide).bootstrap_explained_variance(wide, n_resamples=9)
    assert np.isfinite(explained.replicates).all()
    assert (explained.replicates[:, -1] == 0).all()


def test_the_biplot_has_points_for_rows_and_arrows_for_columns():
    ax = PAIR.plot_biplot(X, (1, 3))
    points = np.column_stack(ax.lines[0].get_data())
    assert_allclose(points, PAIR.encode(X)[:, [0, 2]], rtol=SUMMED)
    named = {text.get_text() for text in ax.texts}
    assert {"a", "b", "c"} <= named
    assert ax.get_xlabel().startswith("component 1 (")
    for wrong in ((1, 1), (0, 1), (1, 4)):
        with pytest.raises(ParameterError, match="two different numbers"):
            PAIR.plot_biplot(X, wrong)


def test_names_of_columns_that_go_together_do_not_overlap():
    """Twelve columns that are one, all arrows in one place; names as long as displacement."""
    Z = rng.normal(size=(50, 1)) + 0.01 * rng.normal(size=(50, 12))
    Z = pd.DataFrame(Z, columns=[f"displacemen{j:x}" for j in range(12)])
    ax = PCA(2).fit(Z).plot_biplot(Z)
    ax.figure.draw_without_rendering()
    boxes = [text.get_window_extent() for text in ax.texts if text.get_text()]
    assert len(boxes) == 12
    frame = ax.get_window_extent()
    assert all(frame.x0 < box.x0 and box.x1 < frame.x1 for box in boxes)
    # A line of 0.06 of the picture is higher than a letter, lower than what surrounds it.
    assert all(
        not box.shrunk(1.0, 0.7).count_overlaps([b.shrunk(1.0, 0.7) for b in boxes[:i]])
        for i, box in enumerate(boxes)
    )


def test_the_loadings_are_axes_times_standard_deviations():
    assert_allclose(PAIR.loadings_ @ PAIR.loadings_.T, np.cov(X.T), rtol=0, atol=SUMMED)
    ax = PAIR.plot_loadings()
    shown = ax.images[0].get_array()
    assert_allclose(shown * np.abs(PAIR.loadings_).max(), PAIR.loadings_, rtol=SUMMED)
    assert [label.get_text() for label in ax.get_yticklabels()] == ["a", "b", "c"]


def test_a_scree_plot_of_rows_is_refused_in_words():
    with pytest.raises(ParameterError, match="bootstrap_explained_variance"):
        PAIR.plot_scree(X)
