"""Whether what was read from a file is a network: no loop may leave its arrays."""

from math import prod
from typing import Any

import numpy as np

from empirisk.learners.networks.architecture import Architecture
from empirisk.learners.networks.layers import Layer
from empirisk.learners.soundness import check_numbers, is_floats
from empirisk.runtime.errors import DataError, ParameterError

MOST_NUMBERS = 2**32  # in a layer: no model has more, and their product would overflow


def check_network(model: Any) -> None:
    """Raise a DataError unless the parts of a fitted network belong together."""
    layers, shape = getattr(model, "layers_", None), getattr(model, "input_shape_", ())
    if not isinstance(layers, list) or not all(isinstance(layer, Layer) for layer in layers):
        raise DataError("layers_ are not a list of layers")
    whole = isinstance(shape, tuple) and 1 <= len(shape) <= 3
    if not whole or not all(type(side) is int and 0 < side < MOST_NUMBERS for side in shape):
        raise DataError(f"input_shape_ is {shape!r:.50}, and no shape")
    try:
        architecture = Architecture(shape, layers)
    except (ParameterError, OverflowError) as error:
        raise DataError(f"layers_ do not fit together: {error}") from error
    if any(prod(part.shape_out) >= MOST_NUMBERS for part in architecture.parts):
        raise DataError("layers_ give out more numbers than any model")
    if architecture.n_inputs != model.n_features_in_:
        raise DataError(f"input_shape_ is {shape}, and there are {model.n_features_in_} columns")
    params = getattr(model, "params_", None)
    if not isinstance(params, np.ndarray) or params.dtype not in (np.float32, np.float64):
        raise DataError("params_ are not an array of numbers")
    if params.shape != (architecture.n_parameters,) or not np.isfinite(params).all():
        raise DataError(f"params_ are not {architecture.n_parameters} finite numbers")
    outputs = architecture.n_outputs
    _check_classes(model, outputs)
    n_targets = 1 if hasattr(model, "classes_") else outputs
    for name, size in (("_centre", architecture.n_inputs), ("_unit", architecture.n_inputs),
                       ("_target_centre", n_targets), ("_target_unit", n_targets)):  # fmt: skip
        check_numbers(name, getattr(model, name, None), (size,))
    if (model._unit <= 0).any() or (model._target_unit <= 0).any():
        raise DataError("_unit and _target_unit are not above 0")
    _check_history(model)
    if hasattr(model, "_optimizer"):
        _check_optimizer(model, model._optimizer)


def _check_history(model: Any) -> None:
    """What further training counts on from."""
    for name in ("n_iter_", "t_"):
        if not _is_count(getattr(model, name, None)):
            raise DataError(f"{name} is no number of epochs or rows")
    for name in ("loss_curve_", "validation_scores_"):
        numbers = getattr(model, name, None)
        if numbers is None and name == "validation_scores_":
            continue
        if not isinstance(numbers, list) or not all(type(each) is float for each in numbers):
            raise DataError(f"{name} is not a list of numbers")
    norms: Any = getattr(model, "gradient_norms_", None)
    layers = sum(bool(part.parameters) for part in model._architecture.parts)
    if not is_floats(norms, (None, layers)):
        raise DataError(f"gradient_norms_ is not an array of {layers} columns")


def _check_optimizer(model: Any, state: Any) -> None:
    """The momenta of `partial_fit` are as long as the parameters: compiled loops go along both."""
    keys = {"moment", "square", "rate", "t", "seen"}
    if not isinstance(state, dict) or set(state) != keys:
        raise DataError("_optimizer is no state of training")
    for name in ("moment", "square"):
        array, params = state[name], model.params_
        fine = isinstance(array, np.ndarray) and array.dtype == params.dtype
        if not fine or array.shape != params.shape or not np.isfinite(array).all():
            raise DataError(f"_optimizer has no {name} of {len(params)} finite numbers")
    if (state["square"] < 0).any():
        raise DataError("_optimizer has squares below 0")
    for name in ("rate", "seen"):
        if type(state[name]) is not float or not 0 <= state[name] < np.inf:
            raise DataError(f"_optimizer has no number {name}")
    if not _is_count(state["t"]):
        raise DataError("_optimizer counts no steps")
    if not _is_count(getattr(model, "_seed", None), 2**64):
        raise DataError("_seed is no seed")


def _is_count(value: Any, most: int = 2**62) -> bool:
    return type(value) is int and 0 <= value < most


def _check_classes(model: Any, outputs: int) -> None:
    if not hasattr(model, "classes_"):
        return
    if type(getattr(model, "_has_labels", False)) is not bool:
        raise DataError("_has_labels is neither True nor False")
    wanted = 2 if outputs == 1 else outputs
    if not isinstance(model.classes_, np.ndarray) or model.classes_.shape != (wanted,):
        raise DataError(f"classes_ are not an array of {wanted} labels")
