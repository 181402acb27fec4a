"""What all networks share: training, epochs as the complexity axis, going on, saving."""

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any, ClassVar, Literal

import numpy as np
from sklearn.base import BaseEstimator

from empirisk.learners.ensembles.boosting.number_of_rounds import checked_rounds, rounds_grid
from empirisk.learners.networks.architecture import Architecture
from empirisk.learners.networks.drawing import NetworkPictures
from empirisk.learners.networks.fitting import Fit, Record
from empirisk.learners.networks.going_on import units_so_far
from empirisk.learners.networks.heads import Head
from empirisk.learners.networks.layers import Layer, Shape
from empirisk.learners.networks.network_path import NetworkPath
from empirisk.learners.networks.network_soundness import check_network
from empirisk.learners.networks.prepared import Prepared, prepared
from empirisk.learners.networks.rows import network_outputs
from empirisk.learners.networks.settings import Settings, checked_settings
from empirisk.learners.networks.standardising import How, Standard
from empirisk.learners.networks.stopping import set_aside
from empirisk.learners.soundness import has_state
from empirisk.risk.axis import Axis, PathMixin
from empirisk.runtime.arrays import Array, Floats
from empirisk.runtime.conversion import numbers
from empirisk.runtime.errors import ParameterError
from empirisk.runtime.streams import spawn
from empirisk.runtime.validation import check_predict

MOST_KEPT = 2**26
"""Numbers in the parameters that a path keeps, about: of a large network there are fewer values."""


