"""Code written for scikit-learn's linear rules works with the import switched and nothing else."""

import inspect
import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
import sklearn.linear_model as peers
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import coo_array, csc_matrix, csr_array
from sklearn.base import clone, is_classifier
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

import empirisk
from empirisk import (
    ElasticNet,
    Lasso,
    LinearDiscriminantAnalysis,
    LinearRegression,
    LogisticRegression,
    MarginClassifier,
    Ridge,
    Tuned,
    load,
    risk,
    save,
)
from empirisk.report.chosen_model import Coefficients
from empirisk.runtime.errors import EmpiriskWarning, ParameterError
from tolerances import LAST_BITS, SUMMED

SHARED = sorted(set(empirisk.__all__) & set(peers.__all__))

# Defaults that differ, and why.
DIFFERENT = {
    ("LogisticRegression", "tol"): "solutions are exact, so that a path equals single fits",
    ("LogisticRegression", "max_iter"): "the same",
    ("LogisticRegression", "solver"): "the learner chooses; 'lbfgs' is read as the same",
}

SEED = [0, np.random.RandomState(0), np.random.default_rng(0)]
ACCEPTED = {
    LinearRegression: {"copy_X": [False], "tol": [0.0, 0.1]},
    Ridge: {
        "copy_X": [False, np.False_],
        "max_iter": [1, np.int64(5)],
        "tol": [0, 0.5],
        "solver": ["svd", "cholesky", "lsqr", "sparse_cg", "sag", "saga", "lbfgs"],
        "random_state": SEED,
    },
    Lasso: {
        "copy_X": [False],
        "precompute": [True, np.eye(3)],
        "selection": ["random"],
        "random_state": SEED,
    },
    LogisticRegression: {
        "dual": [True],
        "intercept_scaling": [10, 0.5],
        "verbose": [1, True],
        "random_state": SEED,
        "solver": ["lbfgs", "liblinear", "newton-cg", "newton-cholesky", "sag", "saga"],
    },
}
ACCEPTED[ElasticNet] = ACCEPTED[Lasso]
REFUSED = {
    LinearRegression: {"copy_X": 1, "tol": -1.0, "positive": "yes", "fit_intercept": "no"},
    Ridge: {
        "copy_X": None,
        "max_iter": 0,
        "tol": "small",
        "solver": "newton",
        "random_state": -1,
        "positive": 1,
        "fit_intercept": "no",
    },
    Lasso: {
        "copy_X": "no",
        "precompute": "auto",
        "selection": "greedy",
        "random_state": "a",
        "fit_intercept": "no",
        "positive": "no",
        "warm_start": "no",
        "max_iter": 0,
        "tol": -1.0,
    },
    LogisticRegression: {
        "dual": "no",
        "intercept_scaling": 0,
        "verbose": -1,
        "solver": "adam",
        "random_state": 1.5,
        "penalty": "l3",
        "fit_intercept": "no",
        "warm_start": "no",
        "max_iter": -1,
        "tol": -1.0,
    },
}
REFUSED[ElasticNet] = REFUSED[Lasso]


def in_words(value):
    """The same in every process: without an address."""
    return repr(value) if isinstance(value, str | int | float | None) else type(value).__name__


def cases(table):
    return [
        pytest.param(cls, name, value, id=f"{cls.__name__}-{name}-{in_words(value)}")
        for cls, parameters in table.items()
        for name, values in parameters.items()
        for value in (values if isinstance(values, list) else [values])
    ]


def sample(cls, n=40):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 3)) * [1.0, 3.0, 0.5]
    y = X @ [1.0, -0.5, 2.0] + rng.normal(size=n)
    return X, (y > 0).astype(int) if is_classifier(cls()) else y


def test_which_classes_are_shared():
    assert SHARED == ["ElasticNet", "Lasso", "LinearRegression", "LogisticRegression", "Ridge"]


@pytest.mark.parametrize("name", SHARED)
def test_every_parameter_has_scikit_learns_name_place_and_default(name):
    ours = inspect.signature(getattr(empirisk, name)).parameters
    theirs = inspect.signature(getattr(peers, name)).parameters
    assert list(ours)[: len(theirs)] == list(theirs)
    for parameter, about in theirs.items():
        assert ours[parameter].kind == about.kind
        same = ours[parameter].default == about.default
        assert same != ((name, parameter) in DIFFERENT), parameter
    assert all(about.kind == about.KEYWORD_ONLY for about in list(ours.values())[len(theirs) :])


