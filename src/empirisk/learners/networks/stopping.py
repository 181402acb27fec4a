"""When training ends: after all epochs, or when neither loss nor score gets better."""

import warnings
from typing import Any

import numpy as np
from sklearn.model_selection import train_test_split

from empirisk.learners.networks.settings import Settings
from empirisk.runtime.arrays import Floats, Ints
from empirisk.runtime.errors import ConvergenceWarning, DataError
from empirisk.runtime.streams import seed32

LEAST_RATE = 1e-6
"""Of an adaptive learning rate."""


class Patience:
    """Counts epochs in which the training loss, or the score of held-out rows, hardly improved.

    An epoch counts where the loss is not below the best so far by more than `tol`, as in
    scikit-learn.
    """

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.best, self.idle = np.inf, 0

    def is_out(self, cost: float) -> bool:
        """Look at the cost after an epoch; whether too many have passed."""
        self.idle = self.idle + 1 if cost > self.best - self.settings.tol else 0
        self.best = min(self.best, cost)
        patience = self.settings.n_iter_no_change
        return patience is not None and self.idle > patience

    def start_again(self) -> None:
        """Count from 0."""
        self.idle = 0


def set_aside(y: Floats, settings: Settings, n_classes: int, seed: int) -> tuple[Ints, Ints]:
    """Rows to train on, and rows to judge by: classes keep their shares."""
    rows = np.arange(len(y))
    if n_classes:
        _refuse_rare(np.bincount(y[:, 0].astype(np.int64)), settings.validation_fraction)
    try:
        train, judged = train_test_split(
            rows,
            test_size=settings.validation_fraction,
            stratify=y[:, 0] if n_classes else None,
            random_state=seed32(seed),
        )
    except ValueError as error:
        raise DataError(
            f"early_stopping cannot set rows aside ({error}): switch it off, or change "
            "validation_fraction"
        ) from error
    if n_classes and len(np.unique(y[train])) < n_classes:
        raise DataError("early_stopping would hold out all rows of a class: switch it off")
    return np.sort(train), np.sort(judged)


def _refuse_rare(counts: Ints, share: float) -> None:
    """Classes that cannot be on both sides."""
    rare, n, K = int(counts.argmin()), int(counts.sum()), len(counts)
    aside = int(np.ceil(share * n))
    if counts[rare] < 2:
        raise DataError(
            "early_stopping sets rows of every class aside, and there is one row only of class "
            f"{rare + 1} of {K}, in the order of `classes_`: switch it off, or leave that class out"
        )
    if aside < K or n - aside < K:
        raise DataError(
            f"early_stopping sets rows of every class aside, and with validation_fraction={share} "
            f"{aside} of {n} rows, too few or too many for {K} classes: switch it off, or change it"
        )


def warn_if_cut_short(learner: Any, ending: str) -> None:
    """Say so, to whoever called `fit`, where a limit ended a training that looks at its loss."""
    if ending == "converged" or learner.n_iter_no_change in (None, np.inf):
        return
    what = "epochs" if ending == "max_iter" else "evaluations"
    warnings.warn(
        f"{type(learner).__name__} was trained for {ending} = {getattr(learner, ending)} {what}, "
        "and its loss still fell: allow more, or choose the epochs by Tuned(...), or say "
        "n_iter_no_change=None if so many are meant",
        ConvergenceWarning,
        stacklevel=3,
    )
