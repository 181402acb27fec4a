"""Strength of the members of a bagged ensemble and the correlation between them (Breiman 2001).

Classes: the margin of a row is mr = P(h = y) - max_j P(h = j), j another class, over members h; of
one member it is 1[h = y] - 1[h = j*] with the same j*. The strength s is the mean margin, and

    rho = Var(mr) / (mean over members of the standard deviation of their margins)^2,

so that the risk of the vote is at most rho (1 - s^2)/s^2 where s > 0. Numbers: a member errs by
y - h, and with the root d_b of the mean square of member b's errors

    rho = E (y - mean h)^2 / (mean d_b)^2,   risk of the mean <= rho times mean risk of a member.

All are taken over rows that a member did not draw. A row has but some members out of bag: what
their choice adds to squares of means is taken off, so that rho does not depend on their number; an
estimate of a rho near 0 may be negative.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils.validation import _num_samples, check_is_fitted

from empirisk.charts.bias_variance import draw_parts
from empirisk.charts.margins import draw_margins
from empirisk.risk.bagging.members_out_of_bag import (
    OutOfBagSums,
    classes_out_of_bag,
    numbers_out_of_bag,
)
from empirisk.risk.bagging.out_of_bag import bagged_problem
from empirisk.risk.decomposition.group_sums import jackknife_error
from empirisk.risk.predictor import name_of
from empirisk.runtime.arrays import Floats
from empirisk.runtime.digits import give_or_take
from empirisk.runtime.errors import ParameterError


@dataclass(frozen=True, eq=False)
class ClassifierStrength:
    """How good the members of a bagged classifier are, and how much alike.

    Attributes
    ----------
    strength : float
        The mean margin: by which share of the votes the true class leads.
    correlation : float
        The mean correlation of the margins of two members.
    bound : float
        rho (1 - s^2)/s^2, on the risk of the vote of very many members; infinite unless s > 0. It
        is above 1, and says nothing, for many good ensembles.
    risk, member_risk : float
        The 0-1 risk of the vote, and the mean 0-1 risk of a member, out of bag.
    standard_error : dict of str to float
        Of each of these, over rows: a jackknife that leaves out groups of them.
    margins : array
        Of each row that some member did not draw.
    n_members : int
    ensemble : str

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from empirisk import RandomForestClassifier, risk
    >>> X, y = load_iris(return_X_y=True)
    >>> found = risk.strength(RandomForestClassifier(50, random_state=0).fit(X, y), X, y)
    >>> bool(found.strength > 0.8), bool(found.risk <= found.bound)
    (True, True)
    """

    strength: float
    correlation: float
    bound: float
    risk: float
    member_risk: float
    standard_error: dict[str, float]
    margins: Floats
    n_members: int
    ensemble: str

    @property
    def sentence(self) -> str:
        """The findings in words that can be read out."""
        error = self.standard_error
        said = f"{self.bound:.3g}" if self.bound <= 1 else f"{self.bound:.3g}, which is no limit"
        strength = give_or_take(self.strength, error["strength"])
        correlation = give_or_take(self.correlation, error["correlation"])
        return (
            f"The {self.n_members} members of {self.ensemble} have strength {strength} and "
            f"correlation {correlation}; out of bag, one member has the 0-1 risk "
            f"{self.member_risk:.3g} and the vote {self.risk:.3g} (the bound of Breiman: {said})."
        )

    def __str__(self) -> str:
        return self.sentence

    def plot(self, ax: Any = None) -> Any:
        """The margins of the rows, and their mean, the strength; wrong where below 0."""
        return draw_margins(self.margins, self.strength, ax=ax)


@dataclass(frozen=True, eq=False)
class RegressorStrength:
    """How good the members of a bagged regressor are, and how much alike their errors.

    Attributes
    ----------
    member_risk : float
        The mean squared error of a member: small where the members are strong.
    correlation : float
        The mean correlation of the errors y - h of two members.
    bound : float
        Correlation times member_risk: the risk of the mean of very many members is at most that.
    risk : float
        The squared error of the mean of the members out of bag, some 37 % of all.
    standard_error : dict of str to float
        Of each of these, over rows: a jackknife that leaves out groups of them.
    n_members : int
    ensemble : str

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from empirisk import RandomForestRegressor, risk
    >>> X, y = load_diabetes(return_X_y=True)
    >>> found = risk.strength(RandomForestRegressor(50, random_state=0).fit(X, y), X, y)
    >>> bool(found.risk < found.member_risk), bool(0 < found.correlation < 1)
    (True, True)
    """

    member_risk: float
    correlation: float
    bound: float
    risk: float
    standard_error: dict[str, float]
    n_members: int
    ensemble: str

    @property
    def sentence(self) -> str:
        """The findings in words that can be read out."""
        error = self.standard_error
        one = give_or_take(self.member_risk, error["member_risk"], 4)
        correlation = give_or_take(self.correlation, error["correlation"])
        return (
            f"One of the {self.n_members} members of {self.ensemble} has the squared risk {one} "
            f"out of bag, and the errors of two correlate by {correlation}, so the mean of very "
            f"many has at most {self.bound:.4g}; that of those at hand has "
            f"{give_or_take(self.risk, error['risk'], 4)}."
        )

    def __str__(self) -> str:
        return self.sentence

    def plot(self, ax: Any = None) -> Any:
        """The risk of a member, the bound, and the risk of the mean."""
        words = {"one member": "member_risk", "bound, very many": "bound", "mean": "risk"}
        return draw_parts(
            {word: getattr(self, name) for word, name in words.items()},
            {word: self.standard_error[name] for word, name in words.items()},
            label=f"squared risk of {self.ensemble}, out of bag",
            ax=ax,
        )


def strength(
    ensemble: Any,
    X: Any,
    y: Any,
    *,
    sample_weight: Any = None,
    groups: Any = None,
    n_jobs: int | None = None,
) -> ClassifierStrength | RegressorStrength:
    """Strength and correlation of the members of a fitted ensemble, from out-of-bag rows.

    An aggregate is good where its members are good and their mistakes are not the same ones.

    Parameters
    ----------
    ensemble : fitted estimator
        Ours or scikit-learn's: bagging, or a random forest. Members of a classifier vote.
    X, y
        The rows it was fitted on, in the same order.
    sample_weight : array, optional
        How much each row counts.
    groups : array, optional
        Rows that belong together: a row is then judged by the members that drew none of its group.
    n_jobs : int, optional

    Returns
    -------
    ClassifierStrength or RegressorStrength

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.ensemble import RandomForestClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> print(strength(RandomForestClassifier(200, random_state=0).fit(X, y), X, y))
    The 200 members of RandomForestClassifier have strength 0.88 ± 0.03 and correlation 0.6... ±
    ...; out of bag, one member has the 0-1 risk 0.05... and the vote 0.05... (the bound of Breiman:
    0.1...).
    """
    check_is_fitted(ensemble)
    problem = bagged_problem(ensemble, X, y, None, sample_weight, groups)
    n, name = _num_samples(y), name_of(ensemble)
    if len(getattr(ensemble, "estimators_samples_", (0, 1))) < 2:
        raise ParameterError(
            f"{name} has 1 member, and correlations are those of two: fit more (n_estimators)"
        )
    if problem.classes is not None:
        return _of_classifier(classes_out_of_bag(ensemble, problem, n, n_jobs), name)
    return _of_regressor(numbers_out_of_bag(ensemble, problem, n, n_jobs), name)


def _of_classifier(sums: OutOfBagSums, name: str) -> ClassifierStrength:
    found, errors = _with_errors(sums, _of_margins)
    return ClassifierStrength(
        **found,
        standard_error=errors,
        margins=sums.means,
        n_members=sums.of_members.shape[2],
        ensemble=name,
    )


def _of_regressor(sums: OutOfBagSums, name: str) -> RegressorStrength:
    found, errors = _with_errors(sums, _of_residuals)
    for each in (found, errors):
        for risk in ("member_risk", "bound", "risk"):
            each[risk] = each[risk] * sums.unit * sums.unit
    return RegressorStrength(
        **found, standard_error=errors, n_members=sums.of_members.shape[2], ensemble=name
    )


def _with_errors(sums: OutOfBagSums, statistics: Any) -> tuple[dict[str, float], dict[str, float]]:
    """The statistics of all rows, and their errors by leaving out each group of rows."""
    all_rows, of_members = sums.of_rows.sum(axis=0), sums.of_members.sum(axis=0)
    found = statistics(all_rows, of_members)
    without = [
        statistics(all_rows - rows, of_members - members)
        for rows, members in zip(sums.of_rows, sums.of_members, strict=True)
    ]
    with np.errstate(invalid="ignore"):  # infinite bounds have no error
        errors = {
            key: float(jackknife_error(np.array([each[key] for each in without]))) for key in found
        }
    return found, {key: np.inf if np.isnan(error) else error for key, error in errors.items()}


def _of_margins(rows: Floats, members: Floats) -> dict[str, float]:
    """From sums of weight, margin, squared margin and mistakes; of members, hits and rivals."""
    weight, margin, square, wrong = rows
    s = margin / weight
    seen, hits, rivals = members[:, members[0] > 0]
    p, q = hits / seen, rivals / seen
    deviation = np.sqrt(np.maximum(p + q - (p - q) ** 2, 0.0)).mean()
    rho = (square / weight - s**2) / deviation**2 if deviation > 0 else 0.0
    return {
        "strength": float(s),
        "correlation": float(rho),
        "bound": float(max(rho, 0.0) * (1 - s**2) / s**2) if s > 0 else np.inf,
        "risk": float(wrong / weight),
        "member_risk": float(1 - (hits.sum() / seen.sum())),
    }


def _of_residuals(rows: Floats, members: Floats) -> dict[str, float]:
    """From sums of weight, squared mean error and that corrected; of members, squared errors."""
    weight, square, corrected = rows
    seen, squares = members[:, members[0] > 0]
    mean_square = squares / seen
    root = np.sqrt(mean_square).mean()
    rho = corrected / weight / root**2 if root > 0 else 0.0
    return {
        "member_risk": float(mean_square.mean()),
        "correlation": float(rho),
        "bound": float(max(rho, 0.0) * mean_square.mean()),
        "risk": float(square / weight),
    }
