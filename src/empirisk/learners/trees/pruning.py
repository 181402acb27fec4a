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
    lost : "above", "below" or None
        Where alphas lie that no number can be; none of them can then be told.
    """

    alpha: Floats
    steps: Floats
    risks: Floats
    risk: float
    lost: str | None = None

    @classmethod
    def of(cls, tree: Tree, risks: Floats) -> "PruningSequence":
        """The sequence of a tree whose nodes have these risks, parts of the whole."""
        n, (parent, _, end) = tree.node_count, tree.relatives()
        right = np.ascontiguousarray(tree.children_right)
        alpha, steps, after = np.empty(n), np.empty(n), np.empty(n)
        lost = lost_alphas(tree, risks)
        if lost == "above":  # in parts of the root's; what is above 0 is above all numbers
            so_far = np.append(0.0, np.cumsum(tree.gain))
            risks = so_far[end] - so_far[:-1]
        count = weakest_links(right, parent, end, risks, alpha, steps, after)
        whole = float(risks[tree.is_leaf].sum())
        steps = steps[:count].copy()
        if lost == "above":
            alpha[alpha > ROUNDING] = np.inf
        elif lost is None:
            merge_ties(alpha, steps, risks)
        return cls(alpha, steps, after[:count].copy(), whole, lost)

    def path(self) -> Bunch:
        """As scikit-learn's `cost_complexity_pruning_path`: a tree for each step, 0 the whole."""
        refuse_lost(self.lost)
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
        refuse_lost(self.lost)
        alphas = np.unique(self.steps[self.steps > 0])
        if len(alphas) > sizes:
            fewer = np.geomspace(1, len(alphas), sizes)  # steps counted from the root
            kept = np.unique(len(alphas) - np.unique(np.round(fewer).astype(int)))
            alphas = alphas[kept]
        with np.errstate(under="ignore", over="ignore"):
            between = np.sqrt(alphas[:-1]) * np.sqrt(alphas[1:])
            last = np.minimum(10 * alphas[-1:], np.finfo(float).max)
        return [0.0, *between.tolist(), *last.tolist()]


def merge_ties(alpha: Floats, steps: Floats, risks: Floats) -> None:
    """Make alphas equal, in place, that differ by rounding alone: the least of them, or 0.

    An alpha is a difference of risks of its node and below, which is off by some last bits of the
    node's risk. Left as they are, equal alphas would have trees between them that are never the
    best, and a split that gains nothing an alpha of its own.
    """
    inner = alpha > -np.inf
    values, place = np.unique(alpha[inner], return_inverse=True)
    slack = np.zeros(len(values))
    np.maximum.at(slack, place, ROUNDING * risks[inner])
    slack[1:] = np.maximum(slack[1:], slack[:-1])
    starts = np.diff(values, prepend=0.0) > slack
    least = np.where(starts, values, 0.0)[np.maximum.accumulate(starts * np.arange(len(values)))]
    alpha[inner] = least[place]
    steps[:] = least[np.searchsorted(values, steps)]


def lost_alphas(tree: Tree, risks: Floats) -> str | None:
    """Whether alphas overflow ("above") or vanish ("below"): a split with a gain has one."""
    if not np.isfinite(risks).all():
        return "above"
    gains = tree.gain[tree.gain > ROUNDING]
    return "below" if len(gains) and risks[0] * gains.min() < TINY else None


def refuse_lost(lost: str | None) -> None:
    """Alphas that are no numbers cannot be told; what to do."""
    if lost is None:
        return
    raise DataError(
        "values of ccp_alpha are in the units of the impurity, which for squared errors are "
        f"squares of those of y; of these data they are {lost} all numbers that a computer can "
        f"write ({TINY:.1e} to {LARGEST:.1e}): {'multiply' if lost == 'below' else 'divide'} y by "
        "a power of ten, which changes no split"
    )


def threshold_of(ccp_alpha: float) -> float:
    """The largest alpha of nodes that are pruned: none at 0, as in scikit-learn."""
    return float(ccp_alpha) if ccp_alpha > 0 else -1.0


def impurity_risks(tree: Tree, factors: Floats | None = None) -> Floats:
    """Each node's impurity times its part of the weight: what scikit-learn prunes by.

    `factors` are those of the classes by altered priors, which the impurities have in them.
    """
    weight = tree.weighted_n_node_samples
    if factors is not None:
        weight = weight * (tree.value[:, 0] @ factors)
    return tree.impurity * (weight / weight[0])


def cost_risks(tree: Tree, labels: Ints, costs: Floats) -> Floats:
    """What the mistakes of each node cost, were it a leaf, as a part of the whole: R's rpart."""
    weight = tree.weighted_n_node_samples
    return (costs[labels] * tree.value[:, 0]).sum(axis=1) * (weight / weight[0])
