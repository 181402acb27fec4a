"""Networks of any layers, for values."""

from typing import Any

from empirisk.learners.networks.heads import Head, regression_head
from empirisk.learners.networks.layered import Layered
from empirisk.learners.networks.supervised import RegressorNetwork


class NetworkRegressor(RegressorNetwork, Layered):
    """A network of the layers given, for values: minimise

        1/n sum_i L(y_i, f(x_i)) + alpha / n |weights|^2 / 2,

    L(y, f) = (y - f)^2 / 2 at the default, by back-propagation.

    Complexity axis: `max_iter`, the number of epochs; `Tuned(NetworkRegressor(...))` chooses it.

    Parameters
    ----------
    layers : list of layers
        The hidden ones: `Dense`, `Bottleneck`, `Conv1d`, `Conv2d`, `MaxPool`, `AveragePool`,
        `Flatten`, `Dropout`, `Activation`. A dense layer for the outputs follows them.
    input_shape : tuple of int, optional
        (channels, length) or (channels, height, width) of a row of X, whose columns are channel by
        channel, row by row; None is a vector. Places of a picture are standardised together.
    loss : str or Loss
        "squared_error" ("auto"), "absolute_error", "quantile:Q" or "poisson", as of
        `MLPRegressor`.
    solver, alpha, ... : see `MLPClassifier`

    Attributes
    ----------
    params_, loss_curve_, validation_scores_, gradient_norms_, n_iter_, summary_, layers_, \
input_shape_, t_, loss_, best_loss_, best_validation_score_, n_layers_, n_outputs_, \
out_activation_, n_features_in_, feature_names_in_
        As of `MLPClassifier`.

    References
    ----------
    I. Goodfellow, Y. Bengio and A. Courville (2016), Deep learning.

    Examples
    --------
    >>> import numpy as np
    >>> from empirisk import Bottleneck, Dense
    >>> X = np.random.default_rng(0).normal(size=(200, 6))
    >>> net = NetworkRegressor([Bottleneck(1), Dense(20, "tanh")], solver="lbfgs", random_state=0)
    >>> net = net.set_params(n_iter_no_change=None).fit(X, np.sin(X[:, 0] + X[:, 1]))
    >>> net.score(X, np.sin(X[:, 0] + X[:, 1])) > 0.99
    True
    """

    def _head_of(self, loss: Any) -> Head:
        automatic = isinstance(loss, str) and loss == "auto"
        return regression_head("squared_error" if automatic else loss)
