"""Dropout: while training, each number is left out with a given probability."""

from empirisk.compiled.decorator import compiled
from empirisk.compiled.networks.layout import FROM, N_IN, TO
from empirisk.compiled.streams import uniform


@compiled(leaf=True, signatures=2)
def draw_factors(marks, rate, seed, first):
    """0 with probability `rate`, else 1 / (1 - rate), of draws `first` and following."""
    zero, scale = marks.dtype.type(0.0), marks.dtype.type(1.0 / (1.0 - rate))
    if rate == 0.0:
        for i in range(marks.size):
            marks[i] = scale
        return
    for i in range(marks.size):
        marks[i] = zero if uniform(seed, first + i) < rate else scale


@compiled(leaf=True, signatures=2)
def multiply(to, source, factors):
    """to = source * factors."""
    for i in range(to.size):
        to[i] = source[i] * factors[i]


@compiled(inner=True, signatures=2)
def dropout_forward(layer, rate, values, marks, n, seed, first):
    """z = input / (1 - rate) where it is kept, else 0; `marks` keeps these factors.

    `seed` and `first`, the place of the batch's first draw in its stream, say which they are; with
    a negative seed, that is outside of training, z is the input.
    """
    size = layer[N_IN] * n
    source = values[layer[FROM] * n : layer[FROM] * n + size]
    z = values[layer[TO] * n : layer[TO] * n + size]
    factors = marks[layer[TO] * n : layer[TO] * n + size]
    draw_factors(factors, rate if seed >= 0 else 0.0, seed, first)
    multiply(z, source, factors)


@compiled(inner=True, signatures=2)
def dropout_backward(layer, marks, delta_out, delta_in, n):
    """dL/d(input)."""
    first, size = layer[TO] * n, layer[N_IN] * n
    back, forth = delta_in.reshape(delta_in.size), delta_out.reshape(delta_out.size)
    multiply(back[:size], forth[:size], marks[first : first + size])
