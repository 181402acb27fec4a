"""Laws that hold for every learner, found by discovery: nobody is forgotten.

A new learner needs a line in SETTINGS; `test_every_learner_is_listed` fails until it has one.
"""

import pickle
import re
import warnings
from itertools import pairwise, product

import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone, is_classifier
from sklearn.model_selection import KFold, LeaveOneOut, RepeatedKFold
from sklearn.utils import get_tags
from sklearn.utils.estimator_checks import parametrize_with_checks
from sklearn.utils.validation import has_fit_parameter

from discovery import learners
from empirisk import (
    PCA,
    AdaBoostClassifier,
    AdaBoostRegressor,
    Autoencoder,
    BaggingClassifier,
    BaggingRegressor,
    Baseline,
    BasisRegression,
    Bottleneck,
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    Dense,
    DensityClassifier,
    Dropout,
    ElasticNet,
    GaussianMixture,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    KernelClassifier,
    KernelDensity,
    KernelRegressor,
    KMeans,
    KNeighborsClassifier,
    KNeighborsRegressor,
    Lasso,
    LinearDiscriminantAnalysis,
    LinearRegression,
    LinearTreeClassifier,
    LinearTreeRegressor,
    LogisticRegression,
    LogitBoostClassifier,
    MarginClassifier,
    MLPClassifier,
    MLPRegressor,
    NaiveBayes,
    NetworkClassifier,
    NetworkRegressor,
    ParametricDensity,
    PlugInPredictor,
    PoissonMixture,
    QuadraticDiscriminantAnalysis,
    RandomForestClassifier,
    RandomForestRegressor,
    RegularizedDiscriminantAnalysis,
    Ridge,
    StagewiseRegressor,
    StochasticKMeans,
    Tuned,
    risk,
)
from empirisk.learners.networks.network import Network
from empirisk.risk.axis import PathMixin
from empirisk.risk.bagged_path import BaggedPathMixin
from empirisk.runtime.errors import EmpiriskWarning, RankWarning
from same_bits import assert_same_bits


class NearerCountsMore:
    """A function whose name, and so that of tests, does not tell where it lies in memory."""

    def __call__(self, distance):
        return np.exp(-distance)

    def __repr__(self):
        return "nearer_counts_more"


ALL_EPOCHS = {"n_iter_no_change": None, "random_state": 0}
FAST = {**ALL_EPOCHS, "learning_rate_init": 0.05}

