"""The reference: every public name, written anew from the package at each build.

A public name in `code` on any page, or in a docstring, links to its entry.
"""

import inspect
import re
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.transforms import SphinxTransform

import empirisk

CODE = re.compile(r"(`+[^`]+`+)")
MARKUP = re.compile(r"[|*\\]|(?<=\w)_(?!\w)")
PARAMETERS = re.compile(r"[\w, ]+?(?= : |$)")  # their names are escaped by napoleon
SOURCE = re.compile(r"(?:\.\./)+src/(.*)\.py")


def public_names() -> dict[str, Any]:
    """All that is public, by the full name it is used by; what has several, by the shortest."""
    rooms: dict[str, Any] = {"empirisk": empirisk}
    found: dict[str, Any] = {}
    known: set[int] = set()
    while rooms:
        room = min(rooms)
        module = rooms.pop(room)
        for name in getattr(module, "__all__", []):
            thing = getattr(module, name)
            if inspect.ismodule(thing):
                rooms[f"{room}.{name}"] = thing
            elif id(thing) not in known:
                known.add(id(thing))
                found[f"{room}.{name}"] = thing
    return found


def room_of(full: str, thing: Any) -> str:
    """The page of a name: the room that it is used from, or the folder in which it lives."""
    room = full.rpartition(".")[0]
    if room != "empirisk":
        return room
    folders = thing.__module__.split(".")
    return ".".join(folders[: 3 if folders[1] == "learners" else 2])


PUBLIC = public_names()
BY_NAME = {full.removeprefix("empirisk."): full for full in PUBLIC}
BY_HOME = {f"{thing.__module__}.{thing.__name__}": full for full, thing in PUBLIC.items()}


def write_pages(app: Sphinx) -> None:
    """A page for each room into api/, and the list of all names."""
    folder = Path(app.srcdir) / "api"
    folder.mkdir(exist_ok=True)
    rooms: dict[str, list[str]] = {}
    for full, thing in PUBLIC.items():
        rooms.setdefault(room_of(full, thing), []).append(full)
    pages = {room: page_of(room, names) for room, names in sorted(rooms.items())}
    pages["index"] = index_of(rooms)
    for file in folder.glob("*.rst"):
        if file.stem not in pages:
            file.unlink()
    for name, text in pages.items():
        file = folder / f"{name}.rst"
        if not file.exists() or file.read_text() != text:  # what is newer is read again
            file.write_text(text)


def page_of(room: str, names: list[str]) -> str:
    parts = [heading(room.removeprefix("empirisk."), "=")]
    for full in names:
        kind = "class" if inspect.isclass(PUBLIC[full]) else "function"
        parts += [heading(full.rpartition(".")[2], "-"), f".. auto{kind}:: {full}\n"]
    return "\n".join(parts)


def index_of(rooms: dict[str, list[str]]) -> str:
    parts = [heading("Public names", "="), ".. toctree::\n   :hidden:\n"]
    parts += [f"   {room}" for room in sorted(rooms)]
    for room in sorted(rooms):
        listed = "\n".join(f"   {name}" for name in rooms[room])
        parts += ["", heading(room.removeprefix("empirisk."), "-"), ".. autosummary::\n", listed]
    return "\n".join(parts) + "\n"


def heading(text: str, line: str) -> str:
    return f"{text}\n{line * len(text)}\n"


def as_plain_text(
    app: Sphinx, what: str, name: str, thing: Any, options: Any, lines: list[str]
) -> None:
    """Docstrings are plain text with `code`: what reStructuredText takes for more is escaped."""
    for i, line in enumerate(lines):
        if not line.lstrip().startswith((">>>", "...")):
            names = PARAMETERS.match(line)
            start = names.end() if names else 0
            parts = CODE.split(line[start:])
            parts[::2] = [MARKUP.sub(r"\\\g<0>", part) for part in parts[::2]]
            lines[i] = line[:start] + "".join(parts)


def skip_foreign(
    app: Sphinx, what: str, name: str, thing: Any, skipped: bool, options: Any
) -> bool | None:
    """Leave out members that come from scikit-learn or the standard library."""
    function = inspect.unwrap(getattr(thing, "fget", None) or thing)
    return None if str(getattr(function, "__module__", "")).startswith("empirisk") else True


class LinkNames(SphinxTransform):
    """Public names in code link to their pages; so do links to the source of a public name."""

    default_priority = 400

    def apply(self, **kwargs: Any) -> None:
        for literal in list(self.document.findall(nodes.literal)):
            name, parent = literal.astext(), literal.parent
            if isinstance(parent, addnodes.download_reference):
                source = SOURCE.search(parent["reftarget"])
                home = source[1].replace("/", ".") if source else ""
                self.link(literal, parent, BY_HOME.get(f"{home}.{name.split('.')[0]}"))
            elif not isinstance(parent, nodes.reference | addnodes.pending_xref):
                self.link(literal, literal, BY_NAME.get(name))

    def link(self, literal: nodes.Node, old: nodes.Element, target: str | None) -> None:
        if target is not None:
            link = addnodes.pending_xref(
                "", literal.deepcopy(), refdomain="py", reftype="obj", reftarget=target,
                refexplicit=True, refwarn=True, refdoc=self.env.docname,
            )  # fmt: skip
            old.replace_self(link)


def setup(app: Sphinx) -> dict[str, Any]:
    app.connect("builder-inited", write_pages)
    app.connect("autodoc-process-docstring", as_plain_text, priority=400)  # before napoleon
    app.connect("autodoc-skip-member", skip_foreign)
    app.add_transform(LinkNames)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
