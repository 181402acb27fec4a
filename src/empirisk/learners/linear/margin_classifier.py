"""Linear classifiers by any margin loss: perceptron, support vector machine, and their like."""

from collections.abc import Sequence
from typing import Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.metaestimators import available_if

from empirisk.learners.class_weights import ClassWeightMixin
from empirisk.learners.linear.accepted_parameters import (
    ABOVE_ZERO,
    COUNT,
    FLAG,
    TOLERANCE,
    check_accepted,
)
from empirisk.learners.linear.linear_classifier import LinearClassifier
from empirisk.learners.linear.margin_path import (
    MarginPath,
    checked_C,
    checked_loss,
    one_against_rest,
    probabilities,
)
from empirisk.learners.linear.margin_stream import learn_more
from empirisk.losses.margin import Perceptron, as_margin_loss
from empirisk.losses.margin_loss import MarginLoss
from empirisk.risk.axis import Axis, Freedom, PathMixin
from empirisk.runtime.arrays import Floats, Ints
from empirisk.runtime.complaints import refuse_one_class
from empirisk.runtime.parallel import one_blas_thread
from empirisk.runtime.validation import check_fit
from empirisk.solvers.margin_rows import MarginRows

ACCEPTED = {
    "fit_intercept": FLAG,
    "max_iter": COUNT,
    "eta0": ABOVE_ZERO,
    "t0": ABOVE_ZERO,
    "power_t": TOLERANCE,
}
STEPS = 30
RANGE = {"l2": (10.0, 1e-5), "l1": (1.0, 1e-3)}
"""Of the default grid: the strongest and the weakest penalty, in units of the data."""


def _gives_probabilities(learner: Any) -> bool:
    return _loss_of(learner).has_probability


def _loss_of(learner: Any) -> MarginLoss:
    """What its scores are fitted to, or will be."""
    return as_margin_loss(getattr(learner, "_fitted_loss", learner.loss))


