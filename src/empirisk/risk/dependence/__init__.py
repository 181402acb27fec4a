"""How predictions depend on a feature or two, on average over the rows of a table."""

from empirisk.risk.dependence.partial import partial_dependence
from empirisk.risk.dependence.result import PartialDependence

__all__ = ["PartialDependence", "partial_dependence"]
