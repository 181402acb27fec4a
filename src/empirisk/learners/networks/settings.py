"""The parameters of training, checked."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from empirisk.compiled.networks import updating
from empirisk.runtime.arrays import Floats
from empirisk.runtime.errors import ParameterError
from empirisk.runtime.scalars import is_flag, is_number, is_whole
from empirisk.solvers.steps import Decaying

SOLVERS = {"sgd": updating.SGD, "adam": updating.ADAM, "lbfgs": -1}
LEARNING_RATES = ("constant", "invscaling", "adaptive")
LAWS = ("glorot", "he")
DTYPES = ("auto", "float32", "float64")
DEFAULT_BATCH = 200
RANGES: dict[str, tuple[Callable[[float], bool], str]] = {
    "alpha": (lambda x: x >= 0, "a number >= 0"),
    "power_t": (lambda x: x >= 0, "a number >= 0"),
    "tol": (lambda x: x >= 0, "a number >= 0"),
    "learning_rate_init": (lambda x: x > 0, "a number above 0"),
    "epsilon": (lambda x: x > 0, "a number above 0"),
    "momentum": (lambda x: 0 <= x <= 1, "a number from 0 to 1"),
    "l1_ratio": (lambda x: 0 <= x <= 1, "a number from 0 to 1"),
    "beta_1": (lambda x: 0 <= x < 1, "a number >= 0 and below 1"),
    "beta_2": (lambda x: 0 <= x < 1, "a number >= 0 and below 1"),
    "validation_fraction": (lambda x: 0 < x < 1, "a number between 0 and 1"),
}


@dataclass(frozen=True)
class Settings:
    """How a network is trained; names and meanings as of `MLPClassifier`."""

    solver: str
    alpha: float
    l1_ratio: float
    batch_size: int | None
    learning_rate: str | Decaying
    learning_rate_init: float
    power_t: float
    max_iter: int
    shuffle: bool
    tol: float
    momentum: float
    nesterovs_momentum: bool
    early_stopping: bool
    validation_fraction: float
    beta_1: float
    beta_2: float
    epsilon: float
    n_iter_no_change: int | None
    max_fun: int
    max_grad_norm: float | None
    n_starts: int
    initialization: str

    def batch(self, n: int) -> int:
        """Rows of a batch, of n rows."""
        return max(1, min(DEFAULT_BATCH if self.batch_size is None else self.batch_size, n))

    def compiled(self, rate: float, total: float) -> Floats:
        """As compiled code reads them; the penalty is one on the sum of `total` rows' losses."""
        numbers = np.zeros(updating.N_SETTINGS)
        numbers[updating.RATE], numbers[updating.FALL_AFTER] = rate, 1.0
        if isinstance(self.learning_rate, Decaying):
            decay = self.learning_rate
            numbers[: updating.MOMENTUM] = decay.eta, decay.t0, decay.a
        numbers[updating.MOMENTUM] = self.momentum
        numbers[updating.NESTEROV] = float(self.nesterovs_momentum and self.momentum > 0)
        numbers[updating.BETA_1], numbers[updating.BETA_2] = self.beta_1, self.beta_2
        numbers[updating.EPSILON] = self.epsilon
        numbers[updating.RIDGE] = self.alpha * (1 - self.l1_ratio) / total
        numbers[updating.LASSO] = self.alpha * self.l1_ratio / total
        numbers[updating.LONGEST] = 0.0 if self.max_grad_norm is None else self.max_grad_norm
        return numbers


def checked_settings(learner: Any) -> Settings:
    """The settings of a learner; a ParameterError names the one that makes no sense."""
    batch, rate, patience = learner.batch_size, learner.learning_rate, learner.n_iter_no_change
    _one_of(learner, "solver", SOLVERS)
    _one_of(learner, "initialization", LAWS)
    _one_of(learner, "dtype", DTYPES)
    if not isinstance(rate, Decaying):
        _one_of(learner, "learning_rate", LEARNING_RATES, "or a solvers.Decaying(eta, t0, a)")
    for name, (fine, wanted) in RANGES.items():
        value = getattr(learner, name)
        _check(learner, name, is_number(value) and fine(value), wanted)
    for name in ("max_iter", "max_fun", "n_starts"):
        _check(learner, name, is_whole(getattr(learner, name), 1), "a whole number from 1")
    _check(learner, "n_iter_no_change", patience is None or patience == np.inf
           or is_whole(patience, 1), "a whole number from 1, or None")  # fmt: skip
    automatic = isinstance(batch, str) and batch == "auto"
    _check(learner, "batch_size", automatic or is_whole(batch, 1),
           "'auto' or a whole number from 1")  # fmt: skip
    norm = learner.max_grad_norm
    _check(learner, "max_grad_norm", norm is None or (is_number(norm) and norm > 0),
           "a number above 0, or None")  # fmt: skip
    for name in ("shuffle", "nesterovs_momentum", "early_stopping", "warm_start", "standardize"):
        _check(learner, name, is_flag(getattr(learner, name)), "True or False")
    names = Settings.__dataclass_fields__
    given = {name: getattr(learner, name) for name in names}
    given["batch_size"] = None if isinstance(batch, str) else int(batch)
    endless = patience is None or patience == np.inf
    given["n_iter_no_change"] = None if endless else int(patience)
    return Settings(**given)


def _one_of(learner: Any, name: str, names: Any, more: str = "") -> None:
    value = getattr(learner, name)
    known = isinstance(value, str) and value in names
    _check(learner, name, known, f"one of {', '.join(names)}{' ' + more if more else ''}")


def _check(learner: Any, name: str, fine: bool, wanted: str) -> None:
    if not fine:
        raise ParameterError(f"{name} is {getattr(learner, name)!r}; it must be {wanted}")
