"""Where training starts: weights drawn at random, so wide that signals keep their size.

Glorot & Bengio (2010): uniform within ±sqrt(6 / (inputs + outputs)), biases too, with 2 for 6
before the logistic function and in the linear layer behind it, as in scikit-learn. He et al.
(2015), for rectifiers: uniform within ±sqrt(6 / inputs), biases 0.
"""

from math import prod
from typing import Literal

import numpy as np

from empirisk.learners.networks.architecture import Architecture
from empirisk.learners.networks.layers import Activated
from empirisk.runtime.arrays import Floats
from empirisk.runtime.streams import generator

Law = Literal["glorot", "he"]


def random_start(architecture: Architecture, law: Law, seed: int) -> Floats:
    """A vector of all parameters.

    Examples
    --------
    >>> from empirisk.learners.networks.layers import Dense
    >>> random_start(Architecture((3,), [Dense(3)]), "glorot", 0).shape
    (12,)
    """
    draw, params, sigmoid = generator(seed), np.zeros(architecture.n_parameters), False
    for part in architecture.parts:
        if not part.parameters:
            continue
        (place, shape), *bias = part.parameters
        inputs, outputs = prod(shape[1:]), shape[0] * prod(shape[2:])
        layer = part.layer
        if isinstance(layer, Activated) and layer.activation != "identity":
            sigmoid = layer.activation in ("logistic", "sigmoid")
        bound = np.sqrt((2.0 if sigmoid else 6.0) / (inputs + outputs))
        if law == "he":
            bound = np.sqrt(6.0 / inputs)
        params[place] = draw.uniform(-bound, bound, prod(shape))
        if bias and law == "glorot":
            params[bias[0][0]] = draw.uniform(-bound, bound, prod(bias[0][1]))
    return params
