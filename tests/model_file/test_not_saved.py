"""What cannot be saved is refused by name, and nothing is written."""

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import Ridge as ForeignRidge
from sklearn.model_selection import KFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from empirisk import BaggingRegressor, LinearRegression, Ridge, Tuned, select
from empirisk.model_file import archive
from empirisk.model_file.save import save
from empirisk.runtime.errors import ParameterError


class MyRidge(Ridge):
    pass


FOREIGN = [
    (RandomForestClassifier(), "RandomForestClassifier must be saved by scikit-learn's own means"),
    (BaggingRegressor(ForeignRidge()), r"model\.estimator is scikit-learn's Ridge"),
    (Tuned(ForeignRidge()), r"model\.estimator is scikit-learn's Ridge"),
    (make_pipeline(StandardScaler(), Ridge()), r"model\.steps\[0\]\[1\] is .* StandardScaler"),
    (MyRidge(), "model is a MyRidge"),
    (type("Ridge", (Ridge,), {})(), "model is a Ridge"),
    (Tuned(Ridge(), random_state=np.random.RandomState(0)), "random_state .* set it to an int"),
    (Tuned(Ridge(), random_state=np.random.default_rng(0)), "random_state .* set it to an int"),
    (Tuned(Ridge(), cv=KFold(2, shuffle=True, random_state=np.random.RandomState(0))), "integer"),
    (Tuned(Ridge(), loss=print), r"model\.loss is a builtin_function"),
    (Tuned(Ridge(), values=pd.Series([1.0])), r"model\.values is a Series"),
    (Tuned(Ridge(), values=np.array([1j])), r"model\.values is an array of complex128"),
    (Tuned(Ridge(), values=[np.longdouble(1)]), r"model\.values\[0\] is a longdouble"),
    (Tuned(Ridge(), values=np.array([print])), "array of objects with a builtin_function"),
    (Ridge, "model is a ABCMeta|model is a type"),
    ([Ridge()], "a list is no model"),
    (None, "a NoneType is no model"),
]


@pytest.mark.parametrize(("model", "message"), FOREIGN, ids=lambda thing: str(thing)[:40])
def test_what_cannot_be_saved_is_named_and_nothing_is_written(model, message, tmp_path):
    with pytest.raises(ParameterError, match=message):
        save(model, tmp_path / "model")
    assert not [*tmp_path.iterdir()]


def test_a_selection_is_told_to_give_its_model(tmp_path):
    X = np.arange(12.0)[:, None]
    chosen = select([LinearRegression()], X, np.sin(X[:, 0]), cv=3)
    with pytest.raises(ParameterError, match=r"Selection.*give its model"):
        save(chosen, tmp_path / "model")


def test_a_model_that_contains_itself_is_refused(tmp_path):
    model = Tuned(Ridge())
    model.estimator = model
    with pytest.raises(ParameterError, match="contains itself"):
        save(model, tmp_path / "model")


@pytest.mark.parametrize("name", ["predict", "axis", "__odd", "not a name", "ümlaut"])
def test_an_attribute_that_load_would_refuse_is_not_saved(name, tmp_path):
    model = Ridge()
    vars(model)[name] = 1.0
    with pytest.raises(ParameterError, match="delete this attribute"):
        save(model, tmp_path / "model")


def test_save_refuses_what_load_would(tmp_path, monkeypatch):
    path = tmp_path / "model"
    save(Ridge(), path)
    before = path.read_bytes()
    monkeypatch.setattr(archive, "MOST_MEMBERS", 2)
    with pytest.raises(ParameterError, match="3 arrays"):
        save(Tuned(Ridge(), values=[np.zeros(1)] * 3), path)
    monkeypatch.setattr(archive, "LONGEST_MANIFEST", 1000)
    with pytest.raises(ParameterError, match="manifest"):
        save(Tuned(Ridge(), values=[0.1] * 1000), path)
    assert path.read_bytes() == before
