"""All bounds that apply to the same data, beside each other."""

from collections.abc import Callable
from typing import Any

from empirisk.risk.bounds.bounded import Bound, Range, Sides, larger_is_better
from empirisk.risk.bounds.rademacher import rademacher
from empirisk.risk.bounds.union import BOUNDS
from empirisk.risk.bounds.vc import vc
from empirisk.risk.estimate import RiskEstimate
from empirisk.risk.penalties.side_by_side import SideBySide
from empirisk.runtime.errors import EmpiriskError, ParameterError


def compare_bounds(
    estimate: RiskEstimate,
    *,
    level: float = 0.95,
    sides: Sides | None = None,
    loss_range: Range | None = None,
    model: Any = None,
    X: Any = None,
    y: Any = None,
    random_state: Any = None,
) -> SideBySide:
    """Every bound that applies, as a table and a picture; the notes say which do not, and why.

    Parameters
    ----------
    estimate : RiskEstimate
        Of a model on test rows.
    level, sides, loss_range
        As in `hoeffding`.
    model, X, y : optional
        The model and its training rows, for the bounds of the 0-1 risk that need no test rows.
    random_state
        Of the Rademacher complexity.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.linear_model import LogisticRegression
    >>> from empirisk import risk
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(3000, 2))
    >>> y = X[:, 0] + 0.5 * rng.normal(size=3000) > 0
    >>> model = LogisticRegression().fit(X[:2000], y[:2000])
    >>> estimate = risk.evaluate(model, X[2000:], y[2000:])
    >>> print(compare_bounds(estimate, model=model, X=X[:2000], y=y[:2000], random_state=0).table)
    zero_one risk, bounds at 95 %:
      Hoeffding                  0.136     <= 0.1747             Hoeffding bound
      Chernoff                   0.136     <= 0.164              Chernoff bound
      empirical Bernstein        0.136     <= 0.1741             empirical Bernstein bound
      Clopper-Pearson            0.136     <= 0.1551             Clopper-Pearson bound
      VC, training rows          0.1475    <= 0.2982             VC bound
      Rademacher, training rows  0.1475    <= 0.5237             Rademacher margin bound
    """
    found: dict[str, RiskEstimate] = {}
    notes: list[str] = []

    def add(name: str, bound: Callable[..., Bound], *given: Any, **options: Any) -> None:
        try:
            found[name] = bound(*given, level=level, **options)
        except EmpiriskError as refusal:
            notes.append(f"{name}: {refusal}.")

    for name, bound in BOUNDS.items():
        options = {} if name == "clopper_pearson" else {"loss_range": loss_range}
        add(NAMES[name], bound, estimate, sides=sides, **options)
    if model is not None and larger_is_better(estimate):
        notes.append(f"VC and Rademacher bound the 0-1 risk, and this is the {estimate.loss}.")
    elif model is not None:
        add("VC, training rows", vc, model, X, y, sides=sides or "upper")
        if sides in (None, "upper"):
            add("Rademacher, training rows", rademacher, model, X, y, random_state=random_state)
    if not found:
        raise ParameterError(f"no bound applies: {' '.join(notes)}")
    sharpest = min(found, key=lambda name: _width(found[name]))
    alone = " Each bound has its level alone, not the sharpest of them." * (len(found) > 1)
    notes.insert(0, f"The sharpest is {sharpest}. {found[sharpest].sentence}{alone}")
    return SideBySide(found, tuple(notes), f"{estimate.quantity}, bounds at {100 * level:g} %")


def _width(bound: RiskEstimate) -> float:
    assert bound.interval is not None
    return bound.interval[1] - bound.interval[0]


NAMES = {
    "hoeffding": "Hoeffding",
    "chernoff": "Chernoff",
    "empirical_bernstein": "empirical Bernstein",
    "clopper_pearson": "Clopper-Pearson",
}
