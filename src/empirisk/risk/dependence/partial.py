"""Partial dependence: the mean prediction over rows in which a feature is set to one value."""

from collections.abc import Iterable, Mapping
from functools import partial
from itertools import product
from typing import Any

import numpy as np
from scipy import stats
from sklearn.utils import _safe_indexing

from empirisk.risk.dependence.answers import Answers, Response
from empirisk.risk.dependence.cautions import cautions_of
from empirisk.risk.dependence.grid import Grid, given_grid, grid_of
from empirisk.risk.dependence.result import PartialDependence
from empirisk.risk.foreign import share_out
from empirisk.risk.importances.features import Features
from empirisk.risk.importances.permuting import with_columns
from empirisk.risk.plans.groups import group_codes, group_labels
from empirisk.runtime.arrays import Floats, Ints
from empirisk.runtime.errors import DataError, ParameterError
from empirisk.runtime.progress import track
from empirisk.runtime.scalars import check_level, is_number, is_whole
from empirisk.runtime.targets import check_weights

Point = tuple[int, ...]


def partial_dependence(
    predictor: Any,
    X: Any,
    features: Any,
    *,
    grid: Mapping[Any, Any] | None = None,
    grid_resolution: int = 50,
    percentiles: tuple[float, float] = (0.05, 0.95),
    individual: bool = False,
    centred: bool = False,
    response_method: Response = "auto",
    sample_weight: Any = None,
    groups: Any = None,
    level: float = 0.95,
    n_jobs: int | None = None,
) -> PartialDependence:
    """How the prediction depends on a feature or two, averaged over the rows (Friedman 2001).

    At each value g of the grid, the feature is set to g in all rows and everything else is left as
    it is; the mean of the predictions is the partial dependence at g. Columns are set as they come,
    categories and dates too, in front of all steps of a pipeline.

    Parameters
    ----------
    predictor : any fitted predictor
        An estimator or pipeline, an object with `predict`, or a function of X.
    X : array, sparse matrix, Table or frame of shape (n, p)
        The rows to average over: those of training, or others like them.
    features : name or number of a column, or two of them
    grid : dict, optional
        The values of a feature, by its name or number, where the default is not wanted; levels of a
        category must be some of the data.
    grid_resolution, percentiles : int, (float, float)
        Numbers and dates are set to all their values if there are no more than so many, else to
        that many weighted quantiles, evenly between these. Categories are set to all their levels.
    individual : bool
        Whether to keep the prediction of each row at each value ("individual conditional
        expectation", Goldstein et al. 2015).
    centred : bool
        Whether each row's predictions are taken less that at the first value of the grid: what
        changes, without the level that differs from row to row.
    response_method : {"auto", "predict_proba", "decision_function", "predict"}
        What is averaged. "auto" takes the probabilities of a classifier if it gives them, else
        its scores, else the share of rows for which it predicts each class.
    sample_weight : array, optional
        A row of weight w counts as w copies in the grid and in the mean.
    groups : array, optional
        Rows that belong together, one independent observation to the standard error.
    level : float
        Of the intervals.
    n_jobs : int, optional
        The result is the same for all.

    Returns
    -------
    PartialDependence

    Notes
    -----
    *The error* is that of the mean over the rows, for the model as it is: it says how far the curve
    would move with other rows from the same population, not with another training set. Intervals
    hold at each value, not for the whole curve at once.

    *Features that go together.* Set alone, one of them makes rows that do not occur, where a model
    has learnt nothing and may say anything. Where a feature is associated with another one by more
    than 0.7 (`correlated_features`), `cautions` says so.

    Missing values are not on the grid; rows that have them are averaged over like others.

    References
    ----------
    J. Friedman (2001), Greedy function approximation: a gradient boosting machine, Annals of
    Statistics 29, 1189-1232.

    A. Goldstein, A. Kapelner, J. Bleich & E. Pitkin (2015), Peeking inside the black box, Journal
    of Computational and Graphical Statistics 24, 44-65.

    Examples
    --------
    >>> import numpy as np
    >>> from empirisk import LinearRegression
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(200, 2))
    >>> model = LinearRegression().fit(X, X @ [2.0, 1.0])
    >>> print(partial_dependence(model, X, 0, grid={0: [-1.0, 0.0, 1.0]}))
    The mean prediction over 200 rows when x0 is set to:
      x0  mean     error  95 % interval
      -1  -1.975   0.071  [-2.116, -1.834]
      0   0.02475  0.071  [-0.116, 0.1655]
      1   2.025    0.071  [1.884, 2.166]
    The intervals cover the choice of the rows, not that of the model, each value for itself.
    """
    _check(grid_resolution, percentiles, level)
    X = with_columns(X)
    weight = check_weights(sample_weight, X.shape[0])
    labels = None if groups is None else group_labels(groups, weight)
    if not (weight > 0).all():
        kept = np.flatnonzero(weight > 0)
        X, weight = _safe_indexing(X, kept), weight[kept]
        labels = None if labels is None else labels[kept]
    unit = group_codes(labels, len(weight))
    if not len(weight):
        raise DataError("X has no row of positive weight: give at least one")
    grids = _grids(X, features, grid, weight, grid_resolution, percentiles)
    answers = Answers.of(predictor, response_method)
    points = list(product(*(range(len(each)) for each in grids)))
    origin = answers(_at(X, grids, points[0])) if centred else None
    work = partial(_summary, answers, X, grids, weight, unit, origin, individual)
    found = share_out(work, track(points, "values"), n_jobs=n_jobs)
    means, errors, said = zip(*found, strict=True)
    shape = (*map(len, grids), len(means[0]))
    mean, error = np.reshape(means, shape), np.reshape(errors, shape)
    curves = np.stack(said, axis=1) if individual else None
    units = len(weight) if unit is None else len(np.unique(unit))
    bounded = answers.is_probability and not centred
    return PartialDependence.of(
        grids,
        mean,
        error,
        None if curves is None else curves.reshape(len(weight), *shape),
        reach=float(stats.t.ppf((1 + level) / 2, units - 1)) if units > 1 else np.nan,
        bounds=(0.0, 1.0) if bounded else (-np.inf, np.inf),
        level=level,
        outputs=answers.outputs(shape[-1]),
        quantity=f"change of {answers.quantity}" if centred else answers.quantity,
        rows=(len(weight), None if unit is None else units),
        cautions=cautions_of(X, grids),
    )


