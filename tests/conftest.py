"""What holds for the whole suite."""

import sys

import pytest


@pytest.fixture(scope="session", autouse=True)
def no_kernel_has_more_signatures_than_it_declares():
    """Ends the session, in each worker of xdist, with a look at every compiled function."""
    yield
    decorator = sys.modules.get("empirisk.compiled.decorator")
    lines = decorator.surplus() if decorator else []
    if lines:
        pytest.fail("too many signatures were compiled:\n" + "\n".join(lines), pytrace=False)
