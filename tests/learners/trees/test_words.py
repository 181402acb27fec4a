"""What trees say is true as it is printed: thresholds, dates, ways of missing values, models."""

import re

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from empirisk import (
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    LinearTreeClassifier,
    LinearTreeRegressor,
    draw_tree,
    export_text,
    load,
    save,
)

BOUNDS = re.compile(r"^(?:(?P<low>[^<>]+) < )?x(?: > (?P<above>.+))?(?: <= (?P<high>.+))?$")


def start(rng, n=300):
    """Rows of one column of each kind whose thresholds are hard to write."""
    whole = rng.integers(100_000, 900_000, size=n).astype(float)
    return {
        "six digits": np.r_[whole, whole + 1],
        "ten digits": 1e9 + rng.integers(0, 2 * n, size=2 * n),
        "offset": 1e9 + rng.normal(size=2 * n) * 1e-3,
        "tenths": rng.integers(0, 1000, size=2 * n) / 10,
        "tiny": rng.normal(size=2 * n) * 1e-300,
        "huge": rng.normal(size=2 * n) * 1e300,
        "close": 1.23456789 + np.arange(2 * n) * 1e-9,
        "neighbours": 1.0 + np.arange(2 * n) * 2.0**-52,
    }


def dates(rng, n=300):
    first = pd.Timestamp("2019-03-01")
    draw = {
        "days": pd.to_timedelta(rng.integers(0, 2 * n, size=n), "D"),
        "hours": pd.to_timedelta(7 * np.arange(n), "h"),
        "seconds": pd.to_timedelta(rng.integers(0, 2 * n, size=n), "s"),
        "millionths": pd.to_timedelta(rng.integers(0, 2 * n, size=n), "us"),
    }
    return {name: first + step for name, step in draw.items()}


def value_of(text, kind):
    """The number that a printed bound stands for."""
    if kind == "number":
        return float(text)
    return np.datetime64(text.replace(" ", "T"), "us").astype(np.int64) / 86_400_000_000


def passes(condition, x, kind):
    """For which x a printed condition holds."""
    found = BOUNDS.match(condition)
    assert found, condition
    low, high = found["low"] or found["above"], found["high"]
    passed = np.ones(len(x), bool)
    if low:
        passed &= x > value_of(low, kind)
    if high:
        passed &= x <= value_of(high, kind)
    return passed


def check_words(model, table, x, kind):
    """Rules, reasons and boxes, read as they are printed, tell where each row goes."""
    leaves = model.apply(table)
    assert model.get_n_leaves() > 5
    for rule in model.rules():
        condition = rule.text.removeprefix("if ").partition(": ")[0]
        assert_array_equal(passes(condition, x, kind), leaves == rule.leaf)
    check_reasons(model, table, x, kind)
    tree, texts = model.tree_, [text.get_text() for text in draw_tree(model, max_depth=3).texts]
    lines = re.sub(r"\n(?=\d\d:\d\d)", " ", "\n".join(texts))  # a time of day on its own line
    splits = [line for line in lines.split("\n") if line.startswith("x <= ")]
    drawn = [i for i in range(tree.node_count) if not tree.is_leaf[i] and tree.depth[i] < 3]
    assert len(splits) == len(drawn)
    for split, node in zip(splits, drawn, strict=True):
        assert_array_equal(passes(split, x, kind), x <= tree.threshold[node])


def check_reasons(model, table, x, kind):
    """The reasons of these rows, which need not be those of training."""
    for reason, leaf, own in zip(model.explain(table), model.apply(table), x, strict=True):
        said = re.search(r"since (.*) \(here x = (.*)\); leaf (\d+)", reason)
        assert int(said[3]) == leaf
        assert passes(said[1], np.array([own]), kind).all()
        assert passes(said[1], np.array([value_of(said[2], kind)]), kind).all()


def steps(x, rng):
    """A target with many steps along x."""
    return np.sin(np.argsort(np.argsort(x)) / 15) + 0.1 * rng.normal(size=len(x))


LEARNERS = [
    DecisionTreeRegressor(max_leaf_nodes=60),
    DecisionTreeRegressor(max_leaf_nodes=60, splitter="random", random_state=0),
    DecisionTreeRegressor(ccp_alpha=1e-3),
    LinearTreeRegressor(min_samples_leaf=20),
]


