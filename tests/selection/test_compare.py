import time

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from scipy.sparse import csr_array
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import TimeSeriesSplit
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.tree import DecisionTreeRegressor

from empirisk import (
    PCA,
    Baseline,
    DecisionTreeClassifier,
    Encoder,
    LinearDiscriminantAnalysis,
    LinearRegression,
    Ridge,
    Tuned,
    compare,
    load,
    risk,
    save,
    select,
)
from empirisk.losses import Asymmetric, as_loss
from empirisk.runtime.errors import DataError, EmpiriskError, ParameterError
from empirisk.selection.candidates import with_baseline
from tolerances import SUMMED

rng = np.random.default_rng(0)
X = rng.normal(size=(60, 10))
y = X[:, 0] + rng.normal(size=60)


class Sleeper(RegressorMixin, BaseEstimator):
    def fit(self, X, y):
        time.sleep(600)

    def predict(self, X):
        return np.zeros(len(X))


class Thrown(RegressorMixin, BaseEstimator):
    """Predicts so far away that the squared loss overflows."""

    def fit(self, X, y):
        self.fitted_ = True
        return self

    def predict(self, X):
        return np.full(len(X), 1e200)


def test_rivals_share_one_plan_and_keep_their_intervals():
    found = compare(
        [LinearRegression(), Tuned(Ridge()), DecisionTreeRegressor(random_state=0)], X, y
    )
    assert list(found.risks) == ["Baseline", "LinearRegression", "Tuned", "DecisionTreeRegressor"]
    assert len({estimate.fingerprint for estimate in found.risks.values()}) == 1
    assert all(estimate.interval is not None for estimate in found.risks.values())
    alone = risk.cross_validate(LinearRegression(), X, y)
    assert_allclose(found.risks["LinearRegression"].losses, alone.losses, rtol=SUMMED)
    values = [found.risks[name].value for name in found.ranking()]
    assert values == sorted(values)
    assert found.ranking()[0] in str(found).splitlines()[0]


def test_a_difference_is_that_of_the_losses():
    found = compare({"a": LinearRegression(), "b": Ridge(alpha=30.0)}, X, y)
    gap = found.difference("a", "b")
    assert_allclose(gap.losses, found.risks["a"].losses - found.risks["b"].losses, rtol=SUMMED)
    with pytest.raises(ParameterError, match="no rival 'c'"):
        found.difference("a", "c")


def test_differences_hold_all_at_once_and_to_the_best_for_all_pairs():
    rivals = {"ols": LinearRegression(), "a": Ridge(alpha=30.0), "b": Ridge(alpha=300.0)}
    found = compare(rivals, X, y, level=0.9)
    to_baseline = found.differences("Baseline")
    assert set(to_baseline) == set(rivals)
    best = found.ranking()[0]
    to_best = found.differences()
    assert set(to_best) == {"Baseline", *rivals} - {best}
    for gaps, to, count in ((to_baseline, "Baseline", 3), (to_best, best, 6)):
        for name, gap in gaps.items():
            alone = found.difference(name, to)
            assert gap.value == alone.value
            assert gap.interval[0] < alone.interval[0] < alone.interval[1] < gap.interval[1]
            assert gap.level == 0.9
            assert f"{count} differences at once" in gap.reason
    # Each pair of the same is in both, wider among six than among three.
    width = [np.diff(gaps[other].interval)[0] for gaps, other in (
        (to_baseline, best), (to_best, "Baseline"))]  # fmt: skip
    assert width[0] < width[1]
    assert f"Baseline minus {best}" in str(found)


