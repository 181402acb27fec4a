"""Bias and variance by resampling one data set."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from sklearn.base import clone
from sklearn.decomposition import PCA
from sklearn.dummy import DummyRegressor
from sklearn.linear_model import LinearRegression
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.pipeline import make_pipeline

import empirisk
from decomposed_learners import one_data_set
from empirisk import Encoder, Ridge, Table
from empirisk.risk.decomposition import (
    bootstrap_bias_variance,
)
from empirisk.runtime.errors import DataError
from empirisk.runtime.streams import generator, spawn
from tolerances import LAST_BITS, SUMMED


def out_of_bag(learner, X, y, n_resamples, seed):
    """(resamples, rows) of predictions, NaN for rows in the resample."""
    n, table = len(y), []
    for s in spawn(seed, n_resamples):
        count = np.bincount(generator(s).integers(n, size=n), minlength=n)
        rows = np.repeat(np.arange(n), count)
        prediction = clone(learner).fit(X[rows], y[rows]).predict(X)
        table.append(np.where(count == 0, prediction, np.nan))
    return np.array(table)


LEARNERS = [
    LinearRegression(),
    KNeighborsRegressor(3),
    make_pipeline(PCA(1), LinearRegression()),
]


@pytest.mark.parametrize("learner", LEARNERS, ids=str)
def test_from_one_data_set_the_parts_add_up_to_the_out_of_bag_error(learner):
    # Counts as weights (least squares) or as repeated rows (neighbours) are the same fit; where a
    # step takes no weights, all steps must see the rows repeated.
    X, y = one_data_set()
    found = bootstrap_bias_variance(learner, X, y, n_resamples=60, random_state=0)
    prediction = out_of_bag(learner, X, y, 60, 0)
    variance = np.nanvar(prediction, axis=0, ddof=1)
    loss = np.nanmean((prediction - y) ** 2, axis=0)
    assert_allclose(found.variance, variance.mean(), rtol=SUMMED)
    assert_allclose(found.total, loss.mean(), rtol=SUMMED)
    assert_allclose(found.bias_squared + found.variance, found.total, rtol=LAST_BITS)
    assert "the noise is part of the bias" in found.sentence
    assert not hasattr(found, "noise")
    assert 0 < found.standard_error["variance"] < found.variance


def test_classes_from_one_data_set():
    X, y = one_data_set(60)
    labels = np.where(y > 0, "yes", "no")
    learner = KNeighborsClassifier(1)
    found = bootstrap_bias_variance(learner, X, labels, n_resamples=50, random_state=0)
    codes = out_of_bag(learner, X, (y > 0).astype(int), 50, 0)
    share = np.nanmean(codes == 1, axis=0, where=~np.isnan(codes))
    wrong = np.where(y > 0, 1 - share, share)
    assert_allclose(found.total, wrong.mean(), rtol=SUMMED)
    assert_allclose(found.bias, ((share > 0.5) != (y > 0)).mean(), rtol=SUMMED)
    assert_allclose(found.bias + found.net_variance, found.total, rtol=LAST_BITS)
    assert "bias with noise" in found.sentence
    assert not hasattr(found, "net_noise")


def test_rows_of_weight_zero_are_not_there_and_tables_are_taken():
    X, y = one_data_set()
    weight = np.ones(40)
    weight[::4] = 0
    options = {"n_resamples": 20, "random_state": 0}
    kept = weight > 0
    few = bootstrap_bias_variance(empirisk.LinearRegression(), X[kept], y[kept], **options)
    with_zeros = bootstrap_bias_variance(
        empirisk.LinearRegression(), X, y, sample_weight=weight, **options
    )
    assert_allclose(with_zeros.total, few.total, rtol=SUMMED)
    frame = pd.DataFrame(X, columns=["a", "b"])
    plain = bootstrap_bias_variance(make_pipeline(Encoder(), Ridge()), frame, y, **options)
    table = bootstrap_bias_variance(
        make_pipeline(Encoder(), Ridge()), Table.of(frame), y, **options
    )
    assert_allclose(plain.total, table.total, rtol=SUMMED)
    heavy = bootstrap_bias_variance(
        empirisk.LinearRegression(), X, y, sample_weight=1 + 9 * (y > 0), **options
    )
    assert heavy.total != few.total


def test_too_few_rows_to_resample():
    with pytest.raises(DataError, match="more rows"):
        bootstrap_bias_variance(DummyRegressor(), [[0.0]], [1.0])
    found = bootstrap_bias_variance(DummyRegressor(), [[0.0], [1.0]], [1.0, 2.0], random_state=0)
    assert found.total == 1
    for seed in range(6):
        few = bootstrap_bias_variance(
            DummyRegressor(), np.zeros((3, 1)), [1.0, 2.0, 4.0], n_resamples=15, random_state=seed
        )
        assert not np.isnan([*few.parts.values(), *few.standard_error.values()]).any()


def test_a_single_class_has_nothing_to_decompose():
    with pytest.raises(DataError, match="one class only"):
        bootstrap_bias_variance(
            empirisk.DecisionTreeClassifier(), np.ones((9, 1)), np.zeros(9, dtype=int)
        )


def test_what_one_data_set_does_not_show_is_not_given():
    X = np.random.default_rng(0).normal(size=(30, 1))
    found = bootstrap_bias_variance(LinearRegression(), X, X[:, 0], n_resamples=20, random_state=0)
    for hidden in ("noise", "excess"):
        with pytest.raises(AttributeError, match="does not show the noise"):
            getattr(found, hidden)
