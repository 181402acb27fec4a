import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge

from empirisk import LinearRegression as Ours
from empirisk import Ridge as OurRidge
from empirisk import risk
from empirisk.runtime.errors import DataError, PlanError
from tolerances import SUMMED

rng = np.random.default_rng(0)
X = rng.normal(size=(80, 3))
y = X @ [1.0, 2.0, 0.0] + rng.normal(size=80)


def test_a_difference_is_paired():
    a = risk.cross_validate(LinearRegression(), X, y)
    b = risk.cross_validate(Ridge(alpha=50.0), X, y)
    gap = b - a
    assert_allclose(gap.value, b.value - a.value, rtol=SUMMED)
    assert_allclose(gap.losses, b.losses - a.losses, rtol=SUMMED)
    assert_allclose((a - b).value, -gap.value, rtol=SUMMED)
    unpaired = np.hypot(a.standard_error, b.standard_error)
    assert gap.standard_error < unpaired
    assert gap.interval[0] < gap.value < gap.interval[1]
    assert "difference in squared risk" in str(gap)


def test_a_difference_of_corrected_values_is_the_difference_of_the_values():
    a, b = (
        risk.nested_cross_validate(learner, X, y, cv=5) for learner in (Ours(), OurRidge(alpha=50))
    )
    assert b.value != b.losses.mean()
    gap, plain = b - a, b.losses.mean() - a.losses.mean()
    assert_allclose(gap.value, b.value - a.value, rtol=SUMMED)
    assert_allclose(np.mean(gap.interval), gap.value, rtol=SUMMED)
    assert abs(gap.value - plain) > 1e-6
    assert "nested cross-validation corrects" in gap.sentence


def test_a_difference_of_values_that_are_not_corrected_does_not_say_they_are():
    classes = np.where(y > y.mean(), "high", "low")
    scores = [
        risk.cross_validate(LogisticRegression(C=C), X, classes, cv=5, loss=measure)
        for measure in ("auc", "f_score")
        for C in (1.0, 0.001)
    ]
    mixed = [
        risk.bootstrap_632plus(learner, X, y, n_resamples=20, random_state=0)
        for learner in (LinearRegression(), Ridge(alpha=50))
    ]
    for a, b in ((scores[0], scores[1]), (scores[2], scores[3]), mixed):
        assert "correct" not in str(a - b)
    assert "folds" not in str(mixed[0] - mixed[1])


def test_a_difference_and_a_risk_are_different_quantities():
    a, b = (risk.cross_validate(learner, X, y) for learner in (LinearRegression(), Ridge()))
    with pytest.raises(PlanError, match=r"the difference in squared risk .* different quantities"):
        (a - b) - b
    assert ((a - b) - (b - a)).is_difference


def test_risks_from_different_plans_or_losses_refuse_to_be_compared():
    a = risk.cross_validate(LinearRegression(), X, y)
    for other in (
        risk.cross_validate(LinearRegression(), X, y, cv=5),
        risk.cross_validate(LinearRegression(), X, y, random_state=1),
        risk.cross_validate(LinearRegression(), X, y, loss="absolute"),
        risk.cross_validate(LinearRegression(), X, y + 1),
        risk.holdout(LinearRegression(), X, y),
    ):
        with pytest.raises(PlanError):
            a - other
    with pytest.raises(PlanError, match="a risk is wanted to subtract, and this is 3"):
        a - 3


def test_a_chosen_risk_has_no_interval():
    a = risk.cross_validate(LinearRegression(), X, y)
    chosen = a.chosen(7)
    assert (chosen.chosen_among, chosen.corrected, chosen.interval) == (7, False, None)
    assert chosen.value == a.value
    assert "best of 7" in chosen.sentence
    assert (chosen - a).interval is None
    assert a.chosen(1) is a


def test_what_to_expect_after_a_choice_is_said_with_what_it_looked_like():
    a = risk.cross_validate(LinearRegression(), X, y)
    expected = a.expected(1.2 * a.value, 40)
    assert (expected.chosen_among, expected.corrected) == (40, True)
    assert expected.uncorrected == a.value
    low, high = np.log(expected.interval) - np.log(1.2 * a.value)
    assert_allclose(low, -high, rtol=SUMMED)
    assert high > np.log(a.interval[1] / a.value)  # the correction has an error of its own
    assert f"the best of 40 looked like {a.value:.4g}; expect {1.2 * a.value:.4g}" in str(expected)
    assert (expected - a).interval is None


def test_what_may_be_less_or_more_has_an_interval_that_reaches_there():
    a = risk.cross_validate(LinearRegression(), X, y)
    both = a.expected(1.2 * a.value, 40, least=1.1 * a.value, cautions=("it may be less",))
    more, less = (a.expected(factor * a.value, 40) for factor in (1.2, 1.1))
    assert both.value == more.value
    assert both.interval == (less.interval[0], more.interval[1])
    assert both.cautions == (*more.cautions, "it may be less")
    assert a.expected(a.value, 40, least=2 * a.value).interval == a.expected(a.value, 40).interval
    up = a.expected(1.1 * a.value, 40, most=1.2 * a.value)
    assert (up.value, up.interval) == (less.value, (less.interval[0], more.interval[1]))


def test_cautions_are_said_after_the_interval():
    few = risk.cross_validate(LinearRegression(), X[:30], y[:30])
    assert "but with 30 rows the interval is approximate" in str(few)
    assert "but" not in str(risk.cross_validate(LinearRegression(), X, y, loss="absolute"))
    assert few.chosen(3).cautions == ()


def test_the_sentence_says_what_is_estimated():
    a = risk.cross_validate(LinearRegression(), X, y)
    assert "the procedure at this n" in str(a)
    assert "95 % interval" in str(a)
    model = LinearRegression().fit(X[:40], y[:40])
    b = risk.evaluate(model, X[40:], y[40:], level=0.9)
    assert "this model" in str(b)
    assert "90 % interval" in str(b)


def test_an_estimate_can_be_pickled_and_drawn():
    a = risk.cross_validate(LinearRegression(), X, y)
    again = pickle.loads(pickle.dumps(a))
    assert (again - a).value == 0
    ax = a.plot()
    assert ax.lines[-1].get_xdata()[0] == a.value


def test_infinite_losses_have_no_interval_and_no_difference():
    huge = 1e160 * y
    a = risk.cross_validate(Ours(), X, huge)
    assert a.value == np.inf
    assert (a.standard_error, a.interval) == (None, None)
    assert "not finite" in str(a)
    with pytest.raises(DataError, match="infinite"):
        a - risk.cross_validate(Ours(), X, huge)


def test_two_programs_for_one_rule_differ_by_nothing():
    one, other = (risk.cross_validate(each, X, y, cv=5) for each in (Ours(), LinearRegression()))
    assert not np.array_equal(one.losses, other.losses)  # by the last bits
    difference = one - other
    assert difference.value == 0
    assert difference.interval is None
    assert "all held-out losses are equal" in difference.sentence
