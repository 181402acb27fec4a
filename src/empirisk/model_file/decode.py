"""From the tree of a manifest back to a model. Nothing in it is believed before it is checked."""

import math
from collections.abc import Callable
from inspect import Parameter
from typing import Any

import numpy as np

from empirisk.model_file.npy import named_dtype
from empirisk.model_file.registry import NOT_KEPT, may_be_state, parameters, registered
from empirisk.model_file.tree import ALLOWANCE, DEEPEST, NOT_FINITE, SCALARS, Node, Where, place
from empirisk.runtime.arrays import Array
from empirisk.runtime.errors import DataError, EmpiriskError
from empirisk.runtime.scalars import is_whole

# What JSON must give for a NumPy scalar of each kind; dates are counted in their unit.
PLAIN = {"b": bool, "i": int, "u": int, "f": float, "U": str, "M": int, "m": int}


class Decoding:
    """Reads nodes; `arrays`, by the name of their member, are each taken once."""

    def __init__(self, arrays: dict[str, Array]) -> None:
        self.arrays = arrays
        self.allowance = ALLOWANCE
        self._rules: dict[tuple[str, ...], Callable[[Any, Where], Any]] = {
            ("tuple",): lambda node, where: tuple(self._list(node["tuple"], where)),
            ("dict",): self._dict,
            ("range",): self._range,
            ("int",): _integer,
            ("float",): _float,
            ("scalar",): self._scalar,
            ("array",): self._array,
            ("objects", "shape"): self._objects,
            ("class", "params", "state"): self._registered,
        }

    def value(self, node: Node, where: Where) -> Any:
        """The value that a node stands for."""
        if len(where) > DEEPEST:
            raise DataError(f"{place(where[:5])} is nested deeper than {DEEPEST} levels")
        if isinstance(node, SCALARS):
            return node
        if isinstance(node, list):
            return self._list(node, where)
        rule = self._rules.get(tuple(sorted(node)))
        if rule is None:
            raise _malformed(where, f"has the keys {sorted(node)[:5]}")
        return rule(node, where)

    def _list(self, node: Node, where: Where) -> list[Any]:
        items = _as(list, node, where)
        return [self.value(item, (*where, i)) for i, item in enumerate(items)]

    def _dict(self, node: Node, where: Where) -> dict[Any, Any]:
        pairs = self._list(node["dict"], where)
        if any(type(pair) is not list or len(pair) != 2 for pair in pairs):
            raise _malformed(where, "is a dict of something else than pairs")
        self._spend(sum(type(key) is not str for key, _ in pairs), where)
        try:
            found = dict(pairs)
        except TypeError:
            raise _malformed(where, "is a dict with a key that cannot be one") from None
        if len(found) != len(pairs):
            raise _malformed(where, "is a dict with a key twice")
        return found

    def _range(self, node: Node, where: Where) -> range:
        ends = self._list(node["range"], where)
        if len(ends) != 3 or any(type(end) is not int for end in ends) or ends[2] == 0:
            raise _malformed(where, "is a range without a start, stop and step")
        found = range(*ends)
        self._spend(len(found[: ALLOWANCE + 1]), where)
        return found

    def _spend(self, items: int, where: Where) -> None:
        self.allowance -= items
        if self.allowance < 0:
            raise DataError(f"{place(where)} brings ranges and numbered keys to over {ALLOWANCE}")

    def _scalar(self, node: Node, where: Where) -> Any:
        pair = self._list(node["scalar"], where)
        if len(pair) != 2 or type(pair[0]) is not str:
            raise _malformed(where, "is a scalar without a dtype and a value")
        dtype = named_dtype(pair[0]).newbyteorder("=")
        plain = _as(PLAIN[dtype.kind], pair[1], where)
        if dtype.kind == "U":
            return np.str_(plain)
        try:
            if dtype.kind in "Mm":
                return np.array(plain, dtype=np.int64).view(dtype)[()]
            return np.array(plain, dtype=dtype)[()]
        except OverflowError:
            raise _malformed(where, f"is a number too large for {dtype}") from None

    def _array(self, node: Node, where: Where) -> Array:
        name = _as(str, node["array"], where)
        if name not in self.arrays:
            raise _malformed(
                where, f"is an array in a member {name[:50]!r} not there or used twice"
            )
        return self.arrays.pop(name)

    def _objects(self, node: Node, where: Where) -> Array:
        items = self._list(node["objects"], where)
        shape = _as(list, node["shape"], where)
        if any(type(size) is not int or size < 0 for size in shape) or len(shape) > 64:
            raise _malformed(where, f"has the shape {shape[:5]}")
        if math.prod(shape) != len(items) or any(type(item) not in SCALARS for item in items):
            raise _malformed(where, "is an array of objects that are not there or no scalars")
        flat = np.empty(len(items), dtype=object)
        flat[:] = items
        return flat.reshape(shape)

    def _registered(self, node: Node, where: Where) -> Any:
        name = _as(str, node["class"], where)
        cls = registered(name)
        if cls is None:
            raise DataError(
                f"{place(where)} is of the class {name[:50]!r}, which is not one that this version "
                "of Empirisk puts into model files"
            )
        _check_params(cls, _as(dict, node["params"], where), where)
        _check_state(cls, _as(dict, node["state"], where), where)
        params = self._attributes(node["params"], where)
        return _built(cls, params, self._attributes(node["state"], where), where)

    def _attributes(self, nodes: dict[str, Node], where: Where) -> dict[str, Any]:
        return {name: self.value(node, (*where, name)) for name, node in nodes.items()}


