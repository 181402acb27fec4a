"""Warnings as notes: the same ones in the same order, however threads warn."""

import warnings
from itertools import permutations

from empirisk.cli.warned import notes_of_warnings
from empirisk.runtime.errors import ConvergenceWarning, EmpiriskWarning


def test_notes_do_not_depend_on_the_order_of_the_warnings():
    raised = [("b", EmpiriskWarning), ("a", ConvergenceWarning), ("b", EmpiriskWarning)]
    for order in permutations(raised):
        with notes_of_warnings() as notes:
            for text, category in order:
                warnings.warn(text, category, stacklevel=1)
        assert notes == ["a", "b"]
