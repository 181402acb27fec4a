"""On which feature, and where, a tree splits first: how stable that is over resamples."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from empirisk.charts.first_split import draw_shares, draw_thresholds
from empirisk.risk.foreign import fit_foreign, share_out
from empirisk.risk.learner import learner_of
from empirisk.risk.predictor import columns_behind, name_of
from empirisk.risk.problem import Problem
from empirisk.risk.resampling.row_counts import row_counts
from empirisk.runtime.arrays import Floats, Ints
from empirisk.runtime.deadlines import check_deadline
from empirisk.runtime.digits import give_or_take
from empirisk.runtime.errors import ParameterError
from empirisk.runtime.progress import track
from empirisk.runtime.scalars import is_whole
from empirisk.runtime.streams import spawn

NONE = "no split"
SPREAD = (0.05, 0.5, 0.95)
Root = tuple[int, float]
"""Feature, -1 where there is no split, and threshold, NaN where the split is by categories."""


@dataclass(frozen=True, eq=False)
class FirstSplit:
    """The first splits of the trees of many resamples.

    Attributes
    ----------
    features : list of str
        On which some tree splits first, the most frequent one first; "no split" where a tree is
        but a leaf.
    shares, standard_errors : array
        In which share of the resamples, with its Monte Carlo error.
    thresholds : dict of str to array
        Where, in order; splits by categories have none.
    spread : dict of str to tuple of float
        The 5 %, 50 % and 95 % quantiles of these.
    on_all : str or None
        The feature of the tree of all rows; None of a fitted ensemble, which has no such tree.
    on_all_threshold : float or None
        Where it splits; None by categories.
    n_trees : int
    learner, setting : str

    Examples
    --------
    >>> import numpy as np
    >>> from empirisk import DecisionTreeRegressor, risk
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(100, 2))
    >>> y = np.sign(X[:, 0]) + rng.normal(size=100)
    >>> found = risk.first_split(DecisionTreeRegressor(max_depth=1), X, y, random_state=0)
    >>> found.features[0], bool(found.shares[0] > 0.9), found.n_trees
    ('x0', True, 200)
    """

    features: list[str]
    shares: Floats
    standard_errors: Floats
    thresholds: dict[str, Floats]
    spread: dict[str, tuple[float, float, float]]
    on_all: str | None
    on_all_threshold: float | None
    n_trees: int
    learner: str
    setting: str

    @property
    def sentence(self) -> str:
        """The findings in words that can be read out."""
        name, share = self.features[0], 100 * self.shares[0]
        said = "do not split" if name == NONE else f"split first on {name}"
        if name in self.spread:
            low, middle, high = self.spread[name]
            said += f" (at {middle:.4g}, most from {low:.4g} to {high:.4g})"
        others = len(self.features) - 1
        beside = f", the others on {others} more" if others else ""
        agree = give_or_take(share, 100 * self.standard_errors[0])
        text = f"Of {self.n_trees} {self.setting}, {agree} % {said}{beside}"
        if self.on_all is None:
            return f"{text}."
        at = "" if self.on_all_threshold is None else f" at {self.on_all_threshold:.4g}"
        same = self.shares[self.features.index(self.on_all)] if self.on_all in self.features else 0
        return (
            f"{text}; the tree of all rows has {self.on_all}{at}, and {100 * same:.3g} % agree on "
            "the feature."
        )

    def __str__(self) -> str:
        width = max(len(name) for name in self.features)
        lines = [self.sentence]
        for name, share, error in zip(
            self.features, self.shares, self.standard_errors, strict=True
        ):
            line = f"  {name:{width}}  {100 * share:5.1f} ± {100 * error:.1f} %"
            if name in self.spread:
                low, middle, high = self.spread[name]
                line += f"  at {middle:.4g} ({low:.4g} to {high:.4g})"
            lines.append(line)
        return "\n".join(lines)

    def plot(self, ax: Any = None) -> Any:
        """The share of each feature, with its Monte Carlo error."""
        return draw_shares(self.features, self.shares, self.standard_errors, ax=ax)

    def plot_thresholds(self, feature: str | None = None, ax: Any = None) -> Any:
        """Where the trees split first that do so on this feature; the most frequent one if None."""
        if feature is None:
            feature = next((name for name in self.features if name in self.spread), None)
        if feature is None or feature not in self.spread:
            raise ParameterError(
                f"feature is {feature!r}, on which no tree splits first at a threshold; give one "
                f"of {list(self.spread)}"
            )
        at = self.on_all_threshold if feature == self.on_all else None
        return draw_thresholds(self.thresholds[feature], at, label=feature, ax=ax)


def first_split(
    learner: Any,
    X: Any,
    y: Any,
    *,
    n_resamples: int = 200,
    sample_weight: Any = None,
    groups: Any = None,
    n_jobs: int | None = None,
    random_state: Any = None,
) -> FirstSplit:
    """The instability of a tree at its root: feature and threshold over bootstrap resamples.

    Parameters
    ----------
    learner : tree learner, or a Pipeline that ends with one; or a fitted ensemble of trees
        Ours or scikit-learn's. A tree is fitted to resamples of the rows; of a bagged ensemble or
        a random forest that is fitted already, the trees at hand are taken.
    X, y
        The rows; of a fitted ensemble, X gives the names of the features.
    n_resamples : int
        How many trees are fitted; a fitted ensemble has its own number.
    sample_weight, groups
        With groups, groups are drawn as a whole.
    n_jobs, random_state

    Returns
    -------
    FirstSplit

    Examples
    --------
    >>> from empirisk import DecisionTreeRegressor
    >>> from sklearn.datasets import load_diabetes
    >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
    >>> print(first_split(DecisionTreeRegressor(max_depth=1), X, y, random_state=0))
    Of 200 trees of resamples, 6... ± 3 % split first on s5 (at ..., most from ... to ...), the
    others on 1 more; the tree of all rows has s5 at -0.0..., and 6... % agree on the feature.
      s5    6... ± 3... %  at ...
      bmi   3... ± 3... %  at ...
    """
    name = name_of(learner_of(learner))
    if hasattr(learner, "estimators_"):
        roots = _roots_of_ensemble(learner)
        names = columns_behind(learner, learner.n_features_in_, X)
        return _result(roots, None, names, name, f"trees of {name}")
    if not is_whole(n_resamples, 1):
        raise ParameterError(f"n_resamples is {n_resamples!r}; give 1 or more, such as 200")
    problem = Problem.of(learner, X, y, sample_weight=sample_weight, groups=groups)
    of_all, *seeds = spawn(random_state, n_resamples + 1)
    model = fit_foreign(learner, problem, of_all)
    on_all = _root(model)  # refuses what is no tree at once
    work = partial(_root_of_resample, learner, problem)
    roots = share_out(work, track(seeds, "resamples"), n_jobs=n_jobs)
    names = columns_behind(model, learner_of(model).n_features_in_, X)
    return _result(roots, on_all, names, name, "trees of resamples")


def _root_of_resample(learner: Any, problem: Problem, seed: int) -> Root:
    check_deadline()
    drawn = problem.rows(np.repeat(np.arange(problem.n), row_counts(problem, seed)))
    return _root(fit_foreign(learner, drawn, spawn(seed, 1)[0]))


def _roots_of_ensemble(ensemble: Any) -> list[Root]:
    """Of the trees of a fitted ensemble, in terms of its own features."""
    columns: Sequence[Ints] | None = getattr(ensemble, "estimators_features_", None)
    found = []
    for b, member in enumerate(np.ravel(ensemble.estimators_)):
        feature, threshold = _root(member)
        if columns is not None and feature >= 0:
            feature = int(columns[b][feature])
        found.append((feature, threshold))
    return found


def _root(model: Any) -> Root:
    tree = getattr(learner_of(model), "tree_", None)
    if tree is None:
        raise ParameterError(
            f"{name_of(model)} has no tree_ with a first split: give a DecisionTreeClassifier, a "
            "DecisionTreeRegressor, or a fitted ensemble of those"
        )
    feature = int(tree.feature[0])
    return (feature, float(tree.threshold[0])) if feature >= 0 else (-1, np.nan)


def _result(
    roots: list[Root], on_all: Root | None, names: list[str], learner: str, setting: str
) -> FirstSplit:
    def named(feature: int) -> str:
        return NONE if feature < 0 else names[feature]

    B = len(roots)
    feature = np.array([root[0] for root in roots])
    threshold = np.array([root[1] for root in roots])
    values, counts = np.unique(feature, return_counts=True)
    order = np.argsort(-counts, kind="stable")
    shares = counts[order] / B
    cuts = {named(int(f)): np.sort(threshold[feature == f]) for f in values[order] if f >= 0}
    cuts = {name: at[~np.isnan(at)] for name, at in cuts.items()}
    spread = {
        name: tuple(float(q) for q in np.quantile(at, SPREAD))
        for name, at in cuts.items()
        if len(at)
    }
    return FirstSplit(
        features=[named(int(f)) for f in values[order]],
        shares=shares,
        standard_errors=np.sqrt(shares * (1 - shares) / B),
        thresholds=cuts,
        spread=spread,  # type: ignore[arg-type]  # three numbers each
        on_all=None if on_all is None else named(on_all[0]),
        on_all_threshold=None if on_all is None or np.isnan(on_all[1]) else on_all[1],
        n_trees=B,
        learner=learner,
        setting=setting,
    )
