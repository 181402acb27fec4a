"""Decision trees beside scikit-learn's and R's rpart.

Of equal splits scikit-learn takes one at random, so deep trees differ in small nodes: what must be
equal is how well they predict new rows.
"""

import subprocess
from dataclasses import replace
from pathlib import Path
from shutil import which
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import sklearn.tree as peers
from scipy.special import ndtri
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, KFold, PredefinedSplit

from benchmarks.case import Case, Quality, Target, benchmark
from empirisk import DecisionTreeClassifier, DecisionTreeRegressor, Tuned, read_table
from empirisk.runtime.arrays import Array, Floats

COVERTYPE = Path(__file__).resolve().parents[2] / "shared" / "data" / "covertype.parquet"
SERVER = Path(__file__).with_name("rpart_server.R")
LIBRARIES = ("/usr/lib/R/library", "/usr/lib/R/site-library", "/usr/local/lib/R/site-library")
HAS_RPART = which("Rscript") and any(Path(folder, "rpart").exists() for folder in LIBRARIES)


def smooth_data(n: int, p: int, *, few: bool = False, seed: int = 0) -> tuple[Floats, Floats]:
    """A curve, a wave and a product of features, with noise; floats or integers 0..19.

    The features that matter are the last: of equal splits ours takes the first feature, and must
    not be helped by that. Values are normal quantiles, apart by more than 1e-7: scikit-learn does
    not split between closer ones.
    """
    rng = np.random.default_rng(seed)
    places = np.column_stack([rng.permutation(n) for _ in range(p)])
    X = ndtri((places + rng.uniform(0.25, 0.75, size=(n, p))) / n)
    signal = X[:, -1] + np.sin(2 * X[:, -2]) + X[:, -3] * X[:, -4]
    if few:
        X = np.clip(np.round(4 * X + 10), 0, 19)
    return X, signal + rng.normal(size=n)


def covertype(quick: bool) -> tuple[Array, Array]:
    """The integers of Covertype and its seven classes; made-up ones without it."""
    if COVERTYPE.exists() and not quick:
        table = read_table(COVERTYPE)
        cells = np.column_stack([table[name].numbers() for name in table.names]).astype(np.int16)
        return cells[:, :-1], cells[:, -1]
    X, signal = smooth_data(3_000, 8, few=True)
    return X, np.digitize(signal, [-2, -1, 0, 1, 2, 3])


def fit_case(ours: Any, peer: Any, X: Array, y: Array, new: Array, target: Array) -> Case:
    """Both are fitted on rows (X, y); what they predict of new rows must be as good."""
    return Case(
        size=f"{len(X):,} x {X.shape[1]}",
        ours=lambda: ours.fit(X, y),
        peers={"scikit-learn": lambda: peer.fit(X, y)},
        quality=Quality(
            "score on new rows below the peer's",
            0.02,  # of 20,000 new rows and trees that differ where splits are equal
            lambda a, b: float(b.score(new, target) - a.score(new, target)),
        ),
        peer_threads=(1,),
    )


@benchmark("tree_classes", target=Target(ratio=3), peer_repeats=1)
def tree_classes(quick: bool) -> Case:
    """One deep tree for two classes, 100,000 x 30 floats."""
    n, p = (3_000, 6) if quick else (100_000, 30)
    X, y = smooth_data(n, p)
    new, target = smooth_data(20_000, p, seed=1)
    ours, peer = DecisionTreeClassifier(), peers.DecisionTreeClassifier(random_state=0)
    return fit_case(ours, peer, X, y > 0, new, target > 0)


@benchmark("tree_regression", target=Target(ratio=3), peer_repeats=1)
def tree_regression(quick: bool) -> Case:
    """One deep regression tree, 100,000 x 30 floats."""
    n, p = (3_000, 6) if quick else (100_000, 30)
    X, y = smooth_data(n, p)
    new, target = smooth_data(20_000, p, seed=1)
    ours, peer = DecisionTreeRegressor(), peers.DecisionTreeRegressor(random_state=0)
    return fit_case(ours, peer, X, y, new, target)


@benchmark("tree_integers", target=Target(ratio=3), peer_repeats=1)
def tree_integers(quick: bool) -> Case:
    """One deep regression tree, 100,000 x 30 integers of 20 values."""
    n, p = (3_000, 6) if quick else (100_000, 30)
    X, y = smooth_data(n, p, few=True)
    new, target = smooth_data(20_000, p, few=True, seed=1)
    ours, peer = DecisionTreeRegressor(), peers.DecisionTreeRegressor(random_state=0)
    return fit_case(ours, peer, X, y, new, target)


@benchmark("tree_covertype", target=Target(ratio=4), peer_repeats=1)
def tree_covertype(quick: bool) -> Case:
    """One deep tree for seven classes: Covertype, 581,012 x 54 (made-up integers without it).

    All rows are fitted and timed; quality is that of fits without every twentieth row.
    """
    X, y = covertype(quick)
    ours, peer = DecisionTreeClassifier(), peers.DecisionTreeClassifier(random_state=0)
    new = np.random.default_rng(0).permutation(len(X)) < len(X) // 20

    def below(ours: Any, peer: Any) -> float:
        theirs, own = (
            clone(model).fit(X[~new], y[~new]).score(X[new], y[new]) for model in (peer, ours)
        )
        return float(theirs - own)

    case = fit_case(ours, peer, X, y, X, y)
    return replace(case, quality=Quality("score on new rows below the peer's", 0.02, below))


