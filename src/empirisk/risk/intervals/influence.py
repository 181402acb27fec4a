"""How rows move the risk of a rule through what it learns from them.

The mean T of held-out losses moves with a row in two ways: by its own loss, and through the
coefficients b, which without that row are others. If b minimises the mean of losses l_i(b) and a
penalty P(b), and g is the gradient of the risk at b, then to first order

    T - E T = mean_i (l_i - E l + t_i),    t_i = -g'(H + P'')^-1 (l_i' + P'),    H = mean_i l_i''.

Where b minimises the risk, g = 0, and nothing goes the second way. Under a strong penalty g = -P',
and it may be most of the error: of near-zero coefficients all losses are alike, and their spread
tells nothing. The same direction tells what fewer training rows cost where the losses are summed
and not averaged beside the penalty: with m of n rows this counts for n/m as much, and the risk
rises by (n/m - 1) g'(H + P'')^-1 (-P'). Of squares the two ways oppose each other,
var(l + t) <= var(l), and the rise alone counts.
"""

from typing import NamedTuple

from empirisk.runtime.arrays import Floats


class Influence(NamedTuple):
    """`through`, t_i of each training row, None where it does not widen an interval; `rise`, the
    derivative of the risk along the logarithm of the penalty."""

    through: Floats | None
    rise: float
