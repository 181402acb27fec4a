"""The risk of a fitted predictor on new rows; of a procedure by hold-out or cross-validation."""

from typing import Any

import numpy as np
from sklearn.base import is_classifier
from sklearn.model_selection import LeaveOneOut

from empirisk.losses import Loss
from empirisk.risk.estimate import RiskEstimate
from empirisk.risk.fingerprints import data_key
from empirisk.risk.foreign import foreign_prediction
from empirisk.risk.loss_table import LossTable
from empirisk.risk.out_of_fold import out_of_fold
from empirisk.risk.problem import Problem
from empirisk.runtime.streams import settled


def evaluate(
    predictor: Any,
    X: Any,
    y: Any,
    *,
    loss: Loss | str | None = None,
    sample_weight: Any = None,
    groups: Any = None,
    level: float = 0.95,
    method: str = "auto",
) -> RiskEstimate:
    """The risk of a fitted predictor on rows it has not seen.

    Parameters
    ----------
    predictor : fitted estimator
        Ours or any with scikit-learn's `predict` (and `predict_proba` where the loss needs it).
    X, y : rows that took no part in fitting or choosing the predictor
    loss : Loss or str, optional
        "squared" for a regressor and "zero_one" for a classifier unless given.
    sample_weight, groups : arrays, optional
        A group is one independent observation.
    level : float
        Of the confidence interval.
    method : str
        How the interval is found; "auto" takes the one that is valid: that of Clopper and Pearson
        for losses of 0 or 1, one on the log scale for other losses.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.linear_model import LinearRegression
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(300, 1))
    >>> y = X[:, 0] + rng.normal(size=300)
    >>> model = LinearRegression().fit(X[:100], y[:100])
    >>> print(evaluate(model, X[100:], y[100:]))
    The squared risk of this model is 1.015, 95 % interval 0.8139 to 1.267 ...
    """
    problem = Problem.of(
        predictor,
        X,
        y,
        loss=loss,
        sample_weight=sample_weight,
        groups=groups,
        classes=getattr(predictor, "classes_", None) if is_classifier(predictor) else None,
    )
    prediction = foreign_prediction(predictor, problem.X, problem, problem.loss.output)
    rows = np.arange(problem.n)
    table = LossTable(
        losses=problem.losses(rows, prediction[:, None])[:, 0],
        weight=problem.weight,
        unit=rows if problem.groups is None else np.unique(problem.groups, return_inverse=True)[1],
        split=np.zeros(problem.n, dtype=np.int64),
        n_train=np.inf,
        kind="test",
        bounds=problem.loss.bounds,
    )
    return RiskEstimate.of(
        table,
        loss=str(problem.loss),
        estimates="this model",
        fingerprint=data_key(y, sample_weight, groups),
        level=level,
        method=method,
    )


def cross_validate(
    estimator: Any,
    X: Any,
    y: Any,
    *,
    cv: Any = None,
    loss: Loss | str | None = None,
    sample_weight: Any = None,
    groups: Any = None,
    level: float = 0.95,
    method: str = "auto",
    n_jobs: int | None = None,
    random_state: Any = None,
) -> RiskEstimate:
    """The risk of a procedure by cross-validation: the mean loss of rows held out once each.

    Parameters
    ----------
    estimator : estimator or Pipeline
        As it is; a `Tuned` is tuned anew in every training part.
    X, y, sample_weight, groups
        A row of weight w counts as w copies; a group is never on both sides of a split.
    cv : None, int, splitter, splits or Plan
        See `Plan.of`; None is ten shuffled folds, stratified for a classifier.
    loss, level
        As in `evaluate`.
    method : str
        How the interval is found. "auto" takes the error of independent rows times a factor for
        the training rows that the folds share (see `empirisk.risk.intervals`). By name also
        "per_row_normal" and "corrected_t", and, fitting many times more, "nested" (nested
        cross-validation, which moves the value too) and "conservative_z".
    n_jobs, random_state

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.linear_model import LinearRegression
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(200, 1))
    >>> y = X[:, 0] + rng.normal(size=200)
    >>> print(cross_validate(LinearRegression(), X, y))
    The squared risk of the procedure at this n is ..., 95 % interval ...
    """
    problem = Problem.of(estimator, X, y, loss=loss, sample_weight=sample_weight, groups=groups)
    random_state = settled(random_state)
    plan = problem.plan(cv, random_state=random_state)
    losses = out_of_fold(estimator, problem, plan, n_jobs=n_jobs, random_state=random_state)
    return losses.estimate(0, method, level=level)


def leave_one_out(estimator: Any, X: Any, y: Any, **options: Any) -> RiskEstimate:
    """`cross_validate` with each row held out alone; exact from one fit for many learners here."""
    return cross_validate(estimator, X, y, cv=LeaveOneOut(), **options)


def nested_cross_validate(estimator: Any, X: Any, y: Any, **options: Any) -> RiskEstimate:
    """`cross_validate` with its error by nested cross-validation, which also corrects the value.

    The learner is fitted on pairs of folds, 50 times over (Bates, Hastie and Tibshirani 2024): fast
    for learners that subtract folds, long for others.
    """
    return cross_validate(estimator, X, y, method="nested", **options)


def holdout(
    estimator: Any,
    X: Any,
    y: Any,
    *,
    test_size: float = 0.25,
    loss: Loss | str | None = None,
    sample_weight: Any = None,
    groups: Any = None,
    level: float = 0.95,
    method: str = "auto",
    random_state: Any = None,
) -> RiskEstimate:
    """The risk of the model fitted on the rest when a share `test_size` of the rows is held out."""
    problem = Problem.of(estimator, X, y, loss=loss, sample_weight=sample_weight, groups=groups)
    random_state = settled(random_state)
    plan = problem.holdout(test_size, random_state=random_state)
    losses = out_of_fold(estimator, problem, plan, random_state=random_state)
    return losses.estimate(0, method, level=level)
