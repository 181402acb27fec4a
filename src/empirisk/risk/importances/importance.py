"""The importance of features for any learner: what the risk is worth without what they know."""

from typing import Any, get_args

import numpy as np

from empirisk.losses import Loss
from empirisk.risk.cross_validation import is_measure
from empirisk.risk.importances.asked import Asked, Permutations
from empirisk.risk.importances.bagged import out_of_bag
from empirisk.risk.importances.impurity import by_impurity
from empirisk.risk.importances.refitting import on_plan
from empirisk.risk.importances.result import How, Importance
from empirisk.risk.importances.swapping import on_test_rows
from empirisk.runtime.errors import DataError, ParameterError
from empirisk.runtime.scalars import check_level
from empirisk.runtime.streams import settled, spawn


def importance(
    estimator: Any,
    X: Any = None,
    y: Any = None,
    *,
    how: How = "test",
    features: Any = None,
    loss: Loss | str | None = None,
    n_repeats: int = 5,
    cv: Any = None,
    sample_weight: Any = None,
    groups: Any = None,
    level: float = 0.95,
    n_jobs: int | None = None,
    random_state: Any = None,
    **options: Any,
) -> Importance:
    """How much a predictor, or a procedure that fits one, leans on each feature.

    A feature is permuted: each row takes its value from another row, so that it keeps its
    distribution and loses what it knows of the target and of the other features. The rise of the
    risk is its importance. Columns are permuted as they come, categories and missing values too,
    in front of all steps of a pipeline.

    Parameters
    ----------
    estimator : estimator, Pipeline, or for "test" any predictor that `evaluate` takes
        Fitted for "test", "out_of_bag", "members" and "impurity"; fitted here for the others.
    X, y
        For "test", rows that took no part in fitting it; for "out_of_bag" and "members" the rows
        it was fitted on; for "out_of_fold" and "retrain" the rows to fit and to judge it on. Not
        needed for "impurity".
    how : str
        "test" permutes rows of a fitted predictor.
        "out_of_fold" fits the models of a plan, and permutes the rows that each of them held out.
        "out_of_bag" permutes the rows of a bagged ensemble or forest, each judged by the aggregate
        of the members that did not draw it.
        "members" does the same for one member after the other and takes the mean over them
        (Breiman 2001), the number that random forests have long reported.
        "retrain" permutes the training rows and fits again: what is lost without the feature if
        the learner may turn to the others. It fits splits x features x repeats models.
        "impurity" is what trees tell of themselves (`feature_importances_`).
    features : None, "correlated", list or dict
        None is every column alone. A list holds columns, by name or number, or lists of columns;
        a dict lists of columns by a name for each. The columns of a group are permuted together,
        by one permutation. "correlated" finds groups of columns that go together, with
        `correlated_features(X)`.
    loss : Loss or str, optional
        As in `evaluate`, unless given the one at which the learner aims or the usual one; a
        measure by its name, such as "auc", whose fall is the importance.
    n_repeats : int
        How many permutations.
    cv : None, int, splitter, splits or Plan
        Of "out_of_fold" and "retrain", as in `cross_validate`; `Plan.holdout` for one split.
    sample_weight : array, optional
        A row of weight w counts as w copies, as the one that takes and as the one that gives.
    groups : array, optional
        Rows that belong together, one independent observation: a row takes its values from a row
        of another group, and a group is never on both sides of a split.
    level : float
    n_jobs : int, optional
        The result is the same for all.
    random_state
        Of the permutations, the plan and the fits. The permutations do not depend on which
        features are asked for.
    **options
        Of a measure, such as positive="yes".

    Returns
    -------
    Importance

    Notes
    -----
    *What it means.* Permuted alone, one of two features that go together makes rows that do not
    occur, and its importance leaves out what the other still tells: two copies of a feature share
    it out. Permute them as a group. "test", "out_of_fold" and "out_of_bag" tell what the models at
    hand lean on; "retrain" what they could not replace, nothing for a feature that has a copy.

    *Squared loss.* A linear rule with the coefficients b has the importance 2 b_j Cov(x_j, y) of a
    feature that is independent of the others, which is 2 b_j^2 Var(x_j) of the best rule: permuting
    takes away what the feature knows, and adds as much noise. Retrained without it, a rule loses
    the first half alone.

    *Intervals* cover the choice of the rows that judge and of the permutations (see
    `empirisk.risk.importances.error`), for the model as it is: under "test" for the one given,
    otherwise for the one that the procedure fits to all of these rows, and they are widened since
    folds and members share training rows. What a learner would lean on after other training rows
    may lie outside. They hold for each feature, not for all at once. At 95 %, simulated with 5
    permutations, 50 to 400 rows: 95 to 98 % of samples are covered for linear and 0-1 rules of
    normal features, 92 to 97 % for linear rules of exponential ones, 97 to 100 % out of bag for
    forests of 100 rows.

    *Impurity* is computed on the training rows, of a tree that was grown to make it large. It is
    biased towards features of many different values, at which there are many places to split:
    noise of that kind has a good deal of it (Strobl et al. 2007). Its error is that over trees.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.linear_model import LinearRegression
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(400, 3))
    >>> y = 2 * X[:, 0] + X[:, 1] + rng.normal(size=400)
    >>> model = LinearRegression().fit(X[:200], y[:200])
    >>> print(importance(model, X[200:], y[200:], random_state=0))
    The rise in squared risk of this model when the test rows swap their values of a feature:
      feature  importance  error  95 % interval
      x0       7.547       1      [5.763, 10.07]
      x1       1.66        0.27   [1.181, 2.273]
      x2       0.0083      0.012  [-0.01459, 0.03502]
    The intervals cover the choice of the 200 rows and of the 5 permutations, not that of the model.
    The squared risk of this model is ...
    """
    _check(how, n_repeats, cv, level)
    if how == "impurity":
        _refuse(how, loss=loss, sample_weight=sample_weight, groups=groups, **options)
        return by_impurity(estimator, X, features, level)
    if X is None or y is None:
        raise DataError(f"how={how!r} judges predictions of rows: give X and y")
    asked = Asked(
        X, y, loss, sample_weight, groups, level, is_measure(loss, options) and str(loss), options
    )
    random_state = settled(random_state)
    seed = spawn(random_state, 2)[1]  # the first is that of the plan
    by = Permutations(how, features, spawn(seed, n_repeats), n_jobs)
    if how == "test":
        return on_test_rows(estimator, asked, by)
    if how in ("out_of_bag", "members"):
        return out_of_bag(estimator, asked, by)
    return on_plan(estimator, asked, by, cv, random_state)


def _check(how: Any, n_repeats: Any, cv: Any, level: float) -> None:
    if how not in get_args(How):
        raise ParameterError(f"how is {how!r}; choose one of {', '.join(get_args(How))}")
    if not (isinstance(n_repeats, int | np.integer) and n_repeats >= 1):
        raise ParameterError(f"n_repeats is {n_repeats!r}; give a whole number from 1, such as 5")
    if cv is not None and how not in ("out_of_fold", "retrain"):
        raise ParameterError(f"cv is for how='out_of_fold' and 'retrain', and this is {how!r}")
    check_level(level)


def _refuse(how: str, **given: Any) -> None:
    for name, value in given.items():
        if value is not None:
            raise ParameterError(f"{name} means nothing to how={how!r}, which judges no rows")
