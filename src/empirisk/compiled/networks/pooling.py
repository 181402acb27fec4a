"""Pooling: the largest or the mean number of each window, channel by channel."""

from empirisk.compiled.decorator import compiled
from empirisk.compiled.networks.layout import (
    FROM,
    HEIGHT,
    KERNEL_HEIGHT,
    KERNEL_WIDTH,
    OUT_CHANNELS,
    OUT_HEIGHT,
    OUT_WIDTH,
    STRIDE_HEIGHT,
    STRIDE_WIDTH,
    TO,
    WIDTH,
)
from empirisk.compiled.networks.runs import add_share, clear_run, copy_run


@compiled(inner=True)
def places(layer):
    """How many windows there are."""
    return layer[OUT_CHANNELS] * layer[OUT_HEIGHT] * layer[OUT_WIDTH]


@compiled(inner=True, signatures=2)
def met(layer, w, k):
    """The place in the picture of the k-th number of window w."""
    x, rest = w % layer[OUT_WIDTH], w // layer[OUT_WIDTH]
    y, c = rest % layer[OUT_HEIGHT], rest // layer[OUT_HEIGHT]
    v, u = k // layer[KERNEL_WIDTH], k % layer[KERNEL_WIDTH]
    row = c * layer[HEIGHT] + y * layer[STRIDE_HEIGHT] + v
    return row * layer[WIDTH] + x * layer[STRIDE_WIDTH] + u


@compiled(leaf=True, signatures=2)
def keep_largest(largest, mark, numbers, k):
    """Keep numbers that are larger than the largest so far, or NaN, and that they were the k-th."""
    for i in range(largest.size):
        larger = numbers[i] > largest[i] or numbers[i] != numbers[i]
        largest[i] = numbers[i] if larger else largest[i]
        mark[i] = k if larger else mark[i]


@compiled(leaf=True, signatures=2)
def add_marked(back, forth, mark, k):
    """Add to the k-th number of a window if it was the largest."""
    zero = forth.dtype.type(0.0)
    for i in range(back.size):
        back[i] += forth[i] if mark[i] == k else zero


@compiled(inner=True, signatures=2)
def max_pool_forward(layer, values, marks, n):
    """z = max of the window; `marks` notes which place it was, the first of equals."""
    picture, z = values[layer[FROM] * n :], values[layer[TO] * n :]
    mark, kind = marks[layer[TO] * n :], values.dtype.type
    for w in range(places(layer)):
        largest, which = z[w * n : (w + 1) * n], mark[w * n : (w + 1) * n]
        for k in range(layer[KERNEL_HEIGHT] * layer[KERNEL_WIDTH]):
            at = met(layer, w, k) * n
            if k == 0:
                copy_run(largest, picture[at : at + n])
                clear_run(which)
            else:
                keep_largest(largest, which, picture[at : at + n], kind(k))


@compiled(inner=True, signatures=2)
def max_pool_backward(layer, marks, delta_out, delta_in, n):
    """dL/d(input) is dL/dz at the place of the largest, 0 elsewhere in the window."""
    back, mark = delta_in.reshape(delta_in.size), marks[layer[TO] * n :]
    kind = marks.dtype.type
    clear_run(back)
    for w in range(places(layer)):
        for k in range(layer[KERNEL_HEIGHT] * layer[KERNEL_WIDTH]):
            at = met(layer, w, k) * n
            add_marked(back[at : at + n], delta_out[w], mark[w * n : (w + 1) * n], kind(k))


@compiled(inner=True, signatures=2)
def average_pool_forward(layer, values, n):
    """z = mean of the window."""
    picture, z = values[layer[FROM] * n :], values[layer[TO] * n :]
    size = layer[KERNEL_HEIGHT] * layer[KERNEL_WIDTH]
    share = values.dtype.type(1.0 / size)
    for w in range(places(layer)):
        mean = z[w * n : (w + 1) * n]
        clear_run(mean)
        for k in range(size):
            at = met(layer, w, k) * n
            add_share(mean, share, picture[at : at + n])


@compiled(inner=True, signatures=2)
def average_pool_backward(layer, delta_out, delta_in, n):
    """dL/d(input) is an equal share of dL/dz, all over the window."""
    back, size = delta_in.reshape(delta_in.size), layer[KERNEL_HEIGHT] * layer[KERNEL_WIDTH]
    share = back.dtype.type(1.0 / size)
    clear_run(back)
    for w in range(places(layer)):
        for k in range(size):
            at = met(layer, w, k) * n
            add_share(back[at : at + n], share, delta_out[w])
