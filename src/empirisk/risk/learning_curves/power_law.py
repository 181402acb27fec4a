"""The inverse power law R(n) = a + b n^-c of a learning curve, by generalised least squares.

With a >= the least loss there can be and b >= 0,

    minimise  r' V^-1 r + (log(c / 0.7) / 0.7)^2,     r = risks less the law,

where V is the covariance of the risks plus (1 % of the risk)^2 for what the law itself misses, and
the second term favours a little the exponents that are common. The band comes from risks drawn with
that V and exponents drawn with that scatter, each fitted again.
"""

from typing import Any, NamedTuple

import numpy as np
from scipy.linalg import cholesky, solve_triangular

from empirisk.runtime.arrays import Floats

EXPONENTS = np.geomspace(0.05, 4, 150)
COMMON, SCATTER = 0.7, 0.7
"""The exponents that are favoured: log c has this centre and this spread."""
APPROXIMATE = 0.01
"""The law holds to this share of the risk."""
TINY = 1e-16


class PowerLaw(NamedTuple):
    """a + b (n / unit)^-c, one of each for every curve that was fitted."""

    a: Floats
    b: Floats
    c: Floats
    unit: float

    def at(self, n: Any) -> Floats:
        """Risks (curves, sizes); the limit at n = infinity."""
        share = (np.asarray(n, dtype=float) / self.unit)[None]
        return self.a[:, None] + self.b[:, None] * share ** -self.c[:, None]


def fit_and_draw(
    sizes: Floats,
    risk: Floats,
    standard_error: Floats,
    correlation: Floats,
    least: float,
    noise: Floats,
) -> tuple[PowerLaw, PowerLaw, float]:
    """The law, the laws of drawn risks, and the share of draws that depart from it as far."""
    size = float(np.abs(risk).max()) or 1.0
    risk, error = risk / size, standard_error / size
    V = correlation * np.outer(error, error) + np.diag((APPROXIMATE * risk) ** 2 + TINY)
    root = cholesky(V, lower=True)
    fitted, departure = power_law(sizes, risk[None], root, least / size, np.array([COMMON]))
    curves = fitted.at(sizes) + noise[:, :-1] @ root.T
    centres = COMMON * np.exp(SCATTER * noise[:, -1])
    drawn, chance = power_law(sizes, curves, root, least / size, centres)
    p_value = float(np.mean(chance >= departure * (1 - 1e-9)))
    return _scaled(fitted, size), _scaled(drawn, size), p_value


def _scaled(law: PowerLaw, size: float) -> PowerLaw:
    return law._replace(a=law.a * size, b=law.b * size)


def power_law(
    sizes: Floats, risks: Floats, root: Floats, least: float, centres: Floats
) -> tuple[PowerLaw, Floats]:
    """The law of each row of risks, and how far the risks depart from it, r' V^-1 r.

    Parameters
    ----------
    sizes : array of shape (S,)
    risks : array of shape (curves, S)
    root : lower triangle of V
    least : float
        a is no less.
    centres : array of shape (curves,)
        The exponents that are favoured.

    Examples
    --------
    >>> n = np.array([10.0, 20.0, 40.0, 80.0])
    >>> law, departure = power_law(n, 1 + 5 / n[None], 1e-3 * np.eye(4), 0.0, np.ones(1))
    >>> law.a.round(2), law.at([100.0]).round(2)
    (array([1.]), array([[1.05]]))
    """
    white = solve_triangular(root, risks.T, lower=True)
    level = solve_triangular(root, np.ones(len(sizes)), lower=True)
    best = np.full(len(risks), np.inf)
    found = np.zeros((4, len(risks)))
    for c in EXPONENTS:
        slope = solve_triangular(root, (sizes / sizes[0]) ** -c, lower=True)
        a, b = _constrained(white, level, slope, least)
        square = ((white - np.outer(level, a) - np.outer(slope, b)) ** 2).sum(axis=0)
        total = square + (np.log(c / centres) / SCATTER) ** 2
        better = total < best
        best = np.minimum(best, total)
        found = np.where(better, [a, b, np.full(len(a), c), square], found)
    return PowerLaw(found[0], found[1], found[2], float(sizes[0])), found[3]


def _constrained(
    white: Floats, level: Floats, slope: Floats, least: float
) -> tuple[Floats, Floats]:
    """a >= least and b >= 0 of least |white - a level - b slope|^2, for each column."""
    across = slope - level * (level @ slope) / (level @ level)
    b = np.maximum(across @ white / (across @ across), 0.0)
    a = level @ (white - np.outer(slope, b)) / (level @ level)
    low = a < least
    held = slope @ (white - least * level[:, None]) / (slope @ slope) if low.any() else b
    return np.where(low, least, a), np.where(low, np.maximum(held, 0.0), b)
