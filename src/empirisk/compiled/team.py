"""A team of threads inside one compiled function each: they meet at barriers and share out tasks.

All threads of a team call the same function with the same arrays and their own rank. Between two
meetings a thread writes what no other one reads or writes. Meeting costs less than a microsecond,
where starting and joining threads from Python costs thirty. A thread that waits long gives its core
away; if a team mate cannot come, Python sets `sync[STOP]`, and all leave.
"""

import os

import numpy as np
from numba import types
from numba.core import cgutils
from numba.core.typing import signature
from numba.extending import intrinsic, overload
from numba.np import arrayobj

from empirisk.compiled.decorator import compiled

# Places in `sync`, an int64 array: a cache line and its neighbour for what many threads write.
ARRIVED, PHASE, STOP, TASK, SHARED = 0, 16, 32, 48, 64
SYNC_SIZE = 96
PATIENCE = 4096  # looks before a waiting thread gives its core away


def fetch_add(array, i, amount):
    """array[i] += amount, at one stroke for all threads; returns what it was."""
    before = array[i]
    array[i] += amount
    return before


def load(array, i):
    """array[i] as other threads wrote it last."""
    return array[i]


def store(array, i, value):
    """array[i] = value, seen by other threads after all that was written before."""
    array[i] = value


def give_way():
    """Let another thread have the core."""


@overload(fetch_add)
def _compiled_fetch_add(array, i, amount):
    return lambda array, i, amount: _fetch_add(array, i, amount)


@overload(load)
def _compiled_load(array, i):
    return lambda array, i: _load(array, i)


@overload(store)
def _compiled_store(array, i, value):
    return lambda array, i, value: _store(array, i, value)


def _pointer(context, builder, kind, array, i):
    view = arrayobj.make_array(kind)(context, builder, array)
    return cgutils.get_item_pointer(context, builder, kind, view, [i])


@intrinsic
def _fetch_add(typing_context, array, i, amount):
    def generate(context, builder, signature, arguments):
        place = _pointer(context, builder, signature.args[0], arguments[0], arguments[1])
        return builder.atomic_rmw("add", place, arguments[2], "seq_cst")

    return types.int64(array, types.int64, types.int64), generate


@intrinsic
def _load(typing_context, array, i):
    def generate(context, builder, signature, arguments):
        place = _pointer(context, builder, signature.args[0], arguments[0], arguments[1])
        return builder.load_atomic(place, "acquire", 8)

    return types.int64(array, types.int64), generate


@intrinsic
def _store(typing_context, array, i, value):
    def generate(context, builder, signature, arguments):
        place = _pointer(context, builder, signature.args[0], arguments[0], arguments[1])
        builder.store_atomic(arguments[2], place, "release", 8)
        return context.get_dummy_value()

    return types.void(array, types.int64, types.int64), generate


if hasattr(os, "sched_yield"):
    _sched_yield = types.ExternalFunction("sched_yield", signature(types.int32))

    @overload(give_way)
    def _compiled_give_way():
        return lambda: _sched_yield()

else:

    @overload(give_way)
    def _compiled_give_way():
        return lambda: None


@compiled(inner=True)
def meet(sync, team):
    """Wait until all threads of the team are here; False if the team was stopped.

    What they wrote before is seen by all after. Tasks are numbered from 0 again.
    """
    phase = load(sync, PHASE)
    if fetch_add(sync, ARRIVED, 1) == team - 1:
        store(sync, ARRIVED, 0)
        store(sync, TASK, 0)
        store(sync, PHASE, phase + 1)
        return load(sync, STOP) == 0
    looks = np.int64(0)
    while load(sync, PHASE) == phase:
        looks += 1
        if looks > PATIENCE:
            if load(sync, STOP) != 0:
                return False
            give_way()
    return load(sync, STOP) == 0


@compiled(inner=True)
def take(sync):
    """The number of the next task that nobody has taken since the team met."""
    return fetch_add(sync, TASK, 1)
