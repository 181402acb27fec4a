"""Workers of the suite share the work of compiling: what one compiles, another waits for and loads.

Compiled code is kept on disk as soon as it is made (`empirisk.compiled.cache`), but two workers
that need a function at the same time would both compile it.
"""

from contextlib import contextmanager
from hashlib import sha256

from numba.core.compiler_lock import global_compiler_lock
from numba.core.dispatcher import Dispatcher


def compile_once(patch, folder):
    """Let one process at a time compile, or load, one signature of one function.

    A process waits for another only while it compiles a caller of what the other compiles, so no
    two wait for each other. Numba's own lock comes first: it keeps out the threads of a process.
    """
    alone = Dispatcher.compile

    def compile_or_wait(self, sig):
        function = self.py_func
        code = f"{function.__module__} {function.__qualname__} {sig}"
        with global_compiler_lock, only_process(folder / sha256(code.encode()).hexdigest()):
            return alone(self, sig)

    patch.setattr(Dispatcher, "compile", compile_or_wait)


HELD = set()


@contextmanager
def only_process(path):
    """Hold a file that other processes wait for; the system lets go of it if this one dies."""
    import fcntl  # not on Windows

    if path in HELD:  # a function that calls itself
        yield
        return
    with path.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        HELD.add(path)
        try:
            yield
        finally:
            HELD.remove(path)
            fcntl.flock(file, fcntl.LOCK_UN)
