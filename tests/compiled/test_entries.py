"""Gradients and curvatures of few bits: how they are rounded, and where that is too few."""

import numpy as np

from empirisk.compiled.boosting.entering import enter_chunked, is_fine


def test_few_bits_are_fine_where_half_of_the_rows_are_not_small():
    own = np.zeros((2, 8), np.int64)
    for large, curved, fine in [(20, 20, True), (19, 20, False), (20, 19, False), (41, 41, True)]:
        own[:, 2], own[:, 3] = [large - 3, 3], [3, curved - 3]
        assert is_fine(2, own, 41) == fine


def test_entries_of_few_bits_are_rounded_and_those_that_are_not_small_are_counted():
    g = np.array([0.0, 15.49, 15.5, -15.49, -15.51, -8190.0, 3.5])
    h = np.array([8190.0, 15.5, 15.49, 0.0, 1.0, 2.5, 16.0])
    entries = np.zeros(7, np.int64)
    assert enter_chunked(g / 4, h / 8, 4.0, 8.0, entries) == (3, 3)
    np.testing.assert_array_equal(entries >> 38, np.floor(g + 0.5))
    np.testing.assert_array_equal((entries >> 13) & (2**25 - 1), np.floor(h + 0.5))
    assert (entries & (2**13 - 1) == 1).all()
