"""The chosen tree on the page: its picture, its rules in words, and its pruning table."""

from typing import Any

from empirisk.learners.trees.pruning_table import PruningTable
from empirisk.report.chosen_model import fitted_model, is_standardized
from empirisk.report.pictures import as_svg
from empirisk.report.tags import Html, element, join, table
from empirisk.risk.curves import RiskPath
from empirisk.risk.learner import learner_of
from empirisk.risk.predictor import columns_behind
from empirisk.selection.select import Selection

MOST_DRAWN, MOST_RULES, MOST_TREES = 24, 24, 30


def tree_parts(selection: Selection) -> list[Html]:
    """What a chosen decision tree has to show; nothing for other models."""
    model, path = selection.model, selection.paths[selection.name]
    if hasattr(model, "best_estimator_"):  # tuned on its own
        model, path = fitted_model(model), model.path_
    tree = learner_of(model)
    if not (hasattr(tree, "tree_") and hasattr(tree, "rules")):
        return []
    names = columns_behind(model, tree.n_features_in_)
    unit = "Numbers count in standard deviations from their mean."
    return [
        *([element("p", unit, css="soft")] if is_standardized(model) else []),
        *_picture(tree, names),
        *_rules(tree, names),
        *_table(tree, path, selection.plan.n),
    ]


def _picture(tree: Any, names: list[str]) -> list[Html]:
    n = tree.get_n_leaves()
    if n == 1:
        return []
    how = (
        f"The tree has {n} leaves. Where a split holds, the way goes left; lines are as wide as "
        "the share of the rows."
    )
    depth = tree.tree_.depth
    deepest = max(
        level
        for level in range(tree.get_depth() + 1)
        if (depth == level).sum() + (tree.tree_.is_leaf & (depth < level)).sum() <= MOST_DRAWN
    )
    if deepest < tree.get_depth():
        how += f" The picture ends at depth {deepest}."
    ax = tree.plot(max_depth=deepest, feature_names=names)
    return [element("p", how, css="soft"), Html(as_svg(ax.figure))]


def _rules(tree: Any, names: list[str]) -> list[Html]:
    rules = sorted(tree.rules(feature_names=names), key=lambda rule: (-rule.share, rule.leaf))
    left = len(rules) - MOST_RULES
    said = "Its rules, those of the most rows first. The risk is that on the rows that trained."
    items = [element("li", rule.text) for rule in rules[:MOST_RULES]]
    parts = [element("p", said, css="soft"), element("ul", join(items))]
    if left > 0:
        parts.append(element("p", f"{left} more rules are not shown.", css="soft"))
    return parts


def _table(tree: Any, path: RiskPath, n: int) -> list[Html]:
    """Of a tree that was fitted to the rows of the path."""
    along = None if path.axis is None else path.axis.params
    same_rows = int(tree.tree_.n_node_samples[0]) == n
    if along != ("ccp_alpha",) or not same_rows or len(path.values) < 2:
        return []
    found = PruningTable.of(path, tree)
    rows = [
        (f"{cp:.4g}", f"{splits}", f"{training:.4f}", f"{honest:.4f}", f"{std:.4f}")
        for cp, splits, training, honest, std in found.rows()
    ]
    how = (
        "Pruning, in the form of R's rpart: CP is the price of a leaf as a part of the error of "
        "the root, to which all errors here are relative; xerror is on held-out rows."
    )
    shown = rows[:MOST_TREES]
    marked = found.chosen if found.chosen < MOST_TREES else None
    header = ("CP", "nsplit", "rel error", "xerror", "xstd")
    parts = [
        element("p", how, css="soft"),
        table(header, shown, numbers=range(len(header)), marked=marked),
    ]
    left = len(rows) - MOST_TREES
    if left > 0:
        parts.append(element("p", f"{left} larger trees are not shown.", css="soft"))
    return parts
