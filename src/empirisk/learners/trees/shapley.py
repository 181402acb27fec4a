"""Shapley values: what each feature adds to each prediction of a tree or of a sum of trees."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from empirisk.data.table import Table
from empirisk.data.table_door import check_places
from empirisk.learners.trees.shap_result import ShapValues
from empirisk.learners.trees.tree_sums import SumOfTrees
from empirisk.runtime.conversion import dense
from empirisk.runtime.errors import ParameterError


def shap_values(model: Any, X: Any, *, n_jobs: int | None = None) -> ShapValues:
    """What each feature adds to the prediction of each row (Lundberg et al. 2020).

    The Shapley value of feature j at a row x is the mean, over all orders in which the features of
    x may become known, of how much the expected prediction changes when x_j does. What a tree is
    expected to say when only the features in S are known is the mean over the walks that follow x
    at splits by features in S and go both ways, by the weight of the training rows, at the others
    ("path-dependent"). Base value and values of a row add up to its prediction.

    Parameters
    ----------
    model : fitted tree, forest or `HistGradientBoosting` of this library
        Or a `Tuned` of one; no linear tree, whose leaves are not constant. Of a classifier,
        probabilities are explained; of boosted trees, the raw scores, such as log-odds.
    X : array-like, sparse matrix or frame of shape (n, p)
        As the model takes it: categories and missing values go their way in the trees.
    n_jobs : int, optional
        The result is the same for all.

    Returns
    -------
    ShapValues

    Notes
    -----
    A value says what the *model* makes of a feature, not what the feature causes. Of two features
    that go together the trees may use either, and the values are shared out accordingly. A feature
    that no tree splits by has the value 0. Values add up over trees: those of a bag of
    trees on all columns are the means over its `estimators_`.

    The sum over all sets of features is exact, up to rounding, in a number of steps proportional to
    the leaves times half the largest number of features on a path, for each row and tree: see
    `empirisk.compiled.trees.shapley`.

    References
    ----------
    S. Lundberg et al. (2020), From local explanations to global understanding with explainable AI
    for trees, Nature Machine Intelligence 2, 56-67.

    G. Owen (1972), Multilinear extensions of games, Management Science 18, 64-79.

    Examples
    --------
    >>> from empirisk import DecisionTreeRegressor
    >>> X = [[0, 0], [0, 1], [1, 0], [1, 1]]
    >>> tree = DecisionTreeRegressor().fit(X, [0.0, 0.0, 0.0, 8.0])  # 8 x0 x1
    >>> found = shap_values(tree, [[1, 1], [1, 0]])
    >>> found.base_value, found.values
    (2.0, array([[ 3.,  3.],
           [ 1., -3.]]))
    >>> found.predictions
    array([8., 0.])
    """
    learner = _explainable(model)
    check_is_fitted(learner)
    places = check_places(learner, X)
    sums = learner._tree_sums()
    values, base = sums.shapley_values(places, n_jobs=n_jobs)
    labels: Sequence[Any] | None = None
    if sums.mirrored:
        values, base = np.concatenate([-values, values], axis=2), np.append(1.0 - base, base)
    if len(base) > 1:
        labels = getattr(learner, "classes_", np.arange(len(base))).tolist()
    names = tuple(str(column.name) for column in learner.columns_)
    one = len(base) == 1
    return ShapValues(
        values=values[:, :, 0] if one else values,
        base_value=float(base[0]) if one else base,
        feature_names=names,
        data=_named(dense(X, learner), names),
        outputs=None if labels is None else tuple(labels),
        quantity=sums.quantity,
    )


def _explainable(model: Any) -> SumOfTrees:
    """The learner whose predictions are sums over trees."""
    while hasattr(model, "best_estimator_"):
        model = model.best_estimator_
    if isinstance(model, Pipeline):
        raise ParameterError(
            "the model is a Pipeline, whose trees see the columns that its steps make: give its "
            "last step, and X as the steps before it turn it out (model[:-1].transform(X))"
        )
    if not hasattr(model, "_tree_sums"):
        raise ParameterError(
            f"{type(model).__name__} is no sum of trees that shap_values knows: give a fitted "
            "DecisionTree, RandomForest or HistGradientBoosting of this library; "
            "risk.partial_dependence and risk.importance take any predictor"
        )
    return model


def _named(X: Any, names: tuple[str, ...]) -> Table:
    """The rows as a table with the names that the model knows."""
    table = Table.of(X)
    if set(names) <= set(table.names):
        return table.select(names)
    return Table([replace(c, name=n) for c, n in zip(table.columns, names, strict=True)])
