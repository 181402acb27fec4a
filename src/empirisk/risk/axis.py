"""The contract between a learner and the engine: one complexity axis, and its whole path at once.

A learner declares along which parameter it goes from simple to rich (`Axis`), and fits all values
of that parameter from one training set (`fit_path`). Where a resampling plan can be answered as a
whole, cheaper still (leave-one-out from one factorisation, folds by subtracting statistics), the
learner offers `out_of_fold` too.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Literal, NamedTuple, Protocol, Self

import numpy as np
from sklearn.base import BaseEstimator

from empirisk.risk.judges import Judges
from empirisk.runtime.arrays import Array, Floats, Ints
from empirisk.runtime.conversion import numbers
from empirisk.runtime.errors import EmpiriskError, ParameterError
from empirisk.runtime.parallel import stream

if TYPE_CHECKING:
    from empirisk.losses import Loss
    from empirisk.risk.plans.plan import Plan

Output = Literal["value", "probability", "density", "reconstruction", "entries", "score"]
"""What a loss asks of a learner. Of densities, reconstructions and held-out entries a path gives
the loss of each row itself. Scores, a column for each class, order the rows of one model; no path
is asked for them."""

Block = tuple[int, Ints, Array]
"""Held-out predictions: the repeat of the plan, rows, and the rows' predictions for all values.

Within one repeat of a partition each row is held out once, so a block may span splits.
"""

Freedom = Literal["path", "columns", "smoother"] | None
"""Where the degrees of freedom come from by which intervals are widened: "path", each path has
them as an array, one for each value (the trace of the hat matrix); "columns", the same, and they
are one for each column of the design and one for the intercept; "smoother", those of averages of
neighbours or of bagged trees; None, they are not known."""


@dataclass(frozen=True)
class Axis:
    """The parameter along which a learner goes from simple to rich.

    Parameters
    ----------
    params : tuple of str
        Usually one name. With several, each value is a tuple.
    larger : {"simpler", "richer"}, or a tuple with one of them for each parameter
        What a larger value makes of the learner. With several parameters: of the first, then of
        the second among equals, and so on.
    scale : {"log", "linear", "integer"}
        How the values are spaced, for grids and pictures.

    Examples
    --------
    >>> penalty = Axis(("alpha",), larger="simpler", scale="log")
    >>> penalty.complexity([0.01, 1.0, 100.0])
    array([2., 1., 0.])
    >>> both = Axis(("alpha", "delta"), larger=("richer", "simpler"), scale="linear")
    >>> both.complexity([(0.0, 0.5), (0.0, 0.1), (1.0, 0.5)])
    array([0., 1., 2.])
    """

    params: tuple[str, ...]
    larger: Literal["simpler", "richer"] | tuple[Literal["simpler", "richer"], ...]
    scale: Literal["log", "linear", "integer"]

    def __post_init__(self) -> None:
        if not (isinstance(self.params, tuple) and self.params):
            raise ParameterError(f"params is {self.params!r}; give names in a tuple: ('alpha',)")
        several = isinstance(self.larger, tuple | list)
        each: Any = tuple(self.larger) if several else (self.larger,)
        fitting = len(each) == len(self.params) or not several
        if not (fitting and all(one in ("simpler", "richer") for one in each)):
            raise ParameterError(
                f"larger is {self.larger!r}; give 'simpler' or 'richer', what a larger value makes "
                "of the learner, or a tuple with one of them for each parameter"
            )
        if self.scale not in ("log", "linear", "integer"):
            raise ParameterError(f"scale is {self.scale!r}; choose 'log', 'linear' or 'integer'")
        # Axes are equal however this was said.
        object.__setattr__(self, "larger", each[0] if len(each) == 1 else each)

    def complexity(self, values: Sequence[Any]) -> Floats:
        """Rank of each value from simplest (0) to richest; equal values share a rank.

        `None` means "no penalty at all", the richest.
        """
        larger = (self.larger,) * len(self.params) if isinstance(self.larger, str) else self.larger
        signs = [1.0 if each == "richer" else -1.0 for each in larger]
        keys = np.array([self._key(value, signs) for value in values])
        return np.unique(keys, axis=0, return_inverse=True)[1].reshape(-1).astype(float)

    def settings(self, value: Any) -> dict[str, Any]:
        """The parameters of the learner at one value of the axis."""
        return dict(zip(self.params, value if len(self.params) > 1 else (value,), strict=True))

    def _key(self, value: Any, signs: list[float]) -> list[float]:
        parts = value if len(self.params) > 1 else (value,)
        return [
            np.inf if part is None else sign * float(part)
            for part, sign in zip(parts, signs, strict=True)
        ]


class Path(Protocol):
    """A learner fitted at all values of its axis on one training set.

    A path may also have what spares the engine work:

    training_risk(loss) -> array or None
        The mean loss on the training rows at each value, where predictions are not needed for it.
    same_as_fit : bool
        Whether `at` gives, bit for bit, what `fit` at that value gives; if all rows trained, it is
        not fitted again.

    and, where the learner `has_doubts`,

    doubts(j, output) -> tuple of str
        What an interval at the j-th value does not guarantee, where the loss is that of such an
        output, for a reason that only the model of all rows shows; each a clause that can follow
        "but".

    and, where it `has_influence`,

    influence(j, loss, weight) -> Influence or None
        How rows, by which the risk is a mean with such weights, move it through the model at the
        j-th value.
    """

    def predict_path(self, X: Array, output: Output) -> Array:
        """(rows, values), or (rows, values, classes) of probabilities, or (rows, values, outputs).

        For classification the "value" is a class code, an integer.
        """

    def at(self, j: int) -> BaseEstimator:
        """The fitted learner at the j-th value; its `classes_` are the class codes."""

    @property
    def degrees_of_freedom(self) -> Floats:
        """Of each value; only where the learner's `freedom` is "path" or "columns"."""
        name = type(self).__name__
        raise NotImplementedError(f"the degrees of freedom of a {name} are not known")


