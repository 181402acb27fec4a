"""`Importance`: how much a predictor leans on each feature, and how sure that is."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from empirisk.charts.importance import draw_importance
from empirisk.data.table import Table
from empirisk.risk.estimate import RiskEstimate
from empirisk.risk.importances.error import error_over_repeats
from empirisk.runtime.arrays import Floats, Ints
from empirisk.runtime.digits import few_digits
from empirisk.runtime.errors import ParameterError

How = Literal["test", "out_of_fold", "out_of_bag", "members", "retrain", "impurity"]
LONGEST = 40  # of a name in a printed table


@dataclass(frozen=True, eq=False)
class Importance:
    """The importance of features, or of groups of them, in the order in which they were given.

    Attributes
    ----------
    names : tuple of str
    values : array of shape (features,)
        By how much the risk rises, or a measure falls, without what the feature knows; of
        `how="impurity"`, the share of the impurity that its splits take away.
    standard_error : array of shape (features,)
        NaN where it is unknown.
    interval : array of shape (features, 2)
        At `level`; NaN where no valid one is known. `covers` says what is covered.
    level : float
    repeats : array of shape (repeats, features)
        The importance by each permutation; by each tree of an ensemble for `how="impurity"`.
    baseline : RiskEstimate or None
        The risk, or the measure, before anything was permuted.
    columns : tuple of tuples of str
        The columns of each feature.
    quantity : str
        What the values are, as an axis calls it.
    method, covers : str
        What was done, and which sources of chance the errors and intervals cover, in sentences.
    how : {"test", "out_of_fold", "out_of_bag", "members", "retrain", "impurity"}

    Examples
    --------
    >>> import numpy as np
    >>> from empirisk import LinearRegression, risk
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(400, 2))
    >>> y = 2 * X[:, 0] + rng.normal(size=400)
    >>> model = LinearRegression().fit(X[:200], y[:200])
    >>> found = risk.importance(model, X[200:], y[200:], random_state=0)
    >>> found.names, bool(found["x0"] > 4), found.interval.shape
    (('x0', 'x1'), True, (2, 2))
    """

    names: tuple[str, ...]
    values: Floats
    standard_error: Floats
    interval: Floats
    level: float
    repeats: Floats
    baseline: RiskEstimate | None
    columns: tuple[tuple[str, ...], ...]
    quantity: str
    method: str
    covers: str
    how: How

    def __len__(self) -> int:
        return len(self.names)

    def __iter__(self) -> Iterator[str]:
        return iter(self.names)

    def __getitem__(self, name: str) -> float:
        """The importance of a feature by its name."""
        if name not in self.names:
            listed = ", ".join(map(repr, self.names[:10])) + (", ..." if len(self) > 10 else "")
            raise ParameterError(f"there is no feature {name!r}; there are {listed}")
        return float(self.values[self.names.index(name)])

    @property
    def order(self) -> Ints:
        """From the most to the least important; of equals, as they were given."""
        return np.argsort(-self.values, kind="stable")

    @property
    def permutation_error(self) -> Floats:
        """The standard error over the repeats alone, on the same rows; NaN for a single one.

        It says how much another seed would change, and is part of `standard_error`.
        """
        n = len(self.repeats)
        if n < 2:
            return np.full(len(self), np.nan)
        return error_over_repeats(self.repeats)

    def to_table(self) -> Table:
        """A row for each feature, the most important first; `to_pandas` makes it a frame."""
        order = self.order
        return Table.of(
            {
                "feature": [self.names[j] for j in order],
                "importance": self.values[order],
                "standard_error": self.standard_error[order],
                "low": self.interval[order, 0],
                "high": self.interval[order, 1],
            },
            kinds={"feature": "text"},
        )

    def __str__(self) -> str:
        lines = [("feature", "importance", "error", f"{100 * self.level:g} % interval")]
        for j in self.order:
            lines.append((_shortened(self.names[j]), f"{self.values[j]:.4g}", *self._doubt(int(j))))
        widths = [max(len(line[k]) for line in lines) for k in range(4)]
        table = [
            "  ".join(f"{cell:{width}}" for cell, width in zip(line, widths, strict=True)).rstrip()
            for line in lines
        ]
        said = [self.method, *(f"  {line}" for line in table), self.covers]
        return "\n".join(said if self.baseline is None else [*said, str(self.baseline)])

    def _doubt(self, j: int) -> tuple[str, str]:
        """The error and the interval of a feature, in words where there is none."""
        error, (low, high) = self.standard_error[j], self.interval[j]
        said = "-" if np.isnan(error) else few_digits(error, 2)
        if not np.isnan(low):
            return said, f"[{low:.4g}, {high:.4g}]"
        untouched = self.how != "impurity" and not self.repeats[:, j].any()
        return said, "no row changed" if untouched else "-"

    def __repr__(self) -> str:
        first = ", ".join(f"{self.names[j]}: {self.values[j]:.4g}" for j in self.order[:5])
        return f"Importance({self.how}, {first}{', ...' if len(self) > 5 else ''})"

    def plot(self, ax: Any = None) -> Any:
        """A bar for each feature, the most important on top, with its interval."""
        order = self.order
        return draw_importance(
            [_shortened(self.names[j]) for j in order],
            self.values[order],
            self.interval[order],
            label=self.quantity,
            ax=ax,
        )


def _shortened(name: str) -> str:
    return name if len(name) <= LONGEST else f"{name[: LONGEST - 3]}..."
