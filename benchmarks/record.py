"""What was measured, kept in a JSON file: a line for each benchmark, with date and machine.

A run renews the lines of its own benchmarks and leaves the others, so that all can be measured in
parts. `RECORD` is the file from which docs/benchmarks.md is made.
"""

import json
import math
import os
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from benchmarks.accuracy import AccuracyOutcome
from benchmarks.harness import Outcome
from benchmarks.machine import describe

AnyOutcome = Outcome | AccuracyOutcome
Entry = dict[str, Any]

RECORD = Path(__file__).resolve().parent / "record.jsonl"


def read_record(path: Path = RECORD) -> dict[str, Entry]:
    """Every benchmark in the file by name; none where there is no file."""
    if not path.exists():
        return {}
    lines = path.read_text(encoding="utf-8").splitlines()
    entries = [json.loads(line) for line in lines]
    return {entry["name"]: entry for entry in entries}


def keep(
    path: Path, outcome: AnyOutcome, options: dict[str, Any], *, family: str = "", about: str = ""
) -> None:
    """Enter an outcome in place of its older one; the file is renewed whole or not at all.

    `family` and `about` tell a reader which of the library's families it is of, and what it does.
    """
    found = {
        **outcome.as_dict(),
        "family": family,
        "about": about,
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "options": options,
        "machine": describe(),
    }
    record = read_record(path) | {outcome.name: plain(found)}
    lines = [json.dumps(entry, allow_nan=False) for _, entry in sorted(record.items())]
    draft = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    draft.write_text("\n".join(lines) + "\n", encoding="utf-8")
    draft.replace(path)


def counts(entry: Entry | None) -> bool:
    """Whether a benchmark was measured at full size on a quiet machine, whatever came out."""
    if entry is None or entry["options"].get("quick"):
        return False
    return not entry["verdict"].startswith(("invalid", "failed", "not run", "not judged"))


def plain(value: Any) -> Any:
    """The same with NaN and infinity as words, which JSON has no numbers for."""
    if isinstance(value, dict):
        return {key: plain(part) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [plain(part) for part in value]
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    return value
