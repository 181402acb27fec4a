"""Many starts of EM on many rows: tried on few of them, and the best ends followed on all.

Maxima of the likelihood of some ten thousand rows are near those of all rows, so that a start shows
on them where it leads (after the short runs of Biernacki, Celeux & Govaert 2003). Which maximum is
found is luck either way where there are many: on twelve hard sets of 30,000 rows this ended lower
than all starts on all rows on five, higher on five and as high on two, by as much as one seed
differs from another, in half the time.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from empirisk.learners.density.covariance_structures import Full
from empirisk.learners.density.gaussian_model import GaussianModel, GaussianParameters
from empirisk.learners.density.gaussian_starts import PreparedRows, drawn_starts
from empirisk.learners.density.mixture import different_rows
from empirisk.solvers.em import Ascent, em_ends, em_from

SCOUTS, SCOUTS_FOR_EACH = 10_000, 100
"""Rows on which starts are tried, where there are twice as many: at least so many, and so many for
each component and feature."""
FINALISTS = 3  # ends that are followed on all rows until they stand still

Ends = list[Ascent[GaussianParameters]]


def model_of(rows: PreparedRows, structure: Full) -> GaussianModel:
    """The steps of EM for these rows."""
    return GaussianModel(rows.tiled, rows.weight, structure, rows.floor)


def drawn_scouts(rows: PreparedRows, K: int, seed: int) -> PreparedRows | None:
    """Rows to try starts on; None where it should be done on all."""
    few = max(SCOUTS, SCOUTS_FOR_EACH * K * (rows.X.shape[1] + 1))
    if len(rows.X) <= 2 * few:
        return None
    scouts = rows.drawn(few, seed)
    return scouts if different_rows(scouts.X, K) >= K else None


def best_of_starts(
    rows: PreparedRows,
    structure: Full,
    K: int,
    init_params: str,
    seeds: Sequence[int],
    scouts: PreparedRows | None,
    *,
    keep_steps: bool,
    tol: float,
    **limits: Any,
) -> Ascent[GaussianParameters]:
    """EM from a start for each seed, tried on scouts where there are some."""
    model = model_of(rows, structure)
    limits |= {"tol": tol, "sound": model.sound}
    if scouts is None or len(seeds) == 1:
        starts = drawn_starts(rows, K, init_params, seeds, model)
        return em_from(model, starts, keep_steps=keep_steps, **limits)
    small = model_of(scouts, structure)
    ends = em_ends(small, drawn_starts(scouts, K, init_params, seeds, small), **limits)
    begin = [end.parameters for end in different_ends(ends, tol)]
    found = em_from(model, begin, keep_steps=keep_steps, finalists=FINALISTS, **limits)
    return replace(found, starts=ends[0].starts)


def different_ends(ends: Ends, tol: float) -> Ends:
    """The ends without those whose likelihood is that of one before: the same maximum."""
    found: Ends = []
    for end in ends:
        gaps = [abs(end.log_likelihood - other.log_likelihood) for other in found]
        if not gaps or min(gaps) > 10 * tol:
            found.append(end)
    return found
