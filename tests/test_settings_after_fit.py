"""Parameters that are set after `fit` are those of the next fit: the fitted model stays."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.base import clone, is_classifier
from sklearn.exceptions import NotFittedError

from empirisk import (
    BaggingClassifier,
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    HistGradientBoostingRegressor,
    KMeans,
    LinearDiscriminantAnalysis,
    LinearRegression,
    LogisticRegression,
    MLPClassifier,
    MLPRegressor,
)
from empirisk.learners.ensembles.boosting.regression_losses import PoissonDeviance, SquaredError
from learner_settings import SETTINGS, every_learner, sample

# Of which predictions are made with what is set, as in scikit-learn, or as the docstring says.
AT_PREDICTION = {
    "GaussianMixture": {"covariance_type"},
    "KNeighborsClassifier": {"n_neighbors", "weights"},
    "KNeighborsRegressor": {"n_neighbors", "weights"},
    "KernelClassifier": {"kernel"},
    "KernelDensity": {"kernel", "rtol", "support"},
    "KernelRegressor": {"kernel", "degree"},
    "PCA": {"whiten"},
    "ParametricDensity": {"family", "fixed", "shrinkage", "variance_floor"},
    "PlugInPredictor": {"loss", "actions"},
}
METHODS = (
    "predict", "predict_proba", "decision_function", "transform", "score_samples", "losses_of_rows",
)  # fmt: skip
OTHERS = {
    "cost_matrix": [np.array([[0, 9, 9], [1, 0, 1], [1, 1, 0]])],
    "voting": ["hard"],
    "estimator": [
        DecisionTreeClassifier(max_depth=1),
        DecisionTreeRegressor(max_depth=1),
        LinearDiscriminantAnalysis(),
        LinearRegression(),
        LogisticRegression(),
    ],
    "covariance": ["pooled"],
}


def other_values(learner, name):
    """What a parameter might be set to."""
    value = getattr(learner, name)
    if isinstance(value, bool):
        return [not value]
    if isinstance(value, int | float):
        return [value + 1, value / 2]
    peers = [getattr(peer, name) for peer in SETTINGS[type(learner).__name__]]
    others = OTHERS.get(name, [])
    if name == "estimator":  # a member of the kind that there is
        wanted = type(learner).__name__.endswith("Classifier") and "Logit" not in str(learner)
        others = [other for other in others if is_classifier(other) == wanted]
    return [*peers, *others]


@pytest.mark.filterwarnings("ignore::empirisk.runtime.errors.EmpiriskWarning")
@every_learner
def test_a_fitted_model_does_not_change_with_its_parameters(learner):
    X, y = sample(learner)
    model = clone(learner).fit(X, y)
    named = [name for name in METHODS if hasattr(model, name)]

    def outputs():
        return [getattr(model, name)(X) for name in named]

    before = outputs()
    held = set(model.get_params(deep=False)) - AT_PREDICTION.get(type(model).__name__, set())
    for name in sorted(held):
        value = getattr(model, name)
        for other in other_values(learner, name):
            model.set_params(**{name: other})
            for found, wanted, method in zip(outputs(), before, named, strict=True):
                assert_array_equal(found, wanted, f"{method}, after {name} was set to {other}")
        model.set_params(**{name: value})


@pytest.mark.filterwarnings("ignore::empirisk.runtime.errors.ConvergenceWarning")  # few epochs
@pytest.mark.parametrize(
    ("learner", "change"),
    [
        (MLPRegressor(hidden_layer_sizes=3, max_iter=2), {"loss": "poisson"}),
        (HistGradientBoostingRegressor(SquaredError(), max_iter=2), {"loss": PoissonDeviance()}),
        (BaggingClassifier(LogisticRegression(), 3), {"voting": "hard"}),
    ],
    ids=str,
)
def test_what_scores_mean_is_what_they_were_fitted_to_mean(learner, change):
    X, y = sample(learner)
    model = clone(learner).set_params(random_state=0).fit(X, y)
    answer = getattr(model, "predict_proba", model.predict)
    before = answer(X)
    model.set_params(**change)
    assert_array_equal(answer(X), before)
    refitted = clone(model).fit(X, np.abs(y) if "loss" in change else y)
    assert not np.array_equal(getattr(refitted, answer.__name__)(X), before)


@pytest.mark.parametrize(
    ("learner", "ask"),
    [
        (MLPRegressor(), lambda learner: learner.out_activation_),
        (MLPClassifier(), lambda learner: learner.out_activation_),
        (KMeans(2), lambda learner: learner.losses_of_rows([[1.0]])),
    ],
    ids=["regressor", "classifier", "clusters"],
)
def test_what_is_known_by_a_fit_is_not_before_it(learner, ask):
    with pytest.raises(NotFittedError):
        ask(learner)
