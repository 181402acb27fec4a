"""The few kinds of picture, drawn from arrays: what has a shape has a `plot` that calls them."""

from empirisk.runtime.lazy_names import lazy_names

_HOME = {"draw_feature_maps": "empirisk.charts.feature_maps"}

__getattr__, __dir__, __all__ = lazy_names("empirisk.charts", _HOME)
