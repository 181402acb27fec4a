"""What a selection says, in plain words: the verdict, and findings worth a look.

A finding has a code, so that programs and people can refer to it.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from empirisk.data.table import Table
from empirisk.report.assumptions import independence_sentence
from empirisk.report.chosen_model import columns_learned_from
from empirisk.report.columns import counts_rows, mark_of_missing
from empirisk.report.standings import BASELINE, Standing, standings
from empirisk.risk.estimate import RiskEstimate
from empirisk.risk.intervals.cautions import HEAVY_TAIL, MODELS_DIFFER
from empirisk.selection.select import Selection

FEW_ROWS = 100
MOSTLY = 0.5
HALF_THE_DIGITS = 2.0**-26
ROUNDING = {"squared": HALF_THE_DIGITS**2, "absolute": HALF_THE_DIGITS}
"""Risks of so small a share of a constant's are those of rounding, which no interval describes."""
HUNDREDTH = {"squared": 0.01**2, "absolute": 0.01}
"""Those of errors that are a hundredth of a constant's: seldom without the target in disguise."""
TWENTIETH = {"zero_one": 0.05}
"""Of mistakes that may happen at most, as far as the test can tell."""


@dataclass(frozen=True)
class Finding:
    """One thing that is good to know about a selection or its table."""

    code: str
    title: str
    text: str
    tone: Literal["good", "note", "warning"] = "note"


def in_words(selection: Selection) -> str:
    """The chosen candidate, with the value of its axis: `Ridge with alpha = 0.064`."""
    chosen = next(each for each in standings(selection) if each.chosen)
    return f"{chosen.name} with {chosen.at}" if chosen.at else chosen.name


def verdict(selection: Selection) -> str:
    """What was chosen, what it costs when it is wrong, how sure we are, and against what."""
    risk = selection.test_risk
    rows = f"{len(selection.test_rows):,} rows"
    how = (
        f"measured on {rows} that took no part in fitting or choosing"
        if risk.estimates == "this model"
        else f"measured on {rows} before the model was fitted again on all rows"
    )
    text = f"{_cost(risk)}, {how}."
    baseline = _baseline(selection)
    if baseline is None or selection.name == BASELINE:
        return text
    cost = _cost_of(risk.loss, baseline.risk)
    return f"{text} The best constant prediction {cost} by cross-validation."


def why_not_the_least(selection: Selection) -> str | None:
    """Why a learner was chosen although another one's risk in the ranking is less."""
    ranked = standings(selection)
    chosen = next(each for each in ranked if each.chosen)
    less = [each.name for each in ranked if each.risk < chosen.risk]
    if not less:
        return None
    path = selection.paths[selection.name]
    return (
        f"{chosen.name} was chosen for the least cross-validated risk of all values, "
        f"{path.risk.min():.4g}. The ranking allows for how much of it is luck: each risk "
        f"there is what to expect after the choice along the learner's own axis, and that of "
        f"{', '.join(less)} is less."
    )


def computed_target(selection: Selection) -> str | None:
    """What a risk that is next to nothing means, and what to do."""
    if _is_share(selection, ROUNDING):
        what = "the errors are those of rounding: the target can be computed from the other columns"
    elif _is_share(selection, HUNDREDTH) or _is_share(selection, TWENTIETH, at_most=True):
        what = (
            "next to a constant's the errors are small: the target can all but be computed from "
            "the other columns"
        )
    else:
        return None
    return (
        f"{what}. If some of these are known no sooner than the target, leave them out, or the "
        "model is of no use on new rows"
    )


def held_out_together(selection: Selection) -> str | None:
    """Which rows intervals count as one: those of a group, and copies, if they are many."""
    plan = selection.plan
    if plan.groups is None:
        return None
    groups = len(set(plan.groups.tolist()))
    return (
        f"The {plan.n:,} training rows are {groups:,} groups, of one origin or equal in all "
        "columns, which are held out together and which intervals count as one"
    )


def _is_share(selection: Selection, share: dict[str, float], *, at_most: bool = False) -> bool:
    """Whether the test risk, or what it is at most, is so small a share of the best constant's."""
    baseline, risk = _baseline(selection), selection.test_risk
    if baseline is None or risk.loss not in share or (at_most and risk.interval is None):
        return False
    value = risk.interval[1] if at_most and risk.interval is not None else risk.value
    return value <= share[risk.loss] * baseline.risk


