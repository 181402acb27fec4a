"""A word where a number belongs, or one name in place of a list, is answered in our own words."""

import numpy as np
import pandas as pd
import pytest

from empirisk import (
    BaggingClassifier,
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    Encoder,
    GaussianMixture,
    KernelDensity,
    LinearDiscriminantAnalysis,
    LinearRegression,
    MLPClassifier,
    RandomForestRegressor,
    bootstrap,
    draw_gaussian_classes,
    draw_partition,
    draw_tree,
    export_text,
    kl_divergence,
    risk,
)
from empirisk.losses import Asymmetric, Quantile
from empirisk.runtime.errors import DataError, ParameterError
from empirisk.solvers import newton

RNG = np.random.default_rng(0)
X = RNG.normal(size=(40, 2))
Y = X[:, 0] + RNG.normal(size=40)
LABELS = np.where(Y > 0, "a", "b")
POPULATION = risk.populations.sine()
BOUNDS, MEASURES = risk.bounds, risk.measures


def a_tree():
    return DecisionTreeClassifier(max_depth=2).fit(X, LABELS)


def discriminants():
    return LinearDiscriminantAnalysis().fit(X, LABELS)


def judged():
    return risk.evaluate(discriminants(), X, LABELS)


def mixture():
    return GaussianMixture(1).fit(X)


def forest():
    return RandomForestRegressor(30, oob_score=True, keep_members=True, random_state=0).fit(X, Y)


def curve():
    return risk.learning_curve(LinearRegression(), X, Y, sizes=[10, 20], random_state=0)


