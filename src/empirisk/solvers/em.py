"""EM: the likelihood of a model with hidden variables, climbed by two easy steps in turn.

Rows v have hidden parts h, and a model gives the density of both, p_t(v, h). For every density q
of the hidden part

    log p_t(v) >= E_q log(p_t(v, h) / q(h)) = log p_t(v) - KL(q, p_t(. | v)),

so the bound is attained by q = p_t(. | v), the E-step; maximising its right side over t with that q
held is the M-step, which needs E_q log p_t(v, h) alone. Neither lowers the likelihood (Dempster,
Laird & Rubin 1977). A model gives its two steps, the solver everything around them.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Generic, Protocol, TypeVar
from warnings import warn

import numpy as np

from empirisk.runtime.arrays import Floats
from empirisk.runtime.deadlines import check_deadline
from empirisk.runtime.errors import ConvergenceWarning, ParameterError
from empirisk.runtime.parallel import parallel
from empirisk.runtime.scalars import is_number
from empirisk.solvers.descent import check_limits

ROUNDING = 1e-9  # of the log-likelihood: what sums in another order may change
FINALISTS = 5
SHORT = 1e-4  # gain for each row at which a start has shown where it leads

P = TypeVar("P")
S = TypeVar("S")


class NoLikelihood(ParameterError):
    """Parameters under which the rows have a likelihood of 0, or none."""


class LatentModel(Protocol[P, S]):
    """What EM asks of a model, whose rows it never sees.

    A model whose likelihood is less exact than a billionth of it has a number `rounding`.
    """

    def e_step(self, parameters: P) -> tuple[S, float]:
        """Expected statistics of rows and hidden parts, and the mean log-likelihood of a row."""

    def m_step(self, statistics: S) -> P:
        """The parameters that maximise the expected log-likelihood of rows and hidden parts."""


@dataclass(frozen=True, eq=False)
class Ascent(Generic[P]):
    """Where EM arrived, by which way, and why it stopped.

    Attributes
    ----------
    parameters : of the last M-step
    log_likelihood : float
        The mean log-likelihood of a row at the last E-step, one step before; that of `parameters`
        is not smaller. Minus infinity where no step was taken.
    log_likelihoods : array of shape (n_iter,)
        At each E-step: never falling, up to rounding.
    steps : tuple
        The parameters of each E-step and the last ones, where they were kept.
    n_iter : int
    converged : bool
    reason : str
    starts : array
        Of `em_from`: what each start led to.

    Examples
    --------
    >>> from empirisk.solvers import em
    >>> class Waiting:
    ...     # Of five lamps three failed, after 4 hours in all, and two burnt on after 3 hours.
    ...     def e_step(self, mean):
    ...         return 4.0 + 2 * (3.0 + mean), (-3 * np.log(mean) - 10.0 / mean) / 5
    ...     def m_step(self, hours):
    ...         return hours / 5
    >>> found = em(Waiting(), 1.0)
    >>> round(found.parameters, 2), found.converged
    (3.33, True)
    >>> bool((np.diff(found.log_likelihoods) >= 0).all())
    True
    """

    parameters: P
    log_likelihood: float
    log_likelihoods: Floats
    steps: tuple[P, ...]
    n_iter: int
    converged: bool
    reason: str
    starts: Floats

    def __str__(self) -> str:
        found = f"log-likelihood {self.log_likelihood:.6g} for each row"
        return f"{found} after {self.n_iter} step(s): {self.reason}"

    def plot(self, ax: Any = None) -> Any:
        """The log-likelihood at each step; returns the axes."""
        from empirisk.charts.em_steps import draw_likelihood

        return draw_likelihood(self.log_likelihoods, self.reason, ax=ax)


def em(
    model: LatentModel[P, S],
    start: P,
    *,
    tol: float = 1e-6,
    max_iter: int = 1000,
    keep_steps: bool = False,
    since: float = -np.inf,
) -> Ascent[P]:
    """E-steps and M-steps in turn, until a pair of them gains less than `tol` for each row.

    A model whose likelihood falls by more than rounding has a wrong step: EM stops there with a
    `ConvergenceWarning`, and returns the parameters before the fall.

    Parameters
    ----------
    model : LatentModel
    start : parameters
    tol : float
        Of the mean log-likelihood of a row; 0 goes on for `max_iter` steps.
    max_iter : int
    keep_steps : bool
        Whether the parameters of each step are kept.
    since : float
        The mean log-likelihood a step before the start, where this goes on from another ascent: a
        first step that changes it by less than `tol` is the last.

    Examples
    --------
    Two coins, one of which was drawn for each row and thrown ten times; how often were they heads?

    >>> heads = np.array([5.0, 9.0, 8.0, 4.0, 7.0])
    >>> class TwoCoins:
    ...     def e_step(self, chances):
    ...         joint = 0.5 * chances**heads[:, None] * (1 - chances) ** (10 - heads[:, None])
    ...         first_coin = joint / joint.sum(axis=1, keepdims=True)
    ...         return first_coin, float(np.log(joint.sum(axis=1)).mean())
    ...     def m_step(self, hidden):
    ...         return heads @ hidden / (10 * hidden.sum(axis=0))
    >>> found = em(TwoCoins(), np.array([0.6, 0.5]))
    >>> print(found.parameters.round(2), found.converged)
    [0.8  0.52] True
    """
    check_limits(max_iter, tol)
    before = parameters = start
    values: list[float] = []
    converged, rounding = False, float(getattr(model, "rounding", ROUNDING))
    steps = [start] if keep_steps else []
    reason = f"max_iter = {max_iter} step(s) were taken"
    for t in range(int(max_iter)):
        check_deadline()
        statistics, value = model.e_step(parameters)
        if not np.isfinite(value):
            way_out = (
                "start elsewhere, or mend the M-step" if t else "start where it is a finite number"
            )
            raise NoLikelihood(f"the log-likelihood is {value} at step {t}; {way_out}")
        gain = value - values[-1] if values else abs(value - since)
        if gain < -rounding * max(1.0, abs(value)):
            reason = f"the log-likelihood fell by {-gain:.3g} in step {t}: a step is wrong"
            warn(f"EM stopped: {reason}", ConvergenceWarning)
            kept = [*steps[:-1], before] if keep_steps else []
            return _ascent(before, values, kept, t, converged, reason)
        values.append(value)
        before, parameters = parameters, model.m_step(statistics)
        if keep_steps:
            steps.append(parameters)
        if gain < tol and tol > 0:
            converged, reason = True, f"a step gained less than tol = {tol:g} for each row"
            break
    return _ascent(parameters, values, steps, len(values), converged, reason)


def em_from(
    model: LatentModel[P, S],
    starts: Iterable[P],
    *,
    tol: float = 1e-6,
    max_iter: int = 1000,
    keep_steps: bool = False,
    sound: Callable[[P], bool] | None = None,
    n_jobs: int | None = None,
    finalists: int = FINALISTS,
) -> Ascent[P]:
    """Of several starts, the way to the largest likelihood.

    Each start is followed until a step gains less than 0.0001 for each row; then the best five of
    them until it gains less than `tol` (after Biernacki, Celeux & Govaert 2003), and the next best
    for each of these that does not end soundly. What is not sound by then hardly becomes so: it is
    followed further only where nothing is sound. A start without a likelihood leads nowhere, and
    is an error only if all are such.

    Parameters
    ----------
    model, tol, max_iter, keep_steps
        As in `em`.
    starts : iterable of parameters
    sound : callable, optional
        sound(parameters) is False where a likelihood is not to be believed; a start that leads to
        sound parameters goes before all that do not.
    n_jobs : int or None
        Threads; no bit depends on it.
    finalists : int
        How many starts are followed to the end.

    Returns
    -------
    Ascent
        Its `starts` has what each start led to.

    Examples
    --------
    >>> heads = np.array([5.0, 9.0, 8.0, 4.0, 7.0])
    >>> class TwoCoins:
    ...     def e_step(self, chances):
    ...         joint = 0.5 * chances**heads[:, None] * (1 - chances) ** (10 - heads[:, None])
    ...         total = joint.sum(axis=1, keepdims=True)
    ...         return joint / total, float(np.log(total).mean())
    ...     def m_step(self, hidden):
    ...         return heads @ hidden / (10 * hidden.sum(axis=0))
    >>> found = em_from(TwoCoins(), [np.array([0.5, 0.5]), np.array([0.6, 0.5])])
    >>> found.parameters.round(2), found.starts.round(3)
    (array([0.8 , 0.52]), array([-6.41 , -6.314]))
    """
    return em_ends(
        model, starts, tol=tol, max_iter=max_iter, keep_steps=keep_steps, sound=sound,
        n_jobs=n_jobs, finalists=finalists,
    )[0]  # fmt: skip


def em_ends(
    model: LatentModel[P, S],
    starts: Iterable[P],
    *,
    tol: float = 1e-6,
    max_iter: int = 1000,
    keep_steps: bool = False,
    sound: Callable[[P], bool] | None = None,
    n_jobs: int | None = None,
    finalists: int = FINALISTS,
) -> list[Ascent[P]]:
    """The ways from several starts that were gone to their end, that to the most likely one first.

    Parameters and how it is done are those of `em_from`.

    Returns
    -------
    list of Ascent
        The `starts` of each has what each start led to, minus infinity where that is nowhere.
    """
    starts = list(starts)
    if not starts:
        raise ParameterError("starts is empty; give at least one start")
    if not (is_number(finalists) and int(finalists) == finalists >= 1):
        raise ParameterError(f"finalists is {finalists!r}; give a whole number of 1 or more")
    if len(starts) == 1:
        way = em(model, starts[0], tol=tol, max_iter=max_iter, keep_steps=keep_steps)
        return [replace(way, starts=np.array([way.log_likelihood]))]
    short = max(tol, SHORT)

    def follow(start: P) -> Ascent[P] | NoLikelihood:
        try:
            return em(model, start, tol=short, max_iter=max_iter, keep_steps=keep_steps)
        except NoLikelihood as nowhere:
            return nowhere

    led = parallel(follow, starts, n_jobs=n_jobs)
    ways = [way for way in led if isinstance(way, Ascent)]
    if not ways:
        raise ParameterError(f"none of {len(starts)} starts leads anywhere: {led[0]}")
    reached = np.array([way.log_likelihood if isinstance(way, Ascent) else -np.inf for way in led])
    order = ranked(ways, sound)
    if tol == short:
        return [replace(ways[i], starts=reached) for i in order]
    hopeful = [i for i in order if is_sound(ways[i], sound)] or order[:finalists]
    ends: list[Ascent[P]] = []
    wanted = finalists
    while wanted and len(ends) < len(hopeful):
        more = parallel(
            lambda i: carried_on(model, ways[i], tol, max_iter, keep_steps),
            hopeful[len(ends) : len(ends) + wanted],
            n_jobs=n_jobs,
        )
        ends += more
        wanted -= sum(is_sound(end, sound) for end in more)
    return [replace(ends[i], starts=reached) for i in ranked(ends, sound)]


def ranked(ways: Sequence[Ascent[P]], sound: Callable[[P], bool] | None) -> list[int]:
    """The best first: sound ones before others, then by likelihood; of equals the first."""
    believed = [is_sound(way, sound) for way in ways]
    return sorted(range(len(ways)), key=lambda i: (not believed[i], -ways[i].log_likelihood, i))


def is_sound(way: Ascent[P], sound: Callable[[P], bool] | None) -> bool:
    """Whether its likelihood is to be believed."""
    return sound is None or bool(sound(way.parameters))


def carried_on(
    model: LatentModel[P, S], way: Ascent[P], tol: float, max_iter: int, keep_steps: bool
) -> Ascent[P]:
    """A way that stopped early, to its end."""
    left = max_iter - way.n_iter
    if left <= 0:
        return replace(way, converged=False, reason=f"max_iter = {max_iter} step(s) were taken")
    return joined(way, em(model, way.parameters, tol=tol, max_iter=left, keep_steps=keep_steps))


def joined(one: Ascent[P], other: Ascent[P]) -> Ascent[P]:
    """A way, and the one that went on from its end."""
    return replace(
        other,
        log_likelihoods=np.concatenate([one.log_likelihoods, other.log_likelihoods]),
        steps=one.steps[:-1] + other.steps,
        n_iter=one.n_iter + other.n_iter,
    )


def _ascent(
    parameters: P, values: list[float], steps: list[P], n_iter: int, converged: bool, reason: str
) -> Ascent[P]:
    last = values[-1] if values else -np.inf
    nothing = np.zeros(0)
    return Ascent(
        parameters, last, np.array(values), tuple(steps), n_iter, converged, reason, nothing
    )
