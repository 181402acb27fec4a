"""How many principal components: a number, a share of the variance, or by Minka's evidence."""

from numbers import Integral, Real
from typing import Any

import numpy as np
from scipy.special import gammaln

from empirisk.runtime.arrays import Floats
from empirisk.runtime.errors import DataError, ParameterError
from empirisk.runtime.scalars import is_whole

WANTED = (
    "give a whole number of components, a share of the variance between 0 and 1, 'mle', or None "
    "for all"
)


def checked_number(n_components: Any, rows: int, p: int, solver: str = "auto") -> int:
    """A number of axes to look for, at most; shares and "mle" look at all of them first."""
    most = min(rows, p)
    if n_components is None:
        return most - 1 if solver == "arpack" else most
    if isinstance(n_components, str):
        if n_components != "mle":
            raise ParameterError(f"n_components is {n_components!r}; {WANTED}")
        _refuse_first_few(n_components, solver)
        if rows < p:
            raise DataError(
                f"n_components='mle' needs at least as many rows as columns, and X has n_samples = "
                f"{rows} and n_features = {p}: give a number, or choose one by Tuned(PCA())"
            )
        return most
    if not is_whole(n_components):
        share = isinstance(n_components, Real) and 0 < float(n_components) < 1
        if not share:
            raise ParameterError(f"n_components is {n_components!r}; {WANTED}")
        _refuse_first_few(n_components, solver)
        return most
    number = int(n_components)
    fewest = 1 if solver in ("arpack", "randomized") else 0
    most = most - 1 if solver == "arpack" else most
    if not fewest <= number <= most:
        raise ParameterError(
            f"n_components is {n_components}; with n_samples = {rows}, n_features = {p} and "
            f"svd_solver={solver!r} it can be {fewest} to {most}"
        )
    return number


def settled_number(n_components: Any, squares: Floats, weight: float, number: int) -> int:
    """How many of the axes found are kept, given their sums of squares."""
    if isinstance(n_components, str):
        return minka_number(squares / max(weight - 1, 1.0), weight)
    if n_components is None or isinstance(n_components, Integral):
        return number
    total = squares.sum()
    if total == 0:
        return 1
    share = np.cumsum(squares / total)
    return int(min(np.searchsorted(share, n_components, side="right") + 1, len(squares)))


def minka_number(spectrum: Floats, weight: float) -> int:
    """The number of components with the largest evidence (Minka 2000), n rows of Gaussians.

    For p eigenvalues l_1 >= ... >= l_p, k components and v the mean of the others,

        log p(X | k) ~ log p_U - n/2 sum_{j<=k} log l_j - n (p-k)/2 log v
                       + (m + k)/2 log 2 pi - 1/2 log |A| - k/2 log n,

    where m = pk - k(k+1)/2, p_U = 2^-k prod_{j<=k} Gamma((p-j+1)/2) pi^-(p-j+1)/2, and log |A| =
    sum_{i<=k} sum_{j>i} log((1/l~_j - 1/l~_i)(l_i - l_j) n) with l~ = l for the first k and v for
    the others.

    Examples
    --------
    >>> minka_number(np.array([9.0, 4.0, 1.1, 1.0, 0.9]), 200.0)
    2
    """
    spectrum = spectrum / spectrum[0] if spectrum[0] > 0 else spectrum  # it has no unit
    evidence = [_log_evidence(spectrum, k, weight) for k in range(1, len(spectrum))]
    return int(np.argmax(evidence)) + 1 if evidence else 1


def _log_evidence(spectrum: Floats, k: int, n: float) -> float:
    p = len(spectrum)
    if spectrum[k - 1] < np.finfo(float).eps:  # as in scikit-learn: no such axis
        return -np.inf
    half = (p - np.arange(k)) / 2
    uniform = -k * np.log(2.0) + (gammaln(half) - np.log(np.pi) * half).sum()
    others = max(np.finfo(float).eps, spectrum[k:].sum() / (p - k))
    likelihood = -n / 2 * (np.log(spectrum[:k]).sum() + np.log(others) * (p - k))
    m = p * k - k * (k + 1) / 2
    flat = np.concatenate([spectrum[:k], np.full(p - k, others)])
    curvature = 0.0
    for i in range(k):
        gaps = (spectrum[i] - spectrum[i + 1 :]) * (1 / flat[i + 1 :] - 1 / flat[i])
        gaps = np.maximum(gaps, np.finfo(float).tiny)  # equal eigenvalues
        curvature += (np.log(gaps) + np.log(n)).sum()
    occam = np.log(2 * np.pi) * (m + k) / 2 - curvature / 2 - k * np.log(n) / 2
    return float(uniform + likelihood + occam)


def _refuse_first_few(n_components: Any, solver: str) -> None:
    if solver in ("arpack", "randomized"):
        raise ParameterError(
            f"n_components is {n_components!r}, which takes all components to find, and "
            f"svd_solver={solver!r} finds only the first few: give their number, or another solver"
        )
