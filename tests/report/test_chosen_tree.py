"""A chosen tree is on the page: its picture, its rules, its pruning table."""

import re

import numpy as np
import pytest
from sklearn.pipeline import make_pipeline

from empirisk import DecisionTreeClassifier, DecisionTreeRegressor, Encoder, Table, Tuned, select
from empirisk.report.chosen_tree import MOST_RULES, tree_parts
from empirisk.report.page import report_page

ATTACK = "<script>alert(1)</script>"


def steps(n=240, noise=0.1):
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(n, 2))
    return X, np.floor(4 * X[:, 0]) * (X[:, 1] > 0.5) + noise * rng.normal(size=n)


def test_picture_rules_and_table_are_in_the_section_of_the_model():
    X, y = steps()
    chosen = select([DecisionTreeRegressor()], X, y, random_state=0, cv=4)
    page = report_page(chosen)
    section = page[page.index("<h2>Chosen model") :]
    section = section[: section.index("</section>")]
    assert section.count("<svg") == 1
    for rule in chosen.model.rules():
        assert rule.text.replace(">", "&gt;").replace("<", "&lt;") in section
    for name in ("CP", "nsplit", "rel error", "xerror", "xstd"):
        assert f'<th class="n">{name}</th>' in section
    marked = re.search(
        r'<tr class="chosen"><td class="n">[^<]*</td>\s*<td class="n">(\d+)', section
    )
    assert int(marked[1]) == chosen.model.get_n_leaves() - 1
    assert report_page(chosen) == page


def test_names_and_levels_are_text_and_never_tags():
    X, y = steps()
    table = Table.of({ATTACK: X[:, 0], "$\\frac": np.where(X[:, 1] > 0.5, "</svg>", ATTACK)})
    labels = np.where(y > 1, "<b>yes", "&no")
    learner = make_pipeline(Encoder(), DecisionTreeClassifier())
    page = report_page(select([learner], table, labels, random_state=0, cv=4))
    assert "<script" not in page.lower()
    assert "<b>yes" not in page
    assert "Numbers count in standard deviations" in page


def test_a_large_tree_is_cut():
    X, y = steps(600, noise=0.0)
    y = y + np.sin(20 * X[:, 0]) + np.cos(30 * X[:, 1])
    parts = tree_parts(select([DecisionTreeRegressor()], X, y, random_state=0, cv=3))
    text = "".join(parts)
    assert text.count("<li>") == MOST_RULES
    assert "more rules are not shown" in text
    assert "The picture ends at depth" in text


def test_a_tuned_tree_has_its_own_table_and_other_models_none():
    X, y = steps()
    tuned = Tuned(DecisionTreeRegressor(), cv=3, random_state=0)
    text = "".join(tree_parts(select([tuned], X, y, random_state=0, cv=3)))
    assert "xerror" in text
    everything = select([DecisionTreeRegressor()], X, y, random_state=0, cv=3, refit="all")
    text = "".join(tree_parts(everything))
    assert "Its rules" in text
    assert "xerror" not in text  # the tree is that of other rows than the risks


@pytest.mark.parametrize("refit", ["train", "average"])
def test_one_tree_is_shown_and_an_average_of_trees_is_not(refit):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 1)), rng.normal(size=60)
    learner = DecisionTreeRegressor(max_depth=1)
    chosen = select([learner], X, y + 3 * (X[:, 0] > 0), random_state=0, cv=3, refit=refit)
    assert bool(tree_parts(chosen)) == (refit == "train")
