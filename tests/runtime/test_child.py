"""Foreign work in a process of its own: the same results, and an end when its time is used up."""

import ctypes
import os
import signal
import subprocess
import sys
import threading
import time
import warnings

import numpy as np
import pytest
import sklearn
from sklearn.base import BaseEstimator
from sklearn.linear_model import LinearRegression

from empirisk.runtime import deadlines
from empirisk.runtime.deadlines import call_with_timeout, deadline, time_left
from empirisk.runtime.errors import DeadlineError, EmpiriskError
from empirisk.runtime.parallel import parallel

posix = pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")
LONG = 3600.0


def test_a_foreign_fit_gives_the_model_that_it_gives_here():
    X = np.random.default_rng(0).normal(size=(50, 3))
    y = X @ [1.0, 2.0, 3.0] + 1
    there = call_with_timeout(LinearRegression().fit, X, y, seconds=LONG)
    # Same code and one BLAS thread in both; the last bit may depend on the number of threads here.
    np.testing.assert_allclose(there.coef_, LinearRegression().fit(X, y).coef_, rtol=1e-12)
    assert call_with_timeout(os.getpid, seconds=LONG) != os.getpid()


def test_a_child_that_has_answered_is_used_again_and_arrays_arrive_writable():
    def work(X):
        X[0] = 7.0
        return os.getpid(), X

    X = np.zeros((1000, 300))  # 2.4 MB, far more than a pipe holds
    pids = {call_with_timeout(work, X, seconds=LONG)[0] for _ in range(3)}
    assert len(pids) == 1
    changed = call_with_timeout(work, X, seconds=LONG)[1]
    assert changed[0, 0] == 7
    assert X[0, 0] == 0
    changed[0] = 1.0


@pytest.mark.parametrize(
    "array",
    [np.empty((0, 3)), np.asfortranarray(np.eye(3)), np.arange(10)[::3], np.array(["a", None])],
    ids=["empty", "Fortran", "strided", "objects"],
)
def test_arrays_of_every_kind_arrive_as_they_were(array):
    there, shape = call_with_timeout(lambda a: (a, a.shape), array, seconds=LONG)
    np.testing.assert_array_equal(there, array)
    assert shape == array.shape
    assert there.dtype == array.dtype


def test_what_foreign_work_prints_does_not_disturb_the_answer(capfd):
    assert call_with_timeout(print, "hello", seconds=LONG) is None
    assert call_with_timeout(os.system, "echo from a shell", seconds=LONG) == 0
    assert capfd.readouterr().out == ""


def sleeping_fit():
    # The class travels by value: a child cannot import this file.
    class Sleeping(BaseEstimator):
        def fit(self, X, y=None):
            time.sleep(LONG)

    return Sleeping().fit


def deaf_c_code():
    def deaf(X, y=None):
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        ctypes.PyDLL(None).sleep(int(LONG))  # in C, holding the interpreter's lock

    return deaf


@pytest.mark.parametrize(
    "make", [sleeping_fit, pytest.param(deaf_c_code, marks=posix)], ids=lambda make: make.__name__
)
def test_foreign_work_is_ended_when_its_time_is_used_up(make):
    work = make()
    child = started_child()
    with pytest.raises(DeadlineError, match=r"not finished after 0\.2 s and was ended"):
        call_with_timeout(work, np.zeros((3, 1)), seconds=0.2)
    assert_nothing_is_left_of(child)


def test_the_deadline_of_the_caller_ends_foreign_work():
    with deadline(0), pytest.raises(DeadlineError):
        call_with_timeout(abs, 1)
    started_child()
    with deadline(0.2), pytest.raises(DeadlineError):
        call_with_timeout(time.sleep, LONG, seconds=LONG)


@posix
@pytest.mark.slow
def test_what_foreign_work_has_started_ends_with_it(tmp_path):
    def work(file):
        file.write_text(str(subprocess.Popen(["sleep", str(LONG)]).pid))
        time.sleep(LONG)

    started_child()
    with pytest.raises(DeadlineError):
        call_with_timeout(work, tmp_path / "pid", seconds=1.0)
    assert_ends(int((tmp_path / "pid").read_text()))


@posix
@pytest.mark.parametrize("how", ["exit code 3", pytest.param("SIGSEGV", marks=pytest.mark.slow)])
def test_the_death_of_a_child_is_an_error_and_the_next_call_gets_another(how):
    def work(how):
        os._exit(3) if how == "exit code 3" else os.kill(os.getpid(), signal.SIGSEGV)

    child = started_child()
    with pytest.raises(EmpiriskError, match=rf"died \({how}\)"):
        call_with_timeout(work, how, seconds=LONG)
    assert_nothing_is_left_of(child)
    assert call_with_timeout(abs, -1, seconds=LONG) == 1