class Network(NetworkPictures, PathMixin, BaseEstimator):
    """A feedforward network: layer after layer, trained by back-propagation."""

    axis: ClassVar[Axis | None] = Axis(("max_iter",), larger="richer", scale="integer")
    feature_scaling: ClassVar[Literal["each", "common"] | None] = "each"
    settings_along_axis: ClassVar[dict[str, Any]] = {
        "early_stopping": False,
        "n_iter_no_change": None,
    }

    max_iter: int
    standardize: bool
    dtype: str
    solver: str
    warm_start: bool
    random_state: Any
    verbose: bool
    n_jobs: int | None
    params_: Array
    layers_: list[Layer]
    input_shape_: Shape
    n_features_in_: int
    n_iter_: int
    t_: int
    loss_curve_: list[float]
    validation_scores_: list[float] | None
    gradient_norms_: Floats

    def design(self, X: Any) -> Array:
        """X as an array of float64, or of float32 where it is so."""
        return numbers(X, self, keep_single=True)

    def axis_values(self, X: Any, y: Any, sample_weight: Floats, *, n_train: int) -> Sequence[int]:
        """Numbers of epochs from 1 to `max_iter`: at most 100, fewer of a large network."""
        epochs = rounds_grid(checked_rounds(self.max_iter, "max_iter"))
        n_classes = int(np.max(y)) + 1 if self._is_classifier() else 0
        size = self._prepared(X, y, sample_weight, n_classes).architecture.n_parameters
        most = max(5, MOST_KEPT // max(size, 1))
        return epochs if len(epochs) <= most else epochs[:: -(-len(epochs) // most)]

    def fit_path(
        self, X: Any, y: Any, sample_weight: Floats, values: Sequence[Any], *, n_classes: int
    ) -> NetworkPath:
        """All numbers of epochs from one training to the largest of them.

        Training does not stop early, unless the only value is that of the parameter: then this is
        `fit`.
        """
        settings = checked_settings(self)
        epochs = [checked_rounds(value, "max_iter") for value in values]
        if epochs != [self.max_iter]:
            settings = without_stopping(settings)
        data = self._prepared(self.design(X), y, sample_weight, n_classes)
        records = self._trained(data, settings, epochs, spawn(self.random_state, 1)[0])
        return NetworkPath(self, data, records, epochs)

    def refuse_another(self, architecture: Architecture) -> None:
        """Raise a ParameterError unless the fitted network has this architecture."""
        if architecture.n_parameters != len(self.params_) or (
            architecture.layers != self.layers_ or architecture.input_shape != self.input_shape_
        ):
            raise ParameterError(
                "the network that there is has other layers than the parameters, or the data, ask "
                "for: it cannot be gone on from; fit anew with warm_start=False"
            )

    @property
    def loss_(self) -> float:
        """The training loss in the last epoch."""
        return self.loss_curve_[-1]

    @property
    def best_loss_(self) -> float | None:
        """The least training loss of an epoch; None with early stopping, as in scikit-learn."""
        return min(self.loss_curve_) if self.validation_scores_ is None else None

    @property
    def best_validation_score_(self) -> float | None:
        """The best score of held-out rows, minus their loss, to which the network went back."""
        if self.validation_scores_ is None:
            return None
        return max(self.validation_scores_[-self.n_iter_ :])  # of the last fit

    @property
    def n_layers_(self) -> int:
        """Layers, the input counted."""
        return len(self.layers_) + 1

    @property
    def n_outputs_(self) -> int:
        """Numbers that the last layer gives out."""
        return self._architecture.n_outputs

    @property
    def summary_(self) -> str:
        """The layers, the shapes of what they give out, and how many parameters they have."""
        return str(self._architecture)

    def check_loaded(self) -> None:
        """Raise a DataError unless what a file has of a fitted network belongs together."""
        if has_state(self):
            check_network(self)

    @abstractmethod
    def _layers(self, n_outputs: int) -> list[Layer]:
        """All layers, the last one included."""

    @abstractmethod
    def _head(self, *, fitted: bool = False) -> Head:
        """The loss that the parameters mean, or meant when the network was trained."""

    def _shape(self, n_features: int) -> Shape:
        """Of a row."""
        return (n_features,)

    def _how(self) -> How:
        """How inputs are brought to standard units."""
        return "each" if self.standardize else "none"

    def _prepared(self, X: Array, y: Any, weight: Floats, n_classes: int) -> Prepared:
        """Rows in standard units, at a warm start in those that there are, and the network."""
        before = units_so_far(self) if self.warm_start else None
        return prepared(self, X, y, weight, n_classes, self._dtype(X), before=before)

    def _dtype(self, X: Array) -> Any:
        single = self.dtype == "float32" or (self.dtype == "auto" and X.dtype == np.float32)
        return np.float32 if single and self.solver != "lbfgs" else np.float64

    def _trained(
        self, data: Prepared, settings: Settings, epochs: Sequence[int], seed: int
    ) -> list[Record]:
        """A record for each start; a warm start is one, from what there is."""
        rows, judged = data.rows, None
        start_seed, split_seed = spawn(seed, 2)
        if settings.early_stopping:
            train, held_out = set_aside(rows.targets(), settings, data.n_classes, split_seed)
            rows, judged = rows.some(train), rows.some(held_out)
        fit = Fit(
            data.architecture, rows, judged, data.head, settings, data.dtype, self.n_jobs,
            bool(self.verbose),
        )  # fmt: skip
        if self.warm_start and hasattr(self, "params_"):
            self.refuse_another(data.architecture)
            return [fit.train(self.params_.astype(float), epochs, start_seed)]
        return fit.from_starts(epochs, start_seed)

    @cached_property
    def _architecture(self) -> Architecture:
        return Architecture(self.input_shape_, self.layers_)

    def _rows(self, X: Any) -> Array:
        """X, checked, in single precision only where the network is so too."""
        rows = check_predict(self, X, keep_single=True)
        return rows if self.params_.dtype == np.float32 else rows.astype(np.float64, copy=False)

    def _outputs(self, X: Any) -> Floats:
        """What the last layer gives out, (rows, outputs), in standard units."""
        X = self._rows(X)
        standard = Standard(self._centre, self._unit)
        return network_outputs(self._architecture, self.params_, X, standard, n_jobs=self.n_jobs)

    def _is_classifier(self) -> bool:
        return False

    def _written(self) -> None:
        """Called when the fitted attributes are new."""


def without_stopping(settings: Settings) -> Settings:
    """The same, for all epochs."""
    return replace(settings, early_stopping=False, n_iter_no_change=None)
