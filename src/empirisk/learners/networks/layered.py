"""Networks of any layers: what the classifier and the regressor share."""

from typing import Any, Literal

from empirisk.learners.networks.architecture import checked_layers, checked_shape
from empirisk.learners.networks.initialising import Law
from empirisk.learners.networks.layers import Dense, Layer, Shape
from empirisk.learners.networks.mlp_classifier import Solver
from empirisk.learners.networks.network import Network
from empirisk.learners.networks.standardising import How

HIDDEN = (Dense(100),)


class Layered(Network):
    """The layers given, and a dense one behind them for the outputs."""

    def __init__(
        self,
        layers: Any = HIDDEN,
        *,
        input_shape: Any = None,
        loss: Any = "auto",
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
        self.layers = layers
        self.input_shape = input_shape
        self.loss = loss
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

    def _layers(self, n_outputs: int) -> list[Layer]:
        return [*checked_layers(self.layers), Dense(n_outputs, "identity")]

    def _shape(self, n_features: int) -> Shape:
        return checked_shape(self.input_shape, n_features)

    def _how(self) -> How:
        """The places of a picture share one centre and one unit."""
        if not self.standardize:
            return "none"
        return "each" if self.input_shape is None else "picture"
