"""Kernels: densities that depend on the distance alone, and what bandwidths need to know of them.

K(x) = c k(|x|) on d columns, with c such that K integrates to one; at bandwidth h it is
K(x / h) / h^d. Names, and what a bandwidth means for each, are scikit-learn's.
"""

from dataclasses import dataclass
from math import exp, log, pi, sqrt
from typing import NamedTuple

import numpy as np
from scipy.integrate import quad
from scipy.special import betaln, gammaln

from empirisk.compiled.densities import kernels as compiled
from empirisk.runtime.arrays import Floats
from empirisk.runtime.errors import ParameterError


class Square(NamedTuple):
    """K^2 as a kernel: its number, and how much narrower it is."""

    kind: int
    narrower: float = 1.0


@dataclass(frozen=True)
class Kernel:
    """A kernel by name.

    Attributes
    ----------
    kind : int
        Its number in compiled code.
    order : int
        The first moment that is not 0: 2, or for kernels of higher order, which are negative in
        places, 4.
    bounded : bool
        Whether it is 0 beyond a distance of one.
    square : Square
    """

    name: str
    kind: int
    square: Square
    order: int = 2
    bounded: bool = True

    def shape(self, d: int) -> float:
        """The constant that makes the second moment of a kernel of order 4 vanish."""
        if self.name == "gaussian4":
            return 1.0 + d / 2
        return (d + 6) / (d + 2) if self.name == "epanechnikov4" else 0.0

    def profile(self, u: float, d: int) -> float:
        """k at distance u, without the constant."""
        if self.bounded and u >= 1:
            return 0.0
        if self.name in ("gaussian", "gaussian4"):
            factor = 1.0 if self.order == 2 else self.shape(d) - u * u / 2
            return float(factor * np.exp(-u * u / 2))
        if self.name == "exponential":
            return float(np.exp(-u))
        if self.name in ("linear", "triangle"):
            return 1 - u
        if self.name == "cosine":
            return float(np.cos(pi * u / 2))
        if self.name == "epanechnikov4":
            return (1 - u * u) * (1 - self.shape(d) * u * u)
        return (1 - u * u) ** POWERS[self.name]

    def log_constant(self, d: int) -> float:
        """log c."""
        return -self._log_radial(d, 1, 0) - log_sphere(d)

    def second_moment(self, d: int) -> float:
        """The variance of each column under K; 0 for kernels of order 4."""
        if self.order > 2:
            return 0.0
        return exp(self._log_radial(d, 1, 2) - self._log_radial(d, 1, 0)) / d

    def roughness(self, d: int) -> float:
        """The integral of K^2."""
        return exp(self._log_roughness(d))

    def _log_roughness(self, d: int) -> float:
        return self._log_radial(d, 2, 0) - 2 * self._log_radial(d, 1, 0) - log_sphere(d)

    def canonical(self, d: int) -> float:
        """The bandwidth at which this kernel smoothes as much as a Gaussian of bandwidth 1.

        Bias and variance are then in the same proportion (Marron and Nolan 1988). A kernel of
        order 4 is given the bandwidth of the kernel of order 2 that it comes from.
        """
        if self.order > 2:
            return KERNELS[self.name[:-1]].canonical(d)
        rougher = self._log_roughness(d) - KERNELS["gaussian"]._log_roughness(d)
        # of many columns the ratio itself is no number, but its root is
        return exp((rougher - 2 * log(self.second_moment(d))) / (d + 4))

    def radii(self, d: int, n: int, generator: np.random.Generator) -> Floats:
        """Distances of n draws from the centre, for kernels that are densities."""
        if self.name == "gaussian":
            return np.sqrt(generator.chisquare(d, n))
        if self.name == "exponential":
            return generator.gamma(d, size=n)
        if self.name in ("linear", "triangle"):
            return generator.beta(d, 2, size=n)
        if self.name == "cosine":
            return _cosine_radii(d, n, generator)
        return np.sqrt(generator.beta(d / 2, POWERS[self.name] + 1, size=n))

    def _log_radial(self, d: int, power: int, moment: int) -> float:
        """log of the integral of k^power u^moment u^(d-1) over distances u."""
        a = d + moment
        if self.order > 2:
            base = KERNELS[self.name[:-1]]
            return base._log_radial(d, power, moment) + log(self._mean_factor(d, power, a))
        if self.name == "exponential":
            return float(gammaln(a)) - a * log(power)
        if self.name == "gaussian":
            return float(gammaln(a / 2)) + a / 2 * log(2 / power) - log(2)
        if self.name in POWERS:
            return float(betaln(a / 2, POWERS[self.name] * power + 1)) - log(2)
        if self.name in ("linear", "triangle"):
            return float(betaln(a, power + 1))

        def density(u: float) -> float:
            return self.profile(u, d) ** power * u ** (a - 1)

        return log(quad(density, 0, 1, epsabs=0, epsrel=1e-13, limit=200)[0])

    def _mean_factor(self, d: int, power: int, a: int) -> float:
        """The mean of what makes a kernel of the order 4, to that power, over distances u.

        They have the density k^power u^(a-1), k the kernel of order 2 that it comes from, and the
        factor is first + second * z, with z = u^2 / 2 of a gamma distribution for Gaussians, and
        z = 1 - u^2 of a beta distribution for Epanechnikov's kernel.
        """
        if self.name == "gaussian4":
            first, second = self.shape(d), -1.0
            mean = a / (2 * power)
            square = mean * (mean + 1 / power)
        else:
            first, second = -4 / (d + 2), self.shape(d)
            mean = (power + 1) / (power + 1 + a / 2)
            square = mean * (power + 2) / (power + 2 + a / 2)
        if power == 1:
            return first + second * mean
        return first * first + 2 * first * second * mean + second * second * square


