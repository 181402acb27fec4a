"""The model in a leaf of a linear tree as a formula: `y = 3.2 + 0.5 age - 1.1 dose and 12 more`."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from empirisk.data.coded_column import CodedColumn
from empirisk.learners.trees.bounds import date_of, number
from empirisk.learners.trees.linear_models import LeafModels
from empirisk.runtime.arrays import Floats

DIGITS = 3  # of coefficients, and of the constant in terms of what the terms add
MOST_TERMS = 5
ROUNDING = 8 * float(np.finfo(float).eps)


def leaf_formula(
    models: LeafModels,
    at: int,
    pick: Floats,
    columns: Sequence[CodedColumn],
    names: Sequence[str],
    scale: float = 0.0,
) -> str:
    """The `at`-th model, or a difference of its outputs: those that have weights in `pick`.

    Terms come in the order of their coefficients for standardised columns, the largest first. The
    constant is such that the formula as written is exact at the means of the leaf's columns; terms
    that are left out are at their means. Coefficients that are nothing but rounding errors of the
    value, or of numbers of size `scale`, are no terms. Empty where numbers are beyond float64.
    """
    used, of = np.flatnonzero(pick), models.columns
    coef, offset = pick[used] @ models.coef[at, used], float(pick[used] @ models.offset[at, used])
    order = np.argsort(-np.abs(coef), kind="stable")
    noise = ROUNDING * max(abs(offset), scale)
    order = order[: np.count_nonzero(np.abs(coef) > noise)]
    shown = order if len(order) <= MOST_TERMS + 1 else order[:MOST_TERMS]
    with np.errstate(over="ignore", invalid="ignore"):
        centre = of.unit * (of.mean + models.centre[at] * of.spread)
        slope = coef / of.spread / of.unit * models.unit
        constant, effect = offset * models.unit, np.abs(coef[order]).max(initial=0.0) * models.unit
    texts = [number(abs(slope[j]), DIGITS) for j in shown]
    terms = []
    for j, text in zip(shown, texts, strict=True):
        column, sign = columns[of.columns[j]], "-" if slope[j] < 0 else "+"
        name, origin = names[of.columns[j]], 0.0
        if column.calendar is not None:
            origin = float(np.floor(centre[j]))
            name = f"({name} - {date_of(origin, 'local')})"
        terms.append(f" {sign} {text} {name}")
        constant -= np.copysign(float(text), slope[j]) * (centre[j] - origin)
    if not np.isfinite([constant, effect, *slope[shown]]).all():
        return ""
    more = len(order) - len(shown)
    rest = f" and {more} more" if more else ""
    return f"{number(constant, _digits(constant, effect))}{''.join(terms)}{rest}"


def _digits(constant: float, effect: float) -> int:
    """Digits of a constant that is added to terms which change by `effect`."""
    size = abs(constant) / effect if effect > 0 else 0.0
    return min(DIGITS + 1 + max(int(np.ceil(np.log10(size))) if size > 0 else 0, 0), 17)


def two_commonest(shares: Floats, offset: Floats) -> list[int]:
    """The codes of the two classes of a leaf with the largest shares; fewer, if it has fewer."""
    order = np.argsort(-shares, kind="stable")
    return [int(k) for k in order if np.isfinite(offset[k])][:2]


def regression_formula(words: Any, node: int) -> str:
    """`y = ...` of a leaf."""
    models, at = _model_of(words, node)
    formula = leaf_formula(models, at, np.ones(1), words.columns, words.names)
    return f"y = {formula}" if formula else ""


def odds_formula(words: Any, node: int, labels: Sequence[str]) -> str:
    """The logarithm of the odds of the two commonest classes of a leaf."""
    models, at = _model_of(words, node)
    two = two_commonest(words.tree.value[node, 0], models.offset[at])
    if len(two) < 2 or not models.coef[at, two].any():
        return ""
    pick = np.zeros(len(labels))
    pick[two] = [1.0, -1.0]
    formula = leaf_formula(models, at, pick, words.columns, words.names, scale=1.0)
    return f"log odds of {labels[two[0]]} to {labels[two[1]]} = {formula}" if formula else ""


def is_cut_off(model: Any, leaf: int, value: float) -> bool:
    """Whether a prediction is an end of the range to which the model of its leaf is kept."""
    models = model.models_
    at = int(np.searchsorted(models.nodes, leaf))
    return value in (models.low[at, 0] * models.unit, models.high[at, 0] * models.unit)


def _model_of(words: Any, node: int) -> tuple[LeafModels, int]:
    models = words.model.models_
    return models, int(np.searchsorted(models.nodes, node))
