"""What is judged in the folds is what is fitted in the end: steps, groups, seeds."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.kernel_approximation import Nystroem
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import KFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import KBinsDiscretizer, SplineTransformer, StandardScaler, TargetEncoder

from empirisk import (
    BaggingRegressor,
    Encoder,
    HistGradientBoostingRegressor,
    Plan,
    RandomForestRegressor,
    Ridge,
    Tuned,
    risk,
)
from empirisk.data.table import Table
from tolerances import SOLVED

rng = np.random.default_rng(0)
X = rng.normal(size=(120, 3))
y = X[:, 0] + rng.normal(size=120)
GROUPS = np.arange(120) // 4


def by_hand(model, X, plan, **groups):
    """Losses of the rows held out, fold by fold, from fits of scikit-learn's loop."""
    losses = []
    for s in range(plan.n_splits):
        train, test = plan.train(s), plan.test(s)
        own = {name: each[train] for name, each in groups.items()}
        fitted = clone(model).fit(X[train], y[train], **own)
        losses.append((fitted.predict(X[test]) - y[test]) ** 2)
    return np.concatenate(losses)


STEPS = {
    "target": TargetEncoder(cv=KFold(3), target_type="continuous"),
    "spline": SplineTransformer(knots="quantile"),
    "bins": KBinsDiscretizer(5, quantile_method="linear"),
}


@pytest.mark.parametrize("name", STEPS)
def test_steps_before_a_learner_are_fitted_as_a_pipeline_fits_them(name):
    rows = np.round(X) if name == "target" else X
    plan = Plan.of(5, rows, y, random_state=0)
    model = make_pipeline(STEPS[name], Ridge(1.0))
    found = risk.cross_validate(model, rows, y, cv=plan)
    assert_allclose(found.losses, by_hand(model, rows, plan), rtol=SOLVED)


def test_steps_that_draw_do_so_from_the_seed():
    model = make_pipeline(Nystroem(n_components=10), Ridge())
    one, other = (Tuned(model, random_state=0, n_jobs=n_jobs).fit(X, y).path_ for n_jobs in (1, 2))
    assert_array_equal(one.values, other.values)
    assert_array_equal(one.risk, other.risk)


ENSEMBLES = {
    "forest": RandomForestRegressor(10, random_state=0),
    "bag": BaggingRegressor(n_estimators=5, random_state=0),
    "boosting": HistGradientBoostingRegressor(
        max_iter=20, early_stopping=True, n_iter_no_change=2, random_state=0
    ),
}


@pytest.mark.parametrize("name", ENSEMBLES)
def test_ensembles_draw_and_hold_out_whole_groups_in_every_fold(name):
    plan = Plan.of(5, X, y, groups=GROUPS, random_state=0)
    found = risk.cross_validate(ENSEMBLES[name], X, y, cv=plan, groups=GROUPS)
    wanted = by_hand(ENSEMBLES[name], X, plan, groups=GROUPS)
    assert_allclose(found.losses, wanted, rtol=SOLVED)


def test_groups_reach_the_last_step_of_a_pipeline():
    plan = Plan.of(5, X, y, groups=GROUPS, random_state=0)
    model = make_pipeline(StandardScaler(), Tuned(Ridge(), random_state=0))
    found = risk.cross_validate(model, X, y, cv=plan, groups=GROUPS)
    assert_allclose(found.losses, by_hand(model, X, plan, tuned__groups=GROUPS), rtol=SOLVED)


@pytest.mark.parametrize("learner", [LinearRegression(), Ridge()], ids=["foreign", "own"])
@pytest.mark.parametrize(
    "judge",
    [
        lambda model, X: risk.cross_validate(model, X, y[:30], cv=10),
        lambda model, X: risk.bootstrap_632plus(model, X, y[:30], n_resamples=50, random_state=0),
        lambda model, X: risk.bootstrap_bias_variance(
            model, X, y[:30], n_resamples=20, random_state=0
        ),
    ],
    ids=["cross_validate", "bootstrap_632plus", "bootstrap_bias_variance"],
)
def test_all_folds_see_the_kinds_of_columns_that_the_table_has(judge, learner):
    # Fifteen words in 30 rows are a category, in the rows of most folds they are text.
    words = np.array([f"w{i % 15 if i < 26 else 0}" for i in range(30)])
    frame = pd.DataFrame({"word": words, "x": X[:30, 0]})
    model = make_pipeline(Encoder(), learner)
    found, expected = judge(model, frame), judge(model, Table.of(frame))
    total = "value" if hasattr(found, "value") else "total"
    assert getattr(found, total) == getattr(expected, total)
