"""Sharing out work changes nothing but the time it takes."""

import os
import subprocess
import sys
import threading
import warnings
from types import SimpleNamespace

import numpy as np
import pytest
import sklearn
from threadpoolctl import threadpool_info, threadpool_limits

from empirisk.runtime import workers
from empirisk.runtime.deadlines import check_deadline, deadline, time_left
from empirisk.runtime.errors import DeadlineError, ParameterError
from empirisk.runtime.parallel import AHEAD, one_blas_thread, parallel, slices, stream
from empirisk.runtime.progress import track
from empirisk.runtime.streams import generator, spawn

KINDS = ["threads", "processes"]
# An exception ends joblib's processes, and it takes seconds to start others.
PROCESSES_THAT_END = pytest.param(2, "processes", marks=pytest.mark.slow)


def blas_threads(layers=("pthreads", "openmp", "unknown")):
    pools = [pool for pool in threadpool_info() if pool["user_api"] == "blas"]
    return {pool["num_threads"] for pool in pools if pool.get("threading_layer") in (None, *layers)}


@pytest.fixture
def two_blas_threads():
    np.ones((2, 2)) @ np.ones((2, 2))
    with threadpool_limits(2, user_api="blas"):
        yield


@pytest.mark.parametrize(
    "n_jobs, kind", [*((n_jobs, "threads") for n_jobs in (None, 1, 2, 4, -1)), (2, "processes")]
)
def test_results_are_the_same_bits_in_the_order_of_the_items_whatever_n_jobs(n_jobs, kind):
    def work(seed):
        return generator(seed).normal(size=50).sum()

    seeds = spawn(0, 7)
    assert parallel(work, seeds, n_jobs=n_jobs, kind=kind) == [work(seed) for seed in seeds]


@pytest.mark.parametrize("items", [[], iter([]), track([], "nothing")])
def test_no_items_give_no_results(items):
    assert parallel(abs, items, n_jobs=2) == []


def test_items_may_come_from_a_generator_and_be_tracked():
    assert parallel(abs, (-i for i in range(3)), n_jobs=2) == [0, 1, 2]
    assert parallel(abs, track((-i for i in range(3)), "numbers"), n_jobs=2) == [0, 1, 2]


@pytest.mark.parametrize("n_jobs", [0, 1.5, "all"])
def test_a_number_of_jobs_that_makes_no_sense_is_refused(n_jobs):
    with pytest.raises(ParameterError, match="n_jobs"):
        parallel(abs, [1], n_jobs=n_jobs)


def test_an_unknown_kind_of_worker_is_refused():
    with pytest.raises(ParameterError, match="greenlets"):
        parallel(abs, [1], kind="greenlets")


def test_threads_work_at_the_same_time():
    meeting = threading.Barrier(2)  # which one thread alone would never pass
    assert parallel(lambda _: meeting.wait(timeout=60) >= 0, range(2), n_jobs=2) == [True, True]


def test_processes_are_others_and_come_one_level_deep():
    def inner(_):
        return os.getpid(), threading.get_ident()

    def outer(_):
        return (
            inner(_),
            parallel(inner, range(3), n_jobs=3),
            parallel(inner, range(3), n_jobs=3, kind="processes"),
        )

    for me, by_threads, by_processes in parallel(outer, range(2), n_jobs=2, kind="processes"):
        assert me[0] != os.getpid()
        assert by_threads == by_processes == [me] * 3


def test_inside_a_thread_the_items_are_done_in_turn_by_that_thread():
    def inner(_):
        return threading.get_ident()

    def outer(_):
        return threading.get_ident(), parallel(inner, range(3), n_jobs=3)

    for me, others in parallel(outer, range(2), n_jobs=2):
        assert others == [me] * 3
        assert me != threading.get_ident()
    # and afterwards the caller may share out work again
    meeting = threading.Barrier(2)
    parallel(lambda _: meeting.wait(timeout=60), range(2), n_jobs=2)


