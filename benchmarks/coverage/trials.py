"""What intervals must stand: wrong models, heavy tails, groups, weights, choices; and test sets."""

from collections.abc import Iterator

import numpy as np
import sklearn.linear_model as peers

from benchmarks.coverage.few_features import FewFeaturesClassifier
from benchmarks.coverage.one_feature import OneFeatureClassifier, OneFeatureRegressor
from benchmarks.coverage.populations import (
    crossed,
    few_informative,
    linear,
    logit,
    some_informative,
    two_classes,
    unequal_classes,
    uneven_noise,
)
from benchmarks.coverage.sets import BestOf, CrossValidated, Locked, Setting
from benchmarks.coverage.sources import Copies, Exact, Grouped, Reweighted, Sampled
from empirisk import (
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    KNeighborsClassifier,
    LinearDiscriminantAnalysis,
    LinearRegression,
    Ridge,
)
from empirisk.risk.populations import Laplace, Normal, StudentT, friedman


def misspecified() -> Iterator[Setting]:
    for n in (50, 100, 500):
        yield CrossValidated(
            f"curved-least_squares-n{n}",
            "least squares of Friedman's function, 10 features: wrong, and no noise needed",
            Sampled(friedman(), "squared"),
            LinearRegression(),
            n,
            "squared",
            leave_one_out=True,
        )
        yield CrossValidated(
            f"uneven_noise-n{n}",
            "least squares, 5 features, noise whose standard deviation is |x1|",
            Sampled(uneven_noise(), "squared"),
            LinearRegression(),
            n,
            "squared",
            leave_one_out=True,
        )
    for n in (100, 500):
        yield CrossValidated(
            f"unequal_covariances-n{n}",
            "LDA of Gaussian classes whose covariances are I and 4 I",
            Exact(unequal_classes(), "zero_one"),
            LinearDiscriminantAnalysis(),
            n,
            "zero_one",
        )
    for p, n in ((10, 50), (20, 100), (5, 200)):
        yield CrossValidated(
            f"curved-logistic-p{p}-n{n}",
            f"logistic regression of scikit-learn where x1 x2 matters, {p} features",
            Sampled(logit(p, curved=True), "log"),
            peers.LogisticRegression(C=10.0),
            n,
            "log",
        )


def heavy_tails() -> Iterator[Setting]:
    noises = {"t3": StudentT(3), "t5": StudentT(5), "laplace": Laplace()}
    for tail, noise in noises.items():
        for n in (100, 500, 2000):
            yield CrossValidated(
                f"{tail}-n{n}",
                f"least squares, 5 features, {tail} noise",
                Exact(linear(5, noise), "squared"),
                LinearRegression(),
                n,
                "squared",
                leave_one_out=True,
            )
    for n in (100, 500):
        yield CrossValidated(
            f"t3-absolute-n{n}",
            "least squares under the absolute loss, 5 features, t3 noise",
            Sampled(linear(5, StudentT(3)), "absolute"),
            LinearRegression(),
            n,
            "absolute",
        )


def groups() -> Iterator[Setting]:
    for n in (250, 500, 2000):
        yield CrossValidated(
            f"groups-squared-n{n}",
            "least squares, 5 features, groups of 2 to 8 rows with half the variance",
            Grouped(linear(5), "squared", share=0.5),
            LinearRegression(),
            n,
            "squared",
        )
        yield CrossValidated(
            f"groups-zero_one-n{n}",
            "LDA, 5 features, groups of 2 to 8 rows with half the variance",
            Grouped(two_classes(5), "zero_one", share=0.5),
            LinearDiscriminantAnalysis(),
            n,
            "zero_one",
        )


def weights() -> Iterator[Setting]:
    for n in (100, 500, 2000):
        yield CrossValidated(
            f"copies-squared-n{n}",
            "least squares, 5 features, weights of 1, 2, 3 and 6",
            Copies(linear(5), "squared"),
            LinearRegression(),
            n,
            "squared",
        )
        yield CrossValidated(
            f"copies-zero_one-n{n}",
            "LDA, 5 features, weights of 1, 2, 3 and 6",
            Copies(two_classes(5), "zero_one"),
            LinearDiscriminantAnalysis(),
            n,
            "zero_one",
        )
        yield CrossValidated(
            f"reweighted-n{n}",
            "least squares, 5 features drawn 1.3 times as wide and weighted back",
            Reweighted(linear(5), "squared", spread=1.3),
            LinearRegression(),
            n,
            "squared",
        )