class HeldOut(NamedTuple):
    """What a plan-wide rung gives: held-out predictions, block by block.

    A block may be a function that finds it, to be called in a thread of the engine's. `path` is the
    path fitted on all rows, where it falls out on the way. Of an out-of-bag plan `judges` says how
    many members judge each row; a row that none does is in no block.
    """

    blocks: Iterable[Block | Callable[[], Block]]
    path: Path | None = None
    judges: Judges | None = None

    def hand_to(
        self, use: Callable[[int, Ints, Array], None], *, n_jobs: int | None = None
    ) -> None:
        """Call use(repeat, rows, predictions) for each block; threads share the work."""

        def hand(block: Block | Callable[[], Block]) -> None:
            use(*(block() if callable(block) else block))

        for _ in stream(hand, self.blocks, n_jobs=n_jobs):
            pass


class CannotSubtractError(EmpiriskError):
    """A plan-wide rung declines: it would be less exact than fitting each fold. Says why."""


def refuse_no_partition(plan: "Plan") -> None:
    """Raise a CannotSubtractError unless each row is held out once and trains otherwise."""
    if not plan.is_partition:
        raise CannotSubtractError(
            f"the training parts of the plan ({plan.kind}) are not the complements of folds, so "
            "there is nothing to subtract from"
        )


class PathMixin:
    """What a learner of this library tells the engine.

    In `fit_path` and `out_of_fold`, X is what `design` returned, weights are positive floats, and
    a classifier's y are integer class codes 0..n_classes-1, each present in `fit_path`. y is None
    for a learner without labels.

    Examples
    --------
    >>> from empirisk import Ridge
    >>> issubclass(Ridge, PathMixin), Ridge.axis.params
    (True, ('alpha',))
    >>> X, y = np.arange(4.0)[:, None], np.array([1.0, 3.0, 2.0, 4.0])
    >>> path = Ridge().fit_path(X, y, np.ones(4), [5.0, 0.0])
    >>> path.predict_path(np.array([[4.0]]), "value")
    array([[3.5, 4.5]])
    """

    axis: ClassVar[Axis | None] = None
    feature_scaling: ClassVar[Literal["each", "common"] | None] = None
    """What predictions do not depend on: "each", the unit of every single feature (at the default
    parameters); "common", one unit for all features, once the axis is tuned; None, neither."""

    takes_groups: ClassVar[bool] = False
    """Whether `fit_path` also takes `groups`, the codes of the training rows' groups or None, which
    what it draws or holds out by itself leaves whole; `fit` takes them too."""

    takes_fold_design: ClassVar[bool] = False
    """Whether `out_of_fold` also takes a `FoldDesign`: rows that each fold encodes by itself."""

    settings_along_axis: ClassVar[Mapping[str, Any]] = {}
    """Parameters that are set where several values are tried, such as early stopping, which is off
    then: each value of the axis is to mean what it says."""

    settings_as_candidate: ClassVar[Mapping[str, Any]] = {}
    """Parameters that are set for `select` where they are None: neighbours are standardised."""

    freedom: ClassVar[Freedom] = None
    has_doubts: ClassVar[bool] = False
    """Whether its paths have `doubts`."""
    has_influence: ClassVar[bool] = False
    """Whether its paths tell the `influence` of rows."""

    shares_path: ClassVar[bool] = True
    """Whether the values of a path share work or memory. Where they do not, as with ensembles, the
    engine has one of them in memory at a time."""

    @property
    def own_plan(self) -> str | None:
        """The `cv` by which `Tuned` chooses where none is given: None, folds, or "out_of_bag".

        A learner that says so answers a plan of that kind in `out_of_fold`, with `HeldOut.path` and
        `HeldOut.judges`; see `BaggedPathMixin`.
        """
        return None

    def design(self, X: Any) -> Any:
        """X in the form that `fit_path` takes; here a float64 array of finite numbers."""
        return numbers(X, self)

    @property
    def own_loss(self) -> "Loss | None":
        """The loss at which its parameters aim, if not the usual one: it is then judged by it."""
        return None

    def for_classes(self, labels: Array) -> Self:
        """This learner for class codes 0..K-1 of these labels.

        What a user gave by label, such as the weights of classes, is given by code in it. Asked
        before every other method here.
        """
        return self

    def with_labels(self, labels: Array) -> Self:
        """This learner, fitted to class codes, as it would be if fitted to these labels.

        Here it is enough to rename `classes_`; asked of ensembles that are not fitted again.
        """
        fitted: Any = self
        fitted.classes_ = labels[fitted.classes_]
        return self

    def axis_values(self, X: Any, y: Any, sample_weight: Floats, *, n_train: int) -> Sequence[Any]:
        """The default grid, made once for a plan whose training sets have about n_train rows."""
        return (None,)

    def fit_path(
        self, X: Any, y: Any, sample_weight: Floats, values: Sequence[Any], *, n_classes: int
    ) -> Path:
        """Fit at all values; n_classes is 0 for regression. Without an axis, values is (None,)."""
        raise NotImplementedError

    def out_of_fold(
        self,
        X: Any,
        y: Any,
        sample_weight: Floats,
        plan: "Plan",
        values: Sequence[Any],
        *,
        n_classes: int,
        output: Output,
        rows_per_block: int,
    ) -> HeldOut:
        """All held-out predictions of a plan, or `CannotSubtractError` at once."""
        raise CannotSubtractError(f"{type(self).__name__} has no plan-wide rung")
