"""Rules: every row satisfies exactly one, that of its leaf; the words are exact and plain."""

import re
from ast import literal_eval

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal

from empirisk import (
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    Table,
    draw_tree,
    export_text,
    load,
    save,
)
from empirisk.data.coded_column import places_of
from empirisk.learners.trees.wording import spelled
from empirisk.runtime.errors import ParameterError
from tolerances import SUMMED
from tree_twins import walk


def mixed(seed, n=200, missing=0.15):
    """A table of numbers, categories of 40 and of 3 levels, with missing values, and a target."""
    rng = np.random.default_rng(seed)
    town = rng.integers(0, 40, size=n)
    colour = rng.integers(0, 3, size=n)
    x = rng.normal(size=n)
    y = x * (colour == 1) + np.sin(town) + 0.3 * rng.normal(size=n)
    hide = rng.random((3, n)) < missing
    table = Table.of(
        {
            "x": [None if h else v for h, v in zip(hide[0], x.tolist(), strict=True)],
            "town": [None if h else f"t{v}" for h, v in zip(hide[1], town, strict=True)],
            "colour": [
                None if h else ("red", "blue", "green")[v]
                for h, v in zip(hide[2], colour, strict=True)
            ],
            "whole": rng.integers(0, 5, size=n),
        }
    )
    return table, y, rng


def selected(rule, table):
    """The rows that a rule's numbers and levels select, from the table itself."""
    chosen = np.ones(len(table), bool)
    for asked in rule.conditions:
        column = table[asked.column.name]
        if asked.levels is None:
            numbers = column.numbers()
            passed = (numbers > asked.low) & (numbers <= asked.high)
        else:
            known = np.array(asked.column.values, dtype=object)
            values = column.values()
            passed = np.isin(values.astype(str), asked.level_names)
            missing = ~np.isin(values.astype(str), known.astype(str))
            chosen &= np.where(missing, asked.missing, passed)
            continue
        chosen &= np.where(np.isnan(numbers), asked.missing, passed)
    return chosen


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("kind", ["regressor", "classifier"])
def test_each_row_satisfies_the_rule_of_its_leaf_and_no_other(seed, kind):
    table, y, _ = mixed(seed)
    if kind == "regressor":
        model = DecisionTreeRegressor(max_leaf_nodes=25).fit(table, y)
    else:
        model = DecisionTreeClassifier(max_leaf_nodes=25).fit(table, np.digitize(y, [-0.5, 0.5]))
    new, _, _ = mixed(seed + 50)  # with other missing values, and levels that are new
    for data in (table, new):
        leaves = model.apply(data)
        rules = model.rules()
        assert [rule.leaf for rule in rules] == np.flatnonzero(model.tree_.is_leaf).tolist()
        for rule in rules:
            assert_array_equal(selected(rule, data), leaves == rule.leaf)
    for rule in rules:
        rows = model.apply(table) == rule.leaf
        assert rule.n_samples == rows.sum()
        assert rule.share == pytest.approx(rows.mean(), rel=SUMMED)
        if kind == "regressor":
            assert rule.value == pytest.approx(y[rows].mean(), rel=SUMMED)
            assert rule.risk == pytest.approx(y[rows].var(), rel=SUMMED, abs=SUMMED)
        else:
            wrong = np.digitize(y[rows], [-0.5, 0.5]) != rule.value
            assert rule.risk == pytest.approx(wrong.mean(), abs=SUMMED)
    assert sum(rule.share for rule in rules) == pytest.approx(1, rel=SUMMED)


def test_rules_hold_in_terms_of_places_too():
    table, y, _ = mixed(5)
    model = DecisionTreeRegressor(max_depth=6).fit(table, y)
    places = model.design(table).places()
    held = np.array([rule.holds(places) for rule in model.rules()])
    assert_array_equal(held.sum(axis=0), 1)
    leaves = [path[-1] for path in walk(model.tree_, places)]
    assert_array_equal(np.array([rule.leaf for rule in model.rules()])[held.argmax(axis=0)], leaves)


def test_integers_beyond_float64_have_exact_bounds():
    rng = np.random.default_rng(0)
    base = 2**62
    identifiers = base + np.unique(rng.integers(0, 500, size=120))
    y = rng.normal(size=len(identifiers))
    model = DecisionTreeRegressor(max_leaf_nodes=20).fit(identifiers[:, None], y)
    every = base + np.arange(-5, 506)  # those between the ones that were seen, too
    leaves, places = model.apply(every[:, None]), places_of(every[:, None], model.columns_)
    bounds = [rule.conditions[0].high for rule in model.rules()][:-1]
    for rule in model.rules():
        (asked,) = rule.conditions
        inside = np.array([asked.low < int(v) <= asked.high for v in every])
        assert_array_equal(inside, leaves == rule.leaf)
        assert_array_equal(inside, rule.holds(places))
    assert all(isinstance(bound, int) and bound > 2**61 for bound in bounds)
    assert str(bounds[0]) in model.rules()[0].text


