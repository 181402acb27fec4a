"""Solvers, each usable on a function of your own: they return a `Descent`, EM an `Ascent`."""

from empirisk.runtime.lazy_names import lazy_names

_HOME = {
    "Ascent": "empirisk.solvers.em",
    "Backtracking": "empirisk.solvers.steps",
    "Decaying": "empirisk.solvers.steps",
    "Descent": "empirisk.solvers.descent",
    "coordinate_descent": "empirisk.solvers.coordinates",
    "em": "empirisk.solvers.em",
    "em_from": "empirisk.solvers.em",
    "gradient_descent": "empirisk.solvers.gradient",
    "newton": "empirisk.solvers.newton",
    "random_starts": "empirisk.solvers.random_starts",
    "stochastic_gradient": "empirisk.solvers.stochastic",
}

__getattr__, __dir__, __all__ = lazy_names("empirisk.solvers", _HOME)
