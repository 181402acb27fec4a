"""Laws that hold for every learner, found by discovery: nobody is forgotten.

A new learner needs a line in `learner_settings`; `test_every_learner_is_listed` fails until it has
one.
"""

import pickle
import re
import warnings
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone, is_classifier
from sklearn.model_selection import KFold, LeaveOneOut, RepeatedKFold
from sklearn.utils.estimator_checks import parametrize_with_checks

from discovery import learners
from empirisk import (
    PCA,
    AdaBoostClassifier,
    AdaBoostRegressor,
    BaggingClassifier,
    BaggingRegressor,
    Baseline,
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    DensityClassifier,
    GaussianMixture,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    KernelClassifier,
    KernelDensity,
    KernelRegressor,
    KMeans,
    KNeighborsClassifier,
    KNeighborsRegressor,
    LinearDiscriminantAnalysis,
    LinearRegression,
    LinearTreeClassifier,
    LinearTreeRegressor,
    LogisticRegression,
    LogitBoostClassifier,
    MarginClassifier,
    ParametricDensity,
    PlugInPredictor,
    QuadraticDiscriminantAnalysis,
    RandomForestClassifier,
    RandomForestRegressor,
    Ridge,
    StagewiseRegressor,
    StochasticKMeans,
    Tuned,
    risk,
)
from empirisk.learners.networks.network import Network
from empirisk.risk.axis import PathMixin
from empirisk.risk.bagging.path import BaggedPathMixin
from empirisk.runtime.errors import RankWarning
from learner_settings import (
    INSTANCES,
    SETTINGS,
    TUNED,
    every_estimator,
    every_learner,
    outputs,
    sample,
)
from same_bits import assert_same_bits
from tolerances import SOLVED, SUMMED

MORE_TUNED = [
    Tuned(LinearRegression(), cv=3),
    Tuned(Tuned(Ridge(), cv=3, values=[0.1, 1.0]), cv=2),
    Tuned(AdaBoostClassifier(n_estimators=4), cv=2),
    Tuned(AdaBoostRegressor(n_estimators=3, bootstrap=False), cv=2),
    Tuned(HistGradientBoostingClassifier(max_iter=3, min_samples_leaf=3, max_depth=2), cv=2),
    Tuned(HistGradientBoostingRegressor(max_iter=4, min_samples_leaf=3, learning_rate=0.5), cv=2),
    Tuned(LogitBoostClassifier(n_estimators=3), cv=2),
    Tuned(StagewiseRegressor(n_estimators=3, learning_rate=0.5), cv=2),
    Tuned(DensityClassifier(ParametricDensity()), cv=2, values=[0.1, 0.5]),
    Tuned(PCA(), cv=3, values=[1, 2]),
    Tuned(ParametricDensity(), cv=2, values=[0.1, 0.5]),
    Tuned(PlugInPredictor(Ridge(), "absolute"), cv=2, values=[0.1, 1.0]),
    Tuned(KernelDensity(), cv=3),
    Tuned(KernelRegressor(), cv=3),
    Tuned(GaussianMixture(init_params="hierarchical"), cv=3, values=[1, 2]),
]
DEFAULTS = [Tuned(Ridge()), Tuned(LinearDiscriminantAnalysis()), Tuned(Tuned(Ridge()))]

FIRST = [instance for instances in SETTINGS.values() for instance in instances[:1]]
OTHERS = [instance for instances in SETTINGS.values() for instance in instances[1:]]

# Where rows are drawn, a row of weight w and w copies of it are alike in distribution only:
# tests/learners/ensembles/test_weights.py and tests/learners/unsupervised look at that.
DRAWS_ROWS = (
    AdaBoostRegressor
    | BaggingClassifier
    | BaggingRegressor
    | KMeans
    | RandomForestClassifier
    | RandomForestRegressor
    | StochasticKMeans
)


def test_every_learner_is_listed():
    assert {learner.__name__ for learner in learners()} == set(SETTINGS)


def loss_of(learner):
    return learner.loss if isinstance(learner, Baseline) else None


