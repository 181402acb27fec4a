"""Splits, conditions and values of a tree in words, with the names that the user gave."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from sklearn.base import is_classifier
from sklearn.utils.validation import check_is_fitted

from empirisk.learners.trees.bounds import (
    date_between,
    date_of,
    in_full,
    neighbours,
    number,
    number_between,
)
from empirisk.learners.trees.conditions import (
    Condition,
    Conditions,
    bound_of,
    levels_to_left,
)
from empirisk.learners.trees.leaf_formulas import odds_formula, regression_formula
from empirisk.learners.trees.tree import Tree
from empirisk.runtime.arrays import Array, Floats, Ints
from empirisk.runtime.errors import ParameterError

MOST_LEVELS = 8
AMBIGUOUS = re.compile(
    r"""^['"] | [,{}] | :[ ] | \b(or|and)\b | ^(not[ ])?missing$ | ^\d+[ ]other[ ]levels$""",
    re.VERBOSE,
)
"""What `either`, `listed` and conditions could have written themselves."""


def listed_names(names: Any, parameter: str) -> Sequence[Any]:
    """Names as they were given; one name alone, whose letters would be counted, is refused."""
    if isinstance(names, str) or not hasattr(names, "__len__"):
        raise ParameterError(f"{parameter} is {names!r:.60}; give a list of names")
    return names


class Wording:
    """The words for one fitted tree.

    Parameters
    ----------
    model : fitted decision tree
    digits : int
        Of thresholds and values; more where a threshold would move past a value of the data.
    names : sequence of str, optional
        Of the features, instead of those of the columns.
    missing : bool, optional
        Whether to say where missing values go: None says it of columns that had some.
    levels : int
        Levels of a category that are named; others are counted.
    places : array of shape (rows, p), optional
        Rows, as trees compare them, of which thresholds must be true as they are written, beside
        those of training; `own_value` speaks of them.
    integers : dict of arrays, optional
        Of features that had integers beyond 2^53, which places do not hold: the numbers of the
        same rows.
    """

    def __init__(
        self,
        model: Any,
        *,
        digits: int = 6,
        names: Sequence[str] | None = None,
        missing: bool | None = None,
        levels: int = MOST_LEVELS,
        places: Floats | None = None,
        integers: Mapping[int, Array] | None = None,
    ) -> None:
        self.model, self.digits, self.missing, self.levels = model, digits, missing, levels
        self.tree: Tree = model.tree_
        self._places, self._near, self._bounds = places, dict[int, Any](), dict[Any, str]()
        self._integers = {} if integers is None else integers
        self._formulas = dict[int, str]()
        self.columns = model.columns_
        own = [column.name for column in self.columns]
        given = own if names is None else listed_names(names, "feature_names")
        if len(given) != len(self.columns):
            raise ParameterError(
                f"feature_names has {len(given)} names; the tree was fitted to "
                f"{len(self.columns)} features: give a name for each"
            )
        self.names = distinct(given)

    def says_missing(self, feature: int) -> bool:
        """Whether missing values of a feature are spoken of."""
        return bool(self.columns[feature].missing) if self.missing is None else self.missing

    def bound(self, feature: int, value: Any) -> str:
        """A threshold of a feature."""
        if isinstance(value, int) or np.isinf(value):
            return str(value)
        if (feature, value) not in self._bounds:
            low, high = neighbours(value, self._values_beside(feature))
            calendar = self.columns[feature].calendar
            self._bounds[feature, value] = (
                number_between(value, low, high, self.digits)
                if calendar is None
                else date_between(value, low, high, calendar)
            )
        return self._bounds[feature, value]

    def _values_beside(self, feature: int) -> Floats | None:
        """The values that no threshold of a feature may be moved past."""
        if feature not in self._near:
            values = self.columns[feature].values
            if self._places is not None and values is not None:
                own = self._places[:, feature]
                values = np.union1d(values, own[~np.isnan(own)])
            self._near[feature] = values
        return self._near[feature]

    def own_value(self, asked: Condition, i: int) -> str:
        """The value of the i-th row, with digits such that it meets the condition as written."""
        assert self._places is not None
        j, column = asked.feature, asked.column
        name, place = self.names[j], self._places[i, j]
        if np.isnan(place):
            return f"{name} is missing{' or new' if column.kind == 'category' else ''}"
        if column.kind == "category":
            return f"{name} = {spelled(column.values[int(place)])}"
        if column.kind == "integer":
            return f"{name} = {in_full(self._integers[j][i])}"
        if column.calendar is not None:
            return f"{name} = {date_of(place, column.calendar)}"
        low, high = (float(self.bound(j, bound)) for bound in (asked.low, asked.high))
        up_to = float(np.nextafter(high, np.inf))
        return f"{name} = {number_between(place, low, up_to, self.digits)}"

    def question(self, node: int, asked: Conditions) -> str:
        """What a split asks of its feature: those who say yes go left."""
        j = int(self.tree.feature[node])
        if self.columns[j].kind != "category":
            bound = bound_of(self.tree, self.columns, node)
            return "not missing" if bound == np.inf else f"<= {self.bound(j, bound)}"
        before = asked.get(j) or Condition.anything(j, self.columns[j])
        assert before.levels is not None
        goes = levels_to_left(self.tree, node, len(self.columns[j].values))
        left = [self.columns[j].values[code] for code in before.levels if goes[code]]
        right = [self.columns[j].values[code] for code in before.levels if not goes[code]]
        if not right:
            return "not missing"
        if len(right) < len(left):
            return f"not in {{{listed(right, self.levels)}}}"
        return f"in {{{listed(left, self.levels)}}}"

    def condition(self, asked: Condition) -> str:
        """One condition in plain English."""
        name, says = self.names[asked.feature], self.says_missing(asked.feature)
        if asked.nothing:
            return f"{name} is missing"
        if asked.whole:
            return "" if asked.missing or not says else f"{name} is not missing"
        missing = says and asked.missing
        if asked.levels is not None:
            levels = listed_words(asked.level_names, self.levels)
            return f"{name} is {either([*levels, *(['missing'] if missing else [])])}"
        low, high = (self.bound(asked.feature, bound) for bound in (asked.low, asked.high))
        if asked.low == -np.inf:
            text = f"{name} <= {high}"
        elif asked.high == np.inf:
            text = f"{name} > {low}"
        else:
            text = f"{low} < {name} <= {high}"
        return f"({text} or missing)" if missing else text

    def conditions(self, asked: Conditions) -> str:
        """All of them; empty where nothing is asked."""
        return " and ".join(filter(None, map(self.condition, asked.values())))

    def value(self, node: int, digits: int = 4) -> str:
        """What a node predicts, were it a leaf; of a linear tree, what it has on average."""
        if is_classifier(self.model):
            text, rather = spelled(self.model.classes_[labels_of(self.model)[node]]), "mostly"
        else:
            text, rather = prediction(self.tree.value[node, :, 0], digits), "about"
        return f"{rather} {text}" if hasattr(self.model, "models_") else text

    def formula(self, leaf: int) -> str:
        """The model in a leaf of a linear tree; empty for other trees, and without a model."""
        if not hasattr(self.model, "models_"):
            return ""
        if leaf not in self._formulas:
            if is_classifier(self.model):
                labels = [spelled(label) for label in self.model.classes_]
                self._formulas[leaf] = odds_formula(self, leaf, labels)
            else:
                self._formulas[leaf] = regression_formula(self, leaf)
        return self._formulas[leaf]


