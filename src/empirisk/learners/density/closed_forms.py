"""Maxima of weighted likelihoods that are formulas, or the root of one equation.

Each takes values x, shares w of their weights, which sum to one, and the parameters that are fixed;
it gives all parameters, or None where with these fixed there is no formula.
"""

from collections.abc import Callable

import numpy as np
from scipy.optimize import brentq
from scipy.special import digamma, polygamma

from empirisk.learners.density.families import Parameters
from empirisk.losses.weighted import weighted_quantile
from empirisk.runtime.arrays import Floats

Fixed = Parameters
Formula = Callable[[Floats, Floats, Fixed], Parameters | None]

MOST_STEPS = 60
NEARLY_UNIFORM = 1e-5
LEAST_GAP = 1e-12  # of values that are nearly equal rounding errors are all there is


def normal(x: Floats, w: Floats, fixed: Fixed) -> Parameters:
    """The mean, and the root of the mean squared deviation."""
    loc = fixed.get("loc", _mean(x, w))
    return {"loc": loc, "scale": fixed.get("scale", float(np.sqrt(w @ (x - loc) ** 2)))}


def exponential(x: Floats, w: Floats, fixed: Fixed) -> Parameters:
    """The least value, and the mean distance to it."""
    loc = fixed.get("loc", float(x.min()))
    return {"loc": loc, "scale": fixed.get("scale", _mean(x - loc, w))}


def truncated_exponential(x: Floats, w: Floats, fixed: Fixed) -> Parameters | None:
    """From the least to the largest value, T apart: 1/b - 1/(e^b - 1) is the mean over T.

    Where that is a half or more, the density would have to rise, and there is no maximum.
    """
    if "scale" in fixed or "b" in fixed:
        return None
    loc = fixed.get("loc", float(x.min()))
    length = float(x.max()) - loc
    if not length > 0:
        return None
    share = _mean(x - loc, w) / length
    if not 0 < share < 0.5 - NEARLY_UNIFORM:
        return None
    with np.errstate(over="ignore"):  # 1/(e^b - 1) is 0 then, and rounding the sign at 1 / share
        ends = NEARLY_UNIFORM, (1 + 1e-9) / share
        b = float(brentq(lambda b: 1 / b - 1 / np.expm1(b) - share, *ends))
    scale = length / b
    while (float(x.max()) - loc) / scale > b:  # the largest value is possible, rounding or not
        scale = float(np.nextafter(scale, np.inf))
    return {"b": b, "loc": loc, "scale": scale}


def uniform(x: Floats, w: Floats, fixed: Fixed) -> Parameters:
    """The least and the largest value; of a given length, in the middle of where it may lie."""
    low, high = float(x.min()), float(x.max())
    if "scale" not in fixed:
        loc = fixed.get("loc", low)
        return {"loc": loc, "scale": high - loc}
    loc = fixed.get("loc", low - (fixed["scale"] - (high - low)) / 2)
    return {"loc": loc, "scale": fixed["scale"]}


def laplace(x: Floats, w: Floats, fixed: Fixed) -> Parameters:
    """The median, and the mean distance to it."""
    loc = fixed.get("loc", float(weighted_quantile(x, w, 0.5)))
    return {"loc": loc, "scale": fixed.get("scale", float(w @ np.abs(x - loc)))}


def log_normal(x: Floats, w: Floats, fixed: Fixed) -> Parameters | None:
    """Mean and deviation of the logarithms."""
    if "loc" not in fixed or not (x > fixed["loc"]).all():
        return None
    log = np.log(x - fixed["loc"])
    mean = float(np.log(fixed["scale"])) if "scale" in fixed else _mean(log, w)
    s = fixed.get("s", float(np.sqrt(w @ (log - mean) ** 2)))
    if not s > 0:
        return None
    return {"s": s, "loc": fixed["loc"], "scale": fixed.get("scale", float(np.exp(mean)))}


def pareto(x: Floats, w: Floats, fixed: Fixed) -> Parameters | None:
    """The least value, and one over the mean logarithm of the values in its unit."""
    if "loc" not in fixed or not (x > fixed["loc"]).all():
        return None
    scale = fixed.get("scale", float(x.min()) - fixed["loc"])
    mean = float(w @ np.log((x - fixed["loc"]) / scale))
    if "b" not in fixed and not mean > 0:
        return None
    return {"b": fixed.get("b", 1 / mean if mean > 0 else 0.0), "loc": fixed["loc"], "scale": scale}


