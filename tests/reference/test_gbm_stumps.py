"""L2-boosting by stumps of R's gbm, made by gbm_stumps.R."""

import json
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose

from empirisk import DecisionTreeRegressor, StagewiseRegressor
from tolerances import SUMMED

R = json.loads((Path(__file__).parent / "gbm_stumps.json").read_text())
X = np.column_stack([R["rows"][name] for name in "abc"])
Y = np.array(R["rows"]["y"])


@pytest.mark.parametrize("name", ["stumps", "weighted"])
def test_stumps_are_boosted_as_in_gbm(name):
    weight = np.array(R["weight"], dtype=float) if name == "weighted" else None
    # gbm wants five rows on each side, whatever they weigh; a half keeps weights from being counts.
    tree = DecisionTreeRegressor(max_depth=1, min_samples_leaf=5)
    model = StagewiseRegressor(tree, 50).fit(X, Y, None if weight is None else weight / 2)
    found = R[name]
    # 15 digits are printed.
    assert_allclose(model._start[0], found["start"], rtol=1e-12)
    assert_allclose(model.train_score_, found["error"], rtol=1e-10)
    stages = np.array(list(model.staged_predict(X)))[np.array(R["rounds"]) - 1]
    assert_allclose(stages.T, found["prediction"], rtol=SUMMED, atol=SUMMED)