def draws_rows(estimator):
    if isinstance(estimator, Network):
        return estimator.solver != "lbfgs"
    drawn = isinstance(estimator, DRAWS_ROWS)
    members = not hasattr(estimator, "reconstruct")
    return drawn and (
        not members or estimator.bootstrap or getattr(estimator, "max_samples", None) is not None
    )


def in_distribution_only(estimator):
    if not draws_rows(estimator):
        return {}
    name = "check_sample_weight_equivalence_on_{}_data"
    return {name.format(kind): "rows are drawn at random" for kind in ("dense", "sparse")}


@parametrize_with_checks(FIRST + TUNED, expected_failed_checks=in_distribution_only)
def test_check_estimator(estimator, check):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RankWarning)  # its data are often deficient by design
        check(estimator)


@pytest.mark.slow
@parametrize_with_checks(
    OTHERS + MORE_TUNED + DEFAULTS, expected_failed_checks=in_distribution_only
)
def test_check_estimator_of_other_settings(estimator, check):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RankWarning)
        check(estimator)


@every_learner
def test_a_weighted_row_is_so_many_copies(learner):
    if draws_rows(learner):
        return
    X, y = sample(learner)
    weight = np.random.default_rng(1).integers(0, 4, size=len(y))
    copies = np.repeat(np.arange(len(y)), weight)
    weighted = clone(learner).fit(X, y, sample_weight=weight)
    repeated = clone(learner).fit(X[copies], y[copies])
    # Sums of the same terms in another order: double precision at condition numbers below 1e2.
    assert_allclose(outputs(weighted, X), outputs(repeated, X), rtol=1e-9, atol=1e-12)


@every_learner
def test_weights_of_another_scale_change_nothing_unless_penalised(learner):
    if getattr(learner, "bandwidth", None) == "scott":
        return  # the rule has the number of rows in it
    X, y = sample(learner)
    weight = np.random.default_rng(1).uniform(0.5, 2, size=len(y))
    one = clone(learner).fit(X, y, sample_weight=weight)
    thousand = clone(learner)
    if isinstance(learner, Ridge | LinearTreeClassifier | LinearTreeRegressor | Network):
        thousand.set_params(alpha=1000 * learner.alpha)  # the penalty is on the scale of the sum
    if isinstance(learner, LogisticRegression | MarginClassifier):
        thousand.set_params(C=learner.C / 1000)
    if isinstance(learner, KNeighborsClassifier | KNeighborsRegressor):
        thousand.set_params(n_neighbors=1000 * learner.n_neighbors)  # it counts copies
    thousand.fit(X, y, sample_weight=1000 * weight)
    assert_allclose(outputs(one, X), outputs(thousand, X), rtol=SOLVED, atol=SUMMED)


@every_estimator
@pytest.mark.parametrize("n_jobs", [2, 4])
def test_the_same_bits_for_every_n_jobs(learner, n_jobs):
    X, y = sample(learner, n=150)
    if "n_jobs" in learner.get_params():
        one = clone(learner).set_params(n_jobs=1).fit(X, y)
        many = clone(learner).set_params(n_jobs=n_jobs).fit(X, y)
        assert_array_equal(outputs(one, X), outputs(many, X))
    one, many = (
        risk.cross_validate(learner, X, y, cv=4, loss=loss_of(learner), n_jobs=jobs)
        for jobs in (1, n_jobs)
    )
    assert_array_equal(one.losses, many.losses)


@every_learner
def test_blocks_of_rows_give_the_bits_of_all_rows(learner):
    if not hasattr(learner, "fit_blocks"):
        return
    X, y = sample(learner, n=5000)
    weight = np.random.default_rng(1).integers(0, 3, size=5000)
    cuts = [0, 1, 700, 701, 4800, 5000]
    pieces = [(X[a:b], y[a:b], weight[a:b]) for a, b in pairwise(cuts)]
    whole = clone(learner).fit(X, y, sample_weight=weight)
    assert_array_equal(outputs(clone(learner).fit_blocks(pieces), X), outputs(whole, X))


