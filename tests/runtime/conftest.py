"""What the tests of the runtime share."""

import os
import signal
import threading

import pytest


@pytest.fixture
def interrupt_soon():
    """A function that sends this process an interrupt a little later.

    A process that a shell started with "&" ignores interrupts, so their handler is set here.
    """
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield lambda: threading.Timer(0.3, os.kill, [os.getpid(), signal.SIGINT]).start()
    signal.signal(signal.SIGINT, before)
