"""From a model to the tree of its manifest and its arrays."""

import math
from typing import Any

import numpy as np

from empirisk.model_file.npy import storable
from empirisk.model_file.registry import may_be_state, params_of, registered, state_of
from empirisk.model_file.tree import ALLOWANCE, DEEPEST, MODEL, SCALARS, SHORT, Node, Where, place
from empirisk.runtime.arrays import Array
from empirisk.runtime.errors import ParameterError

RANDOM = (
    np.random.RandomState,
    np.random.Generator,
    np.random.BitGenerator,
    np.random.SeedSequence,
)


class Encoding:
    """Writes values as nodes, and collects in `arrays` what becomes members of the archive."""

    def __init__(self) -> None:
        self.arrays: list[Array] = []
        self.allowance = ALLOWANCE
        self._rules = {
            type(None): _as_it_is,
            bool: _as_it_is,
            str: _as_it_is,
            int: _integer,
            float: _float,
            range: self._range,
            list: self._list,
            tuple: self._tuple,
            dict: self._dict,
            np.ndarray: self._array,
        }

    def node(self, value: Any, where: Where) -> Node:
        """The node of a value; `where` is the way to it, for messages."""
        if len(where) > DEEPEST:
            raise ParameterError(
                f"{place(where[:5])} goes on for more than {DEEPEST} levels: it contains itself, "
                "or is nested too deeply for a model file"
            )
        if isinstance(value, np.generic):
            return self._scalar(value, where)
        rule = self._rules.get(type(value), self._registered)
        return rule(value, where)

    def _list(self, value: Any, where: Where) -> Node:
        return [self.node(item, (*where, i)) for i, item in enumerate(value)]

    def _tuple(self, value: Any, where: Where) -> Node:
        return {"tuple": self._list(value, where)}

    def _dict(self, value: Any, where: Where) -> Node:
        self._spend(sum(type(key) is not str for key in value), where)
        pairs = enumerate(value.items())
        return {"dict": [self._list(pair, (*where, i)) for i, pair in pairs]}

    def _range(self, value: range, where: Where) -> Node:
        self._spend(len(value[: ALLOWANCE + 1]), where)
        return {"range": [_integer(end, where) for end in (value.start, value.stop, value.step)]}

    def _spend(self, items: int, where: Where) -> None:
        self.allowance -= items
        if self.allowance < 0:
            raise ParameterError(
                f"{place(where)} brings the ranges, and the keys of dicts that are not strings, to "
                f"over {ALLOWANCE}; a model file holds no more: give an array"
            )

    def _scalar(self, value: Any, where: Where) -> Node:
        if isinstance(value, np.str_):
            return {"scalar": ["<U1", str(value)]}
        if not storable(value.dtype):
            raise _unsavable(value, where)
        dated = value.dtype.kind in "Mm"
        plain = int(value.view(np.int64)) if dated else value.item()
        return {"scalar": [value.dtype.str, self.node(plain, where)]}

    def _array(self, value: Array, where: Where) -> Node:
        if value.dtype.kind == "O":
            return self._objects(value, where)
        if not storable(value.dtype):
            raise ParameterError(
                f"{place(where)} is an array of {value.dtype}; a model file holds arrays of "
                "booleans, integers, floats up to float64, text and dates: convert it to one"
            )
        self.arrays.append(value)
        return {"array": f"{len(self.arrays) - 1}.npy"}

    def _objects(self, value: Array, where: Where) -> Node:
        # Labels may be words taken from an array one by one, which are np.str_.
        items = [x.item() if isinstance(x, np.generic) else x for x in value.ravel().tolist()]
        for item in items:
            if type(item) not in SCALARS:
                raise ParameterError(
                    f"{place(where)} is an array of objects with a {type(item).__name__} in it; "
                    "a model file holds arrays of numbers, text and dates"
                )
        return {"objects": self._list(items, where), "shape": list(value.shape)}

    def _registered(self, value: Any, where: Where) -> Node:
        cls = type(value)
        if registered(cls.__name__) is not cls:
            raise _unsavable(value, where)
        state = state_of(value)
        for name in state:
            if not may_be_state(cls, name):
                raise ParameterError(
                    f"{place((*where, name))} stands where {cls.__name__} has something of its "
                    "own, and cannot be saved: delete this attribute"
                )
        return {
            "class": cls.__name__,
            "params": self._attributes(params_of(value), where),
            "state": self._attributes(state, where),
        }

    def _attributes(self, values: dict[str, Any], where: Where) -> Node:
        return {name: self.node(value, (*where, name)) for name, value in values.items()}


def _as_it_is(value: Any, where: Where) -> Node:
    return value


def _integer(value: int, where: Where) -> Node:
    return value if abs(value) < SHORT else {"int": hex(value)}


def _float(value: float, where: Where) -> Node:
    return value if math.isfinite(value) else {"float": repr(value)}


def _unsavable(value: Any, where: Where) -> ParameterError:
    """What is wrong with a value that has no node, and what to do."""
    name, at = type(value).__name__, place(where)
    if isinstance(value, RANDOM):
        return ParameterError(
            f"{at} is a {name}, whose place in its stream a model file does not keep; "
            "set it to an integer, or to None"
        )
    if type(value).__module__.startswith("sklearn."):
        return ParameterError(
            f"{at} is scikit-learn's {name}: a model file holds only Empirisk's learners; {name} "
            "must be saved by scikit-learn's own means"
        )
    remedy = ""
    if where == MODEL and hasattr(value, "model"):
        remedy = "; give its model: save(result.model, path)"
    return ParameterError(
        f"{at} is a {name}; a model file holds only Empirisk's learners, and in them numbers, "
        f"text, dates, arrays, lists, tuples and dicts{remedy}"
    )
