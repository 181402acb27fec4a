"""What gradient boosting needs to know of a loss, and how a loss of one's own is given.

Boosting adds trees to a raw score f. A loss L(y, f) says what f costs, how the cost changes with f,
which constant is best to start from, and what a raw score predicts.
"""

from abc import ABC, abstractmethod
from typing import Any, ClassVar, Literal

import numpy as np
from scipy.special import expit, softmax

from empirisk.learners.ensembles.boosting.leaf_steps import common_factor, halved_steps
from empirisk.losses.weighted import TIED
from empirisk.runtime.arrays import Array, Floats
from empirisk.runtime.errors import ParameterError

Link = Literal["identity", "log", "logit", "softmax"]
OWN = ("value", "gradient", "curvature", "initial", "inverse_link")
"""The methods that a loss of one's own has."""


class BoostingLoss(ABC):
    """L(y, f) of targets y and raw scores f, row by row.

    y and f have the shape (rows,); of K > 2 classes, y are codes 0..K-1 and f, gradient and
    curvature have the shape (rows, K). Two classes are y = 0 and 1. Weights are applied outside,
    except where a method takes them.

    A loss of one's own is any object with the methods `value`, `gradient`, `curvature`, `initial`
    and `inverse_link`; it need not be a subclass of this. The curvature must be >= 0; where the
    second derivative is not, give a bound or 1.

    Examples
    --------
    >>> import numpy as np
    >>> from empirisk import HistGradientBoostingRegressor
    >>> class LogCosh:
    ...     '''log cosh(y - f): squared for small errors, absolute for large ones.'''
    ...
    ...     def value(self, y, raw):
    ...         return np.logaddexp(y - raw, raw - y) - np.log(2)
    ...
    ...     def gradient(self, y, raw):
    ...         return np.tanh(raw - y)
    ...
    ...     def curvature(self, y, raw):
    ...         return np.maximum(1 - np.tanh(raw - y) ** 2, 0.01)
    ...
    ...     def initial(self, y, sample_weight):
    ...         return np.average(y, weights=sample_weight)
    ...
    ...     def inverse_link(self, raw):
    ...         return raw
    >>> X = np.arange(100.0)[:, None]
    >>> model = HistGradientBoostingRegressor(LogCosh(), min_samples_leaf=3)
    >>> model = model.fit(X, np.sqrt(X[:, 0]))
    >>> model.predict([[25.0], [81.0]]).round(1)
    array([5., 9.])
    """

    link: ClassVar[Link] = "identity"
    kernel: ClassVar[Any] = None
    """Under which name the grower knows the loss, and finds its derivatives itself; only where
    leaves have Newton's step."""
    constant_curvature: ClassVar[bool] = False
    """Whether the curvature is 1 everywhere."""
    wanted: ClassVar[str] = "finite numbers"
    """Targets for which the loss is defined, in words."""
    has_unit: ClassVar[bool] = True
    """Whether predictions for y times c are c times those for y."""
    gain_power: ClassVar[int] = 0
    """How gains go with y: those for y times c are c to this power times those for y."""
    curvature_power: ClassVar[int] = 0
    """How curvatures do."""

    @abstractmethod
    def value(self, y: Array, raw: Floats) -> Floats:
        """L(y, f) of each row."""

    @abstractmethod
    def gradient(self, y: Array, raw: Floats) -> Floats:
        """dL/df; at a kink, the subgradient nearest to 0."""

    @abstractmethod
    def initial(self, y: Array, sample_weight: Floats) -> Any:
        """The constant f with the least weighted loss; of K > 2 classes, K of them."""

    def curvature(self, y: Array, raw: Floats) -> Floats:
        """d2L/df2, or what stands for it in Newton's step."""
        return np.ones(raw.shape)

    def derivatives(self, y: Array, raw: Floats) -> tuple[Floats, Floats | None]:
        """The gradient, and the curvature unless it is 1 everywhere."""
        gradient = self.gradient(y, raw)
        return gradient, None if self.constant_curvature else self.curvature(y, raw)

    def inverse_link(self, raw: Floats) -> Floats:
        """What a raw score predicts."""
        return INVERSE_LINKS[self.link](raw)

    def for_round(self, y: Array, raw: Floats, weight: Floats) -> "BoostingLoss":
        """The loss of one round, where it depends on how far the fit has come."""
        return self

    def allows(self, y: Array) -> bool:
        """Whether the loss is defined for all y."""
        return True

    def leaf_steps(self, y: Array, raw: Floats, weight: Any, leaf: Any, newton: Floats) -> Floats:
        """The step of each leaf from the rows in it, in place of Newton's, -G / (H + l2)."""
        return newton

    def common_step(self, y: Array, raw: Floats, weight: Floats, newton: Floats) -> float:
        """The factor of Newton's steps of the rows: the best one, if it is one for all leaves.

        So monotone trees stay monotone, where `leaf_steps` would change the order of leaves. Of an
        interval of best factors it is the least: a slope of nothing but rounding errors is 0.
        """

        def slope(factor: float) -> float:
            terms = weight * newton * self.gradient(y, raw + factor * newton)
            total = float(terms.sum())
            return 0.0 if abs(total) <= TIED * float(np.abs(terms).sum()) else total

        return common_factor(slope)

    @property
    def moves_leaves(self) -> bool:
        """Whether `leaf_steps` are others than Newton's."""
        return type(self).leaf_steps is not BoostingLoss.leaf_steps

    @property
    def keeps_order(self) -> bool:
        """Whether these steps grow with Newton's: monotone trees stay so."""
        return not self.moves_leaves


