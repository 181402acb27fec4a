"""Histogram gradient boosting beside LightGBM, XGBoost and scikit-learn: two threads each.

All grow 100 trees of up to 31 leaves at a rate of 0.1, with 255 bins, 20 rows in a leaf and no
penalty (XGBoost has the least curvature of a leaf instead of its rows). Finding the bins counts for
everybody. LightGBM is there by rows and by columns: which is faster depends on the data, and it
would spend time on finding out. What must be as good is the loss on new rows.
"""

from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import numpy as np
import pandas as pd
import sklearn.ensemble
from sklearn.metrics import log_loss, mean_squared_error

from benchmarks.case import Call, Case, Quality, Target, benchmark
from benchmarks.trees import COVERTYPE, smooth_data
from empirisk import (
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    Tuned,
    read_table,
)
from empirisk.runtime.arrays import Array, Floats

lightgbm: Any = import_module("lightgbm") if find_spec("lightgbm") else None
xgboost: Any = import_module("xgboost") if find_spec("xgboost") else None

ADULT = COVERTYPE.with_name("adult.parquet")
ROUNDS, QUICK_ROUNDS, THREADS = 100, 5, 2
LIGHTGBM: dict[str, Any] = {
    "num_leaves": 31,
    "learning_rate": 0.1,
    "max_bin": 255,
    "min_data_in_leaf": 20,
    "num_threads": THREADS,
    "verbose": -1,
}
XGBOOST: dict[str, Any] = {
    "tree_method": "hist",
    "grow_policy": "lossguide",
    "max_leaves": 31,
    "max_depth": 0,
    "eta": 0.1,
    "lambda": 0.0,
    "max_bin": 256,
    "nthread": THREADS,
}

Predict = Callable[[Any], Floats]
"""Of new rows: values, or the probabilities of all classes."""


def both(second: Floats) -> Floats:
    """The probabilities of two classes."""
    return np.column_stack([1.0 - second, second])


def ours(X: Any, y: Array, rounds: int) -> Predict:
    """Our learner, fitted."""
    how: dict[str, Any] = {"max_iter": rounds, "early_stopping": False, "n_jobs": THREADS}
    if y.dtype.kind == "f":
        return HistGradientBoostingRegressor(**how).fit(X, y).predict
    return HistGradientBoostingClassifier(**how).fit(X, y).predict_proba


def scikit_learn(X: Any, y: Array, rounds: int) -> Predict:
    """scikit-learn's, fitted; the harness gives it two threads."""
    how: dict[str, Any] = {"max_iter": rounds, "early_stopping": False}
    if y.dtype.kind == "f":
        return sklearn.ensemble.HistGradientBoostingRegressor(**how).fit(X, y).predict
    return sklearn.ensemble.HistGradientBoostingClassifier(**how).fit(X, y).predict_proba


def objective(y: Array, names: tuple[str, str, str]) -> tuple[str, dict[str, Any]]:
    """What a peer calls squared error, two and more classes."""
    K = 0 if y.dtype.kind == "f" else int(y.max()) + 1
    return names[0 if K == 0 else 1 if K == 2 else 2], {"num_class": K} if K > 2 else {}


def light(X: Any, y: Array, rounds: int, **how: Any) -> Predict:
    """LightGBM's, fitted."""
    name, classes = objective(y, ("regression", "binary", "multiclass"))
    params = LIGHTGBM | classes | how | {"objective": name}
    model = lightgbm.train(params, lightgbm.Dataset(X, y, params=params), rounds)

    def predict(new: Any) -> Floats:
        values = np.asarray(model.predict(new, num_threads=THREADS))
        return both(values) if name == "binary" else values

    return predict


def extreme(X: Any, y: Array, rounds: int) -> Predict:
    """XGBoost's, fitted."""
    name, classes = objective(y, ("reg:squarederror", "binary:logistic", "multi:softprob"))
    table = xgboost.QuantileDMatrix(X, y, max_bin=256, nthread=THREADS, enable_categorical=True)
    model = xgboost.train(XGBOOST | classes | {"objective": name}, table, rounds)

    def predict(new: Any) -> Floats:
        values = model.predict(xgboost.DMatrix(new, enable_categorical=True))
        return both(values) if name == "binary:logistic" else values

    return predict


