"""`export_text` is scikit-learn's where features are numbers; categories and missing values too."""

import numpy as np
import pytest
import sklearn.tree as peer
from sklearn.pipeline import make_pipeline

from empirisk import (
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    RandomForestRegressor,
    Table,
    Tuned,
    draw_partition,
    draw_tree,
    export_text,
)
from empirisk.runtime.errors import ParameterError


def sample(seed, n=120):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4)).astype(np.float32).astype(float)  # scikit-learn splits float32
    return X, X[:, 0] + np.sin(3 * X[:, 1]) + 0.5 * rng.normal(size=n)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(
    "how",
    [
        {},
        {"max_depth": 0},
        {"max_depth": 2, "decimals": 5},
        {"spacing": 1, "decimals": 0},
        {"feature_names": ["a", "b", "c $d$", "e_f"]},
    ],
    ids=["plain", "root", "deep", "narrow", "names"],
)
def test_the_text_of_a_regression_tree_is_that_of_scikit_learn(seed, how):
    X, y = sample(seed)
    fitted = {"max_leaf_nodes": 12, "min_samples_leaf": 6}  # in tiny nodes splits are tied
    ours = DecisionTreeRegressor(**fitted).fit(X, y)
    theirs = peer.DecisionTreeRegressor(random_state=0, **fitted).fit(X, y)
    assert export_text(ours, **how) == peer.export_text(theirs, **how)
    both = np.column_stack([y, -y])
    ours, theirs = ours.fit(X, both), theirs.fit(X, both)
    assert export_text(ours, **how) == peer.export_text(theirs, **how)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("how", [{}, {"show_weights": True}, {"class_names": ["lo", "mid", "hi"]}])
def test_the_text_of_a_classification_tree_is_that_of_scikit_learn(seed, how):
    X, y = sample(seed)
    labels = np.digitize(y, [-0.7, 0.7]) * 5
    weight = np.random.default_rng(seed).uniform(0.5, 2, size=len(y))
    fitted = {"max_depth": 4, "min_samples_leaf": 8}
    ours = DecisionTreeClassifier(**fitted).fit(X, labels, weight)
    theirs = peer.DecisionTreeClassifier(random_state=0, **fitted).fit(X, labels, weight)
    assert export_text(ours, **how) == peer.export_text(theirs, **how)


def test_a_deep_tree_is_cut_where_scikit_learn_cuts_it():
    X = np.arange(40.0)[:, None]
    y = 2.0 ** np.arange(40)  # each split takes one row off
    ours = DecisionTreeRegressor().fit(X, y)
    theirs = peer.DecisionTreeRegressor().fit(X, y)
    assert ours.get_depth() > 20
    assert export_text(ours) == peer.export_text(theirs)
    assert "truncated branch of depth" in export_text(ours)
    assert "truncated" not in export_text(ours, max_depth=None)


def test_categories_and_missing_values():
    colour = ["red", "blue", "green", "red", "blue", "green", None, "red"]
    age = [1.0, 2.0, None, 4.0, 5.0, 6.0, 7.0, 8.0]
    X = Table.of({"colour": colour, "age": age})
    tree = DecisionTreeRegressor().fit(X, [1.0, 0.0, 0.0, 5.0, 0.0, 0.0, 1.0, 6.0])
    assert export_text(tree) == (
        "|--- colour in {blue, green} or missing\n"
        "|   |--- colour not missing\n"
        "|   |   |--- value: [0.00]\n"
        "|   |--- colour missing\n"
        "|   |   |--- value: [1.00]\n"
        "|--- colour in {red}\n"
        "|   |--- age <= 2.50\n"
        "|   |   |--- value: [1.00]\n"
        "|   |--- age >  2.50 or missing\n"
        "|   |   |--- age <= 6.00\n"
        "|   |   |   |--- value: [5.00]\n"
        "|   |   |--- age >  6.00 or missing\n"
        "|   |   |   |--- value: [6.00]\n"
    )


def test_numbers_whose_missing_values_are_split_off():
    X = np.array([[1.0], [2.0], [np.nan], [np.nan]])
    tree = DecisionTreeRegressor(max_depth=1).fit(X, [1.0, 1.0, 5.0, 5.0])
    assert export_text(tree) == (
        "|--- feature_0 not missing\n|   |--- value: [1.00]\n"
        "|--- feature_0 missing\n|   |--- value: [5.00]\n"
    )


def test_one_leaf_and_costs():
    assert export_text(DecisionTreeRegressor().fit([[1.0], [2.0]], [3.0, 3.0])) == (
        "|--- value: [3.00]\n"
    )
    careful = DecisionTreeClassifier(cost_matrix=[[0, 9], [1, 0]], min_samples_leaf=3)
    tree = careful.fit([[1.0], [2.0], [3.0], [4.0]], ["a", "a", "a", "b"])
    assert export_text(tree) == "|--- class: b\n"  # three to one, but nine times the cost


def test_what_does_not_fit_is_refused():
    tree = DecisionTreeClassifier().fit([[1.0], [2.0]], [0, 1])
    with pytest.raises(ParameterError, match="2 names; the tree was fitted to 1 features"):
        export_text(tree, feature_names=["a", "b"])
    with pytest.raises(ParameterError, match="3 names; the tree was fitted to 2 classes"):
        export_text(tree, class_names=["a", "b", "c"])
    for name, wrong in (("max_depth", -1), ("spacing", 0), ("decimals", 1.5)):
        with pytest.raises(ParameterError, match=f"{name} is {wrong}"):
            export_text(tree, **{name: wrong})


READERS = {
    "text": export_text,
    "picture": draw_tree,
    "partition": lambda model: draw_partition(model, sample(0)[0]),
}


@pytest.mark.parametrize("read", READERS.values(), ids=READERS)
def test_a_tree_that_was_tuned_is_read_as_the_one_that_was_chosen(read):
    tuned = Tuned(DecisionTreeRegressor(max_leaf_nodes=4), cv=2, random_state=0).fit(*sample(0))
    said, own = read(tuned), read(tuned.best_estimator_)
    words = str if isinstance(said, str) else lambda ax: [text.get_text() for text in ax.texts]
    assert words(said) == words(own)


@pytest.mark.parametrize("read", READERS.values(), ids=READERS)
@pytest.mark.parametrize(
    ("model", "says"),
    [
        (peer.DecisionTreeRegressor(), "DecisionTreeRegressor of sklearn, and no tree of Empirisk"),
        (RandomForestRegressor(2), r"of a forest one of its estimators_"),
        (make_pipeline(DecisionTreeRegressor()), "of a pipeline its last step"),
    ],
    ids=["scikit-learn", "forest", "pipeline"],
)
def test_what_is_no_tree_of_ours_is_refused(read, model, says):
    with pytest.raises(ParameterError, match=says):
        read(model.fit(*sample(0)))
