"""The report: everything on one page, nothing fetched, nothing run."""

import re
from html.parser import HTMLParser

import numpy as np
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

from empirisk import (
    Baseline,
    Lasso,
    LinearDiscriminantAnalysis,
    LinearRegression,
    Ridge,
    Tuned,
    select,
)
from empirisk.data.encode import Encoder
from empirisk.data.table import Table
from empirisk.report.page import report_page, write_report
from empirisk.report.sections import table_section
from empirisk.runtime.errors import EmpiriskError

ATTACK = "<script>alert(1)</script>"
VOID = {"meta", "br", "img", "link", "input"}


class Reader(HTMLParser):
    """Tags, their attributes and the text; complains of tags that are not closed in order."""

    def __init__(self):
        super().__init__(convert_charrefs=True)
        self.tags, self.attributes, self.text, self.open = [], [], [], []

    def handle_starttag(self, tag, attributes):
        self.tags.append(tag)
        self.attributes += attributes
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.tags.append(tag)
        self.attributes += attributes

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text.append(data)


def read(page):
    reader = Reader()
    reader.feed(page)
    reader.close()
    assert reader.open == []
    return reader


@pytest.fixture(scope="module")
def hostile():
    """A selection over a table whose names and levels are HTML, and the table."""
    rng = np.random.default_rng(0)
    n = 120
    x = rng.normal(size=n)
    table = Table.of(
        {
            ATTACK: x,
            "a\"b'c&$x$": np.where(rng.random(n) < 0.5, ATTACK, "</table>"),
            "y": np.where(x + rng.normal(size=n) > 0, "<b>yes", "&no"),
        }
    )
    learner = make_pipeline(Encoder(), LinearDiscriminantAnalysis())
    X, y = table.drop(["y"]), table["y"].values().astype(str)
    return select({"<i>$mine$": learner}, X, y, random_state=0, cv=3), table


def page_of(hostile):
    selection, table = hostile
    return report_page(
        selection, table=table, target="y", source=f"{ATTACK}.csv", notes=[ATTACK],
        settings={ATTACK: ATTACK},
    )  # fmt: skip


@pytest.fixture(scope="module")
def page(hostile):
    return page_of(hostile)


def test_names_are_text_and_never_tags(page):
    reader = read(page)
    assert "script" not in reader.tags
    assert "<script" not in page.lower()
    assert "i" not in reader.tags
    text = " ".join(reader.text)
    for name in (ATTACK, "a\"b'c&$x$", "<i>$mine$", "towards <b>yes", "</table>"):
        assert name in text
    assert not any(name.startswith("on") for name, _ in reader.attributes)


def test_nothing_is_fetched(page):
    reader = read(page)
    for name, value in reader.attributes:
        if name in ("src", "href", "xlink:href", "data", "action", "srcset"):
            assert value.startswith("#"), value
    assert not {"link", "img", "iframe", "object", "base", "form"} & set(reader.tags)
    style = " ".join(reader.text)
    assert "@import" not in style
    assert all(target.startswith("#") for target in re.findall(r"url\(['\"]?([^)]*)", style))
    assert ("http-equiv", "Content-Security-Policy") in reader.attributes


def test_every_part_of_the_page_has_a_name_of_its_own_and_references_find_theirs(page):
    attributes = read(page).attributes
    names = [value for name, value in attributes if name == "id"]
    assert page.count("<svg") > 1
    assert len(set(names)) == len(names)
    values = [value for _, value in attributes if value is not None]
    inside = {value[1:] for name, value in attributes if name in ("href", "xlink:href")}
    inside |= {target for value in values for target in re.findall(r"url\(#([^)]*)\)", value)}
    assert inside <= set(names)


def test_the_same_selection_gives_the_same_bytes(hostile, page):
    assert page_of(hostile) == page


