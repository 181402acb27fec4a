"""LeNet-5 on the handwritten digits of MNIST: the share of new pictures read right."""

import numpy as np

from benchmarks.accuracy import ACCURACY, Accuracy, AccuracyOutcome, Digits
from benchmarks.networks import MNIST, lenet, mnist, pictures
from empirisk.solvers import Decaying

WANTED = 98.8
EPOCHS = 5
SEEDS = 3
DECAY = Decaying(eta=3e-3, t0=1000.0, a=1.5)
"""Chosen on the last 10,000 pictures of the 60,000, among four; new pictures chose nothing."""


def lenet_accuracy(quick: bool) -> AccuracyOutcome:
    """Three seeds, each after five epochs; each must reach what is wanted."""
    if not quick and not MNIST.exists():
        raise FileNotFoundError(2, "MNIST is missing", str(MNIST))
    X, y, new, target = pictures(quick)[1] if quick else mnist()
    lines = []
    for seed in range(1 if quick else SEEDS):
        net = lenet(EPOCHS, learning_rate=DECAY, random_state=seed).fit(X, y)
        right = 100 * float(np.mean(net.predict(new) == target))
        lines.append(Digits(f"seed {seed}", [right], None if quick else WANTED))
    short = [line.data for line in lines if line.wanted and line.digits[0] < line.wanted]
    verdict = "not judged (quick)" if quick else f"missed: {', '.join(short)}" if short else "met"
    what = f"% of new pictures read right after {EPOCHS} epochs"
    return AccuracyOutcome("lenet_accuracy", what, verdict, ["empirisk"], lines, decimals=2)


ACCURACY["lenet_accuracy"] = Accuracy(
    "lenet_accuracy", "Accuracy of LeNet-5 on MNIST after five epochs.", lenet_accuracy
)
