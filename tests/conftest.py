"""What holds for the whole suite."""

import gc
import os
import sys
from pathlib import Path

import numpy as np
import pytest

from shared_compiling import compile_once

STATES: dict[int, dict] = {}
"""Of the generators of modules, before their first test."""


def pytest_sessionstart(session):
    """No two workers compile the same, also what modules compile as they are collected.

    The workers of xdist have one parent folder for their temporary files, and one cache.
    """
    if os.name == "posix" and hasattr(session.config, "workerinput"):
        patch = pytest.MonkeyPatch()
        compile_once(patch, Path(session.config.option.basetemp).parent)
        session.config.add_cleanup(patch.undo)


def pytest_collection():
    gc.disable()  # next to nothing that is found becomes garbage


def pytest_collection_finish():
    """Leave modules and ten thousand tests out of every later collection of garbage."""
    gc.enable()
    gc.collect()
    gc.freeze()


def pytest_unconfigure():
    gc.unfreeze()


@pytest.fixture(scope="session", autouse=True)
def no_kernel_has_more_signatures_than_it_declares():
    """Ends the session, in each worker of xdist, with a look at every compiled function."""
    yield
    decorator = sys.modules.get("empirisk.compiled.decorator")
    lines = decorator.surplus() if decorator else []
    if lines:
        pytest.fail("too many signatures were compiled:\n" + "\n".join(lines), pytrace=False)


@pytest.fixture(autouse=True)
def no_number_depends_on_the_tests_before(request):
    """Tests of a module share its generator, which each finds as the module left it."""
    for name in ("rng", "RNG"):
        shared = getattr(getattr(request.node, "module", None), name, None)
        if isinstance(shared, np.random.Generator):
            bits = shared.bit_generator
            bits.state = STATES.setdefault(id(shared), bits.state)
