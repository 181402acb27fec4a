"""Networks beside scikit-learn's and PyTorch's: the same layers, batches, epochs, law of the start.

What must be equal is how well they predict new rows: starts and orders differ.
"""

import warnings
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import sklearn.neural_network as peers
from sklearn.datasets import load_digits
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import log_loss

from benchmarks.case import Call, Case, Quality, Target, benchmark
from benchmarks.torch_peer import ABSENT, Torch
from benchmarks.trees import smooth_data
from empirisk import MLPClassifier, NetworkClassifier, lenet5
from empirisk.runtime.arrays import Array

MNIST = Path(__file__).resolve().parents[2] / "shared" / "data" / "mnist.npz"
EPOCHS = 10
SHARED: dict[str, Any] = {"alpha": 0.0, "random_state": 0}
OURS: dict[str, Any] = {**SHARED, "n_iter_no_change": None, "n_jobs": 2}
Rows = tuple[Array, Array, Array, Array]
"""X and y to fit, X and y of new rows."""


def two_classes(quick: bool, dtype: Any) -> Rows:
    """20,000 rows of 50 features, two classes, and as many new ones."""
    n = 1_000 if quick else 20_000
    (X, y), (new, target) = smooth_data(n, 50), smooth_data(20_000, 50, seed=1)
    return X.astype(dtype), y > 0, new.astype(dtype), target > 0


def perceptron_case(
    rows: Rows, others: Mapping[str, Call], loss: Callable[[Any], float], quick: bool
) -> Case:
    """Two hidden layers of 100 units, Adam, ten epochs in batches of 200; `loss` is the peer's."""
    X, y, new, target = rows
    sizes: dict[str, Any] = {"batch_size": 200, "max_iter": EPOCHS}
    return Case(
        size=f"{len(X):,} x {X.shape[1]} {X.dtype}, 100 and 100 units, {EPOCHS} epochs",
        ours=lambda: MLPClassifier((100, 100), **sizes, **OURS).fit(X, y),
        peers=others,
        quality=Quality(
            "log loss on new rows above the peer's",
            0.1 if quick else 0.03,  # three deviations: over seeds 0.004 ours, up to 0.009 theirs
            lambda a, b: float(log_loss(target, a.predict_proba(new)) - loss(b)),
        ),
        absent="" if others else ABSENT,
    )


@benchmark("mlp_sklearn", target=Target(ratio=2))
def mlp_sklearn(quick: bool) -> Case:
    """A perceptron of 100 and 100 units, 20,000 x 50 in double precision, beside scikit-learn."""
    rows = two_classes(quick, np.float64)
    X, y, new, target = rows

    def fit() -> Any:
        sizes: dict[str, Any] = {"batch_size": 200, "max_iter": EPOCHS, "n_iter_no_change": 1000}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)  # ten epochs are what is wanted
            return peers.MLPClassifier((100, 100), **sizes, **SHARED).fit(X, y)

    return perceptron_case(
        rows, {"scikit-learn": fit}, lambda net: log_loss(target, net.predict_proba(new)), quick
    )


@benchmark("mlp_torch", target=Target(ratio=1.5))
def mlp_torch(quick: bool) -> Case:
    """A perceptron of 100 and 100 units, 20,000 x 50 in single precision, beside PyTorch."""
    rows = two_classes(quick, np.float32)
    X, y, new, target = rows
    torch = Torch(X, y.astype(np.float32), new, target.astype(np.float32))
    asked: dict[str, Any] = {"net": "perceptron", "epochs": EPOCHS, "batch": 200}
    others = {
        "PyTorch": torch.fit(**asked),
        "PyTorch, fused Adam": torch.fit(**asked, fused=True),
    }
    return perceptron_case(
        rows, {} if ABSENT else others, lambda net: torch.ask("log_loss", name=net), quick
    )


def pictures(quick: bool) -> tuple[str, Rows]:
    """MNIST in single precision, 0 to 1; if quick, or without it, 8 x 8 digits made larger."""
    if quick or not MNIST.exists():
        X, y = load_digits(return_X_y=True)
        X = np.kron(X.reshape(-1, 8, 8) / 16, np.ones((3, 3)))
        X = np.pad(X, ((0, 0), (2, 2), (2, 2))).reshape(len(X), 784).astype(np.float32)
        return "digits made larger", (X[:1500], y[:1500], X[1500:], y[1500:])
    return "MNIST", mnist()


def mnist() -> Rows:
    """Its 60,000 pictures to fit and 10,000 new ones, a row each."""
    with np.load(MNIST) as file:
        X, new = (file[name].reshape(-1, 784).astype(np.float32) for name in ("x_train", "x_test"))
        y, target = (file[name].astype(np.int64) for name in ("y_train", "y_test"))
    X /= 255
    new /= 255
    return X, y, new, target


def lenet(epochs: int, **settings: Any) -> NetworkClassifier:
    """LeNet-5 with maxima and rectifiers, Adam in batches of 64."""
    return NetworkClassifier(
        lenet5(activation="relu"), input_shape=(1, 28, 28), batch_size=64, max_iter=epochs,
        **{**OURS, **settings},
    )  # fmt: skip


def standardised(rows: Rows) -> Rows:
    """With one centre and one unit for all places, which ours finds while it is timed."""
    X, y, new, target = rows
    centre, unit = float(X.mean(dtype=float)), float(X.std(dtype=float))
    return (X - centre) / unit, y, (new - centre) / unit, target


@benchmark("lenet_torch", target=Target(ratio=1.2))
def lenet_torch(quick: bool) -> Case:
    """An epoch of LeNet-5 on MNIST beside PyTorch, two threads each."""
    name, rows = pictures(quick)
    X, y, new, target = rows
    epochs = 5 if quick else 1
    torch = Torch(*standardised(rows))
    asked: dict[str, Any] = {"net": "lenet", "epochs": epochs, "batch": 64}
    others = {
        f"PyTorch, {layout}, {adam}": torch.fit(**asked, layout=layout, fused=adam == "fused Adam")
        for layout in ("contiguous", "channels_last")
        for adam in ("Adam", "fused Adam")
    }
    return Case(
        size=f"{name}, {len(X):,} pictures",
        ours=lambda: lenet(epochs).fit(X, y),
        peers={} if ABSENT else others,
        quality=Quality(
            "accuracy on new pictures below the peer's",
            0.1 if quick else 0.012,  # three deviations: over seeds 0.003 ours, 0.002 theirs
            lambda a, b: float(torch.ask("score", name=b) - a.score(new, target)),
        ),
        peer_threads=(2,),
        absent=ABSENT,
    )
