"""What comes to the door of linear trees and leaves it: frames, odd columns, files, parameters."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from empirisk import LinearTreeClassifier, LinearTreeRegressor, load, save
from empirisk.runtime.deadlines import deadline
from empirisk.runtime.errors import DeadlineError, ParameterError
from tolerances import SUMMED


def sample(seed, n=150, p=3):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p))
    return X, np.where(X[:, 0] > 0.4, X[:, 1], 3 - X[:, 0]) + 0.3 * rng.normal(size=n), rng


def test_model_files_and_frames(tmp_path):
    X, y, rng = sample(16)
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    frame["d"] = rng.choice(["u", "v"], 150)
    model = LinearTreeRegressor(min_samples_leaf=10).fit(frame, y)
    save(model, tmp_path / "model.empirisk")
    assert_array_equal(load(tmp_path / "model.empirisk").predict(frame), model.predict(frame))
    assert model.feature_importances_.sum() == pytest.approx(1, rel=SUMMED)


@pytest.mark.parametrize("scale", [1e-300, 1.0, 1e300])
def test_odd_columns_give_finite_numbers(scale):
    rng = np.random.default_rng(17)
    X = rng.normal(size=(100, 5)) * scale
    X[:, 1], X[:, 2], X[::2, 3], X[:, 4] = scale, np.nan, np.nan, X[:, 0]
    for y in (np.zeros(100), np.sign(X[:, 0]) * scale, rng.standard_cauchy(100)):
        for alpha in (0.0, 1.0):
            model = LinearTreeRegressor(alpha=alpha, min_samples_leaf=3).fit(X, y)
            new = np.concatenate([X, 1e5 * X, np.full((1, 5), 1e308), np.full((1, 5), np.nan)])
            assert np.isfinite(model.predict(new)).all()
            assert np.isfinite(model.set_params(clip=None).fit(X, y).predict(new)).all()


def test_identifiers_split_rows_but_are_no_part_of_a_model():
    ids = 2**60 + np.arange(60)
    y = np.arange(60) % 7 + 10.0 * (np.arange(60) >= 30)
    model = LinearTreeRegressor(min_samples_leaf=20).fit(ids[:, None], y)
    assert model.models_.coef.shape == (2, 1, 0)
    assert_allclose(
        model.predict(ids[:, None]), [y[:30].mean()] * 30 + [y[30:].mean()] * 30, rtol=SUMMED
    )


def test_time_is_kept():
    X, y, _ = sample(18)
    with deadline(0), pytest.raises(DeadlineError):
        LinearTreeRegressor().fit(X, y)


@pytest.mark.parametrize(
    "how",
    [
        {"alpha": -1.0},
        {"alpha": np.nan},
        {"max_bins": 7},
        {"max_bins": 20.0},
        {"clip": "always"},
        {"ccp_alpha": -1},
        {"min_samples_leaf": 0},
        {"max_leaf_nodes": 1},
    ],
    ids=str,
)
def test_wrong_parameters_are_named(how):
    X, y, _ = sample(19)
    with pytest.raises(ParameterError, match=next(iter(how))):
        LinearTreeRegressor(**how).fit(X, y)


def test_several_outputs_are_refused():
    X, y, _ = sample(20)
    with pytest.raises(ValueError, match="1d array"):
        LinearTreeRegressor().fit(X, np.column_stack([y, y]))


@pytest.mark.parametrize("learner", [LinearTreeRegressor(), LinearTreeClassifier()], ids=str)
@pytest.mark.parametrize("size", [1e-300, 1e-320])
@pytest.mark.filterwarnings("error")
def test_weights_next_to_nothing_are_no_warning(learner, size):
    X = np.random.default_rng(0).normal(size=(100, 2))
    learner.fit(X, X[:, 0] > 0, sample_weight=np.full(100, size))
    assert np.isfinite(learner.tree_.gain).all()
    assert np.isfinite(learner.models_.coef).all()
