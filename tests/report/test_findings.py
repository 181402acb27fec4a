"""The verdict and the findings say what the numbers say."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn.pipeline import make_pipeline

from empirisk import (
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    LinearRegression,
    NaiveBayes,
    Ridge,
    select,
)
from empirisk.data.encode import Encoder
from empirisk.data.table import Table
from empirisk.report.findings import findings, verdict, why_not_the_least
from empirisk.report.standings import standings
from empirisk.risk.intervals.cautions import HEAVY_TAIL, MODELS_DIFFER


def selection_of(signal, n=200, **options):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 4))
    y = signal * X[:, 0] + rng.normal(size=n)
    return select([LinearRegression(), Ridge()], X, y, random_state=0, cv=5, **options)


@pytest.fixture(scope="module")
def clear():
    return selection_of(3.0)


@pytest.fixture(scope="module")
def blind():
    return selection_of(0.0)


def titles(selection, table=None):
    return {each.code: each.title for each in findings(selection, table)}


def texts(selection):
    return {each.code: each.text for each in findings(selection)}


def test_signal_and_noise_are_told_apart(clear, blind):
    assert titles(clear)["R1"] == "Better than a constant"
    assert titles(blind)["R1"] in ("Nothing beats a constant", "Perhaps no better than a constant")


def test_the_verdict_of_a_squared_risk_is_its_root_in_the_units_of_y(clear):
    low, high = np.sqrt(clear.test_risk.interval)
    root = np.sqrt(clear.test_risk.value)
    assert (
        f"off by {root:.4g} (root mean square; 95 % interval {low:.4g} to {high:.4g})"
        in verdict(clear)
    )
    assert f"{len(clear.test_rows)} rows that took no part" in verdict(clear)
    assert verdict(clear).endswith("by cross-validation.")  # of the constant: not on these rows


@pytest.mark.parametrize(
    ("loss", "words"),
    [
        ("zero_one", "wrong on 25 % of new rows"),
        ("absolute", "off by 0.25 on average"),
        # exp(-0.25); the interval is of the risk, not of the 77.9 %
        ("log", "log risk of 0.25 (95 % interval 0.2 to 0.3): typically 77.9 % for the class"),
        ("brier", "has a Brier score of 0.25"),
        ("quantile(0.9)", "costs 0.25 per row on average"),
    ],
)
def test_every_loss_has_its_words(clear, loss, words):
    risk = replace(clear.test_risk, loss=loss, value=0.25, interval=(0.2, 0.3))
    assert words in verdict(replace(clear, test_risk=risk))


def test_without_an_interval_the_reason_is_given(clear):
    refitted = selection_of(3.0, refit="all")
    assert "no interval: the model tested was fitted without the test rows" in verdict(refitted)
    assert "fitted again on all rows" in verdict(refitted)


def test_the_baseline_stands_first_then_the_chosen_then_the_others_by_risk(clear):
    more = replace(
        clear,
        paths={**clear.paths, "b": clear.paths["Ridge"], "a": clear.paths["Baseline"]},
        risks={**clear.risks, "b": clear.risks["Ridge"], "a": clear.risks["Baseline"]},
    )
    ranked = standings(more)
    assert ranked[0].name == "Baseline"
    assert [each.name for each in ranked if each.chosen] == [clear.name] == [ranked[1].name]
    assert [each.risk for each in ranked[2:]] == sorted(each.risk for each in ranked[2:])
    for each in ranked:
        assert each.interval == more.risks[each.name].interval
        assert each.interval[0] < each.risk < each.interval[1]


def test_few_test_rows_are_mentioned_only_when_few(clear):
    assert "R4" in titles(clear)
    assert "R4" not in titles(selection_of(3.0, n=500))


def test_an_interval_of_few_test_rows_is_called_approximate_only_where_the_estimate_does(clear):
    def said(**changes):
        return texts(replace(clear, test_risk=replace(clear.test_risk, **changes)))["R4"]

    assert said() == "50 rows were kept for the test; the interval is wide."
    assert "itself approximate" in said(cautions=("with 30 rows the interval is approximate",))
    assert said(interval=None) == "50 rows were kept for the test."


def test_rivals_are_close_within_an_error_of_the_corrected_risk_on_either_side(clear):
    def close(difference):
        chosen = clear.risks[clear.name]
        other = next(name for name in clear.risks if name not in (clear.name, "Baseline"))
        moved = replace(chosen, value=chosen.value + difference * chosen.standard_error)
        risks = {**clear.risks, other: moved}
        return other in texts(replace(clear, risks=risks)).get("R2", "")

    assert [close(d) for d in (-2.0, -0.5, 0.5, 2.0)] == [False, True, True, False]


def test_no_more_is_saved_than_there_is(clear):
    risk = clear.test_risk
    for share, words in ((0.26, "saves 74 %"), (0.001, "saves over 99 %"), (0.0, "saves 100 %")):
        value = share * clear.risks["Baseline"].value
        small = replace(risk, value=value, interval=(0, value))
        assert words in texts(replace(clear, test_risk=small))["R1"]


def test_disagreement_of_test_and_cross_validation_is_a_warning(clear):
    assert "R5" not in titles(clear)
    high = replace(clear.test_risk, value=9.0, interval=(8.0, 10.0))
    found = {each.code: each for each in findings(replace(clear, test_risk=high))}
    assert "does worse" in found["R5"].text
    assert found["R5"].tone == "warning"
    high = clear.cross_validated_risk.interval[1]
    touching = replace(clear.test_risk, value=2 * high, interval=(high, 3 * high))
    assert "R5" not in titles(replace(clear, test_risk=touching))


@pytest.mark.parametrize("loss", ["squared", "absolute"])
def test_a_target_that_the_columns_add_up_to_is_a_warning_and_no_disagreement(clear, loss):
    rng = np.random.default_rng(0)
    X = rng.integers(0, 900, size=(200, 4)).astype(float)
    least_squares = [LinearRegression(), Ridge(alpha=1.0)]
    options = {"loss": loss, "random_state": 0, "cv": 5}
    sums = select(least_squares, X, X[:, 0] + X[:, 1], **options)
    apart = replace(sums.test_risk, value=1e-24, interval=(0.9e-24, 1.1e-24))
    found = findings(replace(sums, test_risk=apart))
    assert (found[0].code, found[0].tone) == ("R9", "warning")
    assert "R5" not in [each.code for each in found]
    nearly = select(least_squares, X, X[:, 0] + X[:, 1] + 1e-3 * rng.normal(size=200), **options)
    assert titles(nearly)["R9"] == "The target can all but be computed"
    assert "R9" not in titles(clear)


def test_where_a_constant_costs_nothing_no_loss_without_a_share_is_a_warning(clear):
    nothing = replace(clear.test_risk, value=0.0, loss="asymmetric")
    risks = {name: replace(risk, value=0.0) for name, risk in clear.risks.items()}
    assert "R9" not in titles(replace(clear, test_risk=nothing, risks=risks))


def test_classes_that_a_column_holds_again_are_a_warning():
    rng = np.random.default_rng(0)
    X, tree = rng.normal(size=(600, 2)), DecisionTreeClassifier()
    for n, warned in ((600, True), (60, False)):  # 15 rows without a mistake are no proof
        found = select([tree], X[:n], X[:n, 1] > 0, random_state=0, cv=5)
        assert ("R9" in titles(found)) == warned


def test_the_end_of_a_grid_is_told_and_the_whole_tree_is_none():
    found = select(
        {"ridge": Ridge(), "tree": DecisionTreeRegressor()},
        np.arange(80.0)[:, np.newaxis], np.arange(80.0), random_state=0, cv=5,
    )  # fmt: skip
    path = found.paths["ridge"]
    end = {**found.paths, "ridge": replace(path, chosen=len(path.values) - 1)}
    assert "one beyond it might" in texts(replace(found, name="ridge", paths=end))["R3"]
    tree = {**found.paths, "tree": replace(found.paths["tree"], chosen=0)}
    assert 0.0 in tree["tree"].values
    assert "R3" not in titles(replace(found, name="tree", paths=tree))


def test_the_only_value_of_an_axis_is_no_end_of_it():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 2))  # without categories there is nothing to smooth
    found = select([NaiveBayes()], X, X[:, 0] > 0, random_state=0, cv=5)
    assert len(found.paths[found.name].values) == 1
    assert "R3" not in titles(found)


def test_copies_that_count_as_one_are_told(clear):
    draw = np.random.default_rng(0)
    X = np.repeat(draw.normal(size=(150, 2)), 3, axis=0)
    copied = select([LinearRegression()], X, X[:, 0] + draw.normal(size=450), random_state=0)
    together = next(each for each in findings(copied) if each.code == "R10")
    assert f"The {copied.plan.n} training rows are {copied.plan.n // 3} groups" in together.text
    assert "R10" not in {each.code for each in findings(clear)}


def test_rows_that_dominate_are_a_warning(clear):
    assert "R7" not in titles(clear)
    heavy = replace(clear.test_risk, cautions=(HEAVY_TAIL,))
    assert titles(replace(clear, test_risk=heavy))["R7"] == "A few rows dominate"


def test_models_that_differ_by_chance_are_a_warning(clear):
    assert "R11" not in titles(clear)
    risk = replace(clear.cross_validated_risk, cautions=(MODELS_DIFFER,))
    by_chance = replace(clear, cross_validated_risk=risk)
    assert titles(by_chance)["R11"] == "Models differ by chance"


def test_holes_and_text_in_the_table_are_found(clear):
    n = 30
    table = Table.of({"void": [None] * 20 + [1.0] * 10, "id": [f"w{i}" for i in range(n)]})
    assert {"T1", "T2"} <= set(titles(clear, table))
    assert not {"T1", "T2"} & set(titles(clear, Table.of({"x": np.arange(3.0)})))


def test_text_that_trees_split_as_integers_is_not_called_left_out():
    x = np.random.default_rng(0).permutation(60) / 60
    X, y = Table.of({"id": 2**60 + np.arange(60), "x": x}), 5 * x
    tree = select([DecisionTreeRegressor()], X, y, random_state=0, cv=3)
    line = select([make_pipeline(Encoder(), Ridge())], X, y, random_state=0, cv=3)
    for chosen, left_out in ((tree, False), (line, True)):
        assert ("T2" in titles(chosen, X)) == left_out


@pytest.mark.parametrize(
    ("numbers", "found"),
    [
        ([3.1, -999, 0.5, -999, 7.0], True),
        ([3.1, -999, 0.5, 0.7, 7.0], False),  # one may be a mistake of its own
        ([31, 99, 99, 80, 12], False),  # not far from the others
        ([3.1, -998, 0.5, -998, 7.0], False),
        ([5.0, 9999, 5.0, 9999, 5.0], True),
        ([-999, -999], False),
    ],
)
def test_numbers_that_may_mean_missing_are_found(clear, numbers, found):
    assert ("T4" in titles(clear, Table.of({"a": numbers}))) == found


def test_a_candidate_without_risk_is_reported(clear):
    failed = replace(clear, failures={"Slow": "out of time"})
    assert titles(failed)["R6"] == "Slow gave no risk"


def test_columns_that_count_the_rows_are_found(clear):
    n = 30
    count = np.random.default_rng(0).permutation(n)
    table = Table.of({"id": 1001.0 + count, "twice": 2 * count, "year": count // 2, "y": count})
    found = {each.code: each for each in findings(clear, table, "y")}
    assert "row to row: id." in found["T3"].text
    assert "T3" not in {each.code for each in findings(clear, table.drop(["id"]), "y")}


def test_a_choice_that_is_not_the_least_of_the_ranking_is_explained(clear):
    def with_risk(name, value):
        risks = {**clear.risks, name: replace(clear.risks[name], value=value)}
        return replace(clear, risks=risks)

    assert clear.name == "Ridge"
    least = with_risk("Ridge", 0.0)
    assert why_not_the_least(least) is None
    assert "R8" not in titles(least)
    beaten = with_risk("LinearRegression", 0.0)
    assert "that of LinearRegression is less" in why_not_the_least(beaten)
    assert titles(beaten)["R8"] == "The ranking and the choice differ"


@pytest.mark.parametrize(
    ("copied", "title", "tone"),
    [
        (False, "Columns look independent within classes", "good"),
        (True, "Columns are not independent within classes", "warning"),
    ],
)
def test_naive_bayes_is_asked_whether_its_columns_are_independent(copied, title, tone):
    rng = np.random.default_rng(0)
    n = 300
    y = np.where(rng.random(n) < 0.5, "no", "yes")
    word = rng.choice(["p", "q", "r"], n)
    table = Table.of(
        {
            "a": rng.normal(size=n) + (y == "yes"),
            "b": rng.normal(size=n) + 2.0 * (word == "p") * copied,
            "word": word,
            "y": y,
        }
    )
    X = table.drop(["y"])
    chosen = select([NaiveBayes()], X, y, random_state=0, cv=5)
    found = {each.code: each for each in findings(chosen, table, "y")}
    assert (found["M1"].title, found["M1"].tone) == (title, tone)
    assert ("b and word" in found["M1"].text) == copied
    assert "M1" not in {each.code for each in findings(chosen, table)}


@pytest.mark.parametrize("holes", [False, True])
def test_independence_is_tested_of_classes_however_the_table_writes_them(holes):
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 200)
    X = Table.of({"a": rng.normal(size=200) + 2 * y, "b": rng.normal(size=200)})
    written = [None if holes and i == 0 else float(k) for i, k in enumerate(y)]
    table = Table.of({"a": X["a"], "b": X["b"], "y": written})
    chosen = select([NaiveBayes()], X, y, random_state=0, cv=5)
    assert "M1" in {each.code for each in findings(chosen, table, "y")}


def test_other_learners_are_not_asked_for_independence(clear):
    table = Table.of({"x0": np.arange(5.0), "y": np.arange(5.0)})
    assert "M1" not in {each.code for each in findings(clear, table, "y")}
