"""Networks of any layers, for classes."""

from typing import Any

from empirisk.learners.networks.heads import Head, classification_head
from empirisk.learners.networks.layered import Layered
from empirisk.learners.networks.supervised import ClassifierNetwork


class NetworkClassifier(ClassifierNetwork, Layered):
    """A network of the layers given, for classes: minimise

        1/n sum_i L(y_i, f(x_i)) + alpha / n |weights|^2 / 2,

    L the log loss of the softmax of the outputs (of the sigmoid, for two classes), or any margin
    loss phi(y f), each class against the rest, by back-propagation.

    Complexity axis: `max_iter`, the number of epochs; `Tuned(NetworkClassifier(...))` chooses it.

    Parameters
    ----------
    layers : list of layers
        The hidden ones: `Dense`, `Bottleneck`, `Conv1d`, `Conv2d`, `MaxPool`, `AveragePool`,
        `Flatten`, `Dropout`, `Activation`. A dense layer for the outputs follows them.
    input_shape : tuple of int, optional
        (channels, length) or (channels, height, width) of a row of X, whose columns are channel by
        channel, row by row; None is a vector. Places of a picture are standardised together.
    loss : str or MarginLoss
        "log_loss" ("auto"), "hinge", "squared_hinge", "logit", "exponential", "square",
        "perceptron", or a `MarginLoss` of your own, which is slower.
    solver, alpha, ... : see `MLPClassifier`

    Attributes
    ----------
    classes_, params_, loss_curve_, validation_scores_, gradient_norms_, n_iter_, summary_, \
layers_, input_shape_, t_, loss_, best_loss_, best_validation_score_, n_layers_, n_outputs_, \
out_activation_, n_features_in_, feature_names_in_
        As of `MLPClassifier`.

    References
    ----------
    Y. LeCun, L. Bottou, Y. Bengio and P. Haffner (1998), Gradient-based learning applied to
    document recognition.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from empirisk import Conv2d, Dense, Flatten, MaxPool
    >>> X, y = load_digits(return_X_y=True)
    >>> layers = [Conv2d(8, 3), MaxPool(2), Flatten(), Dense(32)]
    >>> net = NetworkClassifier(layers, input_shape=(1, 8, 8), batch_size=32)
    >>> net = net.set_params(max_iter=20, n_iter_no_change=None, random_state=0).fit(X[::2], y[::2])
    >>> net.score(X[1::2], y[1::2]) > 0.9
    True
    """

    def _head_of(self, loss: Any) -> Head:
        automatic = isinstance(loss, str) and loss == "auto"
        return classification_head("log_loss" if automatic else loss)
