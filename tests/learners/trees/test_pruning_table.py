"""The pruning table is that of R's rpart. Its numbers are in reference/rpart_tables.json, made by
reference/rpart_tables.R."""

import json
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import load_iris
from sklearn.pipeline import make_pipeline

from empirisk import (
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    Encoder,
    Ridge,
    Table,
    Tuned,
    load,
    pruning_table,
    risk,
    save,
)
from empirisk.learners.trees.printed_columns import printed_columns, significant
from empirisk.losses import Costs
from empirisk.risk.out_of_fold import out_of_fold
from empirisk.runtime.errors import ParameterError
from tolerances import LAST_BITS, SUMMED

R = json.loads((Path(__file__).parents[2] / "reference" / "rpart_tables.json").read_text())
LOSS = [[0.0, 1, 4], [1, 0, 1], [4, 1, 0]]
COLUMNS = ("cp", "nsplit", "rel_error", "xerror", "xstd")


def rpart_folds(n):
    fold = np.arange(n) % 10
    return [(np.flatnonzero(fold != k), np.flatnonzero(fold == k)) for k in range(10)]


def waves():
    i = np.arange(1, 301.0)
    X = np.column_stack([(i * np.sqrt(k)) % 1 for k in (2, 3, 5)])
    y = np.floor(4 * X[:, 0]) + 3 * X[:, 1] * X[:, 2] + (i * np.sqrt(7)) % 1
    learner = DecisionTreeRegressor(min_samples_split=20, min_samples_leaf=7)
    return Tuned(learner, cv=rpart_folds(300)), X, y


def iris(how):
    X, y = load_iris(return_X_y=True)
    learner = DecisionTreeClassifier(
        min_samples_split=10, min_samples_leaf=5, ccp_risk="cost", **how
    )
    # rpart drops splits that save nothing from the whole tree.
    grid = learner.axis_values(X, y, np.ones(150), n_train=135)
    values = [1e-10, *grid[1:]]
    loss = Costs(LOSS) if "cost_matrix" in how else None
    return Tuned(learner, values=values, cv=rpart_folds(150), loss=loss), X, y


CASES = {
    "waves": waves,
    "iris": lambda: iris({}),
    "iris_information": lambda: iris({"criterion": "entropy"}),
    "iris_loss": lambda: iris({"cost_matrix": LOSS}),
}


