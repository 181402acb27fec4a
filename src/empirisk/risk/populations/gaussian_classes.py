"""Gaussian classes: X given Y = k is N(m_k, S_k), the model behind linear discriminants."""

from collections.abc import Sequence
from itertools import permutations
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.linalg import solve_triangular
from scipy.special import softmax
from scipy.stats import norm

from empirisk.losses import ClassificationLoss, Loss
from empirisk.risk.populations.classes import ClassPopulation, sorted_labels
from empirisk.risk.populations.features import Features, covariance_matrix
from empirisk.risk.populations.linear_rules import (
    DRAWS,
    JUDGED_BY,
    Affine,
    affine,
    is_linear,
    judged_by_draws,
)
from empirisk.risk.populations.true_risk import Known
from empirisk.runtime.arrays import Array, Floats, Ints
from empirisk.runtime.errors import ParameterError
from empirisk.runtime.parallel import one_blas_thread
from empirisk.runtime.scalars import real_numbers


class GaussianMixture(Features):
    """Rows from K normal distributions; `draw_labelled` also says from which."""

    mean: Floats
    covariance: Floats

    def __init__(self, means: Floats, roots: Floats, priors: Floats) -> None:
        self.means, self.roots, self.priors = means, roots, priors
        self.mean = priors @ means
        between = means - self.mean
        within = np.einsum("k,kij,klj->il", priors, roots, roots)
        with np.errstate(over="ignore"):  # then risks are not read off from moments
            self.covariance = within + (priors[:, None] * between).T @ between

    def draw_labelled(self, n: int, rng: np.random.Generator) -> tuple[Floats, Ints]:
        codes = rng.choice(len(self.priors), n, p=self.priors)
        z = rng.standard_normal((n, self.means.shape[1]))
        with one_blas_thread():
            for k, root in enumerate(self.roots):
                z[codes == k] = z[codes == k] @ root.T
        return self.means[codes] + z, codes

    def draw(self, n: int, rng: np.random.Generator) -> Floats:
        return self.draw_labelled(n, rng)[0]


