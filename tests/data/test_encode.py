"""The encoder: a linear map of a design without statistics, fitted on the training rows only."""

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.compose import make_column_transformer
from sklearn.impute import SimpleImputer
from sklearn.linear_model import Ridge as ForeignRidge
from sklearn.model_selection import KFold, RepeatedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from empirisk import (
    Baseline,
    LinearDiscriminantAnalysis,
    LinearRegression,
    Ridge,
    Tuned,
    load,
    risk,
    save,
    select,
)
from empirisk.data.blocks import ROWS_PER_BLOCK
from empirisk.data.encode import Encoder, FoldDesign
from empirisk.data.moments import Moments
from empirisk.data.read import read_table
from empirisk.data.table import Table
from empirisk.runtime.errors import DataError, RankWarning
from tolerances import LAST_BITS, SOLVED, SUMMED


def mixed(n=200, seed=0):
    """Numbers with and without holes, a category with a rare level, a truth value, a date."""
    rng = np.random.default_rng(seed)
    size = rng.normal(size=n) * 3 + 10
    age = rng.normal(size=n)
    colour = rng.choice(["red", "blue", "green", "rare"], size=n, p=[0.5, 0.3, 0.18, 0.02])
    holes = rng.random(n) < 0.2
    frame = pd.DataFrame({
        "size": size,
        "age": np.where(holes, np.nan, age),
        "colour": colour,
        "member": rng.random(n) < 0.4,
        "joined": pd.Timestamp("2024-01-31") + pd.to_timedelta(rng.integers(0, 400, n), "D"),
    })  # fmt: skip
    y = size + 2 * (colour == "blue") + np.where(holes, 1.0, age) + rng.normal(size=n)
    return frame, y


@parametrize_with_checks([Encoder(), Encoder(standardize=False)])
def test_check_estimator(estimator, check):
    check(estimator)


def test_the_twin_of_scikit_learns_transformers():
    frame, _ = mixed()
    frame = frame[["size", "age", "colour"]]
    ours = Encoder(min_frequency=10).fit(frame)
    twin = make_column_transformer(
        (StandardScaler(), ["size"]),
        (make_pipeline(SimpleImputer(add_indicator=True)), ["age"]),
        (OneHotEncoder(drop=["red"], min_frequency=10, sparse_output=False), ["colour"]),
    ).fit(frame)
    expected = twin.transform(frame)
    expected[:, 1] /= expected[:, 1].std()
    expected[:, 1] -= expected[:, 1].mean()
    names = list(ours.get_feature_names_out())
    assert names == ["size", "age", "age missing", "colour=blue", "colour=green", "colour=other"]
    assert_allclose(ours.transform(frame), expected, rtol=0, atol=SUMMED)


def test_weights_are_copies():
    frame, _ = mixed()
    weight = np.random.default_rng(1).integers(0, 3, size=len(frame))
    rows = np.repeat(np.arange(len(frame)), weight)
    weighted = Encoder().fit(frame, sample_weight=weight)
    copied = Encoder().fit(frame.iloc[rows])
    assert list(weighted.get_feature_names_out()) == list(copied.get_feature_names_out())
    assert_allclose(weighted.transform(frame), copied.transform(frame), rtol=0, atol=SUMMED)


def test_the_map_of_training_rows_is_that_of_an_encoder_fitted_on_them():
    frame, _ = mixed()
    table = Table.of(frame)
    train = np.arange(30, 200)
    design = FoldDesign.of(Encoder(), table, np.ones(200))
    A, b = design.fold_map(Moments.of(design.Z[train]))
    fitted = Encoder().fit(table.take(train))
    assert_allclose(design.Z @ A + b, fitted.transform(table), rtol=0, atol=SUMMED)


def test_unseen_levels_count_as_other_or_as_the_reference():
    train = pd.DataFrame({"c": ["a"] * 6 + ["b"] * 5 + ["z"] * 2})
    new = pd.DataFrame({"c": ["a", "new", "z", None]})
    with_other = Encoder(min_frequency=3).fit(train)
    assert list(with_other.get_feature_names_out()) == ["c=b", "c=other"]
    assert_array_equal(with_other.transform(new), [[0, 0], [0, 1], [0, 1], [0, 1]])
    without = Encoder(min_frequency=1).fit(train[:11])
    assert_array_equal(without.transform(new), [[0], [0], [0], [0]])


