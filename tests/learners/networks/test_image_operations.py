"""Convolution, pooling and sums of random variables: the numbers of the notes, laws, slow twins,
and the layers of a network that do the same."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import signal

from empirisk import convolve, image_kernel, pool, sum_distribution
from empirisk.compiled.networks.convolution import convolution_scratch
from empirisk.compiled.networks.layout import CONVOLUTION, KIND
from empirisk.compiled.networks.passing import go_forth
from empirisk.learners.networks.architecture import Architecture
from empirisk.learners.networks.image_operations import AT_ONCE
from empirisk.learners.networks.picture_layers import AveragePool, Conv1d, Conv2d, MaxPool
from empirisk.runtime.errors import DataError, DataTypeError, ParameterError
from tolerances import LAST_BITS, SUMMED

rng = np.random.default_rng(0)
DIGIT = np.zeros((6, 6))
DIGIT[:, 2] = DIGIT[1, 1] = 1
SCANNED = [[1, 3, 0, 0], [1, 3, 0, 0], [0, 3, 0, 0], [0, 3, 0, 0]]


def slow_convolve(image, kernel, padding, stride):
    """Definition 8.7 with padding and stride, number by number, zeros outside of the picture."""
    (h, w), (kh, kw) = image.shape, kernel.shape
    rows = (h + 2 * padding[0] - kh) // stride[0] + 1
    columns = (w + 2 * padding[1] - kw) // stride[1] + 1
    result = np.zeros((rows, columns))
    for y in range(rows):
        for x in range(columns):
            for v in range(kh):
                for u in range(kw):
                    row, column = y * stride[0] + v - padding[0], x * stride[1] + u - padding[1]
                    if 0 <= row < h and 0 <= column < w:
                        result[y, x] += image[row, column] * kernel[v, u]
    return result


def slow_pool(image, size, stride, by):
    rows, columns = ((n - k) // s + 1 for n, k, s in zip(image.shape, size, stride, strict=True))
    return np.array(
        [
            [by(image[y * stride[0] :, x * stride[1] :][: size[0], : size[1]])
             for x in range(columns)]
            for y in range(rows)
        ]
    )  # fmt: skip


def through(layers, image, weights=None):
    """What a network gives out for one picture, whose shape it has."""
    network = Architecture(image.shape, layers)
    params = np.zeros(network.n_parameters) if weights is None else weights
    values = np.zeros(network.n_rows)
    values[: image.size] = image.ravel()
    room = [convolution_scratch(row, 1) for row in network.table if row[KIND] == CONVOLUTION]
    go_forth(network.table, network.rates, params, values, np.zeros(network.n_rows),
             np.zeros(max(room, default=1)), 1, -1, 0)  # fmt: skip
    return values[network.ends[-2] :].reshape(network.output_shape)


def test_equation_8_1_and_its_pooling():
    assert_array_equal(convolve(DIGIT, "vertical"), SCANNED)
    assert_array_equal(pool(SCANNED), [[3, 0], [3, 0]])
    assert_array_equal(pool(SCANNED, by="mean"), [[2, 0], [1.5, 0]])


@pytest.mark.parametrize("name, total", [("margin", 0), ("sharpen", 1), ("blur", 1)])
def test_kernel_sums(name, total):
    assert image_kernel(name).sum() == total


def test_a_kernel_that_is_changed_changes_no_other():
    image_kernel("blur")[:] = 0
    assert image_kernel("blur").sum() == 1


def test_blur_keeps_constants_sharpen_too_and_margin_makes_them_zero():
    flat = np.full((5, 7), 0.7)
    # Nine products are added up: a few units in the last place of 8 * 0.7.
    assert_allclose(convolve(flat, "blur"), 0.7, rtol=1e-15)
    assert_allclose(convolve(flat, "sharpen"), 0.7, rtol=1e-14)
    assert_allclose(convolve(flat, "margin"), 0, rtol=0, atol=LAST_BITS)


def test_moving_means_of_a_list_begin_and_end_with_zeros():
    x = rng.integers(100, size=20)
    wide = np.concatenate([[0, 0], x, [0, 0]])
    means = [wide[i : i + 3].mean() for i in range(22)]
    assert_allclose(convolve(x, [1 / 3] * 3, padding=2), means, rtol=LAST_BITS)
    assert_allclose(convolve(x, [1 / 3] * 3), means[2:-2], rtol=LAST_BITS)


sides, zeros, strides = st.integers(1, 7), st.integers(0, 3), st.integers(1, 4)
settings_of_windows = st.tuples(
    st.tuples(sides, sides), st.tuples(sides, sides),
    st.tuples(zeros, zeros), st.tuples(strides, strides), st.integers(0, 2**32 - 1),
)  # fmt: skip


@given(settings_of_windows)
@settings(max_examples=150, deadline=None)
def test_convolution_and_pooling_equal_loops_over_all_numbers(drawn):
    shape, size, padding, stride, seed = drawn
    random = np.random.default_rng(seed)
    image, kernel = random.integers(-9, 10, shape), random.integers(-9, 10, size)
    padded = tuple(n + 2 * p for n, p in zip(shape, padding, strict=True))
    if size[0] <= padded[0] and size[1] <= padded[1]:
        found = convolve(image, kernel, padding=padding, stride=stride)
        assert_array_equal(found, slow_convolve(image, kernel, padding, stride))
    else:
        with pytest.raises(DataError, match="does not fit"):
            convolve(image, kernel, padding=padding, stride=stride)
    if size[0] <= shape[0] and size[1] <= shape[1]:
        assert_array_equal(pool(image, size, stride=stride), slow_pool(image, size, stride, np.max))
        means = slow_pool(image, size, stride, np.mean)
        assert_allclose(pool(image, size, stride=stride, by="mean"), means, rtol=LAST_BITS)


@pytest.mark.parametrize("size", [(3, 3), (2, 5), (4, 1), (6, 6)])
def test_flipped_it_is_convolution_and_otherwise_correlation(size):
    image, kernel = rng.integers(-9, 10, (8, 9)), rng.integers(-9, 10, size)
    strict = signal.convolve2d(image, kernel, "valid")
    assert_array_equal(convolve(image, kernel, flip=True), strict)
    assert_array_equal(convolve(image, kernel), signal.correlate2d(image, kernel, "valid"))
    full = tuple(side - 1 for side in size)
    assert_array_equal(
        convolve(image, kernel, flip=True, padding=full), signal.convolve2d(image, kernel)
    )
    x, k = rng.integers(-9, 10, 12), rng.integers(-9, 10, 5)
    assert_array_equal(convolve(x, k, flip=True, padding=4), np.convolve(x, k))


@pytest.mark.parametrize("shape", [(150, 333), (3, 2 * AT_ONCE)])
def test_large_pictures_are_summed_up_in_blocks(shape):
    """More than one block of rows, and rows that are longer than a block."""
    image, kernel = rng.integers(-9, 10, (2, *shape)), rng.integers(-9, 10, (3, 2))
    found = convolve(image, kernel, stride=(2, 1))
    for channel, each in zip(found, image, strict=True):
        assert_array_equal(channel, signal.correlate2d(each, kernel, "valid")[::2])


def test_convolution_is_linear_in_the_image_and_in_the_kernel():
    a, b = rng.integers(-9, 10, (2, 3, 8, 9))
    k, m = rng.integers(-9, 10, (2, 3, 2))
    together = convolve(2 * a - 3 * b, k, padding=1, stride=2)
    apart = [convolve(each, k, padding=1, stride=2) for each in (a, b)]
    assert_array_equal(together, 2 * apart[0] - 3 * apart[1])
    assert_array_equal(convolve(a, 2 * k - 3 * m), 2 * convolve(a, k) - 3 * convolve(a, m))


def test_a_picture_that_is_shifted_has_results_that_are_shifted():
    image = np.zeros((12, 12))
    image[3:7, 2:6] = rng.normal(size=(4, 4))
    moved = np.roll(image, (2, 3), axis=(0, 1))
    for name in ("margin", "sharpen", "blur", "vertical"):
        found = convolve(image, name, padding="same")
        assert_array_equal(convolve(moved, name, padding="same"), np.roll(found, (2, 3), (0, 1)))
    assert_array_equal(pool(np.roll(image, (2, 4), (0, 1))), np.roll(pool(image), (1, 2), (0, 1)))


@pytest.mark.parametrize("size", [1, 2, 3, 4, 5])
@pytest.mark.parametrize("stride", [1, 2, 3])
def test_same_padding_keeps_each_pixel_at_its_place(size, stride):
    image = rng.normal(size=(2, 7, 10))
    found = convolve(image, np.ones((size, size)), padding="same", stride=stride)
    assert found.shape == (2, -(-7 // stride), -(-10 // stride))
    middle = np.zeros((size, size))
    middle[(size - 1) // 2, (size - 1) // 2] = 1
    kept = convolve(image, middle, padding="same", stride=stride)
    assert_array_equal(kept, image[:, ::stride, ::stride])
    one = np.arange(8.0)
    assert_array_equal(convolve(one, middle[(size - 1) // 2], padding="same"), one)


def test_channels_are_treated_one_by_one():
    image = rng.normal(size=(3, 7, 8))
    assert_array_equal(
        convolve(image, "blur", padding=1), [convolve(each, "blur", padding=1) for each in image]
    )
    assert_array_equal(pool(image, (2, 3)), [pool(each, (2, 3)) for each in image])


@pytest.mark.parametrize("stride, padding", [(1, 0), (2, 1), ((3, 1), (0, 2))])
def test_kernels_over_channels_are_a_layer_of_a_network(stride, padding):
    image, kernel = rng.normal(size=(3, 9, 8)), rng.normal(size=(4, 3, 3, 2))
    layer = Conv2d(4, (3, 2), stride=stride, padding=padding, activation="identity", bias=False)
    found = convolve(image, kernel, stride=stride, padding=padding)
    # 18 products each, added in another order.
    assert_allclose(found, through([layer], image, kernel.ravel()), rtol=1e-12, atol=1e-14)
    sums = sum(convolve(image[d], kernel[2, d], stride=stride, padding=padding) for d in range(3))
    assert_allclose(found[2], sums, rtol=SUMMED, atol=LAST_BITS)


def test_a_picture_without_channels_has_one():
    kernel = np.stack([image_kernel("blur"), image_kernel("margin")])[:, None]
    found = convolve(DIGIT, kernel)
    assert_array_equal(found, convolve(DIGIT[None], kernel))
    assert_array_equal(found, [convolve(DIGIT, "blur"), convolve(DIGIT, "margin")])


def test_a_signal_through_a_layer_of_a_network():
    x, kernel = rng.normal(size=15), rng.normal(size=4)
    layer = Conv1d(1, 4, stride=2, padding=3, activation="identity", bias=False)
    found = convolve(x, kernel, stride=2, padding=3)
    assert_allclose(found, through([layer], x[None], kernel)[0], rtol=LAST_BITS, atol=LAST_BITS)


@pytest.mark.parametrize("size, stride", [(2, None), (3, 1), ((2, 3), (3, 2))])
def test_pooling_is_a_layer_of_a_network(size, stride):
    image = rng.normal(size=(2, 9, 8))
    assert_array_equal(pool(image, size, stride=stride), through([MaxPool(size, stride)], image))
    means = through([AveragePool(size, stride)], image)
    assert_allclose(pool(image, size, stride=stride, by="mean"), means, rtol=0, atol=LAST_BITS)


def test_pooling_of_a_signal():
    assert_array_equal(pool([1, 5, 2, 2, 9]), [5, 2])
    assert_array_equal(pool([1, 5, 2, 2, 9], 3, stride=1, by="mean"), [8 / 3, 3, 13 / 3])


def test_the_sum_of_two_numbers_from_1_to_10_is_from_2_to_20():
    values, chances = sum_distribution([0.1] * 10, [0.1] * 10, first=(1, 1))
    assert_array_equal(values, np.arange(2, 21))
    counts = [sum(i + j == n for i in range(1, 11) for j in range(1, 11)) for n in values]
    assert_allclose(chances, np.array(counts) / 100, rtol=LAST_BITS)


def test_sums_of_variables_are_convolutions_and_transforms_multiply():
    p, q = rng.dirichlet(np.ones(7)), rng.dirichlet(np.ones(4))
    values, chances = sum_distribution(p, q, first=(-3, 5))
    assert (values[0], values[-1]) == (2, 2 + 9)
    assert_allclose(chances, convolve(p, q, flip=True, padding=3), rtol=LAST_BITS)
    product = np.fft.rfft(p, 10) * np.fft.rfft(q, 10)
    assert_allclose(chances, np.fft.irfft(product, 10), rtol=0, atol=LAST_BITS)
    means = np.arange(-3, 4) @ p + np.arange(5, 9) @ q
    assert_allclose(values @ chances, means, rtol=LAST_BITS)


def test_tails_of_a_sum_have_all_their_digits():
    p = np.array([1 - 1e-150, 1e-150])
    assert_allclose(sum_distribution(p, p)[1], [1, 2e-150, 1e-300], rtol=LAST_BITS)


@pytest.mark.parametrize("scale", [1e-200, 1e200])
def test_huge_and_tiny_numbers(scale):
    image = rng.integers(-9, 10, (6, 6)).astype(float)
    assert_allclose(convolve(scale * image, "sharpen"), scale * convolve(image, "sharpen"),
                    rtol=1e-13, atol=1e-13 * scale)  # fmt: skip
    assert_allclose(pool(scale * image, by="mean"), scale * pool(image, by="mean"), rtol=1e-14)


def test_the_largest_numbers_have_means_and_no_weighted_sums():
    largest = np.full((3, 3), np.finfo(float).max)
    assert_allclose(pool(largest, 3, by="mean"), largest[:1, :1], rtol=LAST_BITS)
    with pytest.raises(DataError, match="divide one of them"):
        convolve(largest, "margin")


def test_pictures_of_bytes_and_truth_values_are_numbers():
    assert_array_equal(convolve(np.full((3, 3), 255, np.uint8), np.ones((3, 3), bool)), [[9 * 255]])


BROKEN = [
    (lambda: convolve(DIGIT, "edge"), ParameterError, "there are margin, sharpen, blur, vertical"),
    (lambda: image_kernel(3), ParameterError, "there is no kernel 3"),
    (lambda: convolve(DIGIT, np.ones((7, 2))), DataError, "7 x 2 does not fit into 6 x 6"),
    (lambda: convolve(DIGIT, np.ones(3)), DataError, r"\(3,\); for this image .*\(height, width\)"),
    (lambda: convolve(DIGIT[0], "blur"), DataError, r"must have the shape \(length,\)"),
    (lambda: convolve(DIGIT[None], np.ones((2, 3, 1, 1))), DataError, r"\(channels out, 1, height"),
    (lambda: convolve(DIGIT, "blur", stride=0), ParameterError, "stride of convolve is 0"),
    (lambda: convolve(DIGIT, "blur", stride=True), ParameterError, "stride of convolve is True"),
    (lambda: convolve(DIGIT, "blur", padding=-1), ParameterError, "padding of convolve is -1"),
    (lambda: convolve(DIGIT, "blur", padding=(1, 2, 3)), ParameterError, "give a number, or"),
    (lambda: convolve(DIGIT, "blur", padding="full"), ParameterError, "padding is 'full'"),
    (lambda: convolve([1, 2], [1], padding=(1, 1)), ParameterError, "of a signal give one number"),
    (lambda: convolve([[1, np.nan]], [[1]]), DataError, "image has numbers that are missing"),
    (lambda: convolve(np.ma.masked_equal([1, 2], 2), [1]), DataError, "image has numbers that are"),
    (lambda: convolve([1, 2], [np.inf]), DataError, "kernel has numbers that are missing"),
    (lambda: convolve([1, 2], []), DataError, "kernel is empty"),
    (lambda: convolve([[1, 2], [3]], [[1]]), DataError, "image has rows of different lengths"),
    (lambda: convolve(["a"], [1]), DataTypeError, "image holds <U1 values"),
    (lambda: convolve([1j], [1]), DataTypeError, "image holds complex128"),
    (lambda: convolve(np.zeros((2, 2, 2, 2)), [[1]]), DataError, r"wanted \(length,\), \(height"),
    (lambda: pool(3.0), DataError, r"image has the shape \(\)"),
    (lambda: pool(DIGIT, 0), ParameterError, "size of pool is 0"),
    (lambda: pool(DIGIT, 7), DataError, "7 x 7 does not fit"),
    (lambda: pool(DIGIT, by="min"), ParameterError, "by is 'min'; it must be 'max' or 'mean'"),
    (lambda: sum_distribution([0.5, 0.6], [1]), DataError, r"p must be .* the sum 1.1"),
    (lambda: sum_distribution([1], [1.5, -0.5]), DataError, r"q must be .* least number -0.5"),
    (lambda: sum_distribution([[1]], [1]), DataError, r"p must be .* shape \(1, 1\)"),
    (lambda: sum_distribution([1], [1], first=1), ParameterError, "as a pair"),
    (lambda: sum_distribution([1], [1], first=(0.5, 1)), ParameterError, "two whole numbers"),
]  # fmt: skip


@pytest.mark.parametrize("call, error, message", BROKEN)
def test_what_makes_no_sense_is_said(call, error, message):
    with pytest.raises(error, match=message):
        call()
