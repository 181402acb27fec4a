"""Classification trees with a logistic regression in each leaf."""

from typing import Any

import numpy as np
from scipy.special import log_softmax, softmax
from sklearn.base import ClassifierMixin

from empirisk.learners.class_weights import ClassWeightMixin
from empirisk.learners.trees.linear_models import LeafModel, logistic_model
from empirisk.learners.trees.linear_tree import Grown, LinearTree, Outputs
from empirisk.learners.trees.tree import Tree
from empirisk.risk.axis import Output
from empirisk.runtime.arrays import Array, Floats, Ints
from empirisk.runtime.deadlines import check_deadline
from empirisk.runtime.errors import ParameterError


class LinearTreeClassifier(ClassWeightMixin, ClassifierMixin, LinearTree):
    """A tree of splits x_j <= s with a logistic regression in each leaf (Landwehr et al. 2005).

    Splits are chosen as in `LinearTreeRegressor`, of the indicators of the classes: least is the
    sum over both sides and all classes k of

        sum_i w_i (1[y_i = k] - a_k - z_i'b_k)^2 + alpha |b_k|^2,

    which without numeric columns is the Gini index. Pruning goes by the same error. Then each leaf
    gets a model of its own, with P(k | x) proportional to exp(a_k + z'b_k), that minimises

        sum_i w_i log-loss_i + alpha |b|^2 / 2.

    Complexity axis: `ccp_alpha`; `Tuned(LinearTreeClassifier())` chooses it among the whole pruning
    sequence, with one growth for each fold.

    Parameters
    ----------
    alpha : float
        The penalty of the models, above 0: in a small leaf a line often separates the classes, and
        without a penalty there is no solution then.
    max_depth, min_samples_split, min_samples_leaf, min_weight_fraction_leaf, max_leaf_nodes, \
min_impurity_decrease, ccp_alpha, max_bins, max_model_columns, categorical_features
        As in `LinearTreeRegressor`.
    class_weight : dict, "balanced" or None
        Factors of the weights of the rows of each class, as in `DecisionTreeClassifier`:
        "balanced" gives the classes equal totals of weight, where scikit-learn's counts rows.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
    tree_ : Tree
        Arrays with an entry for each node; `value` are the shares of the classes, `impurity` is
        the penalised error of the indicators by weight.
    models_ : LeafModels
        The models of the leaves; `models_.coefficients()` are those of the columns as given.
    feature_importances_ : array of shape (p,)
        Of the splits alone: what the models in the leaves make of a feature is not counted.
    n_classes_, max_features_, n_outputs_, n_features_in_, feature_names_in_
        As in scikit-learn.
    columns_ : list of CodedColumn
        What the columns are: numbers, or categories with their levels.

    Notes
    -----
    See `LinearTreeRegressor` for missing values, categories and cuts. A leaf with no more rows than
    q + 1, q being the columns of the models, or with one class, has the shares of its classes; a
    class that a leaf does not have has probability 0 in it, the limit of maximum likelihood. Of
    classes with equal probabilities the first is predicted.

    References
    ----------
    N. Landwehr, M. Hall & E. Frank (2005), Logistic model trees.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(-1, 1, size=(400, 2))
    >>> y = np.where(X[:, 0] * X[:, 1] > 0, "same", "other")  # no line parts them, nor one split
    >>> tree = LinearTreeClassifier(max_depth=1).fit(X, y)
    >>> print(tree.score(X, y) > 0.95, tree.predict([[0.5, 0.5], [0.5, -0.5]]))
    True ['same' 'other']
    """

    def __init__(
        self,
        *,
        alpha: float = 1.0,
        max_depth: int | None = None,
        min_samples_split: int | float = 2,
        min_samples_leaf: int | float = 20,
        min_weight_fraction_leaf: float = 0.0,
        max_leaf_nodes: int | None = None,
        min_impurity_decrease: float = 0.0,
        class_weight: Any = None,
        ccp_alpha: float = 0.0,
        max_bins: int = 32,
        max_model_columns: int = 20,
        categorical_features: Any = "from_dtype",
    ) -> None:
        self.alpha = alpha
        self.max_depth = max_depth
        self.min_samples_split = min_samples_split
        self.min_samples_leaf = min_samples_leaf
        self.min_weight_fraction_leaf = min_weight_fraction_leaf
        self.max_leaf_nodes = max_leaf_nodes
        self.min_impurity_decrease = min_impurity_decrease
        self.class_weight = class_weight
        self.ccp_alpha = ccp_alpha
        self.max_bins = max_bins
        self.max_model_columns = max_model_columns
        self.categorical_features = categorical_features

    def predict(self, X: Any) -> Array:
        """The most probable class of each row."""
        codes = self._decided(self._values(X), "value")[:, 0]
        return self.classes_[codes]

    def predict_proba(self, X: Any) -> Floats:
        """The probabilities of the classes, in the order of `classes_`."""
        return self._decided(self._values(X), "probability")[:, 0]

    def predict_log_proba(self, X: Any) -> Floats:
        """The logarithms of the probabilities, accurate where these underflow."""
        return log_softmax(self._values(X)[:, 0], axis=-1)

    def _outputs(self, y: Array, weight: Floats, n_classes: int) -> Outputs:
        if not self.alpha > 0:
            raise ParameterError(
                f"alpha is {self.alpha!r}; it must be above 0: where a line separates the classes "
                "of a leaf there is no solution without a penalty"
            )
        weight = self._class_weighted(y, weight, np.arange(n_classes))
        if n_classes <= 2:  # of two classes, the errors of the one are those of the other
            indicators = y[:, None] == np.arange(1, n_classes)
            return Outputs(indicators.astype(float), weight, 1.0, (2.0, 1.0))
        return Outputs(np.eye(n_classes)[y], weight, 1.0, (1.0, 1.0))

    def _node_values(self, means: Floats, outputs: Outputs) -> Floats:
        if means.shape[1] <= 1:
            means = np.column_stack([1.0 - means.sum(axis=1), means])
        return means[:, None, :]

    def _leaf_model(self, grown: Grown, node: int) -> LeafModel:
        check_deadline()
        rows = grown.rows_of(node)
        return logistic_model(
            grown.Z[rows],
            grown.y[rows],
            grown.weight[rows],
            grown.n_classes,
            grown.alpha,
            grown.enough(node),
        )

    def _decided(self, values: Floats, output: Output) -> Array:
        return values.argmax(axis=-1) if output == "value" else softmax(values, axis=-1)

    def _labels_of(self, tree: Tree, n_classes: int) -> Ints:
        """The class with the largest share of each node."""
        return tree.value[:, 0].argmax(axis=1)

    def _costs(self, n_classes: int) -> Floats:
        return 1.0 - np.eye(n_classes)