def test_a_copy_of_the_best_does_not_take_the_correction_from_the_others():
    rivals = {"a": Ridge(alpha=30.0), "b": Ridge(alpha=300.0), "ols": LinearRegression()}
    alone = compare(rivals, X, y).differences()
    best = compare(rivals, X, y).ranking()[0]
    copied = compare({**rivals, "copy": rivals[best]}, X, y)
    found = copied.differences(best)
    assert found["copy"].value == 0
    assert found["copy"].interval is None
    for name in ("Baseline", *(name for name in rivals if name != best)):
        plain = copied.difference(name, best).interval
        assert found[name].interval[0] < plain[0] < plain[1] < found[name].interval[1]
        assert "3 differences at once" in found[name].reason
    to_best = copied.differences()
    for name, gap in alone.items():
        assert to_best[name].interval == gap.interval


def test_all_differences_without_an_interval_are_left_as_they_are():
    found = compare([LinearRegression(), Ridge()], X, y, cv=TimeSeriesSplit(4)).differences()
    assert len(found) == 2
    assert all(gap.interval is None for gap in found.values())


def test_rivals_of_infinite_risk_have_no_difference():
    found = compare({"far": Thrown(), "ridge": Ridge()}, X, y)
    assert found.risks["far"].value == np.inf
    assert list(found.differences("Baseline")) == ["ridge"]
    assert "far: The squared risk" in str(found)
    assert "far minus" not in str(found)
    with pytest.raises(DataError, match="infinite"):
        found.difference("far", "ridge")


def test_differences_by_nested_cross_validation_are_those_of_the_values():
    found = compare({"ridge": Ridge(), "ols": LinearRegression()}, X, y, method="nested", cv=5)
    assert found.risks["ols"].value != found.risks["ols"].losses.mean()
    for gaps in (found.differences(), found.differences("Baseline")):
        to = next(name for name in found.risks if name not in gaps)
        for name, gap in gaps.items():
            assert_allclose(gap.value, found.risks[name].value - found.risks[to].value, rtol=SUMMED)
            assert_allclose(np.mean(gap.interval), gap.value, rtol=SUMMED)
            assert "nested cross-validation corrects" in gap.reason
            assert "at once" in gap.reason
    # The interval is that of the differences of the losses, moved.
    usual = compare({"ridge": Ridge(), "ols": LinearRegression()}, X, y, cv=5)
    moved, plain = (each.difference("ols", "ridge") for each in (found, usual))
    assert_allclose(np.diff(moved.interval), np.diff(plain.interval), rtol=SUMMED)
    assert moved.value != plain.value
    assert "nested" not in plain.reason


def test_one_difference_needs_no_correction():
    found = compare([LinearRegression()], X, y)
    gap = found.differences("Baseline")["LinearRegression"]
    assert gap.interval == found.difference("LinearRegression", "Baseline").interval


def test_a_baseline_is_added_once():
    assert list(compare([Baseline(), Ridge()], X, y).risks) == ["Baseline", "Ridge"]
    labels = np.where(y > 0, 1, 0)
    found = compare([LogisticRegression()], X, labels, loss="log")
    # log 2, the loss of two classes in about equal shares.
    assert_allclose(found.risks["Baseline"].value, np.log(2), rtol=0, atol=0.02)


TEXTS = np.array(["a red car", "the sky", "green and red"])[np.arange(60) % 3].tolist()
ONLY_STEPS_READ = {
    "missing": (np.where(X > 1, np.nan, X), make_pipeline(SimpleImputer(), LogisticRegression())),
    "words": (
        pd.DataFrame({"word": TEXTS}), make_pipeline(OneHotEncoder(), LogisticRegression())
    ),
    "texts": (TEXTS, make_pipeline(TfidfVectorizer(), LogisticRegression())),
    "sparse": (csr_array(np.maximum(X, 0)), LogisticRegression()),
    "sparse, of a tree": (csr_array(np.maximum(X, 0)), DecisionTreeClassifier()),
}  # fmt: skip


