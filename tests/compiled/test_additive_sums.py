"""Compiled rounds of boosting beside their Python originals."""

import numpy as np
from numpy.testing import assert_allclose, assert_array_equal

from empirisk import LogitBoostClassifier
from empirisk.compiled.boosting.additive_sums import add_stages
from empirisk.compiled.boosting.columns import boost_columns, trace_of_hats
from tolerances import LAST_BITS, SUMMED


def unit_columns(n=12, p=5, seed=0):
    Z = np.random.default_rng(seed).normal(size=(n, p))
    Z -= Z.mean(axis=0)
    return Z / np.sqrt((Z**2).sum(axis=0))


def boosted(kernel, known):
    Z, y = unit_columns(), np.random.default_rng(1).normal(size=12)
    place = np.where(np.isin(np.arange(5), known), np.arange(5), -1)
    selected, steps, correlation = np.zeros(9, np.int64), np.zeros(9), y @ Z
    ending = kernel(Z.T @ Z, place, correlation, 0.3, 0.0, selected, steps, 0)
    return ending, selected, steps, correlation, Z, y


def test_rounds_stop_where_products_are_not_known():
    for kernel in (boost_columns, boost_columns.py_func):
        ending, selected, steps, correlation, Z, y = boosted(kernel, range(5))
        assert tuple(ending) == (9, 2)
        left = y - Z @ np.bincount(selected, steps, minlength=5)
        assert_allclose(correlation, left @ Z, rtol=SUMMED, atol=LAST_BITS)
        rare = selected[-1]
        first = int(np.flatnonzero(selected == rare)[0])
        ending, again, *_ = boosted(kernel, [j for j in range(5) if j != rare])
        assert tuple(ending) == (first, 1)
        assert_array_equal(again[: first + 1], selected[: first + 1])


def test_rounds_end_where_no_correlation_is_above_the_least():
    for kernel in (boost_columns, boost_columns.py_func):
        selected, steps = np.zeros(4, np.int64), np.zeros(4)
        correlation = np.array([0.5, -0.25])
        ending = kernel(np.eye(2), np.arange(2), correlation, 1.0, 0.3, selected, steps, 0)
        assert tuple(ending) == (1, 0)
        assert_array_equal(correlation, [0.0, -0.25])


def test_traces_are_those_of_products_of_matrices():
    Z = unit_columns()
    selected = np.array([0, 1, 0, 2, 1, 1, 2, 0, 3])
    left, expected = np.eye(12), [0.0]
    for a in selected:
        left = (np.eye(12) - 0.4 * np.outer(Z[:, a], Z[:, a])) @ left
        expected.append(12 - np.trace(left))
    for kernel in (trace_of_hats, trace_of_hats.py_func):
        trace = np.zeros(10)
        gram = np.ascontiguousarray((Z.T @ Z)[:4, :4])
        kernel(gram, selected, 0.4, np.zeros((4, 4)), trace)
        assert_allclose(trace, expected, rtol=SUMMED, atol=LAST_BITS)


def test_stages_are_added_column_by_column():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(30, 2)), rng.integers(0, 3, size=30)
    model = LogitBoostClassifier(n_estimators=2).fit(X, y)
    trees, weights = model.stages_.trees, rng.uniform(1, 2, size=6)
    expected = np.zeros((30, 3))
    for b, member in enumerate(model.estimators_):
        expected[:, b % 3] += weights[b] * member.predict(X)
    for kernel in (add_stages, add_stages.py_func):
        total = np.zeros((30, 3))
        arrays = (*trees._walks(), trees.first_node, trees.first_subset, trees.first_leaf)
        kernel(*arrays, trees.value, weights, X, np.empty(30, np.int32), 0, 6, total)
        assert_allclose(total, expected, rtol=LAST_BITS)
