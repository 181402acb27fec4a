"""Learners where their model holds: populations, losses and numbers of rows."""

from collections.abc import Iterator

import sklearn.ensemble as ensembles
import sklearn.linear_model as peers
import sklearn.neighbors as neighbours
import sklearn.svm as machines
import sklearn.tree as trees

from benchmarks.coverage.populations import corners, linear, logit, two_classes
from benchmarks.coverage.sets import CrossValidated, Setting
from benchmarks.coverage.sources import Exact, Sampled
from empirisk import LinearDiscriminantAnalysis, LinearRegression, Ridge
from empirisk.risk.populations import friedman, sine

SIZES = (50, 100, 200, 500, 1000)
LARGE = (2000, 10_000)
CLASS_LOSSES = ("zero_one", "log")


def least_squares() -> Iterator[Setting]:
    for p, sizes in ((5, SIZES + LARGE), (20, SIZES)):
        for n in sizes:
            yield CrossValidated(
                f"least_squares-p{p}-n{n}",
                f"least squares, {p} Gaussian features, Gaussian noise",
                Exact(linear(p), "squared"),
                LinearRegression(),
                n,
                "squared",
                leave_one_out=True,
            )


def ridge() -> Iterator[Setting]:
    for p, alpha, sizes in ((20, 10.0, SIZES), (100, 50.0, (50, 100, 200))):
        for n in sizes:
            yield CrossValidated(
                f"ridge-p{p}-n{n}",
                f"ridge with alpha {alpha:g}, {p} correlated features",
                Exact(linear(p, correlation=0.5), "squared"),
                Ridge(alpha),
                n,
                "squared",
                leave_one_out=True,
            )


def discriminants() -> Iterator[Setting]:
    lda = LinearDiscriminantAnalysis()
    for loss in CLASS_LOSSES:
        kind = Exact if loss == "zero_one" else Sampled
        for p, sizes in ((5, SIZES + LARGE), (20, (100, 200, 500))):
            for n in sizes:
                yield CrossValidated(
                    f"lda-p{p}-{loss}-n{n}",
                    f"LDA, two Gaussian classes at distance 2, {p} features",
                    kind(two_classes(p), loss),
                    lda,
                    n,
                    loss,
                )
    for n in (100, 500):
        yield CrossValidated(
            f"lda-far-n{n}",
            "LDA, two Gaussian classes at distance 4: few mistakes",
            Exact(two_classes(5, distance=4.0), "zero_one"),
            lda,
            n,
            "zero_one",
        )
    for n in (200, 500):
        yield CrossValidated(
            f"lda-rare-n{n}",
            "LDA, one class in ten",
            Exact(two_classes(5, prior=0.1), "zero_one"),
            lda,
            n,
            "zero_one",
        )


def several_classes() -> Iterator[Setting]:
    for K, p in ((3, 5), (6, 10)):
        for loss in CLASS_LOSSES:
            for n in (100, 500, 2000):
                yield CrossValidated(
                    f"lda-{K}_classes-{loss}-n{n}",
                    f"LDA, {K} Gaussian classes in {p} dimensions",
                    Sampled(corners(K, p), loss),
                    LinearDiscriminantAnalysis(),
                    n,
                    loss,
                )


def logistic() -> Iterator[Setting]:
    regression = peers.LogisticRegression(C=10.0)
    for loss in CLASS_LOSSES:
        for n in (50, 100, 200, 500):
            yield CrossValidated(
                f"logistic-p5-{loss}-n{n}",
                "logistic regression of scikit-learn, 5 features",
                Sampled(logit(5), loss),
                regression,
                n,
                loss,
            )


def foreign() -> Iterator[Setting]:
    for n in (50, 100, 500):
        for k in (1, 15):
            yield CrossValidated(
                f"knn-k{k}-zero_one-n{n}",
                f"{k} nearest neighbours of scikit-learn, two Gaussian classes, 5 features",
                Sampled(two_classes(5), "zero_one"),
                neighbours.KNeighborsClassifier(k),
                n,
                "zero_one",
                sets=1000,
            )
        yield CrossValidated(
            f"knn-k5-squared-n{n}",
            "5 nearest neighbours of scikit-learn, a sine of one feature",
            Sampled(sine(), "squared"),
            neighbours.KNeighborsRegressor(5),
            n,
            "squared",
            sets=1000,
        )
        yield CrossValidated(
            f"tree-zero_one-n{n}",
            "a deep tree of scikit-learn, two Gaussian classes, 5 features",
            Sampled(two_classes(5), "zero_one"),
            trees.DecisionTreeClassifier(),
            n,
            "zero_one",
            sets=1000,
        )
        yield CrossValidated(
            f"tree-squared-n{n}",
            "a deep tree of scikit-learn, Friedman's function",
            Sampled(friedman(), "squared"),
            trees.DecisionTreeRegressor(),
            n,
            "squared",
            sets=1000,
        )
    for n in (100, 500):
        yield CrossValidated(
            f"svc-zero_one-n{n}",
            "a support vector machine of scikit-learn, two Gaussian classes, 5 features",
            Sampled(two_classes(5), "zero_one"),
            machines.SVC(),
            n,
            "zero_one",
            sets=1000,
        )
        yield CrossValidated(
            f"boosting-squared-n{n}",
            "50 boosted trees of scikit-learn, Friedman's function",
            Sampled(friedman(), "squared"),
            ensembles.GradientBoostingRegressor(n_estimators=50),
            n,
            "squared",
            sets=500,
        )
    yield CrossValidated(
        "forest-zero_one-n100",
        "30 trees of scikit-learn's forest, two Gaussian classes, 5 features",
        Sampled(two_classes(5), "zero_one"),
        ensembles.RandomForestClassifier(30),
        100,
        "zero_one",
        sets=500,
    )
    yield CrossValidated(
        "forest-squared-n100",
        "30 trees of scikit-learn's forest, Friedman's function",
        Sampled(friedman(), "squared"),
        ensembles.RandomForestRegressor(30),
        100,
        "squared",
        sets=500,
    )
