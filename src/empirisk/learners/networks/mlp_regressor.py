"""Multi-layer perceptrons for values."""

from typing import Any, Literal

from empirisk.learners.networks.heads import Head, regression_head
from empirisk.learners.networks.initialising import Law
from empirisk.learners.networks.mlp import MLP
from empirisk.learners.networks.mlp_classifier import Solver
from empirisk.learners.networks.supervised import RegressorNetwork


class MLPRegressor(RegressorNetwork, MLP):
    """A feedforward network z^(l) = s(W^(l) z^(l-1) + b^(l)), z^(0) = x, for values: minimise

        1/n sum_i L(y_i, f(x_i)) + alpha / n |weights|^2 / 2,

    L(y, f) = (y - f)^2 / 2 at the default, summed over the columns of y, by back-propagation.

    Complexity axis: `max_iter`, the number of epochs; `Tuned(MLPRegressor())` chooses it.

    Parameters
    ----------
    loss : str or Loss
        "squared_error", "absolute_error", "quantile:Q", or "poisson" for counts, whose mean m is
        the exponential of the output: m - y log m, scikit-learn's loss but for a constant.
    hidden_layer_sizes : int or sequence of int
        The units of each hidden layer.
    activation : str
        s: "relu", "identity", "logistic", "tanh", "leaky_relu" or "gelu".
    solver, alpha, ... : see `MLPClassifier`

    Attributes
    ----------
    params_, coefs_, intercepts_, loss_curve_, validation_scores_, gradient_norms_, n_iter_, \
summary_, layers_, input_shape_, t_, loss_, best_loss_, best_validation_score_, n_layers_, \
n_outputs_, out_activation_, n_features_in_, feature_names_in_
        As of `MLPClassifier`.

    References
    ----------
    D. E. Rumelhart, G. E. Hinton and R. J. Williams (1986), Learning representations by
    back-propagating errors.

    Examples
    --------
    >>> import numpy as np
    >>> x = np.linspace(-1, 1, 200)[:, np.newaxis]
    >>> net = MLPRegressor(hidden_layer_sizes=20, activation="tanh", solver="lbfgs", random_state=0)
    >>> net = net.set_params(n_iter_no_change=None).fit(x, x[:, 0] ** 2)
    >>> bool(abs(net.predict(x) - x[:, 0] ** 2).max() < 0.05)
    True
    """

    def __init__(
        self,
        loss: Any = "squared_error",
        hidden_layer_sizes: Any = (100,),
        activation: str = "relu",
        *,
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
        dropout: float = 0.0,
    ) -> None:
        self.loss = loss
        self.hidden_layer_sizes = hidden_layer_sizes
        self.activation = activation
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
        self.dropout = dropout

    def _head_of(self, loss: Any) -> Head:
        return regression_head(loss)
