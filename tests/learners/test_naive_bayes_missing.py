"""Naive Bayes where cells, levels or whole columns are missing."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from empirisk import NaiveBayes, Table, risk
from empirisk.runtime.errors import DataError
from naive_bayes_twin import ASKED, mixed_table


def test_a_row_of_which_nothing_is_known_gets_the_priors():
    table, y = mixed_table()
    nothing = table.iloc[:2].mask(np.ones((2, 8), bool))
    for priors in (None, [0.2, 0.5, 0.3]):
        model = NaiveBayes(distributions=ASKED, priors=priors).fit(table, y)
        share = [np.mean(y == k) for k in "abc"] if priors is None else priors
        # The sum of 60 ones and a division.
        assert_allclose(model.predict_proba(nothing), [share, share], rtol=1e-14)
        assert_allclose(model.class_prior_, share, rtol=1e-14)


def test_a_missing_cell_is_as_if_its_column_were_not_there():
    table, y = mixed_table(holes=0.0)
    for name in ("size", "word", "truth", "visits"):
        with_hole = table.copy()
        with_hole[name] = with_hole[name].mask(np.ones(len(y), bool))
        asked = {key: kind for key, kind in ASKED.items() if key != name}
        without = table.drop(columns=name)
        known = NaiveBayes(distributions=asked).fit(without, y).predict_proba(without)
        found = NaiveBayes(distributions=ASKED).fit(table, y).predict_proba(with_hole)
        assert_allclose(found, known, rtol=1e-12)  # the same terms but one


def test_training_uses_every_cell_that_is_there():
    """Each column alone is learned from its own rows, whatever the others lack."""
    table, y = mixed_table(holes=0.4)
    together = NaiveBayes(distributions=ASKED).fit(table, y)
    for name in ("size", "word", "truth", "visits"):
        there = ~table[name].isna().to_numpy()
        asked = {key: kind for key, kind in ASKED.items() if key == name}
        alone = NaiveBayes(distributions=asked).fit(table.loc[there, [name]], y[there])
        for key, found in together.parameters(name).items():
            known = alone.parameters(0)[key]
            if key == "share" and name == "word":
                order = np.argsort(alone.columns_[0].values)
                found, known = found[:, np.argsort(together.columns_[2].values)], known[:, order]
            assert_allclose(found, known, rtol=1e-12)  # sums in the same order, but for parts


def test_levels_that_training_did_not_have_count_as_missing():
    table, y = mixed_table()
    model = NaiveBayes(distributions=ASKED).fit(table, y)
    strange, missing = table.iloc[:5].copy(), table.iloc[:5].copy()
    strange["word"], missing["word"] = "new", None
    missing["word"] = missing["word"].astype(object)
    assert_array_equal(model.predict_proba(strange), model.predict_proba(missing))
    with pytest.raises(DataError, match="of another type"):
        model.predict(table.assign(word=1.5))


def test_a_class_without_a_cell_of_a_column():
    """Gaussian and Poisson: as all classes together; levels: equal shares, 0 / 0 of alpha 0."""
    X = pd.DataFrame(
        {
            "x": [1.0, 3.0, np.nan, np.nan],
            "n": [2.0, 4.0, np.nan, np.nan],
            "c": ["u", "v", None, None],
        }
    )
    y = ["a", "a", "b", "b"]
    for alpha in (0.0, 1.0):
        model = NaiveBayes(alpha, distributions={"n": "poisson"}).fit(X, y)
        assert_array_equal(model.parameters("x")["mean"], [2.0, 2.0])
        assert_array_equal(model.parameters("x")["deviation"], [1.0, 1.0])
        assert_array_equal(model.parameters("n")["rate"], [3.0, 3.0])
        assert_array_equal(model.parameters("c")["share"][1], [0.5, 0.5])


def test_columns_that_are_always_missing_say_nothing():
    X = pd.DataFrame(
        {
            "nothing": [None] * 12,
            "no level": pd.Categorical([None] * 12),
            "unused": pd.Categorical([None] * 12, categories=["a"]),
            "x": np.arange(12.0),
        }
    )
    y = np.arange(12) > 6
    model = NaiveBayes().fit(X, y)
    alone = NaiveBayes().fit(X[["x"]], y).predict_proba(X[["x"]])
    assert_array_equal(model.predict_proba(X), alone)
    drawn = model.sample(3, random_state=0)[0]
    assert drawn["unused"].missing.all()
    assert drawn["nothing"].missing.all()
    for loss in ("zero_one", "log"):
        found, known = (
            risk.leave_one_out(NaiveBayes(), table, y, loss=loss) for table in (X, X[["x"]])
        )
        assert found.value == known.value


@pytest.mark.parametrize(
    ("distribution", "parameter"), [("gaussian", "mean"), ("poisson", "rate"), ("kernel", None)]
)
def test_of_a_column_without_cells_nothing_is_known_and_nothing_drawn(distribution, parameter):
    X, y = np.column_stack([np.arange(12.0), np.full(12, np.nan)]), np.arange(12) > 6
    model = NaiveBayes(distributions={1: distribution}).fit(X, y)
    rows, _ = model.sample(4, random_state=0)
    assert np.isfinite(rows[:, 0]).all()
    assert np.isnan(rows[:, 1]).all()
    if parameter is not None:
        assert np.isnan(model.parameters(1)[parameter]).all()


def test_truth_values_that_come_later_are_the_levels_that_were_spelled_before():
    y = np.arange(12) % 2
    for yes, no in (("TRUE", "FALSE"), ("Yes", "No")):
        first = Table.of({"answer": [yes, no, "unknown"] * 4})
        later = {"answer": [True, False, True, True] * 3}
        spelled = {"answer": [yes if each else no for each in later["answer"]]}
        one, other = (
            NaiveBayes().partial_fit(first, y, classes=[0, 1]).partial_fit(Table.of(more), y)
            for more in (later, spelled)
        )
        assert_array_equal(one.predict_proba(first), other.predict_proba(first))
        assert one.columns_[0].values == other.columns_[0].values
