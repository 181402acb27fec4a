"""Double descent: the risk of minimum-norm least squares as the features p pass the rows n."""

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Literal

import numpy as np

from empirisk.charts.double_descent import draw_double_descent
from empirisk.risk.intervals.interval import interval, none
from empirisk.risk.intervals.loss_table import LossTable
from empirisk.risk.learning_curves.minimum_norm import LinearModel, Pairs, RandomFeatures
from empirisk.risk.learning_curves.risk_at_size import RiskAtSize
from empirisk.risk.plans.fingerprints import digest
from empirisk.runtime.arrays import Floats, Ints
from empirisk.runtime.errors import ParameterError
from empirisk.runtime.parallel import parallel
from empirisk.runtime.progress import track
from empirisk.runtime.scalars import MOST, check_level, is_whole, real_numbers
from empirisk.runtime.streams import spawn

INFINITE = "the expected risk is infinite where p and n differ by 1 or less"
ONE_TABLE = "the draws share the rows of one table"
RATIOS = (0.1, 0.2, 0.4, 0.6, 0.8, 0.9, 0.95, 1, 1.05, 1.1, 1.25, 1.5, 2, 3, 5, 10)


@dataclass(frozen=True, eq=False)
class DoubleDescent:
    """The risk of minimum-norm least squares along the number of features, or of rows.

    Attributes
    ----------
    along : {"features", "rows"}
        What `values` are; the other number is `fixed`.
    values : int array
    fixed : int
    estimates : tuple of RiskAtSize
        Of the training sets that were drawn.
    training_risk : array
    theory : array or None
        The expected risk where it is known.
    what : str
        What the features are.

    Examples
    --------
    >>> from empirisk import risk
    >>> curve = risk.linear_double_descent(20, [5, 20, 100], random_state=0)
    >>> curve.along, curve.values, curve.fixed
    ('features', array([  5,  20, 100]), 20)
    >>> curve.peak, bool(curve.training_risk[-1] < 1e-12)
    (20, True)
    """

    along: Literal["features", "rows"]
    values: Ints
    fixed: int
    estimates: tuple[RiskAtSize, ...]
    training_risk: Floats
    theory: Floats | None
    what: str

    @property
    def risk(self) -> Floats:
        return np.array([estimate.value for estimate in self.estimates])

    @property
    def peak(self) -> int:
        """The value with the largest risk."""
        return int(self.values[np.argmax(self.risk)])

    @property
    def sentence(self) -> str:
        """Where the risk peaks, and what it is on either side."""
        name, other = ("p", "n") if self.along == "features" else ("n", "p")
        text = (
            f"With {other} = {self.fixed} the risk of minimum-norm least squares peaks at "
            f"{name} = {self.peak} with {self.risk.max():.4g}"
        )
        sides = (("below", self.values < self.fixed), ("above", self.values > self.fixed))
        for side, there in sides:
            if there.any():
                best = np.flatnonzero(there)[np.argmin(self.risk[there])]
                text += (
                    f"; {side} {name} = {other} it is least at {name} = {self.values[best]}, "
                    f"{self.risk[best]:.4g}"
                )
        return f"{text}."

    def __str__(self) -> str:
        return self.sentence

    def plot(self, ax: Any = None) -> Any:
        """Risk and training risk against p (or n), p = n marked, p / n on top."""
        label = f"{self.what} p (n = {self.fixed} training rows)"
        if self.along == "rows":
            label = f"training rows n (p = {self.fixed} {self.what})"
        theory = self.theory
        if theory is not None:
            theory = np.where(np.isfinite(theory), theory, np.nan)  # a gap in the line
        return draw_double_descent(
            self.values,
            self.risk,
            self.training_risk,
            threshold=self.fixed,
            label=label,
            ratio="p/n" if self.along == "features" else "n/p",
            theory=theory,
            ax=ax,
        )


def linear_double_descent(
    n: int | Sequence[int],
    p: int | Sequence[int],
    *,
    relevant: int | None = None,
    signal: float = 1.0,
    noise_variance: float = 0.25,
    n_draws: int = 50,
    level: float = 0.95,
    n_jobs: int | None = None,
    random_state: Any = None,
) -> DoubleDescent:
    """Double descent in the linear model, beside the theory.

    Parameters
    ----------
    n, p : int and sequence of int
        Training rows and features; one of them runs.
    relevant : int, optional
        The features that y depends on, of which the model sees the first p; by default as many as
        the largest p.
    signal, noise_variance : float
        |beta|^2, spread evenly over the relevant features, and the variance of the noise.
    n_draws : int
        Training sets.
    level, n_jobs, random_state

    Examples
    --------
    >>> curve = linear_double_descent(20, [5, 10, 20, 40, 200], random_state=0)
    >>> curve.peak
    20
    """
    check_level(level)
    along, values, fixed = _axis(n, p)
    pairs = _pairs(along, values, fixed)
    if relevant is None:
        relevant = max(features for _, features in pairs)
    model = LinearModel(relevant, signal, noise_variance)
    risk, training = _draws(partial(model.draw, pairs), n_draws, n_jobs, random_state)
    theory = np.array([model.expected_risk(*pair) for pair in pairs])
    estimates = tuple(
        _estimate(risk[:, j], pairs[j][0], level, "" if np.isfinite(theory[j]) else INFINITE)
        for j in range(len(pairs))
    )
    return DoubleDescent(along, values, fixed, estimates, training, theory, "features")


