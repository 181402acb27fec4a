"""Where model and report go."""

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from errno import EACCES, ENOTDIR
from pathlib import Path

from empirisk.runtime.errors import ParameterError

_FORMAT = re.compile(r"(\.(csv|tsv|tab|txt))?\.(gz|bz2|zst)$|\.[a-z][a-z0-9]{0,7}$", re.IGNORECASE)
"""The ending of a file, with that of the text where it is packed."""


@dataclass(frozen=True)
class Places:
    """The files that `empirisk fit` writes, named after the file it read."""

    model: Path
    report: Path

    @classmethod
    def of(cls, file: str, folder: str) -> "Places":
        """Their names; what speaks against writing there is said before the work, not after it."""
        place = Path(folder)
        _check_folder(place)
        name = safe_stem(file)
        found = cls(place / f"{name}.empirisk", place / f"{name}.html")
        for path in (found.model, found.report):
            refuse_overwriting(path, "the data", [file])
        return found

    def make_folder(self) -> None:
        self.model.parent.mkdir(parents=True, exist_ok=True)


def refuse_overwriting(path: str | Path, what: str, files: Sequence[str]) -> None:
    """Complain of an output that has the name of something that is read."""
    if os.path.realpath(path) in map(os.path.realpath, files):
        raise ParameterError(f"{path} would overwrite {what}: give another --output")


def safe_stem(file: str) -> str:
    """The name of a file without what says its format, fit for a new file on any system.

    Examples
    --------
    >>> safe_stem("data/heart_disease.csv.gz"), safe_stem("2024/*.csv"), safe_stem("a b.2024.csv")
    ('heart_disease', 'table', 'a_b.2024')
    """
    stem = _FORMAT.sub("", os.path.basename(file))
    words = re.sub(r"[^\w.-]+", "_", stem).strip("._-")
    return words[:100] or "table"


def _check_folder(place: Path) -> None:
    """The nearest folder that exists must take new ones or files."""
    for folder in (place, *place.absolute().parents):
        if folder.is_dir():
            if not os.access(folder, os.W_OK | os.X_OK):
                raise PermissionError(EACCES, "nothing may be written there", str(folder))
            return
        if folder.exists():
            raise NotADirectoryError(ENOTDIR, "it is a file, wanted a folder", str(folder))
