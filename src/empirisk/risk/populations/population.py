"""A known joint distribution of (X, Y): training sets come from it, and true risks are known."""

from abc import ABC, abstractmethod
from typing import Any, ClassVar, Literal, get_args

import numpy as np
from sklearn.utils import _safe_indexing

from empirisk.losses import Loss, as_loss, default_loss
from empirisk.risk.estimate import RiskEstimate
from empirisk.risk.plans.fingerprints import digest
from empirisk.risk.populations.features import Features, Points
from empirisk.risk.populations.true_risk import (
    Known,
    exact_risk,
    monte_carlo_risk,
    prediction_of,
)
from empirisk.runtime.arrays import Array, Floats
from empirisk.runtime.deadlines import check_deadline
from empirisk.runtime.errors import ParameterError
from empirisk.runtime.parallel import slices
from empirisk.runtime.scalars import check_level, check_whole, is_whole
from empirisk.runtime.streams import generator, spawn

ROWS_AT_ONCE = 2**14
Method = Literal["auto", "exact", "monte_carlo"]


class Population(ABC):
    """A joint distribution of features X and target Y whose regression function is known.

    Attributes
    ----------
    features : Features
        The distribution of X.
    classes : array or None
        The labels of Y; None where Y is a number.

    Examples
    --------
    >>> from empirisk import LinearRegression
    >>> from empirisk.risk.populations import sine
    >>> population = sine(noise=0.3)
    >>> X, y = population.sample(50, random_state=0)
    >>> line = population.true_risk(LinearRegression().fit(X, y), random_state=0)
    >>> line.value > population.bayes_risk().value
    True
    """

    task: ClassVar[Literal["regression", "classification"]]
    features: Features
    classes: Array | None = None

    def sample(self, n: int, random_state: Any = None) -> tuple[Any, Array]:
        """n independent rows: X and y.

        Parameters
        ----------
        n : int
        random_state : None, int, RandomState or Generator
            None draws anew each time.
        """
        check_whole(n, "n", 0)
        return self.draw(n, generator(spawn(random_state, 1)[0]))

    def sample_targets(self, X: Any, random_state: Any = None) -> Array:
        """One y for each row of a given X: training sets of a fixed design."""
        return self.draw_targets(X, generator(spawn(random_state, 1)[0]))

    def draw(self, n: int, rng: np.random.Generator) -> tuple[Any, Array]:
        """n rows from a generator."""
        X = self.features.draw(n, rng)
        return X, self.draw_targets(X, rng)

    @abstractmethod
    def draw_targets(self, X: Any, rng: np.random.Generator) -> Array:
        """y given X from a generator."""

    @abstractmethod
    def best_action(self, X: Any, loss: Loss) -> Array:
        """The prediction with the least expected loss at each x; of classes, their codes."""

    @abstractmethod
    def expected_loss(self, X: Any, prediction: Array, loss: Loss) -> Floats | None:
        """E[L(Y, prediction) | x] for each row; None where there is no formula."""

    @abstractmethod
    def bayes_rule(self, loss: Loss | str | None = None) -> Any:
        """The predictor with the least risk, as a fitted estimator."""

    def bayes_risk(
        self,
        loss: Loss | str | None = None,
        *,
        method: Method = "auto",
        n_draws: int = 100_000,
        level: float = 0.95,
        random_state: Any = None,
    ) -> RiskEstimate:
        """The least risk that any predictor has; parameters as in `true_risk`."""
        _check(method, n_draws, level, random_state)
        loss = self.loss_of(loss)
        known = None if method == "monte_carlo" else self.known_bayes_risk(loss)
        if known is not None:
            return exact_risk(known, loss, level)
        return self.true_risk(
            self.bayes_rule(loss),
            loss,
            method=method,
            n_draws=n_draws,
            level=level,
            random_state=random_state,
        )

    def true_risk(
        self,
        predictor: Any,
        loss: Loss | str | None = None,
        *,
        method: Method = "auto",
        n_draws: int = 100_000,
        level: float = 0.95,
        random_state: Any = None,
    ) -> RiskEstimate:
        """R(h) = E L(Y, h(X)) of a fitted predictor, ours or not, or of a function of X.

        Parameters
        ----------
        predictor : fitted estimator or callable
        loss : Loss or str, optional
            "squared" or "zero_one" unless given.
        method : {"auto", "exact", "monte_carlo"}
            In closed form where one is known, by the mean over n_draws draws of X otherwise; given
            x, the mean over y is exact where the loss has a formula for it. A function, or a model
            that is neither ours nor scikit-learn's, may be linear and not say so: "exact" then
            judges it by its values at many draws, and the sentence says so.
        n_draws : int
        level : float
            Of the interval for the Monte Carlo error.
        random_state : None, int, RandomState or Generator
            Two risks with the same number are from the same draws, and can be subtracted.
        """
        _check(method, n_draws, level, random_state)
        loss = self.loss_of(loss)
        known = None
        if method != "monte_carlo":
            known = self._known_risk(predictor, loss, judged=method == "exact")
        if known is not None:
            return exact_risk(known, loss, level)
        if method == "exact":
            raise ParameterError(
                f"no closed form is known for the {loss} risk of this predictor in a "
                f"{type(self).__name__}: take method='monte_carlo'"
            )
        return self._by_monte_carlo(predictor, loss, n_draws, level, random_state)

    def known_bayes_risk(self, loss: Loss) -> Known | None:
        """The Bayes risk in closed form; None where there is none."""
        return None

    def known_risk(self, predictor: Any, loss: Loss, *, judged: bool = False) -> Known | None:
        """The risk of a predictor in closed form; None where there is none.

        `judged` allows for what is not known of the predictor, but judged by its values at draws.
        """
        return None

    def loss_of(self, loss: Loss | str | None) -> Loss:
        """The loss, on the codes of the classes; the usual one by default."""
        loss = default_loss(self.classes is not None) if loss is None else as_loss(loss)
        if loss.task != self.task:
            raise ParameterError(
                f"the loss {loss.name!r} is for {loss.task}, and {type(self).__name__} is a "
                f"population for {self.task}"
            )
        return loss if self.classes is None else loss.for_classes(self.classes)

    def codes(self, y: Array) -> Array:
        """Numbers as they are, labels as the codes of their classes."""
        return y if self.classes is None else np.searchsorted(self.classes, y)

    def _known_risk(self, predictor: Any, loss: Loss, *, judged: bool) -> Known | None:
        if not isinstance(self.features, Points):
            return self.known_risk(predictor, loss, judged=judged)
        X = self.features.X
        expected = self.expected_loss(X, prediction_of(predictor, X, loss, self.classes), loss)
        if expected is None:
            return None
        value = float(self.features.probability @ expected)
        return Known(value, f"a sum over the {len(expected)} points of X")

    def _by_monte_carlo(
        self, predictor: Any, loss: Loss, n_draws: int, level: float, random_state: Any
    ) -> RiskEstimate:
        seed = spawn(random_state, 1)[0]
        rng, losses, first, drawn = generator(seed), np.empty(n_draws), "", ""
        for block in slices(n_draws, ROWS_AT_ONCE):
            check_deadline()
            X, y = self.draw(block.stop - block.start, rng)
            prediction = prediction_of(predictor, X, loss, self.classes)
            expected = self.expected_loss(X, prediction, loss)
            drawn = "(x, y)" if expected is None else "x, the mean over y exact"
            losses[block] = loss(self.codes(y), prediction) if expected is None else expected
            first = first or digest(_safe_indexing(X, np.arange(min(100, len(y)))), y[:100])
        return monte_carlo_risk(
            losses,
            loss,
            level,
            reason=f"the mean over {n_draws} draws of {drawn}",
            fingerprint=digest(first, str(seed), str(n_draws)),
        )


def _check(method: Any, n_draws: Any, level: float, random_state: Any) -> None:
    """Also where a closed form needs none of them: what makes no sense is never passed over."""
    if not (isinstance(method, str) and method in get_args(Method)):
        raise ParameterError(f"method is {method!r}; choose 'auto', 'exact' or 'monte_carlo'")
    if not is_whole(n_draws, 2):
        raise ParameterError(f"n_draws is {n_draws!r}; a mean with its error takes 2 or more")
    check_level(level)
    if not isinstance(random_state, np.random.RandomState | np.random.Generator):
        spawn(random_state, 1)  # those two would be drawn from
