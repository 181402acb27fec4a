"""The code in README.md and docs/ runs, and prints what the pages say; links lead somewhere."""

import re
import shutil
import sys
from pathlib import Path

import matplotlib
import pytest
from pages import PICTURES, blocks, run_page, with_pictures

from discovery import learners

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
FAMILIES = sorted((DOCS / "families").glob("*.md"))
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted(DOCS.rglob("*.md"))]
LINK = re.compile(r"\]\((?!https?://|#)([^)#\s]+)[^)]*\)")


def words(page):
    return page.read_text(encoding="utf-8")


@pytest.fixture(autouse=True)
def _no_window(monkeypatch, tmp_path):
    matplotlib.use("agg")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", str(Path(sys.executable).parent), prepend=":")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_the_code_of_every_page_runs(page):
    """Its pictures are kept for the site, so that `make docs` need not run the pages again."""
    if DOCS not in page.parents:
        run_page(words(page), page.name)
        return
    pictures = PICTURES / page.relative_to(DOCS).with_suffix("")
    shutil.rmtree(pictures, ignore_errors=True)
    pictures.mkdir(parents=True)
    run_page(words(page), page.name, pictures)
    assert page not in FAMILIES or any(pictures.iterdir()), "a family has a picture"


@pytest.mark.parametrize(
    "page", [ROOT / "README.md", DOCS / "index.md", *FAMILIES], ids=lambda page: page.stem
)
def test_pages_with_examples_have_some(page):
    assert {"python", "text"} <= {block.language for block in blocks(words(page))}


@pytest.mark.parametrize("page", FAMILIES, ids=lambda page: page.stem)
def test_the_page_of_a_family_has_all_its_parts(page):
    text = words(page)
    for part in ("$$", "**When to use it.**", "**When not.**", "## References"):
        assert part in text, part
    assert "**Axis.**" in text or "| axis |" in text


def test_every_learner_is_on_the_page_of_its_family():
    text = "\n".join(words(page) for page in FAMILIES)
    told = set(re.findall(r"`(\w+)`", text))
    assert {learner.__name__ for learner in learners()} - told <= {"Baseline"}


@pytest.mark.parametrize("page", [*PAGES, ROOT / "CHANGELOG.md"], ids=lambda page: page.stem)
def test_every_link_to_a_file_leads_somewhere(page):
    for target in LINK.findall(words(page)):
        assert (page.parent / target).exists(), target


def test_a_page_that_is_wrong_is_noticed():
    assert run_page("```python\nx = 1\n```\n\n```python\nprint(x)\n```\n```text\n1\n```\n") == 2
    assert run_page("```sh\necho 1\n```\n```text\n1\n```\n") == 1
    with pytest.raises(AssertionError, match="line 4"):
        run_page("```python\nprint(1)\n```\n```text\n2\n```\n")
    with pytest.raises(NameError):
        run_page("```python\nprint(y)\n```\n")
    with pytest.raises(Exception, match="status 3"):
        run_page("```sh\nexit 3\n```\n")


def test_pictures_stand_below_what_the_code_prints(tmp_path):
    page = (
        "```python\nfrom matplotlib.figure import Figure\n_ = Figure(), Figure()\nprint(1)\n```\n"
        "```text\n1\n```\nEnd\n"
    )
    run_page(page, pictures=tmp_path)
    assert sorted(file.name for file in tmp_path.iterdir()) == ["1_0.png", "1_1.png"]
    told = with_pictures(page, tmp_path, "../made")
    assert told.index("1\n```\n\n![") < told.index("../made/1_1.png") < told.index("End")
