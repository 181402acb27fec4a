"""The harness of the benchmarks: order, threads, verdicts and files. Nothing here is timed."""

import doctest
import io
import math
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from benchmarks import accuracy, harness, lenet_accuracy, report
from benchmarks.__main__ import main
from benchmarks.accuracy import Accuracy, Digits, accuracy_verdict, correct_digits
from benchmarks.case import NO_TARGET, Benchmark, Case, Target
from benchmarks.families import family_of, load_families
from benchmarks.harness import Contestant, judge, run_benchmark
from benchmarks.machine import (
    Clock,
    busy_verdict,
    cpu_model,
    machine_seconds,
    read_clock,
    share_of_others,
)
from benchmarks.report import summary_table, table_of
from benchmarks.timing import Timing, measure, used_by_others
from benchmarks.torch_peer import ABSENT, Torch, blas_threads
from numpy.testing import assert_allclose
from rich.console import Console
from threadpoolctl import threadpool_info

from fake_benchmarks import ABSOLUTE, fake
from tolerances import SUMMED

NEED_TORCH = ("mlp_torch", "lenet_torch", "network_memory")


def contestant(name, *walls, others=0.0):
    timings = [Timing(wall, wall, others) for wall in walls]
    return Contestant(name, 1, lambda: None, len(walls), timings=timings)


def printed(renderable):
    console = Console(width=200, file=io.StringIO())
    console.print(renderable)
    return console.file.getvalue()


@pytest.mark.parametrize("answer", [1.1, math.nan, math.inf])
def test_a_wrong_answer_fails_and_has_no_ratio(answer):
    calls = []
    outcome = run_benchmark(fake(lambda: calls.append("ours") or answer, lambda: 1.0), repeats=5)
    assert outcome.verdict == "failed: the results differ"
    assert outcome.failed
    assert outcome.ratio is None
    assert "failed" in printed(table_of(outcome))
    summary = printed(summary_table([outcome])).split("fake")[1]
    assert "failed" in summary
    assert "x" not in summary.split(">= 5x")[0]
    assert [len(row.timings) for row in outcome.rows] == [1, 1, 1]  # no second round


def test_an_exception_fails_with_its_message(capsys):
    outcome = run_benchmark(fake(lambda: 1 / 0, lambda: 1.0), repeats=1)
    assert outcome.failed
    assert outcome.verdict == "failed: ZeroDivisionError: division by zero"
    assert "Traceback" in capsys.readouterr().err
    assert "ZeroDivisionError" in printed(table_of(outcome))
    assert "ZeroDivisionError" in printed(summary_table([outcome]))


def test_ours_and_the_peers_take_turns():
    log = []
    run_benchmark(
        fake(lambda: log.append("A") or 0.0, lambda: log.append("B") or 0.0), repeats=3, quick=True
    )
    # the peer runs with one and with two threads: first calls, then three rounds
    assert "".join(log) == "ABB" * 4


def test_a_peer_is_warmed_up_even_for_a_single_timing():
    log = []
    run_benchmark(
        fake(lambda: log.append("A") or 0.0, lambda: log.append("B") or 0.0), repeats=1, quick=True
    )
    assert "".join(log) == "ABB" * 2


def test_a_slow_peer_is_run_once_per_number_of_threads_and_not_warmed_up():
    log = []
    slow = fake(lambda: log.append("A") or 0.0, lambda: log.append("B") or 0.0, peer_repeats=1)
    outcome = run_benchmark(slow, repeats=3, quick=True)
    assert "".join(log) == "A" + "ABB" + "AA"
    assert [len(row.timings) for row in outcome.rows] == [3, 1, 1]
    assert [row.first is None for row in outcome.rows] == [False, True, True]


def test_ours_has_one_blas_thread_and_the_peer_one_and_two():
    seen = {"ours": set(), "peer": set()}

    def note(who):
        pools = [pool for pool in threadpool_info() if pool["user_api"] == "blas"]
        seen[who] |= {pool["num_threads"] for pool in pools}
        return 0.0

    run_benchmark(fake(lambda: note("ours"), lambda: note("peer")), repeats=1, quick=True)
    assert seen == {"ours": {1}, "peer": {1, 2}}


def test_short_calls_are_repeated_inside_one_timing():
    calls = []
    short = Contestant("short", 1, lambda: calls.append(1), 1, first=Timing(0.01, 0.01, 0.0))
    short.run(at_least=0.3)
    assert short.timings[0].calls == len(calls) == 30


@pytest.mark.parametrize("wall, busy, cpu, cores, share", [
    (1.0, 1.0, 1.0, 2, 0.0),      # all that ran was ours
    (1.0, 2.0, 1.0, 2, 0.5),      # another process filled the second core
    (2.0, 3.0, 1.0, 4, 0.25),
    (1.0, 0.99, 1.0, 2, 0.0),     # ticks lag behind our own clock: never below zero
    (1.0, None, 1.0, 2, None),    # no /proc/stat
    (0.02, 0.03, 0.02, 2, None),  # two ticks: one more or less is no load
])  # fmt: skip
def test_share_of_the_machine_used_by_others(wall, busy, cpu, cores, share):
    before = Clock(10.0, 20.0, None if busy is None else 30.0)
    after = Clock(10.0 + wall, 20.0 + cpu, None if busy is None else 30.0 + busy)
    found = share_of_others(before, after, cores)
    assert found == (None if share is None else pytest.approx(share, abs=SUMMED))