LACKING = {  # and why
    "solver_": "every solver of Ridge gives the same",
    "sparsify": "X is made dense, and a sparse coef_ would save nothing",
    "densify": "the same",
    "set_callbacks": "an experiment of scikit-learn 1.9",
}


@pytest.mark.parametrize("name", SHARED)
def test_every_public_attribute_and_method_is_there(name):
    ours, theirs = getattr(empirisk, name), getattr(peers, name)
    X, y = sample(ours)
    fitted, peer = ours().fit(X, y), theirs().fit(X, y)
    there = {each for each in dir(fitted) if not each.startswith("_")}
    assert {each for each in dir(peer) if not each.startswith("_")} - there <= set(LACKING)


@pytest.mark.parametrize("outputs", [None, 1, 2])
@pytest.mark.parametrize("name", ["LinearRegression", "Ridge", "Lasso", "ElasticNet"])
def test_coefficients_and_predictions_have_scikit_learns_shapes(name, outputs):
    X, y = sample(LinearRegression)
    y = y if outputs is None else np.column_stack([y] * outputs)
    fitted = getattr(empirisk, name)().fit(X, y)
    peer = getattr(peers, name)().fit(X, y)
    for one, other in [
        (fitted.predict(X), peer.predict(X)),
        (fitted.coef_, peer.coef_),
        (fitted.intercept_, peer.intercept_),
    ]:
        assert one.shape == other.shape  # a number that NumPy knows has a shape, too
    if name != "LinearRegression":
        assert Tuned(fitted).fit(X, y).predict(X).shape == peer.predict(X).shape


@pytest.mark.parametrize("cls", [Lasso, ElasticNet])
def test_sparse_coefficients_are_the_coefficients(cls):
    X, y = sample(cls)
    for target in (y, np.column_stack([y, -y])):
        model = cls(0.5).fit(X, target)
        assert_array_equal(model.sparse_coef_.toarray(), np.atleast_2d(model.coef_))
    assert model.l1_ratio == getattr(peers, cls.__name__)().l1_ratio
    assert not hasattr(cls(), "sparse_coef_")


@pytest.mark.parametrize(("cls", "name", "value"), cases(ACCEPTED))
def test_what_steers_scikit_learns_solvers_does_not_change_a_bit(cls, name, value):
    X, y = sample(cls)
    before = X.copy()
    plain, steered = cls().fit(X, y), cls(**{name: value}).fit(X, y)
    assert_array_equal(plain.coef_, steered.coef_)
    assert_array_equal(plain.intercept_, steered.intercept_)
    assert_array_equal(X, before)


@pytest.mark.filterwarnings("ignore:penalty and l1_ratio:FutureWarning")
@pytest.mark.parametrize(("cls", "name", "value"), cases(REFUSED))
def test_what_scikit_learn_refuses_is_refused_by_fits_and_paths(cls, name, value):
    X, y = sample(cls)
    learner = cls(**{name: value})
    with pytest.raises(ParameterError, match=f"{name} is .*; it must be"):
        learner.fit(X, y)
    with pytest.raises(ValueError, match=name):
        getattr(peers, cls.__name__)(**{name: value}).fit(X, y)
    with pytest.raises(ParameterError, match=f"{name} is .*; it must be"):
        Tuned(learner, cv=2).fit(X, y)


def test_a_refusal_lists_what_there_is():
    X, y = sample(Ridge)
    with pytest.raises(ParameterError, match=r"one of \('auto', 'svd', 'cholesky', .*'lbfgs'\)"):
        Ridge(solver="qr").fit(X, y)


@pytest.mark.parametrize("cls", ACCEPTED)
def test_scikit_learns_own_parameters_are_taken_over(cls, tmp_path):
    X, y = sample(cls)
    peer = getattr(peers, cls.__name__)()
    model = cls(**peer.get_params())
    if cls is LogisticRegression:
        model.set_params(tol=1e-8)
    model.fit(X, y)
    peer.set_params(tol=1e-8).fit(X, y)
    assert_allclose(model.coef_, peer.coef_, rtol=1e-4, atol=1e-6)  # its tolerance, 1e-8
    assert clone(model).get_params() == model.get_params()
    save(model, tmp_path / "model")
    for again in (pickle.loads(pickle.dumps(model)), load(tmp_path / "model")):
        assert again.get_params() == model.get_params()
        assert_array_equal(again.predict(X), model.predict(X))