POWERS = {"tophat": 0, "epanechnikov": 1, "biweight": 2, "triweight": 3}

KERNELS = {
    kernel.name: kernel
    for kernel in (
        Kernel(
            "gaussian", compiled.GAUSSIAN, Square(compiled.GAUSSIAN, 1 / sqrt(2)), bounded=False
        ),
        Kernel("tophat", compiled.TOPHAT, Square(compiled.TOPHAT)),
        Kernel("epanechnikov", compiled.EPANECHNIKOV, Square(compiled.BIWEIGHT)),
        Kernel("exponential", compiled.EXPONENTIAL, Square(compiled.EXPONENTIAL, 0.5),
               bounded=False),
        Kernel("linear", compiled.LINEAR, Square(compiled.LINEAR2)),
        Kernel("cosine", compiled.COSINE, Square(compiled.COSINE2)),
        Kernel("triangle", compiled.LINEAR, Square(compiled.LINEAR2)),
        Kernel("biweight", compiled.BIWEIGHT, Square(compiled.EPANECHNIKOV_POWER4)),
        Kernel("triweight", compiled.TRIWEIGHT, Square(compiled.EPANECHNIKOV_POWER6)),
        Kernel("gaussian4", compiled.GAUSSIAN4, Square(compiled.GAUSSIAN4_2), 4, bounded=False),
        Kernel("epanechnikov4", compiled.EPANECHNIKOV4, Square(compiled.EPANECHNIKOV4_2), 4),
    )
}  # fmt: skip


def kernel_of(name: object) -> Kernel:
    """The kernel of that name.

    Examples
    --------
    >>> kernel_of("epanechnikov").second_moment(1)
    0.2
    """
    if not (isinstance(name, str) and name in KERNELS):
        raise ParameterError(f"kernel is {name!r}; choose one of {', '.join(sorted(KERNELS))}")
    return KERNELS[name]


def reach_of(kernel: Kernel) -> float:
    """Bandwidths beyond which nothing is left of a kernel in double precision."""
    if kernel.bounded:
        return 1.0
    return 40.0 if kernel.name == "exponential" else 9.0


def log_sphere(d: int) -> float:
    """log of the surface of the unit sphere in d dimensions; of two points where d is 1."""
    return log(2) + d / 2 * log(pi) - float(gammaln(d / 2))


def _cosine_radii(d: int, n: int, generator: np.random.Generator) -> Floats:
    """By rejection from the ball: cos is at most one."""
    found = np.empty(0)
    while len(found) < n:
        u = generator.random(4 * n + 16) ** (1 / d)
        accepted = generator.random(len(u)) < np.cos(pi * u / 2)
        found = np.concatenate([found, u[accepted]])
    return found[:n]
