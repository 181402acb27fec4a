"""A process of our own that runs one function at a time and can be ended in the middle of it.

It is a fresh interpreter, not a fork: nothing of the caller's threads or locks comes along, and
the caller's script is not run again. Starting one takes a second or two, so a child that has
answered is kept for a while for the next call. It ends when its pipe is closed, that is with the
caller, however the caller ends.

Requests come through the child's standard input and answers leave through its standard output;
what the function prints goes to standard error. Arrays travel beside the pickle, uncopied.
"""

import atexit
import os
import pickle
import signal
import subprocess
import sys
import threading
import traceback
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from queue import SimpleQueue
from typing import IO, Any

import cloudpickle
import sklearn

from empirisk.runtime.errors import EmpiriskError
from empirisk.runtime.workers import Heard, hear_warnings

Message = list[Any]
"""A pickle and the buffers of the arrays in it."""

_PROGRAM = "import sys; sys.path[:] = {}; from empirisk.runtime.child import serve; serve()"
_READY = b"ready"
_GRACE = 1.0  # seconds between asking a process to end and ending it
_IDLE = 300.0  # seconds without work after which a child is ended


class Child:
    """The caller's end: `exchange` runs a function over there, `end` ends it and all it started."""

    def __init__(self) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-c", _PROGRAM.format([str(folder) for folder in sys.path])],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            start_new_session=os.name == "posix",  # a group of its own, to be ended as a whole
        )
        self.ready = False

    @property
    def requests(self) -> IO[bytes]:
        assert self.process.stdin is not None
        return self.process.stdin

    @property
    def replies(self) -> IO[bytes]:
        assert self.process.stdout is not None
        return self.process.stdout

    def start(self) -> None:
        """Wait until it is ready for requests."""
        self.ready = self.ready or receive(self.replies) == [_READY]
        if not self.ready:
            raise EmpiriskError(
                f"no child process could be started with {sys.executable!r}; "
                "what it complained of is on standard error"
            )

    def exchange(self, request: Message) -> Message | None:
        """Send a request and wait for the answer; None when the child died over it."""
        try:
            send(self.requests, request)
            return receive(self.replies)
        except OSError:
            return None

    def epitaph(self) -> str:
        """How a process that died by itself died."""
        with suppress(subprocess.TimeoutExpired):
            self.process.wait(_GRACE)
        code = self.process.returncode
        if code is None or code >= 0:
            return f"exit code {code}"
        return signal.Signals(-code).name

    def end(self) -> None:
        """Ask, then insist; waits for the process, so that nothing is left of it."""
        self._signal(signal.SIGTERM)
        with suppress(subprocess.TimeoutExpired):
            self.process.wait(_GRACE)
        self._signal(getattr(signal, "SIGKILL", signal.SIGTERM))
        self.process.wait()
        for pipe in (self.requests, self.replies):
            with suppress(OSError):  # bytes that nobody will read are still in the buffer
                pipe.close()

    def _signal(self, number: int) -> None:
        with suppress(OSError):  # it has ended already
            if os.name == "posix":
                os.killpg(self.process.pid, number)
            else:
                self.process.terminate()


class Children:
    """Children that wait for work, each with a timer that ends it."""

    def __init__(self) -> None:
        self.idle: dict[Child, threading.Timer] = {}
        self.lock = threading.Lock()
        atexit.register(self.end)
        if hasattr(os, "register_at_fork"):  # a fork must not talk to our children
            os.register_at_fork(after_in_child=self.forget)

    def take(self) -> Child:
        with self.lock:
            while self.idle:
                child, timer = self.idle.popitem()
                timer.cancel()
                if child.process.poll() is None:
                    return child
                child.end()
        return Child()

    def give_back(self, child: Child) -> None:
        timer = threading.Timer(_IDLE, self.retire, [child])
        timer.daemon = True
        with self.lock:
            self.idle[child] = timer
        timer.start()

    def retire(self, child: Child) -> None:
        with self.lock:
            waiting = self.idle.pop(child, None) is not None
        if waiting:
            child.end()

    def forget(self) -> None:
        self.idle, self.lock = {}, threading.Lock()

    def end(self) -> None:
        for child in list(self.idle):
            self.retire(child)


