"""Rows far away from all others, which are placed apart."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone

from empirisk import KMeans


@pytest.mark.parametrize("far", [1e7, 1e12, 1e17, 1e200, 1e308])
@pytest.mark.parametrize(
    "model", [KMeans(3, random_state=0), KMeans(2, covariance="pooled", random_state=0), KMeans(1)]
)
def test_what_is_said_of_a_row_does_not_depend_on_the_others(model, far):
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(60, 2)) + np.repeat([[0.0, 0.0], [4.0, 0.0], [0.0, 4.0]], 20, axis=0)
    strange = np.array([[far, 0.0], [far, -far], [-3e8, 5.0]])
    model = clone(model).fit(rows)
    both = np.vstack([rows, strange])
    assert_array_equal(model.predict(both), [*model.predict(rows), *model.predict(strange)])
    for found, expected in (
        (model.transform(both), np.vstack([model.transform(rows), model.transform(strange)])),
        (
            model.losses_of_rows(both),
            np.append(model.losses_of_rows(rows), model.losses_of_rows(strange)),
        ),
    ):
        # Up to 20 of 53 binary digits are lost to a row that is so much farther away.
        assert_allclose(found, expected, rtol=1e-8, atol=1e-9)