WRONG = {
    "rate": lambda: bootstrap(Y, rate="half"),
    "radius": lambda: BOUNDS.rademacher_complexity(X, radius="1"),
    "n_draws": lambda: BOUNDS.rademacher_complexity(X, n_draws="10"),
    "margin": lambda: BOUNDS.rademacher(discriminants(), X, LABELS, margin="1"),
    "n_points": lambda: risk.bias_variance(LinearRegression(), POPULATION, 20, n_points="9"),
    "n": lambda: risk.bias_variance(LinearRegression(), POPULATION, "20"),
    "beta": lambda: MEASURES.f_score(LABELS, LABELS, beta="2", positive="a"),
    "n_sets": lambda: risk.certify(LinearRegression(), X, Y, n_sets="9"),
    "signal": lambda: risk.linear_double_descent(10, [3], signal="1"),
    "noise_variance": lambda: risk.linear_double_descent(10, [3], noise_variance="1"),
    "test_size": lambda: risk.double_descent(X, Y, features=[1], test_size="0.2"),
    "bayes_risk": lambda: curve().extrapolate(bayes_risk="0"),
    "repeats": lambda: risk.learning_curve(LinearRegression(), X, Y, repeats="2"),
    "n_resamples": lambda: risk.order_correctness(
        DecisionTreeClassifier(), X, LABELS, n_resamples="9"
    ),
    "n_resamples is '8'": lambda: risk.first_split(DecisionTreeRegressor(), X, Y, n_resamples="8"),
    "resolution": lambda: risk.draw_decision_boundary(discriminants(), X, resolution="20"),
    "resolution is 20.0": lambda: risk.draw_decision_boundary(discriminants(), X, resolution=20.0),
    "resolution is '9'": lambda: risk.draw_growing_boundaries(
        [DecisionTreeClassifier()], X, LABELS, resolution="9"
    ),
    "n_draws is '7'": lambda: POPULATION.true_risk(forest(), method="monte_carlo", n_draws="7"),
    "n_features": lambda: risk.populations.friedman("10"),
    "threshold": lambda: risk.correlated_features(X, threshold="0.7"),
    "Quantile": lambda: Quantile("0.9"),
    "Asymmetric": lambda: Asymmetric("1", 4),
    "share": lambda: mixture().plot(X, share="0.9"),
    "share is '0.8'": lambda: draw_gaussian_classes(discriminants(), X, share="0.8"),
    "level": lambda: kl_divergence(mixture(), mixture(), level="0.9"),
    "level is '0.8'": lambda: risk.prediction_intervals(forest(), X, Y, level="0.8"),
    "level is '0.7'": lambda: KernelDensity().fit(X).pointwise_errors(X).interval("0.7"),
    "n_sets is '9'": lambda: risk.bias_variance(LinearRegression(), POPULATION, 20, n_sets="9"),
    "n_sets is '90'": lambda: risk.aggregate_variance(forest(), POPULATION, 20, n_sets="90"),
    "noise_variance is '1'": lambda: risk.optimism(LinearRegression(), X, Y, noise_variance="1"),
    "n_resamples is '7'": lambda: risk.optimism(LinearRegression(), X, Y, n_resamples="7"),
    "degrees_of_freedom": lambda: risk.information_criteria(
        LinearRegression(), X, Y, degrees_of_freedom="3"
    ),
    "numbers": lambda: risk.draw_growing_boundaries(
        [DecisionTreeClassifier()], X, LABELS, numbers="10"
    ),
    "features .*'a'": lambda: risk.double_descent(X, Y, features=["a", "b"]),
    "percentiles": lambda: risk.partial_dependence(
        LinearRegression().fit(X, Y), X, 0, percentiles=0.05
    ),
    "labels .* 'ab'": lambda: MEASURES.confusion_matrix(LABELS, LABELS, labels="ab"),
    "classes .* 'no'": lambda: MEASURES.roc_curve(LABELS, Y, classes="no"),
    "loss_range is 'ab'": lambda: BOUNDS.hoeffding(judged(), loss_range="ab"),
    "loss_range is 1.0": lambda: BOUNDS.hoeffding(judged(), loss_range=1.0),
    "among is 2.9": lambda: BOUNDS.union({"one": judged(), "other": judged()}, among=2.9),
    "dimension is 2.5": lambda: BOUNDS.vc(discriminants(), X, LABELS, dimension=2.5),
    "g is ndarray": lambda: kl_divergence(mixture(), X),
    "features is 1": lambda: draw_partition(a_tree(), X, features=1),
    "at is 'x'": lambda: draw_partition(a_tree(), X, at="x"),
    "truth is 'x'": lambda: draw_partition(a_tree(), X, truth="x"),
    "feature_names is 3": lambda: draw_tree(a_tree(), feature_names=3),
    "feature_names is 'ab'": lambda: draw_tree(a_tree(), feature_names="ab"),
    "feature_names is 'xy'": lambda: export_text(a_tree(), feature_names="xy"),
    "n is 'x'": lambda: BOUNDS.linear_growth("x", 2),
    "p is -1": lambda: BOUNDS.linear_growth(5, -1),
    "n_classes is 0": lambda: BOUNDS.linear_growth(5, 2, 0),
    "n is 2.5": lambda: BOUNDS.sauer_growth(2.5, 2),
    "dimension is None": lambda: BOUNDS.sauer_growth(5, None),
    "leaves is '3'": lambda: BOUNDS.tree_growth(5, 2, "3"),
    "p is 0; give a whole number from 1": lambda: BOUNDS.tree_growth(5, 0, 3),
    "probability is 'x'": lambda: risk.populations.Bernoulli("x"),
    "class_probabilities is 'x'": lambda: risk.populations.Classification("x"),
    "sampler is 'x'": lambda: risk.populations.Drawn("x"),
    "mean is 'x'": lambda: risk.populations.Gaussian("x"),
    "covariance is 'x'": lambda: risk.populations.Gaussian(0.0, "x"),
    "n_features is 'x'": lambda: risk.populations.Uniform(n_features="x"),
    "low is 'x'": lambda: risk.populations.Uniform("x"),
    "means is 'x'": lambda: risk.populations.GaussianClasses("x"),
    "priors is 'x'": lambda: risk.populations.GaussianClasses([[0.0], [1.0]], priors="x"),
    "coef is 'x'": lambda: risk.populations.LinearModel("x"),
    "intercept 'x'": lambda: risk.populations.LinearModel([1.0], "x"),
    "scale is 'x'": lambda: risk.populations.Normal("x"),
    "scale is '1'": lambda: risk.populations.LinearModel([1.0], noise="1"),
    "law is 'x'": lambda: risk.populations.Noise("x"),
    "df is 'x'": lambda: risk.populations.StudentT("x"),
    "X is None": lambda: risk.populations.Points(None),
    "function is 'x'": lambda: risk.populations.Regression("x"),
    "classes is None": lambda: risk.populations.SampledClasses(print, print, None),
    "regression_function is 'x'": lambda: risk.populations.SampledRegression(print, "x"),
    "coefficients is 'x'": lambda: risk.populations.polynomial("x"),
    "cycles is 'x'": lambda: risk.populations.sine(cycles="x"),
    "distance is 'x'": lambda: risk.populations.two_gaussians("x"),
    "^n is '5'": lambda: POPULATION.sample("5"),
    "start is 'x'": lambda: newton(np.sum, np.ones_like, np.diag, "x"),
    r"method is \[\]": lambda: risk.cross_validate(LinearRegression(), X, Y, method=[]),
    "ax is 'x'": lambda: curve().plot(ax="x"),
    "ax is 'tree'": lambda: a_tree().plot(ax="tree"),
    "10{15} random streams": lambda: RandomForestRegressor(10**15).fit(X, Y),
    "class_names is 'ab'": lambda: export_text(a_tree(), class_names="ab"),
}


