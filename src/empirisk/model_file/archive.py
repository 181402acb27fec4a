"""The container: a zip archive of `0.npy`, `1.npy`, ... and a manifest that has their SHA-256.

Members are stored, not deflated: fitted numbers hardly shrink, loading is faster, and nothing can
expand, so a file of n bytes never becomes more than about n bytes of arrays.
"""

import json
import struct
from collections.abc import Sequence
from hashlib import sha256
from typing import Any, BinaryIO
from zipfile import ZIP_STORED, BadZipFile, ZipFile, ZipInfo

from empirisk import __version__
from empirisk.model_file.npy import as_npy, from_npy
from empirisk.runtime.arrays import Array
from empirisk.runtime.errors import DataError, ParameterError

FORMAT = "empirisk model"
VERSION = 1
KEYS = {"format", "version", "written_by", "summary", "members", "model", "meta"}
MANIFEST = "manifest.json"
MOST_MEMBERS = 100_000
LONGEST_MANIFEST = 2**24
ENTRY = b"PK\x01\x02"  # begins the entry of a member in the directory of a zip archive
EARLIEST = (1980, 1, 1, 0, 0, 0)  # of a zip archive; the same for all, so that equal is equal
REMEDY = "copy or download the file again, or save the model anew"


def write_archive(file: BinaryIO, content: dict[str, Any], arrays: Sequence[Array]) -> None:
    """Write the arrays, then the manifest: `content` with the format and the digests."""
    if len(arrays) >= MOST_MEMBERS:
        raise ParameterError(
            f"the model has {len(arrays)} arrays; a model file holds fewer than {MOST_MEMBERS}"
        )
    with ZipFile(file, "w", ZIP_STORED) as archive:
        members = {}
        for i, array in enumerate(arrays):
            data = as_npy(array)
            members[f"{i}.npy"] = sha256(data).hexdigest()
            archive.writestr(_entry(f"{i}.npy"), data)
        head = {"format": FORMAT, "version": VERSION, "written_by": f"empirisk {__version__}"}
        text = json.dumps({**head, **content, "members": members}, allow_nan=False).encode()
        if len(text) > LONGEST_MANIFEST:
            raise ParameterError(
                f"the manifest of the model has {len(text)} bytes, more than {LONGEST_MANIFEST}; "
                "keep long lists as arrays of numbers"
            )
        archive.writestr(_entry(MANIFEST), text)


def read_archive(file: BinaryIO) -> tuple[dict[str, Any], dict[str, Array]]:
    """The manifest and the arrays, both whole and as they were written."""
    size = _check_size(file)
    with ZipFile(file) as archive:
        entries = archive.infolist()
        manifest = _read_manifest(archive, entries)
        members = _checked_members(manifest["members"], entries)
        _check_expansion(entries, size)
        arrays = {
            entry.filename: _read_array(archive, entry, members[entry.filename])
            for entry in entries
            if entry.filename != MANIFEST
        }
    return manifest, arrays


def _entry(name: str) -> ZipInfo:
    entry = ZipInfo(name, EARLIEST)
    entry.create_system = 3  # the same on every system
    entry.external_attr = 0o644 << 16
    return entry


def _check_size(file: BinaryIO) -> int:
    """The bytes of the file, after counting what its directory may list.

    zipfile makes an object of every entry before anyone can ask how many there are.
    """
    size = entries = 0
    tail = b""
    while block := file.read(2**20):
        size += len(block)
        entries += (tail + block).count(ENTRY)
        tail = block[-3:]
    if size == 0:
        raise DataError(f"it is empty; {REMEDY}")
    if entries > MOST_MEMBERS:
        raise DataError(f"it lists {entries} members; a model file has at most {MOST_MEMBERS}")
    return size