class OwnLoss(BoostingLoss):
    """A user's loss. In leaves where Newton's step would raise the loss, it is halved.

    In monotone trees all steps are, where together they would raise it; none is where a round has a
    tree for each of K > 2 classes, whose scores move at once.
    """

    has_unit: ClassVar[bool] = False

    def __init__(self, loss: Any) -> None:
        missing = [name for name in OWN if not callable(getattr(loss, name, None))]
        if missing:
            raise ParameterError(
                f"loss is {loss!r:.60}, which has no method {missing[0]!r}; a loss of your own "
                f"has {', '.join(OWN)}: help('{__name__}') has an example"
            )
        self.loss = loss

    def value(self, y: Array, raw: Floats) -> Floats:
        return self._checked("value", self.loss.value(y, raw), y.shape)

    def gradient(self, y: Array, raw: Floats) -> Floats:
        return self._checked("gradient", self.loss.gradient(y, raw), raw.shape)

    def curvature(self, y: Array, raw: Floats) -> Floats:
        curvature = self._checked("curvature", self.loss.curvature(y, raw), raw.shape)
        if (curvature < 0).any():
            raise ParameterError(
                f"curvature of {self.loss!r:.60} has negative values; give a bound >= 0"
            )
        return curvature

    def initial(self, y: Array, sample_weight: Floats) -> Any:
        return self.loss.initial(y, sample_weight)

    def inverse_link(self, raw: Floats) -> Floats:
        return self._checked("inverse_link", self.loss.inverse_link(raw), raw.shape)

    def leaf_steps(self, y: Array, raw: Floats, weight: Any, leaf: Any, newton: Floats) -> Floats:
        self.value(y, raw)  # where the fit is, it must be finite
        return halved_steps(lambda f: weight * self._tried(y, f), raw, leaf, newton)

    def common_step(self, y: Array, raw: Floats, weight: Floats, newton: Floats) -> float:
        def losses(factor: Floats) -> Floats:
            return weight * self._tried(y, raw + factor * newton)

        self.value(y, raw)
        one_leaf = np.zeros(len(y), np.int64)
        return float(halved_steps(losses, np.zeros(len(y)), one_leaf, np.ones(1))[0])

    @property
    def moves_leaves(self) -> bool:
        return True

    def _tried(self, y: Array, raw: Floats) -> Floats:
        """The loss of scores that may be too far: what is no finite number is infinite."""
        with np.errstate(all="ignore"):
            value = np.asarray(self.loss.value(y, raw), dtype=np.float64)
        self._checked("value", np.where(np.isfinite(value), value, 0.0), y.shape)
        return np.where(np.isfinite(value), value, np.inf)

    def _checked(self, name: str, found: Any, shape: tuple[int, ...]) -> Floats:
        array = np.asarray(found, dtype=np.float64)
        if array.shape != shape or not np.isfinite(array).all():
            raise ParameterError(
                f"{name} of {self.loss!r:.60} gives an array of shape {array.shape}, or values "
                f"that are not finite; wanted are finite numbers of shape {shape}"
            )
        return array


def _identity(raw: Floats) -> Floats:
    return raw


def _softmax(raw: Floats) -> Floats:
    return softmax(raw, axis=-1)


INVERSE_LINKS = {"identity": _identity, "log": np.exp, "logit": expit, "softmax": _softmax}
