"""Bias and variance of a density estimate: at each x, and integrated over a grid.

E integral (f_D(x) - f(x))^2 dx = integral (E f_D(x) - f(x))^2 dx + integral Var f_D(x) dx.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, ClassVar

import numpy as np
from sklearn.base import clone

from empirisk.risk.axis import Axis, PathMixin
from empirisk.risk.decomposition.density_grid import bulk, grid_around, grid_of, mass_in_words
from empirisk.risk.decomposition.group_sums import check_number_of_sets, in_time, sum_in_groups
from empirisk.risk.decomposition.parts import Parts
from empirisk.risk.decomposition.path import DecompositionPath, checked_axis, checked_values
from empirisk.risk.decomposition.points import JudgedAt
from empirisk.risk.decomposition.squared import SquaredAccounts, SquaredDecomposition
from empirisk.risk.foreign import at_value, seeded
from empirisk.risk.learner import declared_axis
from empirisk.runtime.arrays import Array, Floats
from empirisk.runtime.errors import DataError, ParameterError
from empirisk.runtime.scalars import check_whole
from empirisk.runtime.streams import generator, spawn

DRAWS = 10_000


@dataclass(frozen=True, eq=False)
class DensityDecomposition(SquaredDecomposition):
    """Mean integrated squared error = integrated squared bias + integrated variance.

    `parts` and `standard_error` have "bias_squared", "variance" and "total"; `pointwise` also
    "mean_prediction", the mean estimate, and "truth". There is no noise.
    """

    summands: ClassVar[tuple[str, ...]] = ("bias_squared", "variance")
    words: ClassVar[dict[str, str]] = {
        "risk": "integrated squared error",
        "bias_squared": "squared bias",
        "variance": "variance",
        "total": "total",
        "prediction": "density",
    }

    @property
    def noise(self) -> float:
        raise AttributeError("a density is estimated, not a target: there is no noise")

    def plot_pointwise(self, ax: Any = None) -> Any:
        """The summands and the total against x, for one feature, over the bulk of the density."""
        return self._over_bulk(super().plot_pointwise(ax))

    def plot_predictions(self, ax: Any = None) -> Any:
        """The mean estimate against x, with one standard deviation, beside the true density."""
        return self._over_bulk(super().plot_predictions(ax))

    def _over_bulk(self, ax: Any) -> Any:
        ax.set_xlim(*bulk(self.one_feature(), self.pointwise["truth"]))
        return ax

    @property
    def sentence(self) -> str:
        said = " + ".join(self._said(name) for name in self.summands)
        return (
            f"The mean integrated squared error of {self.learner} is {self.total:.4g} = {said} "
            f"({self.setting})."
        )


def density_bias_variance(
    estimator: Any,
    density: Any,
    n: int,
    *,
    grid: Any = None,
    n_sets: int = 200,
    n_jobs: int | None = None,
    random_state: Any = None,
) -> DensityDecomposition:
    """The mean integrated squared error of a density estimate, taken apart.

    Parameters
    ----------
    estimator : object with `fit` and `score_samples` (log density) or `pdf`
    density : object with `rvs(size=, random_state=)` and `pdf(x)`
        The true density: a frozen distribution of `scipy.stats`, or one of your own.
    n : int
        Rows of each sample.
    grid : array, or list of arrays, optional
        The coordinates of a grid, a vector for each feature. By default one over the bulk of the
        density, for up to three features; that of one feature also follows its peaks and tails.
    n_sets : int
        How many samples are drawn.
    n_jobs : int, optional
    random_state : None, int, RandomState or Generator

    Examples
    --------
    >>> from scipy import stats
    >>> from sklearn.neighbors import KernelDensity
    >>> print(density_bias_variance(KernelDensity(), stats.norm(), 50, n_sets=50, random_state=0))
    The mean integrated squared error of KernelDensity is 0.02... = squared bias 0.02... ± ... +
    variance 0.00... ± ... (50 samples of 50 rows, a grid of 1403 points with 100 % of the mass).
    """
    return _decomposed(estimator, None, (None,), density, n, grid, n_sets, n_jobs, random_state)[0]


def decompose_density_path(
    estimator: Any,
    values: Sequence[Any],
    density: Any,
    n: int,
    *,
    axis: Axis | None = None,
    grid: Any = None,
    n_sets: int = 200,
    n_jobs: int | None = None,
    random_state: Any = None,
) -> DecompositionPath:
    """`density_bias_variance` at all values of an axis, on the same samples.

    Parameters
    ----------
    estimator, density, n, grid, n_sets, n_jobs, random_state
        As in `density_bias_variance`.
    values : sequence
    axis : Axis, optional
        Along which parameter; an estimator of this library declares it.

    Examples
    --------
    >>> from scipy import stats
    >>> from sklearn.neighbors import KernelDensity
    >>> path = decompose_density_path(
    ...     KernelDensity(), [0.05, 0.4, 2.0], stats.norm(), 50, n_sets=20, random_state=0,
    ...     axis=Axis(("bandwidth",), larger="simpler", scale="log"),
    ... )
    >>> path.best_value
    0.4
    """
    axis = declared_axis(estimator) if axis is None else axis
    if axis is None:
        raise ParameterError(
            f"{type(estimator).__name__} declares no axis: give "
            "axis=Axis(('bandwidth',), 'simpler', 'log')"
        )
    _refuse_no_density(estimator)
    axis, values = checked_axis(estimator, axis), checked_values(values)
    found = _decomposed(estimator, axis, values, density, n, grid, n_sets, n_jobs, random_state)
    return DecompositionPath(tuple(found), tuple(values), axis)


def _decomposed(
    estimator: Any,
    axis: Axis | None,
    values: Sequence[Any],
    density: Any,
    n: int,
    given: Any,
    n_sets: int,
    n_jobs: int | None,
    random_state: Any,
) -> list[Any]:
    check_number_of_sets(n_sets, "n_sets")
    check_whole(n, "n", 1)
    _refuse_no_density(estimator)
    if not (hasattr(density, "rvs") and hasattr(density, "pdf")):
        raise ParameterError(
            f"density is {density!r:.60}; wanted the true one, with rvs and pdf, such as "
            "scipy.stats.norm()"
        )
    of_grid, *seeds = spawn(random_state, n_sets + 1)
    grid = grid_around(_draw(density, DRAWS, of_grid)) if given is None else grid_of(given)
    truth, volume = _pdf(density.pdf, grid.points), grid.volume.sum()
    mass = mass_in_words(grid, truth, chosen=given is not None)
    estimates = partial(_estimates, estimator, axis, values, density, n, grid.points)
    foreign = not isinstance(estimator, PathMixin)
    pilot = in_time(estimates, foreign)(seeds[0])
    accounts = _Accounts(truth, np.zeros(len(truth)), pilot)
    summary = partial(_summary, accounts, estimates)
    sums = sum_in_groups(summary, seeds, what="samples", foreign=foreign, n_jobs=n_jobs)
    at = JudgedAt(grid.points, grid.volume / volume, None, drawn=False)
    parts = Parts.of(sums, accounts, at)
    integrals = replace(
        parts,
        mean={name: mean * volume for name, mean in parts.mean.items() if name != "noise"},
        error={name: error * volume for name, error in parts.error.items() if name != "noise"},
    )
    setting = f"{n_sets} samples of {n} rows, a grid of {len(truth)} points with {mass}"
    told = {"learner": type(estimator).__name__, "setting": setting}
    return [accounts.result(integrals, j, **told) for j in range(len(values))]


def _refuse_no_density(estimator: Any) -> None:
    fitting = hasattr(estimator, "fit") and hasattr(estimator, "get_params")
    if isinstance(estimator, type) or not fitting:
        raise ParameterError(
            f"the estimator is {estimator!r:.60}; give one that can be fitted and has "
            "score_samples or pdf, such as KernelDensity()"
        )


class _Accounts(SquaredAccounts):
    result_class = DensityDecomposition


def _summary(accounts: SquaredAccounts, estimates: Any, seed: int) -> Array:
    return accounts.summarise(estimates(seed))


def _estimates(
    estimator: Any,
    axis: Axis | None,
    values: Sequence[Any],
    density: Any,
    n: int,
    points: Floats,
    seed: int,
) -> Floats:
    """The estimates of one sample on the grid, a column for each value."""
    X = _draw(density, n, seed)
    inner = spawn(seed, 1)[0]
    columns = []
    for value in values:
        model = seeded(clone(at_value(estimator, axis, value)), inner).fit(X)
        if hasattr(model, "pdf"):
            columns.append(_pdf(model.pdf, points))
        else:
            columns.append(np.exp(_pdf(model.score_samples, points, logarithm=True)))
    return np.stack(columns, axis=1)


def _draw(density: Any, n: int, seed: int) -> Floats:
    return np.asarray(density.rvs(size=n, random_state=generator(seed)), float).reshape(n, -1)


def _pdf(function: Any, points: Floats, *, logarithm: bool = False) -> Floats:
    """Values at the points; a log density may be minus infinity."""
    values = np.asarray(function(points), dtype=float)
    if values.size != len(points):
        raise DataError(
            f"a density gave {values.shape} numbers for {len(points)} points; wanted one for each"
        )
    values = values.reshape(len(points))
    if not (np.isfinite(values) | (logarithm & np.isneginf(values))).all():
        raise DataError("a density is NaN or infinite on the grid; give a grid that avoids it")
    return values
