"""What is saved comes back: every learner, to the last bit."""

import dataclasses
import inspect
import subprocess
import sys
from functools import cached_property

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal
from sklearn.base import clone, is_classifier
from sklearn.model_selection import (
    LeaveOneOut,
)
from sklearn.pipeline import make_pipeline
from sklearn.utils import get_tags

from discovery import learners
from empirisk import (
    Baseline,
    KernelClassifier,
    KernelRegressor,
    KMeans,
    LinearDiscriminantAnalysis,
    LinearRegression,
    Ridge,
    StochasticKMeans,
    Tuned,
    losses,
    select,
)
from empirisk.learners.networks.network import Network
from empirisk.model_file.load import read_model_file
from empirisk.model_file.registry import HOMES, NOT_KEPT, ROW_BY_ROW, registered
from empirisk.model_file.save import save, summary
from empirisk.risk.bagging.path import BaggedPathMixin
from empirisk.risk.plans.splitters import KINDS
from empirisk.runtime.errors import ParameterError
from empirisk.selection.average import FoldAverageClassifier, FoldAverageRegressor
from model_file.exactness import assert_same
from saved_models import EVERY_MODEL, there_and_back

every_model = pytest.mark.parametrize("model", EVERY_MODEL, ids=str)


def sample(model, n=40, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3)) * [1.0, 3.0, 0.5]
    if get_tags(model).input_tags.positive_only:
        X = np.abs(X)
    if is_classifier(model):
        return X, np.array(["a", "bb", "c"])[np.digitize(X[:, 0] + rng.normal(size=n), [-0.5, 0.5])]
    return X, X @ [1.0, -0.5, 2.0] + rng.normal(size=n)


def without_tables(model):
    """A copy of a model as it is after loading: no losses row by row."""
    if isinstance(model, Tuned) and hasattr(model, "risk_"):
        fitted = dict(vars(model))
        model = clone(model)
        vars(model).update(fitted)
        model.risk_ = dataclasses.replace(model.risk_, table=None)
        model.best_estimator_ = without_tables(model.best_estimator_)
    if isinstance(model, KernelClassifier | KernelRegressor | Network):
        again = clone(model)
        vars(again).update(
            {
                name: part
                for name, part in vars(model).items()
                if not isinstance(getattr(type(model), name, None), cached_property)
            }
        )
        return again
    if isinstance(model, BaggedPathMixin | KMeans | StochasticKMeans):
        fitted = {name: part for name, part in vars(model).items() if name not in ROW_BY_ROW}
        model = clone(model)
        vars(model).update(fitted)
        if hasattr(model, "risk_"):
            model.risk_ = dataclasses.replace(model.risk_, table=None)
            model.risk_curve_ = dataclasses.replace(model.risk_curve_, estimate=model.risk_)
    return model


def test_every_learner_has_a_model_here():
    covered = {type(model) for model in EVERY_MODEL}
    assert set(learners()) <= covered


def test_every_line_of_the_registry_names_a_class():
    for name in HOMES:
        assert inspect.isclass(registered(name))
        assert registered(name).__name__ == name


def test_every_concrete_loss_and_every_splitter_known_to_plans_is_registered():
    public = [getattr(losses, name) for name in losses.__all__]
    kinds = [
        thing
        for thing in public
        if inspect.isclass(thing)
        and issubclass(thing, losses.Loss | losses.MarginLoss)
        and not inspect.isabstract(thing)
        and "name" in vars(thing)
    ]
    assert len(kinds) >= 13
    assert all(registered(kind.__name__) is kind for kind in kinds)
    assert set(KINDS) <= set(HOMES)


@every_model
@pytest.mark.parametrize("frame", [np.asarray, pd.DataFrame], ids=["array", "frame"])
def test_a_fitted_model_comes_back_to_the_last_bit(model, frame, tmp_path):
    X, y = sample(model)
    X = frame(X)
    if isinstance(X, pd.DataFrame):
        X.columns = ["width", "Größe", "a\x00"]  # text is kept exactly, trailing NUL and all
    fitted = clone(model).fit(X, y)
    again = there_and_back(fitted, tmp_path / "model")
    assert_same(without_tables(fitted), without_tables(again))
    ways = ("predict", "transform", "score_samples")
    method = next(way for way in ways if hasattr(fitted, way))
    assert_array_equal(getattr(again, method)(X), getattr(fitted, method)(X), strict=True)
    if is_classifier(model):
        score = "predict_proba" if hasattr(fitted, "predict_proba") else "decision_function"
        assert_array_equal(getattr(again, score)(X), getattr(fitted, score)(X), strict=True)
    refitted = clone(again).fit(X, y)
    assert_array_equal(getattr(refitted, method)(X), getattr(fitted, method)(X), strict=True)


@every_model
def test_an_unfitted_model_comes_back(model, tmp_path):
    again = there_and_back(model, tmp_path / "model")
    assert_same(model, again)
    assert summary(model).endswith("not fitted")


@pytest.mark.parametrize("labels", [["x", "yyy"], [3, 7], [False, True], [-1.0, 1.0]], ids=str)
@pytest.mark.parametrize("dtype", [None, object], ids=["plain", "object"])
def test_labels_of_all_kinds_come_back(labels, dtype, tmp_path):
    X, _ = sample(Ridge())
    if dtype is object:
        labels = [str(label) for label in labels]
    y = np.array(labels, dtype=dtype)[(X[:, 0] > 0).astype(int)]
    fitted = LinearDiscriminantAnalysis().fit(X, y)
    again = there_and_back(fitted, tmp_path / "model")
    assert_same(fitted, again)
    assert_array_equal(again.predict(X), fitted.predict(X), strict=True)