PENALTIES = [
    ({"penalty": "l2"}, {}),
    ({"penalty": "l1"}, {"l1_ratio": 1.0}),
    ({"penalty": "elasticnet", "l1_ratio": 0.3}, {"l1_ratio": 0.3}),
    ({"penalty": None}, {"C": np.inf}),
    ({"l1_ratio": None}, {}),
]
CONFLICTS = [  # what scikit-learn does with them, it does with another warning
    ({"penalty": "l2", "l1_ratio": 0.5}, {}),
    ({"penalty": "l1", "l1_ratio": 0.5}, {"l1_ratio": 1.0}),
    ({"penalty": None, "C": 0.1}, {"C": np.inf}),
]


def heard(model, X, y):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model.fit(X, y)
    return model, [warning.category for warning in caught]


@pytest.mark.parametrize(("old", "new"), PENALTIES + CONFLICTS)
def test_penalty_means_what_it_means_in_scikit_learn(old, new):
    X, y = sample(LogisticRegression)
    ours, categories = heard(LogisticRegression(**old), X, y)
    assert FutureWarning in categories
    assert ((old, new) in CONFLICTS) <= (EmpiriskWarning in categories)
    assert_array_equal(ours.coef_, LogisticRegression(**new).fit(X, y).coef_)
    peer, theirs = heard(
        peers.LogisticRegression(solver="saga", tol=1e-10, max_iter=100_000, **old), X, y
    )
    assert theirs.count(FutureWarning) == categories.count(FutureWarning)
    assert theirs.count(UserWarning) >= categories.count(EmpiriskWarning)
    assert_allclose(ours.coef_, peer.coef_, rtol=1e-5)  # the steps of saga end at 1e-10


@pytest.mark.filterwarnings("ignore:penalty")
def test_no_penalty_has_no_axis():
    X, y = sample(LogisticRegression, n=60)
    learner = LogisticRegression(penalty=None)
    tuned = Tuned(learner, cv=3).fit(X, y)
    several = Tuned(learner, cv=3, values=[0.01, 1.0]).fit(X, y)
    assert list(tuned.path_.values) == [1.0]
    for found in (tuned, several):
        wanted = LogisticRegression(C=np.inf).fit(X, y).coef_
        assert_allclose(found.best_estimator_.coef_, wanted, rtol=1e-8)  # tol is 1e-10


@pytest.mark.filterwarnings("ignore:penalty")
def test_intervals_know_of_the_penalty():
    X, y = sample(LogisticRegression, n=200)
    old = LogisticRegression(penalty=None).fit(X, y)
    chosen = LogisticRegression(penalty="l1").fit(X, y)
    new = LogisticRegression(C=np.inf).fit(X, y)
    found, wanted = old.coefficient_intervals(X, y), new.coefficient_intervals(X, y)
    assert_array_equal(found.standard_error, wanted.standard_error)
    with pytest.raises(ParameterError, match="an L1 penalty chose"):
        chosen.coefficient_intervals(X, y)


@pytest.mark.filterwarnings("ignore:penalty and l1_ratio:FutureWarning")
def test_an_elastic_net_needs_its_ratio():
    X, y = sample(LogisticRegression)
    learner = LogisticRegression("elasticnet", l1_ratio=None)
    with pytest.raises(ParameterError, match="l1_ratio is None"):
        learner.fit(X, y)


WRITTEN = [LogisticRegression, LinearDiscriminantAnalysis, MarginClassifier]


@pytest.mark.parametrize("labels", [2, 3])
@pytest.mark.parametrize("cls", WRITTEN)
def test_coefficients_and_intercepts_that_are_written_are_those_that_predict(cls, labels):
    X, _ = sample(Ridge)
    y = np.digitize(X[:, 0] + X[:, 2], [0.0, 1.0][: labels - 1])
    X = X + 100.0  # the fit keeps its functions about a centre, too
    model = cls().fit(X, y)
    before = model.decision_function(X)
    model.intercept_ += 0.5
    assert_allclose(model.decision_function(X), before + 0.5, rtol=SUMMED, atol=SUMMED)
    model.coef_[:], model.intercept_ = 0.0, np.arange(1.0, 1.0 + len(model.intercept_))
    assert_array_equal(np.unique(model.decision_function(X)), model.intercept_)
    assert_array_equal(model.predict(X), np.full(len(X), labels - 1))


