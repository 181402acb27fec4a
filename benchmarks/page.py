"""The record as pages: docs/benchmarks.md, and a short table in the README."""

from collections import Counter
from collections.abc import Iterable
from pathlib import Path

from benchmarks.record import RECORD, Entry, counts, read_record
from benchmarks.report import markdown, seconds

ROOT = Path(__file__).resolve().parents[1]
PAGE, README = ROOT / "docs" / "benchmarks.md", ROOT / "README.md"
BEGIN, END = "<!-- benchmarks: written by `python -m benchmarks page` -->", "<!-- /benchmarks -->"

HEADLINES = (
    "least_squares", "ridge_kfold", "lasso_kfold", "logistic_softmax", "tree_covertype",
    "forest_covertype", "hgb_binary_500", "hgb_adult", "ada_boost_stumps", "knn_search",
    "kde_line", "gaussian_mixture", "kmeans_500", "pca_wide", "mlp_torch", "lenet_torch",
)  # fmt: skip
"""What the README tells: one or two of each family, chosen before they were measured together."""

STORED = ", stored"  # how the name of a peer ends that answers from memory
TITLES = ("benchmark", "equal by", "seen", "ours", "best peer", "ratio", "target", "verdict")


def write_pages(record: Path = RECORD, page: Path = PAGE, readme: Path = README) -> int:
    """Write docs/benchmarks.md and the table of the README from what was measured."""
    entries = read_record(record)
    page.write_text(benchmarks_page(entries), encoding="utf-8")
    before, rest = readme.read_text(encoding="utf-8").split(BEGIN)
    after = rest.split(END)[1]
    readme.write_text(f"{before}{BEGIN}\n{short_table(entries)}\n{END}{after}", encoding="utf-8")
    return 0


def benchmarks_page(entries: dict[str, Entry]) -> str:
    """The whole page."""
    parts = [INTRODUCTION, provenance(entries), "## In short", in_short(entries)]
    for family, members in by_family(entries).items():
        parts += [f"## {family}", markdown(TITLES, [row(entry) for entry in members])]
    digits = [entry for entry in entries.values() if entry["kind"] == "accuracy"]
    parts += [part for entry in digits for part in digits_table(entry)]
    parts += ["## The first call", FIRST, markdown(FIRST_TITLES, first_calls(entries))]
    parts += ["## Size of the installation", sizes(entries)] if entries else []
    parts += ["## What each one does", markdown(("benchmark", "what", "size"), words(entries))]
    return "\n\n".join(parts) + "\n"


INTRODUCTION = """# Benchmarks

Written by `python -m benchmarks all`. Ours and the peers run in turn, in one process (PyTorch and R
have one of their own, and so has what is measured from a fresh start), on the same data; a peer
that uses BLAS runs with one and with two of its threads, and its better time counts. Answers are
compared first: `equal by` says how, `seen` is the worst difference that was met, and where it is
above the bound there is no ratio. The ratio is the median time of the best peer over ours; above 1
we are faster. A run in which other processes used more than a tenth of the machine is invalid, and
said to be so."""

FIRST = """Compiled code is made at the first call and kept on disk. `cold` is the first call in a
fresh interpreter with an empty cache, `warm` the first call of a process whose cache is there, and
`later` the median of the others, all in one thread of BLAS. Of each family the longest cold one is
shown."""

FIRST_TITLES = ("benchmark", "cold", "warm", "later")


def provenance(entries: dict[str, Entry]) -> str:
    """When and where, and with what."""
    days = sorted({entry["date"][:10] for entry in entries.values()})
    when = " to ".join(dict.fromkeys((days[0], days[-1]))) if days else "never"
    machines = [entry["machine"] for entry in entries.values()]
    commits = Counter(machine.get("commit", "not noted") for machine in machines)
    code = ", ".join(f"{commit} ({n})" for commit, n in commits.most_common())
    lines = [f"{len(entries)} benchmarks, run {when}; commits: {code}."]
    places: dict[str, None] = {}
    for machine in machines:
        packages = ", ".join(f"{name} {number}" for name, number in machine["packages"].items())
        about = f"{machine['cpu']}, {machine['cores']} cores, {machine['platform']}"
        places[f"{about}; Python {machine['python']}, {packages}."] = None
    return " ".join(lines + list(places))


def in_short(entries: dict[str, Entry]) -> str:
    """How many targets were met, and by name all that were not."""
    verdicts = [entry["verdict"] for entry in entries.values()]
    met, missed = verdicts.count("met"), [e for e in entries.values() if is_missed(e)]
    others = [e for e in entries.values() if not counts(e)]
    slower = [
        e for e in entries.values()
        if (ratio := ratio_of(e)) is not None and ratio < 1 and e not in missed and counts(e)
    ]  # fmt: skip
    lines = [f"{met} targets met, {len(missed)} missed."]
    lines += [f"- **missed**: {told(entry)}" for entry in missed]
    lines += [f"- slower than the peer, which no target forbids: {told(entry)}" for entry in slower]
    lines += [f"- no number: `{entry['name']}`, {entry['verdict']}" for entry in others]
    return "\n".join(lines)