def inverse_gaussian(x: Floats, w: Floats, fixed: Fixed) -> Parameters | None:
    """Mean m and lambda = 1 / mean(1/x - 1/m); scipy's mu is m / lambda, its scale lambda."""
    if set(fixed) != {"loc"} or not (x > fixed["loc"]).all():
        return None
    mean = _mean(x - fixed["loc"], w)
    spread = float(w @ (1 / (x - fixed["loc"]) - 1 / mean))
    if not spread > 0:
        return None
    return {"mu": mean * spread, "loc": fixed["loc"], "scale": 1 / spread}


def power_law(x: Floats, w: Floats, fixed: Fixed) -> Parameters | None:
    """Minus one over the mean logarithm of the place in the interval."""
    if not {"loc", "scale"} <= set(fixed) or "a" in fixed or not (x > fixed["loc"]).all():
        return None
    mean = float(w @ np.log((x - fixed["loc"]) / fixed["scale"]))
    return {"a": -1 / mean, "loc": fixed["loc"], "scale": fixed["scale"]} if mean < 0 else None


def gamma(x: Floats, w: Floats, fixed: Fixed) -> Parameters | None:
    """log a - psi(a) = log of the mean - mean of the logs, and the mean over a as scale."""
    if "loc" not in fixed or "scale" in fixed or not (x > fixed["loc"]).all():
        return None
    away = x - fixed["loc"]
    mean = _mean(away, w)
    s = float(np.log(mean) - w @ np.log(away))
    if "a" in fixed:
        return {"a": fixed["a"], "loc": fixed["loc"], "scale": mean / fixed["a"]}
    if not s > LEAST_GAP:
        return None
    a = (3 - s + np.sqrt((s - 3) ** 2 + 24 * s)) / (12 * s)  # within 1.5 % (Minka 2002)
    for _ in range(MOST_STEPS):
        step = (np.log(a) - digamma(a) - s) / (1 / a - polygamma(1, a))
        a = max(a / 2, a - step)
        if abs(step) <= 1e-15 * a:
            break
    return {"a": float(a), "loc": fixed["loc"], "scale": mean / float(a)}


def weibull(x: Floats, w: Floats, fixed: Fixed) -> Parameters | None:
    """sum w x^c log x / sum w x^c - 1 / c = mean of the logs; scale^c is the mean of x^c."""
    if set(fixed) != {"loc"} or not (x > fixed["loc"]).all():
        return None
    log = np.log(x - fixed["loc"])
    top = float(log.max())
    z = log - top  # at most 0: no power overflows
    mean = float(w @ z)
    deviation = float(np.sqrt(w @ (z - mean) ** 2))
    if not deviation > LEAST_GAP:
        return None
    c = 1.28 / deviation  # that of the logarithms of Weibull's numbers
    for _ in range(MOST_STEPS):
        part = w * np.exp(c * z)
        total = part.sum()
        first, second = float(part @ z) / total, float(part @ z**2) / total
        step = (first - 1 / c - mean) / (second - first**2 + 1 / c**2)
        c = max(c / 2, c - step)
        if abs(step) <= 1e-15 * c:
            break
    scale = np.exp(top + np.log(w @ np.exp(c * z)) / c)
    return {"c": float(c), "loc": fixed["loc"], "scale": float(scale)}


def _root_mean_square(n: float) -> Formula:
    """Families of which scale^2 is the mean square over n: of the length of n normal numbers."""

    def formula(x: Floats, w: Floats, fixed: Fixed) -> Parameters | None:
        if n > 1 and ("loc" not in fixed or not (x > fixed["loc"]).all()):
            return None  # densities that are 0 at loc
        loc = fixed.get("loc", float(x.min()))  # densities of n = 1 fall from there on
        return {
            "loc": loc,
            "scale": fixed.get("scale", float(np.sqrt(w @ (x - loc) ** 2 / n))),
        }

    return formula


def _mean(x: Floats, w: Floats) -> float:
    """What rounding has left in the deviations from the mean is added to it."""
    mean = float(w @ x)
    return mean + float(w @ (x - mean))


FORMULAS: dict[str, Formula] = {
    "expon": exponential,
    "gamma": gamma,
    "halfnorm": _root_mean_square(1),
    "invgauss": inverse_gaussian,
    "laplace": laplace,
    "lognorm": log_normal,
    "maxwell": _root_mean_square(3),
    "norm": normal,
    "pareto": pareto,
    "powerlaw": power_law,
    "rayleigh": _root_mean_square(2),
    "truncexpon": truncated_exponential,
    "uniform": uniform,
    "weibull_min": weibull,
}
