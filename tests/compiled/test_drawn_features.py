"""The features that a node of histogram boosting looks at: as many as asked for, drawn anew."""

from types import SimpleNamespace

import numpy as np
import pytest
from scipy import stats

from empirisk.compiled.boosting.choosing import draw_features

ERROR_PROBABILITY = 1e-6  # of each statistical test here; the seeds are fixed, so once for all


def drawn(n_drawn, p=6, node=0, seed=0, groups=(), active=()):
    """The features that are looked at in a node."""
    members = np.array([[j in group for j in range(p)] for group in groups], np.uint8)
    in_reach = np.zeros((node + 1, max(len(groups), 1)), np.uint8)
    in_reach[node, list(active)] = 1
    chosen = np.full(p, 7, np.uint8)
    rules = SimpleNamespace(n_groups=len(groups), n_drawn=n_drawn)
    draw_features(rules, node, in_reach, members, np.zeros(p, np.int64), chosen, seed)
    assert set(chosen) <= {0, 1}
    return np.flatnonzero(chosen).tolist()


@pytest.mark.parametrize("wanted", range(1, 7))
def test_each_node_draws_as_many_features_as_asked_for(wanted):
    for node in range(20):
        assert len(drawn(wanted, node=node)) == wanted


def test_every_set_of_features_is_drawn_equally_often():
    for by in ("node", "seed"):
        counts: dict[tuple, int] = {}
        for k in range(3000):
            some = tuple(drawn(2, p=4, **{by: k}))
            counts[some] = counts.get(some, 0) + 1
        assert len(counts) == 6
        assert stats.chisquare(list(counts.values())).pvalue > ERROR_PROBABILITY


def test_draws_of_neighbouring_nodes_are_independent():
    pairs = np.zeros((4, 4))
    for node in range(0, 4000, 2):
        (a,), (b,) = drawn(1, p=4, node=node), drawn(1, p=4, node=node + 1)
        pairs[a, b] += 1
    assert stats.chi2_contingency(pairs).pvalue > ERROR_PROBABILITY


def test_features_are_drawn_from_the_groups_that_a_node_may_still_use():
    groups = [{0, 1}, {1, 2, 3}, {4, 5}]
    assert drawn(6, groups=groups, active=[0]) == [0, 1]
    assert drawn(6, groups=groups, active=[0, 1], node=3) == [0, 1, 2, 3]
    assert drawn(6, groups=groups, active=[]) == []
    seen = [drawn(2, groups=groups, active=[1], node=node) for node in range(40)]
    assert {len(some) for some in seen} == {2}
    assert {j for some in seen for j in some} == {1, 2, 3}