def tree_of(model: Any) -> Any:
    """The fitted tree of this library that a model is, or that a `Tuned` has chosen."""
    check_is_fitted(model)
    while hasattr(model, "best_estimator_"):
        model = model.best_estimator_
    if not (hasattr(model, "tree_") and hasattr(model, "columns_")):
        home = type(model).__module__.partition(".")[0]
        raise ParameterError(
            f"this is {type(model).__name__} of {home}, and no tree of Empirisk: give a fitted "
            "DecisionTree or LinearTree (of a forest one of its estimators_, of a pipeline its "
            "last step)"
        )
    return model


def labels_of(model: Any) -> Ints:
    """The class code that each node of a classifier predicts, were it a leaf."""
    if hasattr(model, "_labels"):
        return model._labels
    return model.tree_.value[:, 0].argmax(axis=1)


def prediction(value: Any, digits: int) -> str:
    """A label, a number, or several numbers."""
    if np.ndim(value) == 0:
        return number(value, digits) if isinstance(value, float) else spelled(value)
    if len(value) == 1:
        return number(value[0], digits)
    shown = [number(each, digits) for each in value[:3]]
    return f"({', '.join([*shown, *(['...'] if len(value) > 3 else [])])})"


def percent(share: float) -> str:
    """A share in percent.

    Examples
    --------
    >>> percent(0.5), percent(0.034), percent(0.00012), percent(1.0)
    ('50 %', '3.4 %', '0.012 %', '100 %')
    """
    return f"{100 * share:.2g} %" if share < 0.0995 else f"{100 * share:.0f} %"


def one_line(name: Any) -> str:
    """A name on one line, with what cannot be printed made visible."""
    text = "".join(c if c.isprintable() else repr(c)[1:-1] for c in str(name))
    return " ".join(text.split())


def distinct(names: Sequence[Any]) -> list[str]:
    """Names on one line; in quotes where nothing is left of one, or the same as of another.

    Examples
    --------
    >>> distinct(["size ", "age", "age ", ""])
    ['size', "'age'", "'age '", "''"]
    """
    lines = [one_line(name) for name in names]
    times = Counter(lines)
    return [
        line if line and times[line] == 1 else repr(str(name))
        for line, name in zip(lines, names, strict=True)
    ]


def spelled(level: Any) -> str:
    """A level of a category, or a label, such that no other one, and no other word, looks like it.

    In quotes where it is empty, has spaces that do not show, or could be read as something else
    that stands in a condition (a list, a missing value); plain otherwise.

    Examples
    --------
    >>> spelled("red"), spelled("red "), spelled("red, blue"), spelled("missing"), spelled(3)
    ('red', "'red '", "'red, blue'", "'missing'", '3')
    """
    plain = one_line(level)
    if not isinstance(level, str) or (plain == level != "" and not AMBIGUOUS.search(level)):
        return plain
    return repr(str(level))


def listed_words(levels: Sequence[Any], most: int) -> list[str]:
    """Levels by name, the last of many as a number of them."""
    names = [spelled(level) for level in levels]
    more = len(names) - most
    return names if more <= 1 else [*names[:most], f"{more} other levels"]


def listed(levels: Sequence[Any], most: int = MOST_LEVELS) -> str:
    """Levels in words, with commas, the rest counted."""
    return ", ".join(listed_words(levels, most))


def either(words: Sequence[str]) -> str:
    """`red`, `red or blue`, `red, blue or missing`.

    Examples
    --------
    >>> either(["red"]), either(["red", "blue"]), either(["red", "blue", "missing"])
    ('red', 'red or blue', 'red, blue or missing')
    """
    if len(words) == 1:
        return words[0]
    return f"{', '.join(words[:-1])} or {words[-1]}"
