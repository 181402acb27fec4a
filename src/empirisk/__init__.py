"""Empirisk: learn a prediction rule from a table and say, honestly, how well it will do."""

from importlib import import_module
from typing import Any

__version__ = "0.1.0"

# Every public name, once, with the module it lives in; imported when first used, so that
# `import empirisk` is instant.
_HOME = {
    "Axis": "empirisk.risk.axis",
    "Baseline": "empirisk.learners.baseline",
    "Encoder": "empirisk.data.encode",
    "LinearDiscriminantAnalysis": "empirisk.learners.generative.lda",
    "LinearRegression": "empirisk.learners.linear.least_squares",
    "Plan": "empirisk.risk.plans",
    "Ridge": "empirisk.learners.linear.ridge",
    "RiskEstimate": "empirisk.risk.estimate",
    "Table": "empirisk.data.table",
    "Tuned": "empirisk.selection.tuned",
    "compare": "empirisk.selection.compare",
    "load": "empirisk.model_file.load",
    "read_table": "empirisk.data.read",
    "save": "empirisk.model_file.save",
    "select": "empirisk.selection.select",
    "write_report": "empirisk.report.page",
}
_ROOMS = {
    "charts": "empirisk.charts",
    "datasets": "empirisk.data.datasets",
    "losses": "empirisk.losses",
    "risk": "empirisk.risk",
}

__all__ = [*sorted(_HOME), *_ROOMS]


def __getattr__(name: str) -> Any:
    if name in _HOME:
        return getattr(import_module(_HOME[name]), name)
    if name in _ROOMS:
        return import_module(_ROOMS[name])
    raise AttributeError(f"module 'empirisk' has no attribute {name!r}")


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
