"""The cross-validated pruning sequence of a tree, in the form of the table of R's rpart."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import is_classifier
from sklearn.utils.validation import check_is_fitted

from empirisk.charts.pruning_curve import draw_pruning_curve
from empirisk.learners.trees.printed_columns import printed_columns, significant
from empirisk.learners.trees.pruning import LARGEST, TINY, refuse_lost, threshold_of
from empirisk.learners.trees.pruning_weights import (
    costs_of_loss,
    errors_unlike_cp,
    weight_of_rows,
)
from empirisk.learners.trees.wording import one_line
from empirisk.risk.curves import RiskPath
from empirisk.risk.foreign import at_value, fit_foreign
from empirisk.risk.learner import learner_of
from empirisk.risk.out_of_fold import OutOfFold
from empirisk.runtime.arrays import Floats, Ints
from empirisk.runtime.errors import ParameterError

SAME = 1e-9  # alphas closer than this part are one: sums of risks were rounded


@dataclass(frozen=True, eq=False)
class PruningTable:
    """A row for each tree of the pruning sequence, from the root alone to the whole tree.

    Attributes
    ----------
    cp : array
        The complexity parameter from which on the tree is the best: ccp_alpha as a part of the
        root's risk.
    nsplit : int array
        The number of splits: leaves - 1.
    rel_error : array
        The risk on the training rows as a part of the root's.
    xerror, xstd : arrays
        The cross-validated risk and its standard error (with the divisor n, as in rpart), as parts
        of the root's.
    ccp_alpha : array
        The value at which the trees of the folds were judged.
    root_risk : float
        The mean loss of the root on the training rows.
    n_samples : int
    total_weight : float
    kind : {"Classification", "Regression"}
    features : list of str
        Those that the chosen tree splits by.
    chosen : int
        The row of the chosen tree.
    note : str
        What is to be said of the numbers: where the tree weighs classes and the errors do not.
    """

    cp: Floats
    nsplit: Ints
    rel_error: Floats
    xerror: Floats
    xstd: Floats
    ccp_alpha: Floats
    root_risk: float
    n_samples: int
    total_weight: float
    kind: str
    features: list[str]
    chosen: int
    note: str = ""

    @classmethod
    def of(cls, path: RiskPath, model: Any, note: str = "") -> "PruningTable":
        """From the risks along `ccp_alpha`, and a tree that was fitted to the same rows."""
        tree, n = model.tree_, int(model.tree_.n_node_samples[0])
        alphas = split_alphas(model)
        values = np.array(path.values, dtype=float)
        rows = _one_for_each_tree(values, alphas)
        nsplit = np.array([_splits_left(alphas, values[j]) for j in rows])
        pruned_by = float(_own(model)._node_risks(tree, _n_classes(model))[0])
        if len(alphas) and not TINY <= pruned_by <= LARGEST:
            refuse_lost("below" if pruned_by < TINY else "above")
        if nsplit[0] > 0 or not path.training_risk[rows[0]] > 0:
            raise ParameterError(
                "errors are parts of the root's, and "
                + (
                    f"the largest ccp_alpha, {values.max():g}, leaves {nsplit[0]} split(s): leave "
                    "`values` out, or add a larger one"
                    if nsplit[0] > 0
                    else "the root makes none: all targets are equal"
                )
            )
        root = float(path.training_risk[rows[0]])
        begins = np.array([_begins(alphas, values[j]) for j in rows])
        return cls(
            cp=begins / pruned_by,
            nsplit=nsplit,
            rel_error=path.training_risk[rows] / root,
            xerror=path.risk[rows] / root,
            xstd=path.standard_error[rows] * np.sqrt((n - 1) / n) / root,
            ccp_alpha=values[rows],
            root_risk=root,
            n_samples=n,
            total_weight=weight_of_rows(model),
            kind="Classification" if is_classifier(model) else "Regression",
            features=[
                one_line(model.columns_[j].name) for j in np.unique(tree.feature[~tree.is_leaf])
            ],
            chosen=_row_of(nsplit, _splits_left(alphas, values[path.chosen])),
            note=note,
        )

    @property
    def one_se(self) -> int:
        """The row of the smallest tree within one standard error of the least xerror."""
        best = int(np.argmin(self.xerror))
        limit = self.xerror[best] + np.nan_to_num(self.xstd[best])
        return int(np.flatnonzero(self.xerror <= limit)[0])

    def to_dict(self) -> dict[str, list[float]]:
        """Columns by the names that rpart gives them, as a frame takes them."""
        names = ("CP", "nsplit", "rel error", "xerror", "xstd")
        return {name: column.tolist() for name, column in zip(names, self._columns(), strict=True)}

    def rows(self) -> list[tuple[float, int, float, float, float]]:
        """(CP, nsplit, rel error, xerror, xstd) of each tree."""
        return list(zip(*(column.tolist() for column in self._columns()), strict=True))

    def _columns(self) -> tuple[Floats, Ints, Floats, Floats, Floats]:
        return self.cp, self.nsplit, self.rel_error, self.xerror, self.xstd

    def __str__(self) -> str:
        """As R's `printcp` prints it."""
        total, weight = self.root_risk * self.total_weight, self.total_weight
        lines = [
            f"{self.kind} tree",
            "",
            "Features of the chosen tree:",
            ", ".join(self.features) or "none",
            "",
            f"Root node error: {significant(total, 5)}/{significant(weight, 7)} = "
            f"{significant(self.root_risk, 5)}",
            "",
            f"n= {self.n_samples}",
            "",
            *([*self.note.splitlines(), ""] if self.note else []),
            *printed_columns(self.to_dict(), digits=5, marked=self.chosen),
        ]
        return "\n".join(lines)

    def plot(self, ax: Any = None) -> Any:
        """The errors against the size of the tree, as R's `plotcp` draws them."""
        columns = (self.cp, self.nsplit + 1, self.xerror, self.xstd, self.rel_error)
        return draw_pruning_curve(*columns, chosen=self.chosen, ax=ax)


