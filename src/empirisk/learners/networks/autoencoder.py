"""Autoencoders: networks that find their own inputs again, through a narrow place."""

from collections.abc import Sequence
from functools import cached_property
from typing import Any, ClassVar, Literal, Self

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from empirisk.compiled.networks.heads import SQUARED
from empirisk.learners.networks.architecture import Architecture, checked_layers
from empirisk.learners.networks.going_on import Past
from empirisk.learners.networks.heads import Head
from empirisk.learners.networks.initialising import Law
from empirisk.learners.networks.layers import (
    Dense,
    Layer,
    activation_code,
    check_count,
)
from empirisk.learners.networks.mlp import checked_sizes
from empirisk.learners.networks.mlp_classifier import Solver
from empirisk.learners.networks.network import Network
from empirisk.learners.networks.picture_layers import Window
from empirisk.learners.networks.rows import network_outputs
from empirisk.learners.networks.standardising import How, Standard
from empirisk.learners.networks.stopping import warn_if_cut_short
from empirisk.learners.unsupervised.encoder_decoder import EncoderDecoderMixin
from empirisk.runtime.arrays import Floats
from empirisk.runtime.conversion import numbers
from empirisk.runtime.errors import DataError, ParameterError
from empirisk.runtime.validation import check_rows


class Autoencoder(EncoderDecoderMixin, ClassNamePrefixFeaturesOutMixin, TransformerMixin, Network):
    """Encode rows by K numbers and decode these, both by networks: minimise

        1/n sum_i |x_i - g(e(x_i))|^2 / 2 + alpha / n |weights|^2 / 2

    over the weights of an encoder e, dense layers with an activation and a linear one of K units,
    and of a decoder g, the same layers backwards. Without hidden layers both are affine, and the
    best pair spans the K first principal axes (Bourlard & Kamp 1988; Baldi & Hornik 1989).

    Complexity axis: `max_iter`, the number of epochs; `Tuned(Autoencoder())` chooses it.

    Parameters
    ----------
    n_components : int
        K.
    hidden_layer_sizes : int or sequence of int
        Units of the hidden layers of the encoder, from the rows to the code; () for none.
    activation : str
        Of the hidden layers.
    encoder, decoder : lists of layers, optional
        In place of the hidden layers: those of the encoder before its linear layer of K units, and
        those of the decoder before its linear layer of as many outputs as X has columns.
    solver, alpha, ... : see `MLPClassifier`
        `standardize` gives the columns one common unit, so that the risk stays that of the rows as
        they are.

    Attributes
    ----------
    params_, loss_curve_, validation_scores_, gradient_norms_, n_iter_, summary_, layers_, \
input_shape_, t_, loss_, best_loss_, best_validation_score_, n_layers_, n_outputs_, \
n_features_in_, feature_names_in_
        As of `MLPClassifier`.

    References
    ----------
    H. Bourlard and Y. Kamp (1988), Auto-association by multilayer perceptrons and singular value
    decomposition.
    P. Baldi and K. Hornik (1989), Neural networks and principal component analysis: learning from
    examples without local minima.

    Examples
    --------
    >>> import numpy as np
    >>> turn = np.random.default_rng(0).uniform(0, np.pi, 300)
    >>> X = np.column_stack([np.cos(turn), np.sin(turn)])
    >>> net = Autoencoder(1, hidden_layer_sizes=16, solver="lbfgs", random_state=0)
    >>> net = net.set_params(n_iter_no_change=None).fit(X)
    >>> net.encode(X).shape, bool(net.losses_of_rows(X).mean() < 0.01)
    ((300, 1), True)
    """

    feature_scaling: ClassVar[Literal["each", "common"] | None] = "common"

    def __init__(
        self,
        n_components: int = 2,
        *,
        hidden_layer_sizes: Any = (),
        activation: str = "tanh",
        encoder: Any = None,
        decoder: Any = None,
        solver: Solver = "adam",
        alpha: float = 0.0001,
        batch_size: int | Literal["auto"] = "auto",
        learning_rate: Any = "constant",
        learning_rate_init: float = 0.001,
        power_t: float = 0.5,
        max_iter: int = 200,
        shuffle: bool = True,
        random_state: Any = None,
        tol: float = 1e-4,
        verbose: bool = False,
        warm_start: bool = False,
        momentum: float = 0.9,
        nesterovs_momentum: bool = True,
        early_stopping: bool = False,
        validation_fraction: float = 0.1,
        beta_1: float = 0.9,
        beta_2: float = 0.999,
        epsilon: float = 1e-8,
        n_iter_no_change: int | None = 10,
        max_fun: int = 15000,
        l1_ratio: float = 0.0,
        max_grad_norm: float | None = None,
        initialization: Law = "glorot",
        n_starts: int = 1,
        standardize: bool = True,
        dtype: Literal["auto", "float32", "float64"] = "auto",
        n_jobs: int | None = None,
    ) -> None:
        self.n_components = n_components
        self.hidden_layer_sizes = hidden_layer_sizes
        self.activation = activation
        self.encoder = encoder
        self.decoder = decoder
        self.solver = solver
        self.alpha = alpha
        self.batch_size = batch_size
        self.learning_rate = learning_rate
        self.learning_rate_init = learning_rate_init
        self.power_t = power_t
        self.max_iter = max_iter
        self.shuffle = shuffle
        self.random_state = random_state
        self.tol = tol
        self.verbose = verbose
        self.warm_start = warm_start
        self.momentum = momentum
        self.nesterovs_momentum = nesterovs_momentum
        self.early_stopping = early_stopping
        self.validation_fraction = validation_fraction
        self.beta_1 = beta_1
        self.beta_2 = beta_2
        self.epsilon = epsilon
        self.n_iter_no_change = n_iter_no_change
        self.max_fun = max_fun
        self.l1_ratio = l1_ratio
        self.max_grad_norm = max_grad_norm
        self.initialization = initialization
        self.n_starts = n_starts
        self.standardize = standardize
        self.dtype = dtype
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Train on rows in memory.

        Parameters
        ----------
        X : array-like of shape (n, p)
        y : ignored
        sample_weight : array-like of shape (n,), optional
        """
        rows, weight = check_rows(self, X, sample_weight, keep_single=True)
        past, path = Past.of(self), self.fit_path(rows, None, weight, [self.max_iter])
        path.write(0, self)
        if past is not None:
            past.precede(self)
        warn_if_cut_short(self, path.records[0].ending)
        return self

    def fit_path(
        self, X: Any, y: Any, sample_weight: Floats, values: Sequence[Any], *, n_classes: int = 0
    ) -> Any:
        """All numbers of epochs from one training to the largest of them."""
        return super().fit_path(X, None, sample_weight, values, n_classes=0)

    def encode(self, X: Any) -> Floats:
        """The code of each row, (m, n_components)."""
        rows = self._rows(X)
        encoder, _ = self._halves
        return network_outputs(
            encoder, self.params_[: encoder.n_parameters], rows,
            Standard(self._centre, self._unit), n_jobs=self.n_jobs,
        )  # fmt: skip

    def decode(self, code: Any) -> Floats:
        """The row that each code stands for."""
        check_is_fitted(self)
        encoder, decoder = self._halves
        given = numbers(code, self)
        if given.shape[1] != encoder.n_outputs:
            raise DataError(
                f"codes have {given.shape[1]} numbers; this Autoencoder has {encoder.n_outputs}"
            )
        K = encoder.n_outputs
        params = self.params_[encoder.n_parameters :]
        plain = Standard(np.zeros(K), np.ones(K))
        raw = network_outputs(decoder, params, given, plain, n_jobs=self.n_jobs)
        return raw * self._target_unit + self._target_centre

    def transform(self, X: Any) -> Floats:
        """`encode`, as scikit-learn calls it."""
        return self.encode(X)

    def inverse_transform(self, X: Any) -> Floats:
        """`decode`, as scikit-learn calls it."""
        return self.decode(X)

    def check_loaded(self) -> None:
        """Also whether encoder and decoder are where the file says."""
        super().check_loaded()
        if not hasattr(self, "params_"):
            return
        cut = getattr(self, "_n_encoding", None)
        if type(cut) is not int or not 0 < cut < len(self.layers_):
            raise DataError(f"_n_encoding is {cut!r:.50}; there are {len(self.layers_)} layers")
        if self._architecture.n_outputs != self._architecture.n_inputs:
            raise DataError("layers_ do not give out as many numbers as they take in")

    @cached_property
    def _halves(self) -> tuple[Architecture, Architecture]:
        """The encoder and the decoder of the fitted network."""
        cut = self._n_encoding
        encoder = Architecture(self.input_shape_, self.layers_[:cut])
        return encoder, Architecture(encoder.output_shape, self.layers_[cut:])

    @property
    def _n_features_out(self) -> int:
        return self._halves[0].n_outputs

    def _layers(self, n_outputs: int) -> list[Layer]:
        check_count("n_components", self.n_components, "Autoencoder")
        activation_code(self.activation)  # also where no layer has it
        sizes = checked_sizes(self.hidden_layer_sizes)
        behind: list[Layer] = [Dense(units, self.activation) for units in reversed(sizes)]
        if self.decoder is not None:
            behind = _without_windows("decoder", self.decoder)
        code = Dense(int(self.n_components), "identity")
        return [*self._before_code(), code, *behind, Dense(n_outputs, "identity")]

    def _before_code(self) -> list[Layer]:
        """The layers of the encoder but for its last one."""
        if self.encoder is not None:
            return _without_windows("encoder", self.encoder)
        return [Dense(units, self.activation) for units in checked_sizes(self.hidden_layer_sizes)]

    def _written(self) -> None:
        self._n_encoding = len(self._before_code()) + 1
        self.__dict__.pop("_halves", None)
        assert self._halves  # found once: encoding changes nothing

    def _how(self) -> How:
        return "common" if self.standardize else "none"

    def _head(self, *, fitted: bool = False) -> Head:
        return Head(SQUARED)


def _without_windows(name: str, layers: Any) -> list[Layer]:
    """The layers that a user gave, of which none moves a window: rows are vectors here."""
    found = checked_layers(layers, name)
    for layer in found:
        if isinstance(layer, Window):
            raise ParameterError(
                f"{name} has {layer}, and rows of an Autoencoder are no pictures: give layers such "
                "as Dense, Bottleneck, Dropout or Activation"
            )
    return found