@posix
@pytest.mark.slow
def test_a_death_is_noticed_though_a_fork_holds_the_pipe_open():
    def work():
        if os.fork() == 0:
            time.sleep(LONG)
        os._exit(3)

    child = started_child()
    with pytest.raises(EmpiriskError, match=r"died \(exit code 3\)"):
        call_with_timeout(work, seconds=LONG)
    assert_nothing_is_left_of(child)


@posix
@pytest.mark.slow
def test_an_idle_child_that_has_died_is_replaced():
    child = started_child()
    child.process.kill()
    child.process.wait()
    assert call_with_timeout(abs, -1, seconds=LONG) == 1


def test_an_exception_comes_back_with_its_traceback():
    def deep_inside():
        raise KeyError("the reason")

    def work():
        deep_inside()

    with pytest.raises(KeyError, match="the reason") as caught:
        call_with_timeout(work, seconds=LONG)
    assert "in deep_inside" in str(caught.value.__cause__)


def test_exceptions_that_cannot_travel_are_told():
    class Stubborn(Exception):
        def __init__(self, a, b):
            super().__init__("stubborn")

    def work():
        raise Stubborn(1, 2)

    with pytest.raises(EmpiriskError, match="Stubborn: stubborn"):
        call_with_timeout(work, seconds=LONG)


def test_an_exit_over_there_is_no_exit_here():
    with pytest.raises(EmpiriskError, match="SystemExit: 4"):
        call_with_timeout(sys.exit, 4, seconds=LONG)


def test_what_cannot_be_sent_is_refused_in_both_directions():
    with pytest.raises(EmpiriskError, match="cannot be sent to another process"):
        call_with_timeout(len, threading.Lock(), seconds=LONG)
    with pytest.raises(EmpiriskError, match="result cannot be sent back"):
        call_with_timeout(threading.Lock, seconds=LONG)


def test_warnings_and_settings_of_scikit_learn_pass_between_caller_and_child():
    def work():
        warnings.warn("from over there", RuntimeWarning)
        return sklearn.get_config()["assume_finite"]

    with (
        sklearn.config_context(assume_finite=True),
        pytest.warns(RuntimeWarning, match="from over there"),
    ):
        assert call_with_timeout(work, seconds=LONG)


def test_our_own_work_in_a_child_sees_the_limit_and_the_level():
    def work(_):
        inside = parallel(lambda _: threading.get_ident(), range(2), n_jobs=2)
        return time_left(), set(inside) == {threading.get_ident()}

    left, in_turn = call_with_timeout(work, None, seconds=50)
    assert 0 < left <= 50
    assert not in_turn
    by_workers = parallel(lambda i: call_with_timeout(work, i, seconds=50), range(2), n_jobs=2)
    assert all(in_turn for _, in_turn in by_workers)


def test_calls_from_several_threads_have_children_of_their_own():
    meeting = threading.Barrier(2)

    def call(_):
        meeting.wait(timeout=60)
        return call_with_timeout(lambda: (time.sleep(0.3), os.getpid())[1], seconds=LONG)

    assert len(set(parallel(call, range(2), n_jobs=2))) == 2


def test_a_child_that_nobody_needs_is_ended_after_a_while(monkeypatch):
    child = started_child()
    monkeypatch.setattr("empirisk.runtime.child._IDLE", 0.0)
    call_with_timeout(abs, 1, seconds=LONG)
    child.process.wait(timeout=60)
    assert child not in deadlines._children.idle


@posix
def test_an_interrupt_ends_the_child(interrupt_soon):
    child = started_child()
    interrupt_soon()
    with pytest.raises(KeyboardInterrupt):
        call_with_timeout(time.sleep, LONG, seconds=LONG)
    assert_nothing_is_left_of(child)


@posix
@pytest.mark.slow
def test_children_end_with_their_caller_however_it_ends():
    program = """
import os, signal
from empirisk.runtime.deadlines import call_with_timeout
print(call_with_timeout(os.getpid, seconds=3600), flush=True)
os.kill(os.getpid(), signal.SIGKILL)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert_ends(int(done.stdout))


def started_child():
    """The child that the next call will use, started and ready."""
    call_with_timeout(abs, 1, seconds=LONG)
    return list(deadlines._children.idle)[-1]


def assert_nothing_is_left_of(child):
    assert child.process.returncode is not None  # ended and waited for: no zombie
    assert child not in deadlines._children.idle
    if os.name == "posix":
        assert not is_alive(child.process.pid)


def assert_ends(pid):
    for _ in range(2000):  # it takes a moment to notice, and to be buried
        if not is_alive(pid):
            return
        time.sleep(0.01)
    raise AssertionError(f"process {pid} lives on")


def is_alive(pid):
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    try:
        with open(f"/proc/{pid}/stat") as stat:
            return stat.read().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return True
