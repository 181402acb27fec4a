"""A network after all wanted numbers of epochs, from one training."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.base import clone

from empirisk.compiled.networks import heads
from empirisk.learners.networks.fitting import Record, best_of
from empirisk.learners.networks.prepared import Prepared
from empirisk.learners.networks.rows import network_outputs
from empirisk.losses import Reconstruction
from empirisk.risk.axis import Output, Path
from empirisk.runtime.arrays import Array, Floats
from empirisk.runtime.errors import ParameterError


class NetworkPath(Path):
    """Of several starts the one with the lowest objective after so many epochs is kept."""

    same_as_fit = True

    def __init__(
        self,
        learner: Any,
        data: Prepared,
        records: Sequence[Record],
        epochs: Sequence[int],
    ) -> None:
        self.learner, self.data, self.epochs = learner, data, list(epochs)
        self.records = [best_of(records, each) for each in self.epochs]
        self.params = [
            record.at(each) for record, each in zip(self.records, self.epochs, strict=True)
        ]
        self.n_classes = data.n_classes

    def predict_path(self, X: Array, output: Output) -> Array:
        """(rows, values), or (rows, values, classes or outputs)."""
        raw = np.stack([self._outputs(params, X) for params in self.params], axis=1)
        if output == "reconstruction":
            decoded = raw * self.data.target.unit + self.data.target.centre
            return np.stack([Reconstruction()(X, decoded[:, j]) for j in range(raw.shape[1])], 1)
        if self.n_classes:
            if output == "value":
                return codes(raw)
            if not self.data.head.gives_probabilities:
                raise ParameterError(f"{self.learner.loss!r} gives no probabilities of classes")
            return self.data.head.probabilities(raw)
        values = predictions(raw, self.data.head, self.data.target)
        return values[:, :, 0] if values.shape[2] == 1 else values

    def _outputs(self, params: Array, X: Array) -> Floats:
        if params.dtype == np.float64 and X.dtype != np.float64:
            X = X.astype(np.float64)
        return network_outputs(self.data.architecture, params, X, self.data.rows.standard)

    def at(self, j: int) -> Any:
        """The fitted network after the j-th number of epochs."""
        learner = clone(self.learner).set_params(max_iter=self.epochs[j])
        if self.epochs != [self.learner.max_iter]:
            learner.set_params(**self.learner.settings_along_axis)
        if self.n_classes:
            learner.classes_ = np.arange(self.n_classes)
        learner.n_features_in_ = self.data.architecture.n_inputs
        return self.write(j, learner)

    def write(self, j: int, learner: Any) -> Any:
        """The fitted attributes after the j-th number of epochs."""
        record = self.records[j]
        run = min(self.epochs[j], record.n_iter)
        return write_network(learner, self.data, self.params[j], record, run)


def write_network(learner: Any, data: Prepared, params: Array, record: Record, run: int) -> Any:
    """The fitted attributes of a network after so many epochs of a record."""
    unit, parts = data.loss_unit, data.architecture.parts
    learner.__dict__["_architecture"] = data.architecture
    learner.params_ = params.copy()
    learner.layers_, learner.input_shape_ = data.architecture.layers, data.architecture.input_shape
    learner._centre, learner._unit = data.rows.standard.centre, data.rows.standard.unit
    learner._target_centre, learner._target_unit = data.target.centre, data.target.unit
    learner.loss_curve_ = [loss * unit for loss in record.losses[:run]]
    learner.validation_scores_ = [score * unit for score in record.scores[:run]] or None
    shape = (-1, sum(bool(part.parameters) for part in parts))
    learner.gradient_norms_ = np.array(record.norms[:run], dtype=float).reshape(shape)
    learner.n_iter_, learner.t_ = run, run * record.n_rows
    learner._written()
    return learner


def codes(raw: Floats) -> Array:
    """The class code of the largest output; of one output, 1 where it is above 0."""
    if raw.shape[-1] == 1:
        return (raw[..., 0] > 0).astype(np.int64)
    return raw.argmax(axis=-1)


def predictions(raw: Floats, head: Any, target: Any) -> Floats:
    """Values in the units of y."""
    if head.kind == heads.POISSON:
        return np.exp(np.minimum(raw, heads.MOST)) * target.unit
    return raw * target.unit + target.centre