def findings(
    selection: Selection, table: Table | None = None, target: str | None = None
) -> list[Finding]:
    """What is worth a look, the most important first."""
    found = [*_against_baseline(selection), *_of_choice(selection), *_of_test(selection)]
    computed = computed_target(selection)
    if _is_share(selection, ROUNDING):
        found = [each for each in found if each.code != "R5"]  # roundings always disagree
    if computed is not None:
        text = f"{computed[:1].upper()}{computed[1:]}."
        how = "be computed" if _is_share(selection, ROUNDING) else "all but be computed"
        found.insert(0, Finding("R9", f"The target can {how}", text, "warning"))
    together = held_out_together(selection)
    if together is not None:
        found.append(Finding("R10", "Rows that count as one", f"{together}."))
    if table is not None and target is not None:
        found += _of_assumptions(selection, table, target)
    if table is not None:
        found += _of_table(table, target, columns_learned_from(selection.model))
    for name, why in selection.failures.items():
        found.append(Finding("R6", f"{name} gave no risk", f"{why}.", "warning"))
    return found


def _cost(risk: RiskEstimate) -> str:
    """What the model costs, with the interval where there is one."""
    root = "root mean square; " if risk.loss == "squared" else ""
    if risk.interval is None:
        return f"It {_cost_of(risk.loss, risk.value, f' ({root}no interval: {risk.reason})')}"
    low, high = (_amount(risk.loss, end) for end in risk.interval)
    interval = f" ({root}{100 * risk.level:g} % interval {low} to {high})"
    return f"It {_cost_of(risk.loss, risk.value, interval)}"


def _cost_of(loss: str, value: float, interval: str = "") -> str:
    """The cost in words, the interval behind what is in its units."""
    amount = _amount(loss, value)
    if loss == "zero_one":
        return f"is wrong on {amount} of new rows{interval}"
    if loss == "squared":
        return f"is typically off by {amount}{interval}"
    if loss == "absolute":
        return f"is off by {amount} on average{interval}"
    if loss == "log":
        typical = f"typically {100 * math.exp(-value):.3g} % for the class that is true"
        return f"has a log risk of {amount}{interval}: {typical}"
    if loss == "brier":
        return f"has a Brier score of {amount}{interval}"
    return f"costs {amount} per row on average ({loss} loss){interval}"


def _amount(loss: str, value: float) -> str:
    if loss == "zero_one":
        return f"{100 * value:.3g} %"
    return f"{math.sqrt(max(value, 0.0)):.4g}" if loss == "squared" else f"{value:.4g}"


def _baseline(selection: Selection) -> Standing | None:
    return next((each for each in standings(selection) if each.name == BASELINE), None)


def _against_baseline(selection: Selection) -> Iterator[Finding]:
    baseline = _baseline(selection)
    if baseline is None:
        return
    if selection.name == BASELINE:
        text = (
            "No learner did better than predicting the same for every row. Either the columns say "
            "little about the target, or it takes other learners or more rows to hear it."
        )
        yield Finding("R1", "Nothing beats a constant", text, "warning")
        return
    risk = selection.test_risk
    if risk.interval is not None and risk.interval[1] < baseline.risk:
        text = (
            f"Its interval lies below the cross-validated risk of the best constant "
            f"({baseline.risk:.4g}); it saves {_saved(risk.value / baseline.risk)} of that risk."
        )
        yield Finding("R1", "Better than a constant", text, "good")
    else:
        text = (
            f"The best constant has a cross-validated risk of {baseline.risk:.4g}, and the "
            "untouched rows cannot exclude that the model is no better."
        )
        yield Finding("R1", "Perhaps no better than a constant", text, "warning")


def _saved(left: float) -> str:
    """In per cent; all of it only where nothing is left."""
    saved = 100 * (1 - left)
    return "over 99 %" if 99 < saved < 100 else f"{saved:.0f} %"


