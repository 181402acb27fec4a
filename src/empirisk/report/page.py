"""`write_report`: a selection as one HTML page that needs nothing else."""

import os
from collections.abc import Mapping, Sequence
from typing import Any

from empirisk.data.table import Table
from empirisk.report.sections import (
    findings_section,
    method_section,
    model_section,
    notes_section,
    paths_section,
    ranking_section,
    table_section,
    verdict_section,
)
from empirisk.report.tags import element, join
from empirisk.runtime.errors import ParameterError
from empirisk.runtime.whole_file import whole_file
from empirisk.selection.select import Selection

# Nothing on the page may be fetched or run, whatever the names in the data are.
POLICY = "default-src 'none'; style-src 'unsafe-inline'"

STYLE = """
:root { color-scheme: light; --ink: #1f2a44; --soft: #5b6782; --line: #e2e6ef; --mark: #c2410c; }
* { box-sizing: border-box; }
body { margin: 0; background: #f5f6fa; color: var(--ink);
  font: 16px/1.55 system-ui, -apple-system, "Segoe UI", Roboto, sans-serif; }
main { max-width: 860px; margin: 0 auto; padding: 24px 16px 64px; }
h1 { font-size: 1.5rem; margin: 8px 0 0; overflow-wrap: anywhere; }
h2 { font-size: 1.1rem; margin: 0 0 10px; }
h3 { font-size: 1rem; margin: 18px 0 4px; overflow-wrap: anywhere; }
p { margin: 6px 0; overflow-wrap: anywhere; }
section { background: #fff; border: 1px solid var(--line); border-radius: 10px;
  padding: 18px 22px; margin-top: 16px; overflow-x: auto; }
.verdict { border-left: 5px solid var(--mark); }
.verdict .big { font-size: 1.25rem; font-weight: 650; }
.soft { color: var(--soft); font-size: .92rem; }
table { border-collapse: collapse; width: 100%; font-size: .93rem; }
th, td { text-align: left; padding: 5px 12px 5px 0; border-bottom: 1px solid var(--line);
  vertical-align: top; overflow-wrap: break-word; max-width: 22em; }
th { color: var(--soft); font-weight: 600; }
td.n, th.n { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
tr.chosen td { font-weight: 650; color: var(--mark); }
.bar { display: inline-block; height: 10px; border-radius: 2px; background: #3b6fb6; }
.bar.minus { background: #c86b3c; }
.good b { color: #15803d; } .warning b { color: var(--mark); }
ul { padding-left: 20px; margin: 6px 0; } li { margin: 4px 0; overflow-wrap: anywhere; }
svg { max-width: 100%; height: auto; }
@media print { body { background: #fff; } section { break-inside: avoid; } }
"""


def write_report(
    selection: Selection,
    path: str | os.PathLike[str],
    *,
    table: Any = None,
    target: str | None = None,
    source: str | None = None,
    notes: Sequence[str] = (),
    settings: Mapping[str, Any] | None = None,
) -> None:
    """Write what `select` found as one HTML page; a file of that name is replaced at one stroke.

    The page holds its pictures and its style, runs nothing and fetches nothing. The verdict comes
    first, then the ranking, the risk paths, the chosen model, the table, and how it was done.

    Parameters
    ----------
    selection : Selection
    path : str or path
    table : Table or data frame, optional
        The table that was learned from, to be described.
    target : str, optional
        The column that is predicted.
    source : str, optional
        Where the table comes from.
    notes : sequence of str, optional
        What else a reader should know, such as warnings.
    settings : dict, optional
        What else was decided on, for the section on the method: seed, rule.

    Examples
    --------
    >>> import numpy as np, pathlib, tempfile
    >>> from empirisk import LinearRegression, select
    >>> X = np.random.default_rng(0).normal(size=(60, 2))
    >>> chosen = select([LinearRegression()], X, X[:, 0], random_state=0)
    >>> page = pathlib.Path(tempfile.mkdtemp(), "report.html")
    >>> write_report(chosen, page, target="height")
    >>> page.read_text().startswith("<!DOCTYPE html>")
    True
    """
    if not hasattr(selection, "paths"):
        raise ParameterError(
            f"a report is written of what `select` returns, not of a {type(selection).__name__}"
        )
    if isinstance(notes, str):
        raise ParameterError(f"notes is {notes!r:.60}; give a list of texts")
    seen = None if table is None else Table.of(table)
    text = report_page(
        selection, table=seen, target=target, source=source, notes=notes, settings=settings
    )
    with whole_file(path) as draft:
        draft.write(text.encode())


def report_page(
    selection: Selection,
    *,
    table: Table | None = None,
    target: str | None = None,
    source: str | None = None,
    notes: Sequence[str] = (),
    settings: Mapping[str, Any] | None = None,
) -> str:
    """The page itself; the same selection gives the same bytes."""
    what = "the target" if target is None else target
    title = f"Predicting {what}"
    sections = [
        verdict_section(selection),
        findings_section(selection, table, target),
        ranking_section(selection),
        paths_section(selection),
        model_section(selection),
        table_section(table, target),
        notes_section(notes),
        method_section(selection, settings or {}),
    ]
    heading = [element("p", "Empirisk report", css="soft"), element("h1", title)]
    if source is not None:
        heading.append(element("p", f"from {source}", css="soft"))
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"{element('title', title)}\n<style>{STYLE}</style>\n</head>\n<body>\n"
        f"{element('main', join([*heading, *sections]))}\n</body>\n</html>\n"
    )