def locked() -> Iterator[Setting]:
    for n in (50, 200, 1000):
        yield Locked(
            f"locked-zero_one-n{n}",
            "LDA from 100 rows, two Gaussian classes at distance 2, on a locked test set",
            Exact(two_classes(5), "zero_one"),
            LinearDiscriminantAnalysis(),
            n,
            "zero_one",
        )
        for noise in (Normal(), Laplace()):
            name = type(noise).__name__
            yield Locked(
                f"locked-{name.lower()}-n{n}",
                f"least squares from 100 rows, 5 features, {name} noise, on a locked test set",
                Exact(linear(5, noise), "squared"),
                LinearRegression(),
                n,
                "squared",
            )


def refitted() -> Iterator[Setting]:
    """Methods that fit again many times, where a fast path makes that bearable."""
    cases = (
        ("least_squares", LinearRegression(), Exact(linear(5), "squared"), "squared"),
        ("lda", LinearDiscriminantAnalysis(), Exact(two_classes(5), "zero_one"), "zero_one"),
    )
    for name, learner, source, loss in cases:
        yield CrossValidated(
            f"refitted-{name}-n100",
            f"{name} as above, 5 features, also by methods that fit again",
            source,
            learner,
            100,
            loss,
            refits=("nested", "conservative_z"),
            sets=500,
        )


SIGNALS = (("noise", 0.0, "none says anything"), ("signal", 1.5, "10 say something"))


def best_of_forty() -> Iterator[Setting]:
    features = tuple(range(40))
    for n in (50, 100, 200, 500):
        for signal, distance, says in SIGNALS:
            yield BestOf(
                f"best_of_40-lda-{signal}-n{n}",
                f"the best of 40 LDA of one feature each, of which {says}",
                Exact(some_informative(distance), "zero_one"),
                OneFeatureClassifier(),
                n,
                "zero_one",
                values=features,
            )
    for signal, distance, _ in SIGNALS:
        yield BestOf(
            f"best_of_40-chosen_anew-{signal}-n100",
            f"as best_of_40-lda-{signal}, also with the choice made anew in every training part",
            Exact(some_informative(distance), "zero_one"),
            OneFeatureClassifier(),
            100,
            "zero_one",
            values=features,
            nested=True,
            sets=500,
        )
    for signal, distance, says in (("noise", 0.0, "none"), ("signal", 0.7, "4 of 20")):
        yield BestOf(
            f"best_of_40-subsets-{signal}-n100",
            f"the best of 40 LDA of five features each; of the features {says} say something",
            Exact(few_informative(distance), "zero_one"),
            FewFeaturesClassifier(),
            100,
            "zero_one",
            values=features,
        )
    for n in (50, 100, 500):
        yield BestOf(
            f"best_of_40-least_squares-n{n}",
            "the best of 40 least squares of one feature each, y = x1 + x2/2 + ... + noise",
            Exact(linear(40), "squared"),
            OneFeatureRegressor(),
            n,
            "squared",
            values=features,
        )
        yield BestOf(
            f"best_of_40-ridge-n{n}",
            "the best of 40 penalties of ridge, 50 correlated features",
            Exact(linear(50, correlation=0.5), "squared"),
            Ridge(),
            n,
            "squared",
            values=tuple(np.geomspace(1e-2, 1e4, 40).tolist()),
        )


def tuned() -> Iterator[Setting]:
    """`Tuned` along a learner's own grid, on nested trees above all."""
    tree, neighbours = DecisionTreeClassifier(), KNeighborsClassifier()
    rivals = (
        ("tree-noise", "a pruned tree, nothing but noise", tree, two_classes(5, distance=0.0)),
        ("tree-weak", "a pruned tree, two near Gaussian classes", tree, two_classes(5, 0.8)),
        ("tree-gauss", "a pruned tree, two Gaussian classes", tree, two_classes(5)),
        ("tree-crossed", "a pruned tree where only x1 x2 says something", tree, crossed()),
        ("knn-gauss", "nearest neighbours, two Gaussian classes", neighbours, two_classes(5)),
    )
    for n in (50, 100, 200, 400):
        for name, words, learner, population in rivals:
            yield BestOf(
                f"tuned-{name}-n{n}",
                f"{words}, 0-1 loss, the best of its own grid",
                Sampled(population, "zero_one"),
                learner,
                n,
                "zero_one",
                sets=1000,
            )
        yield BestOf(
            f"tuned-tree-friedman-n{n}",
            "a pruned tree, Friedman's function, the best of its own grid",
            Sampled(friedman(), "squared"),
            DecisionTreeRegressor(),
            n,
            "squared",
            sets=1000,
        )