class GaussianClasses(ClassPopulation):
    """X | Y = k ~ N(m_k, S_k) with prior probabilities P(Y = k), in any number of features.

    Two classes of equal covariance S have a linear Bayes rule, and with equal priors the Bayes
    risk Phi(-D/2), D^2 = (m_1 - m_0)' S^-1 (m_1 - m_0). The risk of any linear rule that predicts
    the second class where w'x + b > 0 is in closed form, also where the covariances differ:

        P_0 C(1|0) Phi((w'm_0 + b)/s_0) + P_1 C(0|1) Phi(-(w'm_1 + b)/s_1),  s_k^2 = w'S_k w.

    Parameters
    ----------
    means : array-like of shape (K, p)
    covariance : float, array-like of shape (p,), (p, p) or (K, p, p)
        One for all classes, or one for each; a number or a vector holds variances.
    priors : array-like of shape (K,), optional
        Equal by default.
    classes : sequence, optional
        Labels in sorted order; 0..K-1 by default.

    Examples
    --------
    >>> population = GaussianClasses([[1.0], [3.0]], 0.5)
    >>> round(population.bayes_risk().value, 5)
    0.07865
    >>> population.class_probabilities([[2.0], [2.5]]).round(4)
    array([[0.5   , 0.5   ],
           [0.1192, 0.8808]])
    """

    def __init__(
        self,
        means: ArrayLike,
        covariance: ArrayLike = 1.0,
        *,
        priors: ArrayLike | None = None,
        classes: Sequence[Any] | None = None,
    ) -> None:
        self.means = real_numbers(means, "means")
        if self.means.ndim != 2 or len(self.means) < 2 or not np.isfinite(self.means).all():
            raise ParameterError(
                f"means has shape {self.means.shape}; wanted a row of finite numbers for each of "
                "two or more classes"
            )
        K, p = self.means.shape
        given = real_numbers(covariance, "covariance")
        each = given if given.ndim == 3 else np.broadcast_to(covariance_matrix(given, p), (K, p, p))
        if len(each) != K:
            raise ParameterError(f"there are {len(each)} covariances for {K} classes; give {K}")
        self.covariances = np.stack([covariance_matrix(matrix, p) for matrix in each])
        self.priors = _shares(priors, K)
        self.classes = sorted_labels(classes, K)
        self._roots = np.stack([_cholesky(matrix) for matrix in self.covariances])
        self.features: GaussianMixture = GaussianMixture(self.means, self._roots, self.priors)

    @property
    def has_equal_covariances(self) -> bool:
        return bool((self.covariances == self.covariances[0]).all())

    def draw(self, n: int, rng: np.random.Generator) -> tuple[Floats, Array]:
        X, codes = self.features.draw_labelled(n, rng)
        return X, self.classes[codes]

    def class_probabilities(self, X: Any) -> Floats:
        """By Bayes' formula, P_k N(x; m_k, S_k) over the sum of all."""
        rows = real_numbers(X, "X")
        if rows.ndim != 2 or rows.shape[1] != self.means.shape[1] or not np.isfinite(rows).all():
            raise ParameterError(
                f"X has shape {rows.shape}, or numbers that are not finite; wanted rows of "
                f"{self.means.shape[1]} finite number(s)"
            )
        with one_blas_thread():
            z = np.stack(
                [
                    solve_triangular(root, (rows - mean).T, lower=True)
                    for root, mean in zip(self._roots, self.means, strict=True)
                ]
            )
        # Differences of squares of scaled numbers, so that rows far away do not end as inf - inf.
        scale = np.maximum(np.abs(z).max(axis=(0, 1)), 1.0)
        farther = self._beyond_nearest(z / scale, scale)
        with np.errstate(over="ignore"):
            farther = (farther - farther.min(axis=0)) * scale * scale
        log_root = np.log(np.diagonal(self._roots, axis1=1, axis2=2)).sum(axis=1)
        constant = np.log(self.priors) - log_root
        return softmax(constant[:, None] - farther / 2, axis=0).T

    def _beyond_nearest(self, z: Floats, scale: Floats) -> Floats:
        """|z_k|^2 less that of the nearest class j, for each class and row.

        Under one covariance as (z_k - z_j)'(z_k + z_j), where z_k - z_j does not depend on x: far
        away the two squares are the same number.
        """
        square = np.square(z).sum(axis=1)
        nearest = square.argmin(axis=0)
        square = square - square.min(axis=0)
        for j, k in permutations(range(len(z)), 2):
            rows = nearest == j
            if rows.any() and np.array_equal(self.covariances[j], self.covariances[k]):
                gap = self.means[j] - self.means[k]
                apart = solve_triangular(self._roots[j], gap, lower=True)[:, None] / scale[rows]
                square[k, rows] = (apart * (z[k][:, rows] + z[j][:, rows])).sum(axis=0)
        return square

    def known_bayes_risk(self, loss: Loss) -> Known | None:
        """Two classes of equal covariance: the Bayes rule is linear."""
        costs = _costs(loss, len(self.classes))
        if costs is None or not self.has_equal_covariances:
            return None
        weight = self.priors * costs
        if not (weight > 0).all():
            return Known(0.0, "one of the two mistakes costs nothing")
        threshold = np.log(weight[1]) - np.log(weight[0])
        # The score has mean -D^2/2 + threshold and D^2/2 + threshold, and the variance D^2.
        half = self.means[1] / 2 - self.means[0] / 2
        size = np.abs(half).max() or 1.0
        with np.errstate(over="ignore"):
            D = 2 * np.linalg.norm(solve_triangular(self._roots[0], half / size, lower=True)) * size
        shift = threshold / D if D > 0 else np.where(threshold > 0, np.inf, -np.inf)
        wrong = norm.cdf([shift - D / 2, -shift - D / 2])
        return Known(float(weight @ wrong), "the Bayes rule is linear")

    def known_risk(self, predictor: Any, loss: Loss, *, judged: bool = False) -> Known | None:
        """Two classes, and a classifier that goes by the sign of a linear decision function."""
        costs = _costs(loss, len(self.classes))
        score = getattr(predictor, "decision_function", None)
        known = np.array_equal(getattr(predictor, "classes_", ()), self.classes)
        if costs is None or score is None or not known:
            return None
        linear = is_linear(predictor)
        if not (linear or judged):
            return None
        draws = DRAWS if linear else JUDGED_BY
        rule = affine(score, self.features, draws)
        if rule is None:
            return None
        X = self.features.draw(4 * DRAWS if linear else draws, np.random.default_rng(0))
        predicted = np.searchsorted(self.classes, predictor.predict(X))
        near = np.abs(rule(X)) <= 1e-6 * np.abs(rule(X)).max()
        if not ((predicted == (rule(X) > 0)) | near).all():
            return None  # its predictions have another threshold
        what = "a linear rule" if linear else f"a rule {judged_by_draws()}"
        return Known(self._linear_risk(rule, costs), f"{what} between Gaussian classes")

    def _linear_risk(self, rule: Affine, costs: Floats) -> float:
        """costs: of predicting 1 when 0 is true, and of predicting 0 when 1 is true."""
        score = rule(self.means)
        spread = np.sqrt(np.einsum("i,kij,j->k", rule.coef, self.covariances, rule.coef))
        with np.errstate(divide="ignore", invalid="ignore"):
            ratio = np.where(spread > 0, score / spread, np.where(score > 0, np.inf, -np.inf))
        return float(self.priors * costs @ norm.cdf([ratio[0], -ratio[1]]))


def _costs(loss: Loss, K: int) -> Floats | None:
    """C(1|0) and C(0|1) of a loss of two classes; None of other losses."""
    if K != 2 or loss.output != "value" or not isinstance(loss, ClassificationLoss):
        return None
    return loss(np.array([0, 1]), np.array([1, 0]))


def _cholesky(covariance: Floats) -> Floats:
    try:
        return np.asarray(np.linalg.cholesky(covariance), dtype=float)
    except np.linalg.LinAlgError:
        raise ParameterError(
            "the covariance of a class is singular, so that the class has no density: give a "
            "positive definite one"
        ) from None


def _shares(priors: ArrayLike | None, K: int) -> Floats:
    given = np.ones(K) if priors is None else real_numbers(priors, "priors")
    if given.shape != (K,) or not (np.isfinite(given) & (given > 0)).all():
        raise ParameterError(f"priors is {priors!r}; wanted {K} numbers > 0, one for each class")
    return given / given.sum()
