"""The harness of the coverage certificate: true risks, equal intervals, and results that resume."""

import doctest
from dataclasses import replace

import numpy as np
import pytest
from benchmarks.coverage import command, page, tally
from benchmarks.coverage.command import judge, main
from benchmarks.coverage.one_feature import OneFeatureClassifier, OneFeatureRegressor
from benchmarks.coverage.populations import linear, two_classes
from benchmarks.coverage.sets import AUTO, LEVEL, PER_ROW, Found, Judged
from benchmarks.coverage.settings import settings
from benchmarks.coverage.sources import Copies, Exact, Grouped, Reweighted, Sampled
from benchmarks.coverage.tally import Result, exact_ends, keep, kept, tallied
from numpy.testing import assert_allclose

from empirisk import LinearDiscriminantAnalysis, LinearRegression, Tuned
from empirisk.risk import cross_validate, evaluate, leave_one_out
from empirisk.risk.intervals.coverage import Share
from empirisk.runtime.streams import generator, spawn
from tolerances import SOLVED, SUMMED

SMALL = "least_squares-p5-n50"


def without_seconds(judged):
    return [
        (each.risk, {method: found[:-1] for method, found in each.found.items()}) for each in judged
    ]


def made_up(setting, hits, *, flagged=False, sets=1000):
    """`hits` of 1000 intervals [0, 2] contain the risk 1, the others are [2, 3]."""
    judged = []
    for b in range(sets):
        ends = (0.0, 2.0) if b < hits else (2.0, 3.0)
        found = {method: Found(1.0, *ends, flagged, 0.001) for method in setting.methods}
        judged.append(Judged(1.0, found))
    return judged


@pytest.mark.parametrize(
    "name",
    [SMALL, "lda-p5-log-n50", "groups-zero_one-n250", "copies-squared-n100", "tree-zero_one-n100"],
)
def test_the_intervals_are_those_of_cross_validate(name):
    setting = settings()[name]
    found = setting.judge(3).found
    draw_seed, seed = spawn(3, 2)
    X, y, weight, groups = setting.source.draw(setting.n, generator(draw_seed))
    options = {"loss": setting.loss, "level": LEVEL, "random_state": seed}
    options |= {"sample_weight": weight, "groups": groups}
    for method in (AUTO, PER_ROW, "corrected_t"):
        public = cross_validate(setting.learner, X, y, method=method, **options)
        assert (public.value, *public.interval) == found[method][:3]
    if setting.leave_one_out:
        public = leave_one_out(setting.learner, X, y, **options)
        assert (public.value, *public.interval) == found["auto, leave-one-out"][:3]


def test_the_best_of_many_is_that_of_tuned():
    setting = settings()["best_of_40-ridge-n50"]
    judged = setting.judge(3)
    draw_seed, seed = spawn(3, 2)
    X, y, *_ = setting.source.draw(setting.n, generator(draw_seed))
    tuned = Tuned(setting.learner, values=setting.values, random_state=seed).fit(X, y)
    assert judged.found["naive minimum"].value == tuned.risk_.uncorrected
    # Both resample the same losses, with other seeds: the cost of choosing is about 0.03 +- 0.005.
    assert_allclose(judged.found[AUTO].value, tuned.risk_.value, rtol=0, atol=0.05)
    assert_allclose(judged.risk, setting.source.risk(tuned.best_estimator_), rtol=1e-9)


def test_without_values_the_learner_chooses_along_its_own_grid():
    setting = settings()["tuned-tree-gauss-n50"]
    judged = setting.judge(3)
    draw_seed, seed = spawn(3, 2)
    X, y, *_ = setting.source.draw(setting.n, generator(draw_seed))
    tuned = Tuned(setting.learner, loss="zero_one", random_state=seed).fit(X, y)
    assert judged.found["naive minimum"].value == tuned.risk_.uncorrected
    assert judged.risk == setting.source.risk(tuned.best_estimator_)


def test_a_locked_test_set_is_judged_by_evaluate():
    setting = settings()["locked-zero_one-n50"]
    judged = setting.judge(3)
    rng = generator(spawn(3, 2)[0])
    X, y, *_ = setting.source.draw(setting.n_train, rng)
    test = setting.source.draw(setting.n, rng)
    model = LinearDiscriminantAnalysis().fit(X, y)
    public = evaluate(model, test.X, test.y, level=LEVEL)
    assert (public.value, *public.interval) == judged.found[AUTO][:3]
    assert judged.risk == setting.source.risk(model)


