"""Measures of classifiers, each with an interval."""

import numpy as np
from sklearn.metrics import roc_auc_score

from benchmarks.case import Case, Quality, Target, benchmark
from empirisk.risk.measures import auc

RESAMPLES = 200  # the fewest that an interval from standard errors is taken from


@benchmark("auc_interval", target=Target(ratio=50), peer_repeats=1)
def auc_interval(quick: bool) -> Case:
    """AUC with its interval at 100,000 rows beside the bootstrap of scikit-learn's AUC."""
    n = 1_000 if quick else 100_000
    rng = np.random.default_rng(0)
    y = rng.integers(2, size=n)
    score = rng.standard_normal(n) + y

    def bootstrap() -> tuple[float, float]:
        draw = np.random.default_rng(1)
        resamples = (draw.integers(n, size=n) for _ in range(RESAMPLES))
        areas = [roc_auc_score(y[rows], score[rows]) for rows in resamples]
        return float(roc_auc_score(y, score)), float(np.std(areas))

    return Case(
        size=f"{n:,} rows, {RESAMPLES} resamples",
        ours=lambda: auc(y, score),
        peers={"bootstrap of roc_auc_score": bootstrap},
        quality=Quality(
            "relative difference of standard errors; areas equal",
            0.25,  # 200 resamples tell a standard error to 5 %; five times that
            lambda ours, peer: (
                abs(ours.standard_error / peer[1] - 1)
                if abs(ours.value - peer[0]) < 1e-12  # the same rank statistic
                else np.inf
            ),
        ),
    )
