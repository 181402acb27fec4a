"""How a manifest writes objects down: JSON's own values, and beside them objects with these keys.

    {"tuple": [...]}                              {"dict": [[key, value], ...]}
    {"range": [start, stop, step]}                {"array": "3.npy"}
    {"int": "0x..."}         of 64 bits or more   {"float": "nan"}         or "inf", "-inf"
    {"scalar": ["<f4", 0.5]} a NumPy scalar       {"objects": [...], "shape": [...]}
    {"class": "Ridge", "params": {...}, "state": {...}}

`objects` is a NumPy array of Python's scalars, most often of strings; `params` are what the
constructor is given, `state` the fitted attributes.
"""

from typing import Any

Node = Any
Where = tuple[str | int, ...]

DEEPEST = 64
"""Levels of objects in objects; a model has about five."""

ALLOWANCE = 10_000
"""Items of all ranges and keys that are not strings, together: a range of a few bytes can be as
long as it likes, and a dict of numbers chosen for their hashes takes the square of their number."""

SHORT = 2**63
"""Smaller integers are written as JSON numbers."""

NOT_FINITE = ("nan", "inf", "-inf")
SCALARS = (type(None), bool, int, float, str)
"""What an array of objects may hold."""

MODEL: Where = ("model",)
META: Where = ("meta",)
"""Where the two trees of a manifest begin."""


def place(where: Where) -> str:
    """The way to a part of a model as Python spells it: `model.steps[0][1].alpha`."""
    steps = (f"[{step}]" if isinstance(step, int) else f".{step}" for step in where[1:])
    return f"{where[0]}{''.join(steps)}"
