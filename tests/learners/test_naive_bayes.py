"""Naive Bayes for mixed tables: beside plain loops and scikit-learn, and the laws it obeys."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.special import logsumexp
from sklearn import naive_bayes as peers
from sklearn.datasets import load_iris

from empirisk import AdaBoostClassifier, BaggingClassifier, NaiveBayes, Table, Tuned, risk
from empirisk.runtime.errors import DataError, EmpiriskWarning, ParameterError
from naive_bayes_twin import ASKED, mixed_table, posterior
from tolerances import LAST_BITS, SOLVED, SUMMED

IRIS, SPECIES = load_iris(return_X_y=True)


def rows_of(table):
    return [dict(zip(table.columns, row, strict=True)) for row in table.itertuples(index=False)]


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(("alpha", "ddof"), [(1.0, 0), (0.3, 1)])
def test_a_mixed_table_with_holes_equals_plain_loops(alpha, ddof, weighted):
    table, y = mixed_table(60)
    weight = np.random.default_rng(1).uniform(0.5, 3, size=60) if weighted else None
    model = NaiveBayes(alpha, distributions=ASKED, ddof=ddof).fit(table, y, sample_weight=weight)
    probability = model.predict_proba(table)
    for i, row in enumerate(rows_of(table)[:20]):
        known = posterior(table, y, row, weight=weight, alpha=alpha, ddof=ddof)
        # Log-densities of up to 1e8 (a cell far from a class without variance) lose 8 digits.
        assert_allclose(probability[i], known, rtol=1e-7, atol=1e-12)


@pytest.mark.parametrize("alpha", [0.01, 1.0, 20.0])
def test_each_distribution_alone_equals_scikit_learn(alpha):
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, size=100)
    counts = np.minimum(rng.poisson(1.0 + y[:, None] * rng.random(5), size=(100, 5)), 4)
    for learner, peer, X in [
        (NaiveBayes(alpha, distributions="categorical"), peers.CategoricalNB(alpha=alpha), counts),
        (NaiveBayes(alpha, distributions="multinomial"), peers.MultinomialNB(alpha=alpha), counts),
        (NaiveBayes(alpha), peers.BernoulliNB(alpha=alpha), counts > 1),
        (NaiveBayes(alpha), peers.GaussianNB(var_smoothing=0.0), rng.normal(size=(100, 5))),
    ]:
        ours, theirs = learner.fit(X, y).predict_proba(X), peer.fit(X, y).predict_proba(X)
        assert_allclose(ours, theirs, rtol=1e-11)  # five terms, double precision


def test_distributions_go_by_type_and_can_be_chosen():
    table, y = mixed_table()
    assert NaiveBayes().fit(table, y).distributions_ == [
        "gaussian", "gaussian", "categorical", "bernoulli", *["gaussian"] * 4
    ]  # fmt: skip
    named = NaiveBayes(distributions=ASKED).fit(table, y)
    numbered = NaiveBayes(distributions={4: "poisson", (5, 6, 7): "multinomial"}).fit(table, y)
    assert named.distributions_[4:] == ["poisson", *["multinomial"] * 3]
    assert_array_equal(named.predict_proba(table), numbered.predict_proba(table))
    words = NaiveBayes(distributions={"visits": "categorical"}).fit(table, y)
    assert words.columns_[4].values == sorted(set(table["visits"].dropna()))


def test_the_order_in_which_columns_are_named_does_not_matter():
    table, y = mixed_table()
    counts = table[["apples", "pears", "plums"]]
    one, other = (
        NaiveBayes(distributions={names: "multinomial"}).fit(counts, y)
        for names in (("apples", "pears", "plums"), ("plums", "apples", "pears"))
    )
    assert_array_equal(one.predict_proba(counts), other.predict_proba(counts))
    for name in counts:
        assert_array_equal(one.parameters(name)["share"], other.parameters(name)["share"])
    assert_array_equal(one.explain(counts).ratios, other.explain(counts).ratios)


@pytest.mark.parametrize(
    ("distributions", "words"),
    [
        ("normal", "there are gaussian"),
        ({"nobody": "gaussian"}, "names a column 'nobody'"),
        ({99: "gaussian"}, "numbers from 0 to 7"),
        ({"visits": "multinomial"}, "as one key, a tuple"),
        ({"visits": "poisson", (4, 5): "multinomial"}, "'visits' twice"),
        ({(5, 5): "multinomial"}, "each column once"),
        (["gaussian"], "give 'auto'"),
        ({"word": "gaussian"}, "holds words, such as 'p'"),
        ({"size": "poisson"}, "is of counts 0, 1, 2"),
        ({"size": "bernoulli"}, "is of 0 or 1"),
        ({("size", "visits"): "multinomial"}, "is of counts >= 0"),
    ],
)
def test_distributions_that_make_no_sense_are_refused(distributions, words):
    table, y = mixed_table()
    with pytest.raises((ParameterError, DataError), match=words):
        NaiveBayes(distributions=distributions).fit(table, y)


@pytest.mark.parametrize(
    ("parameter", "words"),
    [
        ({"alpha": -1.0}, "alpha is -1.0"),
        ({"alpha": None}, "alpha is None"),
        ({"alpha": np.inf}, "alpha is inf"),
        ({"variance_floor": 0.0}, "variance_floor is 0.0"),
        ({"ddof": 0.5}, "ddof is 0.5"),
        ({"priors": [0.5, 0.5]}, "needs 3 numbers"),
    ],
)
def test_parameters_that_make_no_sense_are_refused(parameter, words):
    with pytest.raises(ParameterError, match=words):
        NaiveBayes(**parameter).fit(IRIS, SPECIES)


@pytest.mark.parametrize("form", [Table.of, pl.from_pandas, pa.Table.from_pandas])
def test_every_kind_of_table_gives_the_same(form):
    table, y = mixed_table()
    known = NaiveBayes(distributions=ASKED).fit(table, y).predict_proba(table)
    other = form(table)
    assert_array_equal(NaiveBayes(distributions=ASKED).fit(other, y).predict_proba(other), known)


def test_an_array_of_objects_or_words_is_typed_by_column():
    X = np.array([["x", 1.5], ["y", 2.0], [None, 3.0], ["x", np.nan]], dtype=object)
    model = NaiveBayes().fit(X, [0, 1, 1, 0])
    assert model.distributions_ == ["categorical", "gaussian"]
    words = np.array([["x", "1.5"], ["y", "2.0"], ["y", "3.0"], ["x", "1"]])
    assert NaiveBayes(distributions={0: "categorical"}).fit(words, [0, 1, 1, 0]).predict(
        words
    ).tolist() == [0, 1, 1, 0]


def test_words_that_hardly_repeat_are_levels_too():
    X = pd.DataFrame({"name": [f"row {i}" for i in range(30)], "x": np.arange(30.0)})
    model = NaiveBayes().fit(X, np.arange(30) % 2)
    assert model.distributions_ == ["categorical", "gaussian"]
    # Every level once: the word of a row of training speaks for its class, 2 : 1.
    assert_allclose(model.explain(X.iloc[:1]).ratios[0, 0], np.log(2), rtol=SUMMED)


def test_alpha_0_is_maximum_likelihood_and_gives_finite_probabilities():
    X = pd.DataFrame({"c": list("uuvvww"), "n": [0, 0, 0, 3, 4, 2], "d": list("ssttss")})
    y = np.array([0, 0, 0, 1, 1, 1])
    model = NaiveBayes(0.0, distributions={"n": "poisson"}).fit(X, y)
    assert_allclose(
        model.parameters("c")["share"], [[2 / 3, 1 / 3, 0], [0, 1 / 3, 2 / 3]], rtol=SUMMED
    )
    assert_array_equal(model.parameters("n")["rate"], [0.0, 3.0])
    found = model.predict_proba(X)
    assert_array_equal(found[[0, 1, 4, 5]], [[1, 0], [1, 0], [0, 1], [0, 1]])
    assert_allclose(found.sum(axis=1), 1.0, rtol=SUMMED)
    # u is impossible in class 1, and 3 visits are so in class 0: one cell each, d decides 2 : 1.
    odd = pd.DataFrame({"c": ["u", "u"], "n": [3, 3], "d": ["s", "t"]})
    rest = [
        [2 / 3 * 1.0 * (2 / 3), np.exp(-3) * 27 * (2 / 3)],
        [2 / 3 * 1.0 * (1 / 3), np.exp(-3) * 27 * (1 / 3)],
    ]
    assert_allclose(
        model.predict_proba(odd), np.array(rest) / np.sum(rest, axis=1)[:, None], rtol=SUMMED
    )
    # Two impossible cells are worse than one.
    worse = pd.DataFrame({"c": ["w"], "n": [3.0], "d": ["s"]})
    assert_array_equal(model.predict_proba(worse), [[0.0, 1.0]])
    assert np.isfinite(NaiveBayes(0.0).fit(X, y).predict_proba(odd)).all()


def test_smoothing_goes_from_maximum_likelihood_to_nothing_said():
    table, y = mixed_table(holes=0.0)
    discrete = table[["word", "truth", "visits"]]
    heavy = NaiveBayes(1e12, distributions={"visits": "poisson"}).fit(discrete, y)
    assert_allclose(
        heavy.predict_proba(discrete), 1 / 3, rtol=0, atol=1e-09
    )  # 120 rows against 1e12


def test_a_constant_column_says_nothing_and_the_floor_is_relative():
    rng = np.random.default_rng(0)
    y = np.arange(40) % 2
    X = np.column_stack([np.full(40, 7.0), rng.normal(size=40) + y])
    model = NaiveBayes().fit(X, y)
    alone = NaiveBayes().fit(X[:, 1:], y)
    other = np.column_stack([rng.normal(size=40), X[:, 1]])
    assert_allclose(model.predict_proba(other), alone.predict_proba(X[:, 1:]), rtol=LAST_BITS)
    # A column of small scale beside one of huge scale keeps its own variances: scikit-learn adds
    # 1e-9 of the largest variance to all.
    small = np.column_stack([X[:, 1] * 1e-6, X[:, 1] * 1e6])
    model = NaiveBayes().fit(small, y)
    deviation = [X[y == k, 1].std() for k in (0, 1)]
    assert_allclose(model.parameters(0)["deviation"], np.multiply(deviation, 1e-6), rtol=SUMMED)
    # Constant in a class: the floor, a part of the variance of the column.
    X[y == 0, 1] = 2.0
    model = NaiveBayes(variance_floor=0.01).fit(X, y)
    assert_allclose(model.parameters(1)["deviation"][0], 0.1 * X[:, 1].std(), rtol=SUMMED)


def test_offsets_cost_no_digits():
    X = np.round(IRIS * 2.0**10)  # the offset rounds none of its digits
    near, far = NaiveBayes().fit(X, SPECIES), NaiveBayes().fit(X + 2.0**30, SPECIES)
    of_far, of_near = far.parameters(0)["deviation"], near.parameters(0)["deviation"]
    assert_allclose(of_far, of_near, rtol=LAST_BITS)
    # A mean near 2^30 is rounded to 1e-7, 1e-9 of a deviation; probabilities go down to 1e-200,
    # where that is some hundred times as much.
    assert_allclose(far.predict_proba(X + 2.0**30), near.predict_proba(X), rtol=1e-6)


@pytest.mark.parametrize("scale", [1e-200, 1e200, 1e-300, 1e300])
def test_huge_and_tiny_numbers(scale):
    model = NaiveBayes().fit(IRIS, SPECIES)
    X = IRIS * scale
    scaled = NaiveBayes().fit(X, SPECIES)
    assert_allclose(scaled.predict_proba(X), model.predict_proba(IRIS), rtol=SOLVED)
    parts = NaiveBayes()
    for k in range(5):  # the parts agree on a unit
        parts.partial_fit(X[k::5], SPECIES[k::5], classes=range(3))
    assert_allclose(parts.predict_proba(X), model.predict_proba(IRIS), rtol=SOLVED)
    far = model.predict_proba(np.full((1, 4), 1e308))
    assert np.isfinite(far).all()
    weight = np.full(150, scale)
    weighted = NaiveBayes().fit(IRIS, SPECIES, sample_weight=weight)
    assert_allclose(weighted.predict_proba(IRIS), model.predict_proba(IRIS), rtol=SOLVED)


def test_ten_thousand_features_do_not_underflow():
    rng = np.random.default_rng(0)
    y = np.arange(60) % 2
    X = rng.normal(size=(60, 10_000)) + 0.2 * y[:, None]
    model = NaiveBayes().fit(X, y)
    log_probability = model.predict_log_proba(X)
    assert np.isfinite(log_probability).all()
    assert_allclose(logsumexp(log_probability, axis=1), 0.0, rtol=0, atol=1e-09)  # sums of size 1e4
    assert (model.predict(X) == y).all()
    words = NaiveBayes(distributions="categorical").fit(X > 0, y)
    assert np.isfinite(words.predict_log_proba(X > 0)).all()
    counts = rng.poisson(5.0, size=(60, 10_000))
    assert np.isfinite(
        NaiveBayes(distributions="multinomial").fit(counts, y).predict_log_proba(counts)
    ).all()


@pytest.mark.parametrize("ddof", [0, 1])
def test_a_weighted_row_is_so_many_copies_in_every_distribution(ddof):
    table, y = mixed_table()
    weight = np.random.default_rng(1).integers(0, 4, size=len(y))
    copies = np.repeat(np.arange(len(y)), weight)
    learner = NaiveBayes(distributions=ASKED, ddof=ddof)
    weighted = learner.fit(table, y, sample_weight=weight).predict_proba(table)
    repeated = learner.fit(table.iloc[copies], y[copies]).predict_proba(table)
    # Sums in another order; a cell 1e4 deviations from a class without variance loses 8 digits.
    assert_allclose(weighted, repeated, rtol=1e-7, atol=1e-12)


@pytest.mark.parametrize("weighted", [False, True])
def test_partial_fits_equal_one_fit(weighted):
    table, y = mixed_table()
    weight = np.random.default_rng(1).integers(0, 4, size=len(y)).astype(float)
    weight = weight if weighted else np.ones(len(y))
    order = np.argsort(table["word"].fillna("z").to_numpy(), kind="stable")  # levels come by and by
    whole = NaiveBayes(distributions=ASKED).fit(table, y, sample_weight=weight)
    parts = NaiveBayes(distributions=ASKED)
    for piece in np.array_split(order, 7):
        parts.partial_fit(
            table.iloc[piece], y[piece], classes=list("abc"), sample_weight=weight[piece]
        )
    assert len(parts.columns_[2].values) == 7
    # As above.
    assert_allclose(parts.predict_proba(table), whole.predict_proba(table), rtol=1e-7, atol=1e-12)
    assert_allclose(parts.class_count_, whole.class_count_, rtol=1e-14)


def test_partial_fit_says_what_is_wrong():
    with pytest.raises(ParameterError, match="first call of partial_fit"):
        NaiveBayes().partial_fit(IRIS, SPECIES)
    model = NaiveBayes().partial_fit(IRIS[:60], SPECIES[:60], classes=[0, 1, 2])
    assert model.predict_proba(IRIS[100:])[:, 2].max() == 0.0  # no rows of it so far
    with pytest.raises(DataError, match="y has the label 7"):
        model.partial_fit(IRIS[:2], [7, 0])
    with pytest.raises(ParameterError, match="in the first call were"):
        model.partial_fit(IRIS[:2], [0, 0], classes=[0, 1])
    fitted = NaiveBayes().fit(IRIS[:100], SPECIES[:100])
    again = fitted.partial_fit(IRIS[:100], SPECIES[:100])  # after a fit, further rows
    assert_array_equal(again.class_count_, [100, 100])


def test_members_of_ensembles_take_mixed_tables():
    table, y = mixed_table()
    for ensemble in (
        BaggingClassifier(NaiveBayes(), 3, random_state=0),
        AdaBoostClassifier(NaiveBayes(), n_estimators=3),
    ):
        assert ensemble.fit(table, y).score(table, y) > 0.5


def test_tuned_chooses_the_smoothing():
    table, y = mixed_table()
    tuned = Tuned(NaiveBayes(distributions=ASKED), cv=4, loss="log").fit(table, y)
    assert len(tuned.path_.values) == 16
    assert tuned.best_estimator_.alpha == tuned.best_value_
    assert len(Tuned(NaiveBayes(), cv=4).fit(IRIS, SPECIES).path_.values) == 1  # nothing smoothed


def test_infinite_cells_are_named():
    table, y = mixed_table()
    bad = table.assign(size=np.inf)
    with pytest.raises(DataError, match=r"column 'size' has infinite values .* in row 0; "):
        NaiveBayes().fit(bad, y)
    with pytest.raises(DataError, match="is of counts"):
        NaiveBayes(distributions=ASKED).fit(table, y).predict(table.assign(visits=-1.0))


@pytest.mark.parametrize("distribution", ["poisson", "multinomial"])
def test_counts_near_the_largest_number_give_probabilities(distribution):
    rng = np.random.default_rng(0)
    y = np.arange(40) % 2
    X = rng.poisson(3, size=(40, 4)).astype(float)
    huge = X / X.max() * 1.7e308
    for learner, rows in [
        (NaiveBayes(distributions=distribution).fit(huge, y), huge),
        (NaiveBayes(distributions=distribution).fit(X, y), np.full((1, 4), 1.7e308)),
    ]:
        shares = learner.predict_proba(rows)
        assert np.isfinite(shares).all()
        assert_allclose(shares.sum(axis=1), 1.0, rtol=1e-12)  # sums of two doubles
        assert not np.isnan(learner.predict_log_proba(rows)).any()
    # Only class 1 can have counts in the last column, however many.
    sure = NaiveBayes(0.0, distributions=distribution).fit(np.c_[X, 2.0 * y], y)
    assert sure.predict(np.full((1, 5), 1.7e308)).tolist() == [1]


@pytest.mark.parametrize("priors", ["equal", {"a": 0.5, "b": 0.5}])
def test_priors_that_are_no_numbers_are_refused_in_words(priors):
    with pytest.raises(ParameterError, match=r"priors is .*give 2 numbers"):
        NaiveBayes(priors=priors).fit([[1.0], [2.0]], ["a", "b"])


def test_words_in_an_array_to_predict_have_the_remedy_of_this_learner():
    words = np.array([["a", "b"], ["b", "a"], ["a", "a"], ["b", "b"]])
    model = NaiveBayes().fit(words.astype(object), [0, 1, 0, 1])
    with pytest.raises(DataError, match="name the columns of words in distributions"):
        model.predict(words)


@pytest.mark.parametrize("form", ["words", "lists", "objects"])
def test_words_in_an_array_of_words_are_levels_where_all_columns_are_categories(form):
    objects = np.array([["a", "1"], ["b", "2"], ["a", "2"], ["c", "1"]], dtype=object)
    X = {"words": objects.astype(str), "lists": objects.tolist(), "objects": objects}[form]
    y = [0, 1, 0, 1]
    model = NaiveBayes(distributions="categorical").fit(X, y)
    frame = pd.DataFrame(objects, columns=["one", "other"])
    wanted = NaiveBayes().fit(frame, y).predict_proba(frame)
    assert_array_equal(model.predict_proba(X), wanted)
    assert risk.cross_validate(model, X, y, cv=2).value >= 0
    with pytest.raises(DataError, match="name the columns of words in distributions"):
        NaiveBayes().fit(objects.astype(str), y)


def test_a_class_that_weighs_no_more_than_ddof_is_named():
    X, y = np.arange(6.0)[:, None], np.repeat(["a", "b"], 3)
    with pytest.warns(EmpiriskWarning, match="class b weigh no more than ddof = 1"):
        NaiveBayes(ddof=1).fit(X, y, sample_weight=[1, 1, 1, 0.2, 0.3, 0.4])
    NaiveBayes(ddof=1).fit(X, y)  # a warning would be an error
