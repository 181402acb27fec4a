"""From one penalty of the lasso to the next: a single walk along the path of minimisers."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from empirisk import Lasso
from tolerances import SOLVED


def correlated(seed, n=40, p=9):
    """Coefficients of such columns come in, change their sign and leave along the path."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p)) @ rng.normal(size=(p, p))
    return X, X @ rng.normal(size=p) + 3.0 * rng.normal(size=n)


@pytest.mark.parametrize("positive", [False, True])
@pytest.mark.parametrize("ratio", [0.97, 0.9], ids=["fine", "coarse"])
def test_each_step_of_a_grid_is_one_walk_whatever_the_order_of_the_columns(ratio, positive):
    left = 0
    for seed in (3, 4, 7):
        X, y = correlated(seed)
        high = np.abs((X - X.mean(axis=0)).T @ (y - y.mean())).max() / len(y)
        values = high * ratio ** np.arange(1, np.log(1e-3) / np.log(ratio))
        coefs = []
        for first in range(X.shape[1]):  # each column is the first once
            turned = np.roll(X, -first, axis=1)
            path = Lasso(positive=positive, tol=0).path(turned, y, values=values)
            coefs.append(np.roll(path.coef[:, 0], first, axis=1))
            assert (path.n_iter[1:] == 1).all()
        left += (np.diff(np.abs(np.sign(coefs[0])), axis=0) < 0).sum()
        for other in coefs[1:]:  # condition numbers below 1e4
            assert_allclose(other, coefs[0], rtol=0, atol=SOLVED)
    assert left > 0