@pytest.mark.parametrize("learner", LEARNERS, ids=["best", "random", "pruned", "linear"])
@pytest.mark.parametrize("name", start(np.random.default_rng(0)))
def test_printed_thresholds_are_true_of_every_row(name, learner):
    rng = np.random.default_rng(1)
    x = start(rng)[name]
    table = pd.DataFrame({"x": x})
    model = learner.fit(table, steps(x, rng))
    check_words(model, table, x, "number")
    order = np.sort(x)
    between = order[:-1] / 3 + order[1:] * (2 / 3)
    check_reasons(model, pd.DataFrame({"x": between}), between, "number")


@pytest.mark.parametrize("name", dates(np.random.default_rng(0)))
def test_dates_are_printed_as_dates_that_are_true_of_every_row(name, tmp_path):
    rng = np.random.default_rng(2)
    when = pd.Series(dates(rng)[name])
    x = when.to_numpy().astype("datetime64[us]").astype(np.int64) / 86_400_000_000
    table = pd.DataFrame({"x": when})
    model = DecisionTreeRegressor(max_leaf_nodes=40).fit(table, steps(x, rng))
    check_words(model, table, x, "date")
    save(model, tmp_path / "tree.model")
    assert str(load(tmp_path / "tree.model").rules()) == str(model.rules())
    for line in export_text(model).splitlines():
        if "x <= " in line:
            assert "2019-03-01" <= line.partition("x <= ")[2] < "2021"


def test_thresholds_have_few_digits():
    x = np.arange(20230100.0, 20230140)
    model = DecisionTreeRegressor(max_depth=1).fit(x[:, None], x >= 20230102)
    assert str(model.rules()[0]).startswith("if x0 <= 20230101.5:")
    assert model.explain([[20230102.0]])[0].startswith(
        "1, since x0 > 20230101.5 (here x0 = 20230102)"
    )
    # Two nodes have one threshold, but for its last bit.
    X = np.array([[80.2, 0], [80.4, 0], [80.1, 1], [80.5, 1]] * 5)
    y = X[:, 0] > 80.35
    model = DecisionTreeRegressor().fit(X, y + 10 * X[:, 1] + y * X[:, 1])
    assert len(np.unique(model.tree_.threshold[model.tree_.feature == 0])) == 2
    assert all("80.3:" in rule.text for rule in model.rules())


def test_a_day_is_written_alone_only_where_all_of_it_is_on_one_side():
    early, late = pd.Timestamp("2020-01-14 15:00"), pd.Timestamp("2020-01-15 04:00")
    model = DecisionTreeRegressor().fit(pd.DataFrame({"when": [early, late]}), [0.0, 1.0])
    assert [rule.text[:30] for rule in model.rules()] == [
        "if when <= 2020-01-14 22:00: 0",
        "if when > 2020-01-14 22:00: 1 ",
    ]
    days = pd.DataFrame({"when": pd.to_datetime(["2020-01-14", "2020-01-17"])})
    model = DecisionTreeRegressor().fit(days, [0.0, 1.0])
    assert str(model.rules()[1]).startswith("if when > 2020-01-15: 1")
    model.fit(days.assign(when=days.when.dt.tz_localize("Europe/Oslo")), [0.0, 1.0])
    assert str(model.rules()[1]).startswith("if when > 2020-01-15 11:00Z: 1")


def moments(step, unit, when, rng, n=40):
    """Pairs of times that are one step apart, as nanoseconds where these reach so far."""
    first, last = (np.datetime64(day).astype(f"datetime64[{unit}]").astype(int) for day in when)
    early = rng.integers(first, last, size=n).astype(f"datetime64[{unit}]")
    return np.column_stack([early, early + np.timedelta64(step, unit)])


STEPS = [(1, "m"), (1, "s"), (7, "ms"), (1, "ms"), (2, "us"), (1, "us"), (500, "ns"), (100, "ns")]


@pytest.mark.parametrize("splitter", ["best", "random"])
@pytest.mark.parametrize(("step", "unit"), STEPS)
def test_a_printed_moment_is_true_of_times_that_are_close(step, unit, splitter):
    rng = np.random.default_rng(7)
    parted = 0
    for pair in moments(step, unit, ("2000-01-01", "2040-01-01"), rng):
        table = pd.DataFrame({"x": pair.astype("datetime64[ns]")})
        model = DecisionTreeRegressor(splitter=splitter, random_state=0).fit(table, [0.0, 1.0])
        if model.get_n_leaves() == 2:
            said = re.match(r"if x <= (.*): 0", model.rules()[0].text)[1]
            moment = np.datetime64(said.replace(" ", "T"))
            assert pair[0] <= moment < pair[1]
            parted += 1
    # Days of float64 part all times that are half a microsecond from one another.
    assert parted == 40 if unit != "ns" or step == 500 else parted > 0


