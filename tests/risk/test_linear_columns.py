"""VC and Rademacher bounds behind the steps of a pipeline."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.decomposition import PCA, TruncatedSVD
from sklearn.feature_selection import SelectKBest, VarianceThreshold
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import (
    MaxAbsScaler,
    MinMaxScaler,
    PolynomialFeatures,
    QuantileTransformer,
    RobustScaler,
    SplineTransformer,
    StandardScaler,
)
from sklearn.tree import DecisionTreeClassifier

from empirisk import Encoder, LinearDiscriminantAnalysis, Table
from empirisk.risk import bounds
from empirisk.risk.bounds.linear_columns import Parts
from empirisk.runtime.errors import ParameterError
from tolerances import SUMMED

AFFINE = [
    (StandardScaler(),),
    (RobustScaler(), PCA(2)),
    (MinMaxScaler(), MaxAbsScaler(), TruncatedSVD(2, random_state=0)),
    (VarianceThreshold(), SelectKBest(k=2), "passthrough"),
    (make_pipeline(StandardScaler(), PCA(3)), StandardScaler()),
    (Encoder(),),
]


def data(n=400):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 4)) * [1.0, 5.0, 0.1, 1.0] + [0.0, 1e4, 3.0, -2.0]
    y = X[:, 0] + 0.2 * (X[:, 1] - 1e4) + 0.5 * rng.normal(size=n) > 0
    return X, y


@pytest.mark.parametrize("steps", AFFINE, ids=str)
def test_behind_affine_steps_the_score_is_linear_in_the_columns_that_went_in(steps):
    X, y = data()
    model = make_pipeline(*steps, LogisticRegression()).fit(X, y)
    parts = Parts.of(model)
    assert parts.n_columns == 4
    coef, intercept = parts.rule(parts.columns(X))
    new = X[::-1] + 0.3
    # The intercept is a difference of numbers of size 1e4, of which 12 digits are left.
    assert_allclose(new @ coef[0] + intercept[0], model.decision_function(new), rtol=0, atol=1e-08)


def far_apart(n=4000):
    """Classes so far apart that the margin bound says something."""
    rng = np.random.default_rng(0)
    y = np.arange(n) % 2 == 0
    return rng.normal(size=(n, 4)) * [1, 2, 0.5, 1] + np.where(y, 4, -4)[:, None], y


@pytest.mark.parametrize("steps", AFFINE, ids=str)
def test_the_bounds_are_those_of_the_same_rule_without_steps(steps):
    X, y = far_apart()
    model = make_pipeline(*steps, LogisticRegression()).fit(X, y)
    same = LogisticRegression().fit(X, y)
    same.coef_, same.intercept_ = Parts.of(model).rule(X)
    assert_allclose(bounds.vc(model, X, y).interval, bounds.vc(same, X, y).interval, rtol=SUMMED)
    one, two = (bounds.rademacher(each, X, y, random_state=0).interval for each in (model, same))
    assert_allclose(one, two, rtol=SUMMED)
    assert one[1] < 0.5


@pytest.mark.parametrize("step", [StandardScaler(), Encoder()], ids=str)
@pytest.mark.parametrize("learner", [LogisticRegression(), LinearDiscriminantAnalysis()], ids=str)
def test_frames_and_tables_go_through(step, learner):
    X, y = far_apart()
    frame = pd.DataFrame(X, columns=list("abcd"))
    given = [X, frame, *([Table.of(frame)] if isinstance(step, Encoder) else [])]
    models = [clone(make_pipeline(step, learner)).fit(each, y) for each in given]
    expected = None
    for each, model in zip(given, models, strict=True):
        found = (
            *bounds.vc(model, each, y).interval,
            *bounds.rademacher(model, each, y, random_state=0).interval,
        )
        expected = expected or found
        assert_allclose(found, expected, rtol=SUMMED)
    assert max(expected) < 0.5


def test_polynomials_are_columns_of_their_own():
    X, y = data(2000)
    model = make_pipeline(
        PolynomialFeatures(2, include_bias=False), StandardScaler(), LogisticRegression()
    ).fit(X, y)
    found = bounds.vc(model, X, y, level=0.9)
    assert "linear rules of 14 columns" in found.reason
    wrong = np.mean(model.predict(X) != y)
    expected = np.sqrt(2 * bounds.linear_growth(2000, 14) / 2000) + np.sqrt(np.log(10) / 4000)
    assert_allclose(found.interval[1], wrong + expected, rtol=SUMMED)
    parts = Parts.of(model)
    columns = parts.columns(X)
    assert columns.shape == (2000, 14)
    assert 0 < bounds.rademacher(model, X, y, random_state=0).interval[1] <= 1


@pytest.mark.parametrize(
    "step",
    [
        SplineTransformer(),
        QuantileTransformer(n_quantiles=20),
        MinMaxScaler(clip=True),
        make_pipeline(StandardScaler(), PolynomialFeatures()),
        ColumnTransformer([("all", StandardScaler(), [0, 1])]),
    ],
    ids=lambda step: type(step).__name__,
)
def test_other_steps_are_refused_in_words(step):
    X, y = data()
    model = make_pipeline(step, LogisticRegression()).fit(X, y)
    for bound in (bounds.vc, bounds.rademacher):
        with pytest.raises(ParameterError, match="fixed beforehand"):
            bound(model, X, y)
    assert bounds.vc(model, X, y, dimension=20).interval[1] <= 1


def test_what_is_not_linear_at_the_end_is_refused_by_its_name():
    X, y = data()
    tree = make_pipeline(StandardScaler(), DecisionTreeClassifier(max_leaf_nodes=3)).fit(X, y)
    with pytest.raises(ParameterError, match="DecisionTreeClassifier stands behind"):
        bounds.vc(tree, X, y)
    neighbours = make_pipeline(StandardScaler(), KNeighborsClassifier()).fit(X, y)
    with pytest.raises(ParameterError, match="KNeighborsClassifier is neither"):
        bounds.vc(neighbours, X, y)
    with pytest.raises(ParameterError, match="KNeighborsClassifier is not a fitted linear rule"):
        bounds.rademacher(neighbours, X, y)
    frame = pd.DataFrame({"x": X[:, 0], "c": np.where(X[:, 1] > 1e4, "high", "low")})
    encoded = make_pipeline(Encoder(), LogisticRegression()).fit(frame, y)
    with pytest.raises(ParameterError, match="Encoder"):
        bounds.vc(encoded, frame, y)
