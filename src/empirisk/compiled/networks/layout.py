"""How a network is written down for compiled code: a row of integers for each layer.

Everything that a layer takes in or gives out is a matrix with a row for each feature and a column
for each row of the batch: (features, n), C-contiguous. A picture has the features channel, height,
width, in this order, so that flattening it changes nothing. Loops over the n columns are the inner
ones, and are vectorised; a convolution moves whole runs of them.

All matrices of a batch lie one behind the other in one flat array, `values`: the first rows are the
inputs, and the features of a layer are its rows `TO` to `TO + N_OUT`. All weights and biases lie
in one flat vector of parameters. A weight matrix has the shape (N_OUT, N_IN), or (channels given
out, channels taken in, kernel height, kernel width) of a convolution.
"""

import numpy as np

from empirisk.compiled.decorator import compiled

START = np.int64(0)  # a plain 0 is a type of its own, for which callees are compiled again

# Kinds of layer.
DENSE, CONVOLUTION, MAX_POOL, AVERAGE_POOL, DROPOUT, ACTIVATION = range(6)

# Activations. The derivatives of those before GELU follow from what they give out; the others
# stand in layers of their own, which know what they took in.
IDENTITY, SIGMOID, TANH, RELU, LEAKY_RELU, GELU, SOFTMAX = range(7)

# Places in the row of a layer. FROM and TO are rows of `values`; WEIGHTS and BIAS places in the
# vector of parameters, BIAS -1 where there is none.
KIND, ACTIVE, FROM, TO, N_IN, N_OUT, WEIGHTS, BIAS = range(8)
CHANNELS, HEIGHT, WIDTH, OUT_CHANNELS, OUT_HEIGHT, OUT_WIDTH = range(8, 14)
KERNEL_HEIGHT, KERNEL_WIDTH, STRIDE_HEIGHT, STRIDE_WIDTH, PAD_HEIGHT, PAD_WIDTH = range(14, 20)
N_FIELDS = 20


@compiled(inner=True, makes_arrays=True, signatures=2)
def matrix(flat, first, rows, n):
    """Rows first to first + rows of a flat array of matrices with n columns, as (rows, n)."""
    return flat[first * n : (first + rows) * n].reshape(rows, n)