def test_the_aim_is_of_the_risk_that_an_estimate_names():
    found = []
    for name, other in ((SMALL, "unflagged_model"), ("locked-normal-n50", "unflagged_procedure")):
        result = tallied(settings()[name], made_up(settings()[name], 900))
        line = replace(result.auto, **{other: Share(0.5, 0.01)})
        found.append(replace(result, lines={AUTO: line}))
    assert "90.0 % or more in these 2 settings" in page.named(found)
    assert "0 are below 88 %" in page.named(found)
    assert "50.0 %" in "".join(next(iter(page.summary_rows(found))))


def test_a_sample_of_x_gives_the_risk_in_closed_form():
    population = two_classes(3)
    exact, sampled = Exact(population, "zero_one"), Sampled(population, "zero_one", rows=100_000)
    model = LinearDiscriminantAnalysis().fit(*exact.draw(30, generator(0))[:2])
    # The excess over the Bayes rule is 0.02 on average, at most 1: its error is below 0.001.
    assert_allclose(sampled.risk(model), exact.risk(model), rtol=0, atol=0.005)
    assert sampled.risk(population.bayes_rule()) == pytest.approx(
        population.bayes_risk().value, rel=SUMMED
    )


@pytest.mark.parametrize(
    "source",
    [
        Copies(linear(2), "squared"),
        Reweighted(linear(2), "squared", spread=1.3),
        Grouped(linear(2), "squared", share=0.5),
        Grouped(two_classes(2), "zero_one", share=0.5),
    ],
    ids=lambda source: type(source).__name__,
)
def test_new_rows_have_the_true_risk(source):
    learner = LinearRegression() if source.loss.name == "squared" else LinearDiscriminantAnalysis()
    model = learner.fit(*source.draw(40, generator(0))[:2])
    rows = source.draw(60_000, generator(1))
    weight = np.ones(60_000) if rows.weight is None else rows.weight
    prediction = source.population.codes(model.predict(rows.X))
    losses = source.loss(source.population.codes(rows.y), prediction)
    unit = np.arange(60_000) if rows.groups is None else rows.groups
    mean = np.average(losses, weights=weight)
    error = np.sqrt(np.square(np.bincount(unit, weight * (losses - mean))).sum()) / weight.sum()
    # Normal in the limit, with an error probability of 1e-6.
    assert abs(mean - source.risk(model)) < 4.9 * error


def test_groups_are_alike_and_of_two_to_eight_rows():
    rows = Grouped(linear(2), "squared", share=0.5).draw(5000, generator(0))
    sizes = np.bincount(rows.groups)[:-1]  # the last may be cut off
    assert set(sizes) == {2, 3, 4, 5, 6, 7, 8}
    first, second = rows.X[:-1, 0], rows.X[1:, 0]
    same = rows.groups[:-1] == rows.groups[1:]
    # Correlations of some 4,000 and 1,000 pairs: five times their errors.
    assert_allclose(np.corrcoef(first[same], second[same])[0, 1], 0.5, rtol=0, atol=0.08)
    assert_allclose(np.corrcoef(first[~same], second[~same])[0, 1], 0.0, rtol=0, atol=0.16)


def test_learners_of_one_feature_are_those_of_one_column():
    X, y = linear(4).draw(60, generator(0))
    labels = np.where(y > 0.3, "high", "low")
    for j in range(4):
        one = OneFeatureRegressor(j).fit(X, y)
        alone = LinearRegression().fit(X[:, [j]], y)
        assert_allclose(one.predict(X), alone.predict(X[:, [j]]), rtol=SOLVED)
        one = OneFeatureClassifier(j).fit(X, labels)
        alone = LinearDiscriminantAnalysis().fit(X[:, [j]], labels)
        assert_allclose(
            one.decision_function(X), alone.decision_function(X[:, [j]]), rtol=SOLVED, atol=SOLVED
        )
    for learner, target in ((OneFeatureRegressor(), y), (OneFeatureClassifier(), labels)):
        tuned = Tuned(learner, values=range(4)).fit(X, target)
        each = [cross_validate(type(learner)(j), X, target).value for j in range(4)]
        assert_allclose(tuned.path_.risk, each, rtol=SUMMED)