def _of_choice(selection: Selection) -> Iterator[Finding]:
    ranked = sorted(standings(selection), key=lambda each: each.risk)
    chosen = next(each for each in ranked if each.chosen)
    error = selection.risks[selection.name].standard_error or 0.0
    within = [
        each.name for each in ranked if not each.chosen and abs(each.risk - chosen.risk) < error
    ]
    if within:
        text = f"Within one standard error of the chosen risk: {', '.join(within)}."
        yield Finding("R2", "The choice was close", text)
    why = why_not_the_least(selection)
    if why is not None:
        yield Finding("R8", "The ranking and the choice differ", why)
    path = selection.paths[selection.name]
    inner = 0 < path.chosen < len(path.values) - 1
    whole = 0.0 in path.values  # as a pruning sequence is, from the root to the whole tree
    only = len(path.values) == 1  # where there is nothing that the axis would change
    if path.axis is not None and path.axis.scale == "log" and not (inner or whole or only):
        text = (
            f"{chosen.at} is an end of the {len(path.values)} values that were tried: one beyond "
            "it might do better."
        )
        yield Finding("R3", "Chosen at the end of the axis", text)


def _of_test(selection: Selection) -> Iterator[Finding]:
    n, risk = len(selection.test_rows), selection.test_risk
    if n < FEW_ROWS:
        text = f"{n} rows were kept for the test{_of_few(risk)}."
        yield Finding("R4", "Few rows for the test", text)
    if HEAVY_TAIL in risk.cautions:
        yield Finding("R7", "A few rows dominate", f"{HEAVY_TAIL.capitalize()}.", "warning")
    expected = selection.cross_validated_risk
    if MODELS_DIFFER in expected.cautions:
        text = (
            "The models of the folds differ in risk by more than their rows explain: chance "
            "decides much of what is learned. The test risk is that of this model, and of no other."
        )
        yield Finding("R11", "Models differ by chance", text, "warning")
    other = expected.interval or (expected.value, expected.value)
    if risk.interval is not None and not _overlap(risk.interval, other):
        word = "worse" if other[1] < risk.interval[0] else "better"
        text = (
            f"The test interval and that of cross-validation, {other[0]:.4g} to {other[1]:.4g}, "
            f"have nothing in common: on untouched rows the model does {word} than its selection "
            "promised."
        )
        yield Finding("R5", "Test and cross-validation disagree", text, "warning")


def _of_few(risk: RiskEstimate) -> str:
    """What few rows do to the interval."""
    if risk.interval is None:
        return ""
    approximate = any("approximate" in caution for caution in risk.cautions)
    return f"; the interval is wide{', and itself approximate' if approximate else ''}"


def _of_assumptions(selection: Selection, table: Table, target: str) -> Iterator[Finding]:
    found = independence_sentence(selection, table, target)
    if found is not None:
        independent, text = found
        title = "Columns look independent within classes"
        if not independent:
            title = "Columns are not independent within classes"
        yield Finding("M1", title, text, "good" if independent else "warning")


def _overlap(one: tuple[float, float], other: tuple[float, float]) -> bool:
    return one[0] <= other[1] and other[0] <= one[1]


def _of_table(table: Table, target: str | None, learned: set[str]) -> Iterator[Finding]:
    holes = [c.name for c in table.columns if len(table) and c.missing.mean() > MOSTLY]
    if holes:
        text = f"More than half of the values are missing in: {', '.join(holes)}."
        yield Finding("T1", "Columns that are mostly missing", text)
    used = {*learned, target}  # trees learn from text that spells integers beyond 2^53
    text_columns = [c.name for c in table.columns if c.kind == "text" and c.name not in used]
    if text_columns:
        text = f"Words that hardly repeat are not learned from: {', '.join(text_columns)}."
        yield Finding("T2", "Text left out", text)
    counters = [c.name for c in table.columns if c.name != target and counts_rows(c)]
    if counters:
        text = (
            f"Numbers that go up by one from row to row: {', '.join(counters)}. If they only "
            "identify the rows, what is learned from them does not hold on new ones: leave them "
            "out."
        )
        yield Finding("T3", "Columns that count the rows", text)
    marks = [f"{c.name} ({mark:g})" for c in table.columns if (mark := mark_of_missing(c))]
    if marks:
        text = (
            f"Numbers that repeat far from all others: {', '.join(marks)}. If they mean that a "
            "value is missing, leave their cells empty, or name them when the table is read."
        )
        yield Finding("T4", "Perhaps marks of missing values", text, "warning")
