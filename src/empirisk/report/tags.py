"""HTML in which every text is escaped unless it is HTML already."""

from collections.abc import Iterable, Sequence
from html import escape


class Html(str):
    """Text that is HTML; all other text is escaped on its way into it."""

    __slots__ = ()


def element(tag: str, content: str, *, css: str = "") -> Html:
    """An element of one tag.

    Examples
    --------
    >>> element("p", "a < b", css="soft")
    '<p class="soft">a &lt; b</p>'
    >>> element("div", element("p", "a"))
    '<div><p>a</p></div>'
    """
    attribute = f' class="{escape(css)}"' if css else ""
    return Html(f"<{tag}{attribute}>{html(content)}</{tag}>")


def html(content: str) -> Html:
    """HTML as it is, text escaped, with what no page may hold made visible."""
    if isinstance(content, Html):
        return content
    shown = "".join(c if c.isprintable() or c in "\n\t" else repr(c)[1:-1] for c in content)
    return Html(escape(shown))


def join(parts: Iterable[str]) -> Html:
    """Parts below each other; empty ones are left out."""
    return Html("\n".join(html(part) for part in parts if part))


def section(title: str, *parts: str, css: str = "") -> Html:
    """A section with its title."""
    return element("section", join([element("h2", title), *parts]), css=css)


def table(
    header: Sequence[str],
    rows: Sequence[Sequence[str]],
    *,
    numbers: Sequence[int] = (),
    marked: int | None = None,
) -> Html:
    """A table; columns in `numbers` are aligned right, the row `marked` stands out."""
    head = join(
        element("th", cell, css="n" if j in numbers else "") for j, cell in enumerate(header)
    )
    body = [
        element(
            "tr",
            join(element("td", cell, css="n" if j in numbers else "") for j, cell in enumerate(r)),
            css="chosen" if i == marked else "",
        )
        for i, r in enumerate(rows)
    ]
    return element("table", join([element("thead", element("tr", head)), *body]))
