"""The record of the benchmarks and the pages that are written from it."""

import math
from dataclasses import replace

import numpy as np
import pytest
from benchmarks.harness import run_benchmark
from benchmarks.page import PAGE, README, benchmarks_page, ratio_of, short_table
from benchmarks.record import RECORD, counts, keep, read_record

from fake_benchmarks import fake


def test_everything_comes_back_from_the_record(tmp_path):
    good = run_benchmark(fake(lambda: 1.0, lambda: 1.0), repeats=2, quick=True)
    bad = replace(run_benchmark(fake(lambda: math.nan, lambda: 1.0), repeats=1), name="bad")
    file = tmp_path / "record.jsonl"
    for outcome in (good, bad):
        keep(file, outcome, {"repeats": 2, "quick": True})
    back = read_record(file)
    first = back["fake"]
    assert first["options"] == {"repeats": 2, "quick": True}
    assert first["machine"]["packages"]["numpy"] == np.__version__
    assert {"cpu", "cores", "python", "load", "installed"} <= set(first["machine"])
    assert (first["verdict"], first["ratio"]) == (good.verdict, good.ratio)
    assert [row["timings"] for row in first["rows"]] == [
        [vars(timing) for timing in row.timings] for row in good.rows
    ]
    assert back["bad"]["rows"][1]["difference"] == "nan"  # JSON has no such number
    assert list(tmp_path.iterdir()) == [file]


def test_a_result_is_renewed_and_the_others_stay(tmp_path):
    outcome = run_benchmark(fake(lambda: 1.0, lambda: 1.0), repeats=1, quick=True)
    file = tmp_path / "record.jsonl"
    for name, verdict in [("a", "met"), ("b", "missed"), ("a", "invalid: machine busy")]:
        keep(file, replace(outcome, name=name, verdict=verdict), {"quick": False})
    record = read_record(file)
    assert {name: entry["verdict"] for name, entry in record.items()} == {
        "a": "invalid: machine busy", "b": "missed",
    }  # fmt: skip
    assert [counts(record.get(name)) for name in "abc"] == [False, True, False]


def test_a_record_that_cannot_be_written_leaves_the_old_one(tmp_path):
    outcome = run_benchmark(fake(lambda: 1.0, lambda: 1.0), repeats=1, quick=True)
    file = tmp_path / "record.jsonl"
    keep(file, outcome, {})
    old = file.read_text()
    with pytest.raises(TypeError):
        keep(file, outcome, {"repeats": object()})
    assert file.read_text() == old
    assert list(tmp_path.iterdir()) == [file]


def test_a_stored_answer_has_no_speed():
    ours = {"name": "empirisk"}
    assert ratio_of({"rows": [ours, {"name": "R, stored"}], "ratio": 0.0}) is None
    assert ratio_of({"rows": [ours, {"name": "R"}], "ratio": 2.0}) == 2.0


def test_the_page_tells_the_misses_as_plainly_as_the_wins(tmp_path):
    outcome = run_benchmark(fake(lambda: 1.0, lambda: 1.0), repeats=1, quick=True)
    file = tmp_path / "record.jsonl"
    for name, verdict, ratio in [
        ("least_squares", "met", 6.25), ("ridge_kfold", "missed", 0.52),
        ("lda_fit", "invalid: machine busy (40 % used by others)", 3.0),
        ("ridge_leave_one_out_svd", "no target", 0.9),
    ]:  # fmt: skip
        found = replace(outcome, name=name, verdict=verdict, ratio=ratio)
        keep(file, found, {"quick": False}, family="Linear", about=f"What {name} does.")
    text = benchmarks_page(read_record(file))
    assert "1 targets met, 1 missed." in text
    assert "- **missed**: `ridge_kfold`, 0.52x, target >= 5x" in text
    assert (
        "- slower than the peer, which no target forbids: `ridge_leave_one_out_svd`, 0.90x" in text
    )
    assert "- no number: `lda_fit`, invalid: machine busy" in text
    assert "4 benchmarks" in text
    assert text.count("## Linear") == 1
    short = short_table(read_record(file))
    assert "6.2x" in short
    assert "0.5x" in short


def test_the_pages_are_those_of_the_record():
    if not RECORD.exists():
        pytest.skip("nothing was measured yet")
    entries = read_record()
    assert PAGE.read_text(encoding="utf-8") == benchmarks_page(entries)
    assert short_table(entries) in README.read_text(encoding="utf-8")