def test_the_words_of_an_array_may_be_labels_among_objects(tmp_path):
    X, _ = sample(Ridge())
    words = np.array(["x", "yyy"])  # as target_names of scikit-learn; each of them is an np.str_
    y = np.array([words[int(above)] for above in X[:, 0] > 0], dtype=object)
    fitted = LinearDiscriminantAnalysis().fit(X, y)
    again = there_and_back(fitted, tmp_path / "model")
    assert again.predict(X).tolist() == fitted.predict(X).tolist()


def test_several_outputs_come_back(tmp_path):
    X, y = sample(Ridge())
    for model in (Baseline(), LinearRegression(), Ridge()):
        fitted = model.fit(X, np.column_stack([y, -y]))
        again = there_and_back(fitted, tmp_path / "model")
        assert_same(fitted, again)
        assert_array_equal(again.predict(X), fitted.predict(X), strict=True)


@pytest.mark.parametrize("model", [Ridge(), LinearDiscriminantAnalysis()], ids=str)
def test_an_average_of_fold_models_comes_back(model, tmp_path):
    X, y = sample(model, n=60)
    chosen = select([model], X, y, refit="average", random_state=0, cv=3)
    assert isinstance(chosen.model, FoldAverageRegressor | FoldAverageClassifier)
    again = there_and_back(chosen.model, tmp_path / "model")
    assert_same(chosen.model, again)
    assert_array_equal(again.predict(X), chosen.model.predict(X), strict=True)


def test_a_tuned_model_keeps_its_risk_but_no_losses(tmp_path):
    X, y = sample(Ridge())
    fitted = Tuned(Ridge(), cv=5, values=[1.0]).fit(X, y)
    assert fitted.risk_.interval is not None
    again = there_and_back(fitted, tmp_path / "model").risk_
    kept = [field.name for field in dataclasses.fields(again) if field.name != "table"]
    assert_same([getattr(fitted.risk_, name) for name in kept], [getattr(again, n) for n in kept])
    assert again.table is None
    assert (str(again), repr(again)) == (str(fitted.risk_), repr(fitted.risk_))


def test_the_size_of_a_file_does_not_depend_on_the_number_of_rows(tmp_path):
    sizes = []
    for n in (50, 5000):
        X, y = sample(Ridge(), n=n)
        save(Tuned(Ridge(), cv=LeaveOneOut(), values=[1.0, 2.0]).fit(X, y), tmp_path / "model")
        sizes.append((tmp_path / "model").stat().st_size)
    assert abs(sizes[1] - sizes[0]) < 100  # a few numbers are written with more digits


def test_what_is_not_kept_is_a_parameter():
    for name, left_out in NOT_KEPT.items():
        assert set(left_out) <= set(inspect.signature(registered(name)).parameters)


def test_the_cache_of_a_pipeline_is_not_kept(tmp_path):
    again = there_and_back(make_pipeline(Ridge(), memory="/tmp/cache"), tmp_path / "model")
    assert again.memory is None


def test_meta_is_kept_beside_the_model(tmp_path):
    X, y = sample(Ridge())
    risk = Tuned(Ridge(), values=[1.0], cv=3).fit(X, y).risk_
    meta = {"target": "price", "kinds": {"a": "number", "b": ["x", None]}, "risk": risk}
    save(Ridge().fit(X, y), tmp_path / "model", meta=meta)
    found = read_model_file(tmp_path / "model")
    assert_same(found.meta, {**meta, "risk": dataclasses.replace(risk, table=None)})
    assert (found.summary, found.written_by[:9]) == ("Ridge, 3 features", "empirisk ")
    save(Ridge(), tmp_path / "model")
    assert read_model_file(tmp_path / "model").meta == {}
    with pytest.raises(ParameterError, match="give a dict"):
        save(Ridge(), tmp_path / "model", meta=[1])


@pytest.mark.parametrize(
    ("model", "expected"),
    [
        (Tuned(Ridge(), cv=3, values=[1.0]), "Tuned(Ridge), 3 features"),
        (make_pipeline(Ridge()), "Ridge, 3 features"),
        (LinearDiscriminantAnalysis(), "LinearDiscriminantAnalysis, 3 features, 3 classes"),
    ],
    ids=str,
)
def test_a_summary_is_for_a_person(model, expected):
    X, y = sample(model)
    assert summary(clone(model).fit(X, y)) == expected


def test_one_feature_is_one_feature():
    assert summary(Ridge().fit([[1.0], [2.0]], [1.0, 2.0])) == "Ridge, 1 feature"


def test_a_file_loads_in_a_process_that_has_imported_nothing(tmp_path):
    X, y = sample(Ridge())
    fitted = Tuned(Ridge(), cv=3).fit(X, y)
    save(fitted, tmp_path / "model")
    program = (
        "import sys; from empirisk.model_file.load import load; "
        "print(load(sys.argv[1]).predict([[1.0, 2.0, 3.0]])[0].hex())"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, tmp_path / "model"], capture_output=True, text=True
    )
    assert done.stdout.strip() == fitted.predict([[1.0, 2.0, 3.0]])[0].hex(), done.stderr
