"""The risk of a fitted predictor on new rows; of a procedure by hold-out or cross-validation."""

from typing import Any, TypeGuard

from sklearn.model_selection import LeaveOneGroupOut, LeaveOneOut

from empirisk.losses import Loss, as_loss
from empirisk.risk.estimate import RiskEstimate
from empirisk.risk.foreign import foreign_prediction
from empirisk.risk.intervals.loss_table import LossTable
from empirisk.risk.intervals.rare_losses import with_doubts
from empirisk.risk.measure_names import MEASURES, Name
from empirisk.risk.measures.cross_validated import cross_validate as cross_validated_measure
from empirisk.risk.measures.of_classifier import evaluate as measure_of
from empirisk.risk.out_of_fold import out_of_fold
from empirisk.risk.plans.fingerprints import data_key
from empirisk.risk.predictor import as_predictor, known_classes
from empirisk.risk.problem import Problem
from empirisk.runtime.errors import ParameterError
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
    **options: Any,
) -> RiskEstimate:
    """The risk of a fitted predictor on rows it has not seen.

    Parameters
    ----------
    predictor : fitted estimator, object with `predict`, or function of X
        Ours or any other. Where it does not tell its task, as scikit-learn's estimators do, it is a
        classifier if the loss is one of classes, if it has `classes_` or if y holds labels (text,
        truth values, categories), else a regressor. A function returns numbers or labels, and
        probabilities for a loss of those: a column for each class in sorted order, or of two
        classes a number a row, that of the larger label.
    X, y : rows that took no part in fitting or choosing the predictor
    loss : Loss or str, optional
        The one at which the learner aims (`own_loss`), else "squared" for a regressor and
        "zero_one" for a classifier, unless given. Or the name of a
        measure that is no mean of losses, such as "auc" or "f_score": see `measures.evaluate`.
    sample_weight, groups : arrays, optional
        A group is one independent observation.
    level : float
        Of the confidence interval.
    method : str
        How the interval is found; "auto" takes the one that is valid: that of Clopper and Pearson
        for losses of 0 or 1, one on the log scale for other losses. For a measure "bootstrap" too.
    **options
        Of a measure, such as positive="yes" or average="macro".

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.linear_model import LinearRegression
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(300, 1))
    >>> y = X[:, 0] + rng.normal(size=300)
    >>> model = LinearRegression().fit(X[:100], y[:100])
    >>> print(evaluate(model, X[100:], y[100:]))
    The squared risk of this model is 1.015, 95 % interval 0.7848 to 1.314 ...
    >>> evaluate(lambda X: X[:, 0], X, y, loss="absolute").loss
    'absolute'
    """
    if is_measure(loss, options):
        return measure_of(
            predictor, X, y, loss,
            sample_weight=sample_weight, groups=groups, level=level, method=method, **options,
        )  # fmt: skip
    loss = None if loss is None else as_loss(loss)
    predictor = as_predictor(
        predictor, y,
        task=None if loss is None else loss.task, gives="value" if loss is None else loss.output,
    )  # fmt: skip
    problem = Problem.of(
        predictor,
        X,
        y,
        loss=loss,
        sample_weight=sample_weight,
        groups=groups,
        classes=known_classes(predictor),
    )
    prediction = foreign_prediction(predictor, problem.X, problem, problem.loss.output)
    table = LossTable.of_test_rows(
        problem.row_losses(prediction), problem.weight, problem.unit, problem.loss.bounds
    )
    return RiskEstimate.of(
        with_doubts(table, problem.loss),
        loss=str(problem.loss),
        estimates="this model",
        fingerprint=data_key(X if problem.y is None else y, sample_weight, groups),
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
    **options: Any,
) -> RiskEstimate:
    """The risk of a procedure by cross-validation: the mean loss of rows held out once each.

    Parameters
    ----------
    estimator : estimator or Pipeline
        As it is; a `Tuned` is tuned anew in every training part.
    X, y, sample_weight, groups
        A row of weight w counts as w copies; a group is never on both sides of a split, and a `cv`
        that would split one is refused.
    cv : None, int, splitter, splits or Plan
        See `Plan.of`; None is ten shuffled folds, stratified for a classifier.
    loss, level, **options
        As in `evaluate`; a measure by its name is that of `measures.cross_validate`.
    method : str
        How the interval is found. "auto" takes the error of independent rows times a factor for
        the training rows that the folds share (see `empirisk.risk.intervals.interval`). By name
        also "per_row_normal" and "corrected_t", and, fitting many times more, "nested" (nested
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
    if is_measure(loss, options):
        return cross_validated_measure(
            estimator, X, y, loss,
            cv=cv, sample_weight=sample_weight, groups=groups, level=level, method=method,
            n_jobs=n_jobs, random_state=random_state, **options,
        )  # fmt: skip
    problem = Problem.of(estimator, X, y, loss=loss, sample_weight=sample_weight, groups=groups)
    random_state = settled(random_state)
    plan = problem.plan(cv, random_state=random_state, out_of_bag=True)
    losses = out_of_fold(estimator, problem, plan, n_jobs=n_jobs, random_state=random_state)
    return losses.estimate(0, method, level=level)


def leave_one_out(estimator: Any, X: Any, y: Any, **options: Any) -> RiskEstimate:
    """`cross_validate` with each row held out alone; exact from one fit for many learners here.

    With `groups` each group is held out as a whole, so that no row is predicted from its own group.

    Parameters
    ----------
    estimator, X, y, **options
        As in `cross_validate` but for `cv`.

    Examples
    --------
    >>> import numpy as np
    >>> from empirisk import LinearRegression
    >>> X = np.arange(10.0)[:, np.newaxis]
    >>> y = X[:, 0] + np.tile([1.0, -1.0], 5)
    >>> line = LinearRegression().fit(X, y)
    >>> leverage = 0.1 + (X[:, 0] - 4.5) ** 2 / 82.5
    >>> shortcut = np.mean(((y - line.predict(X)) / (1 - leverage)) ** 2)
    >>> bool(abs(leave_one_out(LinearRegression(), X, y).value - shortcut) < 1e-12)
    True
    """
    cv = LeaveOneOut() if options.get("groups") is None else LeaveOneGroupOut()
    return cross_validate(estimator, X, y, cv=cv, **options)


def nested_cross_validate(estimator: Any, X: Any, y: Any, **options: Any) -> RiskEstimate:
    """`cross_validate` with its error by nested cross-validation, which also corrects the value.

    The learner is fitted on pairs of folds, 50 times over (Bates, Hastie and Tibshirani 2024): fast
    for learners that subtract folds, long for others.

    Parameters
    ----------
    estimator, X, y, **options
        As in `cross_validate` but for `method`.

    Examples
    --------
    >>> import numpy as np
    >>> from empirisk import LinearRegression
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(200, 3))
    >>> y = X[:, 0] + rng.normal(size=200)
    >>> print(nested_cross_validate(LinearRegression(), X, y, random_state=0))
    The squared risk of the procedure at this n is 1.043, 95 % interval 0.8525 to 1.234 (nested
    cross-validation: 1.00 times the per-row error, as inner and outer folds differ).
    """
    return cross_validate(estimator, X, y, method="nested", **options)


def holdout(
    estimator: Any,
    X: Any,
    y: Any,
    *,
    test_size: float = 0.25,
    time_order: bool = False,
    loss: Loss | str | None = None,
    sample_weight: Any = None,
    groups: Any = None,
    level: float = 0.95,
    method: str = "auto",
    random_state: Any = None,
    **options: Any,
) -> RiskEstimate:
    """The risk of the model fitted on the rest when a share of the rows is held out.

    Parameters
    ----------
    estimator, X, y, sample_weight, groups
        As in `cross_validate`; groups are held out as a whole.
    test_size : float
        The share of the rows.
    time_order : bool
        The rows are ordered in time: the last ones are held out, none is drawn. They may depend on
        one another, so that "auto" gives no interval; one by name is marked.
    loss, level, method, random_state, **options
        As in `evaluate`.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.linear_model import LinearRegression
    >>> day = np.arange(100.0)
    >>> sales = day + 10 * np.sin(day / 5)
    >>> print(holdout(LinearRegression(), day[:, None], sales, time_order=True))
    The squared risk of this model is ..., without an interval: the rows are ordered in time, ...
    """
    measure = loss if is_measure(loss, options) else None
    problem = Problem.of(
        estimator, X, y,
        loss=loss if measure is None else "zero_one", sample_weight=sample_weight, groups=groups,
    )  # fmt: skip
    random_state = settled(random_state)
    plan = problem.holdout(test_size, random_state=random_state, time_order=time_order)
    if measure is not None:
        return cross_validated_measure(
            estimator, X, y, measure,
            cv=plan, sample_weight=sample_weight, groups=groups, level=level, method=method,
            random_state=random_state, **options,
        )  # fmt: skip
    losses = out_of_fold(estimator, problem, plan, random_state=random_state)
    return losses.estimate(0, method, level=level)


def is_measure(loss: Loss | str | None, options: dict[str, Any]) -> TypeGuard[Name]:
    """Whether a loss is the name of a measure, which alone takes further options."""
    if isinstance(loss, str) and loss in MEASURES:
        return True
    if options:
        raise ParameterError(
            f"there is no parameter {next(iter(options))!r}; a measure by name, such as "
            f"loss='f_score', takes further ones, and the loss is {loss!r}"
        )
    return False