# For each learner the instances that stand for it: cheap settings of everything that changes the
# way through its code.
SETTINGS = {
    "AdaBoostClassifier": [
        AdaBoostClassifier(n_estimators=5),
        AdaBoostClassifier(DecisionTreeClassifier(max_depth=2), n_estimators=4, learning_rate=0.5),
        AdaBoostClassifier(LinearDiscriminantAnalysis(), n_estimators=3),
    ],
    "AdaBoostRegressor": [
        AdaBoostRegressor(
            DecisionTreeRegressor(min_samples_leaf=4), n_estimators=4, random_state=0
        ),
        AdaBoostRegressor(n_estimators=4, bootstrap=False),
        AdaBoostRegressor(LinearRegression(), n_estimators=3, loss="exponential", bootstrap=False),
    ],
    "Autoencoder": [
        Autoencoder(1, solver="lbfgs", max_iter=5, **ALL_EPOCHS),
        Autoencoder(2, hidden_layer_sizes=3, max_iter=3, batch_size=16, **ALL_EPOCHS),
    ],
    "BaggingClassifier": [
        BaggingClassifier(n_estimators=3, random_state=0),
        BaggingClassifier(LinearDiscriminantAnalysis(), 3, random_state=0),
    ],
    "BaggingRegressor": [
        BaggingRegressor(DecisionTreeRegressor(max_depth=2), 5, random_state=0, max_features=0.8),
        BaggingRegressor(LinearRegression(), 2, bootstrap=False, max_samples=0.8, random_state=0),
    ],
    "Baseline": [Baseline(), Baseline("absolute"), Baseline("zero_one"), Baseline("log")],
    "BasisRegression": [
        BasisRegression(degree=2),
        BasisRegression(degree=3, interactions=False),
    ],
    "DecisionTreeClassifier": [
        DecisionTreeClassifier(),
        DecisionTreeClassifier(criterion="entropy", max_leaf_nodes=6),
        DecisionTreeClassifier(criterion="misclassification", min_samples_leaf=3),
    ],
    "DecisionTreeRegressor": [
        DecisionTreeRegressor(),
        DecisionTreeRegressor(criterion="absolute_error", max_depth=4),
        DecisionTreeRegressor(max_features=0.5, random_state=0, ccp_alpha=0.01),
    ],
    "DensityClassifier": [
        DensityClassifier(),
        DensityClassifier(ParametricDensity(shrinkage=0.2)),
        DensityClassifier(KernelDensity()),
    ],
    "ElasticNet": [ElasticNet(alpha=0.1), ElasticNet(alpha=0.1, positive=True)],
    "GaussianMixture": [
        GaussianMixture(random_state=0),
        GaussianMixture(2, init_params="hierarchical"),
        GaussianMixture(2, covariance_type="tied", init_params="hierarchical"),
        GaussianMixture(2, covariance_type="diag", init_params="hierarchical"),
        GaussianMixture(3, covariance_type="sieve", init_params="hierarchical"),
    ],
    "HistGradientBoostingClassifier": [
        HistGradientBoostingClassifier(max_iter=4, min_samples_leaf=3, max_leaf_nodes=5),
        HistGradientBoostingClassifier(
            max_iter=3, min_samples_leaf=4, max_depth=2, class_weight="balanced"
        ),
    ],
    "HistGradientBoostingRegressor": [
        HistGradientBoostingRegressor(
            max_iter=4, min_samples_leaf=3, max_leaf_nodes=5, learning_rate=0.5
        ),
        HistGradientBoostingRegressor(
            "absolute_error",
            max_iter=5,
            learning_rate=0.5,
            min_samples_leaf=4,
            max_features=0.5,
            random_state=0,
        ),
        HistGradientBoostingRegressor(
            "huber", max_iter=3, learning_rate=0.5, min_samples_leaf=4, max_depth=2
        ),
    ],
    "KMeans": [
        KMeans(4, n_init=2, random_state=0),
        KMeans(2, init="random", n_init=1, criterion="stability", random_state=0),
    ],
    "KernelClassifier": [
        KernelClassifier(0.5),
        KernelClassifier("loo", kernel="epanechnikov"),
    ],
    "KernelDensity": [
        KernelDensity(),
        KernelDensity(bandwidth=15.0, kernel="epanechnikov"),
        KernelDensity(bandwidth="scott"),
        KernelDensity(bandwidth="cv", kernel="exponential"),
    ],
    "KernelRegressor": [
        KernelRegressor(0.5),
        KernelRegressor("loo", kernel="biweight"),
        KernelRegressor(2.0, degree=1, scale=None),
    ],
    "KNeighborsClassifier": [
        KNeighborsClassifier(),
        KNeighborsClassifier(3, weights="distance", standardize=True),
        KNeighborsClassifier(4, p=3, algorithm="kd_tree", leaf_size=3),
        KNeighborsClassifier(3, metric="gower"),
        KNeighborsClassifier(3, metric="learned"),
    ],
    "KNeighborsRegressor": [
        KNeighborsRegressor(),
        KNeighborsRegressor(3, weights="distance", p=1, algorithm="kd_tree", leaf_size=2),
        KNeighborsRegressor(4, weights=NearerCountsMore(), metric="chebyshev"),
        KNeighborsRegressor(3, metric="gower"),
        KNeighborsRegressor(3, metric="learned", weights="distance"),
    ],
    "Lasso": [Lasso(alpha=0.1), Lasso(alpha=0.05, fit_intercept=False)],
    "LinearDiscriminantAnalysis": [
        LinearDiscriminantAnalysis(),
        LinearDiscriminantAnalysis(shrinkage=0.3),
        LinearDiscriminantAnalysis(solver="eigen"),
    ],
    "LinearRegression": [LinearRegression(), LinearRegression(fit_intercept=False)],
    "LinearTreeClassifier": [
        LinearTreeClassifier(min_samples_leaf=5),
        LinearTreeClassifier(alpha=0.1, min_samples_leaf=4, max_leaf_nodes=4, ccp_alpha=0.01),
    ],
    "LinearTreeRegressor": [
        LinearTreeRegressor(min_samples_leaf=5),
        LinearTreeRegressor(alpha=0.1, clip=None, min_samples_leaf=4, max_bins=8, max_leaf_nodes=5),
    ],
    "LogisticRegression": [LogisticRegression(), LogisticRegression(C=0.5, l1_ratio=0.5)],
    "LogitBoostClassifier": [
        LogitBoostClassifier(n_estimators=5),
        LogitBoostClassifier("least_squares", 5, learning_rate=0.5),
        LogitBoostClassifier(LinearRegression(), 3),
    ],
    "MarginClassifier": [
        MarginClassifier(),
        MarginClassifier("logit", penalty="l1"),
        MarginClassifier("squared_hinge"),
        MarginClassifier("perceptron", max_iter=50),
    ],
    "MLPClassifier": [
        MLPClassifier(5, solver="lbfgs", max_iter=15, alpha=0.1, **ALL_EPOCHS),
        MLPClassifier((6, 5), "tanh", max_iter=4, batch_size=8, **FAST),
        MLPClassifier(4, solver="sgd", max_iter=4, batch_size=8, l1_ratio=0.5, **FAST),
    ],
    "MLPRegressor": [
        MLPRegressor("squared_error", 5, solver="lbfgs", max_iter=15, alpha=0.1, **ALL_EPOCHS),
        MLPRegressor("absolute_error", (6, 5), max_iter=6, batch_size=8, **FAST),
        MLPRegressor("squared_error", 6, "logistic", max_iter=6, batch_size=8, n_starts=2, **FAST),
    ],
    "NaiveBayes": [NaiveBayes(), NaiveBayes(variance_floor=0.2)],
    "NetworkClassifier": [
        NetworkClassifier([Dense(4, "gelu")], solver="lbfgs", max_iter=15, **ALL_EPOCHS),
        NetworkClassifier(
            [Dense(9), Dropout(0.1)], loss="squared_hinge", max_iter=6, **FAST, batch_size=8
        ),
    ],
    "NetworkRegressor": [
        NetworkRegressor(
            [Bottleneck(2), Dense(3, "tanh")], solver="lbfgs", max_iter=15, **ALL_EPOCHS
        ),
        NetworkRegressor(
            [Dense(6, "leaky_relu")], loss="quantile:0.5", max_iter=6, **FAST, batch_size=8
        ),
    ],
    "ParametricDensity": [
        ParametricDensity(),
        ParametricDensity(shrinkage=0.5),
        ParametricDensity("laplace"),
        ParametricDensity("gumbel_r"),
    ],
    "PlugInPredictor": [
        PlugInPredictor(),
        PlugInPredictor(Lasso(alpha=0.1), "quantile:0.8"),
        PlugInPredictor(LinearDiscriminantAnalysis(), "zero_one"),
    ],
    "QuadraticDiscriminantAnalysis": [
        QuadraticDiscriminantAnalysis(),
        QuadraticDiscriminantAnalysis(reg_param=0.1),
    ],
    "PoissonMixture": [
        PoissonMixture(random_state=0),
        PoissonMixture(2, init_params="hierarchical"),
    ],
    "PCA": [
        PCA(2),
        PCA(0.9, whiten=True, correlation=True),
        PCA(svd_solver="full"),
        PCA(1, svd_solver="gram"),
    ],
    "RandomForestClassifier": [
        RandomForestClassifier(3, random_state=0),
        RandomForestClassifier(3, max_samples=30, splitter="random", random_state=0),
    ],
    "RandomForestRegressor": [
        RandomForestRegressor(3, random_state=0, max_features=2),
        RandomForestRegressor(
            3, criterion="absolute_error", bootstrap=False, max_depth=4, random_state=0
        ),
    ],
    "RegularizedDiscriminantAnalysis": [
        RegularizedDiscriminantAnalysis(),
        RegularizedDiscriminantAnalysis(0.3, 0.1, target="identity"),
    ],
    "Ridge": [Ridge(), Ridge(alpha=0.1, fit_intercept=False)],
    "StagewiseRegressor": [
        StagewiseRegressor(n_estimators=6, learning_rate=0.5),
        StagewiseRegressor("least_squares", 20),
        StagewiseRegressor("least_squares", 10, loss="absolute"),
        StagewiseRegressor(LinearRegression(), 4, learning_rate=0.5),
    ],
    "StochasticKMeans": [
        StochasticKMeans(3, random_state=0),
        StochasticKMeans(2, init="random", max_iter=2, random_state=0),
    ],
}
TUNED = [
    Tuned(Ridge(), cv=3, values=[0.1, 1.0, 10.0]),
    Tuned(Ridge(), cv=LeaveOneOut(), rule="one_se"),
    Tuned(LinearDiscriminantAnalysis(), cv=3, values=[0.1, 0.5]),
]
MORE_TUNED = [
    Tuned(LinearRegression(), cv=3),
    Tuned(Tuned(Ridge(), cv=3, values=[0.1, 1.0]), cv=2),
    Tuned(AdaBoostClassifier(n_estimators=4), cv=2),
    Tuned(AdaBoostRegressor(n_estimators=3, bootstrap=False), cv=2),
    Tuned(HistGradientBoostingClassifier(max_iter=3, min_samples_leaf=3, max_depth=2), cv=2),
    Tuned(HistGradientBoostingRegressor(max_iter=4, min_samples_leaf=3, learning_rate=0.5), cv=2),
    Tuned(LogitBoostClassifier(n_estimators=3), cv=2),
    Tuned(StagewiseRegressor(n_estimators=3, learning_rate=0.5), cv=2),
    Tuned(DensityClassifier(ParametricDensity()), cv=2, values=[0.1, 0.5]),
    Tuned(PCA(), cv=3, values=[1, 2]),
    Tuned(ParametricDensity(), cv=2, values=[0.1, 0.5]),
    Tuned(PlugInPredictor(Ridge(), "absolute"), cv=2, values=[0.1, 1.0]),
    Tuned(KernelDensity(), cv=3),
    Tuned(KernelRegressor(), cv=3),
    Tuned(GaussianMixture(init_params="hierarchical"), cv=3, values=[1, 2]),
]
DEFAULTS = [Tuned(Ridge()), Tuned(LinearDiscriminantAnalysis()), Tuned(Tuned(Ridge()))]
INSTANCES = [instance for instances in SETTINGS.values() for instance in instances]
FIRST = [instance for instances in SETTINGS.values() for instance in instances[:1]]
OTHERS = [instance for instances in SETTINGS.values() for instance in instances[1:]]

