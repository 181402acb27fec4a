"""Who judges the rows of an out-of-bag estimate, and what that leaves in doubt."""

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from empirisk.runtime.arrays import Ints

if TYPE_CHECKING:
    from empirisk.risk.problem import Problem

FEW_MEMBERS = 25
FEW_ROWS = 150
NEARLY_BALANCED = 0.9  # times the share of each class if all had the same
TOO_FEW = "so few members do worse than the whole ensemble"
PESSIMISTIC = (
    "with so few rows, so many columns and classes of nearly equal size it is pessimistic: a "
    "member that lacks a row drew fewer of its class"
)


class Judges(NamedTuple):
    """How many of the members of an ensemble judge each row: those that drew none of its unit.

    `grouped` says that a unit is a group of rows.
    """

    members: Ints
    n_members: int
    grouped: bool = False

    @property
    def mean(self) -> float:
        """How many judge a row, of the rows that are judged at all."""
        return float(self.members[self.members > 0].mean())

    @property
    def how(self) -> str:
        """How the rows came to be judged, for the reason of an interval."""
        text = (
            f"each row by the members that did not draw it, {self.mean:.3g} of {self.n_members} on "
            "average"
        )
        never = int((self.members == 0).sum())
        if not never:
            return text
        what = "are in groups of which all drew" if self.grouped else "all drew"
        return f"{text}, without {never} row{'s' * (never != 1)} that {what}"

    def doubts(self, problem: "Problem") -> tuple[str, ...]:
        """Each a clause that can follow "but"."""
        few = (TOO_FEW,) if self.mean < FEW_MEMBERS else ()
        return (*few, PESSIMISTIC) if is_pessimistic(problem) else few


def is_pessimistic(problem: "Problem") -> bool:
    """Whether out-of-bag risk is known to be too high: few rows, many columns, equal classes.

    The members that lack a row drew from n - 1 rows of which its own class has one fewer. Where
    the classes are of nearly equal size, this tilts their majority against the row; where few
    rows stand against many weak columns, nothing else moves the vote as much, and noise looks worse
    than guessing (Mitchell 2011; Janitza and Hornung 2018). The rule: at most 150 rows, as many
    columns or more, and no class below 0.9/K of the weight of K classes.

    Simulated with 150 or 200 trees on noise, the out-of-bag error of two equal classes was too high
    by 0.12 to 0.16 at 20 rows and 200 columns or more, 0.07 at 50, 0.04 at 100 and 0.03 at 150
    (standard errors of 0.01 to 0.04); by 0.07 of three at 60 rows. At 50 rows and 300 columns with
    some signal it was so by 0.06 with a share of 0.46 of the smaller class, 0.03 with 0.4, 0.00
    with 0.3; and by 0.01 at 150 rows and 10 columns.
    """
    K = problem.n_classes
    if K < 2 or problem.n > FEW_ROWS or columns_of(problem) < problem.n:
        return False
    assert problem.target is not None
    share = np.bincount(problem.target, problem.weight, minlength=K) / problem.weight.sum()
    return bool(share.min() >= NEARLY_BALANCED / K)


def columns_of(problem: "Problem") -> int:
    """The columns of X, or of the design where that is all there is; 0 where they are not known."""
    X = problem.design if problem.X is None else problem.X
    shape: tuple[int, ...] = getattr(X, "shape", ())
    return shape[1] if len(shape) > 1 else 0
