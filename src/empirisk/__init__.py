"""Empirisk: learn a prediction rule from a table and say, honestly, how well it will do."""

from empirisk.runtime.lazy_names import lazy_names

__version__ = "0.1.0"

# Every public name, once, with the module it lives in; imported when first used, so that
# `import empirisk` is instant.
_HOME = {
    "AdaBoostClassifier": "empirisk.learners.ensembles.boosting.ada_boost_classifier",
    "AdaBoostRegressor": "empirisk.learners.ensembles.boosting.ada_boost_regressor",
    "Axis": "empirisk.risk.axis",
    "BaggingClassifier": "empirisk.learners.ensembles.bagging_classifier",
    "BaggingRegressor": "empirisk.learners.ensembles.bagging_regressor",
    "Baseline": "empirisk.learners.baseline",
    "BasisExpansion": "empirisk.learners.linear.basis_expansion",
    "BasisRegression": "empirisk.learners.linear.basis_regression",
    "DecisionTreeClassifier": "empirisk.learners.trees.classifier",
    "DecisionTreeRegressor": "empirisk.learners.trees.regressor",
    "DensityClassifier": "empirisk.learners.density.density_classifier",
    "ElasticNet": "empirisk.learners.linear.elastic_net",
    "Encoder": "empirisk.data.encode",
    "GaussianMixture": "empirisk.learners.density.gaussian_mixture",
    "HistGradientBoostingClassifier": (
        "empirisk.learners.ensembles.boosting.hist_gradient_boosting_classifier"
    ),
    "HistGradientBoostingRegressor": (
        "empirisk.learners.ensembles.boosting.hist_gradient_boosting_regressor"
    ),
    "KMeans": "empirisk.learners.unsupervised.kmeans",
    "KernelClassifier": "empirisk.learners.neighbors.kernel_classifier",
    "KernelDensity": "empirisk.learners.density.kernel_density",
    "KernelRegressor": "empirisk.learners.neighbors.kernel_regressor",
    "KNeighborsClassifier": "empirisk.learners.neighbors.k_neighbors_classifier",
    "KNeighborsRegressor": "empirisk.learners.neighbors.k_neighbors_regressor",
    "Lasso": "empirisk.learners.linear.lasso",
    "LinearDiscriminantAnalysis": "empirisk.learners.generative.lda",
    "LinearRegression": "empirisk.learners.linear.least_squares",
    "LinearTreeClassifier": "empirisk.learners.trees.linear_tree_classifier",
    "LinearTreeRegressor": "empirisk.learners.trees.linear_tree_regressor",
    "LogisticRegression": "empirisk.learners.linear.logistic",
    "LogitBoostClassifier": "empirisk.learners.ensembles.boosting.logit_boost",
    "MarginClassifier": "empirisk.learners.linear.margin_classifier",
    "NaiveBayes": "empirisk.learners.generative.naive_bayes",
    "PCA": "empirisk.learners.unsupervised.pca",
    "ParametricDensity": "empirisk.learners.density.parametric_density",
    "Plan": "empirisk.risk.plans",
    "PlugInPredictor": "empirisk.learners.density.plug_in_predictor",
    "PoissonMixture": "empirisk.learners.density.poisson_mixture",
    "QuadraticDiscriminantAnalysis": "empirisk.learners.generative.qda",
    "RandomForestClassifier": "empirisk.learners.ensembles.random_forest_classifier",
    "RandomForestRegressor": "empirisk.learners.ensembles.random_forest_regressor",
    "RegularizedDiscriminantAnalysis": "empirisk.learners.generative.rda",
    "Ridge": "empirisk.learners.linear.ridge",
    "RiskEstimate": "empirisk.risk.estimate",
    "ShapValues": "empirisk.learners.trees.shap_result",
    "StagewiseRegressor": "empirisk.learners.ensembles.boosting.stagewise_regressor",
    "StochasticKMeans": "empirisk.learners.unsupervised.stochastic_kmeans",
    "Table": "empirisk.data.table",
    "TableBlocks": "empirisk.data.table_blocks",
    "Tuned": "empirisk.selection.tuned",
    "bootstrap": "empirisk.risk.bootstrap",
    "cluster_quality": "empirisk.learners.unsupervised.cluster_quality",
    "compare": "empirisk.selection.compare",
    "draw_fisher_coordinates": "empirisk.learners.generative.drawing",
    "draw_gaussian_classes": "empirisk.learners.generative.drawing",
    "draw_partition": "empirisk.learners.trees.partition_drawing",
    "draw_tree": "empirisk.learners.trees.drawing",
    "draw_voronoi": "empirisk.learners.neighbors.drawing",
    "export_text": "empirisk.learners.trees.text",
    "kl_divergence": "empirisk.learners.density.divergence",
    "load": "empirisk.model_file.load",
    "number_of_clusters": "empirisk.learners.unsupervised.number_of_clusters",
    "number_of_components": "empirisk.learners.density.number_of_components",
    "pruning_table": "empirisk.learners.trees.pruning_table",
    "read_blocks": "empirisk.data.read_blocks",
    "read_table": "empirisk.data.read",
    "save": "empirisk.model_file.save",
    "select": "empirisk.selection.select",
    "shap_values": "empirisk.learners.trees.shapley",
    "write_report": "empirisk.report.page",
}
_ROOMS = {
    "charts": "empirisk.charts",
    "datasets": "empirisk.data.datasets",
    "losses": "empirisk.losses",
    "risk": "empirisk.risk",
    "solvers": "empirisk.solvers",
}

__getattr__, __dir__, __all__ = lazy_names("empirisk", _HOME, _ROOMS)