def test_what_is_missing_only_later_is_the_mean():
    frame, _ = mixed()
    encoder = Encoder().fit(frame)
    later = frame[:2].copy()
    later.loc[0, "size"] = np.nan
    assert_allclose(encoder.transform(later)[0, 0], 0, rtol=0, atol=SUMMED)
    weight = np.random.default_rng(2).uniform(0.1, 3, len(frame))
    weighted = Encoder(standardize=False).fit(frame, sample_weight=weight)
    expected = np.average(frame["size"], weights=weight)
    assert_allclose(weighted.transform(later)[0, 0], expected, rtol=SUMMED)


def test_truth_values_are_the_levels_that_training_spelled_beside_other_words(tmp_path):
    for yes, no in (("TRUE", "FALSE"), ("true", "false"), ("yes", "no"), ("Yes", "No")):
        path = tmp_path / "rows.csv"
        path.write_text("\n".join(["answer", *[yes, no, "unknown"] * 4]))
        encoder = Encoder(min_frequency=1).fit(read_table(path))
        for words in ([yes, no, yes], [no], [yes]):
            path.write_text("\n".join(["answer", *words]))
            assert read_table(path).kinds == {"answer": "boolean"}
            expected = encoder.transform({"answer": words})
            assert_array_equal(encoder.transform(read_table(path)), expected)


def test_a_column_without_values_is_missing_whatever_it_was_in_training():
    train = {"d": pd.to_datetime(["2024-01-31", "2024-05-01"] * 4), "b": [True, False] * 4}
    encoder = Encoder().fit(Table.of(train))
    nothing = encoder.transform(Table.of({"d": [None], "b": [None]}))
    missing = {"d": pd.to_datetime([None]), "b": pa.array([None], pa.bool_())}
    assert_array_equal(nothing, encoder.transform(Table.of(missing)))


@pytest.mark.filterwarnings("ignore::empirisk.runtime.errors.RankWarning")  # it is constant
@pytest.mark.parametrize("learner", [Baseline(), LinearRegression(), Ridge()])
def test_a_training_part_in_which_all_rows_look_alike_predicts_its_mean(learner):
    table = Table.of({"side": ["left"] * 11 + ["right"]})
    y = np.arange(12.0)
    split = [(np.arange(6), np.arange(6, 12))]
    assert Encoder().fit(table.take(range(6))).transform(table).tolist() == [[0.0]] * 12
    found = risk.cross_validate(make_pipeline(Encoder(), learner), table, y, cv=split)
    assert_allclose(found.losses, (y[6:] - y[:6].mean()) ** 2, rtol=1e-12)  # sums of six numbers


def test_in_such_a_part_discriminants_take_the_commonest_class_and_say_why():
    table, labels = Table.of({"side": ["left"] * 11 + ["right"]}), np.tile(["p", "q", "q"], 4)
    ours = make_pipeline(Encoder(), LinearDiscriminantAnalysis())
    with pytest.warns(RankWarning, match="'side=other' is constant"):
        found = risk.cross_validate(ours, table, labels, cv=KFold(2))
    assert_array_equal(found.losses, labels == "p")


def test_columns_that_are_missing_together_share_one_indicator():
    frame, _ = mixed()
    frame["twin"] = np.where(frame["age"].isna(), np.nan, 1.0 * np.arange(200))
    names = list(Encoder().fit(frame).get_feature_names_out())
    assert "age missing" in names
    assert "twin missing" not in names


def test_dates_become_parts():
    frame = pd.DataFrame({"d": pd.to_datetime(["2024-02-29 05:00", "2023-12-31 17:30"] * 5)})
    names = list(Encoder(min_frequency=1).fit(frame).get_feature_names_out())
    assert names[0] == "d days"
    assert set(names[1:]) <= {"d month=02", "d month=12", "d weekday=Thu", "d weekday=Sun",
                              "d hour=05", "d hour=17"}  # fmt: skip
    assert len(names) == 4  # one level of each part is the reference


@pytest.mark.parametrize(
    "columns",
    [
        {"c": ["red"] * 20 + ["other"] * 10 + ["teal"] * 2},
        {"c": ["red"] * 16 + ["missing"] * 10 + [None] * 6},
        {"age": [1.0, None, 3.0, 4.0] * 8, "age missing": [1.0, 2.0, 3.0, 5.0] * 8},
        {"x": [1.0, 2.0] * 16, "x ": [1.0, 2.0, 4.0, 0.0] * 8},
    ],
)
def test_every_column_has_a_name_of_its_own_and_a_learner_takes_them(columns):
    model = make_pipeline(Encoder(), Ridge()).fit(columns, np.arange(32.0))
    names = model[0].get_feature_names_out().tolist()
    assert len(set(names)) == len(names) == model[0].transform(columns).shape[1]


