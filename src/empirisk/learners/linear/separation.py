"""Separation: classes that a linear rule tells apart, so that maximum likelihood has no solution.

A direction separates if along it every row's own class gains on every other class, or stays level:
f_{y_i}(x_i) - f_k(x_i) >= 0 for all i and k, and > 0 for some. Then the likelihood grows for ever
in that direction. If all are > 0 the separation is complete, else quasi-complete (Albert &
Anderson 1984).
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from scipy.optimize import linprog

from empirisk.learners.linear.logistic_loss import LogisticLoss
from empirisk.runtime.arrays import Bools, Floats, Ints
from empirisk.runtime.column_names import named
from empirisk.runtime.deadlines import check_deadline, time_left
from empirisk.runtime.errors import EmpiriskWarning

FAR = 20.0
"""Without separation hardly a score is larger: a probability of 1 - 2e-9."""
LEVEL = 1e-6
"""Margins, relative to the largest, that count as 0: ten tolerances of the linear programme."""
AT_ONCE = 1000
"""Constraints that join a linear programme at once, or ten for each coordinate."""
ROUNDS = 100  # of joining
NAMED = 5  # classes, or clauses, that a sentence has


class SeparationWarning(EmpiriskWarning):
    """A linear rule separates the classes: coefficients without penalty would be infinite."""


@dataclass(frozen=True, eq=False)
class Separation:
    """A direction in which the likelihood grows for ever.

    Attributes
    ----------
    kind : {"complete", "quasi-complete"}
    coef, intercept : arrays, shaped as `coef_` and `intercept_` of the learner
        The direction: the rule whose scores are never against a row's own class. Its largest
        coefficient is 1 where each column is measured by its largest deviation from the mean.
    n_separated : int
        Rows that are strictly on the side of their class, against each of the others.
    ahead : int array of shape (n_classes, n_classes)
        How many rows of class k have a larger score for k than for l; on the diagonal, all of k.
    """

    kind: Literal["complete", "quasi-complete"]
    coef: Floats
    intercept: Floats
    n_separated: int
    ahead: Ints

    def involved(self, names: Any) -> str:
        """The columns that the direction uses, in words."""
        used = np.flatnonzero((self.coef != 0).any(axis=0))
        return f"column{'s' if len(used) > 1 else ''} {named(used, names)}"

    def message(self, names: Any, classes: Any) -> str:
        if self.kind == "complete":
            what = "a linear rule separates the classes without error"
        elif len(classes) > 2:
            what = (
                f"a linear rule separates {self._told_apart(classes)} (quasi-complete separation)"
            )
        else:
            what = (
                f"a linear rule separates {self.n_separated} row(s) from the other classes and is "
                "level at the rest (quasi-complete separation)"
            )
        return (
            f"{what}, by {self.involved(names)}: the likelihood has no maximum, and the "
            "coefficients are those at which the fit stopped. Set C to a finite value; "
            "`separation_` has the direction"
        )

    def _told_apart(self, classes: Any) -> str:
        """The classes, and the rows of others, that are separated from one another, in words."""
        names = [repr(name) for name in np.asarray(classes).tolist()]
        of_class = np.diagonal(self.ahead)
        whole = self.ahead == of_class[:, np.newaxis]
        whole &= whole.T
        phrases = [
            f"class {names[k]} from {_listed([names[m] for m in others])}"
            for k, others in _stars(np.argwhere(np.triu(whole, 1)).tolist())
        ]
        for k, count in enumerate(np.where(whole, 0, self.ahead)):
            for n_rows in np.unique(count[count > 0]).tolist():
                others = [names[m] for m in np.flatnonzero(count == n_rows)]
                phrases.append(f"{n_rows} row(s) of class {names[k]} from {_listed(others)}")
        return _listed(phrases, "; ")


def _stars(pairs: list[list[int]]) -> Iterator[tuple[int, list[int]]]:
    """Pairs as (one, its partners), those with the most partners first."""
    while pairs:
        ends = [end for pair in pairs for end in pair]
        hub = max(sorted(set(ends)), key=ends.count)
        yield hub, [k + m - hub for k, m in pairs if hub in (k, m)]
        pairs = [pair for pair in pairs if hub not in pair]


def _listed(words: list[str], comma: str = ", ") -> str:
    if len(words) > NAMED:
        return f"{comma.join(words[:NAMED])} and {len(words) - NAMED} more"
    return " and ".join([comma.join(words[:-1]), words[-1]] if len(words) > 1 else words)


def margins(loss: LogisticLoss, theta: Floats) -> Floats:
    """f_{y_i}(x_i) - f_k(x_i), (rows, classes - 1)."""
    scores = loss.scores(theta)
    own = np.take_along_axis(scores, loss.y[:, np.newaxis], axis=1)
    others = np.ones(scores.shape, bool)
    others[np.arange(len(scores)), loss.y] = False
    return (own - scores)[others].reshape(len(scores), -1)


def separating_direction(
    loss: LogisticLoss, theta: Floats, far: float
) -> tuple[Floats, Bools] | None:
    """A direction that separates as many rows as any, and the margins that grow along it.

    `theta` is where a fit without penalty ended; without margins beyond `far` nothing is
    separated.

    A linear programme (Konis 2007) finds a direction within a box, with margins >= 0 and largest
    in sum. Margins that it leaves level are summed in the next one, until none can be gained: the
    sum of all directions separates whatever can be.
    """
    fitted = margins(loss, theta)
    if (fitted > 0).all():
        return theta, fitted > 0
    if np.abs(fitted).max() < far:
        return None
    level = np.ones(fitted.shape, bool)
    total = np.zeros(loss.size)
    while level.any():
        direction = _linear_programme(loss, fitted, level)
        gained = margins(loss, direction)
        ahead = level & (gained > LEVEL * gained.max())
        if not ahead.any():
            break
        total += direction
        level &= ~ahead
    return None if level.all() else (total, ~level)


def _linear_programme(loss: LogisticLoss, fitted: Floats, level: Bools) -> Floats:
    """The direction whose margins at `level` are largest in sum, all being >= 0.

    The constraints begin with those of the least fitted margins; those that are violated join.
    """
    units = np.ones((loss.n_scores, loss.width))
    units[:, : loss.X.shape[1]] = column_units(loss)
    unit = units.reshape(-1)
    aim = _gains(loss, *np.nonzero(level)).sum(axis=0) / unit
    aim /= max(float(np.abs(aim).max()), 1e-300)
    at_once = max(AT_ONCE, 10 * loss.size)
    chosen = np.sort(np.argsort(fitted, axis=None, kind="stable")[:at_once])
    for _ in range(ROUNDS):
        check_deadline()
        rows, others = np.unravel_index(chosen, level.shape)
        found = linprog(
            -aim,
            A_ub=-_gains(loss, rows, others) / unit,
            b_ub=np.zeros(len(chosen)),
            bounds=(-1, 1),
            method="highs",
            options={"time_limit": max(time_left(), 0.0)},
        )
        check_deadline()
        if found.x is None or -found.fun <= LEVEL:
            break
        direction = np.where(np.abs(found.x) > LEVEL, found.x, 0.0) / unit
        gained = margins(loss, direction).reshape(-1)
        violated = np.flatnonzero(gained < -LEVEL * gained.max())
        joining = np.setdiff1d(violated, chosen)
        if len(joining) == 0:
            return direction if len(violated) == 0 else np.zeros(loss.size)
        worst = joining[np.argsort(gained[joining], kind="stable")[:at_once]]
        chosen = np.union1d(chosen, worst)
    return np.zeros(loss.size)


def _gains(loss: LogisticLoss, rows: Ints, others: Ints) -> Floats:
    """Margins as functions of the coordinates: of each row over the others-th other class."""
    Z = loss.X[rows] - loss.centre
    if loss.fit_intercept:
        Z = np.column_stack([Z, np.ones(len(rows))])
    own = loss.y[rows]
    other = others + (others >= own)  # the own class is left out of the count
    contrast = loss.basis[own] - loss.basis[other]
    return np.einsum("ia,ij->iaj", contrast, Z).reshape(len(rows), loss.size)


def column_units(loss: LogisticLoss) -> Floats:
    """The largest deviation of each column from the centre; 1 for a constant column."""
    size = np.abs(loss.X - loss.centre).max(axis=0)
    return np.where(size > 0, size, 1.0)


def separation_of(problem: Any, theta: Floats, far: float) -> Separation | None:
    """What is reported of a fit without penalty that ended at `theta`."""
    loss = problem.loss
    found = separating_direction(loss, theta, far)
    if found is None:
        return None
    direction, ahead = found
    matrix = direction.reshape(loss.n_scores, loss.width)
    p = loss.X.shape[1]
    largest = np.abs(matrix[:, :p] * column_units(loss)).max(initial=0.0)
    coef, constant = problem.rule(direction / (largest if largest > 0 else 1.0))
    return Separation(
        "complete" if ahead.all() else "quasi-complete",
        coef,
        constant - coef @ problem.raw_centre,
        int(ahead.all(axis=1).sum()),
        _rows_ahead(loss, ahead),
    )


def _rows_ahead(loss: LogisticLoss, ahead: Bools) -> Ints:
    """Rows of each class that are ahead of each other one; on the diagonal all its rows."""
    K = loss.n_classes
    count = np.diag(np.bincount(loss.y, minlength=K))
    for k in range(K):
        count[k, np.arange(K) != k] = ahead[loss.y == k].sum(axis=0)
    return count
