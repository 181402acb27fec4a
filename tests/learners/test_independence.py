"""The test of independence within classes: its statistics, honest p-values, and what it finds."""

import tracemalloc

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from scipy import stats

from empirisk import NaiveBayes
from empirisk.learners.generative.independence import holm
from empirisk.learners.generative.pair_tests import pair_tests
from empirisk.runtime.errors import DataError
from tolerances import SUMMED


def independent(n, rng):
    """Columns of every kind that say nothing of one another, in two classes."""
    y = np.arange(n) % 2
    return pd.DataFrame(
        {
            "a": rng.normal(size=n) + y,
            "b": rng.normal(size=n) * (1 + y),
            "skew": rng.exponential(size=n),
            "count": rng.poisson(3.0, n),
            "word": rng.choice(list("uvwxyz"), n, p=[0.4, 0.3, 0.15, 0.1, 0.03, 0.02]),
            "other": rng.choice(list("pqr"), n, p=[0.5, 0.3, 0.2]),
            "truth": rng.random(n) < 0.3,
        }
    ), np.array(["no", "yes"])[y]


def result_of(table, y, weight=None):
    learner = NaiveBayes(distributions={"count": "poisson"}) if "count" in table else NaiveBayes()
    return learner.fit(table, y).independence_test(table, y, sample_weight=weight)


def test_the_statistics_are_those_of_scipy():
    rng = np.random.default_rng(0)
    table, y = independent(400, rng)
    table["b"] += 0.2 * table["a"]
    table["word"] = table["word"].replace(dict.fromkeys("xyz", "w"))  # nothing rare
    found = {(pair.label, pair.one, pair.other): pair for pair in result_of(table, y).pairs}
    for label in ("no", "yes"):
        own = table[y == label]
        r = stats.spearmanr(own["a"], own["b"])
        pair = found[label, "a", "b"]
        # Two ways to the same numbers, double precision.
        assert_allclose([pair.strength, pair.p_value], [abs(r.statistic), r.pvalue], rtol=1e-9)
        ranks = own["skew"].rank()
        groups = [part for _, part in ranks.groupby(own["word"])]
        assert_allclose(found[label, "skew", "word"].p_value, stats.f_oneway(*groups).pvalue, 1e-9)
        cells = pd.crosstab(own["word"], own["other"])
        chi = stats.chi2_contingency(cells, correction=False)
        assert_allclose(found[label, "word", "other"].p_value, chi.pvalue, rtol=SUMMED)
        assert_allclose(
            found[label, "word", "other"].strength,
            stats.contingency.association(cells),
            rtol=SUMMED,
        )


def test_rows_in_which_one_of_two_is_missing_are_left_out():
    rng = np.random.default_rng(1)
    table, y = independent(900, rng)  # nothing rare
    holes = table.mask(rng.random(table.shape) < 0.3)
    found = {(pair.label, pair.one, pair.other): pair for pair in result_of(holes, y).pairs}
    own = holes[y == "no"]
    ranks = own[["a", "skew"]].rank()  # among the cells of the column that are there
    both = ranks.dropna()
    r = stats.pearsonr(both["a"], both["skew"])
    words = [part for _, part in ranks["a"].dropna().groupby(own["other"])]
    cells = pd.crosstab(own["other"], own["truth"])
    expected = {
        ("a", "skew"): (len(both), r.pvalue),
        ("a", "other"): (sum(map(len, words)), stats.f_oneway(*words).pvalue),
        ("other", "truth"): (
            cells.to_numpy().sum(),
            stats.chi2_contingency(cells, correction=False).pvalue,
        ),
    }
    for (one, other), (rows, p_value) in expected.items():
        known = found["no", one, other]
        assert known.rows == rows
        assert_allclose(known.p_value, p_value, rtol=1e-9)  # two ways to the same numbers


