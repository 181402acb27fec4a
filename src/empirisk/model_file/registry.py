"""The closed list of classes that a model file may hold, and what of each is kept.

A new class needs one line in HOMES. Nothing that a file says leads to an import from anywhere else.
"""

import re
from collections.abc import Mapping
from functools import cache, cached_property
from importlib import import_module
from inspect import Parameter, signature
from typing import Any

SPLITTERS = "sklearn.model_selection"
PLANS = "empirisk.risk.plans.plan"

HOMES = {
    "Absolute": "empirisk.losses",
    "Activation": "empirisk.learners.networks.layers",
    "AdaBoostClassifier": "empirisk.learners.ensembles.boosting.ada_boost_classifier",
    "AdaBoostRegressor": "empirisk.learners.ensembles.boosting.ada_boost_regressor",
    "Asymmetric": "empirisk.losses",
    "Autoencoder": "empirisk.learners.networks.autoencoder",
    "AveragePool": "empirisk.learners.networks.picture_layers",
    "Axis": "empirisk.risk.axis",
    "BaggingClassifier": "empirisk.learners.ensembles.bagging_classifier",
    "BaggingRegressor": "empirisk.learners.ensembles.bagging_regressor",
    "Baseline": "empirisk.learners.baseline",
    "BasisExpansion": "empirisk.learners.linear.basis_expansion",
    "BasisRegression": "empirisk.learners.linear.basis_regression",
    "BoostedTrees": "empirisk.learners.ensembles.boosting.boosted_trees",
    "Bottleneck": "empirisk.learners.networks.layers",
    "Brier": "empirisk.losses",
    "Category": "empirisk.data.features",
    "ClassDensities": "empirisk.learners.generative.class_densities",
    "ClassStatistics": "empirisk.learners.generative.bayes_rule",
    "CodedColumn": "empirisk.data.coded_column",
    "ColumnBlock": "empirisk.learners.generative.mixed_rows",
    "ColumnMoments": "empirisk.data.column_moments",
    "ColumnSamples": "empirisk.data.column_samples",
    "Conv1d": "empirisk.learners.networks.picture_layers",
    "Conv2d": "empirisk.learners.networks.picture_layers",
    "Costs": "empirisk.losses",
    "Decaying": "empirisk.solvers.steps",
    "DecisionTreeClassifier": "empirisk.learners.trees.classifier",
    "DecisionTreeRegressor": "empirisk.learners.trees.regressor",
    "Dense": "empirisk.learners.networks.layers",
    "Descent": "empirisk.solvers.descent",
    "DensityClassifier": "empirisk.learners.density.density_classifier",
    "Dropout": "empirisk.learners.networks.layers",
    "EMTrajectory": "empirisk.learners.density.em_trajectory",
    "ElasticNet": "empirisk.learners.linear.elastic_net",
    "Encoder": "empirisk.data.encode",
    "Exponential": "empirisk.losses",
    "Flatten": "empirisk.learners.networks.layers",
    "FoldAverageClassifier": "empirisk.selection.average",
    "FoldAverageDensity": "empirisk.selection.average",
    "FoldAverageRegressor": "empirisk.selection.average",
    "ForestTrees": "empirisk.learners.ensembles.forest_trees",
    "GaussianMixture": "empirisk.learners.density.gaussian_mixture",
    "GroupKFold": SPLITTERS,
    "GroupShuffleSplit": SPLITTERS,
    "HeldOutEntries": "empirisk.losses",
    "Hinge": "empirisk.losses",
    "HistGradientBoostingClassifier": (
        "empirisk.learners.ensembles.boosting.hist_gradient_boosting_classifier"
    ),
    "HistGradientBoostingRegressor": (
        "empirisk.learners.ensembles.boosting.hist_gradient_boosting_regressor"
    ),
    "KFold": SPLITTERS,
    "KMeans": "empirisk.learners.unsupervised.kmeans",
    "KernelClassifier": "empirisk.learners.neighbors.kernel_classifier",
    "KernelDensity": "empirisk.learners.density.kernel_density",
    "KernelRegressor": "empirisk.learners.neighbors.kernel_regressor",
    "KNeighborsClassifier": "empirisk.learners.neighbors.k_neighbors_classifier",
    "KNeighborsRegressor": "empirisk.learners.neighbors.k_neighbors_regressor",
    "Lasso": "empirisk.learners.linear.lasso",
    "LeafModels": "empirisk.learners.trees.linear_models",
    "LeafMembers": "empirisk.learners.ensembles.leaf_members",
    "LeaveOneGroupOut": SPLITTERS,
    "LeaveOneOut": SPLITTERS,
    "LeavePGroupsOut": SPLITTERS,
    "LeavePOut": SPLITTERS,
    "LevelCounts": "empirisk.data.column_moments",
    "LinearDiscriminantAnalysis": "empirisk.learners.generative.lda",
    "LinearRegression": "empirisk.learners.linear.least_squares",
    "LinearTreeClassifier": "empirisk.learners.trees.linear_tree_classifier",
    "LinearTreeRegressor": "empirisk.learners.trees.linear_tree_regressor",
    "Log": "empirisk.losses",
    "LogDensity": "empirisk.losses",
    "LogisticRegression": "empirisk.learners.linear.logistic",
    "Logit": "empirisk.losses",
    "LogitBoostClassifier": "empirisk.learners.ensembles.boosting.logit_boost",
    "MLPClassifier": "empirisk.learners.networks.mlp_classifier",
    "MLPRegressor": "empirisk.learners.networks.mlp_regressor",
    "MarginClassifier": "empirisk.learners.linear.margin_classifier",
    "MaxPool": "empirisk.learners.networks.picture_layers",
    "MixedMetric": "empirisk.learners.neighbors.metrics",
    "ModelColumns": "empirisk.learners.trees.linear_columns",
    "NaiveBayes": "empirisk.learners.generative.naive_bayes",
    "NetworkClassifier": "empirisk.learners.networks.network_classifier",
    "NetworkRegressor": "empirisk.learners.networks.network_regressor",
    "NoColumns": "empirisk.selection.no_columns",
    "Number": "empirisk.data.features",
    "OneClass": "empirisk.learners.ensembles.members",
    "OutOfBagCurve": "empirisk.risk.bagging.out_of_bag_curve",
    "PCA": "empirisk.learners.unsupervised.pca",
    "PairMetric": "empirisk.learners.neighbors.pair_metric",
    "ParametricDensity": "empirisk.learners.density.parametric_density",
    "Perceptron": "empirisk.losses",
    "Pipeline": "sklearn.pipeline",
    "Plan": PLANS,
    "PlugInPredictor": "empirisk.learners.density.plug_in_predictor",
    "PoissonMixture": "empirisk.learners.density.poisson_mixture",
    "PointMetric": "empirisk.learners.neighbors.metrics",
    "PredefinedSplit": SPLITTERS,
    "QuadraticDiscriminantAnalysis": "empirisk.learners.generative.qda",
    "Quantile": "empirisk.losses",
    "RandomForestClassifier": "empirisk.learners.ensembles.random_forest_classifier",
    "RandomForestRegressor": "empirisk.learners.ensembles.random_forest_regressor",
    "Reconstruction": "empirisk.losses",
    "RegularizedDiscriminantAnalysis": "empirisk.learners.generative.rda",
    "RepeatedKFold": SPLITTERS,
    "RepeatedStratifiedKFold": SPLITTERS,
    "Ridge": "empirisk.learners.linear.ridge",
    "RiskEstimate": "empirisk.risk.estimate",
    "RiskPath": "empirisk.risk.curves",
    "Separation": "empirisk.learners.linear.separation",
    "ShuffleSplit": SPLITTERS,
    "Smoothing": "empirisk.learners.generative.column_distributions",
    "Square": "empirisk.losses",
    "Squared": "empirisk.losses",
    "SquaredHinge": "empirisk.losses",
    "StagedColumns": "empirisk.learners.ensembles.boosting.column_rounds",
    "StagedMembers": "empirisk.learners.ensembles.boosting.any_rounds",
    "StagedTrees": "empirisk.learners.ensembles.boosting.tree_rounds",
    "StagewiseRegressor": "empirisk.learners.ensembles.boosting.stagewise_regressor",
    "StochasticKMeans": "empirisk.learners.unsupervised.stochastic_kmeans",
    "StratifiedGroupKFold": SPLITTERS,
    "StratifiedKFold": SPLITTERS,
    "StratifiedShuffleSplit": SPLITTERS,
    "TimeSeriesSplit": SPLITTERS,
    "Trajectory": "empirisk.learners.unsupervised.trajectory",
    "Tree": "empirisk.learners.trees.tree",
    "Tuned": "empirisk.selection.tuned",
    "ZeroOne": "empirisk.losses",
}

