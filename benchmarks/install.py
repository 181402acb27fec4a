"""How large an installation is: the files of a package and of all that it requires."""

from functools import cache
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

from packaging.requirements import Requirement

import empirisk

SOURCE = Path(empirisk.__file__).parent


@cache
def installed_sizes(name: str) -> dict[str, float]:
    """Megabytes of each package that `name` needs, itself among them, without its extras."""
    sizes: dict[str, float] = {}
    waiting = [name]
    while waiting:
        each = waiting.pop()
        if each in sizes:
            continue
        try:
            found = distribution(each)
        except PackageNotFoundError:  # for another platform
            continue
        files = [Path(str(found.locate_file(file))) for file in found.files or ()]
        if each == "empirisk":  # an editable installation lists none of its files
            files = [file for file in SOURCE.rglob("*") if "__pycache__" not in file.parts]
        bytes_ = sum(file.stat().st_size for file in files if file.is_file())
        sizes[each] = round(bytes_ / 1e6, 1)
        needs = [Requirement(text) for text in found.requires or ()]
        waiting += [
            need.name.lower()
            for need in needs
            if need.marker is None or need.marker.evaluate({"extra": ""})
        ]
    return sizes
