"""Cost-complexity pruning: the nested trees that are best for R(T) + alpha |leaves of T|.

One growth gives the best tree for every alpha (Breiman, Friedman, Olshen & Stone 1984).
"""

from dataclasses import dataclass

import numpy as np
from sklearn.utils import Bunch

from empirisk.compiled.trees.pruning import weakest_links
from empirisk.learners.trees.tree import Tree
from empirisk.runtime.arrays import Bools, Floats, Ints
from empirisk.runtime.errors import DataError

MOST_VALUES = 200
ROUNDING = 1e-12  # gains of a smaller part of the root's impurity may be rounding errors
TINY, LARGEST = float(np.finfo(float).tiny), float(np.finfo(float).max)


@dataclass(frozen=True, eq=False)
class PruningSequence:
    """Of a tree: the alpha at which each node becomes a leaf, and the risks on the way.

    Attributes
    ----------
    alpha : array of shape (nodes,)
        From this alpha on an inner node is a leaf, or gone; -inf in leaves. It never grows from a
        node to its children.
    steps : array
        The alphas at which a node becomes a leaf, in order.
    risks : array
        The risk R of the tree after each step.
    risk : float
        That of the whole tree.
    """

    alpha: Floats
    steps: Floats
    risks: Floats
    risk: float

    @classmethod
    def of(cls, tree: Tree, risks: Floats) -> "PruningSequence":
        """The sequence of a tree whose nodes have these risks, parts of the whole."""
        _check_numbers(tree, risks)
        n, (parent, _, end) = tree.node_count, tree.relatives()
        right = np.ascontiguousarray(tree.children_right)
        alpha, steps, after = np.empty(n), np.empty(n), np.empty(n)
        count = weakest_links(right, parent, end, risks, alpha, steps, after)
        whole = float(risks[tree.is_leaf].sum())
        return cls(alpha, steps[:count].copy(), after[:count].copy(), whole)

    def path(self) -> Bunch:
        """As scikit-learn's `cost_complexity_pruning_path`: a tree for each step, 0 the whole."""
        return Bunch(
            ccp_alphas=np.concatenate([[0.0], self.steps]),
            impurities=np.concatenate([[self.risk], self.risks]),
        )

    def leaves(self, ccp_alpha: float) -> Bools:
        """Which nodes are leaves, or below one, at this alpha; 0 prunes nothing."""
        return self.alpha <= threshold_of(ccp_alpha)

    def split_alphas(self) -> Floats:
        """The alpha at which each split goes, in order: at alpha those above it are left."""
        return np.sort(self.alpha[self.alpha > -np.inf])

    def grid(self, sizes: int = MOST_VALUES) -> list[float]:
        """An alpha within each interval in which one tree is the best, from 0 to the root alone.

        Geometric means of the ends, as in R's rpart: an alpha in the middle stands best for the
        trees of the folds. The last is ten times the largest, as there: at it the trees of the
        folds are their roots too. Of a long sequence, trees are taken at even steps of log(leaves).
        """
        alphas = np.unique(self.steps[self.steps > 0])
        if len(alphas) > sizes:
            fewer = np.geomspace(1, len(alphas), sizes)  # steps counted from the root
            kept = np.unique(len(alphas) - np.unique(np.round(fewer).astype(int)))
            alphas = alphas[kept]
        with np.errstate(under="ignore", over="ignore"):
            between = np.sqrt(alphas[:-1]) * np.sqrt(alphas[1:])
            last = np.minimum(10 * alphas[-1:], np.finfo(float).max)
        return [0.0, *between.tolist(), *last.tolist()]


def _check_numbers(tree: Tree, risks: Floats) -> None:
    """Refuse alphas that overflow or vanish: a split with a gain has one, in units of the risk."""
    gains = tree.gain[tree.gain > ROUNDING]
    vanish = len(gains) > 0 and risks[0] * gains.min() < TINY
    if np.isfinite(risks).all() and not vanish:
        return
    raise DataError(
        "values of ccp_alpha are in the units of the impurity, which for squared errors are "
        f"squares of those of y; of these data they are {'below' if vanish else 'above'} all "
        f"numbers that a computer can write ({TINY:.1e} to {LARGEST:.1e}): "
        f"{'multiply' if vanish else 'divide'} y by a power of ten, which changes no split"
    )


def threshold_of(ccp_alpha: float) -> float:
    """The largest alpha of nodes that are pruned: none at 0, as in scikit-learn."""
    return float(ccp_alpha) if ccp_alpha > 0 else -1.0


def impurity_risks(tree: Tree) -> Floats:
    """Each node's impurity times its part of the weight: what scikit-learn prunes by."""
    weight = tree.weighted_n_node_samples
    return tree.impurity * (weight / weight[0])


def cost_risks(tree: Tree, labels: Ints, costs: Floats) -> Floats:
    """What the mistakes of each node cost, were it a leaf, as a part of the whole: R's rpart."""
    weight = tree.weighted_n_node_samples
    return (costs[labels] * tree.value[:, 0]).sum(axis=1) * (weight / weight[0])
