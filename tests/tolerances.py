"""Why two numbers of a test may differ, and so by how much; relative to numbers of their size.

A tolerance with another reason is a number with that reason in a comment beside it;
test_tolerances.py asks for one.
"""

LAST_BITS = 1e-14
"""A few operations in another order: some ten roundings of 1e-16 each."""

SUMMED = 1e-12
"""Sums or products of up to some thousand terms in another order, with little cancellation."""

SOLVED = 1e-10
"""Linear systems or factorisations by another way: SUMMED times condition numbers in the hundreds.
What the engine promises of two rungs for one answer."""
