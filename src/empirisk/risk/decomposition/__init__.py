"""Risk taken apart: noise, bias and variance; approximation and estimation."""

from empirisk.risk.decomposition.density import decompose_density_path, density_bias_variance
from empirisk.risk.decomposition.excess import ExcessRisk, excess_risk
from empirisk.risk.decomposition.one_data_set import bootstrap_bias_variance
from empirisk.risk.decomposition.over_training_sets import bias_variance, decompose_path
from empirisk.risk.decomposition.path import DecompositionPath
from empirisk.risk.decomposition.squared import SquaredDecomposition
from empirisk.risk.decomposition.zero_one import ZeroOneDecomposition

__all__ = [
    "DecompositionPath",
    "ExcessRisk",
    "SquaredDecomposition",
    "ZeroOneDecomposition",
    "bias_variance",
    "bootstrap_bias_variance",
    "decompose_density_path",
    "decompose_path",
    "density_bias_variance",
    "excess_risk",
]
