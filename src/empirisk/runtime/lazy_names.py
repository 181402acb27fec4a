"""Public names that are imported when first used, so that to import their package is instant."""

import sys
from collections.abc import Callable, Mapping
from importlib import import_module
from types import ModuleType
from typing import Any


def lazy_names(
    package: str, home: Mapping[str, str], modules: Mapping[str, str] | None = None
) -> tuple[Callable[[str], Any], Callable[[], list[str]], list[str]]:
    """`__getattr__`, `__dir__` and `__all__` of a package.

    A name may be that of the module in which it lives: it stays the name of what lives there.

    Parameters
    ----------
    package : str
        The package itself, which is being imported.
    home : dict
        Of each name, the module in which it lives.
    modules : dict, optional
        Names that are modules themselves.

    Examples
    --------
    >>> find, names, _ = lazy_names(__name__, {"sqrt": "math"}, {"paths": "os.path"})
    >>> find("sqrt")(9.0), find("paths").basename("a/b")
    (3.0, 'b')
    >>> names()
    ['paths', 'sqrt']
    """
    modules = {} if modules is None else modules
    public = sorted([*home, *modules])

    class LazyPackage(ModuleType):
        def __setattr__(self, name: str, value: Any) -> None:
            if name not in home or not isinstance(value, ModuleType):
                super().__setattr__(name, value)

        def __reduce__(self) -> tuple[Callable[[str], ModuleType], tuple[str]]:
            """By its name, as cloudpickle takes modules along with a function that uses them."""
            return import_module, (package,)

    def find(name: str) -> Any:
        if name in home:
            return getattr(import_module(home[name]), name)
        if name in modules:
            return import_module(modules[name])
        raise AttributeError(f"module {package!r} has no attribute {name!r}")

    sys.modules[package].__class__ = LazyPackage
    return find, lambda: public, public