def _check_params(cls: type, params: dict[str, Node], where: Where) -> None:
    """Every parameter is known, and those without a default are there.

    One with a default may be missing: a file of an older version does not know it.
    """
    known = parameters(cls.__name__)
    for name in params:
        if name not in known:
            raise _malformed(where, f"is a {cls.__name__} with a parameter {name[:50]!r}")
    for name, parameter in known.items():
        if name not in params and parameter.default is Parameter.empty:
            raise _malformed(where, f"is a {cls.__name__} without its parameter {name!r}")


def _check_state(cls: type, state: dict[str, Node], where: Where) -> None:
    for name in state:
        if not may_be_state(cls, name):
            raise _malformed(where, f"is a {cls.__name__} with an attribute {name[:50]!r}")


def _built(cls: type, params: dict[str, Any], state: dict[str, Any], where: Where) -> Any:
    """The object, which has found its parts in order if it knows how to look."""
    left_out = dict.fromkeys(NOT_KEPT.get(cls.__name__, ()))
    try:
        thing = cls(**params, **left_out)
        if state:
            vars(thing).update(state)
            _check_names(state)
        if hasattr(cls, "check_loaded"):
            thing.check_loaded()
        return thing
    except (
        EmpiriskError, ArithmeticError, AttributeError, LookupError, TypeError, ValueError,
    ) as error:  # fmt: skip
        raise DataError(f"{place(where)}, a {cls.__name__}, cannot be made: {error}") from None


def _check_names(state: dict[str, Any]) -> None:
    """The number of features and their names, if there are some, are that."""
    p = state.get("n_features_in_")
    if "n_features_in_" in state and not is_whole(p, 0):
        raise DataError("n_features_in_ is no number of features")
    if "feature_names_in_" not in state:
        return
    names = state["feature_names_in_"]
    flat = isinstance(names, np.ndarray) and names.shape == (p,)
    if not flat or not all(isinstance(name, str) for name in names):
        raise DataError(f"feature_names_in_ are not the names of {p} features")


def _integer(node: Node, where: Where) -> int:
    try:
        return int(_as(str, node["int"], where), 16)
    except ValueError:
        raise _malformed(where, "is an integer without its digits") from None


def _float(node: Node, where: Where) -> float:
    if node["float"] not in NOT_FINITE:
        raise _malformed(where, "is a float that is neither a number nor nan, inf or -inf")
    return float(node["float"])


def _as(kind: type, node: Node, where: Where) -> Any:
    if type(node) is not kind:
        raise _malformed(where, f"has a {type(node).__name__} where a {kind.__name__} belongs")
    return node


def _malformed(where: Where, what: str) -> DataError:
    return DataError(f"{place(where)} {what}, which `save` does not write")
