"""Naive Bayes at several smoothings from one training set."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.base import clone

from empirisk.learners.generative.bayes_rule import BayesRule, ClassStatistics
from empirisk.learners.generative.column_distributions import Smoothing
from empirisk.learners.generative.discriminants import decide
from empirisk.learners.generative.mixed_rows import ColumnBlock, MixedRows
from empirisk.risk.axis import Output, Path
from empirisk.runtime.arrays import Array, Floats


class BayesRules:
    """Bayes' rule at several smoothings; what does not depend on them is there once."""

    def __init__(
        self,
        blocks: tuple[ColumnBlock, ...],
        statistics: ClassStatistics,
        priors: Floats | None,
        smoothings: Sequence[Smoothing],
    ) -> None:
        self.rules = [BayesRule.learned(blocks, statistics, priors, how) for how in smoothings]
        first = self.rules[0]
        smoothed = [distribution.smoothed for distribution in first.distributions]
        self.common = _part(first, [not own for own in smoothed])
        self.own = [_part(rule, smoothed) for rule in self.rules]

    def values(self, X: Floats) -> Floats:
        """f_k at the rows of X: (rows, K, smoothings)."""
        common = self.common.log_likelihoods(X)
        values = np.empty((*common.shape, len(self.rules)))
        for v, (rule, own) in enumerate(zip(self.rules, self.own, strict=True)):
            own_values = rule.log_prior + common + own.log_likelihoods(X)
            values[:, :, v] = rule.made_possible(own_values, X)
        return values

    def predict(self, X: Floats, output: Output) -> Array:
        """Class codes (rows, smoothings), or probabilities (rows, smoothings, K)."""
        return decide(self.values(X), output)


def _part(rule: BayesRule, kept: Sequence[bool]) -> BayesRule:
    """A rule of some of its blocks."""
    places = [b for b, keep in enumerate(kept) if keep]
    return BayesRule(
        rule.log_prior,
        tuple(rule.blocks[b] for b in places),
        tuple(rule.distributions[b] for b in places),
    )


class BayesPath(Path):
    """Naive Bayes fitted at all values of its smoothing."""

    def __init__(
        self,
        learner: Any,
        rows: MixedRows,
        statistics: ClassStatistics,
        values: Sequence[Any],
        priors: Floats | None,
        smoothings: Sequence[Smoothing],
    ) -> None:
        self.learner, self.rows, self.statistics = learner, rows, statistics
        self.values, self.priors, self.smoothings = values, priors, smoothings
        self.rules = BayesRules(rows.blocks, statistics, priors, smoothings)

    def predict_path(self, X: Any, output: Output) -> Array:
        return self.rules.predict(X.X, output)

    def at(self, j: int) -> Any:
        learner = clone(self.learner).set_params(alpha=self.values[j])
        learner.n_features_in_ = self.rows.shape[1]
        return self.write(j, learner, np.arange(len(self.statistics.rows)))

    def write(self, j: int, learner: Any, classes: Array) -> Any:
        """The fitted attributes at the j-th smoothing."""
        learner._learned(
            self.rows.columns, self.rows.blocks, classes, self.statistics, self.smoothings[j]
        )
        return learner
