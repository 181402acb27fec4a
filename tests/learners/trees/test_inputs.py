"""What comes in: types and layouts of arrays, frames, few rows, identifiers, missing values."""

import copy
import pickle

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from numpy.testing import assert_array_equal
from sklearn.base import clone

from empirisk import (
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    HistGradientBoostingRegressor,
    RandomForestRegressor,
    Table,
    load,
    save,
)
from empirisk.runtime.errors import DataError
from tolerances import SUMMED

LAYOUTS = {
    "Fortran": np.asfortranarray,
    "strided": lambda X: np.repeat(X, 2, axis=0)[::2],
    "turned": lambda X: X[::-1, ::-1][::-1, ::-1],
    "big endian": lambda X: X.astype(">f8"),
    "objects": lambda X: X.astype(object),
    "lists": lambda X: X.tolist(),
    "long double": lambda X: X.astype(np.longdouble),
    "masked": lambda X: np.ma.masked_array(X, mask=np.isnan(X)),
}


def sample(seed, n=80):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    X[rng.random(X.shape) < 0.05] = np.nan
    return X, np.nan_to_num(X[:, 0]) + 0.3 * rng.normal(size=n), rng


@pytest.mark.parametrize("layout", LAYOUTS)
def test_layouts_of_arrays(layout):
    X, y, _ = sample(0)
    plain = DecisionTreeRegressor().fit(X, y)
    other = LAYOUTS[layout](X)
    assert_array_equal(DecisionTreeRegressor().fit(other, y).predict(other), plain.predict(X))


def test_arrays_that_may_only_be_read():
    X, y, _ = sample(1)
    w = np.ones(80)
    for array in (X, y, w):
        array.setflags(write=False)
    model = DecisionTreeRegressor().fit(X, y, sample_weight=w)
    assert model.score(X, y) == pytest.approx(1.0, rel=SUMMED)


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.int8, np.uint16, np.uint64, bool])
def test_types_of_numbers(dtype):
    X, y, _ = sample(2)
    X = (20 + 10 * np.nan_to_num(X)).astype(dtype)
    exact = DecisionTreeRegressor().fit(X.astype(float), y).predict(X.astype(float))
    assert_array_equal(DecisionTreeRegressor().fit(X, y).predict(X), exact)


@pytest.mark.parametrize("criterion", ["squared_error", "absolute_error", "poisson"])
def test_one_row_one_value_and_columns_without_any(criterion):
    X, _, _ = sample(3)
    learner = DecisionTreeRegressor(criterion=criterion)
    assert_array_equal(learner.fit([[1.0]], [2.0]).predict([[7.0], [np.nan]]), [2.0, 2.0])
    assert learner.fit(X, np.full(80, 3.0)).get_n_leaves() == 1
    assert_array_equal(learner.feature_importances_, [0, 0, 0])
    nothing = np.full((80, 2), np.nan)
    assert learner.fit(nothing, np.arange(1.0, 81)).get_n_leaves() == 1


@pytest.mark.parametrize("criterion", ["gini", "entropy", "misclassification"])
@pytest.mark.parametrize("cost_matrix", [None, [[0.0]]], ids=["plain", "costs"])
def test_one_class_has_one_column(criterion, cost_matrix):
    model = DecisionTreeClassifier(criterion=criterion, cost_matrix=cost_matrix)
    model.fit([[1.0], [2.0]], ["a", "a"])
    assert_array_equal(model.predict_proba([[5.0]]), [[1.0]])
    assert_array_equal(model.predict([[5.0]]), ["a"])


def test_values_missing_only_later_go_to_the_larger_child():
    X = np.array([[0.0], [1.0], [2.0], [3.0], [4.0]])
    for y, expected in (([0, 0, 5, 5, 5], 5.0), ([0, 0, 0, 5, 5], 0.0)):
        model = DecisionTreeRegressor(max_depth=1).fit(X, np.array(y, float))
        assert_array_equal(model.predict([[np.nan]]), [expected])
    # Larger by weight: one row that counts as nine.
    heavy = DecisionTreeRegressor(max_depth=1)
    heavy.fit(X, [0.0, 5, 5, 5, 5], sample_weight=[9.0, 1, 1, 1, 1])
    assert_array_equal(heavy.predict([[np.nan]]), [0.0])


