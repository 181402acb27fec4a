"""Networks by naive lines, a row and a number at a time; and short ways into the compiled ones."""

from math import erf

import numpy as np

from empirisk.compiled.networks import doors
from empirisk.learners.networks import layers as flat
from empirisk.learners.networks import picture_layers as moved


def activation(name, a):
    """s(a) of an array of numbers, as the formula says."""
    if name in ("logistic", "sigmoid"):
        return 1 / (1 + np.exp(-a))
    if name == "softmax":
        return np.exp(a - a.max()) / np.exp(a - a.max()).sum()
    if name == "gelu":
        return np.array([v * (1 + erf(v / np.sqrt(2))) / 2 for v in a.ravel()]).reshape(a.shape)
    if name == "leaky_relu":
        return np.where(a > 0, a, 0.01 * a)
    return {"identity": a, "tanh": np.tanh(a), "relu": np.where(a > 0, a, 0)}[name]


def both(value, dimensions, across):
    """A setting in both directions."""
    pair = value if isinstance(value, tuple) else (value, value)
    return (across, pair[1]) if dimensions == 1 else pair


def windows(x, kernel, stride):
    """(y, x, what the window meets there), for pictures of shape (channels, height, width)."""
    for y in range((x.shape[1] - kernel[0]) // stride[0] + 1):
        for at in range((x.shape[2] - kernel[1]) // stride[1] + 1):
            top, left = y * stride[0], at * stride[1]
            yield y, at, x[:, top : top + kernel[0], left : left + kernel[1]]


def moved_over(x, kernel, stride, result, channels):
    """result(what the window meets), everywhere."""
    places = [(x.shape[d + 1] - kernel[d]) // stride[d] + 1 for d in (0, 1)]
    z = np.empty((channels, *places))
    for y, at, met in windows(x, kernel, stride):
        z[:, y, at] = result(met)
    return z


def convolved(layer, x, w, b):
    d = x.ndim - 1
    stride, pad = both(layer.stride, d, 1), both(layer.padding, d, 0)
    picture = x.reshape(x.shape[0], -1, x.shape[-1]) if d == 2 else x[:, None, :]
    picture = np.pad(picture, ((0, 0), (pad[0], pad[0]), (pad[1], pad[1])))

    def result(met):
        return [(w[c] * met).sum() + b[c] for c in range(len(w))]

    z = moved_over(picture, w.shape[2:], stride, result, len(w))
    return activation(layer.activation, z if d == 2 else z[:, 0])


def pooled(layer, x, of):
    d = x.ndim - 1
    size = both(layer.size, d, 1)
    stride = size if layer.stride is None else both(layer.stride, d, 1)
    picture = x if d == 2 else x[:, None, :]
    z = moved_over(picture, size, stride, lambda met: of(met, axis=(1, 2)), len(x))
    return z if d == 2 else z[:, 0]


def through(layer, x, w=None, b=None):
    """What a layer gives out for one row, outside of training."""
    if isinstance(layer, flat.Dense):
        return activation(layer.activation, w @ x.ravel() + b)
    if isinstance(layer, moved.Convolution):
        return convolved(layer, x, w, b)
    if isinstance(layer, moved.MaxPool):
        return pooled(layer, x, np.max)
    if isinstance(layer, moved.AveragePool):
        return pooled(layer, x, np.mean)
    if isinstance(layer, flat.Activation):
        return activation(layer.name, x)
    return x.ravel() if isinstance(layer, flat.Flatten) else x


def network(architecture, params, X):
    """What the network gives out for each row of X, in double precision."""
    f, params = [], np.asarray(params, float)
    for row in X:
        x = np.asarray(row, float).reshape(architecture.input_shape)
        for part in architecture.parts:
            own = [params[place].reshape(shape) for place, shape in part.parameters]
            if len(own) == 1:
                own.append(np.zeros(len(own[0])))
            x = through(part.layer, x, *own)
        f.append(x.ravel())
    return np.array(f)


def room(architecture, n, dtype=float, chunks=1, targets=1):
    """Memory for chunks of n rows, full of what must not be read."""
    A = architecture

    def some(*shape):
        return np.full((chunks, *shape), np.nan, dtype)

    scratch = doors.room_for_convolutions(A.table, n)
    return (
        some(A.n_parameters), some(A.n_rows * n), some(2, A.widest * n), some(A.n_rows * n),
        some(scratch), some(max(targets, 1) * n), some(n),
    )  # fmt: skip


def plain_data(X, y=None, weight=None):
    """A table in its own units."""
    n, p = X.shape
    y = np.zeros((n, 0)) if y is None else np.asarray(y, float).reshape(n, -1)
    return X, np.zeros(p), np.ones(p), y, np.ones(n) if weight is None else weight


class Passes:
    """One batch through a network, forth and back, by compiled code or its Python original."""

    def __init__(self, architecture, dtype=float, *, compiled=True):
        self.architecture, self.dtype = architecture, dtype
        self.outputs = doors.outputs if compiled else doors.outputs.py_func
        self.gradient = doors.gradient if compiled else doors.gradient.py_func

    def forth(self, params, X, seed=-1, draw=0):
        """(n, K)."""
        A, n = self.architecture, len(X)
        self.net = (A.table, A.rates, np.asarray(params, self.dtype))
        self.room = room(A, n, self.dtype)
        f = np.empty((n, A.n_outputs), self.dtype)
        X = np.ascontiguousarray(X, self.dtype)
        self.outputs(self.net, plain_data(X), np.arange(n), self.room, seed, draw, f)
        return f

    def back(self, delta):
        """dL/d(parameters); and dL/d(input), (n, p), where the first layer has no weights."""
        n, A = len(delta), self.architecture
        self.room[2][0, 0, : delta.size] = delta.T.ravel()
        self.gradient(self.net, self.room, n)
        side = len(A.table) % 2
        to_input = self.room[2][0, side, : A.n_inputs * n].reshape(A.n_inputs, n).T
        return self.room[0][0].copy(), to_input.copy()


def slopes(function, at, step=1e-5):
    """Derivatives of a number by each entry of an array, by central differences."""
    at = np.array(at, float)
    result = np.empty(at.size)
    for j in range(at.size):
        ends = []
        for sign in (1, -1):
            moved_by = at.ravel().copy()
            moved_by[j] += sign * step
            ends.append(function(moved_by.reshape(at.shape)))
        result[j] = (ends[0] - ends[1]) / (2 * step)
    return result.reshape(at.shape)