class MarginClassifier(ClassWeightMixin, PathMixin, LinearClassifier):
    """The linear rule f(x) = b0 + x'b with the least penalised margin risk: minimise

        C sum_i w_i phi(y_i f(x_i)) + |b|^2 / 2    (or + |b|_1),    y_i in {-1, +1}.

    The intercept b0 is not penalised. Several classes: one rule for each against the rest, and the
    largest f_k(x) decides. With `loss="hinge"` this is the linear support vector machine. Of many
    classes it finds few: where a class has less than half the rows wherever one looks, the rule
    with the least hinge loss says "the rest" everywhere, f_k = -1, and classes tie. The logit loss
    and `LogisticRegression` rank them.

    The perceptron loss max(0, -y f) is least at b = 0, whatever the data and the penalty; with it
    the rule is that of Rosenblatt instead: go through the rows and add w_i y_i x_i to b where
    y_i f(x_i) <= 0, until there is none. The x_i are all divided by one number and, where there
    is an intercept, taken about their mean. On separable data that comes to an end (Novikoff 1962);
    on others the best rule seen in `max_iter` passes is kept. It has no penalty: `C` and `penalty`
    change nothing.

    Complexity axis: `C`; `Tuned(MarginClassifier())` chooses it.

    Parameters
    ----------
    loss : str or MarginLoss
        phi: "hinge", "squared_hinge", "logit", "exponential", "square", "perceptron", or a
        `MarginLoss` of your own, whose derivative must be continuous: where it jumps, the minimum
        may be missed, and `converged_` is then False. The logit loss is log_2(1 + exp(-z)): its C
        is that of logistic regression times log 2.
    penalty : {"l2", "l1"}
        "l1" makes many coefficients zero. It goes with every loss but the perceptron's, which has
        no penalty.
    C : float
        The weight of the losses against the penalty, as in scikit-learn's `LinearSVC`: a small C
        is a strong penalty. (`alpha` of its `SGDClassifier` is 1 / (C n).)
    fit_intercept : bool
        Without it the rule passes through the origin.
    class_weight : None, "balanced" or dict of labels
        Weights of the classes, above 0, multiplied with those of the rows.
    max_iter : int
        The most steps of the solver, or passes of the perceptron.
    eta0, t0, power_t : float
        The step lengths of `partial_fit`: step t has eta0 / (1 + t / t0)^power_t, divided by the
        mean squared length of the rows of the first call, in a unit in which their cells are about
        1.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
    coef_, intercept_ : arrays of shape (n_classes, n_features) and (n_classes,)
        With two classes one row, of the second class.
    n_iter_ : int
        Steps (the largest number, of several classes).
    converged_ : bool
        Whether the minimum was reached; of the perceptron, whether no row is wrong.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Notes
    -----
    Hinge: dual coordinate descent or an interior-point method, then the exact solution from the
    rows on the margin; with L1, a linear programme, from these and the coefficients that are zero.
    The others: Newton, or L-BFGS where there are more than 2,000 columns or no second derivative;
    L1: proximal Newton by coordinate descent. The results are exact to rounding, so a path, in
    which each problem begins at the last one's solution, equals single fits. Where several
    intercepts are optimal, the hinge loss takes their middle.

    References
    ----------
    P. S. Bradley and O. L. Mangasarian (1998), Feature selection via concave minimization and
    support vector machines.
    C. Cortes and V. Vapnik (1995), Support-vector networks.
    A. B. Novikoff (1962), On convergence proofs for perceptrons.

    Examples
    --------
    >>> X, y = [[0.0], [1.0], [3.0], [4.0]], ["a", "a", "b", "b"]
    >>> svm = MarginClassifier("hinge", C=10.0).fit(X, y)
    >>> print(svm.coef_, svm.intercept_)
    [[1.]] [-2.]
    >>> MarginClassifier("logit").fit(X, y).predict_proba([[2.0]])
    array([[0.5, 0.5]])
    """

    axis: ClassVar[Axis | None] = Axis(("C",), larger="richer", scale="log")
    feature_scaling: ClassVar[Literal["each", "common"] | None] = "common"
    freedom: ClassVar[Freedom] = "columns"
    has_influence: ClassVar[bool] = True

    def __init__(
        self,
        loss: str | MarginLoss = "hinge",
        *,
        penalty: str = "l2",
        C: float = 1.0,
        fit_intercept: bool = True,
        class_weight: Any = None,
        max_iter: int = 1000,
        eta0: float = 1.0,
        t0: float = 100.0,
        power_t: float = 0.75,
    ) -> None:
        self.loss = loss
        self.penalty = penalty
        self.C = C
        self.fit_intercept = fit_intercept
        self.class_weight = class_weight
        self.max_iter = max_iter
        self.eta0 = eta0
        self.t0 = t0
        self.power_t = power_t

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn from rows in memory.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, p)
            A sparse matrix is made dense, here and to predict.
        y : array-like of shape (n,)
            Labels of at least two classes.
        sample_weight : array-like of shape (n,), optional
            A row of weight w counts as w copies of it.

        Returns
        -------
        self
        """
        data = check_fit(self, X, y, sample_weight, classifier=True)
        classes = data.classes
        assert classes is not None
        refuse_one_class(classes, "MarginClassifier")
        self._check_parameters()
        weight = self._class_weighted(data.y, data.sample_weight, classes)
        path = MarginPath(self, data.X, data.y, weight, [self.C], len(classes))
        return path.write(0, self, classes)

    def partial_fit(
        self, X: Any, y: Any, classes: ArrayLike | None = None, sample_weight: Any = None
    ) -> Self:
        """Learn a little more, by one pass of stochastic gradient descent over these rows.

        The objective is that of `fit` on all rows seen so far; of the perceptron it is the loss,
        without a penalty. The rows come in their order, 32 to a step. With `penalty="l1"`
        coefficients become small, but hardly ever exactly zero.

        Parameters
        ----------
        X : array-like of shape (m, p)
        y : array-like of shape (m,)
        classes : array-like, needed in the first call
            All labels there are.
        sample_weight : array-like of shape (m,), optional
            A row of weight w counts w times in its step.

        Returns
        -------
        self
        """
        self._check_parameters()
        return learn_more(self, X, y, classes, sample_weight)

    def axis_values(
        self, X: Floats, y: Ints, sample_weight: Floats, *, n_train: int
    ) -> Sequence[float]:
        """30 log steps, from coefficients near zero to a penalty that hardly counts."""
        self._check_parameters()
        loss = checked_loss(self.loss, self.penalty)
        if isinstance(loss, Perceptron):
            return (checked_C(self.C),)
        n_classes = int(y.max()) + 1
        weight = self._class_weighted(y, sample_weight, np.arange(n_classes))
        with one_blas_thread():
            rows = MarginRows.of(X, weight, fit_intercept=self.fit_intercept, rotate=False)
            if self.penalty == "l2":
                size = float(rows.share @ np.einsum("ij,ij->i", rows.X, rows.X))
            else:
                signs = one_against_rest(y, n_classes)
                size = max(float(np.abs((rows.share * sign) @ rows.X).max()) for sign in signs)
        first, last = (np.log(max(size, 1e-300)) + np.log(end) for end in RANGE[self.penalty])
        power = 1 if self.penalty == "l1" else 2
        unit = np.log(rows.total) + power * np.log(rows.scale)
        logs = -np.linspace(first, last, STEPS) - unit
        return [float(C) for C in np.exp(np.clip(logs, -690.0, 690.0))]

    def fit_path(
        self, X: Floats, y: Ints, sample_weight: Floats, values: Sequence[Any], *, n_classes: int
    ) -> MarginPath:
        """All strengths, from the strongest penalty to the weakest."""
        self._check_parameters()
        weight = self._class_weighted(y, sample_weight, np.arange(n_classes))
        return MarginPath(self, X, y, weight, values, n_classes)

    @available_if(_gives_probabilities)
    def predict_proba(self, X: Any) -> Floats:
        """The probabilities of the classes, where the loss tells them.

        The minimiser f of the risk of the logit, exponential, square and squared hinge loss is a
        function of P(Y = 1 | x), and its inverse is taken (`MarginLoss.probability`); of several
        classes the probabilities of each against the rest are divided by their sum. The
        perceptron and the hinge loss tell only the likelier class and have no `predict_proba`.
        """
        return probabilities(_loss_of(self), self._values(X))[:, 0]

    def check_loaded(self) -> None:
        """Raise an error also where it was fitted to a loss that there is not."""
        super().check_loaded()
        if hasattr(self, "classes_"):
            _loss_of(self)

    def _check_parameters(self) -> None:
        check_accepted(self, ACCEPTED)