@pytest.mark.parametrize("dtype", [np.int64, np.uint64])
def test_identifiers_are_compared_as_integers_with_the_middle_of_two(dtype):
    # Exact integers of Python against places: 40 distinct ones, and fresh ones near and far.
    rng = np.random.default_rng(4)
    ends = np.iinfo(dtype)
    for base in (2**60, 2**62):
        near = (base + rng.integers(0, 300, size=25)).astype(dtype)
        far = rng.integers(ends.min, ends.max, size=15, dtype=dtype, endpoint=True)
        ids = np.unique(np.concatenate([near, far]))
        model = DecisionTreeRegressor().fit(ids[:, None], np.arange(len(ids)) % 2 * 1.0)
        assert_array_equal(model.predict(ids[:, None]), np.arange(len(ids)) % 2)
        known = ids.tolist()
        fresh = np.concatenate([ids, (base + rng.integers(-50, 350, size=60)).astype(dtype)])
        for value, leaf in zip(fresh.tolist(), model.apply(fresh[:, None]), strict=True):
            assert leaf == exact_leaf(model.tree_, known, value)


def test_the_middle_of_identifiers_is_that_of_those_in_the_node():
    # The second split is between 1 and 101 beyond the base; those between are on the other side of
    # the first one, so that half of their codes would be 97.5.
    base = 2**60
    between = base + np.array([90, 95, 96, 97, 98, 99])
    ids = np.concatenate([between, [base + 1, base + 101]])
    side = np.array([0] * 6 + [1, 1])
    y = np.array([50.0] * 6 + [0.0, 1.0])
    model = DecisionTreeRegressor().fit(np.column_stack([ids, side]), y)
    fresh = np.column_stack([base + np.array([2, 51, 52, 96, 100]), np.ones(5, np.int64)])
    assert_array_equal(model.predict(fresh), [0.0, 0.0, 1.0, 1.0, 1.0])


def exact_leaf(tree, known, value):
    """Down the tree with the integers of each node: left up to the middle of its neighbours."""
    node = 0
    while not tree.is_leaf[node]:
        n_left = int(tree.n_node_samples[node + 1])
        left = 2 * value <= known[n_left - 1] + known[n_left]
        known = known[:n_left] if left else known[n_left:]
        node = node + 1 if left else int(tree.children_right[node])
    return node


def test_identifiers_split_alike_in_a_frame_and_in_its_table():
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"x": rng.normal(size=60), "id": 2**60 + rng.permutation(60)})
    y = (X.id > 2**60 + 30).to_numpy(float)
    for fitted in (X, Table.of(X)):
        model = DecisionTreeRegressor().fit(fitted, y)
        assert model.get_n_leaves() == 2
        for asked in (X, Table.of(X)):
            assert_array_equal(model.predict(asked), y)
        assert_array_equal(model.predict(Table.of(X[:2])), y[:2])


def test_identifiers_may_be_missing():
    y = np.random.default_rng(5).normal(size=60)
    frame = pd.DataFrame({"id": pd.array([None, *(2**60 + np.arange(1, 60))], dtype="Int64")})
    model = DecisionTreeRegressor().fit(frame, y)
    assert_array_equal(model.predict(frame), y)
    assert_array_equal(model.predict(pl.from_pandas(frame)), y)
    # A missing one is no small number: it goes to the larger child, which is on the right.
    whole = pd.DataFrame({"id": 2**60 + np.arange(5)})
    stump = DecisionTreeRegressor(max_depth=1).fit(whole, [0.0, 0, 5, 5, 5])
    missing = pd.DataFrame({"id": pd.array([None, 2**60], dtype="Int64")})
    assert_array_equal(stump.predict(missing), [5.0, 0.0])


def mixed(seed):
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame({"a": rng.normal(size=90), "s": rng.choice(list("uvw"), size=90)})
    return frame, frame["a"] + 3 * (frame["s"] == "v") + 0.1 * rng.normal(size=90)


@pytest.mark.parametrize("kind", [pl.from_pandas, pa.Table.from_pandas, Table.of])
def test_kinds_of_frames_and_names_in_them(kind):
    frame, y = mixed(6)
    model = DecisionTreeRegressor().fit(frame, y)
    expected = model.predict(frame)
    assert_array_equal(model.predict(kind(frame)), expected)
    named = DecisionTreeRegressor(categorical_features=["s"]).fit(kind(frame), y)
    assert_array_equal(named.predict(kind(frame)), expected)
    assert_array_equal(named.feature_names_in_, ["a", "s"])
    for wrong in (frame.rename(columns={"a": "b"}), frame[["a"]]):
        with pytest.raises(ValueError, match="feature"):
            model.predict(kind(wrong))
    turned = kind(frame.assign(more=1.0)[["s", "more", "a"]])
    if isinstance(turned, Table):  # a table has its columns by name, as for an Encoder
        assert_array_equal(model.predict(turned), expected)
    else:  # a frame has them in order, as in scikit-learn
        with pytest.raises(ValueError, match="feature"):
            model.predict(turned)