# Where rows are drawn, a row of weight w and w copies of it are alike in distribution only:
# tests/learners/ensembles/test_weights.py and tests/learners/unsupervised look at that.
DRAWS_ROWS = (
    AdaBoostRegressor
    | BaggingClassifier
    | BaggingRegressor
    | KMeans
    | RandomForestClassifier
    | RandomForestRegressor
    | StochasticKMeans
)

every_learner = pytest.mark.parametrize("learner", INSTANCES, ids=str)
every_estimator = pytest.mark.parametrize("learner", INSTANCES + TUNED, ids=str)


def test_every_learner_is_listed():
    assert {learner.__name__ for learner in learners()} == set(SETTINGS)


def loss_of(learner):
    return learner.loss if isinstance(learner, Baseline) else None


def sample(learner, n=60, seed=0):
    """Rows with signal, unequal scales and, for classifiers, three classes of strings."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4)) * [1.0, 3.0, 0.5, 2.0] + [0.0, 5.0, 0.0, -1.0]
    if get_tags(learner).input_tags.positive_only:
        X = np.abs(X)
    if is_classifier(learner):
        score = X[:, 0] + 0.3 * X[:, 1] + 0.7 * rng.normal(size=n)
        return X, np.array(["a", "b", "c"])[np.digitize(score, np.quantile(score, [0.4, 0.7]))]
    return X, X @ [1.0, -0.5, 2.0, 0.0] + rng.normal(size=n)


def outputs(model, X):
    """Everything a fitted model says of X, as numbers."""
    if hasattr(model, "reconstruct"):
        return model.reconstruct(X)
    if hasattr(model, "score_samples"):
        return model.score_samples(X)
    if not is_classifier(model):
        return model.predict(X)
    return model.predict_proba(X) if hasattr(model, "predict_proba") else model.decision_function(X)


def draws_rows(estimator):
    if isinstance(estimator, Network):
        return estimator.solver != "lbfgs"
    drawn = isinstance(estimator, DRAWS_ROWS)
    members = not hasattr(estimator, "reconstruct")
    return drawn and (
        not members or estimator.bootstrap or getattr(estimator, "max_samples", None) is not None
    )


def in_distribution_only(estimator):
    if not draws_rows(estimator):
        return {}
    name = "check_sample_weight_equivalence_on_dense_data"
    return {name: "rows are drawn at random"}


@parametrize_with_checks(FIRST + TUNED, expected_failed_checks=in_distribution_only)
def test_check_estimator(estimator, check):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RankWarning)  # its data are often deficient by design
        check(estimator)


@pytest.mark.slow
@parametrize_with_checks(
    OTHERS + MORE_TUNED + DEFAULTS, expected_failed_checks=in_distribution_only
)
def test_check_estimator_of_other_settings(estimator, check):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RankWarning)
        check(estimator)


@every_learner
def test_a_weighted_row_is_so_many_copies(learner):
    if draws_rows(learner):
        return
    X, y = sample(learner)
    weight = np.random.default_rng(1).integers(0, 4, size=len(y))
    copies = np.repeat(np.arange(len(y)), weight)
    weighted = clone(learner).fit(X, y, sample_weight=weight)
    repeated = clone(learner).fit(X[copies], y[copies])
    # Sums of the same terms in another order: double precision at condition numbers below 1e2.
    assert_allclose(outputs(weighted, X), outputs(repeated, X), rtol=1e-9, atol=1e-12)


@every_learner
def test_weights_of_another_scale_change_nothing_unless_penalised(learner):
    if getattr(learner, "bandwidth", None) == "scott":
        return  # the rule has the number of rows in it
    X, y = sample(learner)
    weight = np.random.default_rng(1).uniform(0.5, 2, size=len(y))
    one = clone(learner).fit(X, y, sample_weight=weight)
    thousand = clone(learner)
    if isinstance(learner, Ridge | LinearTreeClassifier | LinearTreeRegressor | Network):
        thousand.set_params(alpha=1000 * learner.alpha)  # the penalty is on the scale of the sum
    if isinstance(learner, LogisticRegression | MarginClassifier):
        thousand.set_params(C=learner.C / 1000)
    if isinstance(learner, KNeighborsClassifier | KNeighborsRegressor):
        thousand.set_params(n_neighbors=1000 * learner.n_neighbors)  # it counts copies
    thousand.fit(X, y, sample_weight=1000 * weight)
    assert_allclose(outputs(one, X), outputs(thousand, X), rtol=1e-9, atol=1e-12)


@every_estimator
@pytest.mark.parametrize("n_jobs", [2, 4])
def test_the_same_bits_for_every_n_jobs(learner, n_jobs):
    X, y = sample(learner, n=150)
    if "n_jobs" in learner.get_params():
        one = clone(learner).set_params(n_jobs=1).fit(X, y)
        many = clone(learner).set_params(n_jobs=n_jobs).fit(X, y)
        assert_array_equal(outputs(one, X), outputs(many, X))
    one, many = (
        risk.cross_validate(learner, X, y, cv=4, loss=loss_of(learner), n_jobs=jobs)
        for jobs in (1, n_jobs)
    )
    assert_array_equal(one.losses, many.losses)


@every_learner
def test_blocks_of_rows_give_the_bits_of_all_rows(learner):
    if not hasattr(learner, "fit_blocks"):
        return
    X, y = sample(learner, n=5000)
    weight = np.random.default_rng(1).integers(0, 3, size=5000)
    cuts = [0, 1, 700, 701, 4800, 5000]
    pieces = [(X[a:b], y[a:b], weight[a:b]) for a, b in pairwise(cuts)]
    whole = clone(learner).fit(X, y, sample_weight=weight)
    assert_array_equal(outputs(clone(learner).fit_blocks(pieces), X), outputs(whole, X))


PLANS = [
    KFold(4, shuffle=True, random_state=0),
    LeaveOneOut(),
    RepeatedKFold(n_splits=3, n_repeats=2, random_state=0),
]


def has_whole_plans(learner):
    """For any partition into folds; ensembles answer plans of rows out of bag alone."""
    return type(learner).out_of_fold not in (PathMixin.out_of_fold, BaggedPathMixin.out_of_fold)


def ways_to_hold_out():
    """(learner, plan, whether weighted); a path knows its training rows, whatever their plan."""
    paths = [(PLANS[0], True), (PLANS[2], False)]
    for learner in INSTANCES:
        for cv, weighted in product(PLANS, [False, True]) if has_whole_plans(learner) else paths:
            way = f"{type(cv).__name__}{'-weighted' * weighted}"
            yield pytest.param(learner, cv, weighted, id=f"{way}-{learner}")


@pytest.mark.parametrize(("learner", "cv", "weighted"), list(ways_to_hold_out()))
def test_fast_rungs_equal_the_generic_loop(learner, cv, weighted):
    whole = has_whole_plans(learner)
    n = 40 if whole and not isinstance(cv, LeaveOneOut) else 20
    if isinstance(learner, DensityClassifier | QuadraticDiscriminantAnalysis):
        n += 40  # a covariance of each class, of four columns
    X, y = sample(learner, n=n, seed=2)
    weight = np.random.default_rng(3).uniform(0.2, 3, size=n) if weighted else None
    for loss in losses_for(learner):
        problem = risk.Problem.of(learner, X, y, loss=loss, sample_weight=weight)
        plan = problem.plan(cv)
        axis = learner.axis
        values = None
        if axis is not None:
            values = learner.axis_values(X, problem.target, problem.weight, n_train=plan.n_train)
            values = list(values)[:: max(1, len(values) // (5 if whole else 3))]
        slow = risk.out_of_fold(learner, problem, plan, values=values, rung="generic")
        path = risk.out_of_fold(learner, problem, plan, values=values, rung="path")
        fast = risk.out_of_fold(learner, problem, plan, values=values)
        assert (slow.rung, path.rung) == ("generic", "path")
        # The contract: 1e-10 relative where the condition number is below 1e4.
        assert_allclose(path.losses, slow.losses, rtol=1e-9, atol=1e-12)
        assert_allclose(fast.losses, slow.losses, rtol=1e-9, atol=1e-12)
        assert fast.rung == ("plan" if whole else "path"), fast.why


# Whose paths give the models of fits, bit for bit; those of others come from other starts, or
# other products.
FITTED_ONCE = (
    AdaBoostClassifier
    | AdaBoostRegressor
    | DecisionTreeClassifier
    | DecisionTreeRegressor
    | HistGradientBoostingClassifier
    | HistGradientBoostingRegressor
    | KernelClassifier
    | KernelDensity
    | KernelRegressor
    | KNeighborsClassifier
    | KNeighborsRegressor
    | LinearTreeClassifier
    | LinearTreeRegressor
    | LogitBoostClassifier
    | Network
    | ParametricDensity
    | StagewiseRegressor
)


@every_learner
@pytest.mark.parametrize("weighted", [False, True])
def test_a_path_that_is_the_same_as_fits_gives_their_bits(learner, weighted):
    X, y = sample(learner, n=80)
    weight = np.random.default_rng(3).uniform(0.2, 3, size=80) if weighted else None
    problem = risk.Problem.of(learner, X, y, loss=loss_of(learner), sample_weight=weight)
    values = None
    if learner.axis is not None:
        coded = learner if problem.classes is None else learner.for_classes(problem.classes)
        design = learner.design(X)
        values = coded.axis_values(design, problem.target, problem.weight, n_train=60)
        values = list(values)[:: max(1, len(values) // 4)]
    found = risk.out_of_fold(learner, problem, problem.plan(2), values=values, random_state=0)
    same = getattr(found.whole.path, "same_as_fit", False)
    fitted_once = isinstance(learner, FITTED_ONCE)
    if isinstance(learner, HistGradientBoostingClassifier | HistGradientBoostingRegressor):
        fitted_once = not weighted  # by weights bins may have other ends
    if isinstance(learner, AdaBoostClassifier):
        fitted_once = not isinstance(learner.estimator, LinearDiscriminantAnalysis)  # has labels
    assert same == fitted_once
    if same:
        for j, value in enumerate(values):
            one = found.whole.path.at(j)
            one = one if problem.classes is None else one.with_labels(problem.classes)
            assert learner.axis.settings(value).items() <= one.get_params().items()
            assert_same_bits(one, clone(one).fit(X, y, sample_weight=weight))


def losses_for(learner):
    if isinstance(learner, Baseline):
        return [learner.loss]
    if hasattr(learner, "reconstruct"):
        return ["reconstruction", *{"entries"}.intersection([learner.own_loss.name])]
    if hasattr(learner, "density_risk"):
        return ["log_density"]
    if not is_classifier(learner):
        return ["squared", "absolute"]
    return ["zero_one", "log"] if hasattr(learner, "predict_proba") else ["zero_one"]


@pytest.mark.parametrize("learner", [own[0] for own in SETTINGS.values()], ids=str)
def test_declared_equivariance_holds(learner):
    X, y = sample(learner)
    units = {"each": [2.0, 1e-3, 1e5, 7.0], "common": 2.0**10, None: 1.0}[learner.feature_scaling]
    model = Tuned(learner, cv=4) if learner.feature_scaling == "common" else learner
    one, other = clone(model).fit(X, y), clone(model).fit(X * units, y)
    back = units if hasattr(learner, "reconstruct") else 1.0  # rows are in the units of X
    each = np.log(np.broadcast_to(units, 4)).sum()
    shift = each if hasattr(learner, "density_risk") else 0.0  # densities are per unit
    # Condition numbers below 1e2 once the columns have one scale, double precision.
    found = outputs(other, X * units) / back + shift
    assert_allclose(found, outputs(one, X), rtol=1e-8, atol=1e-10)


@every_estimator
@pytest.mark.parametrize("power", [-200, 200])
def test_everything_stays_finite(learner, power):
    X, y = sample(learner)
    X = X * 10.0**power
    model = clone(learner).fit(X, y)
    assert np.isfinite(outputs(model, X)).all()
    if not is_classifier(learner) and not isinstance(learner, Tuned):  # squared losses overflow
        y = y * 10.0**power
        assert np.isfinite(outputs(clone(learner).fit(X, y), X)).all()


@every_estimator
def test_clone_and_pickle_keep_the_learner(learner):
    X, y = sample(learner)
    model = clone(learner).fit(X, y)
    again = pickle.loads(pickle.dumps(model))
    assert_array_equal(outputs(again, X), outputs(model, X))
    fresh = clone(model)
    assert repr(fresh) == repr(learner)
    assert not [name for name in vars(fresh) if name.endswith("_") and not name.startswith("_")]


@every_estimator
def test_every_fitted_attribute_is_in_the_docstring(learner):
    X, y = sample(learner)
    model = clone(learner).fit(pd.DataFrame(X, columns=list("abcd")), y)
    told = set(re.findall(r"\w+_\b", type(model).__doc__.partition("Attributes\n")[2]))
    public = {name for name in vars(model) if name.endswith("_") and not name.startswith("_")}
    assert public <= told


@every_estimator
@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame], ids=["pandas", "polars"])
def test_data_frames_go_in_and_their_names_are_kept(learner, frame):
    X, y = sample(learner)
    names = ["width", "height", "depth", "weight"]
    table = frame(dict(zip(names, X.T, strict=True)))
    model = clone(learner).fit(table, y)
    assert list(model.feature_names_in_) == names
    assert_allclose(outputs(model, table), outputs(clone(learner).fit(X, y), X), rtol=1e-12)
    with pytest.raises(ValueError, match="feature names"):
        outputs(model, table[names[::-1]])


@every_estimator
def test_a_series_is_a_target(learner):
    X, y = sample(learner)
    model = clone(learner).fit(X, pd.Series(y, index=np.arange(len(y)) + 7))
    assert_array_equal(outputs(model, X), outputs(clone(learner).fit(X, y), X))


@every_estimator
@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_missing_and_infinite_values_are_named(learner, bad):
    X, y = sample(learner)
    X[3, 2] = bad
    if np.isnan(bad) and get_tags(learner).input_tags.allow_nan:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", EmpiriskWarning)  # rows that were left out are named
            assert np.isfinite(outputs(clone(learner).fit(X, y), X)).all()
        return
    with pytest.raises(ValueError, match=r"(?i)nan|inf"):
        clone(learner).fit(X, y)
    good, _ = sample(learner)
    model = clone(learner).fit(good, y)
    with pytest.raises(ValueError, match=r"(?i)nan|inf"):
        outputs(model, X)


@every_estimator
def test_bad_shapes_are_clear_errors(learner):
    X, y = sample(learner)
    with pytest.raises(ValueError, match="0 sample"):
        clone(learner).fit(X[:0], y[:0])
    if not (hasattr(learner, "reconstruct") or hasattr(learner, "score_samples")):  # without y
        with pytest.raises(ValueError, match="inconsistent"):
            clone(learner).fit(X, y[:-1])
    with pytest.raises(ValueError, match="0 feature"):
        clone(learner).fit(X[:, :0], y)
    model = clone(learner).fit(X, y)
    with pytest.raises(ValueError, match="expecting 4 features"):
        outputs(model, X[:, :3])
    with pytest.raises(ValueError, match=r"(?i)1d|reshape"):
        outputs(model, X[0])
    for series in (pd.Series(X[:, 0]), pl.Series(X[:, 0])):
        with pytest.raises(ValueError, match=r"2-dimensional|2D"):
            clone(learner).fit(series, y)


@every_estimator
def test_one_row_is_fitted_finitely_or_refused_clearly(learner):
    X, y = sample(learner)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RankWarning)
        try:
            model = clone(learner).fit(X[:1], y[:1])
        except ValueError as error:
            refusal = str(error)
        else:
            refusal = ""
            assert np.isfinite(outputs(model, X)).all()
    assert refusal == "" or "1" in refusal or "one" in refusal


@every_estimator
def test_one_class_is_refused_clearly(learner):
    # As in scikit-learn.
    one_class_will_do = (
        AdaBoostClassifier
        | Baseline
        | DecisionTreeClassifier
        | KNeighborsClassifier
        | LinearTreeClassifier
        | RandomForestClassifier
    )
    if isinstance(learner, BaggingClassifier) and learner.estimator is None:
        return  # members are trees
    if not is_classifier(learner) or isinstance(learner, one_class_will_do):
        return
    X, y = sample(learner)
    with pytest.raises(ValueError, match="class"):
        clone(learner).fit(X, np.full(len(y), "a"))


@every_learner
def test_weights_are_checked(learner):
    X, y = sample(learner)
    assert has_fit_parameter(learner, "sample_weight")
    for weight in (-np.ones(len(y)), np.zeros(len(y)), np.full(len(y), np.nan), np.ones(3)):
        with pytest.raises(ValueError, match="weight"):
            clone(learner).fit(X, y, sample_weight=weight)


@every_learner
def test_every_learner_declares_its_contract(learner):
    assert isinstance(learner, PathMixin)
    assert learner.feature_scaling in ("each", "common", None)
    assert type(learner).__doc__
    if learner.axis is not None:
        assert set(learner.axis.params) <= set(learner.get_params())
        assert learner.axis.params[0] in type(learner).__doc__
