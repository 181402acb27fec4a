"""Settings of every learner: cheap ones, for every way through its code."""

import numpy as np
import pytest
from sklearn.base import is_classifier
from sklearn.model_selection import LeaveOneOut
from sklearn.utils import get_tags

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
)


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
    "Baseline": [
        Baseline(),
        Baseline("absolute"),
        Baseline("zero_one"),
        Baseline("log"),
        Baseline("brier"),
    ],
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
        KNeighborsClassifier(3, metric="cosine"),
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

INSTANCES = [instance for instances in SETTINGS.values() for instance in instances]

every_learner = pytest.mark.parametrize("learner", INSTANCES, ids=str)
every_estimator = pytest.mark.parametrize("learner", INSTANCES + TUNED, ids=str)


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
