"""The plug-in classifier: Bayes' rule with a density estimated for each class."""

from collections.abc import Sequence
from typing import Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import Tags
from sklearn.utils.validation import _is_fitted

from empirisk.learners.density.axis_of_part import AxisOfPart
from empirisk.learners.density.class_conditional import (
    by_class,
    fit_density,
    log_density,
    log_joint,
)
from empirisk.learners.density.classifier_soundness import check_classifier
from empirisk.learners.density.parametric_density import ParametricDensity
from empirisk.learners.density.plug_in_path import OneDensity, PlugInPath, decided
from empirisk.learners.generative.discriminants import log_posterior, posterior
from empirisk.learners.generative.settings import checked_priors, coded_learner
from empirisk.losses import Costs
from empirisk.losses.costs import checked_costs
from empirisk.risk.axis import Axis, PathMixin
from empirisk.runtime.arrays import Array, Floats, Ints
from empirisk.runtime.complaints import refuse_one_class
from empirisk.runtime.validation import check_fit, check_predict


class DensityClassifier(PathMixin, ClassifierMixin, BaseEstimator):
    """Bayes' rule with the densities f_k of the classes and their shares pi_k put in as estimated:

        P(k | x) = pi_k f_k(x) / sum_l pi_l f_l(x),

    and of the classes the most probable, or the one of least expected cost. With the true densities
    it is the Bayes rule. Gaussian densities give quadratic discriminants, kernel densities the
    kernel discriminants of Hand (1982), Gaussian mixtures those of Hastie & Tibshirani (1996).

    Complexity axis: that of the density, such as `density__bandwidth`, `density__n_components` or
    `density__shrinkage`, one value for all classes; `Tuned(DensityClassifier(KernelDensity()))`
    chooses it. `DensityClassifier(Tuned(KernelDensity()))` chooses one for each class, by
    likelihood.

    Parameters
    ----------
    density : estimator, dict or None
        Any with `fit` and `score_samples` (log densities, in the units of X), of this library or
        another; a clone of it is fitted to the rows of each class. A dict gives each class, by
        label, its own. None is `ParametricDensity()`, a Gaussian.
    priors : array-like of shape (n_classes,), optional
        The shares pi_k; by default the weighted frequencies of the classes.
    cost_matrix : array of shape (K, K), Costs or None
        C(i | j), the cost of predicting class i when j is true, classes in the order of
        `classes_`. Predictions have the least expected cost, and the classifier is judged by these
        costs (`Tuned`, `risk.cross_validate`, `select`, ...) unless another loss is given.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
    class_count_ : array of shape (n_classes,)
        The weight of the rows of each class.
    class_prior_ : array of shape (n_classes,)
    densities_ : list
        The fitted density of each class.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Notes
    -----
    Probabilities are found from logarithms, and so also where all densities underflow. A row at
    which every density is 0, as outside the support of all kernels, has the priors; one at which
    some are infinite, the priors of these. Of equally probable classes the first is predicted.

    A density that takes no `sample_weight` gets copies of rows, and refuses weights that are no
    whole numbers.

    References
    ----------
    D. Hand (1982), Kernel discriminant analysis.
    T. Hastie & R. Tibshirani (1996), Discriminant analysis by Gaussian mixtures.

    Examples
    --------
    >>> X = [[0.0], [1.0], [2.0], [4.0], [6.0], [8.0]]
    >>> y = ["a", "a", "a", "b", "b", "b"]
    >>> model = DensityClassifier().fit(X, y)
    >>> model.predict([[1.5], [5.0]])
    array(['a', 'b'], dtype='<U1')
    >>> model.predict_proba([[3.0]]).round(3)
    array([[0.35, 0.65]])
    >>> careful = DensityClassifier(cost_matrix=[[0, 1], [9, 0]]).fit(X, y)
    >>> careful.predict([[3.0]])
    array(['a'], dtype='<U1')
    """

    axis: ClassVar[Any] = AxisOfPart("density")

    def __init__(
        self,
        density: Any = None,
        *,
        priors: ArrayLike | None = None,
        cost_matrix: Any = None,
    ) -> None:
        self.density = density
        self.priors = priors
        self.cost_matrix = cost_matrix

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit a density to the rows of each class.

        Parameters
        ----------
        X : array-like of shape (n, p)
        y : array-like of shape (n,)
            Labels of at least two classes.
        sample_weight : array-like of shape (n,), optional
            A row of weight w counts as w copies of it.

        Returns
        -------
        self
        """
        train = check_fit(self, X, y, sample_weight, classifier=True)
        assert train.classes is not None
        labels = train.classes
        refuse_one_class(labels, "DensityClassifier")
        checked_costs(self.cost_matrix, labels)  # before all the work
        densities = [
            fit_density(density, *_rows_of_class(train.X, train.y, train.sample_weight, k), label)
            for k, (density, label) in enumerate(
                zip(by_class(self._density(), labels), labels.tolist(), strict=True)
            )
        ]
        count = weight_of_classes(train.y, train.sample_weight, len(labels))
        return self._learned(densities, labels, count, train.X.shape[1])

    def predict(self, X: Any) -> Array:
        """The most probable class of each row, or that of least expected cost."""
        joint = self._joint(X)
        return self.classes_[decided(joint, self._costs)[:, 0]]

    def predict_proba(self, X: Any) -> Floats:
        """The probabilities of the classes, in the order of `classes_`."""
        return posterior(self._joint(X))[:, 0]

    def predict_log_proba(self, X: Any) -> Floats:
        """The logarithms of the probabilities, also where these underflow."""
        return log_posterior(self._joint(X))[:, 0]

    @property
    def own_loss(self) -> Costs | None:
        """The costs of mistakes, if they were given."""
        costs = self.cost_matrix
        return costs if costs is None or isinstance(costs, Costs) else Costs(costs)

    @property
    def feature_scaling(self) -> Literal["each", "common"] | None:  # type: ignore[override]  # found where others say it
        """That of the density: a change of units multiplies the densities of all classes alike."""
        return getattr(self._density(), "feature_scaling", None)

    def for_classes(self, labels: Array) -> Self:
        """The same learner for codes 0..K-1 of these labels; those of a part may lack some."""
        changes: dict[str, Any] = {}
        if isinstance(self.density, dict):
            changes["density"] = dict(enumerate(by_class(self.density, labels)))
        if self.cost_matrix is not None:
            costs: Any = checked_costs(self.cost_matrix, labels)
            changes["cost_matrix"] = Costs(costs, classes=range(len(labels)))
        return coded_learner(self, labels).set_params(**changes)

    def axis_values(
        self, X: Floats, y: Ints, sample_weight: Floats, *, n_train: int
    ) -> Sequence[Any]:
        """The grids of the density for the rows of each class, made one."""
        density = self._density()
        if self.axis is None:
            return (None,)
        grids = []
        for k in np.unique(y):
            rows, weight = _rows_of_class(X, y, sample_weight, int(k))
            n = max(1, round(n_train * len(rows) / len(X)))
            grids.append(list(density.axis_values(rows, None, weight, n_train=n)))
        return _one_grid(grids, self.axis)

    def fit_path(
        self, X: Floats, y: Ints, sample_weight: Floats, values: Sequence[Any], *, n_classes: int
    ) -> PlugInPath:
        """The path of the density for each class."""
        codes = np.arange(n_classes)
        labels = getattr(self, "_labels", codes).tolist()
        paths = []
        for k, density in enumerate(by_class(self._density(), codes)):
            rows, weight = _rows_of_class(X, y, sample_weight, k)
            if self.axis is None:
                paths.append(OneDensity(fit_density(density, rows, weight, labels[k])))
            else:
                paths.append(density.fit_path(rows, None, weight, values, n_classes=0))
        count = weight_of_classes(y, sample_weight, n_classes)
        return PlugInPath(self, paths, count, values, X.shape[1])

    def check_loaded(self) -> None:
        """Raise a DataError unless what a file has of a fitted classifier belongs together."""
        if _is_fitted(self):
            check_classifier(self)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = False
        return tags

    def _joint(self, X: Any) -> Floats:
        rows = check_predict(self, X)
        logs = np.stack([log_density(density, rows) for density in self.densities_], axis=1)
        return log_joint(logs[:, :, None], self.class_prior_)

    def _density(self) -> Any:
        return ParametricDensity() if self.density is None else self.density

    def _learned(self, densities: list[Any], labels: Array, count: Floats, p: int) -> Self:
        """The fitted attributes."""
        given = checked_priors(self.priors, len(labels))
        self.densities_, self.classes_, self.class_count_ = densities, labels, count
        self.class_prior_ = count / count.sum() if given is None else given
        self.n_features_in_, self._costs = p, checked_costs(self.cost_matrix, labels)
        return self


def weight_of_classes(y: Ints, weight: Floats, n_classes: int) -> Floats:
    """The weight of the rows of each class."""
    return np.bincount(y, weight, n_classes).astype(float)


def _rows_of_class(X: Floats, y: Ints, weight: Floats, k: int) -> tuple[Floats, Floats]:
    own = y == k
    return X[own], weight[own]


def _one_grid(grids: list[list[Any]], axis: Axis) -> list[Any]:
    """Of positive numbers on a log scale, as many between the least and the largest of all; of
    whole numbers those that are in the grids of all classes; else all of them."""
    if all(grid == grids[0] for grid in grids):
        return grids[0]
    number = all(isinstance(v, int | float | np.number) and v > 0 for grid in grids for v in grid)
    if axis.scale == "log" and number:
        low, high = min(map(min, grids)), max(map(max, grids))
        found = np.geomspace(low, high, max(map(len, grids))).tolist()
        return found if grids[0][0] <= grids[0][-1] else found[::-1]
    if axis.scale == "integer":
        shared = [value for value in grids[0] if all(value in grid for grid in grids)]
        return shared or grids[0][:1]
    return list(dict.fromkeys(value for grid in grids for value in grid))