def test_the_own_value_of_a_large_integer_is_the_one_that_was_given():
    identifiers = 2**60 + np.array([0, 10, 20, 30])
    model = DecisionTreeRegressor().fit(identifiers[:, None], [1.0, 2.0, 3.0, 4.0])
    for own in (-5, 5, 2**60 - 5, 2**60, 2**60 + 3, 2**60 + 30, 2**60 + 99, 2**63 - 1):
        assert f"(here x0 = {own})" in model.explain(np.array([[own]]))[0]
    assert "(here x0 = 1152921504606846976)" in model.explain([[2.0**60]])[0]
    assert "(here x0 = 1e+300)" in model.explain([[1e300]])[0]
    assert "(here x0 is missing)" in model.explain([[np.nan]])[0]


def test_a_small_integer_in_the_words_of_a_table_is_told_where_large_ones_were():
    model = DecisionTreeRegressor().fit(Table.of({"id": [5, 6, 2**60]}), [1.0, 2.0, 3.0])
    assert "(here id = 7)" in model.explain(Table.of({"id": ["7"]}, {"id": "text"}))[0]


def test_rules_of_large_integers_are_true_of_fractions_too():
    model = DecisionTreeRegressor().fit(np.array([[1], [2], [3], [2**60]]), [1.0, 2.0, 3.0, 4.0])
    told = model.explain([[0.5], [1.0], [1.2], [1.7], [-1.5]])
    assert [reason.partition(";")[0] for reason in told] == [
        "1, since x0 <= 1 (here x0 = 0.5)",
        "1, since x0 <= 1 (here x0 = 1)",
        "2, since 1 < x0 <= 2 (here x0 = 1.2)",
        "2, since 1 < x0 <= 2 (here x0 = 1.7)",
        "1, since x0 <= 1 (here x0 = -1.5)",
    ]


LEVELS = ["a", " a", "a ", "", "a  b", "a b", "missing", "not missing", "a, b", "a or b", "a and b"]
LEVELS += ["{a}", "'a '", '"', "a\n", "a\\n", "2 other levels", "b: 1", "L'Aquila", "OR", "x"]


def spelled_in(text):
    """The levels that a text lists, read as Python reads strings where they are in quotes."""
    found = re.findall(
        r"('(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\"|[^'\", ][^,]*?)(?:, | or |$)", text
    )
    return [literal_eval(level) if level[0] in "'\"" else level for level in found]


def test_every_level_can_be_told_from_every_other_and_from_a_missing_value():
    n = len(LEVELS)
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"c": pd.Categorical([*LEVELS, None] * 3)})
    for _ in range(20):
        y = np.tile(rng.integers(0, 4, size=n + 1).astype(float), 3)
        y[n :: n + 1] = 9.0
        model = DecisionTreeRegressor().fit(X, y)
        for rule in model.rules():
            said = re.match(r"if c is (.*): \d \(\d+", rule.text)[1]
            if rule.value == 9.0:
                assert said == "missing"
            elif "other levels" not in said:
                assert spelled_in(said) == rule.conditions[0].level_names
    plain = [level for level in LEVELS if spelled(level) == level]
    assert plain == ["a", "a b", "a\\n", "L'Aquila", "OR", "x"]


def test_levels_and_labels_are_spelled_alike_in_all_texts():
    X = pd.DataFrame({"c": pd.Categorical(["a", "a ", "b"] * 4)})
    model = DecisionTreeClassifier().fit(X, np.array(["", "u", "u, v"] * 4))
    boxes = {text.get_text() for text in draw_tree(model).texts}
    assert {"c in {'a '}", "''", "u", "'u, v'"} <= boxes
    assert str(model.rules()).endswith("if c is a: '' (33 % of the rows, risk 0)")
    assert export_text(model).startswith("|--- c in {'a '}")
    assert model.explain(X)[1].startswith("u, since c is 'a ' (here c = 'a ')")
    X = pd.DataFrame({"x": [0, 1] * 6, "x ": np.arange(12) % 3, "y ": np.zeros(12)})
    model = DecisionTreeRegressor().fit(X, X["x "])
    assert str(model.rules()).startswith("if 'x ' <= 0.5: 0")
    assert export_text(model).startswith("|--- 'x ' <= 0.50")


