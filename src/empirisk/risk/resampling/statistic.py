"""Statistics as a bootstrap sees them: functions of how many copies of each unit there are."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from functools import partial
from inspect import signature
from math import ceil
from typing import Any, ClassVar, Literal

import numpy as np
from sklearn.utils import _safe_indexing

from empirisk.risk.resampling.sample import Resamples, Sample
from empirisk.runtime.arrays import Array, Floats, Ints
from empirisk.runtime.deadlines import check_deadline
from empirisk.runtime.errors import DeadlineError, ParameterError
from empirisk.runtime.parallel import parallel, slices
from empirisk.runtime.progress import track

NUMBERS_AT_ONCE = 2**17  # copies in one block: 1 MB of float64 stays in the cache
LEAST_BLOCKS = 64


class Statistic(ABC):
    """T(copies): a function of the data in which unit i stands so many times.

    Attributes
    ----------
    sample : Sample
    name : str
        How a sentence calls it.
    shape : tuple of int
        Of its value; () for a number.
    names : tuple of str or None
        Of its elements, where they have names.
    """

    kind: ClassVar[Literal["threads", "processes"]] = "threads"
    sample: Sample
    name: str
    shape: tuple[int, ...]
    names: tuple[str, ...] | None = None

    @abstractmethod
    def of(self, copies: Floats) -> Floats:
        """(resamples, elements) of copies (resamples, units), whole numbers."""

    def value(self) -> Floats:
        """Of the data themselves."""
        return self.of(np.ones((1, self.sample.n)))[0]

    def replicates(self, resamples: Resamples, n_jobs: int | None = None) -> Floats:
        """Of every resample: (resamples, elements)."""
        blocks = self.blocks(resamples.number, resamples.m)
        work = partial(self.of_resamples, resamples)
        return np.concatenate(
            parallel(work, track(blocks, "resamples"), n_jobs=n_jobs, kind=self.kind)
        )

    def of_resamples(self, resamples: Resamples, block: slice) -> Floats:
        """Of some of the resamples."""
        return self.of(resamples.copies(block))

    def leave_one_out(self, copies: Floats, n_jobs: int | None = None) -> Floats:
        """Without one copy of each unit in turn, (units, elements); NaN for one not there."""
        there = np.flatnonzero(copies > 0)
        values = np.full((self.sample.n, int(np.prod(self.shape))), np.nan)
        work = partial(_without, self, copies)
        blocks = [there[block] for block in self.blocks(len(there), len(there))]
        values[there] = np.concatenate(
            parallel(work, track(blocks, "rows left out"), n_jobs=n_jobs, kind=self.kind)
        )
        return values

    def standard_errors(self, copies: Floats) -> Floats | None:
        """Of the statistic, by a formula, on each resample; None where there is none."""
        return None

    def blocks(self, number: int, m: int) -> list[slice]:
        """So many resamples of m units each, cut into blocks that stay in the cache."""
        return slices(number, max(1, NUMBERS_AT_ONCE // max(len(self.sample.units), m)))


class RowStatistic(Statistic):
    """A function of the user's: it gets the rows themselves, copies as repeated rows."""

    kind: ClassVar[Literal["threads", "processes"]] = "processes"

    def __init__(self, sample: Sample, function: Callable[..., Any], vectorized: bool | None):
        self.sample, self.function = sample, function
        self.name = getattr(function, "__name__", "statistic").replace("<lambda>", "statistic")
        arrays = all(isinstance(part, np.ndarray) for part in sample.parts)
        self.vectorized = arrays and _takes(function, "axis") if vectorized is None else vectorized
        if self.vectorized and not arrays:
            raise ParameterError(
                "vectorized=True needs arrays: frames and tables have no third axis"
            )
        self.weight_name = _weight_name(function) if sample.weight is not None else None
        found = self._call(np.arange(len(sample.units)))
        self.names = _index_names(found)
        self.shape = np.shape(found)[1:] if self.vectorized else np.shape(found)
        if self.vectorized and np.shape(found)[:1] != (1,):
            raise ParameterError(
                f"the statistic takes an axis, and with axis=1 made of {len(sample.units)} rows an "
                f"array of shape {np.shape(found)}, where the first number should be 1: give "
                "vectorized=False, and it is called with one resample at a time"
            )
        self.of_data = self._flat(found, 1)[0]

    def value(self) -> Floats:
        return self.of_data

    def blocks(self, number: int, m: int) -> list[slice]:
        blocks = super().blocks(number, m)
        if self.vectorized or len(blocks) >= LEAST_BLOCKS:
            return blocks
        return slices(
            number, ceil(number / LEAST_BLOCKS)
        )  # a call may last: something to share out

    def of(self, copies: Floats) -> Floats:
        return self._of_rows([self.sample.rows(each) for each in copies])

    def of_resamples(self, resamples: Resamples, block: slice) -> Floats:
        if self.sample.unit is not None:
            return super().of_resamples(resamples, block)
        return self._of_rows(resamples.rows(block))  # as they were drawn: without counting them

    def _of_rows(self, rows: Sequence[Ints] | Ints) -> Floats:
        if self.vectorized and len({len(each) for each in rows}) == 1:
            return self._flat(self._call(np.asarray(rows)), len(rows))
        return np.concatenate([self._one(each) for each in rows])

    def complaint(self, copies: Floats) -> str:
        """What the function says of one resample, or what it returns."""
        try:
            return f"it gives {self._call(self.sample.rows(copies))!r:.60}"
        except Exception as error:
            return f"{type(error).__name__}: {error}"

    def _one(self, rows: Ints) -> Floats:
        check_deadline()
        try:
            found = self._call(rows)
        except (DeadlineError, MemoryError):
            raise
        except Exception:  # counted, and named by `complaint`
            return np.full((1, int(np.prod(self.shape))), np.nan)
        return self._flat(found, 1)

    def _call(self, rows: Ints) -> Any:
        if self.vectorized:
            rows = np.atleast_2d(rows)
        options: dict[str, Any] = {"axis": 1} if self.vectorized else {}
        if self.weight_name is not None:
            options[self.weight_name] = self.sample.weights[rows]
        return self.function(*[_rows_of(part, rows) for part in self.sample.parts], **options)

    def _flat(self, found: Any, number: int) -> Floats:
        values = np.asarray(found, dtype=float)
        wanted = (number, *self.shape) if self.vectorized else self.shape
        if values.shape != wanted:
            raise ParameterError(
                f"the statistic has shape {values.shape} on a resample and should have {wanted}, "
                "as on the data: it must have as many elements whichever rows are drawn"
            )
        return values.reshape(number, -1)


def _without(statistic: Statistic, copies: Floats, units: Ints) -> Floats:
    left = np.repeat(copies[None], len(units), axis=0)
    left[np.arange(len(units)), units] -= 1
    return statistic.of(left)


def _rows_of(part: Any, rows: Ints) -> Any:
    return part[rows] if isinstance(part, np.ndarray) else _safe_indexing(part, rows)


def _takes(function: Callable[..., Any], name: str) -> bool:
    try:
        return name in signature(function).parameters
    except (TypeError, ValueError):  # built-in functions that do not say
        return False


def _weight_name(function: Callable[..., Any]) -> str:
    for name in ("sample_weight", "weights"):
        if _takes(function, name):
            return name
    raise ParameterError(
        "sample_weight is given, and the statistic takes none: name a statistic such as 'mean', or "
        "give a function with a parameter sample_weight"
    )


def _index_names(found: Any) -> tuple[str, ...] | None:
    """The names of a pandas Series, such as the means of the columns of a frame."""
    index: Array | None = getattr(found, "index", None)
    if index is None or callable(index) or np.ndim(found) != 1:
        return None
    return tuple(map(str, index))
