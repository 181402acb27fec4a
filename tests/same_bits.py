"""Whether two fitted models are the same, down to the bits of their arrays."""

from copy import deepcopy

import joblib


def assert_same_bits(one, other):
    """All attributes are equal; how arrays of no more than one row lie in memory does not count."""
    assert vars(one).keys() == vars(other).keys()
    for name, value in vars(one).items():
        both = joblib.hash(deepcopy(value)), joblib.hash(deepcopy(vars(other)[name]))
        assert both[0] == both[1], name
