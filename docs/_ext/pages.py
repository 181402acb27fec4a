"""The code on a page: run it, hold it to what the page says it prints, keep the pictures it draws.

The python blocks of a page share one namespace, in order; sh blocks are commands. A text block
right after one of them is what it prints; "..." stands for anything.
"""

import doctest
import io
import re
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout
from pathlib import Path
from typing import Any, NamedTuple

BLOCK = re.compile(r"^```([^`\n]*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
PICTURES = Path(__file__).parents[2] / "build" / "pictures"


class Block(NamedTuple):
    language: str
    content: str
    line: int
    end: int
    """The position in the text after the block."""


def blocks(text: str) -> list[Block]:
    """The fenced blocks of a page."""
    return [
        Block(match[1], match[2], text.count("\n", 0, match.start()) + 1, match.end())
        for match in BLOCK.finditer(text)
    ]


def run_page(text: str, name: str = "page", pictures: Path | None = None) -> int:
    """Run the code of a page; the number of blocks run.

    The figures made by the block in line 12 are kept in the folder `pictures` as 12_0.png, 12_1.png
    and so on.
    """
    namespace = {"__name__": "__main__"}
    printed, ran = None, 0
    for block in blocks(text):
        if block.language in ("python", "sh"):
            with figures_made() as figures:
                printed, ran = run(block, name, namespace), ran + 1
            for i, figure in enumerate(figures if pictures else []):
                figure.savefig(pictures / f"{block.line}_{i}.png", dpi=100)
        elif block.language == "text" and printed is not None:
            flags = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
            said = f"{name}, line {block.line}, says:\n{block.content}\nbut the code prints:\n"
            right = doctest.OutputChecker().check_output(block.content, printed, flags)
            assert right, said + printed
            printed = None
    return ran


def run(block: Block, name: str, namespace: dict[str, Any]) -> str:
    """What a block prints."""
    if block.language == "sh":
        shell = ["sh", "-e", "-c", block.content]
        return subprocess.run(shell, check=True, stdout=subprocess.PIPE, text=True).stdout
    code = compile("\n" * block.line + block.content, name, "exec")  # so that errors name the line
    output = io.StringIO()
    with redirect_stdout(output):
        exec(code, namespace)
    return output.getvalue()


@contextmanager
def figures_made() -> Iterator[list[Any]]:
    """The figures that are made inside, in a list; the charts leave none with a window manager."""
    from matplotlib.figure import Figure

    made: list[Any] = []
    make = Figure.__init__

    def noted(figure: Any, *args: Any, **kwargs: Any) -> None:
        make(figure, *args, **kwargs)
        made.append(figure)

    Figure.__init__ = noted
    try:
        yield made
    finally:
        Figure.__init__ = make


def with_pictures(text: str, folder: Path, link: str) -> str:
    """The page with the pictures of each block below what it prints; `link` leads to `folder`."""
    found = blocks(text)
    for i in reversed(range(len(found))):
        block = found[i]
        files = sorted(folder.glob(f"{block.line}_*.png"))
        if files:
            told = i + 1 < len(found) and found[i + 1].language == "text"
            end = found[i + 1].end if told else block.end
            images = "\n\n".join(
                f"![drawn by the code above]({link}/{file.name})" for file in files
            )
            text = f"{text[:end]}\n\n{images}\n{text[end:]}"
    return text
