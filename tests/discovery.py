"""Finding every learner of the library."""

import importlib
import inspect
import pkgutil

from sklearn.base import BaseEstimator

import empirisk.learners


def learners() -> list[type]:
    """The public estimators of empirisk.learners: classes with a constructor of their own."""
    found = []
    for module in pkgutil.walk_packages(empirisk.learners.__path__, "empirisk.learners."):
        for name, thing in vars(importlib.import_module(module.name)).items():
            mine = inspect.isclass(thing) and thing.__module__ == module.name
            whole = mine and issubclass(thing, BaseEstimator) and "__init__" in vars(thing)
            if whole and not name.startswith("_"):
                found.append(thing)
    return found
