"""`import empirisk` is instant because it imports nothing heavy; names come when first used."""

import importlib.util
import pickle
import pkgutil
import subprocess
import sys

import pytest

import empirisk
from empirisk import risk


def test_importing_the_library_imports_nothing_heavy():
    heavy = ("numpy", "scipy", "sklearn", "numba", "matplotlib", "rich", "joblib", "pandas")
    program = f"import empirisk, sys; print([name for name in {heavy!r} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.stdout.strip() == "[]", done.stderr


@pytest.mark.parametrize("name", empirisk.__all__)
def test_every_public_name_resolves(name):
    assert getattr(empirisk, name) is not None


def test_the_lazy_names_of_every_room_resolve():
    for room in pkgutil.walk_packages(empirisk.__path__, "empirisk."):
        package = importlib.import_module(room.name) if room.ispkg else empirisk
        for name in getattr(package, "__all__", ()):
            assert getattr(package, name) is not None


@pytest.mark.parametrize("package", [empirisk, risk])
def test_a_function_that_uses_a_package_goes_to_other_processes(package):
    assert pickle.loads(pickle.dumps(package)) is package  # cloudpickle asks for the same


@pytest.mark.parametrize("name", risk.__all__)
def test_a_name_of_the_risk_room_stays_itself_when_a_module_has_the_same(name):
    thing = getattr(risk, name)
    if importlib.util.find_spec(f"empirisk.risk.{name}"):
        module = importlib.import_module(f"empirisk.risk.{name}")
        assert (thing is module) == (name in risk._MODULES)
    assert getattr(risk, name) is thing


def test_dir_lists_every_public_name():
    assert set(empirisk.__all__) <= set(dir(empirisk))


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="NoSuchThing"):
        _ = empirisk.NoSuchThing