@pytest.mark.parametrize("when", [("1680-01-01", "1960-01-01"), ("3000-01-01", "8000-01-01")])
def test_moments_of_other_centuries(when):
    for pair in moments(1, "ms", when, np.random.default_rng(8)):
        table = pd.DataFrame({"x": pair})
        model = DecisionTreeRegressor().fit(table, [0.0, 1.0])
        said = re.match(r"if x <= (.*): 0", model.rules()[0].text)[1]
        assert pair[0] <= np.datetime64(said.replace(" ", "T")[:26]) < pair[1]
        for own, reason in zip(pair, model.explain(table), strict=True):
            assert f"(here x = {str(own).replace('T', ' ')})" in reason


def test_times_between_two_seconds_are_half_way():
    table = pd.DataFrame({"x": pd.to_datetime(["2020-01-14 12:00:01", "2020-01-14 12:00:02"])})
    model = DecisionTreeRegressor().fit(table, [0.0, 1.0])
    assert str(model.rules()[0]).startswith("if x <= 2020-01-14 12:00:01.500: 0")
    # The days 20000 and 20000 + 2^-38 are neighbours: times are up to the last moment of the first.
    close = np.datetime64("2024-10-04T00:00") + np.array([0, 315], "timedelta64[ns]")
    model.fit(pd.DataFrame({"x": close}).x.dt.tz_localize("UTC").to_frame(), [0.0, 1.0])
    assert str(model.rules()[0]).startswith("if x <= 2024-10-04 00:00:00.000000157Z: 0")


def test_reasons_state_the_time_of_the_row():
    rng = np.random.default_rng(9)
    first = np.datetime64("2024-01-01", "us")
    when = first + rng.integers(0, 10**14, size=200).astype("timedelta64[us]")
    model = DecisionTreeRegressor(max_depth=3).fit(pd.DataFrame({"x": when}), rng.normal(size=200))
    for unit in ("us", "ms", "s", "m"):
        new = when.astype(f"datetime64[{unit}]").astype("datetime64[ns]")
        for own, reason in zip(new, model.explain(pd.DataFrame({"x": new})), strict=True):
            said = re.search(r"\(here x = (.*?)\)", reason)[1]
            assert np.datetime64(said.replace(" ", "T")) == own


def test_missing_values_are_not_spoken_of_where_they_have_left():
    rng = np.random.default_rng(3)
    x = rng.normal(size=400)
    x[::4] = np.nan
    model = DecisionTreeRegressor(max_leaf_nodes=8).fit(
        pd.DataFrame({"x": x}), np.where(np.isnan(x), 9.0, np.sin(3 * x))
    )
    rules, text = str(model.rules()), export_text(model)
    boxes = [box.get_text() for box in draw_tree(model).texts]
    said = [line for line in text.splitlines() if "missing" in line]
    # Each node that missing values pass says so once: the way to their leaf.
    depth = int(model.tree_.depth[model.apply(pd.DataFrame({"x": [np.nan]}))[0]])
    assert len(said) == depth + ("x not missing" in text)
    assert sum(box.startswith("missing: ") for box in boxes) + ("x not missing" in boxes) == depth
    assert rules.count("missing") == 1 + ("is not missing" in rules)


def formula_values(text, table):
    """What a printed formula says of some rows."""
    constant, *terms = re.split(r" (?=[+-] [^ ]+ [a-z(])", text)
    total = np.full(len(table), float(constant))
    for term in terms:
        sign, size, name = term.split(" ", 2)
        if name.startswith("("):  # (when - 2020-01-15)
            name, _, day = name.strip("()").partition(" - ")
            x = (table[name] - pd.Timestamp(day)) / pd.Timedelta("1D")
        else:
            x = table[name]
        total += float(sign + size) * x.to_numpy()
    return total


def linear_rows(rng, n=400):
    return pd.DataFrame(
        {
            "age": rng.uniform(20, 80, size=n),
            "year": rng.integers(2000, 2020, size=n).astype(float),
            "when": pd.Timestamp("2020-01-01") + pd.to_timedelta(rng.integers(0, 900, n), "D"),
            "town": rng.choice(["a", "b"], size=n),
        }
    )


