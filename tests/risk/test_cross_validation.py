import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from scipy.sparse import csr_array
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.decomposition import TruncatedSVD
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.metrics import log_loss, mean_absolute_error, mean_squared_error
from sklearn.model_selection import GroupKFold, GroupShuffleSplit, KFold, LeaveOneOut
from sklearn.neighbors import KNeighborsClassifier

from empirisk import LinearDiscriminantAnalysis, risk
from empirisk.losses import Costs
from empirisk.runtime.errors import DataError, DataTypeError, PlanError
from tolerances import SUMMED

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
    assert_allclose(found.value, expected, rtol=SUMMED)
    found = risk.evaluate(regressor, X[test], y[test], loss="absolute")
    assert_allclose(
        found.value, mean_absolute_error(y[test], regressor.predict(X[test])), rtol=SUMMED
    )
    found = risk.evaluate(classifier, X[test], labels[test])
    assert_allclose(found.value, 1 - classifier.score(X[test], labels[test]), rtol=SUMMED)
    found = risk.evaluate(classifier, X[test], labels[test], loss="log")
    assert_allclose(
        found.value, log_loss(labels[test], classifier.predict_proba(X[test])), rtol=SUMMED
    )


def test_costs_are_those_of_prediction_given_truth():
    costs = Costs([[0, 5], [1, 0]], classes=["no", "yes"])  # "no" said where "yes" is true: 5
    found = risk.evaluate(classifier, X[test], labels[test], loss=costs)
    said = classifier.predict(X[test])
    missed = np.mean((said == "no") & (labels[test] == "yes"))
    alarm = np.mean((said == "yes") & (labels[test] == "no"))
    assert_allclose(found.value, 5 * missed + alarm, rtol=SUMMED)


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
    assert_allclose(found.losses, expected, rtol=SUMMED)


def test_groups_do_not_leak_whatever_the_way():
    # 40 groups of near-copies with labels by coin: the honest risk is 1/2, reciting gives 0. Of 40
    # coins, 5 standard errors are 0.4.
    G = np.repeat(np.arange(40), 5)
    stream = np.random.default_rng(1)
    copies = stream.normal(size=(40, 3))[G] + 1e-3 * stream.normal(size=(200, 3))
    coin = stream.integers(0, 2, 40)[G]
    nearest = KNeighborsClassifier(1)
    honest = [
        risk.cross_validate(nearest, copies, coin, groups=G),
        risk.cross_validate(nearest, copies, coin, groups=G, cv=GroupKFold(5)),
        risk.cross_validate(nearest, copies, coin, groups=G, cv=GroupShuffleSplit(5)),
        risk.leave_one_out(nearest, copies, coin, groups=G),
        risk.holdout(nearest, copies, coin, groups=G, test_size=0.5),
    ]
    for found in honest:
        assert 0.1 < found.value < 0.9
    assert risk.leave_one_out(nearest, copies, coin).value == 0
    for cv in (KFold(5, shuffle=True), LeaveOneOut()):
        with pytest.raises(PlanError, match="group on both sides"):
            risk.cross_validate(nearest, copies, coin, groups=G, cv=cv)


def test_leaving_one_group_out_is_refitting_without_it():
    groups = np.arange(24) % 6
    found = risk.leave_one_out(LinearRegression(), X[:24], y[:24], groups=groups)
    expected = np.empty(24)
    for g in range(6):
        out = groups == g
        model = LinearRegression().fit(X[:24][~out], y[:24][~out])
        expected[out] = (y[:24][out] - model.predict(X[:24][out])) ** 2
    assert_allclose(found.value, expected.mean(), rtol=SUMMED)
    assert len(set(found.unit)) == 6


def test_a_group_is_asked_of_every_row_that_counts():
    groups = np.array(["a", "b"] * 30, dtype=object)
    groups[4] = None
    for way in (risk.cross_validate, risk.leave_one_out, risk.holdout):
        with pytest.raises(DataError, match="row 4 has no group"):
            way(LinearRegression(), X[:60], y[:60], groups=groups)
    with pytest.raises(DataError, match="row 4 has no group"):
        risk.evaluate(regressor, X[:60], y[:60], groups=groups)
    weight = np.ones(60)
    weight[4] = 0
    some = risk.evaluate(regressor, X[:60], y[:60], groups=groups, sample_weight=weight)
    assert len(some.losses) == 59


def test_groups_may_be_a_list_or_a_series_of_any_index():
    groups = np.arange(60) // 6
    weight = np.arange(60) % 5  # some rows go, and the groups with them
    expected = risk.cross_validate(LinearRegression(), X[:60], y[:60], groups=groups,
                                   sample_weight=weight)  # fmt: skip
    for given in (groups.tolist(), pd.Series(groups, index=np.arange(60)[::-1])):
        found = risk.cross_validate(LinearRegression(), X[:60], y[:60], groups=given,
                                    sample_weight=weight)  # fmt: skip
        np.testing.assert_array_equal(found.losses, expected.losses)


