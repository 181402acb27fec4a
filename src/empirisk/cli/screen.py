"""Text for people: plain when it goes into a file, never wider than the terminal."""

import shutil
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass

import typer

NARROWEST, WIDEST = 20, 100


def plain(text: str) -> str:
    """Text with what could steer a terminal made visible: names come from other people's files.

    Examples
    --------
    >>> print(plain("a column \\x1b[31mred"))
    a column \\x1b[31mred
    """
    shown = (c if c.isprintable() or c == "\n" else repr(c)[1:-1] for c in text)
    return "".join(shown)


@dataclass(frozen=True)
class Screen:
    """Where the text goes: standard output, or standard error where the other is for JSON."""

    err: bool = False

    @property
    def width(self) -> int:
        return min(max(shutil.get_terminal_size((80, 24)).columns, NARROWEST), WIDEST)

    def heading(self, text: str) -> None:
        typer.echo("", err=self.err)
        lines = textwrap.wrap(plain(text), self.width, subsequent_indent="  ")
        typer.secho("\n".join(lines), bold=True, err=self.err)

    def say(self, text: str, indent: str = "") -> None:
        """A paragraph, wrapped."""
        lines = textwrap.wrap(
            plain(text),
            self.width,
            initial_indent=indent,
            subsequent_indent=indent + "  ",
            break_long_words=False,
            break_on_hyphens=False,
        )
        typer.echo("\n".join(lines), err=self.err)

    def line(self, text: str) -> None:
        """One line, cut where the terminal ends."""
        text = plain(text)
        shown = text if len(text) <= self.width else text[: self.width - 3].rstrip(". ") + "..."
        typer.echo(shown, err=self.err)

    def table(self, header: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
        """Columns with a header, the first and the last of them aligned left."""
        for line in self._lines(header, rows):
            self.line(line)

    def fits(self, header: Sequence[str], rows: Sequence[Sequence[str]]) -> bool:
        """Whether the lines of a table would not be cut."""
        return max(map(len, self._lines(header, rows))) <= self.width

    def _lines(self, header: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
        cells = [list(map(plain, header)), *(list(map(plain, row)) for row in rows)]
        widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
        last, lines = len(widths) - 1, []
        for row in cells:
            aligned = [
                cell.ljust(w) if j in (0, last) else cell.rjust(w)
                for j, (cell, w) in enumerate(zip(row, widths, strict=True))
            ]
            lines.append("  " + "  ".join(aligned).rstrip())
        return lines
