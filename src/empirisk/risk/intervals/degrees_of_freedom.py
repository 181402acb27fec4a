"""How many parameters a learner fits in effect, by which intervals are widened.

A learner of this library says where its own come from (`PathMixin.freedom`); some of
scikit-learn's are known by name; of all others they are not known.
"""

from typing import Any

from sklearn.pipeline import Pipeline

from empirisk.risk.axis import Freedom, PathMixin
from empirisk.risk.learner import learner_of

SMOOTHERS = (
    "BaggingClassifier",
    "BaggingRegressor",
    "ExtraTreesClassifier",
    "ExtraTreesRegressor",
    "RandomForestClassifier",
    "RandomForestRegressor",
)
NEIGHBOURS = ("KNeighborsClassifier", "KNeighborsRegressor")
LINEAR = ("LinearDiscriminantAnalysis", "LinearRegression", "LogisticRegression")
CONSTANT = ("DummyClassifier", "DummyRegressor")


def freedom_of(estimator: Any) -> Freedom:
    """Where the degrees of freedom of the learner come from."""
    learner = learner_of(estimator)
    if isinstance(learner, PathMixin):
        return learner.freedom
    return "smoother" if type(learner).__name__ in SMOOTHERS else None


def smoother_freedom(n: int) -> float:
    """Of bagged trees, and of five neighbours: 10, and at least one for 11 rows, as simulated."""
    return max(10.0, n / 11)


def freedom_by_name(estimator: Any, X: Any, n: int) -> float | None:
    """Of scikit-learn's linear rules a parameter for each column and one for the intercept.

    Of k nearest neighbours 10, and at least one for 2k + 1 rows, as simulated.
    """
    learner = learner_of(estimator)
    name = type(learner).__name__
    if name in CONSTANT:
        return 1.0
    if name in NEIGHBOURS:
        return max(10.0, n / (2 * learner.n_neighbors + 1))
    plain = not isinstance(estimator, Pipeline) and len(getattr(X, "shape", ())) == 2
    return X.shape[1] + 1.0 if name in LINEAR and plain else None
