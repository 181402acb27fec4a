"""Rows in tiles: 64 of them side by side, feature-major, so that one instruction serves several.

`tiles[t, j, r]` is feature j of row 64 t + r, and `weight[t, r]` the row's weight; what fills up
the last tile has weight 0. Sums over rows are kept in eight lanes, the sums of every eighth row,
until all rows are seen.
"""

from numba import types
from numba.core import cgutils
from numba.extending import intrinsic, overload
from numba.np import arrayobj

from empirisk.compiled.decorator import compiled
from empirisk.compiled.team import take

ir = cgutils.ir  # the language that Numba writes for LLVM

LANES = 64
WIDTH = 8  # lanes of a sum
FAR = 1e140
STEP = 4  # features are worked on four by four
VECTOR = ir.VectorType(ir.DoubleType(), WIDTH)


def add_products(sums, k, i, j, left, right):
    """sums[k, i, j + m] += left[i] * right[j + m] for m = 0..3, lane by lane.

    Compiled, four vectors stay in registers while the 64 products of each are added to them.
    """
    for m in range(STEP):
        products = (left[i] * right[j + m]).reshape(-1, WIDTH)
        for c in range(LANES // WIDTH):
            sums[k, i, j + m] += products[c]


@overload(add_products)
def _compiled_add_products(sums, k, i, j, left, right):
    return lambda sums, k, i, j, left, right: _add_products(sums, k, i, j, left, right)


def add_lanes(sums, k, j, values):
    """sums[k, j] += values[j], lane by lane."""
    for c in range(LANES // WIDTH):
        sums[k, j] += values[j, c * WIDTH : (c + 1) * WIDTH]


@overload(add_lanes)
def _compiled_add_lanes(sums, k, j, values):
    return lambda sums, k, j, values: _add_lanes(sums, k, j, values)


ZERO = ir.Constant(ir.IntType(64), 0)


def _vectors(context, builder, kind, array, places):
    """A pointer to the vectors that begin at these places of an array."""
    view = arrayobj.make_array(kind)(context, builder, array)
    place = cgutils.get_item_pointer(context, builder, kind, view, places)
    return builder.bitcast(place, VECTOR.as_pointer())


def _at(builder, pointer, c):
    return builder.gep(pointer, [ir.Constant(ir.IntType(64), c)])


def _load(builder, pointer, c):
    vector = builder.load(_at(builder, pointer, c))
    vector.align = 8
    return vector


@intrinsic
def _add_products(typing_context, sums, k, i, j, left, right):
    def generate(context, builder, signature, arguments):
        sums, k, i, j, left, right = arguments
        kinds = signature.args
        fused = builder.module.declare_intrinsic(
            "llvm.fma.v8f64", fnty=ir.FunctionType(VECTOR, [VECTOR] * 3)
        )
        place = _vectors(context, builder, kinds[0], sums, [k, i, j, ZERO])
        rows = _vectors(context, builder, kinds[4], left, [i, ZERO])
        columns = _vectors(context, builder, kinds[5], right, [j, ZERO])
        total = [_load(builder, place, m) for m in range(STEP)]
        for c in range(LANES // WIDTH):
            one = _load(builder, rows, c)
            for m in range(STEP):
                other = _load(builder, columns, m * (LANES // WIDTH) + c)
                total[m] = builder.call(fused, [one, other, total[m]])
        for m in range(STEP):
            builder.store(total[m], _at(builder, place, m), align=8)
        return context.get_dummy_value()

    number = types.int64
    return types.void(sums, number, number, number, left, right), generate


@intrinsic
def _add_lanes(typing_context, sums, k, j, values):
    def generate(context, builder, signature, arguments):
        sums, k, j, values = arguments
        place = _vectors(context, builder, signature.args[0], sums, [k, j, ZERO])
        source = _vectors(context, builder, signature.args[3], values, [j, ZERO])
        total = _load(builder, place, 0)
        for c in range(LANES // WIDTH):
            total = builder.fadd(total, _load(builder, source, c))
        builder.store(total, place, align=8)
        return context.get_dummy_value()

    return types.void(sums, types.int64, types.int64, values), generate


@compiled
def fill_tiles(sync, first, X, unit, shift, tiles):
    """tiles[t, j, r] = X[i, j] * unit[j] - shift[j]; 0 where X is missing, and behind the end.

    Rows that are further away than any density reaches are brought so near that their squares are
    numbers.
    """
    n, p = X.shape
    b = take(sync)
    while b < first.size - 1:
        for t in range(first[b], first[b + 1]):
            tiles[t] = 0.0
            for r in range(min(LANES, n - t * LANES)):
                for j in range(p):
                    z = X[t * LANES + r, j] * unit[j] - shift[j]
                    tiles[t, j, r] = min(max(z, -FAR), FAR) if z == z else 0.0
        b = take(sync)
