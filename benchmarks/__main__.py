"""Run benchmarks: `python -m benchmarks [NAME ...] [--list] [--json FILE] [--repeats N] [--quick]`.

`python -m benchmarks all` measures everything for benchmarks/record.jsonl, or with `--missing` what
has no result there that counts, and writes docs/benchmarks.md and the table of the README from it;
`python -m benchmarks page` does the latter alone. `python -m benchmarks coverage` makes the
certificate of the intervals, with options of its own. The exit status is 1 if an answer was wrong
or none came; a target missed is no error.
"""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console

from benchmarks.accuracy import ACCURACY
from benchmarks.cold import cold_timing
from benchmarks.coverage.command import main as coverage
from benchmarks.families import family_of, load_families
from benchmarks.harness import run_benchmark
from benchmarks.page import write_pages
from benchmarks.record import RECORD, AnyOutcome, counts, keep, read_record
from benchmarks.report import summary_table, table_of


def main(arguments: Sequence[str] | None = None) -> int:
    """Run what was asked for, print each table as it is ready, then the summary."""
    arguments = sys.argv[1:] if arguments is None else arguments
    if list(arguments[:1]) == ["coverage"]:
        return coverage(arguments[1:])
    if list(arguments) == ["page"]:
        return write_pages()
    everything = load_families() | ACCURACY
    options = parse(arguments, list(everything))
    console = Console(width=None if sys.stdout.isatty() else 120, highlight=False)
    if options.list:
        for name, entry in everything.items():
            console.print(f"{name:20} {entry.about}")
        return 0
    outcomes = []
    record = read_record(options.json) if options.json and options.missing else {}
    for name in options.names:
        if counts(record.get(name)):
            continue
        console.print(f"{name} ...")
        outcomes.append(run(name, options))
        console.print(table_of(outcomes[-1]))
        if options.json:
            done = {"repeats": options.repeats, "quick": options.quick}
            family, about = family_of(name), everything[name].about
            keep(options.json, outcomes[-1], done, family=family, about=about)
    console.print(summary_table(outcomes))
    if options.json == RECORD:
        write_pages()
    return int(any(outcome.failed for outcome in outcomes))


def run(name: str, options: argparse.Namespace) -> AnyOutcome:
    """One benchmark of either kind; a quick one is not timed cold."""
    if name in ACCURACY:
        return ACCURACY[name].run(options.quick)
    cold = None if options.quick else cold_timing
    entry = load_families()[name]
    return run_benchmark(entry, repeats=options.repeats, quick=options.quick, cold=cold)


def parse(arguments: Sequence[str] | None, names: list[str]) -> argparse.Namespace:
    """What was asked for."""
    parser = argparse.ArgumentParser("python -m benchmarks", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help="all, where none is given")
    parser.add_argument("--list", action="store_true", help="the names, and what each measures")
    parser.add_argument("--json", type=Path, metavar="FILE", help="renew results in a file")
    parser.add_argument("--missing", action="store_true", help="what the file has no result of")
    parser.add_argument("--repeats", type=int, default=5, metavar="N", help="timings of each")
    parser.add_argument("--quick", action="store_true", help="small data: does it run at all?")
    options = parser.parse_args(arguments)
    if options.names == ["all"] and not options.quick:
        options.json = options.json or RECORD
    options.names = names if options.names in ([], ["all"]) else options.names
    unknown = [name for name in options.names if name not in names]
    if unknown:
        parser.error(f"no benchmark is called {unknown[0]!r}; there are {', '.join(names)}")
    if options.repeats < 1:
        parser.error(f"--repeats is {options.repeats}; give 1 or more")
    if options.json and not options.json.absolute().parent.is_dir():
        parser.error(f"--json: there is no folder {options.json.absolute().parent}")
    return options


if __name__ == "__main__":
    sys.exit(main())