def test_rows_of_numbers_and_words_in_a_list_are_typed_column_by_column():
    rows = [[1.5, "a", True], [float("nan"), "b", False], [3.5, "b", True]] * 4
    encoder = Encoder(min_frequency=1).fit(rows)
    table = Table.of(rows)
    assert encoder._kinds == table.kinds == {"x0": "number", "x1": "category", "x2": "boolean"}
    assert_array_equal(encoder.transform(rows[:2]), encoder.transform(table.rows(slice(2))))


def test_what_is_masked_is_missing():
    cells = np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 7.0]])
    masked = np.ma.array(cells, mask=[[True, False], [False, False], [False, False]])
    holes = np.where(masked.mask, np.nan, cells)
    assert_array_equal(Encoder().fit_transform(masked), Encoder().fit_transform(holes))


def test_text_is_left_out_and_said():
    table = {"id": [f"k{i}" for i in range(20)], "x": np.arange(20.0)}
    assert Encoder().fit(table).dropped_ == ["id"]
    with pytest.raises(DataError, match="all columns are text"):
        Encoder().fit({"id": [f"k{i}" for i in range(20)]})


@pytest.mark.parametrize("power", [-200, 200])
def test_extreme_and_shifted_numbers_are_standardised(power):
    x = np.random.default_rng(0).normal(size=50)
    for values in (x * 10.0**power, 1e9 + x):
        found = Encoder().fit_transform({"x": values})
        expected = values / values.max() - np.mean(values / values.max())
        # 1e9 + x has 16 digits, of which x keeps seven.
        assert_allclose(found[:, 0], expected / expected.std(), rtol=0, atol=1e-06)
    assert_array_equal(Encoder().fit_transform({"x": np.full(9, 3.7)}), np.zeros((9, 1)))


def test_numbers_farther_apart_than_the_largest_float_are_encoded():
    ends = {"a": [-1.7e308, 1.7e308, 1.7e308]}
    assert_allclose(Encoder().fit_transform(ends)[:, 0] * np.sqrt(2), [-2, 1, 1], rtol=LAST_BITS)
    assert_allclose(Encoder(standardize=False).fit_transform(ends)[:, 0], ends["a"], rtol=LAST_BITS)


def test_infinite_numbers_are_named():
    with pytest.raises(DataError, match=r"column 'x' has infinite values.* row 1;"):
        Encoder().fit(pd.DataFrame({"x": [1.0, np.inf]}))
    later = np.zeros(ROWS_PER_BLOCK + 3)
    encoder = Encoder().fit({"x": later + np.arange(len(later))})
    later[-1] = np.inf
    for use in (Encoder().fit, encoder.transform):
        with pytest.raises(DataError, match=f"row {len(later) - 1};"):
            use({"x": later})


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame, dict, Table.of])
def test_any_frame_gives_the_same_numbers(frame):
    data, _ = mixed()
    columns = {name: data[name].to_numpy() for name in ("size", "age")}
    columns["colour"] = list(data["colour"])
    reference = Encoder().fit_transform(pd.DataFrame(columns))
    assert_allclose(Encoder().fit_transform(frame(columns)), reference, rtol=0, atol=LAST_BITS)


def test_a_table_finds_its_columns_by_name():
    data, _ = mixed()
    encoder = Encoder().fit(Table.of(data))
    shuffled = Table.of(data[["joined", "member", "colour", "age", "size"]].assign(more=1.0))
    assert_array_equal(encoder.transform(shuffled), encoder.transform(Table.of(data)))
    with pytest.raises(DataError, match="no column 'age'"):
        encoder.transform(Table.of(data.drop(columns="age")))


def test_an_array_stands_for_a_frame_by_the_order_of_its_columns():
    frame, _ = mixed()
    cells = frame.drop(columns="joined").to_numpy(object)
    named = Encoder().fit(frame.drop(columns="joined"))
    nameless = Encoder().fit(cells)
    expected = named.transform(frame.drop(columns="joined"))
    with pytest.warns(UserWarning, match="does not have valid feature names"):
        assert_array_equal(named.transform(cells), expected)
    with pytest.warns(UserWarning, match="was fitted without feature names"):
        assert_array_equal(nameless.transform(frame.drop(columns="joined")), expected)


def test_names_come_out_and_the_encoder_is_pickled_and_cloned():
    data, _ = mixed()
    encoder = Encoder().set_output(transform="pandas").fit(data)
    out = encoder.transform(data)
    assert list(out.columns) == list(encoder.get_feature_names_out())
    again = pickle.loads(pickle.dumps(encoder))
    pd.testing.assert_frame_equal(again.transform(data), out)
    clone(encoder)


