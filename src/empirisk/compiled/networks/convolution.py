"""A convolution: one small weighted sum, moved over the whole picture; products of matrices.

z[c, y, x] = s(b_c + sum over channels d and places v, u of the kernel of
               w[c, d, v, u] input[d, y * stride + v - pad, x * stride + u - pad]),

with zeros outside of the picture (that is cross-correlation, as everywhere in networks). A few rows
of the result at a time are a product of matrices: the kernels, (channels, K), times all patches
that they meet, (K, places). Since the columns of the batch are innermost, patches are put together
from long runs.
"""

import numpy as np

from empirisk.compiled.decorator import compiled
from empirisk.compiled.networks.activations import activate, undo
from empirisk.compiled.networks.layout import (
    ACTIVE,
    BIAS,
    CHANNELS,
    FROM,
    HEIGHT,
    KERNEL_HEIGHT,
    KERNEL_WIDTH,
    N_OUT,
    OUT_CHANNELS,
    OUT_HEIGHT,
    OUT_WIDTH,
    PAD_HEIGHT,
    PAD_WIDTH,
    STRIDE_HEIGHT,
    STRIDE_WIDTH,
    TO,
    WEIGHTS,
    WIDTH,
    matrix,
)
from empirisk.compiled.networks.runs import add_run, clear_run, copy_run, shift_run, sum_run

PATCHES = 2**15  # numbers in the patches of a product, about: they stay in the cache


@compiled(inner=True)
def patch_size(layer):
    """K, the numbers that a kernel meets at one place."""
    return layer[CHANNELS] * layer[KERNEL_HEIGHT] * layer[KERNEL_WIDTH]


