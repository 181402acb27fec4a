"""Random forests beside scikit-learn's and R's ranger: 100 trees, fully grown, two threads each.

What must be equal is how well they predict new rows: the draws differ.
"""

import subprocess
from dataclasses import replace
from pathlib import Path
from shutil import which
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import sklearn.ensemble as peers
from sklearn.datasets import load_digits

from benchmarks.case import Case, Quality, Target, benchmark
from benchmarks.trees import COVERTYPE, LIBRARIES, covertype, smooth_data
from empirisk import RandomForestClassifier, RandomForestRegressor, read_table
from empirisk.runtime.arrays import Array

SERVER = Path(__file__).with_name("ranger_server.R")
HAS_RANGER = which("Rscript") and any(Path(folder, "ranger").exists() for folder in LIBRARIES)
CALIFORNIA = COVERTYPE.with_name("california_housing.parquet")
JOBS: dict[str, Any] = {"n_jobs": 2, "random_state": 0}


def forest_case(X: Array, y: Array, new: Array, target: Array) -> Case:
    """Both are fitted on rows (X, y); what they predict of new rows must be as good."""
    regression = y.dtype.kind == "f"
    ours: Any = RandomForestRegressor if regression else RandomForestClassifier
    peer = getattr(peers, ours.__name__)
    return Case(
        size=f"{len(X):,} x {X.shape[1]}, 100 trees",
        ours=lambda: ours(100, **JOBS).fit(X, y),
        peers={"scikit-learn": lambda: peer(100, **JOBS).fit(X, y)},
        quality=Quality(
            "score on new rows below the peer's",
            1.5 / len(X) ** 0.5,  # the draws differ
            lambda a, b: float(b.score(new, target) - a.score(new, target)),
        ),
        peer_threads=(1,),
    )


def classes(n: int, p: int, *, few: bool = False) -> Case:
    """Two classes by the median of a smooth signal."""
    X, y = smooth_data(n, p, few=few)
    new, target = smooth_data(20_000, p, few=few, seed=1)
    return forest_case(X, y > 0, new, target > 0)


@benchmark("forest_20", target=Target(ratio=6), peer_repeats=2)
def forest_20(quick: bool) -> Case:
    """A forest for two classes, 20,000 x 30 floats."""
    return classes(1_000 if quick else 20_000, 30)


@benchmark("forest_100", target=Target(ratio=6), peer_repeats=1)
def forest_100(quick: bool) -> Case:
    """A forest for two classes, 100,000 x 30 floats."""
    return classes(1_000 if quick else 100_000, 30)


@benchmark("forest_integers", target=Target(ratio=3.5), peer_repeats=1)
def forest_integers(quick: bool) -> Case:
    """A forest for two classes, 100,000 x 50 integers of 20 values."""
    return classes(1_000 if quick else 100_000, 50, few=True)


@benchmark("forest_digits", target=Target(ratio=5))
def forest_digits(quick: bool) -> Case:
    """A forest for ten classes: digits, 1,797 x 64; half of them are fitted for the quality."""
    X, y = load_digits(return_X_y=True)
    half = np.arange(len(y)) % 2 == 0
    case = forest_case(X, y, X, y)

    def below(ours: Any, peer: Any) -> float:
        """The mean over ten seeds: of 900 new rows and 100 trees the standard error is 0.001."""
        scores = [
            [
                kind(100, n_jobs=2, random_state=seed)
                .fit(X[half], y[half])
                .score(X[~half], y[~half])
                for kind in (type(ours), type(peer))
            ]
            for seed in range(10)
        ]
        own, theirs = np.mean(scores, axis=0)
        return float(theirs - own)

    return Case(
        case.size, case.ours, case.peers, Quality("mean score below the peer's", 0.004, below), (1,)
    )


@benchmark("forest_covertype", target=Target(ratio=5), peer_repeats=1)
def forest_covertype(quick: bool) -> Case:
    """A forest for seven classes: Covertype, 581,012 x 54 (made-up integers without it).

    All rows are fitted and timed; quality is that of 20 trees without every twentieth row.
    """
    X, y = covertype(quick)
    new = np.random.default_rng(0).permutation(len(X)) < len(X) // 20

    def below(ours: Any, peer: Any) -> float:
        own, theirs = (
            kind(20, **JOBS).fit(X[~new], y[~new]).score(X[new], y[new])
            for kind in (type(ours), type(peer))
        )
        return float(theirs - own)

    case = forest_case(X, y, X, y)
    return replace(case, quality=replace(case.quality, difference=below))


@benchmark("forest_regression", target=Target(ratio=4), peer_repeats=1)
def forest_regression(quick: bool) -> Case:
    """A regression forest of all features, 100,000 x 30 floats: the peer takes minutes."""
    n, p = (1_000, 6) if quick else (100_000, 30)
    X, y = smooth_data(n, p)
    new, target = smooth_data(20_000, p, seed=1)
    return forest_case(X, y, new, target)


