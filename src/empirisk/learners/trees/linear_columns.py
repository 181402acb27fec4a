"""The columns that the models in the leaves of a linear tree see, in standard units."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from empirisk.data.scaling import power_of_two
from empirisk.learners.trees.soundness import check_array
from empirisk.runtime.arrays import Floats, Ints
from empirisk.runtime.errors import DataError

TINY = np.finfo(float).tiny


@dataclass(frozen=True, eq=False)
class ModelColumns:
    """Numbers, about their mean and divided by their standard deviation in training.

    So a penalty on coefficients means the same whatever the units of the columns. Categories are
    not among them, nor integers beyond 2^53, which are identifiers.

    Attributes
    ----------
    columns : int array
        Which columns these are.
    unit, mean, spread : float64 arrays
        z = (x / unit - mean) / spread; unit is a power of two, so that squares do not overflow.
    """

    columns: Ints
    unit: Floats
    mean: Floats
    spread: Floats

    @classmethod
    def of(
        cls, places: Floats, outputs: Floats, weight: Floats, coded: Any, most: int
    ) -> "ModelColumns":
        """Those of a training set: a table as trees compare it, and what its columns are.

        Of more columns than `most` those that correlate most with the outputs (rows, outputs).
        """
        found = cls._of_all(places, weight, coded)
        if len(found.columns) <= most:
            return found
        Z = np.nan_to_num(found.standardised(places))
        share = weight / weight.max()
        centred = outputs - share @ outputs / share.sum()
        fit = ((Z * share[:, None]).T @ centred) ** 2 / np.maximum((Z**2).T @ share, TINY)[:, None]
        kept = np.sort(np.argsort(-fit.sum(axis=1), kind="stable")[:most])
        return cls(found.columns[kept], found.unit[kept], found.mean[kept], found.spread[kept])

    @classmethod
    def _of_all(cls, places: Floats, weight: Floats, coded: Any) -> "ModelColumns":
        columns = np.array([j for j, c in enumerate(coded) if c.kind == "number"], np.int64)
        X = places[:, columns]
        seen = ~np.isnan(X)
        size = np.where(seen, np.abs(X), 0.0).max(axis=0, initial=0.0)
        unit = power_of_two(size)
        share = np.where(seen, (weight / weight.max())[:, None], 0.0)
        total = np.where(seen.any(axis=0), share.sum(axis=0), 1.0)
        scaled = np.where(seen, X, 0.0) / unit
        mean = (share * scaled).sum(axis=0) / total
        spread = np.sqrt((share * np.where(seen, scaled - mean, 0.0) ** 2).sum(axis=0) / total)
        # Of a constant column rounding errors are left: it is no column of any model.
        low, high = np.where(seen, scaled, np.inf), np.where(seen, scaled, -np.inf)
        varies = low.min(axis=0, initial=np.inf) < high.max(axis=0, initial=-np.inf)
        spread = np.where(varies & (spread > 0), spread, 1.0)
        return cls(columns, unit, mean, spread)

    def check_loaded(self) -> None:
        """Raise a DataError unless the arrays, from a file, have an entry for each column."""
        p = len(self.columns)
        check_array("columns", self.columns, np.int64, (p,))
        for name in ("unit", "mean", "spread"):
            check_array(name, getattr(self, name), np.float64, (p,))
        if not ((self.unit > 0).all() and (self.spread > 0).all()):
            raise DataError("unit or spread is not above 0")

    def standardised(self, places: Floats) -> Floats:
        """The columns z of a table; NaN where a value is missing."""
        with np.errstate(over="ignore"):
            Z = (places[:, self.columns] / self.unit - self.mean) / self.spread
        return np.ascontiguousarray(Z)

    def raw(self, coef: Floats, centre: Floats, offset: Floats) -> tuple[Floats, Floats]:
        """Coefficients and intercepts for the columns as given; infinite beyond all numbers.

        coef, centre, offset
            Of functions offset + coef (z - centre): (..., outputs, p), (..., p), (..., outputs).
        """
        with np.errstate(over="ignore", invalid="ignore"):
            slopes = coef / self.spread
            shift = (slopes * (self.mean + centre * self.spread)[..., None, :]).sum(axis=-1)
            return slopes / self.unit, offset - shift
