"""Pictures for the page: SVG that stands in the HTML itself."""

import io
import re
from hashlib import sha256
from typing import Any

from empirisk.charts.axes import axes
from empirisk.report.standings import standings
from empirisk.selection.select import Selection

INK = "#33415c"


def risk_path_picture(path: Any) -> str:
    """Honest risk and training risk along the axis of one candidate."""
    ax = path.plot(_axes(6.4, 3.6))
    return as_svg(ax.figure)


def ranking_picture(selection: Selection) -> str:
    """Each candidate's cross-validated risk with its interval; an open point has none."""
    ranked = standings(selection)
    ax = _axes(6.4, 0.9 + 0.42 * len(ranked))
    for y, each in zip(range(len(ranked), 0, -1), ranked, strict=True):
        colour = "#c2410c" if each.chosen else INK
        if each.interval is not None:
            ax.plot(each.interval, (y, y), color=colour, linewidth=2)
        fill: Any = "none" if each.interval is None else "full"
        ax.plot(each.risk, y, "o", color=colour, fillstyle=fill)
        ax.plot(each.training_risk, y, "|", color=colour, markersize=12)
    names = [each.name for each in ranked]
    ax.set_yticks(range(len(ranked), 0, -1), labels=names, parse_math=False)
    ax.set_ylim(0.4, len(ranked) + 0.6)
    ax.set_xlabel(f"{selection.test_risk.loss} risk", parse_math=False)
    return as_svg(ax.figure)


def as_svg(figure: Any) -> str:
    """The picture as an element of HTML: same figure, same bytes; nothing is fetched."""
    import matplotlib as mpl

    nothing = dict.fromkeys(("Date", "Creator", "Format", "Type"))
    text = io.StringIO()
    with mpl.rc_context({"svg.fonttype": "none", "svg.hashsalt": "empirisk"}):
        figure.savefig(text, format="svg", metadata=nothing, transparent=True)
    svg = text.getvalue()
    return _with_names_of_its_own(svg[svg.index("<svg") :])


def _with_names_of_its_own(svg: str) -> str:
    """Matplotlib calls the parts of every figure alike, and a page may have a name only once."""
    own = f"p{sha256(svg.encode()).hexdigest()[:10]}-"

    def named(tag: re.Match[str]) -> str:
        return re.sub(r'( id="|href="#|url\(#)', rf"\g<1>{own}", tag[0])

    return re.sub(r"<[^<>]+>", named, svg)


def _axes(width: float, height: float) -> Any:
    ax = axes()
    ax.figure.set_size_inches(width, height)
    ax.spines[["top", "right"]].set_visible(False)
    ax.grid(alpha=0.25)
    return ax
