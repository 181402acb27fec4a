"""The leaves of a tree as rules in plain English, and why a row is predicted as it is."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import is_classifier
from sklearn.utils.validation import check_is_fitted

from empirisk.data.raw_columns import as_numbers, raw_columns
from empirisk.data.table_door import check_places, table_of
from empirisk.learners.trees.bounds import number
from empirisk.learners.trees.conditions import Condition, Conditions, each_node, of_nodes
from empirisk.learners.trees.leaf_formulas import is_cut_off
from empirisk.learners.trees.wording import Wording, labels_of, percent, prediction
from empirisk.runtime.arrays import Bools, Floats


@dataclass(frozen=True, eq=False)
class Rule:
    """One leaf: which rows come to it, and what it predicts of them.

    Attributes
    ----------
    leaf : int
        The number of the node, as `apply` gives it.
    conditions : tuple of Condition
        One for each feature that the path asks for; all must hold. Of all rules of a tree exactly
        one holds for each row.
    n_samples : int
        Rows of training.
    share : float
        Their part of the whole weight.
    value : label, number, or array of numbers
        The prediction.
    shares : array or None
        Of the classes.
    risk : float
        The leaf's own impurity for a regressor (its mean squared error, for example), the expected
        cost of its label for a classifier (the share of mistakes, without costs).
    text : str
        All this as a sentence.
    """

    leaf: int
    conditions: tuple[Condition, ...]
    n_samples: int
    share: float
    value: Any
    shares: Floats | None
    risk: float
    text: str

    def __str__(self) -> str:
        return self.text

    def holds(self, places: Floats) -> Bools:
        """For which rows it holds; (rows, p) as trees compare them."""
        return np.logical_and.reduce(
            [asked.holds(places[:, asked.feature]) for asked in self.conditions]
            or [np.ones(len(places), bool)]
        )

    def to_dict(self) -> dict[str, Any]:
        """As numbers and text, for a frame or for JSON."""
        value = self.value.tolist() if hasattr(self.value, "tolist") else self.value
        return {
            "leaf": self.leaf,
            "rule": self.text,
            "n_samples": self.n_samples,
            "share": self.share,
            "value": value,
            "risk": self.risk,
        }


class Rules(tuple[Rule, ...]):
    """All the rules of a tree, from left to right; printed one a line."""

    __slots__ = ()

    def __str__(self) -> str:
        return "\n".join(rule.text for rule in self)

    def __repr__(self) -> str:
        return f"<{len(self)} rules>\n{self}"

    def rows(self) -> list[dict[str, Any]]:
        """A dict for each rule, as a frame takes them."""
        return [rule.to_dict() for rule in self]


def rules_of(
    model: Any, *, feature_names: Sequence[str] | None = None, missing: bool | None = None
) -> Rules:
    """The rule of each leaf of a fitted tree."""
    check_is_fitted(model)
    words = Wording(model, names=feature_names, missing=missing)
    risks = leaf_risks(model)
    leaf = model.tree_.is_leaf
    return Rules(
        _rule(words, node, asked, risks)
        for node, asked in each_node(model.tree_, model.columns_)
        if leaf[node]
    )


def explain(
    model: Any,
    X: Any,
    *,
    feature_names: Sequence[str] | None = None,
    missing: bool | None = None,
) -> list[str]:
    """Why each row is predicted as it is, a sentence for each."""
    places = check_places(model, X)
    leaves, values = model.tree_.apply(places), model.predict(X)
    integers = _large_integers(model, X)
    words = Wording(model, names=feature_names, missing=missing, places=places, integers=integers)
    risks = leaf_risks(model)
    asked_of = of_nodes(model.tree_, model.columns_, np.unique(leaves).tolist())
    rules = {leaf: _rule(words, leaf, asked, risks) for leaf, asked in asked_of.items()}
    return [
        f"{prediction(value, 4)}, {_reason(words, rules[leaf], i)}{_model(words, leaf, value)}"
        for i, (value, leaf) in enumerate(zip(values, leaves.tolist(), strict=True))
    ]


def _large_integers(model: Any, X: Any) -> dict[int, Any]:
    """The numbers as they were given of columns that had integers beyond 2^53, by feature."""
    kinds = [column.kind for column in model.columns_]
    if "integer" not in kinds:
        return {}
    raw = raw_columns(table_of(X, model, reset=False), [True] * len(kinds))
    return {
        j: as_numbers(column, dates=False, integers=True).numbers
        for j, column in enumerate(raw)
        if kinds[j] == "integer"
    }


def leaf_risks(model: Any) -> Floats:
    """The risk of each node, were it a leaf, on its own rows."""
    tree = model.tree_
    if not hasattr(model, "_labels"):
        return tree.impurity
    costs = model.for_classes(model.classes_)._costs(len(model.classes_))
    return (costs[model._labels] * tree.value[:, 0]).sum(axis=1)


def _rule(words: Wording, node: int, asked: Conditions, risks: Floats) -> Rule:
    model, tree = words.model, words.tree
    weight = tree.weighted_n_node_samples
    share, risk = float(weight[node] / weight[0]), float(risks[node])
    if is_classifier(model):
        value, shares = model.classes_[labels_of(model)[node]], tree.value[node, 0]
    else:
        outputs = tree.value[node, :, 0]
        value, shares = (float(outputs[0]) if len(outputs) == 1 else outputs), None
    conditions = words.conditions(asked)
    said = ", ".join(filter(None, [words.value(node), words.formula(node)]))
    text = (
        f"{'if ' + conditions if conditions else 'always'}: {said} "
        f"({percent(share)} of the rows, risk {number(risk, 3)})"
    )
    return Rule(
        node, tuple(asked.values()), int(tree.n_node_samples[node]), share, value, shares, risk,
        text,
    )  # fmt: skip


def _reason(words: Wording, rule: Rule, i: int) -> str:
    """The rule of the leaf of the i-th row, with the row's own values."""
    said = [(asked, text) for asked in rule.conditions if (text := words.condition(asked))]
    if not said:
        return "as for every row"
    own = ", ".join(words.own_value(asked, i) for asked, _ in said)
    asked_for = " and ".join(text for _, text in said)
    where = f"leaf {rule.leaf}, {percent(rule.share)} of the rows of training"
    return f"since {asked_for} (here {own}); {where}"


def _model(words: Wording, leaf: int, value: Any) -> str:
    """The model of a linear tree that made a prediction."""
    formula = words.formula(leaf)
    cut = formula and not is_classifier(words.model) and is_cut_off(words.model, leaf, value)
    return f"; {formula}{', cut off there' if cut else ''}" if formula else ""