PLANS = [
    KFold(4, shuffle=True, random_state=0),
    LeaveOneOut(),
    RepeatedKFold(n_splits=3, n_repeats=2, random_state=0),
]


def has_whole_plans(learner):
    """For any partition into folds; ensembles answer plans of rows out of bag alone."""
    return type(learner).out_of_fold not in (PathMixin.out_of_fold, BaggedPathMixin.out_of_fold)


def ways_to_hold_out():
    """(learner, plan, whether weighted); a path knows its training rows, whatever their plan."""
    k_fold, one_out, repeated = PLANS
    folds = [(k_fold, True), (repeated, False)]
    for learner in INSTANCES:
        more = [(one_out, False), (one_out, True)] if has_whole_plans(learner) else []
        for cv, weighted in folds + more:
            way = f"{type(cv).__name__}{'-weighted' * weighted}"
            yield pytest.param(learner, cv, weighted, id=f"{way}-{learner}")


@pytest.mark.parametrize(("learner", "cv", "weighted"), list(ways_to_hold_out()))
def test_fast_rungs_equal_the_generic_loop(learner, cv, weighted):
    whole = has_whole_plans(learner)
    n = 40 if whole and not isinstance(cv, LeaveOneOut) else 20
    if isinstance(learner, DensityClassifier | QuadraticDiscriminantAnalysis):
        n += 40  # a covariance of each class, of four columns
    X, y = sample(learner, n=n, seed=2)
    weight = np.random.default_rng(3).uniform(0.2, 3, size=n) if weighted else None
    for loss in losses_for(learner):
        problem = risk.Problem.of(learner, X, y, loss=loss, sample_weight=weight)
        plan = problem.plan(cv)
        axis = learner.axis
        values = None
        if axis is not None:
            values = learner.axis_values(X, problem.target, problem.weight, n_train=plan.n_train)
            values = list(values)[:: max(1, len(values) // (5 if whole else 3))]
        slow = risk.out_of_fold(learner, problem, plan, values=values, rung="generic")
        path = risk.out_of_fold(learner, problem, plan, values=values, rung="path")
        fast = risk.out_of_fold(learner, problem, plan, values=values)
        assert (slow.rung, path.rung) == ("generic", "path")
        # The contract: 1e-10 relative where the condition number is below 1e4.
        assert_allclose(path.losses, slow.losses, rtol=1e-9, atol=1e-12)
        assert_allclose(fast.losses, slow.losses, rtol=1e-9, atol=1e-12)
        assert fast.rung == ("plan" if whole else "path"), fast.why


# Whose paths give the models of fits, bit for bit; those of others come from other starts, or
# other products.
FITTED_ONCE = (
    AdaBoostClassifier
    | AdaBoostRegressor
    | DecisionTreeClassifier
    | DecisionTreeRegressor
    | HistGradientBoostingClassifier
    | HistGradientBoostingRegressor
    | KernelClassifier
    | KernelDensity
    | KernelRegressor
    | KNeighborsClassifier
    | KNeighborsRegressor
    | LinearTreeClassifier
    | LinearTreeRegressor
    | LogitBoostClassifier
    | Network
    | ParametricDensity
    | StagewiseRegressor
)


@every_learner
@pytest.mark.parametrize("weighted", [False, True])
def test_a_path_that_is_the_same_as_fits_gives_their_bits(learner, weighted):
    X, y = sample(learner, n=80)
    weight = np.random.default_rng(3).uniform(0.2, 3, size=80) if weighted else None
    problem = risk.Problem.of(learner, X, y, loss=loss_of(learner), sample_weight=weight)
    values = None
    if learner.axis is not None:
        coded = learner if problem.classes is None else learner.for_classes(problem.classes)
        design = learner.design(X)
        values = coded.axis_values(design, problem.target, problem.weight, n_train=60)
        values = list(values)[:: max(1, len(values) // 4)]
    found = risk.out_of_fold(learner, problem, problem.plan(2), values=values, random_state=0)
    # An ensemble that folds judge keeps no path: one value is in memory at a time.
    same = found.whole is not None and getattr(found.whole.path, "same_as_fit", False)
    fitted_once = isinstance(learner, FITTED_ONCE)
    if isinstance(learner, HistGradientBoostingClassifier | HistGradientBoostingRegressor):
        fitted_once = not weighted  # by weights bins may have other ends
    if isinstance(learner, AdaBoostClassifier):
        fitted_once = not isinstance(learner.estimator, LinearDiscriminantAnalysis)  # has labels
    assert same == fitted_once
    if same:
        for j, value in enumerate(values):
            one = found.whole.path.at(j)
            one = one if problem.classes is None else one.with_labels(problem.classes)
            assert learner.axis.settings(value).items() <= one.get_params().items()
            assert_same_bits(one, clone(one).fit(X, y, sample_weight=weight))


def losses_for(learner):
    if isinstance(learner, Baseline):
        return [learner.loss]
    if hasattr(learner, "reconstruct"):
        return ["reconstruction", *{"entries"}.intersection([learner.own_loss.name])]
    if hasattr(learner, "density_risk"):
        return ["log_density"]
    if not is_classifier(learner):
        return ["squared", "absolute"]
    return ["zero_one", "log"] if hasattr(learner, "predict_proba") else ["zero_one"]


@pytest.mark.parametrize("learner", [own[0] for own in SETTINGS.values()], ids=str)
def test_declared_equivariance_holds(learner):
    X, y = sample(learner)
    units = {"each": [2.0, 1e-3, 1e5, 7.0], "common": 2.0**10, None: 1.0}[learner.feature_scaling]
    model = Tuned(learner, cv=4) if learner.feature_scaling == "common" else learner
    one, other = clone(model).fit(X, y), clone(model).fit(X * units, y)
    back = units if hasattr(learner, "reconstruct") else 1.0  # rows are in the units of X
    each = np.log(np.broadcast_to(units, 4)).sum()
    shift = each if hasattr(learner, "density_risk") else 0.0  # densities are per unit
    # Condition numbers below 1e2 once the columns have one scale, double precision.
    found = outputs(other, X * units) / back + shift
    assert_allclose(found, outputs(one, X), rtol=SOLVED, atol=SOLVED)


@every_estimator
@pytest.mark.parametrize("power", [-200, 200])
def test_everything_stays_finite(learner, power):
    X, y = sample(learner)
    X = X * 10.0**power
    model = clone(learner).fit(X, y)
    assert np.isfinite(outputs(model, X)).all()
    if not is_classifier(learner) and not isinstance(learner, Tuned):  # squared losses overflow
        y = y * 10.0**power
        assert np.isfinite(outputs(clone(learner).fit(X, y), X)).all()


@every_estimator
def test_clone_and_pickle_keep_the_learner(learner):
    X, y = sample(learner)
    model = clone(learner).fit(X, y)
    again = pickle.loads(pickle.dumps(model))
    assert_array_equal(outputs(again, X), outputs(model, X))
    fresh = clone(model)
    assert repr(fresh) == repr(learner)
    assert not [name for name in vars(fresh) if name.endswith("_") and not name.startswith("_")]


@every_estimator
def test_every_fitted_attribute_is_in_the_docstring(learner):
    X, y = sample(learner)
    model = clone(learner).fit(pd.DataFrame(X, columns=list("abcd")), y)
    told = set(re.findall(r"\w+_\b", type(model).__doc__.partition("Attributes\n")[2]))
    public = {name for name in vars(model) if name.endswith("_") and not name.startswith("_")}
    assert public <= told


@every_learner
def test_every_learner_declares_its_contract(learner):
    assert isinstance(learner, PathMixin)
    assert learner.feature_scaling in ("each", "common", None)
    assert type(learner).__doc__
    if learner.axis is not None:
        assert set(learner.axis.params) <= set(learner.get_params())
        assert learner.axis.params[0] in type(learner).__doc__