def test_columns_of_many_words_take_no_table_of_all_their_cells():
    n = 6000
    rows = np.arange(n)
    numbers = np.random.default_rng(0).normal(size=n)
    X = np.column_stack([numbers, rows // 5, rows % 1500, rows % 3])
    tracemalloc.start()
    found = list(pair_tests(X, np.ones(n), [0], [1, 2, 3]))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert [test[:2] for test in found] == [(0, 3)]  # words are too rare to be tested
    assert peak < 16 * X.nbytes  # 1,200 words x 6,000 rows, or 1,500 words, are 300 times as much


def test_holm_by_its_definition():
    """Step down: the i-th smallest of m is rejected where all before it are and m - i + 1 times it
    is at most the level; the adjusted p-value is the least level at which that is so."""
    p_values = np.random.default_rng(0).random(30) ** 3
    adjusted = holm(p_values)
    for level in np.linspace(0.001, 1, 50):
        rejected = np.zeros(30, bool)
        for i, j in enumerate(np.argsort(p_values)):
            if (30 - i) * p_values[j] > level:
                break
            rejected[j] = True
        assert ((adjusted <= level) == rejected)[adjusted < 1].all()


@pytest.mark.parametrize(
    ("n", "tables"), [(60, 100), pytest.param(400, 1000, marks=pytest.mark.slow)]
)
def test_p_values_are_uniform_where_columns_are_independent(n, tables):
    """Of each kind of pair, P(p <= x) = x but for 4 standard errors; 63 comparisons that err with
    probability 6e-5 each."""
    rng = np.random.default_rng(n)
    p_values, adjusted = {}, []
    for _ in range(tables):
        result = result_of(*independent(n, rng))
        adjusted.append(result.p_value)
        for pair in result.pairs:
            p_values.setdefault((pair.one, pair.other), []).append(pair.p_value)
    for pair, found in p_values.items():
        for x in (0.01, 0.05, 0.2):
            error = np.sqrt(x * (1 - x) / len(found))
            share = np.mean(np.array(found) <= x)
            # Both classes of each table; the chi-squared approximation at cells of 5 rows, and the
            # correlation of skewed columns of 30, are off by up to a fifth of the level.
            assert abs(share - x) < 4 * error + 0.2 * x, (pair, x, share)
    # Any false alarm among all pairs and classes: 5 % at most, and 4 standard errors.
    assert np.mean(np.array(adjusted) <= 0.05) < 0.05 + 4 * np.sqrt(0.05 * 0.95 / tables)


@pytest.mark.parametrize(
    ("draw", "distribution"),
    [
        (lambda rng, shape: np.exp(2 * rng.normal(size=shape)), "gaussian"),
        (lambda rng, shape: rng.standard_cauchy(size=shape), "gaussian"),
        (lambda rng, shape: rng.poisson(0.02, size=shape), "poisson"),
        (lambda rng, shape: rng.poisson(0.3, size=shape), "poisson"),
    ],
)
def test_long_tails_and_rare_counts_raise_no_false_alarms(draw, distribution):
    """Correlations of the numbers themselves raised them in half of such tables."""
    rng = np.random.default_rng(0)
    y, tables = np.arange(400) % 2, 100
    alarms = 0
    for _ in range(tables):
        X = draw(rng, (400, 6)).astype(float)
        X[:, 0] = rng.integers(0, 3, size=400)
        kinds = {0: "categorical", (1, 2, 3, 4, 5): distribution}
        result = NaiveBayes(distributions=kinds).fit(X, y).independence_test(X, y)
        alarms += result.p_value <= 0.05
    # 5 %, and 4 standard errors: each of the four cases errs with probability 1e-4.
    assert alarms / tables < 0.05 + 4 * np.sqrt(0.05 * 0.95 / tables)


def test_dependence_of_every_kind_is_found_and_said():
    rng = np.random.default_rng(0)
    table, y = independent(600, rng)
    table["b"] = table["b"] + table["a"]
    table["skew"] += table["word"] == "u"
    table["other"] = np.where(table["truth"] & (y == "yes"), "p", table["other"])
    result = result_of(table, y)
    found = {(pair.label, pair.one, pair.other) for pair in result.dependent()}
    assert {("no", "a", "b"), ("yes", "skew", "word"), ("yes", "other", "truth")} <= found
    assert ("no", "other", "truth") not in found
    assert result.p_value < 1e-6
    assert set(result.by_class) == {"no", "yes"}
    assert "find dependence" in result.sentence
    assert result.dependent()[0].strength == max(pair.strength for pair in result.dependent())
    assert result.to_table().shape == (42, 7)
    assert str(result).splitlines()[1].startswith("  class no: ")
    clean = result_of(*independent(600, rng))
    assert "speaks against independence" in clean.sentence


def test_what_cannot_be_tested_is_counted():
    table = pd.DataFrame(
        {"constant": np.ones(20), "x": np.arange(20.0), "word": list("abcdefghij") * 2}
    )
    result = result_of(table, np.arange(20) % 2)
    # The constant with both others; words of two rows each are taken together and leave none.
    assert (result.pairs, result.untested) == ([], 6)
    assert result.p_value == 1.0
    assert "No pair" in result.sentence
    assert len(result.to_table()) == 0


def test_columns_of_a_multinomial_are_not_tested():
    rng = np.random.default_rng(0)
    X, y = rng.poisson(3, size=(50, 4)), np.arange(50) % 2
    model = NaiveBayes(distributions={(0, 1): "multinomial"}).fit(X, y)
    pairs = model.independence_test(X, y).pairs
    assert {(pair.one, pair.other) for pair in pairs} == {("x2", "x3")}


def test_weights_count_as_copies_and_extreme_units_do_not_matter():
    rng = np.random.default_rng(0)
    table, y = independent(80, rng)
    weight = rng.integers(0, 3, size=80)
    copies = np.repeat(np.arange(80), weight)
    weighted, repeated = result_of(table, y, weight), result_of(table.iloc[copies], y[copies])
    for one, other in zip(weighted.pairs, repeated.pairs, strict=True):
        assert_allclose(one.p_value, other.p_value, rtol=SUMMED)
    huge = table.assign(a=table["a"] * 1e200, b=table["b"] * 1e-200 + 0.0)
    for one, other in zip(result_of(huge, y).pairs, result_of(table, y).pairs, strict=True):
        assert_allclose(one.p_value, other.p_value, rtol=SUMMED)


def test_too_many_columns_are_refused():
    X, y = np.random.default_rng(0).normal(size=(10, 1001)), np.arange(10) % 2
    with pytest.raises(DataError, match="at most 1,000"):
        NaiveBayes().fit(X, y).independence_test(X, y)
