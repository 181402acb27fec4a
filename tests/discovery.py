"""Finding every learner of the library."""

import importlib
import inspect
import pkgutil

from sklearn.base import BaseEstimator, TransformerMixin

import empirisk.learners
from empirisk.risk.axis import PathMixin


def learners() -> list[type]:
    """The public estimators of empirisk.learners: classes with a constructor of their own.

    A transformer that does nothing but transform, such as a basis, learns no rule and is none.
    """
    found = []
    for module in pkgutil.walk_packages(empirisk.learners.__path__, "empirisk.learners."):
        for name, thing in vars(importlib.import_module(module.name)).items():
            mine = inspect.isclass(thing) and thing.__module__ == module.name
            whole = mine and issubclass(thing, BaseEstimator) and "__init__" in vars(thing)
            rule = mine and (
                issubclass(thing, PathMixin) or not issubclass(thing, TransformerMixin)
            )
            if whole and rule and not name.startswith("_"):
                found.append(thing)
    return found