@pytest.mark.parametrize("n_jobs, kind", [(1, "threads"), (2, "threads"), PROCESSES_THAT_END])
def test_the_first_exception_is_raised(n_jobs, kind):
    with pytest.raises(ZeroDivisionError):
        parallel(lambda x: 1 / x, [1, 0, 2], n_jobs=n_jobs, kind=kind)


def test_after_an_exception_no_item_is_begun_and_work_under_way_stops_at_its_next_look():
    begun, stopped, looking = [], [], threading.Event()

    def work(i):
        begun.append(i)
        if i == 0:
            looking.wait(timeout=60)
            raise KeyError("this one")
        try:
            while True:
                check_deadline()
                looking.set()
        except DeadlineError:
            stopped.append(i)
            raise

    with pytest.raises(KeyError, match="this one"):
        parallel(work, range(100), n_jobs=2)
    assert sorted(stopped) == sorted(begun)[1:]
    assert len(begun) <= 3  # two at work, and perhaps one taken up while the exception was raised


@pytest.mark.parametrize("n_jobs", [None, 2, 4])
def test_a_stream_gives_the_same_results_in_order_a_few_ahead(n_jobs):
    begun = []

    def work(i):
        begun.append(i)
        return i * i

    results = stream(work, (i for i in range(100)), n_jobs=n_jobs)
    assert next(results) == 0
    assert len(begun) <= 1 + (0 if n_jobs is None else AHEAD)
    assert list(results) == [i * i for i in range(1, 100)]
    assert list(stream(work, [], n_jobs=n_jobs)) == []


@pytest.mark.parametrize("n_jobs", [None, 2])
def test_a_stream_raises_in_its_turn_and_ends_when_nobody_listens(n_jobs):
    results = stream(lambda x: 1 / x, [1, 0, 2], n_jobs=n_jobs)
    assert next(results) == 1
    with pytest.raises(ZeroDivisionError):
        next(results)
    late = stream(lambda _: check_deadline(), range(3), n_jobs=n_jobs)
    with deadline(0), pytest.raises(DeadlineError):
        next(late)
    stream(abs, range(3), n_jobs=n_jobs).close()


@pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")
def test_an_interrupt_gets_through_while_the_workers_are_busy(interrupt_soon):
    free, waited_in_vain = threading.Event(), []

    def work(i):
        if not free.wait(timeout=10):
            waited_in_vain.append(i)

    interrupt_soon()
    try:
        with pytest.raises(KeyboardInterrupt):
            parallel(work, range(2), n_jobs=2)
        assert waited_in_vain == []
    finally:
        free.set()


@pytest.mark.parametrize("kind", KINDS)
def test_the_deadline_of_the_caller_is_known_in_the_workers(kind):
    with deadline(1000):
        for left in parallel(lambda _: time_left(), range(2), n_jobs=2, kind=kind):
            assert 0 < left <= 1000


@pytest.mark.parametrize("n_jobs, kind", [(1, "threads"), (2, "threads"), PROCESSES_THAT_END])
def test_the_deadline_of_the_caller_holds_in_the_workers(n_jobs, kind):
    with deadline(0), pytest.raises(DeadlineError):
        parallel(abs, range(2), n_jobs=n_jobs, kind=kind)


def test_the_deadline_is_looked_at_before_each_item():
    done = []

    def work(i):
        done.append(i)
        if i == 1:
            limit.end = 0.0

    with deadline(1000) as limit, pytest.raises(DeadlineError):
        parallel(work, range(5))
    assert done == [0, 1]


@pytest.mark.parametrize("kind", KINDS)
def test_settings_of_scikit_learn_and_warnings_pass_between_caller_and_worker(kind):
    def work(i):
        if i == 1:
            warnings.warn(f"item {i}", RuntimeWarning)
        return sklearn.get_config()["assume_finite"]

    with (
        sklearn.config_context(assume_finite=True),
        pytest.warns(RuntimeWarning, match="item 1"),
    ):
        assert parallel(work, range(2), n_jobs=2, kind=kind) == [True, True]


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_blas_has_one_thread_inside_and_its_own_number_again_outside(two_blas_threads, n_jobs):
    assert blas_threads() == {2}
    for inside in parallel(lambda _: blas_threads(), range(3), n_jobs=n_jobs):
        assert inside == {1}
    assert blas_threads() == {2}