def test_the_words():
    X = Table.of(
        {
            "age": [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0],
            "colour": ["red", "blue", "green", "red", "blue", "green", "red", "blue"],
        }
    )
    y = [9.0, 9.0, 9.0, 1.0, 1.0, 4.0, 1.0, 1.0]
    model = DecisionTreeRegressor().fit(X, y)
    assert str(model.rules()) == (
        "if age <= 3.5: 9 (38 % of the rows, risk 0)\n"
        "if age > 3.5 and colour is blue or red: 1 (50 % of the rows, risk 0)\n"
        "if age > 3.5 and colour is green: 4 (12 % of the rows, risk 0)"
    )
    told = model.explain(Table.of({"age": [9.0, 2.0], "colour": ["green", "pink"]}))
    assert told == [
        "4, since age > 3.5 and colour is green (here age = 9, colour = green); leaf 4, 12 % of "
        "the rows of training",
        "9, since age <= 3.5 (here age = 2); leaf 1, 38 % of the rows of training",
    ]
    spoken = model.rules(missing=True)[1].text
    assert spoken.startswith("if (age > 3.5 or missing) and colour is blue, red or missing: 1")
    assert model.rules().rows()[0]["value"] == 9.0
    one = DecisionTreeRegressor().fit([[1.0], [2.0]], [3.0, 3.0])
    assert str(one.rules()) == "always: 3 (100 % of the rows, risk 0)"
    assert one.explain([[5.0]]) == ["3, as for every row"]


def test_missing_values_are_spoken_of_where_training_had_some():
    X = np.array([[1.0, 1.0], [2.0, 5.0], [np.nan, 2.0], [np.nan, 4.0], [9.0, 3.0], [8.0, 0.0]])
    model = DecisionTreeRegressor(max_depth=2).fit(X, [1.0, 1.0, 6.0, 7.0, 1.0, 1.0])
    assert str(model.rules()) == (
        "if x0 is not missing: 1 (67 % of the rows, risk 0)\n"
        "if x0 is missing and x1 <= 3: 6 (17 % of the rows, risk 0)\n"
        "if x0 is missing and x1 > 3: 7 (17 % of the rows, risk 0)"
    )
    assert "(x1 > 3 or missing)" in str(model.rules(missing=True))
    assert model.explain([[np.nan, 4.0]])[0].startswith(
        "7, since x0 is missing and x1 > 3 (here x0"
    )


def test_thresholds_that_are_close_look_different():
    X = (1e9 + np.arange(6.0))[:, None]
    model = DecisionTreeRegressor().fit(X, [0.0, 1.0, 4.0, 9.0, 16.0, 25.0])
    texts = [rule.text.split(":")[0] for rule in model.rules()]
    assert texts[0] == "if x0 <= 1000000000.5"
    assert texts[1] == "if 1000000000.5 < x0 <= 1000000001.5"
    assert len(set(texts)) == 6


def test_costs_are_in_the_risk_of_a_rule_and_labels_in_its_value():
    costs = [[0, 9], [1, 0]]
    model = DecisionTreeClassifier(cost_matrix=costs, min_samples_leaf=4)
    (rule,) = model.fit([[1.0], [2.0], [3.0], [4.0]], ["a", "a", "a", "b"]).rules()
    assert rule.value == "b"
    assert rule.risk == pytest.approx(0.75, rel=SUMMED)  # b costs 1 for each a
    assert rule.text == "always: b (100 % of the rows, risk 0.75)"


def test_rules_survive_a_file(tmp_path):
    table, y, _ = mixed(7)
    model = DecisionTreeRegressor(max_leaf_nodes=9).fit(table, y)
    save(model, tmp_path / "tree.model")
    again = load(tmp_path / "tree.model")
    assert str(again.rules()) == str(model.rules())
    assert "or missing" in str(again.rules())


def test_names_may_be_given_and_must_be_enough():
    model = DecisionTreeRegressor().fit([[1.0], [2.0]], [1.0, 2.0])
    assert str(model.rules(feature_names=["line\nbreak"])).startswith("if line\\nbreak <= 1.5: 1")
    with pytest.raises(ParameterError, match="2 names; the tree was fitted to 1 features"):
        model.rules(feature_names=["a", "b"])


def test_several_outputs():
    y = np.array([[1.0, 2.0, 3.0, 4.0], [5.0, 6.0, 7.0, 8.0]])
    model = DecisionTreeRegressor().fit([[1.0], [2.0]], y)
    assert model.rules()[1].text.startswith("if x0 > 1.5: (5, 6, 7, ...) (50 % of the rows")
    assert_array_equal(model.rules()[1].value, y[1])
    assert model.explain([[0.0]])[0].startswith("(1, 2, 3, ...), since x0 <= 1.5")
