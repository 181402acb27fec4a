"""Training errors with a penalty for the degrees of freedom: Cp, AIC, BIC, GCV.

With n rows, df effective degrees of freedom, training error `err` (the mean square of the
residuals, RSS/n, for the squared loss; -log L / n for the log loss of classes):

    Cp = RSS/s^2 - n + 2 df,                  as a risk: err + 2 s^2 df/n       (Mallows 1973)
    GCV = err / (1 - df/n)^2                                          (Craven and Wahba 1979)
    AIC = -2 log L + 2 k,                     as a risk: err exp(2 df/n), or err + df/n
    BIC = -2 log L + k log n,                 as a risk: err exp(df log n/n), or err + df log n/2n

k = df for classes. For numbers it is df + 1, since the variance of the Gaussian errors is estimated
too, by RSS/n, so that -2 log L = n (log(2 pi err) + 1), and exp(AIC/n) is err exp(2 df/n) up to a
constant. s^2 should come from a model that is rich enough; from the residuals of the same fit,
Cp is always df. AIC, BIC and GCV know of the noise by these alone, which is right where a fit
leaves (n - df)/n of it, as linear ones do: of a fit that recites, such as that of a deep tree, they
are too small, and Cp with another s^2 is to be taken.
"""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from empirisk.losses import Log, Squared
from empirisk.risk.estimate import RiskEstimate
from empirisk.risk.penalties.noise_model import Resampling
from empirisk.risk.penalties.optimism import Optimism, check_noise, optimism_of
from empirisk.risk.penalties.training_error import FIXED_ROWS, TrainingFit
from empirisk.risk.problem import Problem
from empirisk.runtime.errors import DataError, ParameterError
from empirisk.runtime.scalars import is_number
from empirisk.runtime.streams import settled
from empirisk.runtime.targets import check_weights

RECITED = 1e-12
"""Residuals that small against y are rounding errors."""
FOR_CHOOSING = "it is for choosing among models, and estimates no risk"


@dataclass(frozen=True, eq=False)
class InformationCriteria:
    """Cp, AIC, BIC and GCV of one fit.

    Attributes
    ----------
    n : float
        Rows; a row of weight w counts as w.
    degrees_of_freedom : float
        Of the predictions, the intercept included.
    log_likelihood : float
        Of Gaussian errors with variance RSS/n, or of the classes.
    aic, bic : float
        On the scale of -2 log L, as R has them.
    cp, gcv : float or None
        Mallows' statistic and generalised cross-validation; None for classes, or where df >= n
        (cp only if s^2 is not known then).
    noise_variance : float or None
        s^2 in Cp.
    estimates : dict of RiskEstimate
        The same criteria on the scale of the loss, by name.

    Examples
    --------
    >>> import numpy as np
    >>> from empirisk import LinearRegression, risk
    >>> X, y = np.arange(8.0)[:, np.newaxis], [1.0, 2.0, 2.0, 4.0, 5.0, 7.0, 6.0, 8.0]
    >>> found = risk.information_criteria(LinearRegression(), X, y, noise_variance=0.5)
    >>> found.degrees_of_freedom, round(found.aic, 2), round(found.bic, 2), round(found.cp, 2)
    (2.0, 20.5, 20.74, 1.74)
    """

    n: float
    degrees_of_freedom: float
    log_likelihood: float
    aic: float
    bic: float
    cp: float | None
    gcv: float | None
    noise_variance: float | None
    estimates: dict[str, RiskEstimate]

    def __str__(self) -> str:
        numbers = {"Cp": self.cp, "AIC": self.aic, "BIC": self.bic, "GCV": self.gcv}
        found = [f"{name} {value:.4f}" for name, value in numbers.items() if value is not None]
        text = f"{self.degrees_of_freedom:.4g} degrees of freedom, n = {self.n:g}, "
        return f"{text}log L {self.log_likelihood:.4f}: {', '.join(found)}"


def information_criteria(
    learner: Any,
    X: Any,
    y: Any,
    *,
    degrees_of_freedom: float | None = None,
    noise_variance: float | None = None,
    sample_weight: Any = None,
    n_resamples: int = 200,
    n_jobs: int | None = None,
    random_state: Any = None,
) -> InformationCriteria:
    """Cp, AIC, BIC and GCV of a regressor, AIC and BIC of a classifier with probabilities.

    Parameters
    ----------
    learner : estimator, ours or not
    X, y : the training rows
    degrees_of_freedom : float, optional
        Unless given, those that `optimism` finds: the trace of the hat matrix of a linear learner;
        of any other by a parametric bootstrap, for classes that of the log loss.
    noise_variance : float, optional
        s^2 in Cp; unless given, that of `optimism`.
    sample_weight : array, optional
        A row of weight w counts as w copies.
    n_resamples, n_jobs, random_state
        As in `optimism`.

    Examples
    --------
    >>> import numpy as np
    >>> from empirisk import LinearRegression
    >>> X = np.arange(8.0)[:, None]
    >>> y = np.array([1.0, 2.0, 2.0, 4.0, 5.0, 7.0, 6.0, 8.0])
    >>> print(information_criteria(LinearRegression(), X, y, noise_variance=0.5))
    2 degrees of freedom, n = 8, log L -7.2497: Cp 1.7381, AIC 20.4993, BIC 20.7376, GCV 0.6376
    """
    problem = Problem.of(learner, X, y, loss=None, sample_weight=sample_weight)
    problem = replace(problem, loss=Squared() if problem.classes is None else Log())
    _refuse_freedom(degrees_of_freedom)
    resampling = Resampling(n_resamples, n_jobs, settled(random_state))
    if degrees_of_freedom is not None and (
        problem.classes is not None or noise_variance is not None
    ):
        fit = TrainingFit.of(learner, problem, resampling.seed)
        return criteria(fit, degrees_of_freedom, noise_variance)
    found = optimism_of(learner, problem, "auto", noise_variance, resampling)
    fit = TrainingFit.of(learner, problem, resampling.seed)
    return criteria_of(fit, found, degrees_of_freedom)


