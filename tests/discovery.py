"""Finding every learner of the library."""

import importlib
import inspect
import pkgutil

from sklearn.base import BaseEstimator

import empirisk.learners


def learners() -> list[type]:
    """The public estimators of empirisk.learners, each in the module that defines it."""
    found = []
    for module in pkgutil.walk_packages(empirisk.learners.__path__, "empirisk.learners."):
        for name, thing in vars(importlib.import_module(module.name)).items():
            mine = inspect.isclass(thing) and thing.__module__ == module.name
            if mine and issubclass(thing, BaseEstimator) and not name.startswith("_"):
                found.append(thing)
    return found