@pytest.mark.parametrize("name", CASES)
def test_the_numbers_are_those_of_rpart(name):
    tuned, X, y = CASES[name]()
    table = pruning_table(tuned.fit(X, y))
    for column in COLUMNS:
        # Sums of at most 300 numbers of one size; the file has 15 digits.
        assert_allclose(getattr(table, column), R[name][column], rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("name", CASES)
def test_it_is_printed_as_rpart_prints_it(name):
    tuned, X, y = CASES[name]()
    lines = str(pruning_table(tuned.fit(X, y))).splitlines()
    theirs = [line.rstrip() for line in R[name]["printed"]]
    start = next(i for i, line in enumerate(theirs) if line.endswith("xstd"))
    ours = lines[-len(theirs) + start :]
    assert [line.removesuffix(" *") for line in ours] == theirs[start:]
    assert sum(line.endswith(" *") for line in ours) == 1
    kept = [line for line in theirs if line.startswith(("Root node error", "n="))]
    assert [line for line in lines if line.startswith(("Root node error", "n="))] == kept
    assert lines[0] == theirs[1].removesuffix(":")


def test_the_chosen_row_and_one_standard_error():
    tuned, X, y = waves()
    table = pruning_table(tuned.fit(X, y))
    assert table.chosen == np.argmin(table.xerror)
    assert table.nsplit[table.chosen] == tuned.best_estimator_.get_n_leaves() - 1
    smaller = tuned.set_params(rule="one_se").fit(X, y)
    again = pruning_table(smaller)
    assert_array_equal(again.xerror, table.xerror)
    # Our rule has the divisor n - 1; no row lies between the two limits here.
    assert again.chosen == table.one_se < table.chosen


def test_each_row_is_the_tree_at_its_ccp_alpha():
    tuned, X, y = waves()
    table = pruning_table(tuned.fit(X, y))
    for alpha, cp, size, error in zip(
        table.ccp_alpha, table.cp, table.nsplit, table.rel_error, strict=True
    ):
        for value in (alpha, cp * np.var(y) * (1 + 1e-9)):
            model = DecisionTreeRegressor(
                min_samples_split=20, min_samples_leaf=7, ccp_alpha=value
            ).fit(X, y)
            assert model.get_n_leaves() == size + 1
            assert ((model.predict(X) - y) ** 2).mean() / np.var(y) == pytest.approx(
                error, rel=SUMMED
            )


def test_rows_columns_and_a_file(tmp_path):
    tuned, X, y = waves()
    table = pruning_table(tuned.fit(X, y))
    assert list(table.to_dict()) == ["CP", "nsplit", "rel error", "xerror", "xstd"]
    assert table.rows()[1] == tuple(column[1] for column in table.to_dict().values())
    save(tuned, tmp_path / "tuned.model")
    assert str(pruning_table(load(tmp_path / "tuned.model"))) == str(table)


def test_out_of_fold_losses_and_pipelines_give_the_same_table():
    tuned, X, y = waves()
    table = pruning_table(tuned.fit(X, y))
    problem = risk.Problem.of(tuned.estimator, X, y)
    losses = out_of_fold(
        tuned.estimator, problem, problem.plan(rpart_folds(300)), values=tuned.path_.values
    )
    assert_array_equal(pruning_table(losses).xerror, table.xerror)
    assert_array_equal(pruning_table(losses).nsplit, table.nsplit)
    names = Table.of({"a": X[:, 0], "b": X[:, 1], "c": X[:, 2]})
    piped = make_pipeline(Encoder(standardize=False), tuned.estimator)
    found = pruning_table(Tuned(piped, cv=rpart_folds(300)).fit(names, y))
    assert_allclose(found.xerror, table.xerror, rtol=SUMMED)


def test_the_whole_tree_may_be_the_chosen_one():
    X = np.repeat(np.arange(8.0), 20)[:, None]
    y = X[:, 0] ** 2 + 1e-3 * np.sin(np.arange(160.0))
    tuned = Tuned(DecisionTreeRegressor(max_leaf_nodes=6), random_state=0).fit(X, y)
    table = pruning_table(tuned)
    assert table.nsplit.tolist() == [0, 1, 2, 3, 4, 5]
    assert tuned.best_value_ == 0
    assert table.chosen == 5


def test_a_grid_of_ones_own_has_a_row_for_each_tree():
    tuned, X, y = waves()
    grid = np.geomspace(1e-5, 10, 200).tolist()
    table = pruning_table(tuned.set_params(values=grid).fit(X, y))
    assert len(set(table.nsplit)) == len(table.nsplit)
    reference = dict(zip(R["waves"]["nsplit"], R["waves"]["cp"], strict=True))
    for size, cp in zip(table.nsplit[:-1], table.cp[:-1], strict=True):
        assert cp == pytest.approx(reference[size], rel=SUMMED)
    with pytest.raises(ParameterError, match=r"leaves \d+ split\(s\): leave `values` out"):
        pruning_table(tuned.set_params(values=[1e-4, 1e-3]).fit(X, y))


def ties():
    """Two splits on the way to the root whose alphas are 1/9, computed in two ways."""
    X = [
        [0.9, -1.4], [1.5, -0.2], [-0.5, 0.6], [0.4, -0.8], [0.5, -1.0], [0.9, 0.0], [0.1, -0.5],
        [0.7, -0.4], [-1.3, -1.8], [2.3, -0.4], [-0.1, -0.4], [0.0, -1.4], [-0.7, 0.5],
        [-1.3, 1.1], [0.2, 0.4], [-0.2, 1.3], [0.4, -0.7], [-0.7, 2.5],
    ]  # fmt: skip
    return X, [1, 1, 1, 0, 0, 1, 1, 0, 0, 1, 1, 0, 0, 0, 1, 0, 1, 1]


def test_weakest_links_that_tie_are_one_row():
    learner = DecisionTreeClassifier(min_samples_leaf=2, ccp_risk="cost")
    tuned = Tuned(learner, cv=2, random_state=0).fit(*ties())
    table = pruning_table(tuned)
    # R 4.2.2, rpart 4.1.19, with cp=0, minsplit=2, minbucket=2; its last tree has 3 splits, since
    # it drops two that save nothing.
    assert table.root_risk == 8 / 18
    assert table.nsplit.tolist() == [0, 2, 5]
    assert_allclose(table.cp, [0.25, 0.125, 0], rtol=SUMMED, atol=LAST_BITS)
    assert_allclose(table.rel_error, [1, 0.5, 0.375], rtol=SUMMED)


def test_of_values_beyond_the_last_link_the_largest_stands_for_the_root():
    tuned, X, y = waves()
    tuned.fit(X, y)
    last = tuned.path_.values[-1] / 10
    # A part of 1e-10 below the last link: its tree is taken for the root's, which is 1e-9 wide.
    values = [*tuned.path_.values[:-1], last * (1 - 1e-10), 10 * last]
    table = pruning_table(tuned.set_params(values=values).fit(X, y))
    assert table.rel_error[0] == 1
    assert table.root_risk == pytest.approx(np.var(y), rel=SUMMED)


def test_weights_are_in_the_root_error():
    tuned, X, y = waves()
    table = pruning_table(tuned.fit(X, y, sample_weight=np.full(300, 2.5)))
    assert "Root node error: 1324.9/750 = 1.7666" in str(table)
    assert_allclose(table.xerror, R["waves"]["xerror"], rtol=SUMMED)
    assert_allclose(table.xstd, R["waves"]["xstd"], rtol=SUMMED)


KYPHOSIS = """
71 3 5  158 3 14  128 4 5  2 5 1  1 4 15  1 2 16  61 2 17  37 3 16  113 2 16  59 6 12  82 5 14
148 3 16  18 5 2  1 4 12  168 3 18  1 3 16  78 6 15  175 5 13  80 5 16  27 4 9  22 2 16
105 6 5  96 3 12  131 2 3  15 7 2  9 5 13  8 3 6  100 3 14  4 3 16  151 2 16  31 3 16  125 2 11
130 5 13  112 3 16  140 5 11  93 3 16  1 3 9  52 5 6  20 6 9  91 5 12  73 5 1  35 3 13  143 9 3
61 4 1  97 3 16  139 3 10  136 4 15  131 5 13  121 3 3  177 2 14  68 5 10  9 2 17  139 10 6
2 2 17  140 4 15  72 5 15  2 3 13  120 5 8  51 7 9  102 3 13  130 4 1  114 7 8  81 4 1
118 3 16  118 4 16  17 4 10  195 2 17  159 4 13  18 4 11  15 5 16  158 5 14  127 4 12  87 4 16
206 4 10  11 3 15  178 4 15  157 3 13  26 7 13  120 2 13  42 7 6  36 4 13
"""  # age, number, start
PRESENT = [2, 9, 10, 21, 22, 24, 37, 39, 40, 45, 48, 52, 57, 60, 61, 76, 79]


def kyphosis(class_weight, loss=None, **how):
    """Hastie and Tibshirani's children after an operation of the spine, as rpart has them."""
    table = np.array(KYPHOSIS.split(), dtype=float).reshape(-1, 3)
    y = np.array(["absent"] * len(table), dtype="U7")
    y[PRESENT] = "present"
    learner = DecisionTreeClassifier(min_samples_leaf=5, class_weight=class_weight, **how)
    return Tuned(learner, cv=rpart_folds(81), loss=loss), table, y


def test_with_class_weights_in_the_loss_too_the_numbers_are_those_of_rpart_with_priors():
    weights = {"absent": 40.5 / 64, "present": 40.5 / 17}
    loss = Costs([[0, 40.5 / 17], [40.5 / 64, 0]], classes=["absent", "present"])
    tuned, X, y = kyphosis(weights, loss, ccp_risk="cost")
    table = pruning_table(tuned.fit(X, y))
    # R 4.2.2, rpart 4.1.19, parms=list(prior=c(.5, .5)), cp=0, minsplit=2, minbucket=5, the folds
    # in xval; its last tree has 5 splits, since it drops those that save nothing.
    known = [
        [0.569852941176471, 0, 1, 1.327205882352941, 0.178955723341971],
        [0.081801470588235, 1, 0.430147058823529, 0.669117647058824, 0.132789401278284],
        [0.013174019607843, 2, 0.348345588235294, 0.485294117647059, 0.121817670666378],
        [0, 9, 0.308823529411765, 0.779411764705882, 0.165976902324309],
    ]
    assert_allclose(table.rows(), known, rtol=SUMMED, atol=LAST_BITS)
    assert "Root node error: 40.5/81 = 0.5" in str(table)
    assert table.note == ""


def test_errors_that_class_weights_are_not_in_are_named_as_such():
    tuned, X, y = kyphosis({"present": 4.0}, ccp_risk="cost")
    table = pruning_table(tuned.fit(X, y))
    assert (np.diff(table.rel_error) > 0).any()  # of rows as they are
    assert "the errors count rows as they are" in str(table)
    assert "Root node error: 64/81 = 0.79012" in str(table)
    problem = risk.Problem.of(tuned.estimator, X, y)
    losses = out_of_fold(
        tuned.estimator, problem, problem.plan(rpart_folds(81)), values=tuned.path_.values
    )
    assert pruning_table(losses).note == table.note
    unweighed = kyphosis("balanced", Costs([[0, 3], [3, 0]]))[0].fit(X, y)
    assert pruning_table(unweighed).note == table.note
    assert pruning_table(kyphosis(None)[0].fit(X, y)).note == ""


def test_the_picture_has_the_errors_and_the_limit(tmp_path):
    tuned, X, y = waves()
    table = pruning_table(tuned.fit(X, y))
    ax = table.plot()
    assert_array_equal(ax.lines[0].get_ydata(), table.xerror)
    best = table.chosen
    limit = [line for line in ax.lines if line.get_label() == "least + one standard error"]
    assert limit[0].get_ydata()[0] == pytest.approx(
        table.xerror[best] + table.xstd[best], rel=SUMMED
    )
    ax.figure.savefig(tmp_path / "table.png", dpi=30)


def test_columns_are_printed_as_r_prints_them():
    lines = printed_columns({"x": [1.0, 0.123456789, 20.0], "n": [1, 10, 100]}, digits=5)
    assert lines == ["         x   n", "1  1.00000   1", "2  0.12346  10", "3 20.00000 100"]
    assert significant(1234567.0, 5) == "1234567"
    assert significant(1e-300, 5) == "1e-300"
    assert printed_columns({"x": [np.nan, 2.0]}, digits=3)[1].split() == ["1", "nan"]


def test_what_is_no_tuned_tree_is_refused():
    X, y = np.arange(20.0)[:, None], np.arange(20.0)
    with pytest.raises(ParameterError, match="made of a decision tree tuned along ccp_alpha"):
        pruning_table(Tuned(Ridge(), cv=3).fit(X, y))
    with pytest.raises(ParameterError, match="made of a decision tree tuned along ccp_alpha"):
        pruning_table(DecisionTreeRegressor().fit(X, y))
    with pytest.raises(ParameterError, match=r"give Tuned\(DecisionTreeClassifier\(\)\)"):
        pruning_table(DecisionTreeClassifier().fit(X, y > 9))
    with pytest.raises(ParameterError, match="the root makes none"):
        pruning_table(Tuned(DecisionTreeRegressor(), cv=3).fit(X, np.ones(20)))
