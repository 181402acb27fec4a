"""Multi-layer perceptrons for classes."""

from typing import Any, Literal

from empirisk.learners.networks.heads import Head, classification_head
from empirisk.learners.networks.initialising import Law
from empirisk.learners.networks.mlp import MLP
from empirisk.learners.networks.supervised import ClassifierNetwork

Solver = Literal["adam", "sgd", "lbfgs"]


class MLPClassifier(ClassifierNetwork, MLP):
    """A feedforward network z^(l) = s(W^(l) z^(l-1) + b^(l)), z^(0) = x, for classes: minimise

        1/n sum_i -log p(y_i | x_i) + alpha / n |weights|^2 / 2,

    p the sigmoid of the last layer's output for two classes, the softmax of its outputs for more,
    by back-propagation (Rumelhart, Hinton & Williams 1986). Where y is a matrix of 0 and 1, with a
    column for each label that a row may have, each column is told by the sigmoid of an output of
    its own, and their losses are added.

    Complexity axis: `max_iter`, the number of epochs; `Tuned(MLPClassifier())` chooses it.

    Parameters
    ----------
    hidden_layer_sizes : int or sequence of int
        The units of each hidden layer.
    activation : str
        s: "relu", "identity", "logistic", "tanh", "leaky_relu" or "gelu".
    solver : {"adam", "sgd", "lbfgs"}
        Adam; gradient descent with momentum; L-BFGS over all rows, for small data.
    alpha : float
        Of the penalty on the weights (not on biases), divided by the number of rows, or the sum
        of their weights.
    batch_size : int or "auto"
        Rows of a minibatch; "auto" is min(200, n).
    learning_rate : {"constant", "invscaling", "adaptive"} or solvers.Decaying
        Of "sgd": constant; learning_rate_init / (rows seen)^power_t; a fifth of itself whenever
        the loss no longer falls. `Decaying(eta, t0, a)`, also of "adam", gives step t the length
        eta / (1 + t / t0)^a.
    learning_rate_init : float
    power_t : float
    max_iter : int
        Epochs, that is passes over all rows (iterations, of "lbfgs"): the complexity axis.
    shuffle : bool
        Take the rows in a new order in each epoch.
    random_state : int, RandomState or None
        Of the start, the orders, dropout, and the rows set aside.
    tol, n_iter_no_change : float, int or None
        Training ends when more than so many epochs in a row do not lower the loss (with early
        stopping, that of held-out rows) by `tol`; None: after all epochs. In the standard units
        of training. "lbfgs" ends where no derivative is larger than `tol`, or a step gains less
        than 2e-5 `tol` of the loss (2e-9 at most).
    verbose : bool
        Print the loss of each epoch. A progress bar shows it anyway, in a terminal.
    warm_start : bool
        Begin with the parameters that there are, in the units in which they were learned; losses,
        scores and `t_` are counted on, `n_iter_` is that of the last fit.
    momentum, nesterovs_momentum : float, bool
        Of "sgd".
    early_stopping : bool
        Set `validation_fraction` of the rows aside, and go back in the end to the epoch in which
        their loss was least. Off while `Tuned`.
    validation_fraction : float
    beta_1, beta_2, epsilon : float
        Of "adam".
    max_fun : int
        The most evaluations of "lbfgs".
    l1_ratio : float
        The penalty is alpha / n ((1 - l1_ratio) |weights|^2 / 2 + l1_ratio |weights|_1).
    max_grad_norm : float, optional
        Gradients longer than this are shortened to it.
    initialization : {"glorot", "he"}
        The law of the random start.
    n_starts : int
        Of so many starts the one with the lowest loss is kept.
    standardize : bool
        Train in standard units of X and y, so that predictions do not depend on their units.
    dtype : {"auto", "float32", "float64"}
        In which to compute; "auto" is float32 where X is so.
    n_jobs : int, optional
        Threads; the result has the same bits for any number.
    dropout : float
        While training, each hidden unit is left out with this probability.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
        The labels; the numbers of the columns where y is a matrix.
    params_ : array
        All weights and biases, in the standard units of training.
    coefs_, intercepts_ : lists of arrays
        The same in the units of X, as in scikit-learn.
    loss_curve_ : list of float
        The mean loss of each epoch.
    validation_scores_ : list of float or None
        With early stopping: minus the loss of the rows set aside, after each epoch.
    gradient_norms_ : array of shape (epochs, layers)
        The length of each layer's gradient in the last batch of an epoch.
    n_iter_, t_ : int
        Epochs, and rows seen.
    summary_ : str
        The layers, their shapes and parameters.
    layers_ : list of layers
        With the one of the outputs; `input_shape_` is the shape of what goes in.
    loss_, best_loss_, best_validation_score_, n_layers_, n_outputs_, out_activation_
        As in scikit-learn.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Notes
    -----
    What differs from scikit-learn: inputs are standardised, early stopping goes by the loss of the
    rows set aside, and the penalty of a minibatch is that of all rows, alpha / n, where
    scikit-learn divides alpha by the rows of the batch. A training whose loss is no longer finite
    ends in a `DivergenceError`, with early stopping, too. Rows come in random batches, so a row of
    weight w and w copies of it are alike in distribution only; with "lbfgs" they are the same.
    `Tuned` and the estimates of risk take one label for each row, and no matrix of labels.

    References
    ----------
    D. E. Rumelhart, G. E. Hinton and R. J. Williams (1986), Learning representations by
    back-propagating errors.
    D. P. Kingma and J. Ba (2015), Adam: a method for stochastic optimization.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> net = MLPClassifier((10,), solver="lbfgs", alpha=0.1, max_iter=50, random_state=0)
    >>> net = net.set_params(n_iter_no_change=None).fit(X, y)
    >>> net.score(X, y) > 0.95
    True
    >>> print(net.summary_)
    input                                              (4,)
    Dense(units=10, activation='relu', bias=True)      (10,)    50 parameters
    Dense(units=3, activation='identity', bias=True)   (3,)     33 parameters
    83 parameters
    """

    def __init__(
        self,
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
        return classification_head("log_loss")
