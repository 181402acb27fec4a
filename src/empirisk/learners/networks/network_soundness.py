"""Whether what was read from a file is a network: no loop may leave its arrays."""

from typing import Any

import numpy as np

from empirisk.learners.networks.architecture import Architecture
from empirisk.learners.networks.layers import Layer
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
    except ParameterError as error:
        raise DataError(f"layers_ do not fit together: {error}") from error
    if architecture.n_inputs != model.n_features_in_:
        raise DataError(f"input_shape_ is {shape}, and there are {model.n_features_in_} columns")
    params = getattr(model, "params_", None)
    if not isinstance(params, np.ndarray) or params.dtype not in (np.float32, np.float64):
        raise DataError("params_ are not an array of numbers")
    if params.shape != (architecture.n_parameters,) or not np.isfinite(params).all():
        raise DataError(f"params_ are not {architecture.n_parameters} finite numbers")
    outputs = architecture.n_outputs
    _check_classes(model, outputs)
    n_targets = 1 if hasattr(model, "classes_") else len(getattr(model, "_target_unit", ()))
    for name, size in (("_centre", architecture.n_inputs), ("_unit", architecture.n_inputs),
                       ("_target_centre", n_targets), ("_target_unit", n_targets)):  # fmt: skip
        _check_numbers(name, getattr(model, name, None), size)
    if (model._unit <= 0).any() or (model._target_unit <= 0).any():
        raise DataError("_unit and _target_unit are not above 0")


def _check_classes(model: Any, outputs: int) -> None:
    if not hasattr(model, "classes_"):
        return
    wanted = 2 if outputs == 1 else outputs
    if not isinstance(model.classes_, np.ndarray) or model.classes_.shape != (wanted,):
        raise DataError(f"classes_ are not an array of {wanted} labels")


def _check_numbers(name: str, numbers: Any, size: int) -> None:
    fine = isinstance(numbers, np.ndarray) and numbers.dtype == np.float64
    if not fine or numbers.shape != (size,) or not np.isfinite(numbers).all():
        raise DataError(f"{name} is not an array of {size} finite numbers")
