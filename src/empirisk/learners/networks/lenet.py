"""LeNet-5, the network that read handwritten digits."""

from typing import Literal

from empirisk.learners.networks.layers import Dense, Flatten, Layer
from empirisk.learners.networks.picture_layers import AveragePool, Conv2d, MaxPool
from empirisk.runtime.errors import ParameterError


def lenet5(
    *, pooling: Literal["max", "average"] = "max", activation: str = "tanh", padding: int = 2
) -> list[Layer]:
    """The hidden layers of LeNet-5 (LeCun et al. 1998), for `NetworkClassifier`.

    Two convolutions, each followed by pooling, and two dense layers; with ten outputs 61,706
    parameters. The second convolution sees all channels of the first.

    Parameters
    ----------
    pooling : {"max", "average"}
        The original took averages; today's networks, and the lecture notes, take the largest.
    activation : str
        The original's is "tanh".
    padding : int
        Zeros around the picture: 2 for 28 x 28 pixels, 0 for 32 x 32.

    Examples
    --------
    >>> from empirisk.learners.networks.architecture import Architecture
    >>> Architecture((1, 28, 28), [*lenet5(), Dense(10, "identity")]).n_parameters
    61706
    """
    if pooling not in ("max", "average"):
        raise ParameterError(f"pooling is {pooling!r}; it must be 'max' or 'average'")
    pool = MaxPool(2) if pooling == "max" else AveragePool(2)
    return [
        Conv2d(6, 5, padding=padding, activation=activation),
        pool,
        Conv2d(16, 5, activation=activation),
        pool,
        Flatten(),
        Dense(120, activation),
        Dense(84, activation),
    ]