def pack(content: Any) -> Message:
    """Pickle anything that cloudpickle can, leaving the arrays where they are."""
    buffers: list[pickle.PickleBuffer] = []
    head = cloudpickle.dumps(content, protocol=5, buffer_callback=buffers.append)
    return [head, *(buffer.raw() for buffer in buffers)]


def unpack(message: Message) -> Any:
    """What was packed; its arrays are writable and own the bytes that were received."""
    return pickle.loads(message[0], buffers=message[1:])  # noqa: S301  (our own child wrote it)


def send(pipe: IO[bytes], message: Message) -> None:
    """The number of parts, their sizes, and the parts."""
    for number in (len(message), *(memoryview(part).nbytes for part in message)):
        pipe.write(number.to_bytes(8, "little"))
    for part in message:
        pipe.write(part)
    pipe.flush()


def receive(pipe: IO[bytes]) -> Message | None:
    """The next message; None when the other end is closed."""
    try:
        parts = int.from_bytes(_read(pipe, 8), "little")
        sizes = [int.from_bytes(_read(pipe, 8), "little") for _ in range(parts)]
        return [_read(pipe, size) for size in sizes]
    except EOFError:
        return None


def _read(pipe: IO[bytes], size: int) -> bytearray:
    content = bytearray(size)
    view, done = memoryview(content), 0
    while done < size:
        got = pipe.readinto(view[done:])  # type: ignore[attr-defined]  # a pipe of Popen is buffered
        if not got:
            raise EOFError
        done += got
    return content


def serve() -> None:
    """The child's program: answer requests until the caller is gone."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the caller decides what an interrupt means
    requests, replies = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    sys.stdout.reconfigure(line_buffering=True)  # type: ignore[union-attr]  # a text stream
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    inbox: SimpleQueue[Message] = SimpleQueue()
    threading.Thread(target=_listen, args=(requests, inbox), daemon=True).start()
    send(replies, [_READY])
    while True:
        send(replies, answer(inbox.get()))


def _listen(requests: IO[bytes], inbox: "SimpleQueue[Message]") -> None:
    while (request := receive(requests)) is not None:
        inbox.put(request)
    os._exit(0)  # the caller is gone; nobody wants the answer


def request_for(function: Callable[..., Any], args: tuple[Any, ...]) -> Message:
    """What `answer` takes: the call, and the caller's settings that it should find."""
    folders = pickle.dumps([str(folder) for folder in sys.path])
    return [folders, *pack((function, args, sklearn.get_config()))]


@dataclass
class Answer:
    """What became of a call. An exception travels pickled, since some cannot be unpickled."""

    result: Any = None
    failure: str = ""
    exception: bytes = b""
    traceback: str = ""
    warnings: Heard = field(default_factory=list)


def answer(request: Message) -> Message:
    """Make the call in the child."""
    sys.path[:] = pickle.loads(request[0])  # noqa: S301  (our own caller wrote it)
    reply = Answer()
    with hear_warnings() as heard:
        try:
            function, args, config = unpack(request[1:])
            with sklearn.config_context(**config):
                reply.result = function(*args)
        except BaseException as error:
            reply = _failure(error)
    reply.warnings = heard
    try:
        return pack(reply)
    except Exception as error:
        return pack(_failure(EmpiriskError(f"the result cannot be sent back: {error}")))


def _failure(error: BaseException) -> Answer:
    reply = Answer(failure=f"{type(error).__name__}: {error}", traceback=traceback.format_exc())
    if isinstance(error, Exception):  # SystemExit must not end the caller too
        with suppress(Exception):
            reply.exception = cloudpickle.dumps(error)
    return reply