def test_a_busy_machine_makes_a_run_invalid():
    assert busy_verdict([0.02, 0.37, None]) == "invalid: machine busy (37 % used by others)"
    assert busy_verdict([0.02, 0.10, None]) is None
    runs = [contestant("ours", 1.0, others=0.37), contestant("peer", 100.0)]
    verdict, ratio = judge(runs, True, Target(ratio=5), quick=False)
    assert verdict == "invalid: machine busy (37 % used by others)"
    assert ratio == 100.0


def test_the_load_of_several_timings_is_weighted_by_their_length():
    timings = [Timing(1.0, 1.0, 0.0), Timing(0.5, 0.5, 0.4, calls=6)]
    assert used_by_others(timings) == pytest.approx(0.3, rel=1e-12)  # (1 x 0 + 3 x 0.4) / 4
    assert used_by_others([*timings, Timing(1.0, 1.0, None)]) is None


def test_a_timing_is_per_call_and_comes_with_the_last_result():
    before = read_clock()
    timing, result = measure(lambda: sum(range(1000)), threads=1, calls=3)
    after = read_clock()
    assert result == 499_500
    assert timing.calls == 3
    assert 0 < 3 * timing.wall <= after.wall - before.wall


def test_the_cpu_time_of_ended_children_is_ours():
    work = "import time\nwhile time.process_time() < 0.05: pass"
    before = read_clock()
    subprocess.run([sys.executable, "-c", work], check=True)
    assert read_clock().cpu - before.cpu >= 0.05


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="needs Linux")
def test_the_cpu_time_of_children_that_wait_is_ours():
    work = "import time\nwhile time.process_time() < 0.1: pass\nprint('done', flush=True)\ninput()"
    before = read_clock()
    command = [sys.executable, "-c", work]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as child:
        child.stdout.readline()
        assert read_clock().cpu - before.cpu >= 0.05  # counted in ticks of 10 ms
        child.communicate(b"\n")


def test_busy_time_of_the_machine_leaves_out_idle_waiting_and_guests(tmp_path):
    stat = tmp_path / "stat"
    # user nice system idle iowait irq softirq steal guest guest_nice, in ticks of 10 ms
    stat.write_text("cpu  100 200 300 9999 8888 1 2 3 100 200\ncpu0 1 1 1 1 1 1 1 1 1 1\n")
    assert machine_seconds(stat) == pytest.approx(6.06, rel=SUMMED)
    assert machine_seconds(tmp_path / "absent") is None


def test_the_processor_is_named(tmp_path):
    cpuinfo = tmp_path / "cpuinfo"
    cpuinfo.write_text("processor\t: 0\nmodel name\t: Abacus: 3000\n\nmodel name\t: other\n")
    assert cpu_model(cpuinfo) == "Abacus: 3000"
    assert cpu_model(tmp_path / "absent")


def test_the_best_median_of_the_peers_counts():
    runs = [
        contestant("ours", 1.0, 9.0, 2.0),     # median 2
        contestant("peer 1", 1.0, 50.0, 60.0),  # median 50: its luckiest run does not count
        contestant("peer 2", 14.0, 15.0, 8.0),  # median 14
    ]  # fmt: skip
    assert judge(runs, True, Target(ratio=5), quick=False) == ("met", 7.0)
    assert judge(runs, True, Target(ratio=7.1), quick=False) == ("missed", 7.0)
    assert judge(runs, True, Target(seconds=2.5), quick=False) == ("met", 7.0)
    assert judge(runs, True, Target(seconds=2.0), quick=False) == ("missed", 7.0)
    assert judge(runs, True, NO_TARGET, quick=False) == ("no target", 7.0)
    assert judge(runs, True, Target(ratio=5), quick=True) == ("not judged (quick)", 7.0)


def test_a_case_whose_peers_are_absent_runs_and_says_why():
    case = Case("tiny", lambda: 1.0, {}, ABSOLUTE, absent="install the peer")
    benchmark = Benchmark("fake", "", Target(ratio=5), lambda quick: case)
    outcome = run_benchmark(benchmark, repeats=2)
    assert outcome.verdict == "not judged (install the peer)"
    assert not outcome.failed
    assert outcome.ratio is None
    assert [len(row.timings) for row in outcome.rows] == [2]
    assert "install the peer" in printed(table_of(outcome))
    assert "install the peer" in printed(summary_table([outcome]))


