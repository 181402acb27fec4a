"""What a fitted learner does not have is an AttributeError, so that hasattr and dir can ask."""

import numpy as np
import pytest

from empirisk import (
    BaggingRegressor,
    LogitBoostClassifier,
    RandomForestClassifier,
    RandomForestRegressor,
    StagewiseRegressor,
    load,
    risk,
    save,
)
from empirisk.runtime.errors import ParameterError


def sample():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 2))
    return X, np.where(X[:, 0] > 0, 1, -1)


@pytest.mark.parametrize("learner", [StagewiseRegressor, LogitBoostClassifier])
def test_sums_of_lines_can_be_listed_and_have_no_estimators(learner):
    model = learner("least_squares", 3).fit(*sample())
    assert "stages_" in dir(model)
    assert not hasattr(model, "estimators_")


@pytest.mark.parametrize("learner", [RandomForestClassifier, RandomForestRegressor])
def test_a_forest_from_a_file_can_be_listed_and_does_not_know_its_rows(learner, tmp_path):
    save(learner(3, random_state=0).fit(*sample()), tmp_path / "forest")
    again = load(tmp_path / "forest")
    assert "estimators_" in dir(again)
    assert not hasattr(again, "estimators_samples_")


@pytest.mark.parametrize("learner", [BaggingRegressor, RandomForestRegressor])
def test_risk_out_of_bag_says_that_an_ensemble_from_a_file_does_not_know_its_rows(
    learner, tmp_path
):
    X, y = sample()
    save(learner(n_estimators=3, random_state=0).fit(X, y), tmp_path / "bag")
    with pytest.raises(ParameterError, match="one from a file does not know"):
        risk.importance(load(tmp_path / "bag"), X, y, how="out_of_bag")
