"""Measures of a bagged ensemble from its out-of-bag scores."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Self

import numpy as np

from empirisk.risk.axis import Output
from empirisk.risk.bagging.out_of_bag_scores import OutOfBag
from empirisk.risk.intervals.degrees_of_freedom import smoother_freedom
from empirisk.risk.measure_names import Name
from empirisk.risk.measures.bootstrapped import Way, interval_by
from empirisk.risk.measures.judged import JudgedRows
from empirisk.risk.measures.measure import Measure, measured
from empirisk.risk.measures.of_classifier import Kind, kind_of, refuse_no_classifier, rows_of
from empirisk.risk.problem import Problem
from empirisk.runtime.errors import DataError


@dataclass(frozen=True)
class OutOfBagMeasure:
    """A measure by its name with its options, of the out-of-bag scores of all rows together.

    The scores of all rows are means over members of one ensemble, so they compare, as those of
    different folds do not. Intervals are widened as those of other out-of-bag risks.
    """

    kind: Kind
    by: Way

    @classmethod
    def of(cls, ensemble: Any, name: Name, options: Mapping[str, Any], method: str) -> Self:
        refuse_no_classifier(ensemble, name)
        kind = kind_of(name, options)
        return cls(replace(kind, of=partial(kind.of, **options)), interval_by(method))

    def estimate(self, bag: OutOfBag, problem: Problem, level: float) -> Measure:
        """The measure of the aggregate, with its interval."""
        rows = self._rows(bag, problem)
        part, name = self.kind.of(rows)
        return measured(rows, part, name, level, self.by, "the procedure at this n")

    def value(self, bag: OutOfBag, problem: Problem) -> float:
        """The measure of the members so far; NaN where they have not judged the rows it needs."""
        try:
            return self.kind.of(self._rows(bag, problem))[0].statistic.value
        except DataError:
            return np.nan

    def _rows(self, bag: OutOfBag, problem: Problem) -> JudgedRows:
        judged = np.flatnonzero(bag.judged)
        output: Output = "value" if self.kind.asks == "value" else "probability"
        prediction = bag.predictions(judged, output, problem.n_classes)
        rows = rows_of(problem, prediction, judged, bag.fingerprint(problem))
        rows = replace(
            rows,
            split=np.zeros(rows.n, dtype=np.int64),
            kind="out_of_bag",
            n_train=problem.n,
            how=bag.judges.how,
            doubts=bag.judges.doubts(problem),
        )
        return replace(rows, freedom=smoother_freedom(problem.n) / rows.effective_units)
