"""`save`: a model in one file, which loads without running anything."""

import os
from contextlib import suppress
from typing import Any

from sklearn.pipeline import Pipeline

from empirisk.model_file.archive import write_archive
from empirisk.model_file.encode import Encoding
from empirisk.model_file.tree import META, MODEL
from empirisk.runtime.errors import ParameterError
from empirisk.runtime.whole_file import whole_file


def save(model: Any, path: str | os.PathLike[str], *, meta: dict[str, Any] | None = None) -> None:
    """Write a model to a file that `load` reads; a file of that name is replaced at one stroke.

    The file is a zip archive of arrays and a manifest in JSON: no pickle, nothing that runs when
    it is loaded. Equal models give equal bytes. What was found for
    each training row stays behind, such as the losses of the `risk_` of a `Tuned`; but learners
    that answer from their training rows (neighbours, kernels, forests with `keep_members`) have
    these in the file.

    Parameters
    ----------
    model : estimator
        A learner of this library, `Tuned`, or a scikit-learn Pipeline of these, fitted or not.
    path : str or path
    meta : dict, optional
        What else to keep: text, numbers, arrays, lists and dicts, estimates of risk.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from empirisk import Ridge, load
    >>> model = Ridge(alpha=5.0).fit([[1.0], [2.0], [3.0], [4.0]], [1.0, 3.0, 2.0, 4.0])
    >>> with TemporaryDirectory() as folder:
    ...     save(model, Path(folder, "ridge.model"))
    ...     again = load(Path(folder, "ridge.model"))
    >>> again, again.predict([[5.0]])
    (Ridge(alpha=5.0), array([3.5]))
    """
    if meta is not None and type(meta) is not dict:
        raise ParameterError(f"meta is a {type(meta).__name__}; give a dict, or leave it out")
    encoding = Encoding()
    content = {
        "model": encoding.node(model, MODEL),
        "meta": encoding.node(meta or {}, META),
    }
    if not isinstance(content["model"], dict) or "class" not in content["model"]:
        raise ParameterError(f"a {type(model).__name__} is no model; give an estimator to save")
    with whole_file(path) as file:
        write_archive(file, {"summary": summary(model), **content}, encoding.arrays)


def summary(model: Any) -> str:
    """A few words on a model for a person: `Tuned(Ridge), 13 features`."""
    words = [_name(model)]
    with suppress(AttributeError, IndexError):
        words.append(_count(model.n_features_in_, "feature"))
        words.append(_count(len(model.classes_), "class"))
    if hasattr(model, "fit") and len(words) == 1:
        words.append("not fitted")
    return ", ".join(words)


def _count(number: int, noun: str) -> str:
    plural = "" if number == 1 else "es" if noun.endswith("s") else "s"
    return f"{number} {noun}{plural}"


def _name(model: Any) -> str:
    if isinstance(model, Pipeline):
        return " > ".join(_name(step) for _, step in model.steps)
    if isinstance(model, str | None):
        return str(model)
    name = type(model).__name__
    return f"{name}({_name(model.estimator)})" if hasattr(model, "estimator") else name