def test_blas_has_one_thread_in_processes():
    assert parallel(lambda _: blas_threads(), range(2), n_jobs=2, kind="processes") == [{1}] * 2


def test_one_blas_thread_counts_nested_and_concurrent_uses(two_blas_threads):
    inside, leave = threading.Event(), threading.Event()

    def another():
        with one_blas_thread():
            inside.set()
            leave.wait(timeout=60)

    thread = threading.Thread(target=another)
    with one_blas_thread():
        with one_blas_thread():
            assert blas_threads() == {1}
        assert blas_threads() == {1}
        thread.start()
        inside.wait(timeout=60)
    # The other is still inside; with OpenMP, as faiss has it, the limit is one of this thread.
    assert blas_threads(["pthreads"]) <= {1}
    leave.set()
    thread.join()
    assert blas_threads() == {2}


def test_one_blas_thread_ends_with_an_exception(two_blas_threads):
    with pytest.raises(KeyError), one_blas_thread():
        raise KeyError
    assert blas_threads() == {2}


class FakeLibrary:
    """OpenBLAS built on OpenMP: the limit belongs to the thread that sets it."""

    internal_api, threading_layer = "openblas", "openmp"

    def __init__(self):
        self.of_thread = threading.local()

    def get_num_threads(self):
        return getattr(self.of_thread, "n", 8)

    def set_num_threads(self, n):
        self.of_thread.n = n


def test_a_library_whose_limit_is_a_threads_own_is_limited_in_each_thread(monkeypatch):
    library = FakeLibrary()
    scan = SimpleNamespace(select=lambda **_: SimpleNamespace(lib_controllers=[library]))
    monkeypatch.setattr(workers, "ThreadpoolController", lambda: scan)
    monkeypatch.setattr(workers, "_blas", workers.BlasThreads())
    meeting = threading.Barrier(2)

    def work(_):
        meeting.wait(timeout=60)  # two threads, both inside
        with one_blas_thread():
            inside = library.get_num_threads()
        return inside, library.get_num_threads()

    assert parallel(work, range(2), n_jobs=2) == [(1, 1)] * 2
    assert library.get_num_threads() == 8


def test_a_blas_library_that_is_loaded_inside_is_limited_at_the_next_entry():
    program = """
import numpy
from threadpoolctl import threadpool_info
from empirisk.runtime.workers import one_blas_thread
blas = lambda: [p["num_threads"] for p in threadpool_info() if p["user_api"] == "blas"]
before = blas()
with one_blas_thread():
    import scipy.linalg
    with one_blas_thread():
        inside = blas()
print(len(before), len(inside), set(inside), set(blas()))
"""
    environment = {**os.environ, "OPENBLAS_NUM_THREADS": "2", "MKL_NUM_THREADS": "2"}
    done = subprocess.run(
        [sys.executable, "-c", program], env=environment, capture_output=True, text=True
    )
    before, inside, *threads = done.stdout.split()
    if before == inside:
        pytest.skip("NumPy and SciPy share one BLAS library here")
    assert threads == ["{1}", "{2}"], done.stderr


@pytest.mark.parametrize("n, size", [(0, 3), (1, 3), (3, 3), (10, 3), (10, 1), (2, 1000)])
def test_slices_are_a_partition_in_order(n, size):
    parts = slices(n, size)
    rows = np.arange(n)
    np.testing.assert_array_equal(np.concatenate([rows[:0], *(rows[part] for part in parts)]), rows)
    assert all(part.stop - part.start == size for part in parts[:-1])


def test_slices_of_no_rows_are_refused():
    with pytest.raises(ParameterError, match="size 0"):
        slices(10, 0)