def is_missed(entry: Entry) -> bool:
    return entry["verdict"].startswith("missed")


def told(entry: Entry) -> str:
    """A benchmark that was not won, in words."""
    if entry["kind"] == "accuracy":
        return f"`{entry['name']}`, {entry['verdict']}"
    ratio = ratio_of(entry)
    speed = "" if ratio is None else f", {ratio:.2f}x"
    return f"`{entry['name']}`{speed}, target {entry['target']}"


def ratio_of(entry: Entry) -> float | None:
    """The best peer's time over ours; None where there is none, or a stored answer took no time."""
    peers = [each["name"] for each in entry.get("rows", ())[1:]]
    return None if any(name.endswith(STORED) for name in peers) else entry.get("ratio")


def by_family(entries: dict[str, Entry]) -> dict[str, list[Entry]]:
    """The contests of each family, in the order of their names."""
    contests = [entry for entry in entries.values() if entry["kind"] == "contest"]
    names = sorted({entry["family"] for entry in contests})
    return {name: [entry for entry in contests if entry["family"] == name] for name in names}


def row(entry: Entry) -> tuple[str, ...]:
    """One contest."""
    verdict = f"**{entry['verdict']}**" if is_missed(entry) else entry["verdict"]
    if not entry["rows"]:
        return (f"`{entry['name']}`", "", "", "", "", "", entry["target"], verdict)
    ours, *peers = entry["rows"]
    best = min(peers, key=lambda peer: peer["median"], default=None)
    worst = [peer["difference"] for peer in peers]
    ratio = ratio_of(entry)
    return (
        f"`{entry['name']}`",
        entry["quality"],
        ", ".join(dict.fromkeys(difference(value) for value in worst)),
        seconds(ours["median"]),
        "" if best is None else f"{seconds(best['median'])}, {best['name']}",
        "" if ratio is None else f"{ratio:.1f}x",
        entry["target"],
        verdict,
    )


def difference(value: float | str | None) -> str:
    return value if isinstance(value, str) else "" if value is None else f"{value:.1e}"


def digits_table(entry: Entry) -> list[str]:
    """A table of correct digits, or of shares, beside the peers'."""
    rows = [
        (
            line["data"],
            *(f"{digits:.{entry['decimals']}f}" for digits in line["digits"]),
            "" if line["wanted"] is None else f">= {line['wanted']:g}",
        )
        for line in entry["lines"]
    ]
    table = markdown(("data", *entry["by"], "wanted"), rows)
    return [f"## {entry['what']}", f"{entry['verdict'].capitalize()}.", table]


def first_calls(entries: dict[str, Entry]) -> Iterable[tuple[str, ...]]:
    """Of each family the benchmark whose first call compiles longest."""
    for members in by_family(entries).values():
        timed = [entry for entry in members if entry["cold"]]
        if timed:
            entry = max(timed, key=lambda each: each["cold"]["wall"])
            ours = entry["rows"][0]
            warm = "" if ours["first"] is None else seconds(ours["first"]["wall"])
            cold, later = seconds(entry["cold"]["wall"]), seconds(ours["median"])
            yield (f"`{entry['name']}`", cold, warm, later)


def sizes(entries: dict[str, Entry]) -> str:
    """Megabytes on disk, with all that is required, beside the peer's."""
    newest = max(entries.values(), key=lambda entry: entry["date"])["machine"]["installed"]
    found = newest["empirisk"]
    largest = sorted(found, key=lambda name: -found[name])[:6]
    parts = ", ".join(f"{name} {found[name]:.0f}" for name in largest)
    peer = sum(newest["scikit-learn"].values())
    return (
        f"{sum(found.values()):.0f} MB with everything it requires, of which empirisk itself "
        f"{found['empirisk']:.0f} (the bundled tables included) and {parts}; "
        f"scikit-learn with what it requires takes {peer:.0f} MB."
    )


def words(entries: dict[str, Entry]) -> Iterable[tuple[str, ...]]:
    for name, entry in entries.items():
        yield (f"`{name}`", entry["about"], entry.get("size", ""))


def short_table(entries: dict[str, Entry]) -> str:
    """A few lines of each family, with what they are beside."""
    rows = []
    for name in HEADLINES:
        entry = entries.get(name)
        if entry is not None and counts(entry) and len(entry["rows"]) > 1:
            ours, *peers = entry["rows"]
            best = min(peers, key=lambda peer: peer["median"])
            rows.append(
                (entry["about"].rstrip("."), seconds(ours["median"]),
                 f"{seconds(best['median'])}, {best['name']}", f"{entry['ratio']:.1f}x")
            )  # fmt: skip
    return markdown(("what", "ours", "best peer", "ratio"), rows)