def test_training_sets_depend_on_their_numbers_alone():
    setting = settings()[SMALL]
    whole = judge(setting, 0, 4, None)
    parts = judge(setting, 0, 1, None) + judge(setting, 1, 4, None)
    assert without_seconds(whole) == without_seconds(parts)
    assert len({each.risk for each in whole}) == 4


@pytest.mark.parametrize(
    ("hits", "verdict"),
    [(950, "met"), (905, "met"), (885, "close"), (875, "close"), (850, "missed")],
)
def test_the_verdict_is_sure_or_close(hits, verdict):
    setting = settings()[SMALL]
    result = tallied(setting, made_up(setting, hits))
    assert result.verdict == verdict
    assert result.auto.procedure == Share.of(np.arange(1000) < hits)
    assert_allclose(result.auto.width, (2 * hits + (1000 - hits)) / 1000, rtol=SUMMED)
    assert result.auto.relative_width == 1.0
    assert tallied(setting, made_up(setting, hits, flagged=True)).verdict == "flagged"


def test_flagged_sets_are_counted_apart():
    setting = settings()[SMALL]
    result = tallied(setting, made_up(setting, 900) + made_up(setting, 0, flagged=True, sets=500))
    assert_allclose(result.auto.flagged, 1 / 3, rtol=SUMMED)
    assert_allclose(result.auto.procedure.value, 0.6, rtol=SUMMED)
    assert_allclose(result.named.value, 0.9, rtol=SUMMED)
    assert exact_ends(0.9, 0) == (0.0, 1.0)


def test_a_result_is_kept_until_the_code_changes(tmp_path, monkeypatch):
    setting = settings()[SMALL]
    result = tallied(setting, made_up(setting, 900))
    lacking = replace(result.auto, width=np.nan)
    keep(replace(result, lines=result.lines | {"other": lacking}), tmp_path)
    again = kept(setting, tmp_path)
    assert again.auto == result.auto
    assert np.isnan(again.lines["other"].width)
    assert Result.read(tmp_path / f"{SMALL}.json").sets == 1000
    assert kept(settings()["least_squares-p5-n100"], tmp_path) is None
    monkeypatch.setattr(tally, "stamp", lambda: "another")
    assert kept(setting, tmp_path) is None


def test_what_is_kept_is_not_run_again_and_close_answers_go_on(tmp_path, monkeypatch):
    asked = []

    def fake(setting, start, stop, n_jobs):
        asked.append((start, stop))
        return made_up(setting, 0.88 * (stop - start), sets=stop - start)

    monkeypatch.setattr(command, "judge", fake)
    arguments = [
        "--settings",
        f"^{SMALL}$",
        "--folder",
        str(tmp_path),
        "--page",
        str(tmp_path / "p"),
    ]
    assert main(arguments) == 0
    assert asked == [(0, 2000), (2000, 10_000)]
    assert main(arguments) == 0
    assert len(asked) == 2
    text = (tmp_path / "p").read_text()
    assert "1 of" in text
    assert "88.0 ± 0.3 %" in text


def test_the_page_tells_every_setting(monkeypatch):
    monkeypatch.setattr(tally, "stamp", lambda: "the code is read once for each setting")
    results = [tallied(each, made_up(each, 90, sets=100)) for each in settings().values()]
    text = page.page(results, len(results))
    for name in settings():
        assert f"| {name} |" in text
    widths = {
        line.count(" | ")
        for line in text.splitlines()
        if line.startswith("| least_squares-p5-n50 |")
    }
    assert widths == {8, 9}  # the two tables that name it, each with as many columns as titles


def test_a_quick_run_prints_and_writes_no_page(tmp_path, capsys):
    wanted = ["--settings", f"^{SMALL}$|^locked-normal-n50$", "--quick", "--folder", str(tmp_path)]
    assert main([*wanted, "--page", str(tmp_path / "page.md")]) == 0
    printed = capsys.readouterr().out
    assert "per_row_normal" in printed
    assert "2 settings" in printed
    assert not (tmp_path / "page.md").exists()
    assert main(["--settings", "nothing at all", "--folder", str(tmp_path)]) == 2
    for wrong in (["--sets", "1"], ["--settings", "("]):
        with pytest.raises(SystemExit):
            main(wrong)


@pytest.mark.parametrize("module", [page, tally])
def test_examples_in_docstrings_hold(module):
    assert doctest.testmod(module).failed == 0
