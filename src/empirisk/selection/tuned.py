"""`Tuned`: the one way to choose along a learner's complexity axis."""

from collections.abc import Iterable, Sequence
from functools import partial
from typing import Any, ClassVar, Self

from sklearn.base import BaseEstimator, MetaEstimatorMixin
from sklearn.utils import get_tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from empirisk.learners.soundness import has_state, require
from empirisk.losses import Loss
from empirisk.risk.axis import Axis, Output, PathMixin
from empirisk.risk.bagging.rung import own_plan
from empirisk.risk.choosing import Rule, check_rule
from empirisk.risk.curves import RiskPath
from empirisk.risk.foreign import losses_of_rows
from empirisk.risk.learner import declared_axis, learner_of
from empirisk.risk.out_of_fold import OutOfFold, out_of_fold
from empirisk.risk.problem import Problem
from empirisk.risk.rungs import default_values
from empirisk.risk.suitable_loss import common_loss
from empirisk.runtime.arrays import Array
from empirisk.runtime.errors import ParameterError
from empirisk.runtime.parallel import one_blas_thread, side_by_side
from empirisk.runtime.streams import settled, spawn
from empirisk.selection.after_selection import BunchedLosses, after_choice
from empirisk.selection.best_model import fit_best


def _best_has(method: str) -> Any:
    def check(self: "Tuned") -> bool:
        getattr(getattr(self, "best_estimator_", self.estimator), method)
        return True

    return available_if(check)


def _judges_rows(self: "Tuned") -> bool:
    learner = learner_of(getattr(self, "best_estimator_", self.estimator))
    ways = "losses_of_rows", "inverse_transform", "score_samples"
    return any(hasattr(learner, way) for way in ways)


