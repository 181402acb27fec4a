"""Any tree of values that can be written comes back, types and bits included."""

import json

import hypothesis.extra.numpy as hnp
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from empirisk.model_file.decode import Decoding
from empirisk.model_file.encode import Encoding
from empirisk.model_file.npy import as_npy, from_npy
from empirisk.model_file.tree import ALLOWANCE, DEEPEST, MODEL
from empirisk.runtime.errors import DataError, ParameterError
from model_file.exactness import assert_same

text = st.text(st.characters(codec=None, categories=None), max_size=5)
plain = st.none() | st.booleans() | st.integers() | st.floats() | text
dtypes = (
    hnp.boolean_dtypes()
    | hnp.integer_dtypes(endianness="?")
    | hnp.unsigned_integer_dtypes(endianness="?")
    | hnp.floating_dtypes(endianness="?", sizes=(16, 32, 64))
    | hnp.unicode_string_dtypes(endianness="?")
    | hnp.datetime64_dtypes(endianness="?")
    | hnp.timedelta64_dtypes(endianness="?")
)
shapes = hnp.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=3)
arrays = hnp.arrays(dtypes, shapes)
layouts = st.sampled_from([np.asarray, np.asfortranarray, np.transpose, lambda a: a[..., ::-1]])
laid_out = st.builds(lambda a, layout: layout(a) if a.ndim else a, arrays, layouts)
objects = st.builds(
    lambda items: np.array([*items, None], dtype=object)[:-1], st.lists(plain, max_size=4)
)
steps = st.integers().filter(bool)
ranges = st.builds(
    lambda start, n, step: range(start, start + n * step, step),
    st.integers(),
    st.integers(-3, 9),
    steps,
)
scalars = arrays.filter(lambda a: a.size).map(
    lambda a: a.astype(a.dtype.newbyteorder("=")).ravel()[0]
)
leaves = plain | laid_out | objects | ranges | scalars | st.integers(10**4000, 10**5000)
keys = plain.filter(lambda key: key == key) | st.tuples(st.integers(), text)
trees = st.recursive(
    leaves,
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.lists(inner, max_size=4).map(tuple)
        | st.dictionaries(keys, inner, max_size=4)
    ),
    max_leaves=12,
)


def there_and_back(value):
    encoding = Encoding()
    text = json.dumps(encoding.node(value, MODEL), allow_nan=False)
    members = {f"{i}.npy": from_npy(as_npy(array)) for i, array in enumerate(encoding.arrays)}
    decoding = Decoding(members)
    found = decoding.value(json.loads(text), MODEL)
    assert not decoding.arrays
    return found


@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(trees)
def test_every_tree_comes_back(tree):
    assert_same(tree, there_and_back(tree))


@pytest.mark.parametrize("value", [-0.0, float("nan"), float("-inf"), 5e-324, 0.1, 2**63, -(2**63)])
def test_numbers_come_back_exactly(value):
    assert_same(value, there_and_back(value))


def test_fortran_order_is_kept():
    array = np.asfortranarray(np.arange(6.0).reshape(2, 3))
    assert there_and_back(array).flags.f_contiguous
    assert there_and_back(array.T).flags.c_contiguous


def test_arrays_are_writable_and_their_own():
    array = there_and_back(np.arange(3.0))
    array[0] = 5.0
    assert array.flags.owndata
    assert array.flags.aligned


def nested(levels):
    value = 1
    for _ in range(levels):
        value = [value]
    return value


def test_nesting_has_a_limit_on_both_sides():
    deepest = nested(DEEPEST - 1)
    assert_same(deepest, there_and_back(deepest))
    with pytest.raises(ParameterError, match="nested too deeply"):
        there_and_back(nested(DEEPEST))
    with pytest.raises(DataError, match="nested deeper"):
        Decoding({}).value(nested(DEEPEST), MODEL)


def test_ranges_and_numbered_keys_share_an_allowance():
    half = ALLOWANCE // 2
    full = [range(half), dict.fromkeys(range(ALLOWANCE - half))]
    assert_same(full, there_and_back(full))
    over = [*full, {1: "one more"}]
    with pytest.raises(ParameterError, match="give an array"):
        there_and_back(over)
    encoding = Encoding()
    encoding.allowance += 1
    with pytest.raises(DataError, match="numbered keys"):
        Decoding({}).value(encoding.node(over, MODEL), MODEL)


def test_a_range_beyond_memory_is_refused_at_once():
    with pytest.raises(DataError, match="ranges"):
        Decoding({}).value({"range": [0, {"int": hex(10**30)}, 1]}, MODEL)


MALFORMED = [
    {},
    {"unknown": 1},
    {"tuple": 1},
    {"tuple": {"a": 1}},
    {"tuple": [], "dict": []},
    {"dict": [[1]]},
    {"dict": [1]},
    {"dict": [{"tuple": [1, 2]}]},
    {"dict": [[1, 2], [1, 3]]},
    {"dict": [[[1], 2]]},
    {"range": [1, 2]},
    {"range": [1, 2, 0]},
    {"range": [1, 2, 1.5]},
    {"range": [1, 2, True]},
    {"int": 5},
    {"int": "zz"},
    {"float": "1.5"},
    {"float": ["nan"]},
    {"scalar": ["<f8"]},
    {"scalar": ["<f8", 1]},
    {"scalar": ["<f16", 1.0]},
    {"scalar": ["O", 1.0]},
    {"scalar": ["|O8", 1.0]},
    {"scalar": ["<U1", 1]},
    {"scalar": ["|u1", 300]},
    {"scalar": ["|u1", -1]},
    {"scalar": ["<M8[D]", {"int": "0x10000000000000000"}]},
    {"scalar": ["<i8", None]},
    {"scalar": [["<f8"], 1.0]},
    {"array": "0.npy"},
    {"array": 0},
    {"objects": ["a"], "shape": [2]},
    {"objects": ["a"], "shape": [-1]},
    {"objects": ["a"], "shape": [1.0]},
    {"objects": ["a"], "shape": "1"},
    {"objects": [], "shape": [0] * 65},
    {"objects": [[1]], "shape": [1]},
    {"objects": [{"class": "Ridge", "params": {}, "state": {}}], "shape": [1]},
    {"class": "Ridge"},
    {"class": "Ridge", "params": {}},
    {"class": "Ridge", "params": [], "state": {}},
    {"class": "Ridge", "params": {}, "state": None},
    {"class": ["Ridge"], "params": {}, "state": {}},
]


@pytest.mark.parametrize("node", MALFORMED, ids=str)
def test_a_malformed_node_is_a_clear_error(node):
    with pytest.raises(DataError, match=r"^model(\.| |\[)|^the dtype"):
        Decoding({}).value(node, MODEL)