@benchmark("tree_prediction", target=Target(ratio=1.3))
def tree_prediction(quick: bool) -> Case:
    """A deep regression tree predicts 1,000,000 rows."""
    n, m = (2_000, 5_000) if quick else (100_000, 1_000_000)
    X, y = smooth_data(n, 30)
    new, _ = smooth_data(m, 30, seed=1)
    how: dict[str, Any] = {"min_samples_leaf": 20}  # small nodes have splits that are equal
    ours = DecisionTreeRegressor(**how).fit(X, y)
    peer = peers.DecisionTreeRegressor(random_state=0, **how).fit(X, y)
    return Case(
        size=f"{m:,} x 30, {ours.get_n_leaves():,} leaves",
        ours=lambda: ours.predict(new),
        peers={"scikit-learn": lambda: peer.predict(new)},
        quality=Quality(
            "rows with another prediction, as a share",
            1e-2,  # thresholds in float32
            lambda a, b: float((np.abs(a - b) > 1e-9).mean()),
        ),
        peer_threads=(1,),
    )


@benchmark("tree_pruning", target=Target(ratio=40), peer_repeats=1)
def tree_pruning(quick: bool) -> Case:
    """10-fold cross-validated pruning, 20,000 x 20, beside GridSearchCV over 10 of its values.

    The grid of ten is a mercy on the peer: ours takes the same time for two hundred.
    """
    n, p = (1_500, 5) if quick else (20_000, 20)
    X, y = smooth_data(n, p)
    how: dict[str, Any] = {"min_samples_leaf": 15}
    alphas = np.geomspace(1e-4, 1e-1, 10).tolist()
    folds = KFold(10, shuffle=True, random_state=0)
    tuned = Tuned(DecisionTreeRegressor(**how), values=alphas, cv=folds)
    search = GridSearchCV(
        peers.DecisionTreeRegressor(random_state=0, **how),
        {"ccp_alpha": alphas},
        cv=folds,
        scoring="neg_mean_squared_error",
    )

    def difference(ours: Any, peer: Any) -> float:
        theirs = -peer.cv_results_["mean_test_score"]
        return float(np.max(np.abs(ours.path_.risk / theirs - 1)))

    return Case(
        size=f"{n:,} x {p}, 10 folds, {len(alphas)} alphas",
        ours=lambda: tuned.fit(X, y),
        peers={"GridSearchCV": lambda: search.fit(X, y)},
        quality=Quality("relative difference of the risks", 1e-9, difference),
        peer_threads=(1,),
    )


class Rpart:
    """An R process that has the data and waits; a call is one cross-validated tree of rpart."""

    def __init__(self, X: Floats, y: Floats, fold: Array) -> None:
        self.folder = TemporaryDirectory()
        np.vstack([y, fold + 1, X.T]).tofile(f"{self.folder.name}/data.bin")
        self.process = subprocess.Popen(
            ["Rscript", SERVER, self.folder.name, *map(str, X.shape)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def __call__(self) -> tuple[Floats, Floats]:
        """The complexity of each tree of its table, and the cross-validated error."""
        assert self.process.stdin
        assert self.process.stdout
        print("again", file=self.process.stdin, flush=True)
        self.process.stdout.readline()  # the seconds that R counted: the tree is there
        complexity, error = np.fromfile(f"{self.folder.name}/table.bin").reshape(2, -1)
        return complexity, error

    def __del__(self) -> None:
        self.process.communicate()
        self.folder.cleanup()


def tree_pruning_rpart(quick: bool) -> Case:
    """10-fold cross-validated pruning, 20,000 x 20, beside R's rpart, which is compiled C.

    The folds and all rules are the same, and so are the errors as long as trees are small. rpart
    approximates: when a branch collapses it does not look at what is left inside its sides, so
    its larger trees are not all the best for their complexity (an exact sequence has a lower
    R + alpha |leaves|), and errors differ in the third digit.
    """
    n, p, rows = (1_500, 5, 6) if quick else (20_000, 20, 30)
    X, y = smooth_data(n, p)
    fold = np.arange(n) % 10
    learner = DecisionTreeRegressor(min_samples_split=20, min_samples_leaf=7)
    rpart = Rpart(X, y, fold)
    complexity, _ = rpart()  # the same alphas for both: geometric means, in units of the root
    alphas = [10 * complexity[0], *np.sqrt(complexity[1:] * complexity[:-1])[: 200 - 1]]
    tuned = Tuned(learner, values=[float(a * y.var()) for a in alphas], cv=PredefinedSplit(fold))
    return Case(
        size=f"{n:,} x {p}, 10 folds, {len(alphas)} alphas",
        ours=lambda: tuned.fit(X, y),
        peers={"rpart": rpart},
        quality=Quality(
            f"relative difference of the {rows} first errors",
            1e-10,
            lambda a, b: float(np.abs(a.path_.risk[:rows] / y.var() / b[1][:rows] - 1).max()),
        ),
        peer_threads=(1,),
    )


if HAS_RPART:
    benchmark("tree_pruning_rpart", target=Target(ratio=1.5))(tree_pruning_rpart)
