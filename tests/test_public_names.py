"""Every public name has a docstring with an example; doctest runs it."""

import inspect

import pytest
from sklearn.utils import all_estimators

import empirisk


def public_things():
    """(full name, thing) of what the package, its public modules and those inside them list."""
    found, modules = {}, {"empirisk": empirisk}
    while modules:
        path, module = modules.popitem()
        for name in getattr(module, "__all__", []):
            thing = getattr(module, name)
            if inspect.ismodule(thing):
                modules[f"{path}.{name}"] = thing
            else:
                found[f"{path}.{name}"] = thing
    return found


PUBLIC = public_things()


def test_the_names_are_found():
    assert {"empirisk.Ridge", "empirisk.datasets.names", "empirisk.losses.Squared"} <= set(PUBLIC)
    assert {"empirisk.risk.measures.auc", "empirisk.solvers.em"} <= set(PUBLIC)


@pytest.mark.parametrize("name", sorted(PUBLIC))
def test_every_public_name_has_an_example(name):
    text = vars(PUBLIC[name]).get("__doc__") or PUBLIC[name].__doc__ or ""
    assert "\n    >>> " in text


def lists_parameters(thing):
    """Whether its docstring lists them itself, and does not end the list with a reference."""
    parameters = (thing.__doc__ or "").partition("Parameters\n")[2].partition("\n\n")[0]
    return bool(parameters) and "..." not in parameters


@pytest.mark.parametrize(
    "name", [name for name in sorted(PUBLIC) if lists_parameters(PUBLIC[name])]
)
def test_every_parameter_is_in_the_docstring(name):
    thing = PUBLIC[name]
    for parameter in inspect.signature(thing).parameters.values():
        if parameter.kind is not parameter.VAR_KEYWORD:
            assert parameter.name in thing.__doc__, parameter


@pytest.mark.parametrize("name", sorted(set(empirisk.__all__) & set(dict(all_estimators()))))
def test_parameters_without_a_name_are_those_of_scikit_learn(name):
    def by_place(cls):
        parameters = inspect.signature(cls).parameters.items()
        return [key for key, each in parameters if each.kind is each.POSITIONAL_OR_KEYWORD]

    assert by_place(getattr(empirisk, name)) == by_place(dict(all_estimators())[name])
