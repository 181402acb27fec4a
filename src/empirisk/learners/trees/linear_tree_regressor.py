"""Regression trees with a linear model in each leaf."""

from typing import Any

import numpy as np
from sklearn.base import RegressorMixin

from empirisk.data.scaling import power_of_two
from empirisk.learners.trees.linear_models import LeafModel
from empirisk.learners.trees.linear_tree import Grown, LinearTree, Outputs
from empirisk.risk.axis import Output
from empirisk.runtime.arrays import Array, Floats
from empirisk.runtime.errors import ParameterError

CLIPS = ("leaf", "training", None)


class LinearTreeRegressor(RegressorMixin, LinearTree):
    """A tree of splits x_j <= s with a ridge regression in each leaf (Quinlan 1992).

    Each node is split by the feature and threshold with the least penalised error of the models of
    its two sides. The model of a set of rows minimises over a and b

        sum_i w_i (y_i - a - z_i'b)^2 + alpha |b|^2,

    z the numeric columns in units of their standard deviation in training. Nothing is fitted again
    for a threshold: sums of products over the rows on one side give the error of its model. A node
    that no split improves stays a leaf. Pruned by cost complexity: of all subtrees the one with
    the least R(T) + ccp_alpha |leaves|, R the mean penalised error of the leaves.

    Complexity axis: `ccp_alpha`; `Tuned(LinearTreeRegressor())` chooses it among the whole pruning
    sequence, with one growth for each fold.

    Parameters
    ----------
    alpha : float
        The penalty of the models; 0 is least squares, in which a column that depends on those
        before it gets coefficient 0.
    max_depth : int, optional
    min_samples_split, min_samples_leaf : int or float
        Rows that a node must have to be split, and that each of its sides must have; floats are
        shares of all rows. Where all of `sample_weight` are whole numbers a row counts as so many
        rows, else each row once.
    min_weight_fraction_leaf : float
        The least part of all weight on each side.
    max_leaf_nodes : int, optional
        Growth is best first then: the split with the largest gain of all leaves comes next.
    min_impurity_decrease : float
        The least gain of a split: penalised error, by the weight of all rows.
    ccp_alpha : float
        The price of a leaf when pruning; 0 prunes nothing.
    max_bins : int
        A feature with at most so many values in a node is cut at all of them. Otherwise it is cut
        at about so many quantiles, and the best feature then at all values between the neighbours
        of its best cut.
    max_model_columns : int
        Of more numeric columns, those with the largest correlations with y enter the models; all
        columns may split.
    clip : {"leaf", "training", None}
        Predictions are kept within the range of y in the leaf, or in all of training, since a
        line may lead anywhere outside of the rows that it was fitted to.
    categorical_features : "from_dtype", None, or names, numbers or truth values of columns
        Categories split rows and are no part of the models. By default those columns of a frame
        that are words or categories.

    Attributes
    ----------
    tree_ : Tree
        Arrays with an entry for each node; `impurity` is the penalised error by weight.
    models_ : LeafModels
        The models of the leaves; `models_.coefficients()` are those of the columns as given.
    feature_importances_ : array of shape (p,)
        Of the splits alone: what the models in the leaves make of a feature is not counted.
    max_features_, n_outputs_, n_features_in_, feature_names_in_
        As in scikit-learn.
    columns_ : list of CodedColumn
        What the columns are: numbers, or categories with their levels.

    Notes
    -----
    A leaf with no more rows than its model has parameters, q + 1 with q columns, has the mean. In
    the model of a set of rows missing values stand at the mean that the set has of the column: so
    in leaves, in predictions, and for the two sides of every cut that the search looks at. They go
    to the side where they lower the error of these models more, as in `DecisionTreeRegressor`. The
    levels of a category are put in the order of the first principal component of the gradients
    (y_i - prediction) [1, z_i] of the node's model, along which they are split like a number: so
    levels with other means are parted, and levels with other slopes too. Integers beyond 2^53 are
    identifiers: they split rows only. Of equal splits the one of the first feature, then of the
    lowest cut that was looked at, is taken. With p columns, of which q are in the models, n rows
    cost about n p q^2 / 2 operations for each level of the tree, and 2 n p q times the missing
    values of a row: 20,000 rows of 30 columns take a second or two.

    References
    ----------
    J. R. Quinlan (1992), Learning with continuous classes.
    A. Karalic (1992), Employing linear regression in regression tree leaves.

    Examples
    --------
    >>> import numpy as np
    >>> x = np.linspace(0, 10, 101)
    >>> y = np.where(x < 4, 2 * x, 20 - 3 * x)
    >>> tree = LinearTreeRegressor(alpha=0.0).fit(x[:, None], y)
    >>> coef, intercept = tree.models_.coefficients()
    >>> print(tree.tree_.threshold[0].round(2), coef.round(6).ravel(), intercept.round(6).ravel())
    3.95 [ 2. -3.] [ 0. 20.]
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
        ccp_alpha: float = 0.0,
        max_bins: int = 32,
        max_model_columns: int = 20,
        clip: str | None = "training",
        categorical_features: Any = "from_dtype",
    ) -> None:
        self.alpha = alpha
        self.max_depth = max_depth
        self.min_samples_split = min_samples_split
        self.min_samples_leaf = min_samples_leaf
        self.min_weight_fraction_leaf = min_weight_fraction_leaf
        self.max_leaf_nodes = max_leaf_nodes
        self.min_impurity_decrease = min_impurity_decrease
        self.ccp_alpha = ccp_alpha
        self.max_bins = max_bins
        self.max_model_columns = max_model_columns
        self.clip = clip
        self.categorical_features = categorical_features

    def predict(self, X: Any) -> Floats:
        """What the model of the leaf that each row comes to says."""
        return self._values(X)[:, 0, 0]

    def _outputs(self, y: Array, weight: Floats, n_classes: int) -> Outputs:
        if self.clip not in CLIPS:
            raise ParameterError(f"clip is {self.clip!r}; it must be 'leaf', 'training' or None")
        unit = float(power_of_two(np.array([np.abs(y).max() or 1.0]))[0])
        return Outputs(y[:, None] / unit, weight, unit, (unit, unit))

    def _node_values(self, means: Floats, outputs: Outputs) -> Floats:
        return means[:, :, None] * outputs.unit

    def _leaf_model(self, grown: Grown, node: int) -> LeafModel:
        ridge, ends = grown.ridge, {}
        if self.clip is not None:
            within = node if self.clip == "leaf" else 0
            ends = {"low": ridge.low[within], "high": ridge.high[within]}
        return LeafModel(ridge.centre[node], ridge.coef[node], ridge.value[node], **ends)

    def _decided(self, values: Floats, output: Output) -> Array:
        return values[..., 0]
