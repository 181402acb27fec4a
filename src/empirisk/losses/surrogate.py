"""Is a margin loss a fair stand-in for the 0-1 loss? Surrogates and classification-calibration."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from empirisk.losses.margin import as_margin_loss
from empirisk.losses.margin_loss import HALF_LINE, LINE, MarginLoss, checked_eta
from empirisk.losses.minimise import infimum
from empirisk.runtime.arrays import Array, Floats
from empirisk.runtime.errors import DataError

GivenLoss = MarginLoss | str | Callable[[Array], Array]
"""A margin loss, its name, or any function phi of an array of margins."""

# Every hundredth, and close to 1/2, where the gap is smallest.
ETAS = np.unique(np.append(np.delete(np.arange(101) / 100, 50), [0.499, 0.501]))

# The infima are found to about 1e-12 of their size; a smaller gap is no gap.
RELATIVE_GAP = 1e-10
ROUNDING = 1e-12


@dataclass(frozen=True, eq=False)
class Calibration:
    """The least conditional phi-risk, overall and among discriminants of the wrong sign.

    Attributes
    ----------
    eta : ndarray
        Probabilities P(Y = 1 | x), none of them 1/2.
    least : ndarray
        H(eta) = inf over f of eta phi(f) + (1 - eta) phi(-f).
    least_wrong : ndarray
        H-(eta), the infimum over f (eta - 1/2) <= 0, so over discriminants that would not
        predict the likelier class.

    Examples
    --------
    >>> from empirisk.losses import calibration
    >>> found = calibration("hinge", eta=[0.2, 0.9])
    >>> found.least.round(3), found.least_wrong.round(3)
    (array([0.4, 0.2]), array([1., 1.]))
    >>> found.is_calibrated
    True
    """

    eta: Floats
    least: Floats
    least_wrong: Floats

    @property
    def gap(self) -> Floats:
        """H-(eta) - H(eta): what having the wrong sign costs at least, in phi-risk."""
        return self.least_wrong - self.least

    @property
    def is_calibrated(self) -> bool:
        """Whether the wrong sign costs something at every eta."""
        return bool((self.gap > RELATIVE_GAP * self.least_wrong).all())


def calibration(loss: GivenLoss, eta: ArrayLike | None = None) -> Calibration:
    """Check numerically whether a convex margin loss is classification-calibrated.

    It is if H-(eta) > H(eta) for every eta other than 1/2: then whoever minimises the phi-risk
    predicts the likelier class. (For convex phi this holds exactly if phi has a derivative at 0
    and it is negative: Bartlett, Jordan & McAuliffe 2006.)

    Parameters
    ----------
    loss : MarginLoss, str or callable
        A margin loss, its name, or a convex function of an array of margins.
    eta : array-like, optional
        Where to check; by default every hundredth of [0, 1] and 0.499, 0.501. 1/2 is left out.

    Returns
    -------
    Calibration
        With `eta`, `least` = H, `least_wrong` = H-, `gap` and the verdict `is_calibrated`.

    Examples
    --------
    >>> found = calibration("hinge", eta=0.9)
    >>> found.least.round(6), found.least_wrong.round(6), found.is_calibrated
    (array([0.2]), array([1.]), True)
    >>> calibration("perceptron").is_calibrated
    False
    >>> calibration(lambda z: np.exp(-3 * z)).is_calibrated
    True
    """
    phi = _margin_loss(loss)
    given = np.ravel(checked_eta(ETAS if eta is None else eta))
    given = given[given != 0.5]
    if given.size == 0:
        raise DataError("eta holds no value but 1/2, where neither class is likelier; give others")
    # By symmetry f -> -f, eta -> 1 - eta, the likelier class may be taken as the positive one.
    likelier = np.maximum(given, 1 - given)

    def conditional_risk(f: Array) -> Array:
        return phi.conditional_risk(f, likelier)

    _, least = infimum(conditional_risk, LINE, given.size)
    _, least_wrong = infimum(conditional_risk, -HALF_LINE[::-1], given.size)
    return Calibration(given, least, least_wrong)


def is_surrogate(loss: GivenLoss) -> bool:
    """Check numerically whether phi is a surrogate: convex, and phi(z) >= 1{z < 0} for all z.

    Looked at are 3,201 points of [-8, 8] and 0, +-2^k out to 1e24.

    Parameters
    ----------
    loss : MarginLoss, its name, or a function phi of an array of margins

    Examples
    --------
    >>> is_surrogate("hinge"), is_surrogate("perceptron")
    (True, False)
    """
    z = np.unique(np.concatenate([np.linspace(-8, 8, 3201), LINE]))
    phi = _margin_loss(loss).value(z)
    share = (z[1:-1] - z[:-2]) / (z[2:] - z[:-2])
    chord = (1 - share) * phi[:-2] + share * phi[2:]
    is_convex = (phi[1:-1] <= chord + ROUNDING * np.abs(chord)).all()
    return bool(is_convex and (phi >= np.where(z < 0, 1 - ROUNDING, 0)).all())


@dataclass(frozen=True)
class _Function(MarginLoss):
    """A margin loss of which only the value is known."""

    function: Callable[[Array], Array]
    name: ClassVar[str] = "given"

    def value(self, margin: ArrayLike) -> Floats:
        with np.errstate(all="ignore"):
            return np.asarray(self.function(np.asarray(margin, dtype=float)), dtype=float)

    def derivative(self, margin: ArrayLike) -> Floats:
        raise NotImplementedError("only the value of this loss was given")


def _margin_loss(loss: GivenLoss) -> MarginLoss:
    return as_margin_loss(loss) if isinstance(loss, MarginLoss | str) else _Function(loss)
