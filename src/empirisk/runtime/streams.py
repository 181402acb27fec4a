"""Independent random streams: one number in, as many unrelated seeds out as there is work.

Each seed is hashed by NumPy's `SeedSequence`, so neighbouring numbers give unrelated streams, and
the three uses of a seed (children, a generator, the seed of a foreign estimator) never meet.
"""

from numbers import Integral
from typing import Any

import numpy as np

from empirisk.runtime.errors import ParameterError

# Spawn keys that keep the three uses of one seed apart, and apart from default_rng(seed), with
# which the user may have drawn the very data.
_CHILDREN, _GENERATOR, _FOREIGN = 1, 2, 3


def spawn(random_state: Any, n: int) -> list[int]:
    """n independent seeds, non-negative integers of 63 bits.

    Parameters
    ----------
    random_state : None, int, numpy.random.RandomState or numpy.random.Generator
        None takes fresh entropy; a RandomState or a Generator is drawn from once.
    n : int
        How many. The first seeds do not depend on n.

    Examples
    --------
    >>> spawn(0, 2) == spawn(0, 3)[:2]
    True
    >>> spawn(0, 2) == spawn(1, 2)
    False
    """
    sequence = _sequence(_entropy(random_state), _CHILDREN)
    try:
        words = sequence.generate_state(n, np.uint64)
    except (MemoryError, ValueError):
        raise ParameterError(
            f"{n} random streams, one for each member, start or resample that was asked for, do "
            "not fit into memory: ask for fewer"
        ) from None
    return [int(word) >> 1 for word in words]


def settled(random_state: Any) -> int | None:
    """None or an integer as it is; a RandomState or a Generator is drawn from, once.

    For work that uses its random_state in several places.

    Examples
    --------
    >>> settled(7)
    7
    """
    if random_state is None:
        return None
    if isinstance(random_state, Integral):
        return int(random_state)
    return spawn(random_state, 1)[0]


def generator(seed: int) -> np.random.Generator:
    """The generator of a seed; the same seed gives the same bits.

    Examples
    --------
    >>> generator(7).random() == generator(7).random()
    True
    """
    return np.random.Generator(np.random.PCG64(_sequence(_entropy(seed), _GENERATOR)))


def seed32(seed: int) -> int:
    """A seed of 32 bits for the `random_state` of a foreign estimator, hashed, not cut off."""
    return int(_sequence(_entropy(seed), _FOREIGN).generate_state(1, np.uint32)[0])


def _sequence(entropy: Any, use: int) -> np.random.SeedSequence:
    return np.random.SeedSequence(entropy, spawn_key=(use,))


def _entropy(random_state: Any) -> Any:
    if random_state is None:
        return None
    if isinstance(random_state, Integral) and int(random_state) >= 0:
        return int(random_state)
    if isinstance(random_state, np.random.RandomState):
        return random_state.randint(0, 2**32, size=4, dtype=np.uint64).tolist()
    if isinstance(random_state, np.random.Generator):
        return random_state.integers(0, 2**32, size=4, dtype=np.uint64).tolist()
    raise ParameterError(
        f"random_state is {random_state!r}; give None, an integer >= 0, "
        "a numpy.random.RandomState or a numpy.random.Generator"
    )