@benchmark("forest_california", target=Target(ratio=4))
def forest_california(quick: bool) -> Case:
    """A regression forest on California housing, 20,640 x 8 (made-up numbers without it)."""
    if CALIFORNIA.exists() and not quick:
        table = read_table(CALIFORNIA)
        Z = np.column_stack([table[name].numbers() for name in table.names]).astype(float)
        X, y = Z[:, :-1], Z[:, -1]
    else:
        X, y = smooth_data(1_000, 8)
    new = np.arange(len(y)) % 10 == 0
    return forest_case(X[~new], y[~new], X[new], y[new])


def prediction(quick: bool, n_jobs: int) -> Case:
    """100 trees of 20,000 rows predict 200,000."""
    n, m = (1_000, 2_000) if quick else (20_000, 200_000)
    X, y = smooth_data(n, 30)
    new, target = smooth_data(m, 30, seed=1)
    truth = np.eye(2)[(target > 0).astype(int)]
    ours = RandomForestClassifier(100, **JOBS).fit(X, y > 0).set_params(n_jobs=n_jobs)
    peer = peers.RandomForestClassifier(100, **JOBS).fit(X, y > 0).set_params(n_jobs=n_jobs)
    return Case(
        size=f"{m:,} x 30, 100 trees",
        ours=lambda: ours.predict_proba(new),
        peers={"scikit-learn": lambda: peer.predict_proba(new)},
        quality=Quality(
            "mean squared error of probabilities above the peer's",
            1.5 / n**0.5,
            lambda a, b: float(np.square(a - truth).mean() - np.square(b - truth).mean()),
        ),
        peer_threads=(1,),
    )


@benchmark("forest_prediction", target=Target(ratio=1.2))
def forest_prediction(quick: bool) -> Case:
    """A forest of 100 trees predicts 200,000 rows, one thread each."""
    return prediction(quick, 1)


@benchmark("forest_prediction_two", target=Target(ratio=1.2))
def forest_prediction_two(quick: bool) -> Case:
    """A forest of 100 trees predicts 200,000 rows, two threads each."""
    return prediction(quick, 2)


@benchmark("forest_out_of_bag", target=Target(ratio=0.91))
def forest_out_of_bag(quick: bool) -> Case:
    """What out-of-bag risk, and its curve for every number of trees, add to a fit: up to 10 %."""
    X, y = smooth_data(1_000 if quick else 20_000, 30)
    plain = RandomForestClassifier(100, **JOBS)
    judged = RandomForestClassifier(100, oob_score=True, **JOBS)
    return Case(
        size=f"{len(X):,} x 30, 100 trees",
        ours=lambda: judged.fit(X, y > 0),
        peers={"without": lambda: plain.fit(X, y > 0)},
        quality=Quality(
            "points of the curve that are missing", 0, lambda a, b: 100 - len(a.risk_curve_.risk)
        ),
        peer_threads=(1,),
    )


class Ranger:
    """An R process that has the data and waits; a call is one forest of ranger."""

    def __init__(self, X: Array, y: Array, new: Array, target: Array) -> None:
        self.folder = TemporaryDirectory()
        table = np.column_stack([np.append(y, target), np.vstack([X, new])]).astype(float)
        table.T.tofile(f"{self.folder.name}/data.bin")
        sizes = map(str, (*X.shape, len(new)))
        self.process = subprocess.Popen(
            ["Rscript", SERVER, self.folder.name, *sizes],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def ask(self, line: str) -> float:
        """What R answers."""
        assert self.process.stdin
        assert self.process.stdout
        print(line, file=self.process.stdin, flush=True)
        return float(self.process.stdout.readline())

    def __call__(self) -> "Ranger":
        self.ask("fit")
        return self

    def __del__(self) -> None:
        self.process.communicate()
        self.folder.cleanup()


def forest_ranger(quick: bool) -> Case:
    """A forest for two classes, 20,000 x 30 floats, beside R's ranger, which is compiled C++."""
    X, y = smooth_data(1_000 if quick else 20_000, 30)
    new, target = smooth_data(20_000, 30, seed=1)
    ranger = Ranger(X, y > 0, new, target > 0)
    return Case(
        size=f"{len(X):,} x 30, 100 trees",
        ours=lambda: RandomForestClassifier(100, **JOBS).fit(X, y > 0),
        peers={"ranger": ranger},
        quality=Quality(
            "score on new rows below the peer's",
            1.5 / len(X) ** 0.5,
            lambda a, b: b.ask("score") - a.score(new, target > 0),
        ),
        peer_threads=(1,),
    )


if HAS_RANGER:
    benchmark("forest_ranger", target=Target(ratio=2))(forest_ranger)
