"""From a table of held-out losses to a standard error and a confidence interval.

Each method is a short function of the table and the level; `centre` moves the interval to a mean
that was corrected, for a choice among many, say. `interval` says which method is valid for which
plan; where none is known, there is no interval, and the reason says so. "auto" fits no fold
again: nested cross-validation and conservative Z, which do, are taken by name (`refits.py`).

"auto" and "rule" on cross-validated losses, whose folds share training rows: the error of
independent rows is taken lam times. With n units (rows or groups; of unequal weight so many equal
ones as have the same variance), the degrees of freedom df of the learner (n/4 where unknown) and
the skewness g of the mean, which is that of the losses over sqrt n,

    lam = min(2, sqrt(1.25 + c df/(n - df) + k g^2)),    c = 5/2, k = 3;

of losses of 0 or 1, c = 3/2 and g = 0, since Wilson's interval is skew itself; of differences, too,
g = 0. For Gaussian least squares the variance of the leave-one-out mean about the true risk is
about 1 + 2 df/(n - df) times s^2/n; the rest is a margin found by simulation, of 1.45 for the best
of many, of which the correction for the choice has an error of its own. Where its df is not known
and losses are 0 or 1, the margin is 1.45 + 30/n: risks of pruned trees come in lumps, a split that
is found or is not, and the variance of their corrected estimates was 0.9 to 3.0 times s^2/n at 100
rows of nine populations, 0.8 to 2.5 at 200 and 0.7 to 2.2 at 400. Where a few large losses make the
mean, s is too small whenever they are missing, and k g^2 makes up for it: on a locked test set it
is all of the widening. Below 100 rows k rises, to 5 at 50: there samples whose tail looks heavy are
doubted (`cautions.py`), and the others are those that lack large losses. Where the learner tells
how rows move its risk through what it learned from them (`influence.py`), lam is no less than the
error of both ways together; where it aims at another loss (`other_loss.py`), what that adds comes
on top. What smaller training parts cost, and by how much the models of the folds differ
(`fold_models.py`), are errors of their own. How often these intervals cover is in docs/coverage.md.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import compress, pairwise

import numpy as np
from scipy import stats

from empirisk.risk.intervals.cautions import cautions
from empirisk.risk.intervals.loss_table import LossTable
from empirisk.runtime.errors import ParameterError
from empirisk.runtime.scalars import check_level

MARGIN = 1.25
CHOICE = 0.2
LUMPS = 30.0
SKEW, MORE_SKEW = 3.0, 1 / 25  # k of many rows, and by how much it rises for each below MANY
MANY = 100
WIDEST = 2.0
NOTABLE = 1.1
MOST_MOVED = 4.0  # of a share that rows move through the model: first order says no more of it
UNKNOWN = 1 / 4  # degrees of freedom per row of a learner that does not tell its own


@dataclass(frozen=True)
class Interval:
    """What a method found: None for the ends where it gives no interval."""

    centre: float
    ends: tuple[float, float] | None
    standard_error: float | None
    method: str
    reason: str
    cautions: tuple[str, ...] = ()


def interval(
    table: LossTable, level: float, method: str = "auto", centre: float | None = None
) -> Interval:
    """The interval by the named method, or by the one that is valid for the table's plan."""
    check_level(level)
    if not isinstance(method, str) or method not in ("auto", *METHODS):
        raise ParameterError(
            f"method is {method!r}; choose 'auto' or one of {sorted(METHODS)}, or for "
            "cross-validation 'nested' or 'conservative_z'"
        )
    centre = table.mean() if centre is None else centre
    if not (np.isfinite(table.losses).all() and np.isfinite(centre)):
        return none(table, centre, "some losses are not finite")
    if method == "auto" and table.kind in NO_INTERVAL:
        return none(table, centre, NO_INTERVAL[table.kind])
    found = METHODS["rule" if method == "auto" else method](table, level, centre)
    if found.ends is None:
        return found
    is_exact = found.method == "Clopper-Pearson" and table.are_plain
    return replace(found, cautions=cautions(table, is_exact=is_exact))


