"""Correct digits of least squares on the linear data sets that NIST certifies.

The digits of a coefficient are -log10 of its relative error, between 0 and 15, as many as NIST
certifies; those of a data set are the digits of its worst coefficient.
"""

import json
import traceback
import warnings
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import sklearn.linear_model as peers

from empirisk import LinearRegression
from empirisk.runtime.arrays import Floats

DATA = Path(__file__).resolve().parents[1] / "tests" / "reference" / "nist_linear.json"
CERTIFIED_DIGITS = 15.0
WANTED = {
    "Norris": 13, "Pontius": 13, "Longley": 13, "Wampler1": 13, "Wampler2": 13, "Wampler3": 13,
    "Wampler4": 11, "Wampler5": 9, "Filip": 7,
}  # fmt: skip


@dataclass(frozen=True)
class Digits:
    """Correct digits on one data set, in the order of the outcome's `by`."""

    data: str
    digits: Sequence[float]
    wanted: float | None


@dataclass(frozen=True)
class AccuracyOutcome:
    """A table of correct digits; ours is the first column."""

    name: str
    what: str
    verdict: str
    by: Sequence[str] = ()
    lines: Sequence[Digits] = ()
    decimals: int = 1

    @property
    def failed(self) -> bool:
        """Whether the table could not be made, though its data are there."""
        return self.verdict.startswith("failed")

    def as_dict(self) -> dict[str, Any]:
        """Everything, for the JSON file."""
        return {"kind": "accuracy", **asdict(self)}


@dataclass(frozen=True)
class Accuracy:
    """A named table of correct digits, and how it is made, on small data if asked to be quick."""

    name: str
    about: str
    table: Callable[[bool], AccuracyOutcome]

    def run(self, quick: bool = False) -> AccuracyOutcome:
        """The table, or why there is none."""
        try:
            return self.table(quick)
        except FileNotFoundError as error:
            return AccuracyOutcome(self.name, self.about, f"not run: there is no {error.filename}")
        except Exception as error:
            traceback.print_exc()
            message = f"failed: {type(error).__name__}: {error}"
            return AccuracyOutcome(self.name, self.about, message)


@dataclass(frozen=True)
class CertifiedFit:
    """A design without its column of ones, and the coefficients NIST gives, intercept first."""

    data: str
    X: Floats
    y: Floats
    intercept: bool
    certified: Floats


def nist(quick: bool) -> AccuracyOutcome:
    """Ours, scikit-learn's LinearRegression and NumPy's lstsq on all certified sets, all small."""
    by = {
        "empirisk": lambda fit: estimator_coefficients(LinearRegression, fit),
        "scikit-learn": lambda fit: estimator_coefficients(peers.LinearRegression, fit),
        "NumPy lstsq": lstsq_coefficients,
    }
    lines = [
        Digits(
            fit.data,
            [correct_digits(solve(fit), fit.certified) for solve in by.values()],
            WANTED.get(fit.data),
        )
        for fit in certified_fits(DATA)
    ]
    what = "correct digits of the worst coefficient"
    return AccuracyOutcome("nist", what, accuracy_verdict(lines), list(by), lines)


ACCURACY = {"nist": Accuracy("nist", "Correct digits on NIST's certified linear data sets.", nist)}


def accuracy_verdict(lines: Sequence[Digits]) -> str:
    """Met where each line has the digits wanted of it, else the names of those that miss."""
    short = [line.data for line in lines if line.wanted and not line.digits[0] >= line.wanted]
    return f"missed: {', '.join(short)}" if short else "met"


def correct_digits(found: Floats, certified: Floats) -> float:
    """-log10 of the largest relative error, from 0 to the digits certified.

    >>> round(correct_digits(np.array([1.0, 2.001]), np.array([1.0, 2.0])), 2)
    3.3
    """
    error = np.max(np.abs(found - certified) / np.abs(certified))
    if np.isnan(error):
        return 0.0
    with np.errstate(divide="ignore"):
        return float(np.clip(-np.log10(error), 0.0, CERTIFIED_DIGITS))


def estimator_coefficients(estimator: Any, fit: CertifiedFit) -> Floats:
    """Intercept and slopes from an estimator; a warning about rank is no part of the digits."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = estimator(fit_intercept=fit.intercept).fit(fit.X, fit.y)
    return np.append(model.intercept_, model.coef_) if fit.intercept else model.coef_


def lstsq_coefficients(fit: CertifiedFit) -> Floats:
    """Intercept and slopes from NumPy."""
    ones = np.ones((len(fit.y), int(fit.intercept)))
    return np.linalg.lstsq(np.hstack([ones, fit.X]), fit.y)[0].astype(np.float64)


def certified_fits(file: Path) -> list[CertifiedFit]:
    """The sets with their certified coefficients."""
    sets = json.loads(file.read_text(encoding="utf-8"))["sets"]
    return [certified_fit(name, data) for name, data in sets.items()]


def certified_fit(name: str, data: dict[str, Any]) -> CertifiedFit:
    """One set: its columns, or the powers of its one column in floating-point arithmetic."""
    x = np.array(data["x"], dtype=float).T
    X = x if data["degree"] == 1 else x ** np.arange(1.0, data["degree"] + 1)
    certified = np.array([float(estimate) for estimate in data["estimates"]])
    return CertifiedFit(name, X, np.array(data["y"], dtype=float), data["intercept"], certified)
