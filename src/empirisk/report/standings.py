"""The candidates of a selection side by side: the baseline, the chosen one, then by risk."""

from dataclasses import dataclass
from typing import Any

from empirisk.risk.curves import RiskPath
from empirisk.selection.select import Selection

BASELINE = "Baseline"


@dataclass(frozen=True)
class Standing:
    """One candidate at the value that was chosen for it.

    `risk` and `interval` are corrected for that choice along its axis; `standard_error` is that of
    independent rows.
    """

    name: str
    value: Any
    at: str
    risk: float
    interval: tuple[float, float] | None
    standard_error: float
    training_risk: float
    values: int
    chosen: bool


def standings(selection: Selection) -> list[Standing]:
    """All candidates that gave a risk: the baseline, the chosen one, the others by their risk."""
    found = [_standing(name, path, selection) for name, path in selection.paths.items()]
    return sorted(found, key=lambda each: (each.name != BASELINE, not each.chosen, each.risk))


def _standing(name: Any, path: RiskPath, selection: Selection) -> Standing:
    j = path.chosen
    return Standing(
        name=str(name),
        value=path.values[j],
        at=at_value(path),
        risk=selection.risks[name].value,
        interval=selection.risks[name].interval,
        standard_error=float(path.standard_error[j]),
        training_risk=float(path.training_risk[j]),
        values=len(path.values),
        chosen=name == selection.name,
    )


def at_value(path: RiskPath) -> str:
    """The chosen value in words: `alpha = 0.064`."""
    value = path.values[path.chosen]
    if path.axis is None or value is None:
        return ""
    values = value if isinstance(value, tuple) else (value,)
    pairs = zip(path.axis.params, values, strict=True)
    return ", ".join(f"{name} = {short(each)}" for name, each in pairs)


def ends(interval: tuple[float, float] | None) -> str:
    """`0.21 to 0.28`, or a dash."""
    return "-" if interval is None else "{:.3g} to {:.3g}".format(*interval)


def short(value: Any, digits: int = 4) -> str:
    """A number with a few digits, other things as they are."""
    return f"{value:.{digits}g}" if isinstance(value, float) else str(value)
