"""From sums over training sets to the parts of a risk, with their Monte Carlo errors."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar, Protocol, Self

import numpy as np

from empirisk.charts.bias_variance import draw_parts, draw_parts_curves
from empirisk.risk.decomposition.group_sums import GroupSums, jackknife_error, times_square
from empirisk.risk.decomposition.points import JudgedAt
from empirisk.runtime.arrays import Array, Floats
from empirisk.runtime.digits import give_or_take
from empirisk.runtime.errors import DataError


class Accounts(Protocol):
    """How one loss is taken apart: what is summed, and the parts that follow from the sums."""

    unit: float
    """Parts come in its square, so that neither huge nor tiny targets leave the range."""

    def summarise(self, prediction: Array) -> Array:
        """What is added up over training sets, from predictions (points, values)."""

    def parts(self, sums: Array) -> dict[str, Floats]:
        """Each part at each point and value, (points, values)."""

    def result(self, parts: "Parts", j: int, **told: Any) -> "Decomposition":
        """The decomposition at the j-th value."""


@dataclass(frozen=True, eq=False)
class Parts:
    """Means over the points and their standard errors, by name: (values,); and point by point."""

    mean: Mapping[str, Floats]
    error: Mapping[str, Floats]
    pointwise: Mapping[str, Floats]
    pointwise_error: Mapping[str, Floats]
    sums: Array
    at: JudgedAt

    @classmethod
    def of(cls, sums: GroupSums, accounts: Accounts, at: JudgedAt) -> "Parts":
        """The error has two sources, the training sets and, where they are drawn, the points."""
        pointwise = accounts.parts(sums.total)
        without = [accounts.parts(some) for some in sums.without_each()]
        scaled = partial(times_square, unit=accounts.unit)
        means, errors, pointwise_errors = {}, {}, {}
        for name, values in pointwise.items():
            mean = at.mean(values)
            with np.errstate(invalid="ignore"):  # infinity less infinity
                of_sets = jackknife_error(np.stack([at.mean(some[name]) for some in without]))
                error = np.hypot(of_sets, at.error(values))
                at_points = jackknife_error(np.stack([some[name] for some in without]))
            means[name] = scaled(mean)
            errors[name] = scaled(_known(error, mean))
            pointwise_errors[name] = scaled(_known(at_points, values))
        scaled_pointwise = {name: scaled(values) for name, values in pointwise.items()}
        return cls(means, errors, scaled_pointwise, pointwise_errors, sums.total, at)


def _known(error: Floats, value: Floats) -> Floats:
    """Of a value that is infinite, or from too few predictions to tell, the error is infinite."""
    return np.where(np.isnan(error) & ~np.isnan(value), np.inf, error)


def drawn(
    shown: Mapping[str, str], part: Callable[[str], Any], error: Callable[[str], Any]
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Parts and errors for a picture: what is infinite cannot be seen, and its word says so."""
    words = {
        name: f"{word} (infinite)" if np.isinf(part(name)).any() else word
        for word, name in shown.items()
    }
    parts, errors = (
        {word: np.where(np.isinf(of(name)), np.nan, of(name)) for name, word in words.items()}
        for of in (part, error)
    )
    return parts, errors


@dataclass(frozen=True, eq=False)
class Decomposition:
    """A risk and its parts; the parts named in `summands` add up to the total.

    Attributes
    ----------
    parts : dict of str to float
        Means over the points.
    standard_error : dict of str to float
        The Monte Carlo error of each part.
    pointwise : dict of str to array of shape (points,)
        Each part at each point.
    pointwise_error : dict of str to array of shape (points,)
        The Monte Carlo error of each part at each point.
    points : the points, as the population or the user gave them
    learner, setting : str
        What was fitted, and to which training sets.
    """

    summands: ClassVar[tuple[str, ...]]
    words: ClassVar[dict[str, str]]

    parts: dict[str, float]
    standard_error: dict[str, float]
    pointwise: dict[str, Array]
    pointwise_error: dict[str, Floats]
    points: Any
    learner: str
    setting: str

    @classmethod
    def at_value(cls, parts: Parts, j: int, **told: Any) -> Self:
        """The j-th column of all parts."""
        return cls(
            parts={name: float(values[j]) for name, values in parts.mean.items()},
            standard_error={name: float(values[j]) for name, values in parts.error.items()},
            pointwise={name: values[:, j] for name, values in parts.pointwise.items()},
            pointwise_error={name: error[:, j] for name, error in parts.pointwise_error.items()},
            points=parts.at.X,
            **told,
        )

    @property
    def total(self) -> float:
        """The expected risk of the learner over training sets."""
        return self.parts["total"]

    def __str__(self) -> str:
        return self.sentence

    @property
    def sentence(self) -> str:
        """The decomposition in words that can be read out."""
        raise NotImplementedError

    def shown(self) -> dict[str, str]:
        """The summands and the total: the words for them and the names of the parts."""
        return {self.words[name]: name for name in (*self.summands, "total")}

    def plot(self, ax: Any = None) -> Any:
        """The summands and the total, with whiskers of one standard error."""
        return draw_parts(
            *drawn(self.shown(), self.parts.__getitem__, self.standard_error.__getitem__),
            label=f"{self.words['risk']} of {self.learner}",
            ax=ax,
        )

    def plot_pointwise(self, ax: Any = None) -> Any:
        """The summands and the total against x, for one feature; bands of one standard error."""
        return draw_parts_curves(
            self.one_feature(),
            *drawn(self.shown(), self.pointwise.__getitem__, self.pointwise_error.__getitem__),
            label="x",
            risk=self.words["risk"],
            ax=ax,
        )

    def one_feature(self) -> Floats:
        """The points as numbers, where there is one feature."""
        x = np.asarray(self.points)
        if x.ndim != 2 or x.shape[1] != 1 or x.dtype.kind not in "fiub":
            raise DataError(
                f"curves against x need one feature of numbers, and the points have shape {x.shape}"
            )
        return x[:, 0].astype(float)

    def _said(self, name: str) -> str:
        said = give_or_take(self.parts[name], self.standard_error[name], 4)
        return f"{self.words[name]} {said}"
