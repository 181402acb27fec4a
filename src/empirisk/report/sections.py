"""The sections of the page, from the verdict to the method."""

import math
import platform
from collections.abc import Mapping, Sequence
from importlib.metadata import version
from typing import Any

import numpy as np

from empirisk import __version__
from empirisk.data.table import Table
from empirisk.report.chosen_model import Coefficients, fitted_model
from empirisk.report.chosen_tree import tree_parts
from empirisk.report.columns import contents
from empirisk.report.findings import findings, in_words, verdict
from empirisk.report.pictures import ranking_picture, risk_path_picture
from empirisk.report.standings import ends, short, standings
from empirisk.report.tags import Html, element, join, section, table
from empirisk.risk.curves import RiskPath
from empirisk.risk.learner import learner_of
from empirisk.selection.select import Selection

MOST_COEFFICIENTS, MOST_COLUMNS, MOST_OUTPUTS = 30, 100, 6
NOTHING = Html("")


def verdict_section(selection: Selection) -> Html:
    """The answer first."""
    return section(
        "Verdict",
        element("p", f"{in_words(selection)} was chosen.", css="big"),
        element("p", verdict(selection)),
        element("p", selection.test_risk.sentence, css="soft"),
        css="verdict",
    )


def findings_section(selection: Selection, seen: Table | None, target: str | None = None) -> Html:
    """What is worth knowing of the data and the choice, each with its code."""
    items = [
        element(
            "li",
            join(
                [element("b", f"{each.title}."), each.text, element("span", each.code, css="soft")]
            ),
            css=each.tone,
        )
        for each in findings(selection, seen, target)
    ]
    return section("What to know", element("ul", join(items))) if items else NOTHING


def ranking_section(selection: Selection) -> Html:
    """All candidates, the baseline first."""
    ranked = standings(selection)
    rows = [
        (each.name, each.at, _risk(each.risk), ends(each.interval), _risk(each.training_risk))
        for each in ranked
    ]
    chosen = next(i for i, each in enumerate(ranked) if each.chosen)
    plan = selection.plan
    expected = selection.cross_validated_risk
    level = f"{100 * expected.level:g} % interval"
    how = (
        f"The {selection.test_risk.loss} risk of each candidate on {plan.n:,} rows, from "
        f"{plan.n_splits} folds: every row is predicted by a model that did not see it. All "
        f"candidates meet the same folds. Risks are corrected for the choice of a value along the "
        f"axis; the bars are {level}s, the ticks the risk on the rows that trained, which is too "
        "good."
    )
    return section(
        "Ranking",
        element("p", how, css="soft"),
        Html(ranking_picture(selection)),
        table(
            ("candidate", "at", "risk", level, "training risk"),
            rows,
            numbers=(2, 3, 4),
            marked=chosen,
        ),
        element("p", f"Of the winner, after the choice among all: {expected.sentence}", css="soft"),
    )


def paths_section(selection: Selection) -> Html:
    """Risk against complexity, for each candidate that has an axis."""
    parts: list[Html] = []
    paths = {str(name): path for name, path in selection.paths.items()}
    for each in standings(selection):
        if each.values > 1:
            picture = Html(risk_path_picture(paths[each.name]))
            parts += [element("h3", each.name), picture]
    if not parts:
        return NOTHING
    how = (
        "From simple on the left to rich on the right. The training risk falls as a model gets "
        "richer; the honest risk, on rows that the model did not see, shows where that stops "
        "paying. The band is one standard error."
    )
    return section("Risk paths", element("p", how, css="soft"), *parts)


def model_section(selection: Selection) -> Html:
    """The coefficients of a linear model, largest first; a tree and its rules."""
    facts = [
        element("p", in_words(selection)),
        element("p", f"Training risk: {_risk(selection.training_risk)}", css="soft"),
    ]
    found = Coefficients.of(selection.model)
    if found is None:
        more = (*tree_parts(selection), *_constant(selection.model))
        return section("Chosen model", *facts, *more)
    p, k = found.values.shape
    unit = (
        "Numbers count in standard deviations from their mean, categories against their commonest "
        "level, so that sizes can be compared."
        if found.standardized
        else "In the units of the columns."
    )
    used = int(np.any(found.values != 0.0, axis=1).sum())
    rows = [_coefficient(found, i) for i in range(min(used, MOST_COEFFICIENTS))]
    outputs = found.outputs[:MOST_OUTPUTS]
    smaller = used - MOST_COEFFICIENTS
    left = [f"{smaller} smaller ones are not shown."] if smaller > 0 else []
    left += [f"The other {p - used} are 0." if used else f"All {p} are 0."] if p > used else []
    left += [f"{k - MOST_OUTPUTS} more outputs are not shown."] if k > MOST_OUTPUTS else []
    return section(
        "Chosen model",
        *facts,
        element("p", f"Coefficients, largest first. {unit}", css="soft"),
        table(
            ("column", *outputs, *([""] if k == 1 else [])),
            rows,
            numbers=range(1, 1 + len(outputs)),
        ),
        element("p", " ".join(left), css="soft") if left else NOTHING,
    )


