"""What naive Bayes says of itself: explanations, pictures and rows that it draws."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import load_iris

from empirisk import NaiveBayes
from empirisk.charts.log_ratios import draw_log_ratios
from empirisk.runtime.errors import ParameterError
from naive_bayes_twin import ASKED, mixed_table
from tolerances import SUMMED

IRIS, SPECIES = load_iris(return_X_y=True)


def test_explanations_add_up_to_the_log_odds():
    table, y = mixed_table()
    model = NaiveBayes(distributions=ASKED, priors=[0.2, 0.3, 0.5]).fit(table, y)
    log_probability = model.predict_log_proba(table)
    told = model.explain(table)
    codes = {label: k for k, label in enumerate(model.classes_)}
    one, other = ([codes[label] for label in own] for own in (told.label, told.against))
    i = np.arange(len(y))
    odds = log_probability[i, one] - log_probability[i, other]
    assert_allclose(told.log_odds, odds, rtol=SUMMED, atol=SUMMED)
    # A cell far from the class without variance has a ratio of 1e8.
    assert_allclose(told.prior + told.ratios.sum(axis=1), odds, rtol=1e-9, atol=1e-7)
    assert_array_equal(told.label, model.predict(table))
    assert (odds >= 0).all()
    assert (told.ratios[table.isna().to_numpy()] == 0).all()
    pair = model.explain(table, label="b", against="a")
    assert set(pair.label), set(pair.against) == ({"b"}, {"a"})
    assert_allclose(pair.ratios, -model.explain(table, label="a", against="b").ratios, rtol=SUMMED)
    with pytest.raises(ParameterError, match="both 'a'"):
        model.explain(table, label="a", against="a")


def test_an_explanation_is_printed_and_drawn():
    table, y = mixed_table()
    told = NaiveBayes(0.0, distributions=ASKED).fit(table, y).explain(table.iloc[:3])
    assert str(told).splitlines()[0] == f"row 0: {told.label[0]} against {told.against[0]}"
    ax = told.plot(1, most=4)
    names = [text.get_text() for text in ax.get_yticklabels()]
    assert names == [told.in_words(1, j) for j in told.order(1)[:4]] + ["prior"]
    assert [name.split(" = ")[0] for name in names[:-1]] == [
        told.names[j] for j in told.order(1)[:4]
    ]
    assert {told.in_words(i, 2) for i in range(3)} == {
        f"word = {'missing' if pd.isna(word) else word}" for word in table["word"][:3]
    }
    finite = np.isfinite(told.ratios[1, told.order(1)[:4]])
    widths = np.array([bar.get_width() for bar in ax.patches])[:4]
    assert_allclose(widths[finite], told.ratios[1, told.order(1)[:4]][finite], rtol=SUMMED)
    with pytest.raises(ParameterError, match="rows 0 to 2"):
        told.plot(3)


def test_the_numbers_beside_the_bars_stay_in_the_picture():
    ratios = np.array([2.344, 1.428, -1.34, 0.0])
    names = ["a column of a long name = its value", "b", "c", "prior"]
    ax = draw_log_ratios(names, ratios, label="ratio", title="log-odds")
    ax.figure.draw_without_rendering()
    assert len(ax.texts) == 4
    assert all(text.get_window_extent().x1 < ax.get_window_extent().x1 for text in ax.texts)


@pytest.mark.parametrize("distribution", ["poisson", "multinomial"])
def test_counts_beyond_whole_numbers_of_the_machine_are_drawn(distribution):
    X, y = np.array([[1e25, 3e25], [1e25, 3e25]] * 2), [0, 0, 1, 1]
    rows, _ = NaiveBayes(distributions=distribution).fit(X, y).sample(5, random_state=0)
    # Deviations are roots of rates: 1e12.5 of 1e25, and 10 of them are 3e-12.
    assert_allclose(rows, np.tile([1e25, 3e25], (5, 1)), rtol=1e-11)


def test_what_it_draws_has_its_distribution():
    table, y = mixed_table(600, holes=0.1)
    model = NaiveBayes(distributions=ASKED).fit(table, y)
    X, labels = model.sample(6000, random_state=0)
    assert X.kinds["word"] == "category"
    assert X.kinds["truth"] == "boolean"
    again = NaiveBayes(distributions=ASKED).fit(X, labels)
    # Frequencies of 6000 draws: 4 standard errors, an error with probability 6e-5 each.
    assert_allclose(again.class_prior_, model.class_prior_, rtol=0, atol=4 * 0.5 / np.sqrt(6000))
    for name, key in [("size", "mean"), ("truth", "share"), ("visits", "rate"), ("pears", "share")]:
        found, known = again.parameters(name)[key], model.parameters(name)[key]
        assert_allclose(
            found, known, rtol=0, atol=4 * 2.0 / np.sqrt(1900)
        )  # deviations of at most 2
    words = dict(zip(again.columns_[2].values, again.parameters("word")["share"].T, strict=True))
    for level, share in zip(
        model.columns_[2].values, model.parameters("word")["share"].T, strict=True
    ):
        # Again 4 standard errors, at most, of a share of some 1,900 rows.
        assert_allclose(words[level], share, rtol=0, atol=4 * 0.5 / np.sqrt(1900))
    once, twice = (model.sample(5, random_state=3)[0].to_arrow() for _ in range(2))
    assert once.equals(twice)
    only = model.sample(9, label="b", random_state=0)[1]
    assert set(only) == {"b"}
    assert NaiveBayes().fit(IRIS, SPECIES).sample(4, random_state=0)[0].shape == (4, 4)
    with pytest.raises(ParameterError, match="n_samples is 0"):
        model.sample(0)


def test_dates_are_days_and_are_drawn_as_dates():
    when = np.datetime64("2020-01-01") + np.arange(40)
    X = pd.DataFrame({"when": when.astype("datetime64[s]")})
    y = np.arange(40) > 20
    model = NaiveBayes().fit(X, y)
    drawn, labels = model.sample(200, random_state=0)
    assert drawn.kinds == {"when": "date"}
    assert model.score(drawn, labels) > 0.9  # means 20 days apart, deviations of 6


def test_a_truth_value_is_no_number_of_rows():
    model = NaiveBayes().fit([[1.0], [3.0], [8.0], [8.5]], [0, 0, 1, 1])
    with pytest.raises(ParameterError, match="n_samples is True"):
        model.sample(True)


@pytest.mark.parametrize("label", ["c", 1, None, ["a"]])
def test_a_class_that_there_is_not_is_named_by_its_parameter(label):
    X, y = [[1.0], [3.0], [8.0], [8.5]], ["a", "a", "b", "b"]
    model = NaiveBayes().fit(X, y)
    if label is None:  # the most probable
        assert model.explain(X, label=label).label.tolist() == y
        return
    for ask, name in (
        (lambda: model.explain(X, label=label), "label"),
        (lambda: model.explain(X, against=label), "against"),
        (lambda: model.sample(2, label=label), "label"),
    ):
        with pytest.raises(ParameterError, match=rf"^{name} is .*classes are \['a', 'b'\]"):
            ask()