def double_descent(
    X: Any,
    y: Any,
    *,
    features: int | Sequence[int] | None = None,
    rows: int | Sequence[int] | None = None,
    test_size: float = 0.25,
    n_draws: int = 10,
    level: float = 0.95,
    n_jobs: int | None = None,
    random_state: Any = None,
) -> DoubleDescent:
    """Double descent on a table of numbers, through random features max(0, w'x + c).

    Parameters
    ----------
    X, y : numbers
    features : int or sequence of int, optional
        How many random features; by default through the number of training rows, from a tenth of
        it to ten times as many.
    rows : int or sequence of int, optional
        How many training rows; by default all that are not test rows.
    test_size : float
        Share of the rows that judge.
    n_draws : int
        Of features, and of the division into training and test rows.
    level, n_jobs, random_state

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(80, 3))
    >>> y = np.sin(X[:, 0]) + 0.3 * rng.normal(size=80)
    >>> curve = double_descent(X, y, features=[5, 20, 60, 200], random_state=0)
    >>> curve.peak, curve.fixed
    (60, 60)
    """
    check_level(level)
    table = RandomFeatures.of(X, y, test_size)
    rows = table.n_train if rows is None else rows
    if features is None:
        features = _through(rows)
    along, values, fixed = _axis(rows, features)
    pairs = _pairs(along, values, fixed)
    if max(n for n, _ in pairs) > table.n_train:
        raise ParameterError(f"rows is {rows}; {table.n_train} are left beside the test rows")
    risk, training = _draws(partial(table.draw, pairs), n_draws, n_jobs, random_state)
    estimates = tuple(
        _estimate(column, n, level, ONE_TABLE) for column, (n, _) in zip(risk.T, pairs, strict=True)
    )
    return DoubleDescent(along, values, fixed, estimates, training, None, "random features")


def _through(rows: int | Sequence[int]) -> list[int]:
    """Numbers of features from a tenth of the rows to ten times as many."""
    if not is_whole(rows):
        raise ParameterError(f"rows is {rows!r}: with several, give features, one number")
    return sorted({max(1, round(ratio * int(rows))) for ratio in RATIOS})


def _axis(n: Any, p: Any) -> tuple[Literal["features", "rows"], Ints, int]:
    """Which of the two runs, along which values, and the other."""
    several = [np.ndim(np.asarray(count, dtype=object)) > 0 for count in (n, p)]
    if several[0] == several[1]:
        raise ParameterError(
            f"rows {n!r} and features {p!r}: one must be a number, the other several"
        )
    running, fixed = (p, n) if several[1] else (n, p)
    values = _whole_numbers(running)
    if not len(values) or not is_whole(fixed, 1):
        raise ParameterError(
            f"rows {n!r:.60} and features {p!r:.60}: all numbers must be whole, and 1 or more"
        )
    return ("features" if several[1] else "rows"), values, int(fixed)


def _whole_numbers(several: Any) -> Ints:
    """Increasing whole numbers from 1; none at all where some are something else."""
    with suppress(ParameterError):
        given = real_numbers(several, "values")
        if given.ndim == 1 and ((given >= 1) & (given < MOST) & (given == np.rint(given))).all():
            return np.unique(given.astype(np.int64))
    return np.empty(0, dtype=np.int64)


def _pairs(along: str, values: Ints, fixed: int) -> Pairs:
    if along == "features":
        return [(fixed, int(p)) for p in values]
    return [(int(n), fixed) for n in values]


def _draws(
    draw: Callable[[int], Floats], n_draws: int, n_jobs: int | None, random_state: Any
) -> tuple[Floats, Floats]:
    """Risks (draws, values), and the mean training risks."""
    if not is_whole(n_draws, 2):
        raise ParameterError(f"n_draws is {n_draws!r}; give 2 or more")
    seeds = track(spawn(random_state, n_draws), "draws")
    found = np.array(parallel(draw, seeds, n_jobs=n_jobs))
    return found[:, 0], found[:, 1].mean(axis=0)


def _estimate(risks: Floats, n: int, level: float, no_interval: str) -> RiskAtSize:
    """The mean over draws of n rows; they are independent, unless a reason says why not."""
    draws = np.arange(len(risks))
    table = LossTable(
        losses=np.ascontiguousarray(risks),
        weight=np.ones(len(risks)),
        unit=draws,
        split=draws,
        n_train=np.inf,
        kind="test",
        bounds=(0.0, np.inf),
    )
    if no_interval:
        found = none(table, table.mean(), no_interval)
    else:
        found = interval(table, level)
        if found.ends is not None:
            found = replace(found, reason=f"{len(risks)} training sets were drawn")
    estimate = RiskAtSize.of(
        table,
        loss="squared",
        estimates="the procedure at this n",
        fingerprint=digest(risks),
        level=level,
        found=found,
    )
    return replace(estimate, rows=n)