@compiled(inner=True)
def rows_at_a_time(layer, n):
    """How many rows of the result make a product."""
    row = layer[OUT_WIDTH] * n * patch_size(layer)
    return min(max(PATCHES // row, 1), layer[OUT_HEIGHT])


@compiled(inner=True)
def inside(layer, u):
    """The first and the last but one place x for which x * stride + u - pad is in the picture."""
    stride, shift = layer[STRIDE_WIDTH], u - layer[PAD_WIDTH]
    first = max(0, (stride - 1 - shift) // stride)
    last = min(layer[OUT_WIDTH], (layer[WIDTH] - 1 - shift) // stride + 1)
    return min(first, layer[OUT_WIDTH]), max(last, min(first, layer[OUT_WIDTH]))


@compiled(inner=True, signatures=2)
def take_run(layer, picture, to, first, last, n):
    """The numbers that one place of the kernel meets in a row, zeros where it is outside."""
    clear_run(to[: first * n])
    clear_run(to[last * n :])
    stride = layer[STRIDE_WIDTH]
    if stride == 1:
        copy_run(to[first * n : last * n], picture[: (last - first) * n])
        return
    for x in range(first, last):
        at = (x - first) * stride * n
        copy_run(to[x * n : (x + 1) * n], picture[at : at + n])


@compiled(inner=True, signatures=2)
def give_run_back(layer, picture, patch, first, last, n):
    """Add to the numbers that one place of the kernel meets in a row."""
    stride = layer[STRIDE_WIDTH]
    if stride == 1:
        add_run(picture[: (last - first) * n], patch[first * n : last * n])
        return
    for x in range(first, last):
        at = (x - first) * stride * n
        add_run(picture[at : at + n], patch[x * n : (x + 1) * n])


@compiled(inner=True, signatures=2)
def take_patches(layer, picture, patches, top, rows, n):
    """Patches (K, rows * places in a row * n) that the kernels meet in rows from `top` on."""
    run, k = layer[OUT_WIDTH] * n, 0
    for d in range(layer[CHANNELS]):
        for v in range(layer[KERNEL_HEIGHT]):
            for u in range(layer[KERNEL_WIDTH]):
                first, last = inside(layer, u)
                left = first * layer[STRIDE_WIDTH] + u - layer[PAD_WIDTH]
                for r in range(rows):
                    y = (top + r) * layer[STRIDE_HEIGHT] + v - layer[PAD_HEIGHT]
                    to = patches[k, r * run : (r + 1) * run]
                    if y < 0 or y >= layer[HEIGHT] or first >= last:
                        clear_run(to)
                    else:
                        place = (d * layer[HEIGHT] + y) * layer[WIDTH] + left
                        take_run(layer, picture[place * n :], to, first, last, n)
                k += 1


@compiled(inner=True, signatures=2)
def give_patches_back(layer, patches, picture, top, rows, n):
    """Add dL/d(patches) to dL/d(input): the transpose of `take_patches`."""
    run, k = layer[OUT_WIDTH] * n, 0
    for d in range(layer[CHANNELS]):
        for v in range(layer[KERNEL_HEIGHT]):
            for u in range(layer[KERNEL_WIDTH]):
                first, last = inside(layer, u)
                left = first * layer[STRIDE_WIDTH] + u - layer[PAD_WIDTH]
                for r in range(rows):
                    y = (top + r) * layer[STRIDE_HEIGHT] + v - layer[PAD_HEIGHT]
                    if 0 <= y < layer[HEIGHT] and first < last:
                        place = (d * layer[HEIGHT] + y) * layer[WIDTH] + left
                        patch = patches[k, r * run : (r + 1) * run]
                        give_run_back(layer, picture[place * n :], patch, first, last, n)
                k += 1


@compiled(inner=True, makes_arrays=True, signatures=2)
def kernels_of(layer, params):
    """The kernels, (channels, K)."""
    size = layer[OUT_CHANNELS] * patch_size(layer)
    flat = params[layer[WEIGHTS] : layer[WEIGHTS] + size]
    return flat.reshape(layer[OUT_CHANNELS], patch_size(layer))


@compiled(inner=True)
def convolution_scratch(layer, n):
    """How many numbers of room a convolution of n columns takes, or of fewer: of these a product
    may have more rows of the result, and more places in all."""
    row, most = layer[OUT_WIDTH] * n, PATCHES // patch_size(layer)
    places = min(max(row, most), layer[OUT_HEIGHT] * row)
    kernels = layer[OUT_CHANNELS] * patch_size(layer)
    return places * (2 * patch_size(layer) + layer[OUT_CHANNELS]) + kernels


@compiled(inner=True, makes_arrays=True, signatures=2)
def convolution_forward(layer, params, values, scratch, n):
    """z = s(w * input + b)."""
    size, channels, height = patch_size(layer), layer[OUT_CHANNELS], layer[OUT_HEIGHT]
    kernels, run = kernels_of(layer, params), layer[OUT_WIDTH] * n
    z = values[layer[TO] * n : (layer[TO] + layer[N_OUT]) * n].reshape(channels, height * run)
    picture, step = values[layer[FROM] * n :], rows_at_a_time(layer, n)
    for top in range(0, height, step):
        rows = min(step, height - top)
        m = rows * run
        patches = scratch[: size * m].reshape(size, m)
        sums = scratch[size * m : (size + channels) * m].reshape(channels, m)
        take_patches(layer, picture, patches, top, rows, n)
        np.dot(kernels, patches, sums)
        for c in range(channels):
            b = params[layer[BIAS] + c] if layer[BIAS] >= 0 else params.dtype.type(0.0)
            shift_run(z[c, top * run : top * run + m], sums[c], b)
    activate(layer[ACTIVE], z.reshape(z.size))


@compiled(inner=True, makes_arrays=True, signatures=2)
def convolution_backward(
    layer, params, gradient, values, scratch, delta_out, delta_in, n, to_input
):
    """From dL/dz, which becomes dL/da, to dL/dw, dL/db and dL/d(input)."""
    size, channels, height = patch_size(layer), layer[OUT_CHANNELS], layer[OUT_HEIGHT]
    kernels, run = kernels_of(layer, params), layer[OUT_WIDTH] * n
    z = matrix(values, layer[TO], layer[N_OUT], n)
    undo(layer[ACTIVE], z.reshape(z.size), delta_out.reshape(z.size))
    delta, slope = delta_out.reshape(channels, height * run), kernels_of(layer, gradient)
    part = scratch[: channels * size].reshape(channels, size)
    room = scratch[channels * size :]
    clear_run(slope.reshape(slope.size))
    back = delta_in.reshape(delta_in.size)
    if to_input:
        clear_run(back)
    picture, step = values[layer[FROM] * n :], rows_at_a_time(layer, n)
    for top in range(0, height, step):
        rows = min(step, height - top)
        m = rows * run
        patches = room[: size * m].reshape(size, m)
        sums = room[size * m : (size + channels) * m].reshape(channels, m)
        take_patches(layer, picture, patches, top, rows, n)
        for c in range(channels):
            copy_run(sums[c], delta[c, top * run : top * run + m])
        np.dot(sums, patches.T, part)
        add_run(slope.reshape(slope.size), part.reshape(part.size))
        if to_input:
            np.dot(kernels.T, sums, patches)
            give_patches_back(layer, patches, back, top, rows, n)
    if layer[BIAS] >= 0:
        for c in range(channels):
            gradient[layer[BIAS] + c] = sum_run(delta[c])