def test_columns_without_names_are_taken_in_order():
    frame, y = mixed(7)
    model = DecisionTreeRegressor().fit(frame, y)
    objects = frame.to_numpy(dtype=object)
    with pytest.warns(UserWarning, match="feature names"):
        assert_array_equal(model.predict(objects), model.predict(frame))
    plain = clone(model).fit(frame, y).fit(objects, y)
    assert not hasattr(plain, "feature_names_in_")  # those of an earlier fit are gone
    with pytest.warns(UserWarning, match="feature names"):
        assert_array_equal(plain.predict(frame), model.predict(frame))


def test_copies_of_a_model_predict_alike(tmp_path):
    frame, y = mixed(8)
    labels = np.where(y > 1, "high", "low")
    for learner, target in (
        (DecisionTreeRegressor(), y),
        (DecisionTreeRegressor(early_stopping=True, random_state=0), y),
        (DecisionTreeClassifier(cost_matrix=[[0, 1], [5, 0]], ccp_alpha=0.01), labels),
    ):
        model = learner.fit(frame, target)
        save(model, tmp_path / "tree.empirisk")
        again = clone(model).fit(frame, target)
        loaded = load(tmp_path / "tree.empirisk")
        for other in (pickle.loads(pickle.dumps(model)), copy.deepcopy(model), again, loaded):
            assert_array_equal(other.predict(frame), model.predict(frame))
            assert_array_equal(other.apply(frame), model.apply(frame))


def test_infinite_values_are_refused_by_name():
    X, y, _ = sample(9)
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    model = DecisionTreeRegressor().fit(frame, y)
    for bad in (np.inf, -np.inf):
        wrong = frame.assign(b=bad)
        with pytest.raises(DataError, match="'b' has infinite"):
            DecisionTreeRegressor().fit(wrong, y)
        with pytest.raises(DataError, match="'b' has infinite"):
            model.predict(wrong)
    huge = np.where(np.isnan(X), np.nan, X * 1e300)
    assert_array_equal(DecisionTreeRegressor().fit(huge, y).predict(huge), model.predict(frame))


@pytest.mark.parametrize("learner", [DecisionTreeRegressor(), RandomForestRegressor()])
def test_a_target_whose_rows_have_different_lengths_is_refused(learner):
    with pytest.raises(DataError, match="rows of y have different lengths"):
        learner.fit([[1.0], [2.0]], [[1.0, 2.0], [3.0]])


def test_infinite_values_of_an_array_are_refused_by_number():
    X, y, _ = sample(9)
    model = DecisionTreeRegressor().fit(X, y)
    wrong = X.copy()
    wrong[3, 1] = np.inf
    for refuse in (lambda: DecisionTreeRegressor().fit(wrong, y), lambda: model.predict(wrong)):
        with pytest.raises(DataError, match=r"^column 1 has 1 infinite .* the first in row 3; "):
            refuse()


def test_infinite_identifiers_are_refused_by_name():
    model = DecisionTreeRegressor().fit(pd.DataFrame({"id": [2**60, 2**61]}), [0.0, 1.0])
    with pytest.raises(DataError, match=r"'id' has infinite values .* in row 1; "):
        model.predict(pd.DataFrame({"id": [1.0, np.inf]}))
    with pytest.raises(DataError, match=r"'x' has infinite values .* in row 1; "):
        DecisionTreeRegressor().fit(pd.DataFrame({"x": [1.0, np.inf]}), [0.0, 1.0])


def test_numbers_where_dates_were_are_refused_in_an_array_too():
    days = pd.DataFrame({"d": pd.to_datetime(["2024-01-01", "2024-01-02"])})
    model = DecisionTreeRegressor().fit(days, [0.0, 1.0])
    with pytest.warns(UserWarning, match="feature names"), pytest.raises(DataError, match="dates"):
        model.predict([[1.0]])


@pytest.mark.parametrize(
    "levels",
    [
        pd.to_datetime(["2024-01-01", "2024-02-01"]),
        pd.to_datetime(["2024-01-01 12:30", "2024-02-01 00:00"]).tz_localize("Europe/Oslo"),
        pd.to_timedelta([1, 2], "s"),
        pd.IntervalIndex.from_breaks([0, 1, 2]),
    ],
    ids=["days", "times", "durations", "intervals"],
)
def test_categories_of_all_sorts_are_saved(tmp_path, levels):
    X, y = pd.DataFrame({"c": pd.Categorical(levels.repeat(3))}), np.repeat([0.0, 1.0], 3)
    model = DecisionTreeRegressor().fit(X, y)
    save(model, tmp_path / "model")
    assert_array_equal(load(tmp_path / "model").predict(X), y)
    assert_array_equal(model.predict(Table.of(X)), y)


