"""`empirisk learners`: what there is to learn with, and which of it suits a task."""

import inspect
import json
import sys
from typing import Any

import typer
from sklearn.base import BaseEstimator, is_classifier, is_regressor
from sklearn.pipeline import make_pipeline

import empirisk
from empirisk.cli.screen import Screen
from empirisk.data.encode import Encoder
from empirisk.learners.baseline import Baseline
from empirisk.learners.density.plug_in_predictor import PlugInPredictor
from empirisk.losses import Loss
from empirisk.losses.costs import MatrixLoss
from empirisk.risk.axis import PathMixin
from empirisk.runtime.errors import ParameterError
from empirisk.selection.candidates import takes_tables

AS_CANDIDATE = {"BasisRegression": {"extrapolation": "linear"}}
"""Polynomials that go on outside of the training range are off by any amount there, and one such
row then decides the risk."""

WHEN_ASKED = (
    "AdaBoostClassifier",
    "AdaBoostRegressor",
    "BaggingClassifier",
    "BaggingRegressor",
    "DensityClassifier",
    "KernelClassifier",
    "KernelRegressor",
    "LogitBoostClassifier",
    "MLPClassifier",
    "MLPRegressor",
    "NetworkClassifier",
    "NetworkRegressor",
    "PlugInPredictor",
    "QuadraticDiscriminantAnalysis",
    "StagewiseRegressor",
)
"""No rivals by default: bags fit each of their members for each fold and value, AdaBoost refuses a
fold of which its first member makes nothing, of boosted trees histograms are the fastest, kernel
smoothers look at all pairs of rows, networks go through them hundreds of times, quadratic
discriminants, singular where a category is missing from a class, are one end of the regularised
ones, and plug-in rules are those of the model that is put in."""

MANY_ROWS = 200_000
WITH_FEWER_ROWS = (
    "KNeighborsClassifier",
    "KNeighborsRegressor",
    "LinearTreeClassifier",
    "LinearTreeRegressor",
    "MarginClassifier",
    "RandomForestClassifier",
    "RandomForestRegressor",
)
"""No rivals by default of so many rows: where the others take minutes, neighbours look at a large
part of all pairs of rows, linear trees sum products of columns at every split, margin classifiers
pass over the rows once for every step and penalty, and forests grow thousands of deep trees."""


def show_learners(*, as_json: bool) -> None:
    """Print the learners with their tasks and axes."""
    if as_json:
        typer.echo(json.dumps([_facts(learner) for learner in all_learners()], indent=2))
        return
    screen = Screen()
    for learner in all_learners():
        facts = _facts(learner)
        axis = "" if facts["axis"] is None else f"; complexity axis: {', '.join(facts['axis'])}"
        screen.heading(facts["name"])
        screen.say(f"{facts['summary']} For {' and '.join(facts['tasks'])}{axis}.", indent="  ")


def all_learners() -> list[type[BaseEstimator]]:
    """The public learners; the baseline, which every other has to beat, first."""
    things = [getattr(empirisk, name) for name in empirisk.__all__]
    found = [thing for thing in things if inspect.isclass(thing) and issubclass(thing, PathMixin)]
    return sorted(found, key=lambda learner: (learner is not Baseline, learner.__name__))


def candidates(task: str, loss: Loss, asked: str | None, n: int) -> dict[str, BaseEstimator]:
    """Those that take part, by name: asked for, or suiting the task and n rows and not costly.

    Each is behind an encoder, but for those that take categories and missing values as they are.
    Those that can aim at the loss do.
    """
    suits = {learner.__name__: learner for learner in all_learners() if task in _tasks(learner)}
    if asked is None:
        too_long = left_out_of_many(task, None, n)
        chosen = [name for name in suits if name not in (*WHEN_ASKED, *too_long)]
    else:
        chosen = [_find(word, task, suits) for word in _words(asked)]
    rivals = {
        name: suits[name](**AS_CANDIDATE.get(name, {})) for name in chosen if name != "Baseline"
    }
    for rival in rivals.values():
        _aim(rival, loss)
    if loss.output == "probability":
        rivals = _with_probabilities(rivals, loss, asked)
    rivals = {"Baseline": Baseline(loss), **rivals}
    return {
        name: rival if takes_tables(rival) else make_pipeline(Encoder(), rival)
        for name, rival in rivals.items()
    }


def left_out_of_many(task: str, asked: str | None, n: int) -> list[str]:
    """The learners that take part by default where there are fewer rows."""
    if asked is not None or n < MANY_ROWS:
        return []
    return [name for name in WITH_FEWER_ROWS if task in _tasks(getattr(empirisk, name))]


def _aim(rival: BaseEstimator, loss: Loss) -> None:
    """Have a learner act at the least expected loss, where it can."""
    if isinstance(loss, MatrixLoss) and "cost_matrix" in rival.get_params(deep=False):
        rival.set_params(cost_matrix=loss.costs())
    elif isinstance(rival, PlugInPredictor):
        rival.set_params(loss=loss)


def _with_probabilities(
    rivals: dict[str, BaseEstimator], loss: Loss, asked: str | None
) -> dict[str, BaseEstimator]:
    """Those that a loss of probabilities can judge; one that was asked for is refused."""
    able = {name: rival for name, rival in rivals.items() if hasattr(rival, "predict_proba")}
    unable = [name for name in rivals if name not in able]
    if unable and asked is not None:
        raise ParameterError(
            f"--learners: {unable[0]} predicts classes without probabilities, which the loss "
            f"{loss.name!r} judges: leave it out, or choose another --loss"
        )
    return able


def _words(asked: str) -> list[str]:
    words = [word.strip() for word in asked.split(",") if word.strip()]
    if not words:
        raise ParameterError("--learners names none; leave it out for all that suit the task")
    return words


def _find(word: str, task: str, suits: dict[str, type]) -> str:
    """The name of the learner that is meant, whatever its case."""
    known = {learner.__name__.lower(): learner.__name__ for learner in all_learners()}
    name = known.get(word.lower().replace("_", "").replace("-", ""))
    if name in suits:
        return name
    problem = f"there is no learner {word!r}"
    if name is not None:
        own = _tasks(getattr(empirisk, name))
        asked = " (which --task asks for)" if {*own} <= {"regression", "classification"} else ""
        problem = f"{name} is not for {task} but for {' and '.join(own)}{asked}"
    raise ParameterError(f"--learners: {problem}; there are {', '.join(suits)}")


def _tasks(learner: type[BaseEstimator]) -> list[str]:
    if learner is Baseline:
        return ["regression", "classification"]
    tests = {"regression": is_regressor, "classification": is_classifier}
    found = [task for task, test in tests.items() if test(learner())]
    return found or [learner().own_loss.task]


def _facts(learner: type[BaseEstimator]) -> dict[str, Any]:
    axis = getattr(learner, "axis", None)
    summary = (sys.modules[learner.__module__].__doc__ or "").split("\n")[0]
    return {
        "name": learner.__name__,
        "tasks": _tasks(learner),
        "axis": None if axis is None else list(axis.params),
        "summary": summary,
    }