def test_the_model_of_a_leaf_is_stated():
    rng = np.random.default_rng(4)
    table = linear_rows(rng)
    days = (table.when - pd.Timestamp("2020-01-01")) / pd.Timedelta("1D")
    y = np.where(table.town == "a", 0.5 * table.age + 1e-2 * days, 3 * (table.year - 2010))
    model = LinearTreeRegressor(max_depth=1, clip=None).fit(table, y)
    predicted, leaves = model.predict(table), model.apply(table)
    texts, reasons = export_text(model), model.explain(table)
    for rule in model.rules():
        formula = re.search(r"y = (.*) \(\d+ % of", rule.text)[1]
        rows = leaves == rule.leaf
        # Three digits of each coefficient, and the constant is right at the mean.
        assert_allclose(
            formula_values(formula, table[rows]), predicted[rows], rtol=0, atol=0.01 * y.std()
        )
        assert f", y = {formula}\n" in texts
        assert all(reasons[i].endswith(f"; y = {formula}") for i in np.flatnonzero(rows))
        first = re.search(r"y = \S+ [+-] \S+ (\S+)", rule.text)[1]
        assert first == ("age" if "town is a" in rule.text else "year")


def test_of_many_terms_the_largest_are_stated():
    rng = np.random.default_rng(5)
    X = rng.normal(size=(300, 12)) * 2.0 ** np.arange(12)
    y = X @ (2.0 ** -np.arange(12) * np.arange(1, 13))
    text = LinearTreeRegressor(max_depth=1, min_samples_leaf=300, alpha=1e-9).fit(X, y).rules()[0]
    assert re.findall(r"x\d+", text.text) == ["x11", "x10", "x9", "x8", "x7"]
    assert " and 7 more (100 %" in text.text


def test_a_prediction_at_the_end_of_the_range_says_so():
    x = np.arange(50.0)
    model = LinearTreeRegressor(alpha=1e-6).fit(x[:, None], 2 * x)
    inside, beyond = model.explain([[20.0], [80.0]])
    assert re.search(r"y = \S+ \+ 2 x0$", inside)
    assert beyond.startswith("98,")
    assert beyond.endswith("+ 2 x0, cut off there")


def test_rounding_errors_are_no_terms_of_a_formula():
    x = np.tile([-1.0, 0.0, 1.0], 10)
    y = np.arange(30) // 3 % 2  # independent of x
    model = LinearTreeClassifier().fit(np.column_stack([x, y]), y)
    coef = model.models_.coef[0, 1]
    assert 0 < abs(coef[0]) < 1e-15
    assert re.search(r"log odds of 0 to 1 = \S+ - \S+ x1 \(100 %", str(model.rules()))
    for scale in (1.0, 1e-200, 1e200):
        model = LinearTreeRegressor(alpha=1e-9).fit(np.column_stack([x, y]), scale * (1 + y))
        assert re.search(r"y = \S+ \+ \S+ x1 \(100 %", str(model.rules()))


@pytest.mark.parametrize("n_classes", [2, 3])
def test_the_odds_of_a_leaf_are_stated(n_classes):
    rng = np.random.default_rng(6)
    X = pd.DataFrame(rng.normal(size=(600, 2)) + [0.0, 50.0], columns=["a", "b"])
    score = X.a + (X.b - 50) + 0.5 * rng.logistic(size=600)
    y = np.array(["u", "v", "w"])[np.digitize(score, [-0.5, 0.8][: n_classes - 1])]
    model = LinearTreeClassifier(max_depth=1).fit(X, y)
    logs, leaves = model.predict_log_proba(X), model.apply(X)
    for rule in model.rules():
        said = re.search(r"log odds of (\w) to (\w) = (.*) \(\d+ % of", rule.text)
        one, other = (list(model.classes_).index(label) for label in said.groups()[:2])
        rows = leaves == rule.leaf
        odds = logs[rows, one] - logs[rows, other]
        # Coefficients from 1.17 on have three digits, 0.4 % at worst; rows are within 5 deviations.
        assert_allclose(formula_values(said[3], X[rows]), odds, rtol=0, atol=0.02 * odds.std())
        assert rule.value == said[1]
    assert "log odds" not in str(DecisionTreeClassifier(max_depth=1).fit(X, y).rules())