class Tuned(MetaEstimatorMixin, BaseEstimator):
    """Choose the complexity of a learner by its honest risk, and keep the whole risk path.

    All values of the axis are judged on the same held-out rows; the learner is then fitted on all
    rows at the chosen value. Without an axis there is nothing to choose, and `Tuned` just fits and
    measures.

    Parameters
    ----------
    estimator : estimator or Pipeline
        A learner of this library declares its axis; any other needs `axis` and `values`.
    axis : Axis, optional
        Along which parameter to choose.
    values : sequence, optional
        Which values to try; None asks the learner for its default grid.
    cv : None, int, splitter, splits or "out_of_bag"
        See `Plan.of`; None is ten shuffled folds, stratified for a classifier. By "out_of_bag",
        which None is for the bagged ensembles of this library, each value has one ensemble, fitted
        on all rows with the same draws as the others and judged by the members that did not draw a
        row; the chosen one is not fitted again. All are in memory until then.
    loss : Loss or str, optional
        The one at which the learner aims (`own_loss`), else "squared" for a regressor and
        "zero_one" for a classifier, unless given.
    rule : {"best", "one_se"}
        The value of least risk, or the simplest within one standard error of it.
    n_jobs : int, optional
    random_state : int, RandomState or None

    Attributes
    ----------
    best_estimator_ : the learner fitted on all rows at the chosen value
    best_value_, best_index_ : the chosen value and its place in `path_.values`
    risk_ : RiskEstimate of the chosen value, corrected for the choice among `chosen_among`
    classes_ : of a classifier, its labels
    path_ : RiskPath, V numbers each: values, honest risk, standard error, training risk

    Examples
    --------
    >>> import numpy as np
    >>> from empirisk import Ridge, Tuned
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(60, 20))
    >>> y = X[:, 0] + rng.normal(size=60)
    >>> model = Tuned(Ridge()).fit(X, y)
    >>> bool(model.path_.risk.min() == model.path_.risk[model.best_index_])
    True
    >>> print(model.risk_)
    The squared risk of the procedure at this n: the best of 100 looked like ...; expect ...
    """

    chooses: ClassVar[bool] = True
    """Judged by cross-validation, it does so anew in every training part; see `LossTable`."""

    def __init__(
        self,
        estimator: Any,
        *,
        axis: Axis | None = None,
        values: Sequence[Any] | None = None,
        cv: Any = None,
        loss: Loss | str | None = None,
        rule: Rule = "best",
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.estimator = estimator
        self.axis = axis
        self.values = values
        self.cv = cv
        self.loss = loss
        self.rule = rule
        self.n_jobs = n_jobs
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None, groups: Any = None) -> Self:
        """Judge all values on held-out rows, choose one, and fit it on all rows.

        Parameters
        ----------
        X, y : the training rows
        sample_weight : array, optional
            A row of weight w counts as w copies.
        groups : array, optional
            Rows of one group are never on both sides of a split.
        """
        if not (self.axis is None or isinstance(self.axis, Axis)):
            raise ParameterError(
                f"axis is {self.axis!r}; give an Axis, such as Axis(('C',), 'richer', 'log')"
            )
        check_rule(self.rule)
        random_state = settled(self.random_state)
        cv = own_plan(self.estimator) if self.cv is None else self.cv
        with one_blas_thread():
            axis = self.axis if self.axis is not None else declared_axis(self.estimator)
            given = Problem.of(
                self.estimator, X, y,
                loss=self.loss, sample_weight=sample_weight, groups=groups,
            )  # fmt: skip
            problem, plan = side_by_side(
                partial(given.designed, self.estimator),
                partial(given.plan, cv, random_state=random_state, out_of_bag=True),
                n_jobs=self.n_jobs,
            )
            values = values_of(self.estimator, axis, self.values, problem, plan.n_train)
            losses = out_of_fold(
                self.estimator, problem, plan,
                values=values, axis=axis, n_jobs=self.n_jobs, random_state=random_state,
            )  # fmt: skip
            fit_seed, choice_seed = spawn(0 if random_state is None else random_state, 2)
            self._keep(losses, choice_seed)
            seed = None if random_state is None else fit_seed
            self.best_estimator_ = fit_best(losses, self.best_index_, X, seed)
        return self

    @property
    def own_loss(self) -> Loss | None:
        """The loss at which the learner aims by its parameters, if not the usual one."""
        return common_loss([self.estimator])

    @_best_has("predict")
    def predict(self, X: Any) -> Array:
        check_is_fitted(self)
        return self.best_estimator_.predict(X)

    @_best_has("predict_proba")
    def predict_proba(self, X: Any) -> Array:
        check_is_fitted(self)
        return self.best_estimator_.predict_proba(X)

    @_best_has("predict_log_proba")
    def predict_log_proba(self, X: Any) -> Array:
        check_is_fitted(self)
        return self.best_estimator_.predict_log_proba(X)

    @_best_has("decision_function")
    def decision_function(self, X: Any) -> Array:
        check_is_fitted(self)
        return self.best_estimator_.decision_function(X)

    @_best_has("transform")
    def transform(self, X: Any) -> Any:
        check_is_fitted(self)
        return self.best_estimator_.transform(X)

    @_best_has("inverse_transform")
    def inverse_transform(self, X: Any) -> Any:
        check_is_fitted(self)
        return self.best_estimator_.inverse_transform(X)

    @_best_has("encode")
    def encode(self, X: Any) -> Array:
        check_is_fitted(self)
        return self.best_estimator_.encode(X)

    @_best_has("decode")
    def decode(self, code: Any) -> Array:
        check_is_fitted(self)
        return self.best_estimator_.decode(code)

    @_best_has("reconstruct")
    def reconstruct(self, X: Any) -> Array:
        check_is_fitted(self)
        return self.best_estimator_.reconstruct(X)

    @available_if(_judges_rows)
    def losses_of_rows(self, X: Any, output: Output = "reconstruction") -> Array:
        """Of a learner without labels: the loss of each row, as the learner meets it."""
        check_is_fitted(self)
        return losses_of_rows(self.best_estimator_, X, output)

    @_best_has("score_samples")
    def score_samples(self, X: Any) -> Array:
        check_is_fitted(self)
        return self.best_estimator_.score_samples(X)

    @_best_has("sample")
    def sample(self, n_samples: int = 1, **options: Any) -> Any:
        check_is_fitted(self)
        return self.best_estimator_.sample(n_samples, **options)

    @_best_has("transform")
    def fit_transform(self, X: Any, y: Any = None, **fit_params: Any) -> Any:
        """`transform` of the training rows after `fit`."""
        return self.fit(X, y, **fit_params).transform(X)

    @_best_has("get_feature_names_out")
    def get_feature_names_out(self, input_features: Any = None) -> Array:
        check_is_fitted(self)
        return self.best_estimator_.get_feature_names_out(input_features)

    @_best_has("score")
    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """The learner's own score, as scikit-learn defines it."""
        check_is_fitted(self)
        weight = {} if sample_weight is None else {"sample_weight": sample_weight}
        return self.best_estimator_.score(X, y, **weight)

    @property
    def classes_(self) -> Array:
        return self.best_estimator_.classes_

    @property
    def n_features_in_(self) -> int:
        return self.best_estimator_.n_features_in_

    @property
    def feature_names_in_(self) -> Array:
        return self.best_estimator_.feature_names_in_

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        inner = get_tags(self.estimator)
        tags.estimator_type = inner.estimator_type
        tags.classifier_tags = inner.classifier_tags
        tags.regressor_tags = inner.regressor_tags
        tags.transformer_tags = inner.transformer_tags
        tags.input_tags = inner.input_tags
        tags.target_tags = inner.target_tags
        tags.non_deterministic = inner.non_deterministic
        return tags

    def check_loaded(self) -> None:
        """Raise a DataError unless what was read from a file belongs together."""
        if has_state(self):
            best = getattr(self, "best_estimator_", None)
            require(isinstance(best, BaseEstimator), self, "best_estimator_")

    def _keep(self, losses: OutOfFold, seed: int) -> None:
        j = losses.choose(self.rule)
        self.best_index_ = j
        self.best_value_ = losses.values[j]
        bunched, _ = side_by_side(
            partial(BunchedLosses.of, losses, seed),
            lambda: losses.standard_error,  # is kept
            n_jobs=self.n_jobs,
        )
        self.path_ = RiskPath.of(losses, j)
        found = after_choice(
            losses.estimate(j), [bunched], (0, j), self.rule,
            random_state=seed, n_jobs=self.n_jobs,
        )  # fmt: skip
        self.risk_ = found.of_the_procedure() if losses.plan.judges_one_model else found


