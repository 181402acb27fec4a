"""Finding every learner of the library."""

import importlib
import inspect
import pkgutil

from sklearn.base import BaseEstimator, TransformerMixin

import empirisk.learners
from empirisk.risk.axis import PathMixin


def learners() -> list[type]:
    """The public estimators of empirisk.learners: classes with a constructor.

    One that other classes inherit is theirs. A transformer that does nothing but transform, such as
    a basis, learns no rule and is none.
    """
    found = []
    walk = pkgutil.walk_packages(empirisk.learners.__path__, "empirisk.learners.")
    modules = [importlib.import_module(module.name) for module in walk]
    for module in modules:
        for name, thing in vars(module).items():
            mine = inspect.isclass(thing) and thing.__module__ == module.__name__
            whole = mine and issubclass(thing, BaseEstimator) and has_constructor(thing)
            rule = mine and (
                issubclass(thing, PathMixin) or not issubclass(thing, TransformerMixin)
            )
            if whole and rule and not name.startswith("_"):
                found.append(thing)
    return found


def has_constructor(cls: type) -> bool:
    """Whether a class is to be made: it has, or was left, a constructor, and leaves it to none."""
    own = [heir for heir in cls.__subclasses__() if heir.__module__.startswith("empirisk.")]
    if any("__init__" not in vars(heir) for heir in own):
        return False
    return "__init__" in vars(cls) or cls.__init__ is not object.__init__
