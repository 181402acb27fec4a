"""`load`: a model from a file of `save`; what the file says is checked, never run."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from empirisk.model_file.archive import REMEDY, read_archive
from empirisk.model_file.decode import Decoding
from empirisk.model_file.tree import META, MODEL
from empirisk.runtime.errors import DataError


@dataclass(frozen=True, eq=False)
class ModelFile:
    """What a model file holds.

    Attributes
    ----------
    model : the estimator
    meta : dict
        What was kept beside it, empty if nothing was.
    summary : str
        A few words on the model for a person.
    written_by : str
        The library and its version.
    """

    model: Any
    meta: dict[str, Any]
    summary: str
    written_by: str


def load(path: str | os.PathLike[str]) -> Any:
    """The model in a file that `save` wrote; its predictions are the same to the last bit.

    No file can make it run anything: it makes only objects of a closed list of classes, this
    library's own and scikit-learn's Pipeline and splitters. A file that is damaged, altered or of
    another kind is a `DataError` that says what is wrong with it.

    Parameters
    ----------
    path : str or path

    Returns
    -------
    estimator

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from empirisk import Baseline, save
    >>> with TemporaryDirectory() as folder:
    ...     save(Baseline("absolute"), Path(folder, "median.model"))
    ...     load(Path(folder, "median.model"))
    Baseline(loss='absolute')
    """
    return read_model_file(path).model


def read_model_file(path: str | os.PathLike[str]) -> ModelFile:
    """Everything in a file that `save` wrote: the model, and what was kept beside it."""
    with open(os.fspath(path), "rb") as file, _named(path):  # a number is no file to close
        manifest, arrays = read_archive(file)
        decoding = Decoding(arrays)
        model, meta = manifest["model"], manifest["meta"]
        if not isinstance(model, dict) or "class" not in model:
            raise DataError("its manifest has no model")
        found = ModelFile(
            model=decoding.value(model, MODEL),
            meta=decoding.value(meta, META),
            summary=manifest["summary"],
            written_by=manifest["written_by"],
        )
        if decoding.arrays:
            raise DataError(f"nothing refers to its members {sorted(decoding.arrays)[:5]}")
        if type(found.meta) is not dict:
            raise DataError("its manifest has a meta that is no dict")
    return found


@contextmanager
def _named(path: str | os.PathLike[str]) -> Iterator[None]:
    """Turn what goes wrong inside into a `DataError` that names the file."""
    try:
        yield
    except (ImportError, MemoryError):
        raise
    except DataError as error:
        raise DataError(f"{os.fspath(path)} cannot be loaded: {error}") from None
    except Exception as error:  # what zipfile makes of damaged bytes has many names
        raise DataError(
            f"{os.fspath(path)} cannot be loaded: it is no model file, or was cut short or "
            f"damaged ({error}); {REMEDY}"
        ) from None