def rule(table: LossTable, level: float, centre: float) -> Interval:
    """The per-row interval, widened by lam where the folds share training rows.

    Of losses that are 0 or 1 a Wilson interval with n / lam^2 rows (for a locked test set that of
    Clopper and Pearson), of positive losses one on the log scale, of differences a symmetric one.
    """
    if table.is_share:
        return (clopper_pearson if table.is_model else wilson)(table, level, centre)
    return (log_t if table.bounds[0] == 0 else per_row_t)(table, level, centre)


def wilson(table: LossTable, level: float, centre: float) -> Interval:
    """The score interval of a share (Wilson 1927), from so many rows as have the same variance:
    the p with |centre - p| <= z sqrt(p (1 - p) / n)."""
    largest = _largest_loss(table)
    n = effective_rows(table) / drawn_out(table) ** 2
    z = _quantile(table, level)
    p = min(max(centre / largest, 0.0), 1.0)
    middle = (p + z**2 / (2 * n)) / (1 + z**2 / n)
    half = z / (1 + z**2 / n) * np.sqrt(p * (1 - p) / n + z**2 / (4 * n**2))
    low = largest * max(middle - half, 0.0) if p > 0 else 0.0
    high = largest * min(middle + half, 1.0) if p < 1 else largest
    error = largest * float(np.sqrt(p * (1 - p) / n))
    return _found(table, centre, (low, high), error, "Wilson")


def clopper_pearson(table: LossTable, level: float, centre: float) -> Interval:
    """Exact for the share of independent rows (Clopper and Pearson 1934).

    Weighted rows and groups count as so many rows as have the same variance, groups as fewer still
    for the degrees of freedom of that variance (Korn and Graubard 1998).
    """
    if not table.is_model:
        raise ParameterError(
            "'clopper_pearson' is for rows that took no part in the model (evaluate, holdout); "
            "cross-validated losses depend on one another: take 'auto'"
        )
    largest = _largest_loss(table)
    n = effective_rows(table)
    if table.units < len(table.unit) and table.units > 1:
        tail = (1 + level) / 2
        n *= float((stats.t.ppf(tail, n) / stats.t.ppf(tail, table.units - 1)) ** 2)
    p = min(max(centre / largest, 0.0), 1.0)
    wrong, right = n * p, n * (1 - p)
    tail = (1 - level) / 2
    low = float(stats.beta.ppf(tail, wrong, right + 1)) if wrong > 0 else 0.0
    high = float(stats.beta.isf(tail, wrong + 1, right)) if right > 0 else 1.0
    error = largest * float(np.sqrt(p * (1 - p) / n))
    return _found(table, centre, (largest * low, largest * high), error, "Clopper-Pearson")


def log_t(table: LossTable, level: float, centre: float) -> Interval:
    """Of a positive mean T, on the log scale: T exp(± t lam s / (T sqrt n)).

    Squared losses are skew: this covers better than T ± t s / sqrt n, and never crosses zero.
    """
    mean, error = table.mean(), _spread(table)
    if error is None or not (mean > 0 and centre > 0):
        return _no_spread(table, centre)
    error *= drawn_out(table) * (centre / mean)
    with np.errstate(over="ignore"):
        factor = float(np.exp(_t(table, level) * error / centre))
    if not np.isfinite(centre * factor):
        return none(table, centre, f"{table.units} rows are too few for one")
    ends = centre / factor, min(centre * factor, table.bounds[1])
    return _found(table, centre, ends, error, "log-scale t")


def per_row_t(table: LossTable, level: float, centre: float) -> Interval:
    """centre ± t lam s / sqrt(n): for differences, which may have either sign."""
    error = _spread(table)
    if error is None:
        return _no_spread(table, centre)
    error *= drawn_out(table)
    ends = _inside(table, centre, _t(table, level) * error)
    return _found(table, centre, ends, error, "t")


