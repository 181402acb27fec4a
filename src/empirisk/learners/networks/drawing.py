"""Pictures of a network and of its training."""

from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from empirisk.charts.feature_maps import draw_feature_maps
from empirisk.charts.gradient_norms import draw_gradient_norms
from empirisk.charts.network_graph import draw_network_graph
from empirisk.charts.network_layout import GraphPart, Kind
from empirisk.charts.training_curve import draw_training_curve
from empirisk.compiled.networks import layout
from empirisk.learners.networks.architecture import Architecture, Part
from empirisk.learners.networks.layers import Activated, Activation, Flatten
from empirisk.learners.networks.picture_layers import Window
from empirisk.learners.networks.rows import network_outputs
from empirisk.learners.networks.standardising import Standard
from empirisk.runtime.arrays import Array, Floats
from empirisk.runtime.errors import DataError, ParameterError
from empirisk.runtime.scalars import is_whole
from empirisk.runtime.validation import check_predict

KINDS: dict[int, Kind] = {
    layout.DENSE: "dense",
    layout.CONVOLUTION: "convolution",
    layout.MAX_POOL: "pool",
    layout.AVERAGE_POOL: "pool",
}


class NetworkPictures:
    """Methods that draw a fitted network."""

    params_: Array
    _centre: Floats
    _unit: Floats

    @property
    def _architecture(self) -> Architecture:
        raise NotImplementedError("a network has an architecture")

    def plot_graph(self, ax: Any = None) -> Any:
        """The computational graph: layers, shapes, activations, parameters; returns the axes."""
        check_is_fitted(self)
        architecture = self._architecture
        names = getattr(self, "feature_names_in_", None)
        vector = len(architecture.input_shape) == 1
        parts = [GraphPart("input", architecture.input_shape, kind="input")]
        parts += [graph_part(part) for part in architecture.parts]
        ending = getattr(self, "out_activation_", "identity")
        parts[-1] = replace(parts[-1], activation=ending)
        inputs = [str(name) for name in names] if names is not None and vector else None
        return draw_network_graph(parts, inputs=inputs, ax=ax)

    def plot_training(self, ax: Any = None) -> Any:
        """The loss after each epoch, with that of held-out rows where there were some."""
        check_is_fitted(self)
        learner: Any = self
        losses, scores = learner.loss_curve_, learner.validation_scores_
        if scores is None:
            return draw_training_curve(losses, ax=ax)
        before = [np.nan] * (len(losses) - len(scores))  # epochs of fits that set no rows aside
        return draw_training_curve(losses, [*before, *(-score for score in scores)], ax=ax)

    def plot_gradients(self, ax: Any = None) -> Any:
        """The length of each layer's gradient, epoch by epoch: where gradients vanish."""
        check_is_fitted(self)
        learner: Any = self
        if not len(learner.gradient_norms_):
            raise DataError(
                "no gradients of layers were noted: solver 'lbfgs' goes by all of them together; "
                "train by 'adam' or 'sgd'"
            )
        trained = [part for part in self._architecture.parts if part.parameters]
        names = [f"{type(part.layer).__name__} {k + 1}" for k, part in enumerate(trained)]
        return draw_gradient_norms(learner.gradient_norms_, names=names, ax=ax)

    def plot_kernels(self, ax: Any = None) -> Any:
        """The kernels of the first convolution, or the weights of the first layer as pictures."""
        check_is_fitted(self)
        first = next(part for part in self._architecture.parts if part.parameters)
        place, shape = first.parameters[0]
        kernels = self.params_[place].astype(float).reshape(shape)
        if kernels.ndim == 2:
            if len(first.shape_in) != 3:
                raise ParameterError(
                    "the first layer sees vectors, not pictures: give input_shape=(channels, "
                    "height, width)"
                )
            kernels = kernels.reshape(shape[0], *first.shape_in)
        pictures = kernels[:, 0] if kernels.shape[1] == 1 else kernels
        return draw_feature_maps(pictures, signed=True, ax=ax)

    def plot_feature_maps(self, x: Any, layer: int = 0, ax: Any = None) -> Any:
        """What a layer makes of one picture, channel by channel.

        Parameters
        ----------
        x : array-like of shape (p,) or (1, p)
            A row of X.
        layer : int
            Which layer, counted from 0.
        """
        row = x if np.ndim(x) == 2 else np.asarray(x)[np.newaxis]
        if len(row) != 1:
            raise ParameterError(f"x has {len(row)} rows; the picture is of one: give X[[0]]")
        maps = self.feature_maps(row, layer)[0]
        if maps.ndim != 3:
            raise ParameterError(
                f"layer {layer} gives out numbers of shape {maps.shape}, no pictures"
            )
        return draw_feature_maps(maps, own_scale=True, ax=ax)

    def feature_maps(self, X: Any, layer: int) -> Floats:
        """What a layer gives out for each row: (rows, *shape of the layer).

        Parameters
        ----------
        X : array-like of shape (n, p)
        layer : int
            Which layer, counted from 0.
        """
        rows = check_predict(self, X)
        whole = self._architecture
        if not is_whole(layer, 0) or layer >= len(whole.layers):
            raise ParameterError(
                f"layer is {layer!r}; there are the layers 0 to {len(whole.layers) - 1}"
            )
        shape = whole.parts[layer].shape_out
        some = whole.layers[: layer + 1]
        if all(isinstance(each, Flatten) for each in some):
            return Standard(self._centre, self._unit).apply(rows).reshape(len(rows), *shape)
        front = Architecture(whole.input_shape, some)
        params = self.params_[: front.n_parameters]
        found = network_outputs(front, params, rows, Standard(self._centre, self._unit))
        return found.reshape(len(rows), *shape)


def graph_part(part: Part) -> GraphPart:
    """A layer as the picture of the graph takes it."""
    layer, window = part.layer, None
    if isinstance(layer, Window):
        window = layer.window(part.shape_in)[0]
    kind = (
        "flatten" if isinstance(layer, Flatten) else KINDS.get(getattr(layer, "kind", -1), "each")
    )
    active = layer.activation if isinstance(layer, Activated) else ""
    active = layer.name if isinstance(layer, Activation) else active
    return GraphPart(
        type(layer).__name__,
        part.shape_out,
        n_parameters=part.n_parameters,
        activation=active,
        kind=kind,
        bias=isinstance(layer, Activated) and layer.has_bias,
        window=window,
    )