def test_words_that_are_no_category_by_themselves_are_counted():
    rng = np.random.default_rng(0)
    words = [f"id{k}" for k in rng.permutation(np.arange(5000) % 900)]
    with pytest.raises(TypeError, match="900 different words in 5000 rows, and up to 700 would"):
        DecisionTreeRegressor().fit(pd.DataFrame({"c": words}), rng.normal(size=5000))


@pytest.mark.parametrize(
    "learner",
    [DecisionTreeRegressor(), RandomForestRegressor(2), HistGradientBoostingRegressor(max_iter=2)],
    ids=lambda learner: type(learner).__name__,
)
@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame, Table.of])
def test_words_that_spell_small_integers_are_words(learner, frame):
    X, y = frame({"zip": [str(10_000 + 7 * i) for i in range(40)]}), np.arange(40.0)
    with pytest.raises(TypeError, match="'zip' holds text: 40 different words in 40 rows"):
        clone(learner).fit(X, y)
    model = clone(learner).set_params(categorical_features=["zip"]).fit(X, y)
    assert np.isfinite(model.predict(X)).all()


def test_arrays_of_words_need_named_categories():
    rng = np.random.default_rng(0)
    colour = np.array(["red", "blue", "green"])[rng.integers(0, 3, size=90)]
    age = rng.normal(size=90)
    X, y = np.column_stack([colour, age]), (colour == "red") + (age > 0)
    with pytest.raises(DataError, match=r"holds text.*name the columns.*categorical_features"):
        DecisionTreeRegressor().fit(X, y)
    model = DecisionTreeRegressor(categorical_features=[0]).fit(X, y)
    assert [column.kind for column in model.columns_] == ["category", "number"]
    frame = pd.DataFrame({"x0": colour, "x1": age})
    assert str(model.rules()) == str(DecisionTreeRegressor().fit(frame, y).rules())
    assert_array_equal(model.predict(X.tolist()), y)
    with pytest.raises(DataError, match="'x0' holds words"):
        DecisionTreeRegressor(categorical_features=[1]).fit(X, y)


@pytest.mark.parametrize("missing", [np.nan, None])
def test_missing_labels_are_called_so(missing):
    y = np.array([1.0, 0.0, missing, missing], dtype=float if missing is not None else object)
    with pytest.raises(DataError, match=r"y has 2 missing.*rows without a label.*needs a label"):
        DecisionTreeClassifier().fit(np.arange(4.0)[:, None], y)


@pytest.mark.parametrize("levels", [[1.0, 2.5, 4.0], [1, 2, 4], [2**60, 2**60 + 1, 2**60 + 2]])
@pytest.mark.parametrize("learner", [DecisionTreeRegressor(), HistGradientBoostingRegressor()])
def test_a_category_of_numbers_is_numbers_where_these_were_in_training(learner, levels):
    numbers = np.repeat(np.array(levels), 20)
    learner.fit(pd.DataFrame({"a": numbers}), np.arange(60) // 20)
    category = pd.DataFrame({"a": pd.Categorical(numbers)})
    assert_array_equal(learner.predict(category), learner.predict(pd.DataFrame({"a": numbers})))
    category["a"] = category["a"].where(numbers != levels[0])
    assert np.isfinite(learner.predict(category)).all()


def test_levels_of_another_type_than_in_training_are_refused():
    codes = np.arange(60) % 6
    levels = pd.DataFrame({"c": pd.Categorical(codes * 10)})
    model = DecisionTreeRegressor().fit(levels, codes)
    for same in (codes * 10, pd.Categorical(codes * 10.0)):
        assert_array_equal(model.predict(pd.DataFrame({"c": same})), codes)
    with pytest.raises(DataError, match="levels such as '0', and in training such as 0, of anoth"):
        model.predict(pd.DataFrame({"c": (codes * 10).astype(str)}))
    new = model.predict(pd.DataFrame({"c": pd.Categorical([70, 80])}))
    absent = pd.Categorical([None, None], categories=["0", "10"])
    assert_array_equal(new, model.predict(pd.DataFrame({"c": absent})))
    words = DecisionTreeRegressor().fit(pd.DataFrame({"c": codes.astype(str)}), codes)
    with pytest.raises(DataError, match="of another type: give them as in training"):
        words.predict(pd.DataFrame({"c": codes}))
