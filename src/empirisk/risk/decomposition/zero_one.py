"""0-1 loss: Domingos' unified decomposition (ICML 2000), whose parts add up, also for many classes.

At a point x let p_k be the probability of class k and q_k the share of training sets whose
classifier predicts it; y* the most probable class, and y_m, the main prediction, the one predicted
most often. Then

    noise     N = 1 - p_{y*},         the risk of the Bayes rule,
    bias      B = 1 if y_m != y*, else 0,
    variance  V = 1 - q_{y_m},        how often the main prediction is left,

    1 - sum_k p_k q_k = c1 N + B + c2 V,
    c1 = q_{y*} - sum_{k != y*} p_k q_k / N,
    c2 = 1 where y_m = y*, and -q_{y*} / V elsewhere.

With two classes, c1 = 2 q_{y*} - 1 and c2 = 1 or -1: where the main prediction is wrong, variance
helps. The mean of c2 V is the net variance, V where the learner is unbiased less |c2| V where it is
biased. The main prediction is that of the M training sets, so that at points where two classes are
predicted about equally often, bias and variance are uncertain, and their standard errors on the
large side; the error of their sum is not.
"""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from empirisk.losses import ZeroOne
from empirisk.risk.decomposition.parts import Decomposition, Parts
from empirisk.runtime.arrays import Array, Floats


@dataclass(frozen=True, eq=False)
class ZeroOneDecomposition(Decomposition):
    """Expected 0-1 risk = net noise + bias + net variance.

    `parts` and `standard_error` have "noise", "net_noise", "bias", "variance",
    "unbiased_variance", "biased_variance", "net_variance" and "total"; `pointwise` also the
    coefficients "c1" and "c2" and the labels "optimal" and "main".

    Examples
    --------
    >>> from empirisk import LinearDiscriminantAnalysis, risk
    >>> population = risk.populations.two_gaussians()
    >>> found = risk.bias_variance(
    ...     LinearDiscriminantAnalysis(), population, 20, n_sets=20, random_state=0
    ... )
    >>> parts = found.parts
    >>> whole = parts["net_noise"] + parts["bias"] + parts["net_variance"]
    >>> bool(abs(whole - parts["total"]) < 1e-12)
    True
    """

    summands: ClassVar[tuple[str, ...]] = ("net_noise", "bias", "net_variance")
    words: ClassVar[dict[str, str]] = {
        "risk": "0-1 risk",
        "net_noise": "net noise",
        "bias": "bias",
        "net_variance": "net variance",
        "total": "total",
    }

    @property
    def noise(self) -> float:
        """E N, the Bayes risk."""
        return self.parts["noise"]

    @property
    def net_noise(self) -> float:
        """E c1 N: less than the noise, since a wrong prediction may hit a noisy label."""
        return self.parts["net_noise"]

    @property
    def bias(self) -> float:
        """The share of x at which the main prediction is not the Bayes rule's."""
        return self.parts["bias"]

    @property
    def variance(self) -> float:
        """E V, how often a prediction differs from the main one."""
        return self.parts["variance"]

    @property
    def unbiased_variance(self) -> float:
        """E V where the main prediction is right: it adds to the risk."""
        return self.parts["unbiased_variance"]

    @property
    def biased_variance(self) -> float:
        """E |c2| V where the main prediction is wrong: it lowers the risk."""
        return self.parts["biased_variance"]

    @property
    def net_variance(self) -> float:
        """E c2 V, the unbiased less the biased variance."""
        return self.parts["net_variance"]

    @property
    def sentence(self) -> str:
        said = " + ".join(self._said(name) for name in self.summands)
        return (
            f"The 0-1 risk of {self.learner} is {self.total:.4g} = {said}; the Bayes risk is "
            f"{self.noise:.4g}, and the net variance is {self.unbiased_variance:.4g} where the "
            f"learner is unbiased less {self.biased_variance:.4g} where it is biased "
            f"({self.setting})."
        )


class ZeroOneAccounts:
    """Votes for each class at each point."""

    unit = 1.0
    result_class = ZeroOneDecomposition

    def __init__(self, probabilities: Floats, classes: Array) -> None:
        self.probabilities = probabilities
        self.classes = classes
        self.optimal = ZeroOne().bayes_action(probabilities)

    def summarise(self, prediction: Array, present: Array | None = None) -> Array:
        """One vote (classes, points, values); none at points that are not `present`."""
        votes = prediction == np.arange(len(self.classes))[:, None, None]
        return votes.astype(float) if present is None else votes * present[:, None].astype(float)

    def parts(self, sums: Array) -> dict[str, Floats]:
        """NaN at points with fewer than two predictions."""
        table = self._table(sums)
        c1, c2, N, B, V = (table[name] for name in ("c1", "c2", "noise", "bias", "variance"))
        net = c2 * V
        return {
            "noise": N,
            "net_noise": c1 * N,
            "bias": B,
            "variance": V,
            "unbiased_variance": np.where(B == 0, V, 0.0 * V),
            "biased_variance": np.where(B == 1, -net, 0.0 * V),
            "net_variance": net,
            "total": c1 * N + B + net,
        }

    def result(self, parts: Parts, j: int, **told: Any) -> ZeroOneDecomposition:
        found = self.result_class.at_value(parts, j, **told)
        table = self._table(parts.sums)
        found.pointwise.update(
            c1=table["c1"][:, j],
            c2=table["c2"][:, j],
            optimal=self.classes[self.optimal],
            main=self.classes[parts.sums[:, :, j].argmax(axis=0)],
        )
        return found

    def _table(self, sums: Array) -> dict[str, Floats]:
        """N, B, V, c1 and c2 at each point and value."""
        others, rows = len(self.classes) - 1, np.arange(len(self.optimal))
        count = sums.sum(axis=0)
        with np.errstate(invalid="ignore", divide="ignore"):
            q = np.where(count >= 2, sums / count, np.nan)
        main = sums.argmax(axis=0)
        q_optimal = q[self.optimal, rows]
        p_optimal = self.probabilities[rows, self.optimal]
        agree = np.einsum("tk,ktv->tv", self.probabilities, q) - p_optimal[:, None] * q_optimal
        N = np.broadcast_to(1 - p_optimal[:, None], agree.shape)
        B = np.where(np.isnan(q_optimal), np.nan, main != self.optimal[:, None])
        V = 1 - np.take_along_axis(q, main[None], axis=0)[0]
        # Where nothing varies the coefficients do not matter: all other classes count alike.
        hit = _ratio(agree, N, (1 - q_optimal) / others)
        c2 = np.where(B == 0, 1.0, -_ratio(q_optimal, V, np.full(V.shape, 1 / others)))
        return {"noise": N, "bias": B, "variance": V, "c1": q_optimal - hit, "c2": c2}


def _ratio(above: Floats, below: Floats, otherwise: Floats) -> Floats:
    return np.divide(above, below, out=otherwise.copy(), where=below > 0)
