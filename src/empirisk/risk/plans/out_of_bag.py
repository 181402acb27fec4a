"""The plan by which one bagged ensemble is judged: by the rows that its members did not draw."""

from dataclasses import replace
from typing import Any, NoReturn, Self

import numpy as np
from sklearn.utils.validation import _num_samples

from empirisk.risk.plans.fingerprints import data_key
from empirisk.risk.plans.groups import group_codes
from empirisk.risk.plans.plan import Plan
from empirisk.runtime.arrays import Floats, Ints
from empirisk.runtime.errors import PlanError

OUT_OF_BAG = "out_of_bag"
"""The `cv` that asks for this plan, and its kind."""


class OutOfBagPlan(Plan):
    """One split: all rows train an ensemble, and its members judge the rows that they lack.

    Which rows those are is known once it is fitted, and differs between members, so `train` and
    `test` refuse: a model fitted to all rows would be judged on its training rows.

    Examples
    --------
    >>> import numpy as np
    >>> plan = OutOfBagPlan.for_rows(np.arange(4.0))
    >>> plan, plan.n_train
    (Plan(out_of_bag, 4 rows, 1 splits), 4)
    >>> plan.judged(np.array([2, 0, 1, 1])).entries[0]
    array([0, 2, 3])
    """

    @classmethod
    def for_rows(cls, y: Any, *, sample_weight: Floats | None = None, groups: Any = None) -> Self:
        """The plan for these rows; with groups a row is judged by members that drew none of its."""
        n = _num_samples(y)
        key = data_key(y, sample_weight, groups)
        fold = np.zeros((1, n), dtype=np.int32)
        return cls(OUT_OF_BAG, n, 1, None, fold, (np.arange(n),), group_codes(groups, n), key)

    def judged(self, members: Ints) -> Self:
        """The plan without the rows that no member judges."""
        return replace(self, fold=np.where(members > 0, 0, -1).astype(np.int32)[None])

    def test(self, s: int) -> NoReturn:
        raise PlanError(
            "an out-of-bag plan holds out other rows for each member of an ensemble; it is for "
            "Tuned and risk.cross_validate of bagged ensembles, and here folds are needed: cv=10"
        )

    def train(self, s: int) -> NoReturn:
        self.test(s)
