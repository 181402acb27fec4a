"""The choice of the number of components of a mixture, by a criterion or by rows held out."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args
from warnings import warn

import numpy as np
from sklearn.base import clone

from empirisk.charts.mixture import draw_number_of_components
from empirisk.learners.density.mixture import Mixture
from empirisk.runtime.arrays import Floats
from empirisk.runtime.errors import ParameterError, RankWarning
from empirisk.runtime.scalars import is_whole
from empirisk.runtime.streams import settled, spawn
from empirisk.runtime.targets import check_weights

Criterion = Literal["bic", "icl", "aic", "held_out"]
WHY = {
    "bic": "the least BIC",
    "icl": "the least ICL",
    "aic": "the least AIC",
    "held_out": "the largest likelihood of rows held out",
}


@dataclass(frozen=True, eq=False)
class NumberOfComponents:
    """A criterion along the number of components. Made by `number_of_components`.

    Attributes
    ----------
    by : str
    values : tuple of int
    score : array
        The criterion at each value, the least of which is best; for "held_out" the mean of
        -log f(x) over rows held out.
    standard_error : array or None
        Of "held_out".
    left_out : tuple of int
        Values that are not chosen while there are others: a component has closed around a few rows,
        and the likelihood, which grows without bound as it does, says nothing.
    n_components : int
        The choice.
    best_estimator_ : the mixture fitted with it
    """

    by: str
    values: tuple[int, ...]
    score: Floats
    standard_error: Floats | None
    left_out: tuple[int, ...]
    n_components: int
    best_estimator_: Any

    def __str__(self) -> str:
        return f"{self.n_components} component(s), by {self.by}: {WHY[self.by]}"

    def plot(self, ax: Any = None) -> Any:
        """The criterion along the number of components but those left out, with the choice."""
        values = np.array(self.values)
        score = np.where(np.isin(values, self.left_out), np.nan, self.score)
        return draw_number_of_components(
            values, score, self.standard_error, self.by, self.n_components,
            ax=ax,
        )  # fmt: skip


def number_of_components(
    estimator: Mixture,
    X: Any,
    values: Sequence[int] = range(1, 10),
    *,
    by: Criterion = "bic",
    sample_weight: Any = None,
    cv: Any = None,
    random_state: Any = None,
    n_jobs: int | None = None,
) -> NumberOfComponents:
    """Choose the number of components of `GaussianMixture` or `PoissonMixture`.

    Parameters
    ----------
    estimator : mixture
    X : array-like of shape (n, p)
    values : sequence of int, increasing
    by : {"bic", "icl", "aic", "held_out"}
        BIC finds the number of components of the density, ICL rather that of groups that are
        apart, AIC and the likelihood of rows held out the best density for new rows.
    sample_weight : array-like of shape (n,), optional
    cv, random_state, n_jobs
        Of "held_out", as in `risk.cross_validate`; a mixture without a random_state of its own is
        seeded by the one given.

    Examples
    --------
    >>> from empirisk import GaussianMixture
    >>> rng = np.random.default_rng(0)
    >>> X = np.concatenate([rng.normal(0, 1, (100, 2)), rng.normal(5, 1, (100, 2))])
    >>> print(number_of_components(GaussianMixture(random_state=0), X, range(1, 5)))
    2 component(s), by bic: the least BIC
    """
    wanted = _checked(estimator, values, by)
    random_state = settled(random_state)
    model = clone(estimator)
    if model.get_params()["random_state"] is None:
        model.set_params(random_state=spawn(random_state, 1)[0] % 2**32)
    if by == "held_out":
        path = model.density_path(
            X, wanted, cv=cv, sample_weight=sample_weight, n_jobs=n_jobs, random_state=random_state
        )
        score, error = path.risk, path.standard_error
        best = int(np.argmin(score))
        fitted = model.set_params(n_components=wanted[best]).fit(X, sample_weight=sample_weight)
        return NumberOfComponents(by, tuple(wanted), score, error, (), wanted[best], fitted)
    rows = model.design(X)
    weight = check_weights(sample_weight, len(rows))
    used = weight > 0
    rows, weight = np.ascontiguousarray(rows[used]), weight[used]
    model._check_parameters()
    prepared = model._prepared(rows, weight)
    densities = model._fit_each(prepared, wanted)
    score = np.array([getattr(each, by)(rows, weight) for each in densities])
    left_out = _left_out(wanted, [each._has_collapsed(prepared) for each in densities])
    best = int(np.argmin(np.where(np.isin(wanted, left_out), np.inf, score)))
    fitted = clone(densities[best]).fit(X, sample_weight=sample_weight)
    return NumberOfComponents(by, tuple(wanted), score, None, left_out, wanted[best], fitted)


def _left_out(values: list[int], collapsed: list[bool]) -> tuple[int, ...]:
    """Those of collapsed mixtures, unless all of them are; said aloud."""
    if all(collapsed) or not any(collapsed):
        return ()
    found = tuple(K for K, closed in zip(values, collapsed, strict=True) if closed)
    warn(
        f"with {', '.join(map(str, found))} components one of them has closed around a few rows, "
        "or rows in a plane: the likelihood says nothing there, and the choice is among the others",
        RankWarning,
        stacklevel=3,
    )
    return found


def _checked(estimator: Any, values: Any, by: Any) -> list[int]:
    """The values, where these arguments are what they should."""
    if by not in get_args(Criterion):
        raise ParameterError(f"by is {by!r}; give one of {get_args(Criterion)}")
    if not isinstance(estimator, Mixture):
        raise ParameterError(
            f"estimator is {estimator!r:.60}; give a GaussianMixture or PoissonMixture: "
            "number_of_clusters is for clusters"
        )
    wanted = list(values) if isinstance(values, Iterable) else []
    if not wanted or not all(is_whole(K, 1) for K in wanted) or sorted(set(wanted)) != wanted:
        raise ParameterError(
            f"values are {values!r}; give whole numbers >= 1, increasing, such as range(1, 10)"
        )
    return wanted
