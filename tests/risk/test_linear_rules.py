"""The exact risk of linear rules: who is taken for linear, and who only looks it."""

import numpy as np
import pytest
from scipy import stats
from scipy.integrate import quad
from sklearn.decomposition import PCA
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.dummy import DummyRegressor
from sklearn.linear_model import Lasso, LinearRegression, LogisticRegression, PoissonRegressor
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, SVR
from sklearn.tree import DecisionTreeRegressor

from empirisk import Baseline, Ridge, Tuned
from empirisk.losses import Squared
from empirisk.risk.populations import GaussianClasses, LinearModel
from empirisk.runtime.errors import ParameterError
from five_sigmas import within


def test_rules_that_only_look_linear_are_not_taken_for_linear():
    population = LinearModel([1.0])
    X, y = population.sample(50, 0)
    bent = PoissonRegressor().fit(X, np.exp(y))  # has coef_ and intercept_
    for predictor in (
        bent,
        DecisionTreeRegressor().fit(X, y),
        lambda X: np.clip(X[:, 0], -20, 20),
        lambda X: np.where(np.abs(X[:, 0]) > 100, np.nan, X[:, 0]),
    ):
        assert population.known_risk(predictor, Squared(), judged=True) is None
    assert population.true_risk(lambda X: X[:, 0], method="exact").value == 1


def bump(X):
    """Linear but for a window that is hit once in 125 draws."""
    return np.where((X[:, 0] > 2.3) & (X[:, 0] < 2.8), 20.0, X @ [1.0, -1.0])


def test_only_what_is_linear_by_what_it_is_has_an_exact_risk_unasked():
    population = LinearModel([1.0, -1.0])
    found = population.true_risk(bump, random_state=0)
    assert found.method == "Monte Carlo"
    # Given X_1 = x in the window, (20 - x)^2 + 1 in place of nothing.
    excess = quad(lambda x: ((20 - x) ** 2 + 1) * stats.norm.pdf(x), 2.3, 2.8)[0]
    within(found, 1 + excess)
    with pytest.raises(ParameterError, match="no closed form"):
        population.true_risk(bump, method="exact")
    X, y = population.sample(30, 0)
    for model in (
        LinearRegression().fit(X, y),
        Ridge().fit(X, y),
        make_pipeline(StandardScaler(), PCA(), Lasso(0.01)).fit(X, y),
        DummyRegressor().fit(X, y),
        Baseline().fit(X, y),
        Tuned(Ridge()).fit(X, y),
        GridSearchCV(Lasso(), {"alpha": [0.1, 1.0]}).fit(X, y),
        population.bayes_rule(),
    ):
        found = population.true_risk(model)
        assert found.method == "exact", model
        assert "judged" not in found.sentence
    for function in (lambda X: X @ [1.0, 1.0], SVR(kernel=double).fit(X, y)):
        assert population.true_risk(function, random_state=0).method == "Monte Carlo"
        assert (
            "judged linear by 12288 draws"
            in population.true_risk(function, method="exact").sentence
        )


def double(A, B):
    """A linear kernel that does not say so."""
    return A @ B.T


def test_a_score_that_is_flat_at_most_draws_is_not_taken_for_linear():
    population = GaussianClasses([[1.0, 0.0], [3.0, 0.0]], 0.5)
    X, y = population.sample(50, 0)  # the score is not flat at 4 draws in 1000
    spiky = SVC(gamma=1e5).fit(X, y)
    assert population.true_risk(spiky, random_state=0).method == "Monte Carlo"
    with pytest.raises(ParameterError, match="no closed form"):
        population.true_risk(spiky, method="exact")
    for model in (SVC(kernel="linear"), LogisticRegression()):
        assert population.true_risk(model.fit(X, y)).method == "exact"


def test_a_discriminant_with_another_threshold_is_not_taken_for_linear():
    population = GaussianClasses([[0.0], [1.0]])
    model = LinearDiscriminantAnalysis().fit(*population.sample(100, 0))
    assert population.true_risk(model).method == "exact"

    class Shifted(LinearDiscriminantAnalysis):
        def predict(self, X):
            return (self.decision_function(X) > 1).astype(int)

    shifted = Shifted().fit(*population.sample(100, 0))
    assert population.true_risk(shifted, random_state=0).method == "Monte Carlo"