def smoother_criteria(
    hat_matrix: Any,
    y: Any,
    *,
    noise_variance: float | None = None,
    sample_weight: Any = None,
) -> InformationCriteria:
    """Cp, AIC, BIC and GCV of any linear smoother, prediction = H y.

    Parameters
    ----------
    hat_matrix : array of shape (n, n)
    y : array of shape (n,)
    noise_variance : float, optional
        Unless given, the residual sum of squares over n less the trace of H.
    sample_weight : array, optional

    Examples
    --------
    >>> y = np.array([0.0, 1.0, 5.0, 7.0])
    >>> pairs = np.kron(np.eye(2), np.full((2, 2), 0.5))
    >>> print(smoother_criteria(pairs, y))
    2 degrees of freedom, n = 4, log L -4.7357: Cp 2.0000, AIC 15.4715, BIC 13.6304, GCV 2.5000
    """
    y = np.asarray(y, dtype=float)
    H = np.asarray(hat_matrix, dtype=float)
    if y.ndim != 1 or H.shape != (len(y), len(y)):
        raise DataError(f"H has shape {H.shape} and y {y.shape}; wanted (n, n) and (n,)")
    if not (np.isfinite(H).all() and np.isfinite(y).all()):
        raise DataError("H or y has values that are NaN or infinite")
    weight = check_weights(sample_weight, len(y))
    prediction, loss = H @ y, Squared()
    problem = Problem(None, y, y, None, weight, sample_weight is not None, None, loss)
    fit = TrainingFit(problem, prediction, loss(y, prediction))
    return criteria(fit, float(np.trace(H)), noise_variance)


def criteria_of(
    fit: TrainingFit, found: Optimism, degrees_of_freedom: float | None
) -> InformationCriteria:
    """From the optimism that was found, or other degrees of freedom than its own."""
    if degrees_of_freedom is None:
        degrees_of_freedom = found.degrees_of_freedom
    if degrees_of_freedom is None:
        raise DataError("y shows no noise, so the degrees of freedom are not known: give them")
    return criteria(fit, degrees_of_freedom, found.noise_variance)


def criteria(fit: TrainingFit, df: float, noise_variance: float | None) -> InformationCriteria:
    """All criteria of a fit to numbers (squared loss) or to classes (log loss)."""
    n, error = fit.n, fit.error
    gaussian = fit.problem.classes is None
    check_noise(noise_variance)
    if gaussian:
        _refuse_no_likelihood(fit)
    log_likelihood = -n / 2 * (np.log(2 * np.pi * error) + 1) if gaussian else -n * error
    k = df + gaussian
    cp = gcv = None
    if gaussian and df < n:
        gcv = error / (1 - df / n) ** 2
        if noise_variance is None:
            noise_variance = error * n / (n - df)
    if gaussian and noise_variance:
        cp = n * error / noise_variance - n + 2 * df
    return InformationCriteria(
        n=n,
        degrees_of_freedom=df,
        log_likelihood=float(log_likelihood),
        aic=float(-2 * log_likelihood + 2 * k),
        bic=float(-2 * log_likelihood + k * np.log(n)),
        cp=cp,
        gcv=gcv,
        noise_variance=noise_variance,
        estimates=_estimates(fit, df, noise_variance),
    )


def _estimates(
    fit: TrainingFit, df: float, noise_variance: float | None
) -> dict[str, RiskEstimate]:
    n, error = fit.n, fit.error

    def risk(value: float, method: str, reason: str = FIXED_ROWS) -> RiskEstimate:
        return fit.estimate(value - error, method, reason)

    if fit.problem.classes is not None:
        return {
            "AIC": risk(error + df / n, "AIC: training error + df/n"),
            "BIC": risk(
                error + df * np.log(n) / (2 * n),
                "BIC: training error + df log n / 2n",
                FOR_CHOOSING,
            ),
        }
    found = {}
    if noise_variance is not None:
        found["Cp"] = risk(error + 2 * noise_variance * df / n, "Cp: training error + 2 s^2 df/n")
    found["AIC"] = risk(error * np.exp(2 * df / n), "AIC: training error times exp(2 df/n)")
    found["BIC"] = risk(
        error * np.exp(df * np.log(n) / n),
        "BIC: training error times exp(df log n / n)",
        FOR_CHOOSING,
    )
    if df < n:
        found["GCV"] = risk(error / (1 - df / n) ** 2, "GCV: training error / (1 - df/n)^2")
    return found


def _refuse_no_likelihood(fit: TrainingFit) -> None:
    assert fit.problem.target is not None
    size = float(np.abs(fit.problem.target).max())
    if not RECITED * size < np.sqrt(fit.error) < np.inf:
        raise DataError(
            f"the mean square of the residuals is {fit.error:.3g}: a fit that recites its rows, or "
            "overflows, has no likelihood"
        )


def _refuse_freedom(df: float | None) -> None:
    if df is not None and not (is_number(df) and df >= 0):
        raise ParameterError(f"degrees_of_freedom is {df!r}; give a number >= 0")
