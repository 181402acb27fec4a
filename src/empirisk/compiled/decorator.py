"""The one way to compile a loop."""

import gc
from contextlib import contextmanager, suppress
from typing import Any, NamedTuple

from numba import njit
from numba.core import config
from numba.core.compiler import Compiler, Flags
from numba.core.registry import CPUDispatcher

from empirisk.compiled.cache import RoomCache
from empirisk.compiled.inner import InnerCompiler, LeafCompiler


class Kernel(NamedTuple):
    """A compiled function and the number of signatures it may be compiled for."""

    dispatcher: Any
    declared: int


KERNELS: dict[str, Kernel] = {}
"""Every compiled function by its full name."""


@contextmanager
def collector_at_rest():
    """Without the search for unused cycles: compiling makes millions of objects and few of them."""
    if not gc.isenabled():
        yield
        return
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


class SteadyFlags(Flags):
    """Numba's options of a function, compared by those that were set.

    Numba looks up each operation of a function together with its options, and compares all forty
    of them each time: a twelfth of the time to compile.
    """

    __slots__ = ()

    def __eq__(self, other):
        if not isinstance(other, Flags):
            return NotImplemented
        mine, theirs = self._values, other._values
        return mine == theirs or all(
            getattr(self, name) == getattr(other, name) for name in mine.keys() | theirs.keys()
        )

    def __hash__(self):
        return ALL_OPTIONS


ALL_OPTIONS = hash(Flags())
"""Numba's options have the same hash whatever they are."""


class KernelDispatcher(CPUDispatcher):
    """Of a compiled function."""

    def compile(self, sig):
        with collector_at_rest():
            return super().compile(sig)


class InnerDispatcher(KernelDispatcher):
    """Of a function without a door from Python, where its Python original is run."""

    def __call__(self, *arguments):
        return self.py_func(*arguments)

    def add_overload(self, cres):
        if not self.targetoptions.get("_nrt", True) and holds_array(cres):
            raise TypeError(f"{self.py_func.__name__} returns an array: say makes_arrays=True")
        super().add_overload(cres)


def holds_array(result):
    """Whether what a compiled function returns has memory that is counted."""
    model = result.target_context.data_model_manager[result.signature.return_type]
    return model.contains_nrt_meminfo()


def compiled(function=None, *, signatures=1, inner=False, leaf=False, makes_arrays=False):
    """Compile a function when it is first called, and keep the code on disk.

    `signatures` is for how many combinations of argument types it is meant to be compiled, one
    unless said otherwise: each costs seconds, and one too many is a door that let in an array of
    another type or layout. The test suite ends with a check (`surplus`).

    An `inner` function is compiled for compiled functions alone (see `inner`). A door from Python,
    a third of the time to compile where there are many arrays, and machine code of its own are left
    out; from Python its original is run. Unless it says that it makes arrays, or returns some, it
    does not count who uses them: its caller has them. A `leaf` is an inner function whose loops are
    vectorised before its callers take it in.

    The code runs without the interpreter's lock, and a division by zero gives an infinity or NaN,
    as in NumPy: a check of each would cost time and code. `function.py_func` is the Python
    original.

    Examples
    --------
    >>> import numpy as np
    >>> @compiled
    ... def total(values):
    ...     s = 0.0
    ...     for i in range(values.size):
    ...         s += values[i]
    ...     return s
    >>> print(total(np.ones(3)), total.py_func(np.ones(3)))
    3.0 3.0
    """
    if function is None:
        return lambda function: compiled(
            function, signatures=signatures, inner=inner, leaf=leaf, makes_arrays=makes_arrays
        )
    if config.DISABLE_JIT:  # for debuggers: NUMBA_DISABLE_JIT=1
        function.py_func = function
        return function
    within = inner or leaf
    kernel = njit(
        nogil=True,
        error_model="numpy",
        no_cpython_wrapper=within,
        no_cfunc_wrapper=True,
        _nrt=makes_arrays or not within,
        pipeline_class=LeafCompiler if leaf else InnerCompiler if inner else Compiler,
    )(function)
    kernel.__class__ = InnerDispatcher if within else KernelDispatcher
    kernel._compiler._customize_flags = SteadyFlags
    with suppress(RuntimeError, OSError):  # nowhere to keep the code: each process compiles it
        kernel._cache = RoomCache(function, within)
    KERNELS[f"{function.__module__}.{function.__qualname__}"] = Kernel(kernel, signatures)
    return kernel


def surplus():
    """A line for each function that has been compiled for more signatures than it declares."""
    return [
        f"{name} declares {kernel.declared} signature(s) and was compiled for "
        f"{len(kernel.dispatcher.signatures)}: {', '.join(map(str, kernel.dispatcher.signatures))}"
        for name, kernel in KERNELS.items()
        if len(kernel.dispatcher.signatures) > kernel.declared
    ]
