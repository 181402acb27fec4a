"""`PartialDependence`: the mean prediction at each value of a feature, and how sure it is."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from empirisk.charts.partial_dependence import draw_curve, draw_levels, draw_plane
from empirisk.data.raw_columns import date_in_words
from empirisk.data.table import Table
from empirisk.risk.dependence.grid import Grid
from empirisk.runtime.arrays import Array, Floats
from empirisk.runtime.digits import few_digits
from empirisk.runtime.errors import ParameterError

MOST_LINES = 12  # of a printed table
ORDERED = ("number", "date")
FOUND = ("output", "mean", "standard_error", "low", "high")  # columns of a table


@dataclass(frozen=True, eq=False)
class PartialDependence:
    """The mean prediction over rows in which one feature, or two, are set to each value of a grid.

    Attributes
    ----------
    features : tuple of str
        One name, or two.
    grid : tuple of arrays
        The values of each feature.
    mean : array of shape (values,), (values, values), and a last axis for outputs if several
    standard_error : array like `mean`
        Of the mean over the rows (groups, if given), for this model; NaN for a single one.
    interval : array like `mean`, with a last axis of two
        At `level`, each value for itself.
    level : float
    individual : array of shape (rows, ...) or None
        The prediction of each row, where it was asked for.
    outputs : tuple or None
        The labels of the classes, or the numbers of the outputs.
    quantity : str
        What is averaged.
    cautions : tuple of str
        Sentences: where the rows that are averaged over do not occur.

    Examples
    --------
    >>> import numpy as np
    >>> from empirisk import LinearRegression, risk
    >>> X = np.random.default_rng(0).normal(size=(50, 2))
    >>> model = LinearRegression().fit(X, X @ [2.0, 1.0])
    >>> curve = risk.partial_dependence(model, X, 0, grid={0: [-1.0, 0.0, 1.0]})
    >>> curve.features, np.diff(curve.mean).round(6)
    (('x0',), array([2., 2.]))
    """

    features: tuple[str, ...]
    grid: tuple[Array, ...]
    mean: Floats
    standard_error: Floats
    interval: Floats
    level: float
    individual: Floats | None
    outputs: tuple[Any, ...] | None
    quantity: str
    cautions: tuple[str, ...]
    kinds: tuple[str, ...]
    deciles: tuple[Floats | None, ...]
    rows: tuple[int, int | None]

    @classmethod
    def of(
        cls,
        grids: Sequence[Grid],
        mean: Floats,
        error: Floats,
        individual: Floats | None,
        *,
        reach: float,
        bounds: tuple[float, float],
        level: float,
        outputs: Sequence[Any] | None,
        quantity: str,
        rows: tuple[int, int | None],
        cautions: tuple[str, ...],
    ) -> "PartialDependence":
        """`reach` times the error on both sides is the interval; outputs are the last axis."""
        interval = np.clip(np.stack([mean - reach * error, mean + reach * error], -1), *bounds)
        if outputs is None:
            mean, error, interval = mean[..., 0], error[..., 0], interval[..., 0, :]
            individual = None if individual is None else individual[..., 0]
        return cls(
            features=tuple(grid.name for grid in grids),
            grid=tuple(grid.values for grid in grids),
            mean=mean,
            standard_error=error,
            interval=interval,
            level=level,
            individual=individual,
            outputs=None if outputs is None else tuple(outputs),
            quantity=quantity,
            cautions=cautions,
            kinds=tuple(grid.kind for grid in grids),
            deciles=tuple(grid.deciles for grid in grids),
            rows=rows,
        )

    def of_output(self, output: Any) -> "PartialDependence":
        """That of one class, by its label, or of one output of several, by its number."""
        if self.outputs is None:
            raise ParameterError(f"there is one output only, and output {output!r} was asked for")
        if output not in self.outputs:
            listed = ", ".join(map(repr, self.outputs[:10]))
            raise ParameterError(f"there is no output {output!r}; there are {listed}")
        k = self.outputs.index(output)
        which = "output " if self.quantity.endswith("prediction") else ""
        return replace(
            self,
            mean=self.mean[..., k],
            standard_error=self.standard_error[..., k],
            interval=self.interval[..., k, :],
            individual=None if self.individual is None else self.individual[..., k],
            outputs=None,
            quantity=f"{self.quantity} of {which}{output}",
        )

    def to_table(self) -> Table:
        """A row for each value, or pair of values, and each output: mean, error, interval."""
        points = np.meshgrid(*(np.arange(len(values)) for values in self.grid), indexing="ij")
        repeats = 1 if self.outputs is None else len(self.outputs)
        columns: dict[str, Any] = {
            f"{name} (set)" if name in FOUND else name: np.repeat(values[at.reshape(-1)], repeats)
            for name, values, at in zip(self.features, self.grid, points, strict=True)
        }
        kinds: dict[str, Any] = {}
        if self.outputs is not None:
            columns["output"] = [str(k) for _ in range(points[0].size) for k in self.outputs]
            kinds["output"] = "text"
        numbers = (self.mean, self.standard_error, self.interval[..., 0], self.interval[..., 1])
        columns |= {n: part.reshape(-1) for n, part in zip(FOUND[1:], numbers, strict=True)}
        return Table.of(columns, kinds=kinds)

    def __str__(self) -> str:
        if self.outputs is not None:
            return "\n".join(str(self.of_output(output)) for output in self.outputs)
        n, groups = self.rows
        what = f"{n} row{'s' * (n != 1)}" + ("" if groups is None else f" in {groups} groups")
        set_to = (
            f"{' and '.join(self.features)} {'is' if len(self.features) == 1 else 'are'} set to"
        )
        head = f"The mean {self.quantity} over {what} when {set_to}:"
        tail = (
            f"The intervals cover the choice of the {'rows' if groups is None else 'groups'}, not "
            "that of the model, each value for itself."
        )
        return "\n".join([head, *self._lines(), tail, *self.cautions])

    def _lines(self) -> list[str]:
        points = list(np.ndindex(self.mean.shape))
        shown = np.unique(np.linspace(0, len(points) - 1, min(len(points), MOST_LINES)).round())
        lines = [(*self.features, "mean", "error", f"{100 * self.level:g} % interval")]
        for at in shown.astype(int):
            point = points[at]
            error, (low, high) = self.standard_error[point], self.interval[point]
            words = (written(v[g]) for v, g in zip(self.grid, point, strict=True))
            doubt = few_digits(error, 2), f"[{low:.4g}, {high:.4g}]"
            doubt = ("-", "-") if np.isnan(error) else doubt
            lines.append((*words, f"{self.mean[point]:.4g}", *doubt))
        widths = [max(len(line[k]) for line in lines) for k in range(len(lines[0]))]
        return [
            "  " + "  ".join(f"{c:{w}}" for c, w in zip(line, widths, strict=True)).rstrip()
            for line in lines
        ]

    def __repr__(self) -> str:
        shape = " x ".join(str(len(values)) for values in self.grid)
        return f"PartialDependence({' and '.join(self.features)}, {shape} values, {self.quantity})"

    def plot(self, ax: Any = None, *, output: Any = None) -> Any:
        """The mean with its band; of two features, a plane of colours.

        Rows of which the predictions were kept are thin lines, up to 100 of them, evenly taken.
        Ticks at the foot are the deciles of the data.

        Parameters
        ----------
        ax : Axes, optional
        output : optional
            Which class, or output, is drawn, of several; of two classes the second unless given.
        """
        one = self._one(output)
        label = f"mean {one.quantity}"
        if len(one.features) == 2:
            axes_of = [
                (name, values if kind in ORDERED else [written(v) for v in values], kind in ORDERED)
                for name, values, kind in zip(one.features, one.grid, one.kinds, strict=True)
            ]
            return draw_plane(axes_of[0], axes_of[1], one.mean, label=label, ax=ax)
        name, values = one.features[0], one.grid[0]
        if one.kinds[0] in ORDERED:
            return draw_curve(
                values, one.mean, one.interval, one.individual, one.deciles[0],
                labels=(name, label), ax=ax,
            )  # fmt: skip
        words = [written(value) for value in values]
        return draw_levels(words, one.mean, one.interval, labels=(name, label), ax=ax)

    def _one(self, output: Any) -> "PartialDependence":
        if output is not None:
            return self.of_output(output)
        if self.outputs is None:
            return self
        if len(self.outputs) == 2:
            return self.of_output(self.outputs[1])
        listed = ", ".join(map(repr, self.outputs[:10]))
        raise ParameterError(f"say which output to draw: output is one of {listed}")


def written(value: Any) -> str:
    """A value of a grid, in words; a date without a time of day of 0.

    Examples
    --------
    >>> written(0.25), written("red"), written(np.datetime64("2024-12-31T00:00:00.000000"))
    ('0.25', 'red', '2024-12-31')
    """
    if isinstance(value, np.datetime64):
        return date_in_words(str(value))
    return f"{value:.4g}" if isinstance(value, float | np.floating) else str(value)
