"""A model file in which a part of a learner is not there, or is none: refused, or it answers."""

import sys
from copy import deepcopy

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline

from empirisk import Encoder, LogisticRegression, MarginClassifier, Ridge, load, save
from empirisk.data.table import Table
from empirisk.model_file.registry import state_of
from empirisk.runtime.errors import EmpiriskError
from saved_models import CLASSIFIERS, REGRESSORS, WITHOUT_LABELS

rng = np.random.default_rng(0)
X = np.column_stack([rng.integers(0, 5, 60), rng.integers(0, 3, 60), rng.integers(1, 9, 60)]) * 1.0
Y = X[:, 0] + rng.normal(size=60)
LABELS = np.array(["a", "bb", "c"])[rng.integers(0, 3, 60)]
TABLE = Table.of({"size": [None, *X[1:, 0]], "colour": LABELS, "height": X[:, 2]})
WAYS = ("predict", "predict_proba", "decision_function", "transform", "score_samples")
GONE = object()


def one_of_each(models):
    return list({type(model): model for model in models}.values())


CASES = [
    *((model, X, Y) for model in one_of_each(REGRESSORS)),
    *((model, X, LABELS) for model in one_of_each(CLASSIFIERS)),
    *((model, X, None) for model in one_of_each(WITHOUT_LABELS)),
    (MarginClassifier("perceptron"), X, LABELS),
    (make_pipeline(Encoder(), Ridge()), TABLE, Y),
    (make_pipeline(Encoder(), LogisticRegression()), TABLE, LABELS),
]


def learners_in(model):
    return [step for _, step in model.steps] if hasattr(model, "steps") else [model]


def broken(model):
    """Copies in which one part of a learner is not there, or is something else."""
    for place, learner in enumerate(learners_in(model)):
        for name in state_of(learner):
            for value in (GONE, None, "x", -1):
                again = deepcopy(model)
                parts = vars(learners_in(again)[place])
                if value is GONE:
                    del parts[name]
                else:
                    parts[name] = value
                yield again


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("model", "rows", "y"), CASES, ids=lambda case: type(case).__name__)
def test_a_model_with_a_part_that_is_none_is_refused_or_answers(
    model, rows, y, tmp_path, monkeypatch
):
    monkeypatch.setattr(sys.modules[save.__module__], "summary", str)  # asks for the classes
    fitted = clone(model).fit(rows, y)
    ways = [way for way in WAYS if hasattr(fitted, way)]
    refusals = 0
    for again in broken(fitted):
        save(again, tmp_path / "model")
        try:
            loaded = load(tmp_path / "model")
        except EmpiriskError:
            refusals += 1
            continue
        for way in ways:
            try:
                getattr(loaded, way)(rows)
            except (EmpiriskError, NotFittedError):
                refusals += 1
    assert refusals


def test_coefficients_that_somebody_wrote_flat_come_back(tmp_path):
    rule = LogisticRegression().fit(X, Y > 2)
    rule.coef_ = np.array([1.0, -1.0, 0.5])
    save(rule, tmp_path / "model")
    assert_array_equal(load(tmp_path / "model").predict(X), rule.predict(X))