@pytest.mark.parametrize("cv", [KFold(5), RepeatedKFold(n_splits=4, n_repeats=2, random_state=0)])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("learner", [Ridge(), LinearRegression(), Baseline()], ids=str)
def test_learners_from_moments_keep_their_fast_rung_behind_an_encoder(learner, cv, weighted):
    frame, y = mixed()
    weight = np.random.default_rng(3).uniform(0.5, 2, 200) if weighted else None
    model = make_pipeline(Encoder(), learner)
    problem = risk.Problem.of(model, frame, y, sample_weight=weight).designed(model)
    plan = problem.plan(cv)
    values = [0.1, 1.0, 100.0] if isinstance(learner, Ridge) else None
    fast = risk.out_of_fold(model, problem, plan, values=values)
    path = risk.out_of_fold(model, problem, plan, values=values, rung="path")
    slow = risk.out_of_fold(model, problem, plan, values=values, rung="generic")
    assert (fast.rung, path.rung, slow.rung) == ("plan", "path", "generic"), fast.why
    # The contract: 1e-10 where the condition number is below 1e3.
    assert_allclose(fast.losses, slow.losses, rtol=1e-8, atol=1e-10)
    assert_allclose(path.losses, slow.losses, rtol=1e-8, atol=1e-10)


@pytest.mark.parametrize("loss", ["zero_one", "log"])
@pytest.mark.parametrize("learner", [LinearDiscriminantAnalysis(), Baseline("log")], ids=str)
def test_classifiers_from_moments_keep_theirs_too(learner, loss):
    frame, y = mixed()
    labels = np.array(["low", "mid", "high"])[np.digitize(y, np.quantile(y, [0.3, 0.7]))]
    model = make_pipeline(Encoder(), learner)
    problem = risk.Problem.of(model, frame, labels, loss=loss).designed(model)
    plan = problem.plan(5)
    values = None if isinstance(learner, Baseline) else [0.0, 0.2, 1.0]
    fast = risk.out_of_fold(model, problem, plan, values=values)
    slow = risk.out_of_fold(model, problem, plan, values=values, rung="generic")
    assert fast.rung == "plan", fast.why
    assert_allclose(fast.losses, slow.losses, rtol=SOLVED, atol=SOLVED)


def test_leave_one_out_behind_an_encoder_fits_each():
    frame, y = mixed(40)
    found = risk.leave_one_out(make_pipeline(Encoder(), Ridge()), frame, y)
    rest = np.arange(1, 40)
    alone = make_pipeline(Encoder(), Ridge()).fit(Table.of(frame).take(rest), y[1:])
    expected = (y[0] - alone.predict(Table.of(frame).take([0]))[0]) ** 2
    assert_allclose(found.losses[0], expected, rtol=SUMMED)


def test_a_mixed_table_is_tuned_and_selected():
    frame, y = mixed()
    tuned = Tuned(make_pipeline(Encoder(), Ridge())).fit(frame, y)
    assert tuned.path_.rung in ("plan", "path")
    assert tuned.predict(frame).shape == (200,)
    chosen = select({"ridge": make_pipeline(Encoder(), Ridge())}, Table.of(frame), y)
    assert list(chosen.paths) == ["Baseline", "ridge"]
    assert chosen.test_risk.value < chosen.paths["Baseline"].risk[0]


def test_a_pipeline_with_an_encoder_is_saved_and_loaded(tmp_path):
    frame, y = mixed()
    model = Tuned(make_pipeline(Encoder(), Ridge())).fit(Table.of(frame), y)
    save(model, tmp_path / "model.empirisk")
    again = load(tmp_path / "model.empirisk")
    assert_array_equal(again.predict(Table.of(frame)), model.predict(Table.of(frame)))
    frame.loc[0, "colour"] = "never seen"
    assert_array_equal(again.predict(Table.of(frame)), model.predict(Table.of(frame)))


def test_a_foreign_learner_reads_the_table_through_the_encoder():
    frame, y = mixed()
    ours = risk.cross_validate(make_pipeline(Encoder(), Ridge(alpha=2.0)), frame, y)
    theirs = risk.cross_validate(make_pipeline(Encoder(), ForeignRidge(alpha=2.0)), frame, y)
    assert_allclose(ours.losses, theirs.losses, rtol=SOLVED)


def test_levels_are_the_same_as_integers_and_as_floats():
    table = pd.DataFrame({"k": pd.Categorical([1, 2] * 20)})
    encoder = Encoder().fit(table)
    as_floats = pd.DataFrame({"k": [1.0, 2.0]})
    assert_array_equal(encoder.transform(as_floats), encoder.transform(table[:2]))