def fitted_peers(X: Any, y: Array, rounds: int) -> dict[str, Callable[[], Predict]]:
    """Those that are installed."""
    peers: dict[str, Callable[[], Predict]] = {"scikit-learn": lambda: scikit_learn(X, y, rounds)}
    if xgboost is not None:
        peers["XGBoost"] = lambda: extreme(X, y, rounds)
    if lightgbm is not None:
        peers["LightGBM by rows"] = lambda: light(X, y, rounds, force_row_wise=True)
        peers["LightGBM by columns"] = lambda: light(X, y, rounds, force_col_wise=True)
    return peers


def boosting_case(X: Any, y: Array, new: Any, target: Array, tolerance: float, quick: bool) -> Case:
    """All are fitted on rows (X, y); the loss on new rows must be as good."""
    rounds = QUICK_ROUNDS if quick else ROUNDS

    def loss(predict: Predict) -> float:
        measure = mean_squared_error if y.dtype.kind == "f" else log_loss
        return float(measure(target, predict(new)))

    return Case(
        size=f"{len(X):,} x {X.shape[1]}, {rounds} rounds",
        ours=lambda: ours(X, y, rounds),
        peers=fitted_peers(X, y, rounds),
        quality=Quality(
            "loss on new rows above the peer's, as a part of it",
            0.2 if quick else tolerance,
            lambda a, b: loss(a) / loss(b) - 1.0,
        ),
        peer_threads=(THREADS,),
    )


def signal_data(n: int, *, seed: int = 0) -> tuple[Floats, Floats]:
    """`smooth_data` of 30 features, in which those of the product matter by themselves too.

    Else a tree finds the product when chance gives it a first split by one of them, and the losses
    of equally good learners differ by a few per cent.
    """
    X, y = smooth_data(n, 30, seed=seed)
    return X, y + X[:, -3] + X[:, -4]


def made_up(n: int, *, classes: bool, quick: bool) -> Case:
    """A smooth signal with noise; two good fits differ by about 0.003 of the loss."""
    X, y = signal_data(1_000 if quick else n)
    new, target = signal_data(1_000 if quick else 50_000, seed=1)
    if classes:
        y, target = (y > 0).astype(int), (target > 0).astype(int)
    return boosting_case(X, y, new, target, 0.01, quick)


@benchmark("hgb_binary_100", target=Target(ratio=1.5))
def hgb_binary_100(quick: bool) -> Case:
    """Two classes, 100,000 x 30 floats."""
    return made_up(100_000, classes=True, quick=quick)


@benchmark("hgb_binary_500", target=Target(ratio=1.5))
def hgb_binary_500(quick: bool) -> Case:
    """Two classes, 500,000 x 30 floats."""
    return made_up(500_000, classes=True, quick=quick)


@benchmark("hgb_squared_100", target=Target(ratio=1.5))
def hgb_squared_100(quick: bool) -> Case:
    """Squared error, 100,000 x 30 floats."""
    return made_up(100_000, classes=False, quick=quick)


@benchmark("hgb_squared_500", target=Target(ratio=1.5))
def hgb_squared_500(quick: bool) -> Case:
    """Squared error, 500,000 x 30 floats."""
    return made_up(500_000, classes=False, quick=quick)


@benchmark("hgb_covertype", target=Target(ratio=1.5), peer_repeats=1)
def hgb_covertype(quick: bool) -> Case:
    """Seven classes: Covertype, 581,012 x 54, a tenth held out (made-up integers without it)."""
    X: Array
    y: Array
    if COVERTYPE.exists() and not quick:
        table = read_table(COVERTYPE)
        X = np.column_stack([table[name].numbers() for name in table.names]).astype(float)
        X, y = X[:, :-1].copy(), X[:, -1].astype(int) - 1
    else:
        X, signal = smooth_data(1_500, 8, few=True)
        y = np.digitize(signal, [-2, -1, 0, 1, 2, 3])
    new = np.random.default_rng(0).uniform(size=len(y)) < 0.1
    # LightGBM steps with 7/6 of the curvature, XGBoost with twice it: their fits differ by more.
    return boosting_case(X[~new], y[~new], X[new], y[new], 0.02, quick)


