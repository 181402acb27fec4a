"""Forward stagewise regression: L2-boosting, and boosting of any loss, with any weak learner."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from sklearn.base import RegressorMixin
from sklearn.utils.validation import check_is_fitted

from empirisk.charts.coefficient_path import draw_coefficient_path
from empirisk.learners.ensembles.boosting.additive_learner import AdditiveLearner
from empirisk.learners.ensembles.boosting.additive_path import Sum
from empirisk.learners.ensembles.boosting.column_rounds import (
    ColumnBoosting,
    ColumnRounds,
    StagedColumns,
)
from empirisk.learners.ensembles.boosting.forward_stagewise import WeakLearner, forward_stagewise
from empirisk.learners.ensembles.boosting.hat_matrices import (
    corrected_aic,
    freedom_of_columns,
    freedom_of_smoother,
    is_linear_rule,
)
from empirisk.learners.ensembles.boosting.regression_costs import (
    GradientCost,
    SquaredCost,
    checked_loss,
)
from empirisk.learners.trees.regressor import DecisionTreeRegressor
from empirisk.losses import Loss, Squared
from empirisk.risk.axis import Freedom
from empirisk.runtime.arrays import Array, Floats, Ints
from empirisk.runtime.errors import ParameterError


class StagewiseRegressor(RegressorMixin, AdditiveLearner):
    """A sum of weak learners that are fitted one after the other, none of them changed later:

        f_t = f_(t-1) + learning_rate * step_t * h_t,    t = 1, ..., n_estimators.

    With the squared loss h_t is fitted to the residuals y - f_(t-1) and the step is 1: L2-boosting
    (Buehlmann & Yu 2003). With any other loss h_t is fitted by least squares to the negative
    derivative of the loss at f_(t-1), and the step is the one with the least sum_i w_i L(y_i,
    f_(t-1)(x_i) + step h_t(x_i)), found by a line search (Friedman 2001).

    Complexity axis: `n_estimators`; `Tuned(StagewiseRegressor())` chooses it from one run for each
    fold.

    Parameters
    ----------
    estimator : None, "least_squares" or estimator
        The weak learner. None is `DecisionTreeRegressor(max_depth=3)`; trees of this library share
        one coding of the table, and take categories and missing values. "least_squares" is
        componentwise: of all lines a + b x_j in one column the best, so that columns are selected
        along the way. Or any regressor, ours, scikit-learn's or with its interface; every
        `random_state` in it is set to a seed of the round.
    n_estimators : int
        The number of rounds.
    learning_rate : float
        How much of each step is taken.
    loss : str, Loss or MarginLoss, or an object with `__call__` and `derivative`
        "squared", "absolute", "quantile:0.9", any loss of `empirisk.losses` for numbers; a margin
        loss such as `losses.Exponential()`, for y = -1 and +1, of which a discriminant function
        comes; or a loss of your own, convex in the prediction: loss(y, prediction) and
        loss.derivative(y, prediction) on arrays.
    init : None or "zero"
        Where f starts: None at the best constant (the mean, the median, ...), "zero" at 0. With
        "zero" the lines of "least_squares" pass through the origin.
    stop : None or "aic"
        "aic" ends after as many rounds, up to `n_estimators`, as have the least corrected AIC. For
        the squared loss and weak learners that are linear in y: "least_squares", `Ridge`,
        `LinearRegression`; up to 1,000 rows also nearest neighbours, splines and the like.
    n_jobs : int, optional
        Threads that share the rows of a prediction.
    random_state : int, RandomState, Generator or None

    Attributes
    ----------
    n_estimators_ : int
        The rounds there are: fewer where nothing was left to fit, or where the AIC stops.
    estimators_ : sequence of estimators
        The weak learners, unless they are lines.
    estimator_ : the estimator that these are clones of, or "least_squares"
    train_score_ : array of shape (rounds,)
        The mean loss of the training rows after each round.
    degrees_of_freedom_ : array of shape (rounds + 1,) or None
        The trace of the hat matrix after 0, 1, ... rounds, the mean at the start included; None
        where it is not known.
    aicc_ : array of shape (rounds + 1,) or None
        The corrected AIC.
    coef_, intercept_ : array of shape (p,), float
        Of "least_squares".
    selected_ : int array of shape (n_estimators_,)
        The column of each round, of "least_squares"; -1 where it added a constant.
    coef_path_ : array of shape (n_estimators_ + 1, p)
        The coefficients after 0, 1, ... rounds, of "least_squares".
    feature_importances_ : array of shape (p,)
        Of trees: the squared error that splits by each feature take away, as parts of the sum.
    stages_ : the rounds, in flat arrays: from them `estimators_` are made when they are asked for
    columns_ : list of CodedColumn
        Of trees: what the columns are, numbers or categories with their levels.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Notes
    -----
    The degrees of freedom of "least_squares" take the selected columns as if they had been chosen
    before y was seen (Buehlmann & Hothorn 2007). Having looked for them costs more, so the AIC
    tends to stop late, and intervals do not rely on them: use `Tuned` for an honest choice. With
    weights, n in the AIC is their sum.

    References
    ----------
    P. Buehlmann & B. Yu (2003), Boosting with the L2 loss, JASA 98. P. Buehlmann & T. Hothorn
    (2007), Boosting algorithms: regularization, prediction and model fitting, Statistical Science
    22. J. Friedman (2001), Greedy function approximation, Annals of Statistics 29.

    Examples
    --------
    >>> X = [[1.0, 1.0], [2.0, 0.0], [3.0, 0.0], [4.0, 1.0]]
    >>> model = StagewiseRegressor("least_squares", 2, learning_rate=0.5).fit(X, [1, 3, 2, 4])
    >>> print(model.coef_path_[:, 0], model.selected_, model.degrees_of_freedom_)
    [0.  0.4 0.6] [0 0] [1.   1.5  1.75]
    """

    def __init__(
        self,
        estimator: Any = None,
        n_estimators: int = 100,
        *,
        learning_rate: float = 0.1,
        loss: Any = "squared",
        init: str | None = None,
        stop: str | None = None,
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.estimator = estimator
        self.n_estimators = n_estimators
        self.learning_rate = learning_rate
        self.loss = loss
        self.init = init
        self.stop = stop
        self.n_jobs = n_jobs
        self.random_state = random_state

    def predict(self, X: Any) -> Floats:
        """The sum after the last round."""
        return self._last(X)[:, 0]

    def staged_predict(self, X: Any) -> Iterator[Floats]:
        """The predictions after 1, 2, ... rounds."""
        check_is_fitted(self)
        for f in self._staged(X, range(1, self.n_estimators_ + 1)):
            yield f[:, 0].copy()

    @property
    def coef_(self) -> Floats:
        """Of the columns."""
        return self._coefficients([self._last_round()])[0][0]

    @property
    def intercept_(self) -> float:
        """What is predicted where all columns are 0."""
        return float(self._coefficients([self._last_round()])[1][0])

    @property
    def coef_path_(self) -> Floats:
        """(rounds + 1, p): the coefficients after 0, 1, ... rounds."""
        return self._coefficients(range(self._last_round() + 1))[0]

    @property
    def selected_(self) -> Ints:
        """The column of each round."""
        return self._lines().selected

    def plot_coefficients(self, *, names: Sequence[str] | None = None, ax: Any = None) -> Any:
        """The coefficients of "least_squares" against the rounds.

        Parameters
        ----------
        names : sequence of str, optional
            Of the columns, for the legend; by default those of the frame.
        ax : matplotlib axes, optional

        Returns
        -------
        matplotlib axes
        """
        coef = self.coef_path_
        if names is None:
            names = getattr(self, "feature_names_in_", None)
        rounds = np.arange(float(len(coef)))
        return draw_coefficient_path(rounds, coef, names=names, ax=ax, axis="rounds")

    @property
    def freedom(self) -> Freedom:  # type: ignore[override]  # found where others say it
        """Known of linear rules, where no column is selected by y."""
        linear = is_linear_rule(self.estimator) and isinstance(checked_loss(self.loss), Squared)
        return "path" if linear else None

    @property
    def own_loss(self) -> Loss | None:
        """The loss that is boosted, unless it is the squared one."""
        loss = checked_loss(self.loss)
        return loss if isinstance(loss, Loss) and not isinstance(loss, Squared) else None

    def _coefficients(self, rounds: Sequence[int]) -> tuple[Floats, Floats]:
        coef, intercept = self._lines().coefficients(rounds, 1)
        return coef[:, 0], intercept[:, 0] + self._start

    def _last_round(self) -> int:
        check_is_fitted(self)
        return self.n_estimators_

    def _lines(self) -> StagedColumns:
        stages = getattr(self, "stages_", None)
        if isinstance(stages, StagedColumns):
            return stages
        raise AttributeError("only a fitted sum of lines, estimator='least_squares', has these")

    def _default_estimator(self) -> Any:
        return DecisionTreeRegressor(max_depth=3)

    def _sum(self, X: Any, y: Array, weight: Floats, rounds: int, n_classes: int) -> Sum:
        loss = self._checked()
        squared = isinstance(loss, Squared)
        cost = SquaredCost(y, weight) if squared else GradientCost(loss, y, weight)
        start = 0.0 if self.init == "zero" else cost.start()
        weak = self._weak(X, copies=True, centred=self.init is None)
        if squared and isinstance(weak, ColumnRounds):
            return self._columns(weak, y, weight, start, rounds)
        return self._loop(weak, cost, X, weight, start, rounds)

    def _columns(
        self, weak: ColumnRounds, y: Floats, weight: Floats, start: float, rounds: int
    ) -> Sum:
        """From products of the columns."""
        columns, rate = weak.columns(weight), float(self.learning_rate)
        boosting = ColumnBoosting(columns, y - start, rate, rounds)
        stages, losses = boosting.additive()
        freedom = freedom_of_columns(boosting, self.init is None)
        aicc = corrected_aic(boosting.mean_squares, freedom, float(weight.sum()))
        aicc += 2 * np.log(boosting.unit)
        return Sum(np.array([start]), stages, losses, freedom, aicc, self.stop == "aic")

    def _loop(
        self, weak: WeakLearner, cost: Any, X: Any, weight: Floats, start: float, rounds: int
    ) -> Sum:
        n, rate = len(weight), float(self.learning_rate)
        freedom = aicc = None
        if self.stop == "aic" or self.freedom == "path":
            freedom = freedom_of_smoother(
                self._prototype(), X, weight, rate=rate, rounds=rounds, from_mean=self.init is None
            )
        f = np.full((n, 1), start)
        at_start = cost.mean_loss(f)
        stages, losses = forward_stagewise(
            weak, cost, f, rounds=rounds, rate=rate, random_state=self.random_state
        )
        if freedom is not None:
            squares = np.concatenate([[at_start], losses])
            aicc = corrected_aic(squares, freedom, float(weight.sum()))
        return Sum(np.array([start]), stages, losses, freedom, aicc, self.stop == "aic")

    def _checked(self) -> Any:
        """The loss; the other parameters are checked on the way."""
        loss = checked_loss(self.loss)
        if self.init not in (None, "zero"):
            raise ParameterError(f"init is {self.init!r}; it must be None or 'zero'")
        if self.stop not in (None, "aic"):
            raise ParameterError(f"stop is {self.stop!r}; it must be None or 'aic'")
        if self.stop == "aic" and not isinstance(loss, Squared):
            raise ParameterError(
                f"stop is 'aic' and loss is {self.loss!r}; the AIC is known for the squared loss: "
                "use Tuned for others"
            )
        return loss

    def _output(self, f: Floats, output: str) -> Floats:
        return f[:, 0]
