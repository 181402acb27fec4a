"""The members of a fitted bagged ensemble at any rows, not those of the fit alone."""

from typing import Any

import numpy as np
from sklearn.base import is_classifier
from sklearn.utils.validation import _num_samples, check_is_fitted

from empirisk.losses import default_loss
from empirisk.risk.bagging.members import BaggedMembers
from empirisk.risk.predictor import name_of
from empirisk.risk.problem import Problem
from empirisk.runtime.arrays import Array, Floats
from empirisk.runtime.errors import ParameterError


def members_at(ensemble: Any, X: Any, classes: Array | None = None) -> BaggedMembers:
    """The members of an ensemble, to predict the rows of X.

    Probabilities have a column for each of `classes`, by default the ensemble's own.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.ensemble import BaggingRegressor
    >>> X, y = np.arange(6.0)[:, None], np.arange(6.0)
    >>> members = members_at(BaggingRegressor(random_state=0).fit(X, y), [[2.0], [9.0]])
    >>> len(members), members.counts(0).sum(), members.scores(0, np.arange(2)).shape
    (10, np.int64(6), (2,))
    """
    check_is_fitted(ensemble)
    _refuse_several_labels(ensemble)
    classifier = is_classifier(ensemble)
    if classifier and classes is None:
        classes = np.asarray(ensemble.classes_)
    problem = Problem(
        X=X if hasattr(X, "shape") or hasattr(X, "__arrow_c_stream__") else np.asarray(X),
        y=None,
        target=None,
        classes=classes,
        weight=np.ones(_num_samples(X)),
        weighted=False,
        groups=None,
        loss=default_loss(classifier),
    )
    return BaggedMembers.of(ensemble, problem, rows_of_fit(ensemble))


def rows_of_fit(ensemble: Any) -> int:
    """How many rows an ensemble was fitted on, as it tells.

    Where it does not tell: as many as a member drew, if that is the default, or as far as any drew.
    """
    told = getattr(ensemble, "_n_samples", None)
    if told is not None:
        return int(told)
    samples = list(getattr(ensemble, "estimators_samples_", []))
    far = 1 + max((int(np.max(sample, initial=-1)) for sample in samples), default=-1)
    share = getattr(ensemble, "max_samples", None)
    as_many = share is None or (isinstance(share, float) and share == 1.0)
    return max(far, len(samples[0])) if samples and as_many else far


def predictions(members: BaggedMembers, block: slice, rows: Array) -> Floats:
    """Those of a block of members: (members, rows), with a last axis for outputs or classes."""
    return np.stack([members.scores(b, rows) for b in range(len(members))[block]])


def _refuse_several_labels(ensemble: Any) -> None:
    if is_classifier(ensemble) and isinstance(ensemble.classes_, list):
        raise ParameterError(
            f"{name_of(ensemble)} was fitted to {len(ensemble.classes_)} labels a row: fit one "
            "ensemble for each of them"
        )