def test_the_verdict_comes_first_and_the_baseline_before_its_rivals(tmp_path):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 3))
    y = X @ [3.0, 0.0, -1.0] + rng.normal(size=80)
    chosen = select([LinearRegression(), Ridge()], X, y, random_state=0, cv=4)
    path = tmp_path / "report.html"
    write_report(chosen, path, target="height")
    text = " ".join(" ".join(read(path.read_text()).text).split())
    order = ["Verdict", "was chosen", "95 % interval", "Ranking", "Baseline", "Risk paths",
             "Chosen model", "How it was done"]  # fmt: skip
    places = [text.index(word) for word in order]
    assert places == sorted(places)
    assert chosen.test_risk.sentence in text
    model = text[text.index("Coefficients, largest first") :]
    assert model.index("x0") < model.index("x2") < model.index("x1")  # |3| > |-1| > |0|
    assert path.read_text().count("<svg") == 2  # the ranking, and the one candidate with an axis


def test_a_constant_is_shown_as_the_model_it_is():
    y = np.random.default_rng(0).normal(size=40)
    chosen = select([Baseline()], np.arange(40.0)[:, None], y, random_state=0, cv=4)
    text = " ".join(read(report_page(chosen)).text)
    assert f"It predicts {chosen.model.constant_:.4g} for every row." in text
    assert "Nothing beats a constant" in text


def test_a_report_in_the_way_of_a_folder_is_refused(tmp_path, hostile):
    with pytest.raises(ValueError, match="is not a file"):
        write_report(hostile[0], tmp_path)


def test_a_frame_will_do_for_the_table_and_nothing_else_for_a_selection(tmp_path, hostile):
    selection, table = hostile
    path = tmp_path / "r.html"
    write_report(selection, path, table=table.to_pandas(), target="y")
    of_frame = path.read_text()
    write_report(selection, path, table=table, target="y")
    assert path.read_text() == of_frame
    path.unlink()
    for wrong, said in (
        ({"selection": selection.model}, "not of a Pipeline"),
        ({"table": 3}, "is no table"),
        ({"notes": "one"}, "give a list of texts"),
    ):
        with pytest.raises(EmpiriskError, match=said):
            write_report(**{"selection": selection, "path": path, **wrong})
    assert list(tmp_path.iterdir()) == []


def test_columns_behind_a_step_that_does_not_tell_their_names_are_numbered():
    step = FunctionTransformer(np.exp)
    X = Table.of({"u": np.arange(40.0) / 40, "v": np.arange(40.0) % 7}).to_pandas()
    selection = select([make_pipeline(step, Ridge())], X, np.arange(40.0), random_state=0)
    assert "x1" in report_page(selection)


def test_a_few_missing_cells_are_not_told_to_be_none():
    part = [1.0] * 297 + [None] * 3
    table = Table.of({"whole": [1.0] * 300, "part": part, "few": [None, *range(299)]})
    text = " ".join(read(str(table_section(table, None))).text)
    assert "3 (1 %)" in text
    assert "1 (under 1 %)" in text


def test_columns_that_a_lasso_leaves_out_are_counted_and_not_listed():
    X = np.random.default_rng(0).normal(size=(80, 6))
    page = report_page(select([Lasso(alpha=0.5, max_iter=99)], X, 3 * X[:, 2], random_state=0))
    assert "x2" in page
    assert "x1" not in page
    assert "The other 5 are 0." in page


def test_a_tuned_line_shows_its_coefficients():
    X = np.random.default_rng(0).normal(size=(60, 3))
    chosen = select([Tuned(Ridge(), cv=3)], X, X @ [0.0, 5.0, 1.0], random_state=0, cv=3)
    text = " ".join(read(report_page(chosen)).text)
    model = text[text.index("Coefficients, largest first") :]
    assert model.index("x1") < model.index("x2")


def test_candidates_may_be_named_by_numbers():
    X = np.random.default_rng(0).normal(size=(60, 2))
    chosen = select({1: Ridge(), 2: LinearRegression()}, X, X[:, 0], cv=3, random_state=0)
    page = report_page(chosen)
    assert "<h3>1</h3>" in page
    assert "<td>2</td>" in page
