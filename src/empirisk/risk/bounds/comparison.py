"""All bounds that apply to the same data, beside each other."""

from typing import Any

from empirisk.risk.bounds.bounded import Range, Sides
from empirisk.risk.bounds.rademacher import rademacher
from empirisk.risk.bounds.union import BOUNDS
from empirisk.risk.bounds.vc import vc
from empirisk.risk.estimate import RiskEstimate
from empirisk.risk.side_by_side import SideBySide
from empirisk.runtime.errors import EmpiriskError, ParameterError


def compare_bounds(
    estimate: RiskEstimate,
    *,
    level: float = 0.95,
    sides: Sides = "upper",
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
        The model and its training rows, for the bounds that need no test rows.
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
      Hoeffding                  0.136     [0, 0.1747]           Hoeffding bound
      Chernoff                   0.136     [0, 0.164]            Chernoff bound
      empirical Bernstein        0.136     [0, 0.1741]           empirical Bernstein bound
      Clopper-Pearson            0.136     [0, 0.1551]           Clopper-Pearson bound
      VC, training rows          0.1475    [0, 0.2982]           VC bound
      Rademacher, training rows  0.1475    [0, 0.5237]           Rademacher margin bound
    """
    found: dict[str, RiskEstimate] = {}
    notes: list[str] = []
    for name, bound in BOUNDS.items():
        options: dict[str, Any] = {"level": level, "sides": sides}
        if name != "clopper_pearson":
            options["loss_range"] = loss_range
        try:
            found[NAMES[name]] = bound(estimate, **options)
        except EmpiriskError as refusal:
            notes.append(f"{NAMES[name]}: {refusal}.")
    if model is not None:
        try:
            found["VC, training rows"] = vc(model, X, y, level=level, sides=sides)
        except EmpiriskError as refusal:
            notes.append(f"VC: {refusal}.")
        try:
            found["Rademacher, training rows"] = rademacher(
                model, X, y, level=level, random_state=random_state
            )
        except EmpiriskError as refusal:
            notes.append(f"Rademacher: {refusal}.")
    if not found:
        raise ParameterError(f"no bound applies: {' '.join(notes)}")
    least = min(found, key=lambda name: found[name].interval[1])  # type: ignore[index]
    notes.insert(0, f"The sharpest is {least}. {found[least].sentence}")
    return SideBySide(found, tuple(notes), f"{estimate.loss} risk, bounds at {100 * level:g} %")


NAMES = {
    "hoeffding": "Hoeffding",
    "chernoff": "Chernoff",
    "empirical_bernstein": "empirical Bernstein",
    "clopper_pearson": "Clopper-Pearson",
}
