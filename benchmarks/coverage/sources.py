"""Where training sets come from, and the true risk of a model fitted to one of them.

The risk is in closed form for linear rules in a linear model or between Gaussian classes. Else it
is the mean over one sample of x, the same for all models, of the expected loss given x. That sample
is corrected by what it makes of the Bayes rule:

    R(h) = mean over the sample of (loss of h - loss of the Bayes rule) + Bayes risk,

so that only the excess of h over the Bayes rule has a Monte Carlo error.
"""

from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from empirisk.losses import Loss
from empirisk.risk.populations import GaussianClasses, LinearModel, Population
from empirisk.risk.populations.features import Gaussian
from empirisk.risk.populations.true_risk import prediction_of
from empirisk.runtime.arrays import Array, Floats, Ints
from empirisk.runtime.parallel import slices
from empirisk.runtime.streams import generator

BAYES_DRAWS = 400_000
ROWS_AT_ONCE = 20_000


class Sample(NamedTuple):
    """Rows to train on; weights and groups where there are some."""

    X: Array
    y: Array
    weight: Floats | None = None
    groups: Ints | None = None


class Exact:
    """Independent rows of a population in which the model's risk has a closed form."""

    about = "closed form"

    def __init__(self, population: Population, loss: str) -> None:
        self.population = population
        self.loss: Loss = population.loss_of(loss)

    def draw(self, n: int, rng: np.random.Generator) -> Sample:
        return Sample(*self.population.draw(n, rng))

    def risk(self, model: Any) -> float:
        return self.population.true_risk(model, self.loss, method="exact").value


class Sampled(Exact):
    """Independent rows; the risk is the mean over one sample of so many x."""

    def __init__(self, population: Population, loss: str, rows: int = 4000) -> None:
        super().__init__(population, loss)
        self.rows = rows

    @property
    def about(self) -> str:  # type: ignore[override]
        return f"mean over {self.rows:,} x, Bayes risk from {BAYES_DRAWS:,}"

    def risk(self, model: Any) -> float:
        prediction = prediction_of(model, self._x, self.loss, self.population.classes)
        return float(self._expected(self._x, prediction).mean()) + self._correction

    @cached_property
    def _x(self) -> Array:
        return self.population.features.draw(self.rows, generator(0))

    @cached_property
    def _correction(self) -> float:
        """The Bayes risk less what the sample makes of it."""
        known = self.population.known_bayes_risk(self.loss)
        if known is not None:
            return known.value - float(self._bayes(self._x).mean())
        rng, total = generator(1), 0.0
        for block in slices(BAYES_DRAWS, ROWS_AT_ONCE):
            X = self.population.features.draw(block.stop - block.start, rng)
            total += float(self._bayes(X).sum())
        return total / BAYES_DRAWS - float(self._bayes(self._x).mean())

    def _bayes(self, X: Array) -> Floats:
        return self._expected(X, self.population.best_action(X, self.loss))

    def _expected(self, X: Array, prediction: Array) -> Floats:
        expected = self.population.expected_loss(X, prediction, self.loss)
        assert expected is not None
        return expected


class Copies(Exact):
    """Rows with weights that do not depend on them: 1, 2, 3 or 6 copies."""

    def draw(self, n: int, rng: np.random.Generator) -> Sample:
        X, y = self.population.draw(n, rng)
        return Sample(X, y, rng.choice([1.0, 2.0, 3.0, 6.0], size=n))


class Reweighted(Exact):
    """Features drawn `spread` times as wide, and the weights that undo it.

    The weight of a row is the density of the population over that it was drawn from.
    """

    def __init__(self, population: LinearModel, loss: str, spread: float) -> None:
        super().__init__(population, loss)
        self.model, self.spread = population, spread

    def draw(self, n: int, rng: np.random.Generator) -> Sample:
        features = self.model.features
        assert isinstance(features, Gaussian)
        z = rng.standard_normal((n, len(features.mean)))
        X = features.mean + self.spread * z @ np.linalg.cholesky(features.covariance).T
        log_ratio = -np.square(z).sum(axis=1) * (self.spread**2 - 1) / 2
        return Sample(X, self.model.draw_targets(X, rng), np.exp(log_ratio))


class Grouped(Exact):
    """Rows in groups of 2 to 8; of the variance of x and of the noise, a share is the group's.

    Taken singly, rows are those of the population, in which x or x given its class is standard
    normal; so is the risk that of a row of a new group.
    """

    SIZES = (2, 3, 4, 5, 6, 7, 8)

    def __init__(self, population: Population, loss: str, share: float) -> None:
        super().__init__(population, loss)
        self.share = share

    def draw(self, n: int, rng: np.random.Generator) -> Sample:
        groups = np.repeat(np.arange(n), rng.choice(self.SIZES, size=n))[:n]
        population = self.population
        if isinstance(population, GaussianClasses):
            codes = rng.choice(len(population.priors), n, p=population.priors)
            noise = self._correlated(groups, population.means.shape[1], rng)
            return Sample(population.means[codes] + noise, population.classes[codes], None, groups)
        assert isinstance(population, LinearModel)
        X = self._correlated(groups, len(population.coef), rng)
        noise = self._correlated(groups, 1, rng)[:, 0] * population.noise.scale_at(X)
        return Sample(X, population.regression_function(X) + noise, None, groups)

    def _correlated(self, groups: Ints, p: int, rng: np.random.Generator) -> Floats:
        """Standard normal columns, rows of one group with correlation `share`."""
        common = rng.standard_normal((int(groups.max()) + 1, p))[groups]
        own = rng.standard_normal((len(groups), p))
        return np.sqrt(self.share) * common + np.sqrt(1 - self.share) * own
