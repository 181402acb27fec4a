"""The out-of-bag risk of a bagged ensemble: each row judged by the members that did not draw it.

A learner that bags hands to an `OutOfBag`, member by member, the counts of its resample and its
predictions of the rows that it lacks; the rest follows. `out_of_bag` does that for an ensemble that
was fitted elsewhere.
"""

from typing import Any

from sklearn.base import is_classifier
from sklearn.utils.validation import _num_samples, check_is_fitted

from empirisk.losses import Loss
from empirisk.risk.bagging.out_of_bag_scores import judged_by_members
from empirisk.risk.cross_validation import is_measure
from empirisk.risk.estimate import RiskEstimate
from empirisk.risk.measures.out_of_bag import OutOfBagMeasure
from empirisk.risk.problem import Problem


def out_of_bag(
    ensemble: Any,
    X: Any,
    y: Any,
    *,
    loss: Loss | str | None = None,
    sample_weight: Any = None,
    groups: Any = None,
    level: float = 0.95,
    method: str = "auto",
    n_jobs: int | None = None,
    **options: Any,
) -> RiskEstimate:
    """The risk of a fitted bagged ensemble, without further fits.

    Each row is judged by the mean of the members that did not draw it, of their class probabilities
    or, where they have none, of their votes. That is the aggregate at this n with about 37 % of
    the members; a row that every member drew has no prediction and is left out.

    With few rows, as many columns or more, and classes of nearly equal size it is pessimistic,
    since the members that lack a row drew fewer of its class (Mitchell 2011; Janitza and Hornung
    2018); the sentence then says so.

    Parameters
    ----------
    ensemble : fitted estimator
        Ours or scikit-learn's: bagging, or a random forest.
    X, y
        The rows it was fitted on, in the same order.
    loss : Loss or str, optional
        The one at which the learner aims (`own_loss`), else "squared" for a regressor and
        "zero_one" for a classifier, unless given. Or the name of a
        measure, such as "auc" or "f_score", of the out-of-bag scores of all rows together.
    sample_weight : array, optional
    groups : array, optional
        Rows that belong together: a row is then judged by the members that drew none of its group.
    level, method
        As in `evaluate`.
    n_jobs : int, optional
    **options
        Of a measure, such as positive="yes" or average="macro".

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.ensemble import RandomForestClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> forest = RandomForestClassifier(200, random_state=0).fit(X, y)
    >>> print(out_of_bag(forest, X, y))
    The zero_one risk of the procedure at this n is 0.05333, 95 % interval ... to ... (...: each row
    by the members that did not draw it, 73... of 200 on average; ...).
    >>> print(out_of_bag(forest, X, y, loss="recall", positive=2))
    The recall (class 2) of the procedure at this n is 0.9, 95 % interval ...
    """
    measure = measure_of(ensemble, loss, options, method)
    problem = bagged_problem(ensemble, X, y, "zero_one" if measure else loss, sample_weight, groups)
    bag = judged_by_members(ensemble, problem, _num_samples(y), n_jobs=n_jobs)
    if measure is not None:
        return measure.estimate(bag, problem, level)
    return bag.estimate(problem, level=level, method=method)


def measure_of(
    ensemble: Any, loss: Any, options: dict[str, Any], method: str = "auto"
) -> OutOfBagMeasure | None:
    """The measure of that name; None of a loss, which takes no options."""
    check_is_fitted(ensemble)
    return (
        OutOfBagMeasure.of(ensemble, loss, options, method) if is_measure(loss, options) else None
    )


def bagged_problem(
    ensemble: Any, X: Any, y: Any, loss: Any, sample_weight: Any, groups: Any
) -> Problem:
    """The rows of a fitted ensemble, with the classes that it knows."""
    classes = ensemble.classes_ if is_classifier(ensemble) else None
    return Problem.of(
        ensemble, X, y, loss=loss, sample_weight=sample_weight, groups=groups, classes=classes
    )
