import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.metrics import log_loss, mean_absolute_error, mean_squared_error

from empirisk import risk
from empirisk.losses import Costs
from empirisk.runtime.errors import DataError

rng = np.random.default_rng(0)
X = rng.normal(size=(120, 3))
y = X @ [1.0, 2.0, 0.0] + rng.normal(size=120)
labels = np.where(X[:, 0] + 0.5 * rng.normal(size=120) > 0, "yes", "no")
regressor = LinearRegression().fit(X[:60], y[:60])
classifier = LogisticRegression().fit(X[:60], labels[:60])
test = slice(60, 120)


def test_the_risk_is_the_mean_loss():
    weight = rng.uniform(0.5, 2, 60)
    found = risk.evaluate(regressor, X[test], y[test], sample_weight=weight)
    expected = mean_squared_error(y[test], regressor.predict(X[test]), sample_weight=weight)
    assert_allclose(found.value, expected, rtol=1e-12)
    found = risk.evaluate(regressor, X[test], y[test], loss="absolute")
    assert_allclose(found.value, mean_absolute_error(y[test], regressor.predict(X[test])))
    found = risk.evaluate(classifier, X[test], labels[test])
    assert_allclose(found.value, 1 - classifier.score(X[test], labels[test]))
    found = risk.evaluate(classifier, X[test], labels[test], loss="log")
    assert_allclose(found.value, log_loss(labels[test], classifier.predict_proba(X[test])))


def test_costs_are_those_of_prediction_given_truth():
    costs = Costs([[0, 5], [1, 0]], classes=["no", "yes"])  # "no" said where "yes" is true: 5
    found = risk.evaluate(classifier, X[test], labels[test], loss=costs)
    said = classifier.predict(X[test])
    missed = np.mean((said == "no") & (labels[test] == "yes"))
    alarm = np.mean((said == "yes") & (labels[test] == "no"))
    assert_allclose(found.value, 5 * missed + alarm, rtol=1e-12)


def test_test_rows_need_not_show_every_class_nor_only_known_ones():
    only = labels[test] == "no"
    found = risk.evaluate(classifier, X[test][only], labels[test][only], loss="log")
    assert found.value > 0
    strange = labels[test].astype(object)
    strange[0] = "perhaps"
    found = risk.evaluate(classifier, X[test], strange)
    assert found.losses[0] == 1


def test_groups_widen_the_interval():
    groups = np.arange(60) // 10
    alone = risk.evaluate(regressor, X[test], y[test])
    grouped = risk.evaluate(regressor, X[test], y[test], groups=groups)
    assert grouped.value == alone.value
    assert set(grouped.unit) == set(range(6))


def test_leave_one_out_holds_each_row_out_once():
    found = risk.leave_one_out(LinearRegression(), X[:20], y[:20])
    expected = []
    for i in range(20):
        rest = np.delete(np.arange(20), i)
        expected.append((y[i] - LinearRegression().fit(X[rest], y[rest]).predict(X[[i]])[0]) ** 2)
    assert_allclose(found.losses, expected, rtol=1e-10)


def test_holdout_judges_this_model():
    found = risk.holdout(LinearRegression(), X, y, test_size=0.5, random_state=3)
    assert found.estimates == "this model"
    assert len(found.losses) == 60
    assert found.method == "log-scale t"


def test_bad_targets_are_named():
    with pytest.raises(ValueError, match="NaN"):
        risk.evaluate(regressor, X[test], np.full(60, np.nan))
    with pytest.raises(ValueError, match="inconsistent"):
        risk.evaluate(regressor, X[test], y[:10])
    with pytest.raises(DataError, match="negative"):
        risk.evaluate(regressor, X[test], y[test], sample_weight=-np.ones(60))