@pytest.mark.parametrize("kind", ONLY_STEPS_READ)
def test_the_baseline_takes_whatever_rows_its_rivals_take(kind):
    rows, rival = ONLY_STEPS_READ[kind]
    labels = np.where(y > 0.8, "ill", "well")
    found = compare([rival], rows, labels)
    of_numbers = compare([LogisticRegression()], X, labels).risks["Baseline"]
    assert found.risks["Baseline"].value == pytest.approx(of_numbers.value, abs=SUMMED)
    assert found.risks["Baseline"].interval == pytest.approx(of_numbers.interval, abs=SUMMED)
    for refit in ("train", "average"):
        chosen = select([rival], rows, labels, cv=3, refit=refit, random_state=0)
        assert chosen.risks.keys() == found.risks.keys()
        assert set(chosen.model.predict(rows)) <= {"ill", "well"}


@pytest.mark.parametrize("kind", ONLY_STEPS_READ)
def test_a_baseline_of_rows_that_are_no_numbers_can_be_saved(kind, tmp_path):
    rows, rival = ONLY_STEPS_READ[kind]
    labels = np.where(y > 0.8, "ill", "well")
    constant = with_baseline({"rival": rival}, as_loss("zero_one"), rows)["Baseline"]
    save(constant.fit(rows, labels), tmp_path / "constant.model")
    found = load(tmp_path / "constant.model").predict(rows)
    assert found.tolist() == constant.predict(rows).tolist() == ["well"] * len(labels)


def test_costs_by_label_reach_every_rival():
    labels = np.where(y > 0.8, "ill", "well")
    costs = Asymmetric(a=1, b=50, positive="ill")  # to overlook the ill is dear
    found = compare([LinearDiscriminantAnalysis()], X, labels, loss=costs)
    assert_allclose(found.risks["Baseline"].value, np.mean(labels == "well"), rtol=0, atol=SUMMED)


def test_names_are_made_unique():
    assert list(compare([Ridge(), Ridge(alpha=9.0)], X, y).risks)[1:] == ["Ridge", "Ridge 2"]


def test_classifiers_and_regressors_do_not_compete():
    with pytest.raises(ParameterError, match="some candidates are classifiers"):
        compare([Ridge(), LogisticRegression()], X, y)
    with pytest.raises(ParameterError, match="no candidates"):
        compare([], X, y)
    for wrong in ("ridge", Ridge, [Ridge], {"ridge": "Ridge"}):
        with pytest.raises(ParameterError, match="wanted an estimator"):
            compare(wrong, X, y)


def test_a_complaint_of_a_cell_counts_the_rows_of_the_user():
    strange = X.copy()
    strange[41, 3] = np.nan  # behind rows of other folds, and of the test part of a selection
    for model in (Ridge(), make_pipeline(StandardScaler(), Ridge()), Tuned(Ridge())):
        for judge in (compare, select):
            with pytest.raises(DataError, match=r"column 3 .* first in row 41; Ridge needs"):
                judge([model], strange, y, random_state=0)
        with pytest.raises(DataError, match=r"column 3 .* first in row 41; Ridge needs"):
            risk.cross_validate(model, strange, y, random_state=0)


def test_predictors_do_not_compete_with_what_has_no_target():
    with pytest.raises(ParameterError, match="'Ridge' predicts y, and the loss 'entries'"):
        compare([PCA(), Ridge()], X, y)
    with pytest.raises(ParameterError, match="Encoder has no predict"):
        compare([Encoder()], X, y)


def test_a_rival_that_hangs_is_ended_and_reported():
    found = compare({"asleep": Sleeper(), "ridge": Ridge()}, X, y, cv=2, time_limit=8)
    assert list(found.risks) == ["Baseline", "ridge"]
    assert found.failures["asleep"].startswith("not finished within its 8 s: allow more time")
    assert "asleep" in str(found)


def test_the_comparison_is_drawn_best_on_top():
    found = compare([LinearRegression(), Ridge()], X, y)
    ax = found.plot()
    assert [label.get_text() for label in ax.get_yticklabels()] == found.ranking()


def test_nothing_finished_is_an_error():
    with pytest.raises(EmpiriskError, match=r"of Baseline, a: allow more .* sample of the rows"):
        compare({"a": Sleeper()}, X, y, cv=2, time_limit=0.0)