def _at(X: Any, grids: list[Grid], point: Point) -> Any:
    for grid, g in zip(grids, point, strict=True):
        X = grid.set(X, g)
    return X


def _summary(
    answers: Answers,
    X: Any,
    grids: list[Grid],
    weight: Floats,
    unit: Ints | None,
    origin: Floats | None,
    individual: bool,
    point: Point,
) -> tuple[Floats, Floats, Floats | None]:
    """The mean over the rows, its standard error, and the predictions themselves if asked for."""
    said = answers(_at(X, grids, point))
    if origin is not None:
        said = said - origin
    share = weight / weight.sum()
    mean = share @ said
    parts = share[:, None] * (said - mean)
    if unit is not None:
        parts = np.array([np.bincount(unit, column) for column in parts.T]).T
        parts = parts[np.bincount(unit) > 0]
    units = len(parts)
    size = np.abs(parts).max(axis=0, initial=0.0)
    scaled = parts / np.where(size > 0, size, 1.0)  # squares of large numbers do not overflow
    spread = size * np.sqrt((scaled**2).sum(axis=0))
    error = spread * np.sqrt(units / (units - 1)) if units > 1 else np.full(len(mean), np.nan)
    return mean, error, said if individual else None


def _grids(
    X: Any,
    features: Any,
    given: Mapping[Any, Any] | None,
    weight: Floats,
    resolution: int,
    percentiles: tuple[float, float],
) -> list[Grid]:
    alone = isinstance(features, str | int | np.integer)
    if not alone and not isinstance(features, Iterable):
        raise ParameterError(
            f"features is {features!r:.60}; give the name or number of a column, or two of them"
        )
    if not isinstance(given, Mapping | None):
        raise ParameterError(
            f"grid is {given!r:.60}; give a dict from columns to their values, such as "
            "{'age': [20, 40, 60]}"
        )
    asked = Features.of([[features] if alone else list(features)], X)
    (columns,), (names,) = asked.columns, asked.members
    if len(columns) > 2:
        raise ParameterError(
            f"features names {len(columns)} columns; dependence is shown on one or two"
        )
    wanted = {}
    for key, values in (given or {}).items():
        (column,) = Features.of([key], X).columns[0]
        if column not in columns:
            raise ParameterError(f"grid has values for {key!r}, which is not among the features")
        wanted[int(column)] = values
    return [
        given_grid(X, j, name, weight, wanted[j])
        if j in wanted
        else grid_of(X, j, name, weight, resolution, percentiles)
        for j, name in zip(columns.tolist(), names, strict=True)
    ]


def _check(resolution: Any, percentiles: Any, level: float) -> None:
    if not is_whole(resolution, 2):
        raise ParameterError(f"grid_resolution is {resolution!r}; give a whole number from 2")
    two = hasattr(percentiles, "__len__") and len(percentiles) == 2
    shares = two and all(map(is_number, percentiles))
    if not (shares and 0 <= percentiles[0] < percentiles[1] <= 1):
        raise ParameterError(
            f"percentiles is {percentiles!r}; give two shares of the rows, such as (0.05, 0.95)"
        )
    check_level(level)