@pytest.mark.parametrize("named", WRONG)
def test_what_is_of_the_wrong_type_is_named(named):
    with pytest.raises(ParameterError, match=named):
        WRONG[named]()


def test_one_feature_by_its_number_is_a_list_of_one():
    model = LinearRegression().fit(X, Y)
    one, listed = (
        risk.importance(model, X, Y, features=which, random_state=0) for which in (0, [0])
    )
    assert one.names == listed.names == ("x0",)
    np.testing.assert_array_equal(one.values, listed.values)


@pytest.mark.parametrize("name", ["accuracy", "precision", "recall", "f_score", "confusion_matrix"])
def test_predictions_that_are_none_are_refused(name):
    with pytest.raises(DataError, match="predictions are None"):
        getattr(MEASURES, name)(LABELS, None)


@pytest.mark.parametrize("labels", [{"a"}, (each for each in "ab"), None, "LABELS", {"a": 1}])
def test_labels_without_rows_are_refused_by_what_they_are(labels):
    said = f"^y is a {type(labels).__name__}, of which no rows can be taken"
    with pytest.raises(DataError, match=said):
        MEASURES.accuracy(labels, LABELS)
    if labels is not None:
        with pytest.raises(DataError, match=said.replace("y is", "prediction is")):
            MEASURES.confusion_matrix(LABELS, labels)
        with pytest.raises(DataError, match=said):
            risk.draw_decision_boundary(discriminants(), X, labels)
    with pytest.raises(DataError, match=r"^prediction should have one entry for each row"):
        MEASURES.accuracy(LABELS, X)
    if isinstance(labels, dict):  # columns by their names
        return
    for door in (Encoder().fit, lambda data: BaggingClassifier().fit(data, LABELS)):
        with pytest.raises(DataError, match=said.replace("y is", "X is")):
            door(labels)


def test_measures_keep_integers_of_pandas_apart():
    y = pd.Series([2**53, 2**53 + 1] * 20, dtype="Int64")
    assert MEASURES.accuracy(y, y[::-1]).value == 0.0
    assert MEASURES.accuracy(y.to_frame(), y[::-1].to_frame()).value == 0.0


def test_classes_of_a_network_are_labels_alone():
    with pytest.raises(DataError, match="`classes` have a missing value"):
        MLPClassifier().partial_fit(X, LABELS, classes=np.array(["a", None], dtype=object))