def values_of(
    estimator: Any,
    axis: Axis | None,
    values: Sequence[Any] | None,
    problem: Problem,
    n_train: int,
) -> Sequence[Any]:
    """The values given, or the learner's default grid for these data."""
    learner = learner_of(estimator)
    if values is not None:
        if axis is None:
            raise ParameterError(
                f"values were given, but {type(learner).__name__} declares no axis: say which "
                "parameter they are for, such as axis=Axis(('alpha',), 'simpler', 'log')"
            )
        return _checked_values(values, axis)
    if axis is None:
        return (None,)
    if not isinstance(learner, PathMixin) or axis != learner.axis:
        raise ParameterError(
            f"{type(learner).__name__} has no default grid along {axis.params}: give values=[...]"
        )
    return default_values(estimator, problem, n_train)


def _checked_values(values: Any, axis: Axis) -> list[Any]:
    """A list of values along an axis, of which there is one at least."""
    each = "number" if len(axis.params) == 1 else f"tuple of {len(axis.params)} numbers"
    wanted = f"give a list with a {each} for each value of {', '.join(axis.params)}"
    if not isinstance(values, Iterable) or isinstance(values, str):
        raise ParameterError(f"values is {values!r:.60}: {wanted}")
    values = list(values)
    if not values:
        raise ParameterError("values is empty: give at least one value of the axis")
    try:
        axis.complexity(values)
    except (TypeError, ValueError):
        wrong = next((value for value in values if not _has_place(value, axis)), values)
        raise ParameterError(f"values has {wrong!r:.60}: {wanted}") from None
    return values


def _has_place(value: Any, axis: Axis) -> bool:
    try:
        return bool(len(axis.complexity([value])))
    except (TypeError, ValueError):
        return False