def table_section(seen: Table | None, target: str | None) -> Html:
    """The table as it was read."""
    if seen is None:
        return NOTHING
    rows = [
        (
            f"{c.name} (target)" if c.name == target else c.name,
            c.kind,
            _missing(int(c.missing.sum()), len(seen)),
            contents(c),
        )
        for c in seen.columns[:MOST_COLUMNS]
    ]
    more = len(seen.columns) - MOST_COLUMNS
    source = [] if seen.source is None else str(seen.source).split("\n")
    return section(
        "Table",
        element("p", f"{len(seen):,} rows, {len(seen.columns)} columns."),
        *(element("p", line, css="soft") for line in source),
        table(("column", "kind", "missing", "holds"), rows, numbers=(2,)),
        element("p", f"{more} more columns are not shown.", css="soft") if more > 0 else NOTHING,
    )


def notes_section(notes: Sequence[str]) -> Html:
    """What was noted while the file was read, if anything."""
    items = [element("li", note) for note in notes]
    return section("Notes", element("ul", join(items))) if items else NOTHING


def method_section(selection: Selection, settings: Mapping[str, Any]) -> Html:
    """Everything that is needed to do it again."""
    plan, risk = selection.plan, selection.test_risk
    rows = [
        ("loss", risk.loss),
        (
            "test",
            f"{len(selection.test_rows):,} rows were set aside first and used once, at the end",
        ),
        ("interval", f"{risk.method}: {risk.reason}"),
        ("interval after the choice", _interval_after_choice(selection)),
        ("plan", f"{plan.kind}, {plan.n_splits} splits of {plan.n:,} rows"),
        ("fingerprint of the plan", plan.fingerprint[:16]),
        *((str(name), short(value)) for name, value in settings.items()),
        *((str(name), _rung(path)) for name, path in selection.paths.items()),
        ("versions", _versions()),
    ]
    return section("How it was done", table(("", ""), rows))


def _interval_after_choice(selection: Selection) -> str:
    risk = selection.cross_validated_risk
    how = f"{risk.method}: {risk.reason}"
    return f"{how}; corrected for the choice among {risk.chosen_among}" if risk.corrected else how


def _rung(path: RiskPath) -> str:
    """How the held-out predictions were found."""
    how = {
        "plan": "all folds at once",
        "path": "all values from one fit in each fold",
        "generic": "fitted anew for each value and fold",
    }.get(path.rung, path.rung)
    return f"{how} ({path.why})" if path.why else how


def _constant(model: Any) -> list[Html]:
    """What a baseline says of every row."""
    learner = learner_of(fitted_model(model))
    if not hasattr(learner, "constant_"):
        return []
    constant = learner.constant_
    if isinstance(constant, np.ndarray):  # probabilities, or several outputs
        words = ", ".join(short(each) for each in constant.ravel().tolist())
    else:
        words = short(constant)
    return [element("p", f"It predicts {words} for every row.")]


def _coefficient(found: Coefficients, i: int) -> list[str]:
    values = found.values[i, :MOST_OUTPUTS]
    cells = [found.names[i], *(f"{value:.4g}" for value in values)]
    if found.values.shape[1] > 1:
        return cells
    largest = float(np.abs(found.values[:, 0]).max())
    share = abs(float(values[0])) / largest if largest > 0 else 0.0
    sign = "bar minus" if values[0] < 0 else "bar"
    return [*cells, Html(f'<span class="{sign}" style="width:{180 * share:.0f}px"></span>')]


def _risk(value: float) -> str:
    return f"{value:.4g}" if math.isfinite(value) else "-"


def _missing(count: int, n: int) -> str:
    if count == 0:
        return "0"
    share = 100 * count / n
    return f"{count:,} ({'under 1' if share < 1 else f'{share:.0f}'} %)"


def _versions() -> str:
    others = ", ".join(f"{name} {version(name)}" for name in ("scikit-learn", "numpy", "scipy"))
    return f"empirisk {__version__}, Python {platform.python_version()}, {others}"
