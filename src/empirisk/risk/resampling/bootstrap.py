"""The bootstrap of any statistic: how it would vary over samples like the one at hand."""

from collections.abc import Callable
from typing import Any, Literal

import numpy as np

from empirisk.risk.resampling.named_statistics import as_statistic
from empirisk.risk.resampling.replicates import Bootstrap
from empirisk.risk.resampling.sample import Resamples, Sample, whole_number
from empirisk.risk.resampling.statistic import RowStatistic, Statistic
from empirisk.runtime.arrays import Bools
from empirisk.runtime.errors import DataError, ParameterError
from empirisk.runtime.scalars import is_number
from empirisk.runtime.streams import spawn


def bootstrap(
    data: Any,
    statistic: str | Callable[..., Any] = "mean",
    *,
    n_resamples: int = 9999,
    m: int | None = None,
    rate: float = 0.5,
    sample_weight: Any = None,
    groups: Any = None,
    vectorized: bool | None = None,
    on_failure: Literal["raise", "omit"] = "raise",
    n_jobs: int | None = None,
    random_state: Any = None,
) -> Bootstrap:
    """Draw rows with replacement, many times, and compute the statistic of each resample.

    Parameters
    ----------
    data : array, frame, table, or tuple of them
        Rows. A tuple holds several that are drawn together: row i of one belongs to row i of the
        others.
    statistic : str or callable
        "mean", "median", "quantile:Q", "min", "max", "std", "variance" (both with divisor n, as
        NumPy's), of each column, or "correlation", of two. Or a function of the rows, of each
        array if `data` is a tuple, that returns a number or an array. One that takes an `axis` is
        called with many resamples at once, axis=1 being the rows; `np.mean`, `np.median`,
        `np.min`, `np.max`, `np.std` and `np.var` are taken as their names.
    n_resamples : int
    m : int, optional
        Rows of a resample; as many as there are unless given. With fewer, the bootstrap also works
        for some statistics for which it fails otherwise, such as the maximum. Standard errors and
        intervals are those of a sample of the size at hand: deviations are multiplied by
        (m / n)^rate, and the bias, which is taken to fall like 1/n, by m / n.
    rate : float
        The error of the statistic falls like n^-rate: 1/2 for most, 1 for a maximum.
    sample_weight : array, optional
        A row of weight w is w copies of it in the statistic, and one observation in the draw. A
        function needs a parameter `sample_weight` or `weights` then.
    groups : array, optional
        Labels of groups that were sampled as a whole; groups are drawn, with all their rows.
    vectorized : bool, optional
        Whether the function takes an `axis`; found out from its signature unless given.
    on_failure : {"raise", "omit"}
        What to do if the function fails, or is not finite, on some resamples: an error that tells
        on how many, or a result without them that says so.
    n_jobs : int, optional
        The result does not depend on it.
    random_state : None, int, RandomState or Generator

    Returns
    -------
    Bootstrap

    Examples
    --------
    >>> import numpy as np
    >>> waiting = np.random.default_rng(0).exponential(size=50)
    >>> result = bootstrap(waiting, "median", random_state=0)
    >>> print(result)
    The median of 50 rows is 0.7958 with a standard error of 0.13..., 95 % percentile interval
    0.5... to 1.0... (9,999 resamples).
    >>> low, high = result.interval("bca", level=0.9)
    >>> bool(low < result.value < high)
    True
    """
    if not (is_number(rate) and rate > 0):
        raise ParameterError(f"rate is {rate!r}; give a number > 0, 0.5 for most statistics")
    if on_failure not in ("raise", "omit"):
        raise ParameterError(f"on_failure is {on_failure!r}; choose 'raise' or 'omit'")
    sample = Sample.of(data, sample_weight, groups)
    m = sample.n if m is None else whole_number(m, "m", 1)
    of_rows = as_statistic(statistic, sample, vectorized)
    value = of_rows.value()
    if not np.isfinite(value).all():
        raise DataError(f"the {of_rows.name} of the data is {value.tolist()}, which is not finite")
    first, second = spawn(random_state, 2)
    resamples = Resamples(sample.n, m, whole_number(n_resamples, "n_resamples", 2), first)
    replicates = of_rows.replicates(resamples, n_jobs)
    good = np.atleast_1d(np.isfinite(replicates).all(axis=1))
    if not good.all() and (on_failure == "raise" or good.sum() < 2):
        _refuse(of_rows, resamples, good)
    shape = of_rows.shape
    return Bootstrap(
        value=float(value[0]) if shape == () else value.reshape(shape),
        replicates=replicates[good].reshape(-1, *shape),
        rate=rate,
        n_failed=int((~good).sum()),
        statistic=of_rows,
        resamples=resamples,
        nested_seed=second,
        n_jobs=n_jobs,
    )


def _refuse(statistic: Statistic, resamples: Resamples, good: Bools) -> None:
    """Say on how many resamples a statistic fails, and how on the first of them."""
    b = int(np.argmin(good))
    copies = resamples.copies(slice(b, b + 1))[0]
    how = statistic.complaint(copies) if isinstance(statistic, RowStatistic) else "it is undefined"
    raise DataError(
        f"the {statistic.name} fails on {int((~good).sum()):,} of {len(good):,} resamples, first "
        f"on resample {b} ({how}): make it defined where rows are drawn more than once or not at "
        "all, or give on_failure='omit' to leave those resamples out"
    )
