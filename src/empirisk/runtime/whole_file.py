"""A file that is there whole or not at all."""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from errno import EACCES, ENOENT
from pathlib import Path
from typing import BinaryIO
from uuid import uuid4

from empirisk.runtime.errors import ParameterError


@contextmanager
def whole_file(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """Write to a draft in the same folder; on leaving, the draft takes the name at one stroke.

    If the body fails or is interrupted the draft is removed, and what had the name before still
    has it. A file that is replaced passes its permissions on; one that may not be written is not
    replaced. A link is followed.
    """
    target = Path(os.path.realpath(path))
    _check_target(Path(path), target)
    draft = target.with_name(f".empirisk-{uuid4().hex}.tmp")
    try:
        with open(draft, "xb") as file:
            if target.exists():
                shutil.copymode(target, draft)
            yield file
            file.flush()
            os.fsync(file.fileno())
        os.replace(draft, target)
    finally:
        draft.unlink(missing_ok=True)
    _sync_folder(target.parent)


def _check_target(path: Path, target: Path) -> None:
    if not target.parent.is_dir():
        raise FileNotFoundError(ENOENT, "there is no such folder to save in", str(target.parent))
    if not path.exists():
        return
    if not path.is_file():  # to replace a device or a folder by a file would do harm
        raise ParameterError(f"{path} is not a file: give the path of a file to save in")
    if not os.access(target, os.W_OK):
        raise PermissionError(EACCES, "the file may not be overwritten", str(target))


def _sync_folder(folder: Path) -> None:
    """Put the new name on disk too; Windows has no such call for folders."""
    if os.name == "nt":
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