# Parameters that are None after loading: losses row by row are no part of a model, and a folder
# of cached fits is one of the machine that fitted.
NOT_KEPT = {"RiskEstimate": ("table",), "Pipeline": ("memory",)}

# Fitted attributes that stay behind: what was found for each training row, and not asked again.
ROW_BY_ROW = {
    "_draws",
    "_rows",
    "_target_key",
    "labels_",
    "oob_decision_function_",
    "oob_prediction_",
}

# Classes that are their parameters: what else they have follows from these.
WITHOUT_STATE = (SPLITTERS, PLANS)

ATTRIBUTE = re.compile(r"(?!__)[A-Za-z_][A-Za-z0-9_]{0,99}")


def registered(name: str) -> type | None:
    """The class of that name, or None if a model file may not hold it."""
    if name not in HOMES:
        return None
    return getattr(import_module(HOMES[name]), name)


@cache
def constructor(name: str) -> Mapping[str, Parameter]:
    """The parameters of the constructor of a registered class."""
    cls = registered(name)
    return {} if cls is None else signature(cls).parameters


def parameters(name: str) -> dict[str, Parameter]:
    """Those that a file keeps."""
    left_out = NOT_KEPT.get(name, ())
    return {p: about for p, about in constructor(name).items() if p not in left_out}


def params_of(thing: Any) -> dict[str, Any]:
    """What the constructor of an equal object would be given."""
    # scikit-learn's repeated splitters keep some of their parameters one level down, in `cvargs`.
    return {
        name: getattr(thing, name) if hasattr(thing, name) else thing.cvargs[name]
        for name in parameters(type(thing).__name__)
    }


def state_of(thing: Any) -> dict[str, Any]:
    """What the object has become since it was made: the fitted attributes, by name."""
    name = type(thing).__name__
    if HOMES[name] in WITHOUT_STATE:
        return {}
    own = getattr(thing, "__dict__", {})
    left_out = {*constructor(name), *ROW_BY_ROW, *_found_again(type(thing))}
    return {key: own[key] for key in sorted(own) if key not in left_out}


def _found_again(cls: type) -> set[str]:
    """Properties that are kept once they are found: they follow from the rest."""
    named = (item for base in cls.__mro__ for item in vars(base).items())
    return {key for key, value in named if isinstance(value, cached_property)}


def may_be_state(cls: type, key: str) -> bool:
    """Whether a fitted attribute may have this name: no parameter, method or property has it."""
    if HOMES[cls.__name__] in WITHOUT_STATE or key in constructor(cls.__name__):
        return False
    taken = any(key in vars(base) for base in cls.__mro__)
    return ATTRIBUTE.fullmatch(key) is not None and not taken