def pruning_table(result: Any) -> PruningTable:
    """The cross-validated pruning sequence in the form of R's rpart: CP, nsplit, errors.

    Each tree is judged on held-out rows at the geometric mean of the ends of the interval of
    ccp_alpha in which it is the best, as in rpart: with the folds of rpart in `cv` (and
    `ccp_risk="cost"` for a classifier) the numbers are the same. Two rules differ: rpart drops
    splits that save nothing from the whole tree, and sends a row that lies on a threshold to the
    right. And with costs that are not symmetric, xerror and xstd are those of the costs given:
    those of rpart are of its loss matrix transposed. With `sample_weight` xstd takes a row as one
    observation, rpart a row of weight w as w. The tree that was chosen has a star.

    With `class_weight`, as with priors in rpart, CP is of a risk in which the classes are weighed.
    The errors are of the loss by which `Tuned` chooses, and the usual one counts rows as they are:
    the table then says so, and its errors may rise where CP falls. With the loss Costs(C), C[i][j]
    the cost of i for j times the weight of class j (for "balanced" in proportion to 1 / rows of j),
    they are of the weighed risk too, and those of rpart.

    Parameters
    ----------
    result : fitted Tuned, or OutOfFold
        Of a decision tree along `ccp_alpha`, also as the last step of a pipeline.

    Returns
    -------
    PruningTable

    Examples
    --------
    >>> import numpy as np
    >>> from empirisk import DecisionTreeRegressor, Tuned
    >>> X = np.arange(200.0)[:, None]
    >>> y = np.floor(X[:, 0] / 50) + np.sin(X[:, 0] ** 2)
    >>> tuned = Tuned(DecisionTreeRegressor(max_leaf_nodes=5), random_state=0).fit(X, y)
    >>> print(pruning_table(tuned))
    Regression tree
    <BLANKLINE>
    Features of the chosen tree:
    x0
    <BLANKLINE>
    Root node error: 351.06/200 = 1.7553
    <BLANKLINE>
    n= 200
    <BLANKLINE>
             CP nsplit rel error  xerror     xstd
    1 0.5529743      0   1.00000 1.00600 0.076398
    2 0.1110951      1   0.44703 0.46726 0.032634
    3 0.0708875      2   0.33593 0.34636 0.025079
    4 0.0076757      3   0.26504 0.29106 0.016343 *
    5 0.0000000      4   0.25737 0.30035 0.017623
    """
    if isinstance(result, OutOfFold):
        work, j = result.work, result.choose()
        path = RiskPath.of(result, j)
        model = fit_foreign(
            at_value(work.estimator, work.axis, result.values[j]), work.problem, None
        )
    else:
        model, path = _of_tuned(result)
    tree = learner_of(model)
    along = None if path.axis is None else path.axis.params
    if not hasattr(tree, "tree_") or along != ("ccp_alpha",):
        raise _no_tree(result)
    if isinstance(result, OutOfFold):
        costs = costs_of_loss(result.work.problem.loss, None)
    else:
        costs = costs_of_loss(result.loss, getattr(tree, "classes_", None))
    return PruningTable.of(path, tree, errors_unlike_cp(tree, costs))


