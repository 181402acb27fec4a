"""`python -m benchmarks coverage [--settings PATTERN] [--sets N] [--n-jobs 2] [--quick]`.

Draws training sets in every setting, counts how often the intervals contain the true risk, prints
a line for each method, and writes docs/coverage.md once every setting has its result. A setting
whose result is kept in the folder, found by the same code from as many sets, is not run again: the
certificate can be made in parts.
"""

import argparse
import re
import sys
import warnings
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from time import perf_counter
from zlib import crc32

from rich.console import Console
from sklearn import config_context

from benchmarks.coverage.page import page, summary, table_of
from benchmarks.coverage.sets import Judged, Setting
from benchmarks.coverage.settings import settings
from benchmarks.coverage.tally import Result, keep, kept, tallied
from empirisk.runtime.parallel import parallel, slices
from empirisk.runtime.streams import spawn

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "benchmarks" / "results" / "coverage"
PAGE = ROOT / "docs" / "coverage.md"
AT_ONCE = 25
QUICK_SETS, QUICK_ROWS = 20, 200


def main(arguments: Sequence[str] | None = None) -> int:
    """Run what was asked for and is not kept, print it, and write the page of all that is kept."""
    options = parse(arguments)
    console = Console(width=None if sys.stdout.isatty() else 140, highlight=False)
    chosen = [
        setting
        for name, setting in settings().items()
        if re.search(options.settings, name) and not (options.quick and setting.n > QUICK_ROWS)
    ]
    if not chosen:
        console.print(f"no setting matches {options.settings!r}")
        return 2
    for setting in chosen:
        begun = perf_counter()
        result = settled(setting, options)
        console.print(table_of(result, perf_counter() - begun))
    every = [kept(setting, options.folder) for setting in settings().values()]
    found = [result for result in every if result is not None]
    console.print(summary(found))
    to = options.page or (PAGE if len(found) == len(settings()) else None)
    if to is not None and not options.quick:
        to.write_text(page(found, len(settings())), encoding="utf-8")
        console.print(f"wrote {to}")
    return 0


def settled(setting: Setting, options: argparse.Namespace) -> Result:
    """The result that is kept, or a new one; of more training sets where the answer is close."""
    wanted = options.sets or (QUICK_SETS if options.quick else setting.sets)
    found = kept(setting, options.folder)
    if found is not None and found.sets >= wanted and not _must_go_on(found, setting, options):
        return found
    judged = judge(setting, 0, wanted, options.n_jobs)
    result = tallied(setting, judged)
    if _must_go_on(result, setting, options):
        judged += judge(setting, wanted, setting.most_sets, options.n_jobs)
        result = tallied(setting, judged)
    keep(result, options.folder)
    return result


def _must_go_on(result: Result, setting: Setting, options: argparse.Namespace) -> bool:
    given = options.sets is not None or options.quick
    return not given and result.verdict == "close" and result.sets < setting.most_sets


def judge(setting: Setting, start: int, stop: int, n_jobs: int | None) -> list[Judged]:
    """The training sets from one number to another; which they are depends on nothing else."""
    seeds = spawn(seed_of(setting.name), stop)[start:]
    batches = [seeds[part] for part in slices(len(seeds), AT_ONCE)]
    with config_context(assume_finite=True, skip_parameter_validation=True):
        found = parallel(
            partial(judge_batch, setting.name), batches, n_jobs=n_jobs, kind="processes"
        )
    return [each for batch in found for each in batch]


def seed_of(name: str) -> int:
    """Not the CRC-32 of the name itself, with which the constants of the rule were chosen."""
    return crc32(f"certificate of {name}".encode())


def judge_batch(name: str, seeds: Sequence[int]) -> list[Judged]:
    """Some training sets of a setting, found by its name."""
    setting = settings()[name]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of separation and convergence, which are no news here
        return [setting.judge(seed) for seed in seeds]


def parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    """What was asked for."""
    parser = argparse.ArgumentParser("python -m benchmarks coverage", description=__doc__)
    parser.add_argument("--settings", default="", metavar="PATTERN", help="names that match it")
    parser.add_argument("--sets", type=int, metavar="N", help="training sets in each setting")
    parser.add_argument("--n-jobs", type=int, metavar="N", help="processes")
    parser.add_argument("--quick", action="store_true", help="small sets, few of them, no page")
    parser.add_argument("--folder", type=Path, default=FOLDER, help="where results are kept")
    parser.add_argument("--page", type=Path, help="to write; docs/coverage.md once all are kept")
    options = parser.parse_args(arguments)
    if options.sets is not None and options.sets < 2:
        parser.error(f"--sets is {options.sets}; give 2 or more")
    try:
        re.compile(options.settings)
    except re.error as error:
        parser.error(f"--settings {options.settings!r} is no regular expression: {error}")
    return options


if __name__ == "__main__":
    sys.exit(main())