def _read_manifest(archive: ZipFile, entries: Sequence[ZipInfo]) -> dict[str, Any]:
    found = [entry for entry in entries if entry.filename == MANIFEST]
    if len(found) != 1:
        raise DataError(f"it has {len(found)} members {MANIFEST!r}; `save` writes exactly one")
    _check_expansion(found, LONGEST_MANIFEST)
    manifest = _parsed(_read(archive, found[0]))
    if not isinstance(manifest, dict) or manifest.get("format") != FORMAT:
        raise DataError("its manifest is not that of a model; only files of `save` can be loaded")
    _check_version(manifest)
    if set(manifest) != KEYS:
        raise DataError(f"its manifest has the parts {sorted(manifest)[:10]}, not {sorted(KEYS)}")
    if not all(isinstance(manifest[key], str) for key in ("written_by", "summary")):
        raise DataError("its manifest has a summary or an author that is no text")
    return manifest


def _parsed(text: bytes) -> Any:
    try:
        return json.loads(text, object_pairs_hook=_without_repetition, parse_constant=_refuse)
    except RecursionError:
        raise DataError(f"{MANIFEST!r} is nested too deeply to be one of `save`") from None
    except ValueError as error:
        raise DataError(f"{MANIFEST!r} cannot be read ({error}); {REMEDY}") from None


def _without_repetition(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a key stands twice")
    return found


def _refuse(constant: str) -> None:
    raise ValueError(f"{constant} is no JSON")


def _check_version(manifest: dict[str, Any]) -> None:
    version = manifest.get("version")
    if type(version) is not int or version < 1:
        raise DataError(f"its manifest has no format version; {REMEDY}")
    if version > VERSION:
        author = str(manifest.get("written_by"))[:50]
        raise DataError(
            f"it was written by a newer Empirisk ({author!r}, format {version}); this is Empirisk "
            f"{__version__}, which reads formats up to {VERSION}: upgrade Empirisk"
        )


def _checked_members(members: Any, entries: Sequence[ZipInfo]) -> dict[str, str]:
    """The digest of each array; the names in the archive are just these, each once."""
    names = [entry.filename for entry in entries if entry.filename != MANIFEST]
    expected = {f"{i}.npy" for i in range(len(names))}
    if sorted(names) != sorted(expected):
        strange = next((name for name in names if name not in expected), "one name twice")
        raise DataError(
            f"its arrays must be called 0.npy to {len(names) - 1}.npy, each once, and there is "
            f"{strange[:50]!r}; {REMEDY}"
        )
    if not isinstance(members, dict) or set(members) != expected:
        raise DataError(f"its manifest lists other arrays than its {len(names)} members; {REMEDY}")
    return members


def _check_expansion(entries: Sequence[ZipInfo], most: int) -> None:
    """No member is compressed, and all together claim no more than so many bytes.

    So arrays are never larger than their file, even where entries share bytes of it.
    """
    for entry in entries:
        if entry.compress_type != ZIP_STORED or entry.compress_size != entry.file_size:
            raise DataError(
                f"its member {entry.filename!r} is compressed, which `save` does not do: the "
                "archive was packed by something else"
            )
    claimed = sum(entry.file_size for entry in entries)
    if claimed > most:
        raise DataError(f"{len(entries)} of its members claim {claimed} bytes, more than {most}")


def _read_array(archive: ZipFile, entry: ZipInfo, digest: str) -> Array:
    data = _read(archive, entry)
    if sha256(data).hexdigest() != digest:
        raise DataError(
            f"its member {entry.filename!r} does not have the SHA-256 that the manifest gives: "
            f"the file was damaged or altered; {REMEDY}"
        )
    try:
        return from_npy(data)
    except (TypeError, ValueError, OverflowError) as error:
        raise DataError(f"its member {entry.filename!r} is refused: {error}") from None


def _read(archive: ZipFile, entry: ZipInfo) -> bytes:
    try:
        return archive.read(entry)
    except (BadZipFile, EOFError, OSError, RuntimeError, ValueError, struct.error) as error:
        raise DataError(
            f"its member {entry.filename!r} cannot be read ({error}); {REMEDY}"
        ) from None