def _of_tuned(result: Any) -> tuple[Any, RiskPath]:
    if hasattr(result, "estimator"):
        check_is_fitted(result)
    if not (
        hasattr(result, "best_estimator_") and isinstance(getattr(result, "path_", None), RiskPath)
    ):
        raise _no_tree(result)
    return result.best_estimator_, result.path_


def _no_tree(result: Any) -> ParameterError:
    came = type(result).__name__
    tree = came if came.startswith("DecisionTree") else "DecisionTreeRegressor"
    return ParameterError(
        f"a pruning table is made of a decision tree tuned along ccp_alpha, and this is "
        f"{result!r:.80}: give Tuned({tree}()).fit(X, y)"
    )


def split_alphas(model: Any) -> Floats:
    """The alpha at which each split of the whole tree goes, in order."""
    kept = getattr(model, "_split_alphas", None)
    if kept is not None:
        return kept
    if model.ccp_alpha > 0:
        raise ParameterError(
            f"this {type(model).__name__} does not know the splits that were pruned: fit it again"
        )
    return _own(model)._pruning(model.tree_, _n_classes(model)).split_alphas()


def _own(model: Any) -> Any:
    """The learner as it is for class codes."""
    return model.for_classes(model.classes_) if is_classifier(model) else model


def _n_classes(model: Any) -> int:
    return len(model.classes_) if is_classifier(model) else 0


def _splits_left(alphas: Floats, value: float) -> int:
    return int(np.count_nonzero(alphas > _just_above(value)))


def _just_above(value: float) -> float:
    return threshold_of(value) * (1 + SAME) if value > 0 else threshold_of(value)


def _begins(alphas: Floats, value: float) -> float:
    """The alpha from which on the tree at this value is the best."""
    gone = alphas[alphas <= _just_above(value)]
    return float(gone[-1]) if len(gone) else 0.0


def _ends(alphas: Floats, value: float) -> float:
    left = alphas[alphas > _just_above(value)]
    return float(left[0]) if len(left) else np.inf


def _one_for_each_tree(values: Floats, alphas: Floats) -> Ints:
    """Places of values, simple trees first: of those with one tree, the one in the middle.

    Where an interval ends at 0 or nowhere its middle does too: the least value, or the largest, at
    which the trees of folds are their roots.
    """
    found: dict[int, tuple[float, int]] = {}
    for j, value in enumerate(values):
        low, high = _begins(alphas, value), _ends(alphas, value)
        if high == np.inf:
            away = -value
        elif low == 0:
            away = value
        else:
            away = abs(np.log(value) - np.log(low) / 2 - np.log(high) / 2)
        size = _splits_left(alphas, value)
        if size not in found or away < found[size][0]:
            found[size] = (away, j)
    return np.array([found[size][1] for size in sorted(found)])


def _row_of(nsplit: Ints, size: int) -> int:
    return int(np.flatnonzero(nsplit == size)[0])