def test_labels_may_be_the_values_of_a_series_or_an_index():
    labels = np.where(X[:60, 0] > 0, "yes", "no")
    expected = risk.cross_validate(LogisticRegression(), X[:60], labels, random_state=0)
    series = pd.Series(labels)
    for given in (series.values, series.astype("category").values, pd.Index(labels)):
        found = risk.cross_validate(LogisticRegression(), X[:60], given, random_state=0)
        np.testing.assert_array_equal(found.losses, expected.losses)
        assert risk.cross_validate(LinearRegression(), X[:60], y[:60], groups=given, cv=2).value > 0


@pytest.mark.parametrize("kind", [int, float, str, bool])
def test_a_training_part_of_one_class_names_it_plainly(kind):
    label = np.where(np.arange(20) < 10, 0, 1).astype(kind)
    cv = [(np.arange(5), np.arange(5, 20))]
    for learner in (LogisticRegression(), LinearDiscriminantAnalysis()):
        said = rf"one class only \({label.tolist()[0]!r}\); of all 20 rows, 10 of other classes"
        with pytest.raises(PlanError, match=said):
            risk.cross_validate(learner, X[:20], label, cv=cv)


def test_a_target_of_one_class_is_refused_whichever_way_the_learner_is_judged():
    for learner in (LinearDiscriminantAnalysis(), KNeighborsClassifier(), LogisticRegression()):
        with pytest.raises(DataError, match="y has one class only, 'a'; cross-validation needs"):
            risk.cross_validate(learner, X[:20], np.full(20, "a"))


def test_holdout_in_time_order_judges_this_model_on_the_last_rows():
    found = risk.holdout(LinearRegression(), X, y, test_size=0.25, time_order=True)
    model = LinearRegression().fit(X[:90], y[:90])
    assert_allclose(found.losses, (y[90:] - model.predict(X[90:])) ** 2, rtol=SUMMED)
    assert found.estimates == "this model"
    assert found.interval is None
    assert "ordered in time" in str(found)
    marked = risk.holdout(LinearRegression(), X, y, time_order=True, method="per_row_normal")
    assert marked.interval is not None
    assert "time order" in marked.cautions[-1]


def test_holdout_judges_this_model():
    found = risk.holdout(LinearRegression(), X, y, test_size=0.5, random_state=3)
    assert found.estimates == "this model"
    assert len(found.losses) == 60
    assert found.method == "log-scale t"


def test_a_regressor_that_predicts_words_is_named():
    class Wordy(RegressorMixin, BaseEstimator):
        def fit(self, X, y):
            return self

        def predict(self, X):
            return np.full(len(X), "many")

    with pytest.raises(DataError, match="Wordy predicts 'many' where numbers are wanted"):
        risk.cross_validate(Wordy(), X, y)


def test_weights_by_a_word_are_refused():
    with pytest.raises(DataError, match="sample_weight is 'balanced'"):
        risk.cross_validate(LinearRegression(), X, y, sample_weight="balanced")


def test_bad_targets_are_named():
    with pytest.raises(ValueError, match="NaN"):
        risk.evaluate(regressor, X[test], np.full(60, np.nan))
    with pytest.raises(ValueError, match="inconsistent"):
        risk.evaluate(regressor, X[test], y[:10])
    with pytest.raises(DataError, match="negative"):
        risk.evaluate(regressor, X[test], y[test], sample_weight=-np.ones(60))


def test_data_without_rows_to_take_are_refused():
    columns = {"a": X[:, 0], "b": X[:, 1]}
    with pytest.raises(DataTypeError, match="X is a dict, of which no rows can be taken"):
        risk.cross_validate(LinearRegression(), columns, y)
    with pytest.raises(DataTypeError, match="y is a generator"):
        risk.cross_validate(LinearRegression(), X, (value for value in y))
    with pytest.raises(DataTypeError, match="X is a NoneType, of which no rows can be taken"):
        risk.cross_validate(LinearRegression(), None, y)


def test_bytes_are_no_plan():
    with pytest.raises(PlanError, match="cv is b'5'; give a number of folds"):
        risk.cross_validate(LinearRegression(), X, y, cv=b"5")


def test_sparse_rows_are_reconstructed_as_dense_ones():
    rows = np.maximum(X, 0)
    found = [
        risk.cross_validate(TruncatedSVD(2, random_state=0), given, None, loss="reconstruction")
        for given in (rows, csr_array(rows))
    ]
    assert_allclose(found[0].value, found[1].value, rtol=SUMMED)
