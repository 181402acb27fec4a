"""The picture of coefficients along the penalty."""

import numpy as np
import pytest

from empirisk.charts.coefficient_path import NAMED, draw_coefficient_path


@pytest.mark.filterwarnings("error")
def test_the_legend_names_the_largest_beside_the_picture_and_hides_no_path(tmp_path):
    alphas, p = np.geomspace(1, 1e-3, 20), NAMED + 3
    coef = -np.log(alphas)[:, None] * np.linspace(-1, 1, p)
    names = ["_a", "$b_$", *map(str, range(p - 2))]
    ax = draw_coefficient_path(alphas, coef, names=names)
    ax.figure.savefig(tmp_path / "path.svg")
    legend = ax.get_legend()
    shown = [text.get_text() for text in legend.get_texts()]
    largest = np.argsort(-np.abs(coef[-1]), kind="stable")[:NAMED]
    assert shown == [names[j] for j in largest]
    assert legend.get_window_extent().x0 >= ax.get_window_extent().x1
    assert legend.get_window_extent().x1 <= ax.figure.bbox.x1