def test_a_rule_whose_attributes_are_written_needs_no_fit():
    X, _ = sample(Ridge)
    ours, peer = LogisticRegression(), peers.LogisticRegression()
    for model in (ours, peer):
        model.classes_ = np.array(["no", "yes"])
        model.coef_, model.intercept_ = np.array([[1.0, -2.0, 0.5]]), np.array([0.25])
    assert_allclose(ours.predict_proba(X), peer.predict_proba(X), rtol=0, atol=LAST_BITS)
    assert_array_equal(ours.predict(X), peer.predict(X))


@pytest.mark.parametrize("labels", [2, 3])
@pytest.mark.parametrize("cls", [LogisticRegression, MarginClassifier])
def test_sparse_coefficients_predict_as_the_array_that_they_stand_for(cls, labels):
    X, _ = sample(Ridge)
    y = np.digitize(X[:, 0] + X[:, 2], [0.0, 1.0][: labels - 1])
    X = X + 100.0  # the fit keeps its functions about a centre, too
    model, peer = cls().fit(X, y), peers.LogisticRegression().fit(X - 100.0, y)
    coef, before = model.coef_.copy(), model.decision_function(X)
    described = Coefficients.of(model).values
    assert model.sparsify() is model
    assert type(model.coef_) is type(peer.sparsify().coef_)
    assert_array_equal(model.decision_function(X), before)
    assert_array_equal(pickle.loads(pickle.dumps(model)).decision_function(X), before)
    assert_array_equal(Coefficients.of(model).values, described)
    assert model.densify() is model
    assert_array_equal(model.coef_, coef)
    assert type(model.densify().coef_) is np.ndarray
    with pytest.raises(NotFittedError):
        cls().sparsify()
    with pytest.raises(NotFittedError):
        cls().densify()


def test_sparse_coefficients_are_where_the_next_fit_begins():
    X, y = sample(LogisticRegression)
    for go_on in (
        lambda model: model.set_params(warm_start=True, C=2.0).fit(X, y).coef_,
        lambda model: model.coefficient_intervals(X, y, method="profile").upper,
    ):
        dense, sparse = (LogisticRegression().fit(X, y) for _ in range(2))
        assert_array_equal(go_on(sparse.sparsify()), go_on(dense))
    dense, sparse = (MarginClassifier().partial_fit(X, y, classes=[0, 1]) for _ in range(2))
    assert_array_equal(sparse.sparsify().partial_fit(X, y).coef_, dense.partial_fit(X, y).coef_)


@pytest.mark.parametrize("form", [csr_array, csc_matrix, coo_array, "frame"])
@pytest.mark.parametrize("cls", [*ACCEPTED, MarginClassifier])
def test_a_sparse_matrix_is_learned_from_as_the_array_that_it_stands_for(cls, form):
    X, y = sample(cls)
    X[X < 0.5] = 0.0
    if form == "frame":
        sparse = pd.DataFrame(X, columns=["a", "b", "sparse"]).astype(pd.SparseDtype(float, 0.0))
        X = np.asarray(sparse)
    else:
        sparse = form(X)
    dense, model = cls().fit(X, y), cls().fit(sparse, y)
    assert_array_equal(model.coef_, dense.coef_)
    assert_array_equal(model.predict(sparse), dense.predict(X))
    found = risk.cross_validate(cls(), sparse, y, cv=4, random_state=0)
    assert found.value == risk.cross_validate(cls(), X, y, cv=4, random_state=0).value


def test_a_column_may_be_called_sparse():
    X, y = sample(Ridge)
    frame = pd.DataFrame(X, columns=["a", "b", "sparse"])
    assert_array_equal(Ridge().fit(frame, y).coef_, Ridge().fit(X, y).coef_)


def test_levels_from_scikit_learns_encoder_are_learned_from():
    rng = np.random.default_rng(0)
    X = rng.choice(["low", "middle", "high"], size=(60, 2))
    y = np.where((X[:, 0] == "high") ^ (rng.random(60) < 0.2), "yes", "no")
    ours = make_pipeline(OneHotEncoder(), LogisticRegression()).fit(X, y)
    peer = make_pipeline(OneHotEncoder(), peers.LogisticRegression(tol=1e-10)).fit(X, y)
    wanted = peer.predict_proba(X)
    # lbfgs ends at a slope of 1e-10.
    assert_allclose(ours.predict_proba(X), wanted, rtol=0, atol=1e-7)