def test_a_python_without_torch_is_named(monkeypatch, capfd):
    monkeypatch.setenv("EMPIRISK_TORCH_PYTHON", sys.executable)
    torch = Torch(*(np.zeros(2) for _ in range(4)))
    with pytest.raises(RuntimeError, match=r"EMPIRISK_TORCH_PYTHON=.* gave no answer"):
        torch.ask("fit")
    assert "No module named 'torch'" in capfd.readouterr().err


def test_a_peer_in_another_process_has_the_threads_of_its_turn():
    seen = []
    run_benchmark(fake(lambda: 0.0, lambda: seen.append(blas_threads()) or 0.0), repeats=1)
    assert set(seen) == {1, 2}


def test_targets_are_written_as_what_they_ask():
    assert [str(t) for t in (Target(ratio=5), Target(seconds=0.3), NO_TARGET)] == [
        ">= 5x", "< 0.3 s", "none",
    ]  # fmt: skip


def test_correct_digits_are_those_of_the_worst_coefficient():
    certified = np.array([1.0, -200.0])
    assert correct_digits(certified, certified) == 15.0
    # each error is 1e-6 of its coefficient but for the rounding of its last digit
    assert_allclose(correct_digits(certified * (1 + 1e-6), certified), 6.0, rtol=1e-8)
    assert correct_digits(np.array([1.0, 200.0]), certified) == 0.0
    assert correct_digits(np.array([1.0, np.nan]), certified) == 0.0
    assert correct_digits(np.array([1.0, np.inf]), certified) == 0.0


def test_an_accuracy_table_names_the_sets_that_miss():
    fine, short = Digits("a", [13.2, 0.0], 13), Digits("b", [8.9, 9.1], 9)
    assert accuracy_verdict([fine, Digits("c", [1.0, 1.0], None)]) == "met"
    assert accuracy_verdict([fine, short]) == "missed: b"


def test_the_nist_table_has_every_set_and_the_digits_wanted():
    outcome = accuracy.ACCURACY["nist"].run()
    assert {line.data for line in outcome.lines} >= set(accuracy.WANTED)
    assert outcome.verdict == "met"
    assert "Filip" in printed(table_of(outcome))


def test_lenet_on_few_pictures_is_better_than_chance():
    outcome = lenet_accuracy.ACCURACY["lenet_accuracy"].run(quick=True)
    assert outcome.verdict == "not judged (quick)"
    assert outcome.lines[0].digits[0] > 50  # of ten classes; five epochs of 1,500 pictures
    assert "seed 0" in printed(table_of(outcome))


def test_a_table_without_its_data_is_not_run_and_an_error_fails(capsys, tmp_path):
    absent = Accuracy("a", "", lambda quick: (tmp_path / "absent").read_text()).run()
    assert absent.verdict == f"not run: there is no {tmp_path / 'absent'}"
    assert not absent.failed
    broken = Accuracy("a", "", lambda quick: 1 / 0).run()
    assert broken.verdict == "failed: ZeroDivisionError: division by zero"
    assert broken.failed
    assert "ZeroDivisionError" in printed(table_of(broken))


@pytest.mark.parametrize("module", [accuracy, harness, report], ids=lambda module: module.__name__)
def test_the_examples_in_docstrings_run(module):
    assert doctest.testmod(module) == (0, 1)


def test_unknown_names_and_impossible_options_are_refused(capsys, tmp_path):
    for arguments, message in [
        (["least_square"], "no benchmark is called 'least_square'"),
        (["--repeats", "0"], "give 1 or more"),
        (["--json", str(tmp_path / "no" / "out.json")], "there is no folder"),
    ]:
        with pytest.raises(SystemExit):
            main(arguments)
        assert message in capsys.readouterr().err


def test_all_benchmarks_are_listed(capsys):
    assert main(["--list"]) == 0
    listed = [line.split()[0] for line in capsys.readouterr().out.splitlines()]
    assert listed == [*load_families(), "nist", "lenet_accuracy"]
    assert {"least_squares", "ridge_leave_one_out", "ridge_kfold", "lda_kfold", "import"} <= set(
        listed
    )


def one_of_each_family():
    """All benchmarks; slow but for the first of each family that starts no interpreter."""
    seen = set()
    for name in load_families():
        fresh = name.startswith("import") or name == "network_memory"
        first = not fresh and family_of(name) not in seen
        seen |= {family_of(name)} if first else set()
        yield pytest.param(name, marks=[] if first else [pytest.mark.slow])


def without_repeats(benchmark):
    """Peers with one thread, called once: no other call would give another answer."""
    return replace(
        benchmark,
        build=lambda quick: replace(benchmark.build(quick), peer_threads=(1,)),
        peer_repeats=1,
    )


@pytest.mark.parametrize("name", list(one_of_each_family()))
def test_every_benchmark_gives_the_peers_answer_on_small_data(name):
    outcome = run_benchmark(without_repeats(load_families()[name]), repeats=1, quick=True)
    if name in NEED_TORCH and ABSENT:
        assert outcome.verdict == f"not judged ({ABSENT})"
        return
    assert outcome.verdict == "not judged (quick)", outcome
    assert len(outcome.rows) > 1
