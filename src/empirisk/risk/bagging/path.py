"""Bagged ensembles along a complexity axis: one for each value, judged by the rows out of bag."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from sklearn.base import clone

from empirisk.risk.axis import Block, CannotSubtractError, Freedom, HeldOut, Output, Path, PathMixin
from empirisk.risk.bagging.out_of_bag_scores import OutOfBag
from empirisk.risk.foreign import seeded
from empirisk.risk.judges import Judges
from empirisk.risk.plans.out_of_bag import OUT_OF_BAG
from empirisk.runtime.arrays import Array, Floats, Ints
from empirisk.runtime.deadlines import check_deadline
from empirisk.runtime.parallel import slices
from empirisk.runtime.progress import track
from empirisk.runtime.streams import spawn

if TYPE_CHECKING:
    from empirisk.risk.plans.plan import Plan


class BaggedPathMixin(PathMixin):
    """A learner that bags, with an axis along which `Tuned` chooses by out-of-bag risk.

    The learner declares `axis` (of a forest `Axis(("max_features",), "richer", "integer")`),
    `axis_values` and, if X is not to be an array of finite numbers, `design`, and offers

    fit_design(X, y, sample_weight, groups, *, n_classes, bag=None) -> self
        Fit to what `design` returned: y are numbers, or class codes 0..n_classes-1, each of them
        present; weights are positive; groups are the codes of whole groups that are drawn or
        left out together, or None. Sets all that `fit` sets, `classes_` to the codes. A bag is
        handed what each member says of the rows that it lacks, member by member in order:

            rows = bag.left_out(counts)        # how often the member drew each row
            bag.add(rows, scores)              # (rows,), (rows, outputs) or (rows, n_classes)

    predict_design(X, output) -> array
        Predictions of the ensemble, X being rows of a design: codes or numbers where the output is
        "value", (rows, n_classes) where it is "probability".

    Draws come from the parameter `random_state` alone, and which rows a member draws does not
    depend on the value of the axis: then all values are judged by the same members on the same
    rows, and compare row by row. An ensemble without a bootstrap has the parameter
    `bootstrap=False`, and is judged by folds.

    Examples
    --------
    >>> from empirisk import RandomForestRegressor
    >>> issubclass(RandomForestRegressor, BaggedPathMixin), RandomForestRegressor.axis.params
    (True, ('max_features',))
    >>> RandomForestRegressor().own_plan
    'out_of_bag'
    """

    freedom: ClassVar[Freedom] = "smoother"
    shares_path: ClassVar[bool] = False
    takes_groups: ClassVar[bool] = True

    @property
    def own_plan(self) -> str | None:
        """By out-of-bag rows, where each member leaves some out."""
        return OUT_OF_BAG if getattr(self, "bootstrap", True) else None

    def fit_design(
        self,
        X: Any,
        y: Any,
        sample_weight: Floats,
        groups: Ints | None,
        *,
        n_classes: int,
        bag: OutOfBag | None = None,
    ) -> Self:
        raise NotImplementedError

    def predict_design(self, X: Any, output: Output) -> Array:
        raise NotImplementedError

    def fit_path(
        self,
        X: Any,
        y: Any,
        sample_weight: Floats,
        values: Sequence[Any],
        *,
        n_classes: int,
        groups: Ints | None = None,
    ) -> Path:
        """An ensemble at each value, with the same draws."""
        rivals = same_draws(self, values)
        for rival in rivals:
            check_deadline()
            rival.fit_design(X, y, sample_weight, groups, n_classes=n_classes)
        return BaggedPath(rivals)

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
        """Of an out-of-bag plan, from one ensemble for each value; of others, declined."""
        if plan.kind != OUT_OF_BAG:
            raise CannotSubtractError("an ensemble is fitted in each fold")
        rivals, bags = same_draws(self, values), []
        for rival in track(rivals, "values"):
            check_deadline()
            bag = OutOfBag(plan.n, plan.groups)
            rival.fit_design(X, y, sample_weight, plan.groups, n_classes=n_classes, bag=bag)
            bags.append(bag)
        return held_out_of_bags(bags, BaggedPath(rivals), n_classes, output, rows_per_block)


def same_draws(learner: Any, values: Sequence[Any]) -> list[Any]:
    """The learner at each value of its axis, all with one seed where it has none."""
    learner = seeded(clone(learner), spawn(None, 1)[0])
    rivals = [clone(learner) for _ in values]
    if learner.axis is not None:
        for rival, value in zip(rivals, values, strict=True):
            rival.set_params(**learner.axis.settings(value))
    return rivals


def held_out_of_bags(
    bags: Sequence[OutOfBag],
    path: Path,
    n_classes: int,
    output: Output,
    rows_per_block: int,
) -> HeldOut:
    """What the members of an ensemble for each value say of the rows that they lack.

    A row has an entry if it is out of bag at every value; with the same draws that is at all values
    or at none.
    """
    members = np.min([bag.members for bag in bags], axis=0)
    judges = Judges(members, min(bag.n_members for bag in bags), bags[0].groups is not None)
    if not members.any():
        bags[0].refuse_none()
    rows = np.flatnonzero(members)
    blocks: list[Callable[[], Block]] = [
        partial(_block, bags, rows[part], output, n_classes)
        for part in slices(len(rows), rows_per_block)
    ]
    return HeldOut(blocks, path, judges)


def _block(bags: Sequence[OutOfBag], rows: Ints, output: Output, n_classes: int) -> Block:
    each = [bag.predictions(rows, output, n_classes) for bag in bags]
    return 0, rows, np.stack(each, axis=1)


@dataclass(frozen=True, eq=False)
class BaggedPath(Path):
    """An ensemble at each value, fitted on all rows."""

    models: Sequence[Any]

    def predict_path(self, X: Any, output: Output) -> Array:
        return np.stack([model.predict_design(X, output) for model in self.models], axis=1)

    def at(self, j: int) -> Any:
        return self.models[j]
