"""Limits of time.

Our own work is done in slices, and between slices it looks at the clock. The work of a foreign
estimator cannot be asked to look: it runs in a process that can be ended.
"""

import pickle
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from math import inf
from typing import Any

from empirisk.runtime.child import Answer, Child, Children, request_for, unpack
from empirisk.runtime.errors import DeadlineError, EmpiriskError, ParameterError
from empirisk.runtime.scalars import real
from empirisk.runtime.workers import nested, one_blas_thread, quiet, repeat_warnings


@dataclass
class Deadline:
    """A moment on the monotonic clock; moving it into the past stops the work under it."""

    end: float
    outer: "Deadline | None"


current: ContextVar[Deadline | None] = ContextVar("deadline", default=None)


@contextmanager
def deadline(seconds: float | None) -> Iterator[Deadline]:
    """Allow the work inside so many seconds; of nested limits the earlier holds.

    Examples
    --------
    >>> with deadline(60):
    ...     check_deadline()
    """
    given = 0.0 if seconds is None else real(seconds)
    if given is None or not given >= 0:
        raise ParameterError(f"a deadline of {seconds!r} seconds; give a number >= 0 or None")
    with until(inf if seconds is None else time.monotonic() + seconds) as limit:
        yield limit


@contextmanager
def until(end: float) -> Iterator[Deadline]:
    """A deadline at a moment of the monotonic clock, which all processes of a machine share."""
    limit = Deadline(end, current.get())
    token = current.set(limit)
    try:
        yield limit
    finally:
        current.reset(token)


def end_of_time() -> float:
    """The moment at which the earliest deadline falls; infinite without one."""
    end, limit = inf, current.get()
    while limit is not None:
        end, limit = min(end, limit.end), limit.outer
    return end


def time_left() -> float:
    """Seconds until the deadline, infinite without one, negative when it has passed."""
    return end_of_time() - time.monotonic()


def check_deadline() -> None:
    """Raise `DeadlineError` when the time is used up; called between slices of work."""
    if time_left() <= 0:
        raise DeadlineError("the time allowed is used up: allow more, or use fewer rows")


def call_with_timeout(
    function: Callable[..., Any], *args: Any, seconds: float | None = None
) -> Any:
    """function(*args) in a process that is ended when the time is used up.

    For the work of foreign estimators, which cannot be asked to look at the clock. What they
    raise and warn of is raised and warned of here; what they print goes to standard error.

    Parameters
    ----------
    function : callable
        Anything that cloudpickle can send, so are its arguments and its result. Changes that it
        makes to its arguments stay in the other process: return what is wanted.
    seconds : float or None
        The time allowed, not counting the start of the process; an earlier `deadline` holds.

    Raises
    ------
    DeadlineError
        It was not finished in time.
    EmpiriskError
        The process died, or something could not be sent.

    Examples
    --------
    >>> call_with_timeout(divmod, 7, 2, seconds=60)
    (3, 1)
    """
    if seconds is not None and not (real(seconds) or 0.0) > 0:
        raise ParameterError(f"a time limit of {seconds!r} seconds; give a number > 0 or None")
    check_deadline()
    limit = min(inf if seconds is None else seconds, time_left())
    name = getattr(function, "__qualname__", type(function).__name__)
    try:
        request = request_for(_under_limit, (function, args, limit, nested.get()))
    except Exception as error:
        raise EmpiriskError(
            f"{name} or its arguments cannot be sent to another process: {error}; "
            "run it without a time limit"
        ) from error
    return _outcome(_answer(request, name, limit), name)


def _under_limit(
    function: Callable[..., Any], args: tuple[Any, ...], limit: float, was_nested: bool
) -> Any:
    nested.set(was_nested)
    quiet.set(True)
    with deadline(None if limit == inf else limit), one_blas_thread():
        return function(*args)


_children = Children()
_START = 120.0  # seconds; a fresh interpreter takes one or two, more on a busy machine
_LOOK = 1.0  # seconds between looks at whether a silent child is alive


def _answer(request: list[Any], name: str, limit: float) -> Answer:
    child = _children.take()
    try:
        reply = _talk(child, request, limit)
    except TimeoutError:
        if not child.ready:
            check_deadline()
            raise EmpiriskError(f"no child process was ready after {_START:g} s") from None
        raise DeadlineError(
            f"{name} was not finished after {limit:.3g} s and was ended; "
            "allow more time, use fewer rows, or leave it out"
        ) from None
    if reply is None:
        death = child.epitaph()
        child.end()  # what it had started may still live
        raise EmpiriskError(
            f"the process that ran {name} died ({death}): a crash in its compiled code, or too "
            "little memory; run it by itself to see which, use fewer rows, or leave it out"
        )
    _children.give_back(child)
    return unpack(reply)


def _talk(child: Child, request: list[Any], limit: float) -> list[Any] | None:
    """Another thread talks; this one looks at the clock and can be interrupted."""
    with ThreadPoolExecutor(1) as messenger:
        try:
            _await(messenger.submit(child.start), child, min(_START, time_left()))
            return _await(messenger.submit(child.exchange, request), child, min(limit, time_left()))
        except BaseException:
            child.end()  # which also ends the messenger's waiting
            raise


def _await(answer: Future[Any], child: Child, seconds: float) -> Any:
    end = time.monotonic() + seconds
    while True:
        try:
            return answer.result(min(_LOOK, max(end - time.monotonic(), 0.0)))
        except TimeoutError:
            if time.monotonic() >= end:
                raise
            if child.process.poll() is not None:  # dead, but what it forked holds its pipe open
                child.end()


class _RemoteTraceback(Exception):
    """Shown as the cause of an exception that came from a child process."""

    def __str__(self) -> str:
        return f'\n"""\n{self.args[0]}"""'


def _outcome(answer: Answer, name: str) -> Any:
    repeat_warnings(answer.warnings)
    if not answer.failure:
        return answer.result
    error: Exception
    try:
        error = pickle.loads(answer.exception)  # noqa: S301  (our own child wrote it)
    except Exception:
        error = EmpiriskError(f"{name} failed in its own process with {answer.failure}")
    raise error from _RemoteTraceback(answer.traceback)
