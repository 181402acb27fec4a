"""Rademacher complexity of linear rules of bounded norm, and the margin bound that uses it.

How well can the class {x -> w'x : |w| <= B} fit random signs e_i? The supremum has a closed form,

    complexity = E sup_{|w| <= B} (1/n) sum_i e_i w'x_i  =  (B/n) E |sum_i e_i x_i|,

whose mean over signs is found by Monte Carlo; it is at most (B/n) sqrt(sum_i |x_i|^2). With
probability 1 - delta, for all f of the class at once and y in {-1, +1},

    P(y f(x) <= 0) <= mean of the ramp loss min(1, max(0, 1 - y f/rho)) on the training rows
                      + (2/rho) complexity + 3 sqrt(log(2/delta) / 2n)

(Mohri, Rostamizadeh and Talwalkar 2018, Theorem 5.8).
"""

from math import log, sqrt
from typing import Any, NamedTuple

import numpy as np

from empirisk.losses import ZeroOne
from empirisk.risk.bounds.bounded import Bound, bounded, error_probability
from empirisk.risk.bounds.linear_columns import Parts
from empirisk.risk.bounds.vc import training_mistakes
from empirisk.risk.problem import Problem
from empirisk.runtime.arrays import Floats
from empirisk.runtime.conversion import numbers
from empirisk.runtime.deadlines import check_deadline
from empirisk.runtime.errors import ParameterError
from empirisk.runtime.parallel import one_blas_thread, slices
from empirisk.runtime.scalars import is_number, is_whole
from empirisk.runtime.streams import generator, spawn
from empirisk.runtime.targets import check_weights

SIGNS_AT_ONCE = 2**22
ERRORS = 4
"""Monte Carlo errors that are added to the complexity in a bound: they fail once in 30,000."""
MARGINS = 60


class Complexity(NamedTuple):
    """A Rademacher complexity: its Monte Carlo value and error, and a bound of it."""

    value: float
    standard_error: float
    bound: float

    @property
    def surely(self) -> float:
        """No less than the truth, up to four Monte Carlo errors."""
        return min(self.value + ERRORS * self.standard_error, self.bound)


