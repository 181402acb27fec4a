"""What a fitted tree tells its user: a picture, rules, and reasons for predictions."""

from collections.abc import Sequence
from typing import Any

from empirisk.charts.tree import Direction
from empirisk.learners.trees.drawing import draw_tree
from empirisk.learners.trees.rules import Rules, explain, rules_of


class ReadableTree:
    """Methods of a learner with `tree_` and `columns_`."""

    def plot(
        self,
        ax: Any = None,
        *,
        max_depth: int | None = None,
        direction: Direction = "down",
        feature_names: Sequence[str] | None = None,
        missing: bool | None = None,
    ) -> Any:
        """Draw the tree; parameters as in `draw_tree`."""
        return draw_tree(
            self,
            max_depth=max_depth,
            direction=direction,
            feature_names=feature_names,
            missing=missing,
            ax=ax,
        )

    def rules(
        self, *, feature_names: Sequence[str] | None = None, missing: bool | None = None
    ) -> Rules:
        """A rule for each leaf: its conditions, share of the rows, value and risk.

        Thresholds have as few digits as they can while they are true of every row of training.
        Dates are compared as days with a fraction, which tell a third of a microsecond apart these
        days (`Column.numbers`): a day without a time is meant to that accuracy, a time is exact. A
        level of a category or a label that could be misread (`'a '`, `'a, b'`, `'missing'`) is in
        quotes.
        Of a linear tree the model of each leaf is stated: the largest coefficients in standard
        units first, with three digits; terms that are left out are at their means. A classifier's
        is that of the odds of the two commonest classes of the leaf.

        Parameters
        ----------
        feature_names : sequence of str, optional
            Instead of the names of the columns.
        missing : bool, optional
            Whether to say where missing values go: None says it of columns that had some in
            training. The conditions of each rule hold it in any case.

        Examples
        --------
        >>> from empirisk import DecisionTreeRegressor, Table
        >>> X = Table.of({"colour": ["red", "blue", "blue", "red"], "age": [1.0, 2.0, 3.0, None]})
        >>> tree = DecisionTreeRegressor().fit(X, [1.0, 1.0, 4.0, 6.0])
        >>> print(tree.rules())
        if age <= 2.5: 1 (50 % of the rows, risk 0)
        if (age > 2.5 or missing) and colour is blue: 4 (25 % of the rows, risk 0)
        if (age > 2.5 or missing) and colour is red: 6 (25 % of the rows, risk 0)
        """
        return rules_of(self, feature_names=feature_names, missing=missing)

    def explain(
        self,
        X: Any,
        *,
        feature_names: Sequence[str] | None = None,
        missing: bool | None = None,
    ) -> list[str]:
        """Why each row of X is predicted as it is: the rule of its leaf and its own values.

        Examples
        --------
        >>> from empirisk import DecisionTreeRegressor
        >>> tree = DecisionTreeRegressor(max_depth=1).fit([[1.0], [2.0], [3.0]], [1.0, 1.0, 4.0])
        >>> tree.explain([[2.2]])
        ['1, since x0 <= 2.5 (here x0 = 2.2); leaf 1, 67 % of the rows of training']
        """
        return explain(self, X, feature_names=feature_names, missing=missing)
