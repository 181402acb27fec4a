"""Whatever a table comes in, the answer is the same: pandas, polars, Arrow, DuckDB, our own."""

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from numpy.testing import assert_array_equal
from sklearn.pipeline import make_pipeline

from empirisk import (
    BaggingClassifier,
    DecisionTreeClassifier,
    Encoder,
    HistGradientBoostingClassifier,
    NaiveBayes,
    Ridge,
    Tuned,
    compare,
    risk,
    select,
)
from empirisk.data.table import Table
from empirisk.runtime.errors import DataTypeError

N = 120


def frame():
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=N), rng.integers(0, 5, N)
    table = pd.DataFrame({"a": a, "b": b, "c": rng.choice(["x", "y", "z"], N)})
    table.loc[3, "a"] = np.nan
    return table, np.where(a + b + rng.normal(size=N) > 2, "high", "low")


def relation(table):
    connection = duckdb.connect()
    connection.register("rows", table)
    return connection.sql("SELECT * FROM rows")


def arrow(table):
    return pa.Table.from_pandas(table, preserve_index=False)


KINDS = {
    "polars": lambda table: pl.from_arrow(arrow(table)),
    "arrow": arrow,
    "chunks": lambda table: pa.concat_tables([arrow(table[:50]), arrow(table[50:])]),
    "record batch": lambda table: arrow(table).to_batches()[0],
    "duckdb": relation,
    "table": Table.of,
}
WEIGHT = np.arange(N) % 3  # a third of the rows leave
TWO = [DecisionTreeClassifier(), NaiveBayes()]
WAYS = {
    "fit": lambda X, y: DecisionTreeClassifier(max_depth=3).fit(X, y).predict(X),
    "encoder": lambda X, y: make_pipeline(Encoder(), Ridge()).fit(X, y == "low").predict(X),
    "tuned": lambda X, y: Tuned(DecisionTreeClassifier()).fit(X, y).path_.risk,
    "select": lambda X, y: select(TWO, X, y, random_state=0).test_risk.losses,
    "compare": lambda X, y: [each.value for each in compare(TWO, X, y).risks.values()],
    "weights": lambda X, y: risk.cross_validate(NaiveBayes(), X, y, sample_weight=WEIGHT).losses,
    "bootstrap": lambda X, y: (
        risk.bootstrap_632plus(NaiveBayes(), X, y, n_resamples=20, random_state=0).value
    ),
    "learning curve": lambda X, y: risk.learning_curve(NaiveBayes(), X, y, random_state=0).risk,
    "early stopping": lambda X, y: (
        HistGradientBoostingClassifier(max_iter=5, early_stopping=True, random_state=0)
        .fit(X, y)
        .predict_proba(X)
    ),
    "bag": lambda X, y: (
        BaggingClassifier(NaiveBayes(), n_estimators=5, random_state=0).fit(X, y).predict_proba(X)
    ),
}  # fmt: skip


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("kind", KINDS)
def test_the_kind_of_table_makes_no_difference(kind, way):
    table, y = frame()
    found = WAYS[way](KINDS[kind](table), y)
    assert_array_equal(np.asarray(found), np.asarray(WAYS[way](table, y)))


@pytest.mark.parametrize("way", WAYS)
def test_a_query_that_was_not_run_is_refused_with_the_remedy(way):
    table, y = frame()
    with pytest.raises(DataTypeError, match=r"query that has not been run: give .*\.collect"):
        WAYS[way](pl.from_arrow(arrow(table)).lazy(), y)
