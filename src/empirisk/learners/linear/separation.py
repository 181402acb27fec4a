"""Separation: classes that a linear rule tells apart, so that maximum likelihood has no solution.

A direction separates if along it every row's own class gains on every other class, or stays level:
f_{y_i}(x_i) - f_k(x_i) >= 0 for all i and k, and > 0 for some. Then the likelihood grows for ever
in that direction. If all are > 0 the separation is complete, else quasi-complete (Albert &
Anderson 1984).
"""

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from scipy.optimize import linprog

from empirisk.learners.linear.logistic_loss import LogisticLoss
from empirisk.runtime.arrays import Floats
from empirisk.runtime.errors import EmpiriskWarning

FAR = 20.0
"""Without separation hardly a score is larger: a probability of 1 - 2e-9."""
LEVEL = 1e-7
"""Margins, relative to the largest, that count as 0: the tolerance of the linear programme."""
MOST_NUMBERS = 2**24
"""Numbers in the constraints of a linear programme: 128 MB."""
NAMED = 5


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
        Rows that are strictly on the side of their class.
    """

    kind: Literal["complete", "quasi-complete"]
    coef: Floats
    intercept: Floats
    n_separated: int

    def involved(self, names: Any) -> str:
        """The columns that the direction uses, in words."""
        used = np.flatnonzero((self.coef != 0).any(axis=0))
        shown = [str(j) if names is None else repr(str(names[j])) for j in used[:NAMED]]
        more = f" and {len(used) - NAMED} more" if len(used) > NAMED else ""
        return f"column{'s' if len(used) > 1 else ''} {', '.join(shown)}{more}"

    def message(self, names: Any) -> str:
        if self.kind == "complete":
            what = "a linear rule separates the classes without error"
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


def margins(loss: LogisticLoss, theta: Floats) -> Floats:
    """f_{y_i}(x_i) - f_k(x_i), (rows, classes - 1)."""
    scores = loss.scores(theta)
    own = np.take_along_axis(scores, loss.y[:, np.newaxis], axis=1)
    others = np.ones(scores.shape, bool)
    others[np.arange(len(scores)), loss.y] = False
    return (own - scores)[others].reshape(len(scores), -1)


def separating_direction(loss: LogisticLoss, theta: Floats, step: Floats) -> Floats | None:
    """A direction that separates, in the coordinates of the loss; None if none was found.

    `theta` is where a fit without penalty ended and `step` its last step, which tends to such a
    direction. The linear programme (Konis 2007) is exact and tells also that there is none.
    """
    if (margins(loss, theta) > 0).all():
        return theta
    if np.abs(loss.scores(theta)).max() < FAR:
        return None
    if len(loss.X) * (loss.n_classes - 1) * loss.size <= MOST_NUMBERS:
        step = _linear_programme(loss)
    gained = margins(loss, step)
    largest = gained.max(initial=0.0)
    separates = largest > 0 and gained.min() >= -LEVEL * 100 * largest
    return step if separates else None


def _linear_programme(loss: LogisticLoss) -> Floats:
    """The direction within a box whose margins are >= 0 and largest in sum; 0 if there is none."""
    unit = column_units(loss)
    n, width = len(loss.X), loss.width
    Z = (loss.X - loss.centre) / unit
    if loss.fit_intercept:
        Z = np.column_stack([Z, np.ones(n)])
    own, basis = loss.y[:, np.newaxis], loss.basis
    others = np.array([[k for k in range(loss.n_classes) if k != y] for y in range(loss.n_classes)])
    contrast = basis[own] - basis[others[loss.y]]  # (rows, classes - 1, scores)
    gains = np.einsum("ika,ij->ikaj", contrast, Z).reshape(-1, loss.size)
    found = linprog(
        -gains.sum(axis=0) / len(gains),
        A_ub=-gains,
        b_ub=np.zeros(len(gains)),
        bounds=(-1, 1),
        method="highs",
    )
    if found.x is None:
        return np.zeros(loss.size)
    direction = np.where(np.abs(found.x) > LEVEL, found.x, 0.0).reshape(loss.n_scores, width)
    direction[:, : loss.X.shape[1]] /= unit
    return direction.reshape(-1)


def column_units(loss: LogisticLoss) -> Floats:
    """The largest deviation of each column from the centre; 1 for a constant column."""
    size = np.abs(loss.X - loss.centre).max(axis=0)
    return np.where(size > 0, size, 1.0)


def separation_of(problem: Any, theta: Floats, step: Floats) -> Separation | None:
    """What is reported of a fit without penalty that ended at `theta`."""
    loss = problem.loss
    direction = separating_direction(loss, theta, step)
    if direction is None:
        return None
    matrix = direction.reshape(loss.n_scores, loss.width).copy()
    p = loss.X.shape[1]
    largest = np.abs(matrix[:, :p] * column_units(loss)).max()
    matrix /= largest if largest > 0 else 1.0
    gained = margins(loss, matrix.reshape(-1))
    ahead = gained > LEVEL * gained.max()
    coef, constant = problem.rule(matrix.reshape(-1))
    intercept = constant - coef @ problem.raw_centre
    kind: Literal["complete", "quasi-complete"] = "complete" if ahead.all() else "quasi-complete"
    if (margins(loss, theta) > 0).all():
        kind = "complete"
    return Separation(kind, coef, intercept, int(ahead.any(axis=1).sum()))
