"""Known joint distributions of (X, Y): training sets are drawn, and true risks are known."""

from empirisk.risk.populations.classes import Bernoulli, Classification, SampledClasses
from empirisk.risk.populations.features import Drawn, Features, Gaussian, Points, Uniform
from empirisk.risk.populations.gaussian_classes import GaussianClasses
from empirisk.risk.populations.linear_model import LinearModel
from empirisk.risk.populations.named import friedman, polynomial, sine, two_gaussians
from empirisk.risk.populations.noise import Laplace, Noise, Normal, StudentT
from empirisk.risk.populations.population import Population
from empirisk.risk.populations.regression import Regression, SampledRegression

__all__ = [
    "Bernoulli",
    "Classification",
    "Drawn",
    "Features",
    "Gaussian",
    "GaussianClasses",
    "Laplace",
    "LinearModel",
    "Noise",
    "Normal",
    "Points",
    "Population",
    "Regression",
    "SampledClasses",
    "SampledRegression",
    "StudentT",
    "Uniform",
    "friedman",
    "polynomial",
    "sine",
    "two_gaussians",
]
