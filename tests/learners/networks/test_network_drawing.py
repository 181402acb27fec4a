"""Pictures of networks say what the networks are."""

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from sklearn.datasets import load_digits

from empirisk import (
    Conv2d,
    Dense,
    Dropout,
    Flatten,
    MaxPool,
    MLPClassifier,
    MLPRegressor,
    NetworkClassifier,
    convolve,
)
from empirisk.runtime.errors import DataError, ParameterError
from tolerances import SUMMED

mpl.use("agg")
X, Y = load_digits(return_X_y=True)
X, Y = X[:200], Y[:200]
LAYERS = [Conv2d(3, 3, padding=1), MaxPool(2), Flatten(), Dense(5, "tanh"), Dropout(0.1)]
ALL_EPOCHS = {"n_iter_no_change": None, "random_state": 0}
NET = NetworkClassifier(LAYERS, input_shape=(1, 8, 8), max_iter=3, **ALL_EPOCHS).fit(X, Y)


def words(ax):
    return " ".join(text.get_text() for text in ax.figure.findobj(mpl.text.Text))


def test_the_graph_names_layers_shapes_and_parameters():
    said = words(NET.plot_graph())
    for name in ("Conv2d", "MaxPool", "Flatten", "Dense", "Dropout", "tanh", "softmax"):
        assert name in said
    assert "3 x 8 x 8" in said
    assert f"{NET.params_.size:,}" in said


def test_the_graph_of_a_table_names_its_columns():
    table = pd.DataFrame({"width": [1.0, 2, 3, 4], "height": [0.0, 1, 0, 1]})
    net = MLPClassifier(3, solver="lbfgs", max_iter=2, **ALL_EPOCHS).fit(table, [0, 1, 0, 1])
    said = words(net.plot_graph())
    assert "width" in said
    assert "height" in said
    assert "logistic" in said


def test_the_curve_of_training_has_its_losses():
    net = MLPRegressor(hidden_layer_sizes=3, max_iter=6, early_stopping=True, **ALL_EPOCHS)
    net.fit(X, X[:, 20])
    curves = [line.get_ydata() for line in net.plot_training().get_lines()]
    assert any(
        len(each) == 6 and np.allclose(each, net.loss_curve_, rtol=SUMMED) for each in curves
    )
    held_out = -np.array(net.validation_scores_)
    assert any(
        len(each) == 6 and np.allclose(each, held_out, rtol=SUMMED, atol=0) for each in curves
    )


def test_gradients_are_drawn_for_each_layer_with_parameters():
    ax = NET.plot_gradients()
    assert NET.gradient_norms_.shape == (3, 3)
    assert (NET.gradient_norms_ > 0).all()
    assert "Conv2d 1" in words(ax)
    whole = MLPClassifier(3, solver="lbfgs", max_iter=2, **ALL_EPOCHS).fit(X, Y)
    with pytest.raises(DataError, match="lbfgs"):
        whole.plot_gradients()


def test_feature_maps_are_convolutions_of_the_picture():
    maps = NET.feature_maps(X[:4], 0)
    assert maps.shape == (4, 3, 8, 8)
    kernels, bias = NET.params_[:27].reshape(3, 1, 3, 3), NET.params_[27:30]
    picture = ((X[1] - NET._centre) / NET._unit).reshape(1, 8, 8)
    by_hand = convolve(picture, kernels, padding=1) + bias[:, np.newaxis, np.newaxis]
    assert_allclose(maps[1], np.maximum(by_hand, 0.0), rtol=SUMMED, atol=SUMMED)
    assert NET.feature_maps(X[:4], 2).shape == (4, 48)
    assert_allclose(
        NET.feature_maps(X[:4], 2), NET.feature_maps(X[:4], 1).reshape(4, -1), rtol=SUMMED
    )


def test_kernels_and_feature_maps_are_pictures():
    assert NET.plot_kernels() is not None
    assert NET.plot_feature_maps(X[0], 1) is not None
    assert NET.plot_feature_maps(X[[0]], 1) is not None
    flat = NetworkClassifier([Dense(4)], input_shape=(1, 8, 8), max_iter=2, **ALL_EPOCHS).fit(X, Y)
    assert flat.plot_kernels() is not None  # the weights of each unit, as a picture


def test_what_is_no_picture_is_refused():
    with pytest.raises(ParameterError, match="no pictures"):
        NET.plot_feature_maps(X[0], 3)
    with pytest.raises(ParameterError, match="x has 2 rows"):
        NET.plot_feature_maps(X[:2], 1)
    with pytest.raises(ParameterError, match="layers 0 to 5"):
        NET.feature_maps(X, 6)
    with pytest.raises(ParameterError, match="layer is 'first'"):
        NET.feature_maps(X, "first")
    net = MLPClassifier(3, solver="lbfgs", max_iter=2, **ALL_EPOCHS).fit(X, Y)
    with pytest.raises(ParameterError, match="input_shape"):
        net.plot_kernels()