def rademacher_complexity(
    X: Any,
    *,
    radius: float = 1.0,
    sample_weight: Any = None,
    n_draws: int = 1000,
    random_state: Any = None,
) -> Complexity:
    """The empirical Rademacher complexity of {x -> w'x : |w| <= radius} on the rows of X.

    Parameters
    ----------
    X : numbers
    radius : float
    sample_weight : array, optional
        Makes 1/n the share of each row.
    n_draws : int
        Of random signs.
    random_state

    Examples
    --------
    >>> found = rademacher_complexity([[3.0, 4.0]], radius=2.0, random_state=0)
    >>> found.value, found.bound
    (10.0, 10.0)
    """
    X = numbers(X, "rademacher_complexity")
    if not (is_number(radius) and radius >= 0 and is_whole(n_draws, 2)):
        raise ParameterError(
            f"radius is {radius!r} and n_draws {n_draws!r}; give a radius >= 0 and 2 draws or more"
        )
    share = check_weights(sample_weight, len(X))
    share = share / share.sum()
    size = float(np.abs(X).max()) or 1.0
    rows = X / size * share[:, None]
    rng = generator(spawn(random_state, 1)[0])
    found = np.empty(n_draws)
    with one_blas_thread():
        for some in slices(n_draws, max(1, SIGNS_AT_ONCE // len(X))):
            check_deadline()
            signs = 2.0 * rng.integers(0, 2, size=(some.stop - some.start, len(X))) - 1
            found[some] = np.linalg.norm(signs @ rows, axis=1)
    scale = radius * size
    error = float(found.std(ddof=1)) / sqrt(n_draws)
    bound = float(np.linalg.norm(rows))
    return Complexity(float(found.mean()) * scale, error * scale, bound * scale)


def rademacher(
    model: Any,
    X: Any,
    y: Any,
    *,
    margin: float | None = None,
    level: float = 0.95,
    sample_weight: Any = None,
    n_draws: int = 1000,
    random_state: Any = None,
) -> Bound:
    """A bound of the error rate of a linear two-class rule from its margins on the training rows.

    The rule is scaled to norm 1, with the intercept as the coefficient of a further column of
    ones. Features in many dimensions cost nothing here; only norms and margins do.

    Parameters
    ----------
    model : fitted linear classifier of two classes, with `coef_` and `intercept_`
        It may stand behind the steps of a pipeline that `vc` allows; norm and margins are those of
        the rule in the columns that it is linear in, scaled back.
    X, y : the rows it was fitted to, independent draws
    margin : float, optional
        rho, if it was fixed beforehand. Else the best power of two, for which 2^k pays with the
        share 1 / (2 (|k| + 1)(|k| + 2)) of the error probability.
    level : float
    sample_weight : array, optional
    n_draws, random_state
        As in `rademacher_complexity`.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.linear_model import LogisticRegression
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(5000, 2)) + 4 * np.repeat([[1], [-1]], 2500, axis=0)
    >>> y = np.repeat([0, 1], 2500)
    >>> print(rademacher(LogisticRegression().fit(X, y), X, y, random_state=0))
    The zero_one risk of this model is at most 0.1193 with probability 95 % (Rademacher margin
    bound: at once for all linear rules, from the ramp loss at margin 4 of a rule of norm 1, if the
    rows are independent); it is 0 on the training rows.
    """
    parts = Parts.of(model)
    _refuse_not_linear(parts.learner)
    problem = Problem.of(
        model, X, y, loss=ZeroOne(), sample_weight=sample_weight, classes=model.classes_
    )
    training = training_mistakes(model, problem)
    columns = parts.columns(problem.X)
    rows = np.column_stack([columns, np.ones(problem.n)])
    margins = _margins(np.append(*parts.rule(columns)), rows, problem)
    complexity = rademacher_complexity(
        rows, sample_weight=problem.weight, n_draws=n_draws, random_state=random_state
    ).surely
    share = problem.weight / problem.weight.sum()
    delta = error_probability(level, "upper")
    tried = _powers_of_two(rows) if margin is None else [(_positive(margin), 1.0)]
    ramps = (
        (rho, float(share @ np.clip(1 - margins / rho, 0.0, 1.0)), part) for rho, part in tried
    )
    spread = float(np.square(share).sum())
    found = [
        (ramp + 2 * complexity / rho + 3 * sqrt(log(2 / (part * delta)) * spread / 2), rho)
        for rho, ramp, part in ramps
    ]
    upper, rho = min(found)
    reason = (
        f"at once for all linear rules, from the ramp loss at margin {rho:.3g} of a rule of norm "
        "1, if the rows are independent"
    )
    assert training.table is not None
    return bounded(
        training, training.table, (0.0, min(upper, 1.0)),
        level=level, sides="upper", method="Rademacher margin bound", reason=reason,
    )  # fmt: skip


def _margins(rule: Floats, rows: Floats, problem: Problem) -> Floats:
    """y w'x / |w|, y in {-1, +1}."""
    size = float(np.abs(rule).max()) or 1.0
    rule = rule / size
    length = float(np.linalg.norm(rule)) or 1.0
    scale = float(np.abs(rows).max())
    score = (rows / scale) @ (rule / length) * scale
    return np.where(problem.target == 1, score, -score)


def _powers_of_two(rows: Floats) -> list[tuple[float, float]]:
    """Margins from the longest row downwards, each with its share of the error probability."""
    scale = float(np.abs(rows).max())
    longest = float(np.linalg.norm(rows / scale, axis=1).max()) * scale
    top = int(np.ceil(np.log2(longest)))
    powers = range(max(top - MARGINS, -1000), top + 1)
    return [(2.0**k, 1 / (2 * (abs(k) + 1) * (abs(k) + 2))) for k in powers]


def _positive(margin: float) -> float:
    if not (is_number(margin) and margin > 0):
        raise ParameterError(f"margin is {margin!r}; give a number > 0")
    return float(margin)


def _refuse_not_linear(model: Any) -> None:
    linear = hasattr(model, "coef_") and hasattr(model, "intercept_")
    if not linear or len(getattr(model, "classes_", ())) != 2:
        raise ParameterError(
            f"{type(model).__name__} is not a fitted linear rule of two classes with coef_ and "
            "intercept_"
        )
