"""What the predictions of the same rows are worth, before and after columns were permuted."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from empirisk.risk.axis import Output
from empirisk.risk.estimate import Estimand, RiskEstimate
from empirisk.risk.intervals.interval import NO_INTERVAL, none
from empirisk.risk.intervals.loss_table import LossTable
from empirisk.risk.measures.judged import JudgedRows
from empirisk.risk.measures.measure import measured
from empirisk.risk.measures.of_classifier import Kind, rows_of
from empirisk.risk.problem import Problem
from empirisk.runtime.arrays import Array, Floats, Ints
from empirisk.runtime.errors import DataError


@dataclass(frozen=True, eq=False)
class Judge:
    """The entries that are judged, rows of a problem, and the loss or the measure that judges.

    `table` has the weight, the unit and the split of each entry; its own losses do not matter.
    """

    problem: Problem
    row: Ints
    table: LossTable
    estimates: Estimand
    fingerprint: str
    level: float
    measure: Kind | None = None
    options: Mapping[str, Any] = field(default_factory=dict)

    @property
    def asks(self) -> Output:
        """What a model is to say of a row."""
        return self.problem.loss.output if self.measure is None else self.measure.asks

    def losses(self, prediction: Array) -> Floats:
        """The loss of each entry.

        A measure is to first order a mean (see `Measure`); its losses are the terms of that mean,
        with the sign changed, since less of a measure is worse.
        """
        if self.measure is None:
            losses = self.problem.row_losses(prediction, self.row)
        else:
            part, _ = self.measure.of(self._rows(prediction), **self.options)
            losses = -part.statistic.losses
        refuse_infinite(losses, self.row, self.problem)
        return losses

    def baseline(self, prediction: Array) -> RiskEstimate:
        """The risk, or the measure, of the predictions as they are."""
        if self.measure is None:
            return RiskEstimate.of(
                replace(self.table, losses=self.losses(prediction)),
                loss=str(self.problem.loss),
                estimates=self.estimates,
                fingerprint=self.fingerprint,
                level=self.level,
            )
        rows = self._rows(prediction)
        part, name = self.measure.of(rows, **self.options)
        if self.table.kind in NO_INTERVAL:
            table, reason = rows.table(part.statistic.losses), NO_INTERVAL[self.table.kind]
            part = replace(part, interval=lambda _: none(table, table.mean(), reason))
        return measured(rows, part, name, self.level, None, self.estimates)

    @property
    def bounds(self) -> tuple[float, float]:
        """The range of a rise of the loss, or of a fall of the measure."""
        low, high = (0.0, 1.0) if self.measure is not None else self.problem.loss.bounds
        return low - high, high - low

    def _rows(self, prediction: Array) -> JudgedRows:
        rows = rows_of(self.problem, prediction, self.row, self.fingerprint)
        if self.table.kind == "test":
            return rows
        freedom = self.table.degrees_of_freedom
        return replace(
            rows,
            split=self.table.split,
            kind=self.table.kind,
            n_train=self.table.n_train,
            freedom=None if freedom is None else freedom / self.table.effective_units,
            how=self.table.how,
            doubts=self.table.doubts,
        )


def refuse_infinite(losses: Floats, row: Ints, problem: Problem) -> None:
    """An infinite loss has no rise."""
    if not np.isfinite(losses).all():
        raise DataError(
            f"the {problem.loss} loss of row {int(row[np.argmin(np.isfinite(losses))])} is not "
            "finite, and so its rise is not defined: take a bounded loss, or leave the row out"
        )
