"""The candidates of a selection side by side: the baseline first, then the best first."""

from dataclasses import dataclass
from typing import Any

from empirisk.risk.curves import RiskPath
from empirisk.selection.select import Selection

BASELINE = "Baseline"


@dataclass(frozen=True)
class Standing:
    """One candidate at the value that was chosen for it."""

    name: str
    value: Any
    at: str
    risk: float
    standard_error: float
    training_risk: float
    values: int
    chosen: bool


def standings(selection: Selection) -> list[Standing]:
    """All candidates that gave a risk."""
    found = [_standing(name, path, selection) for name, path in selection.paths.items()]
    return sorted(found, key=lambda each: (each.name != BASELINE, each.risk))


def _standing(name: str, path: RiskPath, selection: Selection) -> Standing:
    j = path.chosen
    return Standing(
        name=name,
        value=path.values[j],
        at=_at(path),
        risk=float(path.risk[j]),
        standard_error=float(path.standard_error[j]),
        training_risk=float(path.training_risk[j]),
        values=len(path.values),
        chosen=name == selection.name,
    )


def _at(path: RiskPath) -> str:
    """The chosen value in words: `alpha = 0.064`."""
    value = path.values[path.chosen]
    if path.axis is None or value is None:
        return ""
    values = value if isinstance(value, tuple) else (value,)
    pairs = zip(path.axis.params, values, strict=True)
    return ", ".join(f"{name} = {short(each)}" for name, each in pairs)


def short(value: Any) -> str:
    """A number with four digits, other things as they are."""
    return f"{value:.4g}" if isinstance(value, float) else str(value)