def per_row_normal(table: LossTable, level: float, centre: float) -> Interval:
    """Held-out losses as if independent: mean ± z s/sqrt(n) (Bayle et al. 2020).

    Exact in the limit for the rows of a test set; for cross-validation it is short at small n,
    since the folds share training rows.
    """
    error = _spread(table)
    if error is None:
        return _no_spread(table, centre)
    half = float(stats.norm.ppf((1 + level) / 2)) * error
    reason = "the held-out rows as if they were independent"
    return Interval(centre, _inside(table, centre, half), error, "per-row normal", reason)


def corrected_t(table: LossTable, level: float, centre: float) -> Interval:
    """Folds share training rows, so 1/J becomes 1/J + n_test/n_train (Nadeau and Bengio 2003)."""
    splits, codes = np.unique(table.split, return_inverse=True)
    J = len(splits)
    if J < 2:
        return none(table, centre, "there is one split only")
    weight = np.bincount(codes.reshape(-1), table.share)
    fold_mean = np.bincount(codes.reshape(-1), table.share * table.losses) / weight
    scale = float(np.abs(fold_mean).max()) or 1.0
    spread = np.average(((fold_mean - table.mean()) / scale) ** 2, weights=weight) * J / (J - 1)
    n_test = len(table.losses) / J
    error = scale * float(np.sqrt(spread * (1 / J + n_test / table.n_train)))
    if table.are_equal or not error > 0:
        return _no_spread(table, centre)
    half = float(stats.t.ppf((1 + level) / 2, J - 1)) * error
    reason = "the splits share training rows, which widens the interval"
    return Interval(centre, _inside(table, centre, half), error, "corrected t", reason)


Method = Callable[[LossTable, float, float], Interval]
METHODS: dict[str, Method] = {
    "rule": rule,
    "wilson": wilson,
    "clopper_pearson": clopper_pearson,
    "log_t": log_t,
    "per_row_t": per_row_t,
    "per_row_normal": per_row_normal,
    "corrected_t": corrected_t,
}

ROWS_ONCE = ("test", "holdout", "kfold", "grouped", "leave_one_out", "out_of_bag")
NO_INTERVAL = {
    "time": "the rows are ordered in time, and no valid interval is known for dependent rows",
    "training": "the rows trained the model themselves",
    "given": "the splits were given, and what they share is not known: name a method to get one",
}


def drawn_out(table: LossTable, lam: float | None = None) -> float:
    """How many times the error of independent rows that of their mean is: lam, and by how much the
    models of the folds differ."""
    error, lam = table.standard_error(), widening(table) if lam is None else lam
    return float(np.hypot(lam, table.apart.error / error)) if error else lam


def widening(table: LossTable) -> float:
    """lam: how many times the error of independent rows it is where models are alike."""
    shift = abs(table.moved.shift)
    return float(np.hypot(_by_rows(table), min(shift, MOST_MOVED) if table.is_share else shift))


def _by_rows(table: LossTable) -> float:
    """lam without what smaller training parts cost."""
    through, _, other = table.moved
    through = max(_by_losses(table), min(through, MOST_MOVED) if table.is_share else through)
    return float(np.sqrt(through**2 + max(other**2 - 1, 0.0)))


def _by_losses(table: LossTable) -> float:
    """lam as the losses tell it."""
    is_skew = table.bounds[0] == 0 and not table.is_share
    k = SKEW + MORE_SKEW * max(MANY - table.effective_units, 0.0)
    skew = k * table.skewness**2 if is_skew else 0.0
    return min(WIDEST, float(np.sqrt(shared_training(table) + skew)))


def shared_training(table: LossTable) -> float:
    """lam^2 without the skewness: 1 where a single model is judged."""
    if table.is_model:
        return 1.0
    n = table.effective_units
    df = UNKNOWN * n if table.degrees_of_freedom is None else table.degrees_of_freedom
    if df >= n:
        return WIDEST**2
    c = 3 / 2 if table.is_share else 5 / 2
    is_lumpy = table.is_share and table.degrees_of_freedom is None
    choice = CHOICE + LUMPS / n * is_lumpy if table.is_best else 0.0
    return min(WIDEST**2, MARGIN + choice + c * df / (n - df))


