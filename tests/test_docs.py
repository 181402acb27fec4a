"""The Python in README.md and docs/ runs, and prints what the pages say it prints.

The python blocks of a page share one namespace, in order. A text block right after a python block
is what that block prints; "..." stands for anything.
"""

import doctest
import io
import re
from contextlib import redirect_stdout
from pathlib import Path

import matplotlib
import pytest

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\((?!https?://|#)([^)#\s]+)[^)]*\)")


def blocks(text):
    """(language, content, line) of each fenced block."""
    return [
        (match[1], match[2], text.count("\n", 0, match.start()) + 1)
        for match in BLOCK.finditer(text)
    ]


def run_page(text, name="page"):
    """Run the python blocks; the number of blocks run."""
    namespace = {"__name__": "__main__"}
    printed, ran = None, 0
    checker = doctest.OutputChecker()
    for language, content, line in blocks(text):
        if language == "python":
            code = compile("\n" * line + content, name, "exec")  # so that errors name the line
            output = io.StringIO()
            with redirect_stdout(output):
                exec(code, namespace)
            printed, ran = output.getvalue(), ran + 1
        elif language == "text" and printed is not None:
            flags = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
            said = f"{name}, line {line}, says:\n{content}\nbut the code prints:\n{printed}"
            assert checker.check_output(content, printed, flags), said
            printed = None
    return ran


@pytest.fixture(autouse=True)
def _no_window(monkeypatch, tmp_path):
    matplotlib.use("agg")
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_the_code_of_every_page_runs(page):
    run_page(page.read_text(encoding="utf-8"), page.name)


@pytest.mark.parametrize("name", ["README.md", "docs/examples.md"])
def test_pages_with_examples_have_some(name):
    languages = [language for language, *_ in blocks((ROOT / name).read_text(encoding="utf-8"))]
    assert "python" in languages
    assert "text" in languages


@pytest.mark.parametrize("page", [*PAGES, ROOT / "CHANGELOG.md"], ids=lambda page: page.name)
def test_every_link_to_a_file_leads_somewhere(page):
    for target in LINK.findall(page.read_text(encoding="utf-8")):
        assert (page.parent / target).exists(), target


def test_a_page_that_is_wrong_is_noticed():
    assert run_page("```python\nx = 1\n```\n\n```python\nprint(x)\n```\n```text\n1\n```\n") == 2
    with pytest.raises(AssertionError, match="line 4"):
        run_page("```python\nprint(1)\n```\n```text\n2\n```\n")
    with pytest.raises(NameError):
        run_page("```python\nprint(y)\n```\n")