@benchmark("hgb_adult", target=Target(ratio=1.5))
def hgb_adult(quick: bool) -> Case:
    """Two classes of a mixed table: Adult, 48,842 x 14, a fifth held out (made up without it)."""
    if ADULT.exists() and not quick:
        table = read_table(ADULT)
        X = pd.DataFrame(
            {
                name: pd.Categorical(table[name].values())
                if table[name].kind == "category"
                else table[name].numbers().astype(float)
                for name in table.names
                if name not in ("income", "split")
            }
        )
        y = np.unique(np.asarray(table["income"].values()), return_inverse=True)[1]
    else:
        Z, signal = smooth_data(2_000, 6, few=True)
        X, y = pd.DataFrame(Z, columns=list("abcdef")), (signal > 0).astype(int)
        X["f"] = pd.Categorical(X["f"].astype(int).astype(str))
    new = np.random.default_rng(0).uniform(size=len(y)) < 0.2
    return boosting_case(X[~new], y[~new], X[new], y[new], 0.01, quick)


@benchmark("hgb_prediction", target=Target(ratio=1.3))
def hgb_prediction(quick: bool) -> Case:
    """100 trees of 100,000 rows predict 200,000 rows of 30 floats, two threads each."""
    X, y = signal_data(1_000 if quick else 100_000)
    new, target = signal_data(1_000 if quick else 200_000, seed=1)
    label, truth = (y > 0).astype(int), (target > 0).astype(int)
    rounds = QUICK_ROUNDS if quick else ROUNDS

    def with_rows(predict: Predict) -> Call:
        return lambda: predict(new)

    return Case(
        size=f"{len(new):,} x 30, {rounds} trees",
        ours=with_rows(ours(X, label, rounds)),
        peers={name: with_rows(fit()) for name, fit in fitted_peers(X, label, rounds).items()},
        quality=Quality(
            "log loss above the peer's, as a part of it",
            0.2 if quick else 0.01,
            lambda a, b: float(log_loss(truth, a) / log_loss(truth, b) - 1.0),
        ),
        peer_threads=(THREADS,),
    )


def hgb_rounds(quick: bool) -> Case:
    """The number of rounds by 10-fold cross-validation, 100,000 x 30, beside lightgbm.cv."""
    X, y = signal_data(1_000 if quick else 100_000)
    label, rounds = (y > 0).astype(int), QUICK_ROUNDS if quick else ROUNDS

    def tuned() -> float:
        learner = HistGradientBoostingClassifier(
            max_iter=rounds, early_stopping=False, n_jobs=THREADS
        )
        search = Tuned(learner, cv=10, loss="log", n_jobs=THREADS, random_state=0).fit(X, label)
        return float(np.min(search.path_.risk))

    def peer() -> float:
        params = LIGHTGBM | {"objective": "binary", "force_col_wise": True}
        table = lightgbm.Dataset(X, label, params=params)
        losses = lightgbm.cv(params, table, rounds, nfold=10)["valid binary_logloss-mean"]
        return float(np.min(losses))

    return Case(
        size=f"{len(X):,} x 30, {rounds} rounds, 10 folds",
        ours=tuned,
        peers={"LightGBM": peer},
        quality=Quality(
            "least cross-validated loss above the peer's",
            0.05 if quick else 0.005,  # the folds differ
            lambda a, b: a - b,
        ),
        peer_threads=(THREADS,),
    )


if lightgbm is not None:
    benchmark("hgb_rounds", target=Target(ratio=1.5), peer_repeats=1)(hgb_rounds)