def effective_rows(table: LossTable) -> float:
    """The number of independent, equal rows whose share of mistakes has the same variance."""
    n, units = table.effective_units, table.units
    p, error = table.mean() / table.bounds[1], table.standard_error()
    if error is None or not 0 < p < 1:
        return n
    # By chance the units may seem to be worth more than they can be.
    most = 1 / float(np.square(table.share).sum()) if table.kind in ROWS_ONCE else n
    variance = (error / table.bounds[1]) ** 2 * (units - 1) / units
    return p * (1 - p) / max(variance, p * (1 - p) / most)


def none(table: LossTable, centre: float, reason: str) -> Interval:
    """No interval, and why."""
    how = f"; {table.how}" if table.how else ""
    return Interval(centre, None, table.standard_error() or None, "none", f"{reason}{how}")


def _found(
    table: LossTable, centre: float, ends: tuple[float, float], error: float, name: str
) -> Interval:
    lam, what = drawn_out(table), f"{table.units} groups" if table.is_grouped else "rows"
    if not table.is_model:
        reason = shared_reason(table, lam, what)
        return Interval(centre, ends, error, f"widened {name}", reason)
    reason = f"{unseen(table)}the {what} took no part in the model"
    if lam >= 1.1:
        reason += f"; {lam:.2f} times their error, since a few large losses make the mean"
    return Interval(centre, ends, error, name, reason)


def unseen(table: LossTable) -> str:
    """Whether the rows are known to have taken no part: of given ones it is the user who knows."""
    return "if " if table.kind == "test" else ""


def shared_reason(table: LossTable, lam: float, what: str = "rows") -> str:
    """Why the interval is lam times as wide as that of independent rows or groups."""
    times = f"{lam:.2f} times the error of independent {what}"
    if table.how:
        return f"{table.how}; {times}"
    return f"the folds share training rows{_ways(table)}, so {times}"


def _ways(table: LossTable) -> str:
    """In which other ways the rows move the risk, where an interval is much wider for it."""
    steps = _by_losses(table), _by_rows(table), widening(table), drawn_out(table)
    ways = (
        "these move the risk through what is learned",
        "beside fewer of them the penalty counts for more",
        "their models differ in risk",
    )
    notable = [after > NOTABLE * before for before, after in pairwise(steps)]
    return "".join(f", and {way}" for way in compress(ways, notable))


def _quantile(table: LossTable, level: float) -> float:
    """Normal for rows, as simulated; for groups, of which there are few, that of t."""
    if table.units == len(table.unit):
        return float(stats.t.ppf((1 + level) / 2, freedom_of_error(table, np.inf)))
    return _t(table, level)


def _t(table: LossTable, level: float) -> float:
    freedom = freedom_of_error(table, max(table.effective_units - 1, 1))
    return float(stats.t.ppf((1 + level) / 2, freedom))


def freedom_of_error(table: LossTable, of_rows: float, lam: float | None = None) -> float:
    """Of the squared error, if rows have so many, with those of the folds (Satterthwaite 1946)."""
    error, folds = table.standard_error(), table.apart
    if not (error and folds.error > 0):
        return of_rows
    lam = widening(table) if lam is None else lam
    share = 1 / (1 + (lam * error / folds.error) ** 2)
    return 1 / ((1 - share) ** 2 / of_rows + share**2 / folds.freedom)


def _spread(table: LossTable) -> float | None:
    """The standard error of independent units; None where their spread is not seen."""
    return None if table.are_equal else table.standard_error() or None


def _largest_loss(table: LossTable) -> float:
    if not table.is_share:
        raise ParameterError(
            "an interval for a share needs losses that are 0 or 1, or a single cost: take 'auto'"
        )
    return table.bounds[1]


def _no_spread(table: LossTable, centre: float) -> Interval:
    if table.units < 2:
        return none(table, centre, "a single held-out unit shows no spread")
    return none(table, centre, "all held-out losses are equal, so their spread is unknown")


def _inside(table: LossTable, centre: float, half: float) -> tuple[float, float]:
    return max(centre - half, table.bounds[0]), min(centre + half, table.bounds[1])
