"""The bits of a number as a whole number of the same width, and back; float64 or float32."""

import numpy as np
from numba import types
from numba.extending import intrinsic, overload

BITS = {types.float64: types.int64, types.float32: types.int32}
NUMBERS = {bits: number for number, bits in BITS.items()}


def to_bits(number):
    """The bits of a float64, an int64; those of a float32, an int32."""
    number = number if isinstance(number, np.float32) else np.float64(number)
    return number.view(f"i{number.itemsize}")


def from_bits(pattern):
    """The float64 that has the bits of an int64; the float32 that has those of an int32."""
    pattern = pattern if isinstance(pattern, np.int32) else np.int64(pattern)
    return pattern.view(f"f{pattern.itemsize}")


@overload(to_bits)
def _compiled_to_bits(number):
    return lambda number: _pattern(number)


@overload(from_bits)
def _compiled_from_bits(pattern):
    return lambda pattern: _number(pattern)


@intrinsic
def _pattern(typing_context, number):
    return BITS[number](number), _same_bits


@intrinsic
def _number(typing_context, pattern):
    return NUMBERS[pattern](pattern), _same_bits


def _same_bits(context, builder, signature, arguments):
    return builder.bitcast(arguments[0], context.get_value_type(signature.return_type))
