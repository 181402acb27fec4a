import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.linear_model import LinearRegression
from sklearn.neighbors import KNeighborsClassifier

from empirisk import Ridge, risk
from empirisk.risk.gap import train_test_gap
from empirisk.runtime.errors import DataError
from tolerances import SUMMED

rng = np.random.default_rng(0)
X = rng.normal(size=(200, 4))
y = X[:, 0] + rng.normal(size=200)
train, test = slice(80), slice(80, 200)


def test_the_gap_is_the_test_risk_moved_by_the_known_training_risk():
    model = LinearRegression().fit(X[train], y[train])
    found = train_test_gap(model, X[train], y[train], X[test], y[test], level=0.9)
    honest = risk.evaluate(model, X[test], y[test], level=0.9)
    training = np.mean((y[train] - model.predict(X[train])) ** 2)
    assert_allclose(found.training.value, training, rtol=SUMMED)
    assert found.test.interval == honest.interval
    assert_allclose(found.gap.value, honest.value - training, rtol=SUMMED)
    assert_allclose(found.gap.interval, np.array(honest.interval) - training, rtol=SUMMED)
    assert_allclose(found.gap.losses.mean(), found.gap.value, rtol=SUMMED)
    assert found.gap.standard_error == honest.standard_error
    assert (found.training.interval, found.training.standard_error) == (None, None)
    assert "too good" in str(found.training)
    assert "a gap of" in str(found)
    assert "90 % interval" in str(found)


def test_any_predictor_and_loss_with_weights_and_groups():
    label = np.where(y > 0, "up", "down")
    model = KNeighborsClassifier(1).fit(X[train], label[train])
    found = train_test_gap(
        model, X[train], label[train], X[test], label[test],
        train_weight=np.arange(80), test_weight=np.arange(1, 121), groups=np.arange(120) // 3,
    )  # fmt: skip
    assert found.training.value == 0
    wrong = model.predict(X[test]) != label[test]
    assert_allclose(found.gap.value, np.average(wrong, weights=np.arange(1, 121)), rtol=SUMMED)
    assert "zero_one risk" in str(found)
    absolute = train_test_gap(
        Ridge().fit(X[train], y[train]), X[train], y[train], X[test], y[test], loss="absolute"
    )
    assert absolute.gap.loss == "absolute"
    ax = absolute.plot()
    assert [text.get_text() for text in ax.get_yticklabels()] == ["training", "test"]
    assert ax.get_xlabel() == "absolute risk"


def test_what_the_interval_does_not_guarantee_is_said():
    model = LinearRegression().fit(X[train], y[train])
    found = train_test_gap(model, X[train], y[train], X[80:100], y[80:100])
    assert found.test.cautions == found.gap.cautions != ()
    for caution in found.gap.cautions:
        assert caution in found.sentence
    many = train_test_gap(model, X[train], y[train], X[test], y[test])
    assert many.gap.cautions == ()
    assert "but" not in many.sentence


def test_no_interval_for_the_test_risk_is_none_for_the_gap():
    model = LinearRegression().fit(X[train], y[train])
    found = train_test_gap(model, X[train], y[train], X[80:81], y[80:81])
    assert found.gap.interval is None
    assert "single" in str(found)


def test_infinite_losses_have_no_gap():
    model = LinearRegression().fit(X[train], y[train])
    with pytest.raises(DataError, match="infinite"):
        train_test_gap(model, X[train], 1e200 * y[train], X[test], 1e200 * y[test])
