"""`ShapValues`: what each feature adds to each prediction, in numbers, words and pictures."""

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from empirisk.charts.importance import draw_importance
from empirisk.charts.shapley import draw_swarm, draw_waterfall
from empirisk.data.column import Column
from empirisk.data.description import python_values
from empirisk.data.table import Table
from empirisk.runtime.arrays import Floats, Ints
from empirisk.runtime.errors import ParameterError

LONGEST = 40  # of a name in a printed table
MOST_POINTS = 2_000  # of a feature in a picture
QUARTILES = (0.25, 0.75)


@dataclass(frozen=True, eq=False)
class ShapValues:
    """Base value plus values of a row, summed over the features, are its prediction.

    Attributes
    ----------
    values : array of shape (rows, features), or (rows, features, outputs)
        Of several outputs: the classes of a classifier, or the columns of y.
    base_value : float, or array of shape (outputs,)
        The prediction when no feature is known: the mean over the trees' leaves by their weight.
    feature_names : tuple of str
    data : Table
        The rows that are explained.
    outputs : tuple or None
        The labels of the classes, or the numbers of the outputs.
    quantity : str
        What is explained: "prediction", "probability", or a raw score.

    Examples
    --------
    >>> from empirisk import DecisionTreeRegressor, shap_values
    >>> tree = DecisionTreeRegressor().fit([[0, 0], [0, 1], [1, 0], [1, 1]], [0.0, 0.0, 0.0, 8.0])
    >>> found = shap_values(tree, [[1, 1], [1, 0]])
    >>> found.feature_names, found.base_value
    (('x0', 'x1'), 2.0)
    >>> found.base_value + found.values.sum(axis=1)
    array([8., 0.])
    """

    values: Floats
    base_value: float | Floats
    feature_names: tuple[str, ...]
    data: Table
    outputs: tuple[Any, ...] | None
    quantity: str

    def __len__(self) -> int:
        return len(self.values)

    @property
    def predictions(self) -> Floats:
        """Base value plus the sum of the values: (rows,) or (rows, outputs)."""
        total: Floats = self.base_value + self.values.sum(axis=1)
        return total

    @property
    def importance(self) -> Floats:
        """The mean absolute value of each feature, (features,) or (features, outputs)."""
        size: Floats = np.abs(self.values).mean(axis=0)
        return size

    @property
    def order(self) -> Ints:
        """From the feature of the largest mean absolute value to the least, over all outputs."""
        size = self.importance.reshape(len(self.feature_names), -1).sum(axis=1)
        return np.argsort(-size, kind="stable")

    def of_output(self, output: Any) -> "ShapValues":
        """The values of one class, by its label, or of one output of several, by its number."""
        if self.outputs is None:
            raise ParameterError(f"there is one output only, and output {output!r} was asked for")
        if output not in self.outputs:
            listed = ", ".join(map(repr, self.outputs[:10]))
            raise ParameterError(f"there is no output {output!r}; there are {listed}")
        k, base = self.outputs.index(output), np.asarray(self.base_value)
        which = "output " if self.quantity == "prediction" else ""
        named = f"{self.quantity} of {which}{output}"
        return ShapValues(
            self.values[:, :, k], float(base[k]), self.feature_names, self.data, None, named
        )

    def to_table(self) -> Table:
        """Of each feature, the largest first: mean absolute value, mean, and quartiles of values.

        With several outputs, a row for each output of each feature.
        """
        order = self.order
        values = self.values[:, order].reshape(len(self), len(order), -1)
        repeats = values.shape[2]
        low, high = np.quantile(values, QUARTILES, axis=0)
        columns: dict[str, Any] = {
            "feature": [self.feature_names[j] for j in order for _ in range(repeats)]
        }
        if self.outputs is not None:
            columns["output"] = [str(output) for _ in order for output in self.outputs]
        columns |= {
            "mean_absolute": np.abs(values).mean(axis=0).reshape(-1),
            "mean": values.mean(axis=0).reshape(-1),
            "lower_quartile": low.reshape(-1),
            "upper_quartile": high.reshape(-1),
        }
        kinds: Any = {name: "text" for name in ("feature", "output") if name in columns}
        return Table.of(columns, kinds=kinds)

    def __str__(self) -> str:
        if self.outputs is not None:
            return "\n".join(str(self.of_output(output)) for output in self.outputs)
        lines = [("feature", "mean |value|", "quartiles of values")]
        for j in self.order:
            low, high = np.quantile(self.values[:, j], QUARTILES)
            lines.append(
                (
                    _shortened(self.feature_names[j]),
                    f"{np.abs(self.values[:, j]).mean():.4g}",
                    f"[{low:.4g}, {high:.4g}]",
                )
            )
        widths = [max(len(line[k]) for line in lines) for k in range(3)]
        rows = [
            "  ".join(f"{cell:{width}}" for cell, width in zip(line, widths, strict=True)).rstrip()
            for line in lines
        ]
        head = (
            f"What the features add to the {self.quantity} in {len(self)} row"
            f"{'s' * (len(self) != 1)}, beside {self.base_value:.4g} when none is known:"
        )
        return "\n".join([head, *(f"  {row}" for row in rows)])

    def __repr__(self) -> str:
        shape = " x ".join(map(str, self.values.shape))
        return f"ShapValues({shape}, {self.quantity})"

    def plot(
        self,
        ax: Any = None,
        *,
        output: Any = None,
        kind: Literal["points", "bars"] = "points",
        most: int = 20,
    ) -> Any:
        """The values of the features, the largest on top.

        Parameters
        ----------
        ax : Axes, optional
        output : optional
            Which class, or output, is drawn, of several; of two classes the second unless given.
        kind : {"points", "bars"}
            A point for each row, its colour the rank of the feature's value (grey where it is
            missing or has no order), of up to 2,000 rows evenly taken; or a bar for the mean
            absolute value, with a line from its lower to its upper quartile.
        most : int
            How many features are drawn at most.
        """
        if kind not in ("points", "bars"):
            raise ParameterError(f"kind is {kind!r}; give 'points' or 'bars'")
        one = self._one(output)
        order = one.order[:most]
        names = [_shortened(one.feature_names[j]) for j in order]
        if kind == "bars":
            size = np.abs(one.values[:, order])
            label = f"mean |Shapley value| ({one.quantity})"
            ends = np.quantile(size, QUARTILES, axis=0).T
            return draw_importance(names, size.mean(axis=0), ends, label=label, ax=ax)
        rows = np.unique(np.linspace(0, len(one) - 1, min(len(one), MOST_POINTS)).round())
        taken = rows.astype(np.int64)
        ranks = [_ranks(one.data.columns[j])[taken] for j in order]
        label = f"Shapley value ({one.quantity})"
        return draw_swarm(names, one.values[np.ix_(taken, order)], ranks, label=label, ax=ax)

    def plot_row(self, i: int, ax: Any = None, *, output: Any = None, most: int = 12) -> Any:
        """How the prediction of row i comes about, from the base value, feature by feature.

        Parameters
        ----------
        i : int
            The row.
        ax : Axes, optional
        output : optional
            Which class, or output; of two classes the second unless given.
        most : int
            Features drawn one by one; the others are taken together.
        """
        if not -len(self) <= i < len(self):
            raise ParameterError(f"there is no row {i}; the rows are 0 to {len(self) - 1}")
        one, i = self._one(output), i % len(self)
        values = one.values[i]
        order = np.argsort(-np.abs(values), kind="stable")
        shown, others = order[:most], order[most:]
        names = [
            f"{_shortened(one.feature_names[j])} = {_word(one.data.columns[j], i)}" for j in shown
        ]
        steps = values[shown].tolist()
        if len(others):
            names.append(f"{len(others)} others")
            steps.append(float(values[others].sum()))
        base = float(one.base_value)
        return draw_waterfall(names, np.array(steps), base, label=one.quantity, ax=ax)

    def _one(self, output: Any) -> "ShapValues":
        if output is not None:
            return self.of_output(output)
        if self.outputs is None:
            return self
        if len(self.outputs) == 2 and self.quantity == "probability":
            return self.of_output(self.outputs[1])
        listed = ", ".join(map(repr, self.outputs[:10]))
        raise ParameterError(f"say which output to draw: output is one of {listed}")


def _ranks(column: Column) -> Floats:
    """From 0 to 1 by the order of the values; NaN where missing, or where there is no order."""
    if column.kind in ("text", "category"):
        return np.full(len(column), np.nan)
    numbers = column.numbers()
    there = ~np.isnan(numbers)
    ranks = np.full(len(numbers), np.nan)
    distinct, codes = np.unique(numbers[there], return_inverse=True)
    ranks[there] = codes / max(len(distinct) - 1, 1)
    return ranks


def _word(column: Column, i: int) -> str:
    """A value as a picture writes it."""
    if column.missing[i]:
        return "missing"
    if column.kind == "number":
        return f"{column.numbers()[i]:.4g}"
    return str(python_values(column.arrow.slice(i, 1))[0])


def _shortened(name: str) -> str:
    return name if len(name) <= LONGEST else f"{name[: LONGEST - 3]}..."
