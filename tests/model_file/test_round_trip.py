"""What is saved comes back: every learner, to the last bit."""

import dataclasses
import inspect
import subprocess
import sys
from functools import cached_property

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal
from sklearn.base import clone, is_classifier
from sklearn.model_selection import (
    GroupKFold,
    GroupShuffleSplit,
    KFold,
    LeaveOneGroupOut,
    LeaveOneOut,
    LeavePGroupsOut,
    LeavePOut,
    PredefinedSplit,
    RepeatedKFold,
    RepeatedStratifiedKFold,
    ShuffleSplit,
    StratifiedGroupKFold,
    StratifiedKFold,
    StratifiedShuffleSplit,
    TimeSeriesSplit,
)
from sklearn.pipeline import make_pipeline
from sklearn.utils import get_tags

from discovery import learners
from empirisk import (
    PCA,
    AdaBoostClassifier,
    AdaBoostRegressor,
    Autoencoder,
    AveragePool,
    Axis,
    BaggingClassifier,
    BaggingRegressor,
    Baseline,
    BasisExpansion,
    BasisRegression,
    Bottleneck,
    Conv1d,
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    Dense,
    DensityClassifier,
    Dropout,
    ElasticNet,
    Flatten,
    GaussianMixture,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    KernelClassifier,
    KernelDensity,
    KernelRegressor,
    KMeans,
    KNeighborsClassifier,
    KNeighborsRegressor,
    Lasso,
    LinearDiscriminantAnalysis,
    LinearRegression,
    LinearTreeClassifier,
    LinearTreeRegressor,
    LogisticRegression,
    LogitBoostClassifier,
    MarginClassifier,
    MLPClassifier,
    MLPRegressor,
    NaiveBayes,
    NetworkClassifier,
    NetworkRegressor,
    ParametricDensity,
    Plan,
    PlugInPredictor,
    PoissonMixture,
    QuadraticDiscriminantAnalysis,
    RandomForestClassifier,
    RandomForestRegressor,
    RegularizedDiscriminantAnalysis,
    Ridge,
    StagewiseRegressor,
    StochasticKMeans,
    Tuned,
    losses,
    select,
    solvers,
)
from empirisk.learners.networks.network import Network
from empirisk.model_file.load import load, read_model_file
from empirisk.model_file.registry import HOMES, NOT_KEPT, ROW_BY_ROW, registered
from empirisk.model_file.save import save, summary
from empirisk.risk.bagged_path import BaggedPathMixin
from empirisk.risk.splitters import KINDS
from empirisk.runtime.errors import ParameterError
from empirisk.selection.average import FoldAverageClassifier, FoldAverageRegressor
from model_file.exactness import assert_same

ALL_EPOCHS = {"n_iter_no_change": None, "random_state": 0}
REGRESSORS = [
    AdaBoostRegressor(n_estimators=3, random_state=0),
    AdaBoostRegressor(Ridge(), n_estimators=3, loss="square", bootstrap=False, n_jobs=2),
    BaggingRegressor(n_estimators=3, random_state=0),
    BaggingRegressor(Ridge(), 30, max_features=2, oob_score=True, random_state=0, n_jobs=2),
    Baseline(),
    Baseline(losses.Quantile(0.9)),
    KernelRegressor(0.5, degree=1),
    LinearRegression(),
    LinearRegression(fit_intercept=False),
    Ridge(),
    Ridge(alpha=np.float32(0.1), fit_intercept=False),
    Tuned(Ridge(), cv=3),
    Tuned(Ridge(), cv=LeaveOneOut(), rule="one_se", values=np.geomspace(1e-3, 1e3, 5)),
    Tuned(LinearRegression(), cv=3, loss=losses.Absolute()),
    Tuned(Tuned(Ridge(), cv=3, values=[0.1, 1.0]), cv=2),
    Tuned(Ridge(), axis=Axis(("alpha",), "simpler", "log"), values=range(1, 4), cv=2),
    make_pipeline(Ridge(alpha=3)),
    BasisRegression(degree=2),
    DecisionTreeRegressor(max_depth=3),
    Tuned(DecisionTreeRegressor(categorical_features=[1]), cv=3, rule="one_se"),
    LinearTreeRegressor(min_samples_leaf=4),
    Tuned(LinearTreeRegressor(min_samples_leaf=4, categorical_features=[1]), cv=3),
    BasisRegression("natural_spline", 4),
    make_pipeline(BasisExpansion("steps", 3), Ridge()),
    Lasso(alpha=0.1),
    Tuned(Lasso(penalty_factor=[1.0, 0.0, 2.0]), cv=3),
    ElasticNet(alpha=0.1, positive=True),
    PlugInPredictor(),
    PlugInPredictor(Ridge(), losses.Quantile(0.9), noise_variance="held_out"),
    Tuned(PlugInPredictor(Ridge(), "absolute", actions=[0.0, 1.0]), cv=3, values=[0.1, 1.0]),
    RandomForestRegressor(30, oob_score=True, random_state=0),
    RandomForestRegressor(3, criterion="absolute_error", bootstrap=False, keep_members=True),
    Tuned(RandomForestRegressor(30, random_state=0)),
    StagewiseRegressor(n_estimators=5),
    StagewiseRegressor("least_squares", 5, loss=losses.Quantile(0.3)),
    Tuned(StagewiseRegressor(Ridge(), 5, stop="aic"), cv=3),
    HistGradientBoostingRegressor("huber", max_iter=3, min_samples_leaf=4),
    Tuned(HistGradientBoostingRegressor(max_iter=5, categorical_features=[1]), cv=3),
    MLPRegressor("absolute_error", 3, max_iter=2, **ALL_EPOCHS),
    Tuned(MLPRegressor(hidden_layer_sizes=3, max_iter=4, random_state=0), cv=2),
    NetworkRegressor([Bottleneck(1), Dense(2, "gelu")], solver="lbfgs", max_iter=2, **ALL_EPOCHS),
    KNeighborsRegressor(3, weights="distance", metric="mahalanobis"),
    Tuned(KNeighborsRegressor(standardize=True), cv=3, values=[1, 3]),
    Tuned(make_pipeline("passthrough", Ridge()), cv=3, values=(1.0, 2.0)),
]
CLASSIFIERS = [
    QuadraticDiscriminantAnalysis(store_covariance=True, reg_param=0.1),
    RegularizedDiscriminantAnalysis(0.3, 0.1),
    Tuned(RegularizedDiscriminantAnalysis(), cv=3, values=[(0.0, 0.1), (1.0, 0.5)]),
    LinearDiscriminantAnalysis("auto", n_components=1),
    AdaBoostClassifier(n_estimators=8),
    Tuned(AdaBoostClassifier(DecisionTreeClassifier(max_depth=2), n_estimators=5)),
    BaggingClassifier(DecisionTreeClassifier(max_depth=2), 30, oob_score=True, random_state=0),
    BaggingClassifier(make_pipeline(LogisticRegression()), 3, voting="hard", random_state=0),
    DecisionTreeClassifier(cost_matrix=losses.Costs([[0, 5, 1], [1, 0, 2], [1, 1, 0]])),
    DensityClassifier(cost_matrix=losses.Costs([[0, 5, 1], [1, 0, 2], [1, 1, 0]])),
    DensityClassifier(dict.fromkeys(["a", "bb", "c"], ParametricDensity("laplace"))),
    Tuned(DensityClassifier(ParametricDensity()), cv=3, values=[0.1, 1.0]),
    LinearTreeClassifier(min_samples_leaf=4),
    Baseline("zero_one"),
    Baseline("log"),
    Baseline(losses.Costs([[0, 5, 1], [1, 0, 1], [2, 1, 0]], classes=["c", "a", "bb"])),
    LinearDiscriminantAnalysis(),
    LinearDiscriminantAnalysis(shrinkage=0.3, priors=[0.2, 0.3, 0.5], store_covariance=True),
    Tuned(LinearDiscriminantAnalysis(), cv=StratifiedKFold(3, shuffle=True, random_state=1)),
    LogisticRegression(class_weight={"a": 2.0}),
    LogisticRegression(solver="gradient", max_iter=20, tol=0.1),
    Tuned(LogisticRegression(l1_ratio=0.5), cv=3, values=[0.1, 1.0]),
    RandomForestClassifier(3, random_state=0, categorical_features=[1]),
    Tuned(RandomForestClassifier(30, class_weight={"a": 2.0}, random_state=0)),
    LogitBoostClassifier(n_estimators=3),
    Tuned(LogitBoostClassifier("least_squares", 3), cv=3),
    HistGradientBoostingClassifier(
        max_iter=3, min_samples_leaf=4, early_stopping=True, random_state=0
    ),
    Tuned(HistGradientBoostingClassifier(max_iter=5, class_weight={"a": 2.0}), cv=3),
    MLPClassifier((3, 2), max_iter=3, early_stopping=True, **ALL_EPOCHS),
    Tuned(MLPClassifier(2, "tanh", max_iter=3, random_state=0), cv=2),
    MLPClassifier(2, learning_rate=solvers.Decaying(0.1, 10.0, 0.5), max_iter=2, **ALL_EPOCHS),
    NetworkClassifier(
        [Conv1d(2, 2, padding=1), AveragePool(2), Flatten(), Dropout(0.1)],
        input_shape=(1, 3),
        loss=losses.Logit(),
        max_iter=2,
        dtype="float32",
        **ALL_EPOCHS,
    ),
    MarginClassifier(),
    MarginClassifier(losses.Logit(), penalty="l1"),
    Tuned(MarginClassifier("squared_hinge"), cv=3, values=[0.1, 1.0]),
    NaiveBayes(priors=[0.2, 0.3, 0.5], ddof=1),
    NaiveBayes(distributions={1: "categorical"}),
    Tuned(NaiveBayes(distributions={0: "gaussian", (1, 2): "categorical"}), cv=3),
    PlugInPredictor(loss=losses.Costs([[0, 5, 1], [1, 0, 1], [2, 1, 0]], classes=["c", "a", "bb"])),
    KernelClassifier("loo"),
    KNeighborsClassifier(2, metric_params={"w": [1.0, 2.0, 0.5]}),
    Tuned(KNeighborsClassifier(metric="gower"), cv=3, values=[1, 3]),
]
WITHOUT_LABELS = [
    Autoencoder(1, hidden_layer_sizes=3, max_iter=2, **ALL_EPOCHS),
    Autoencoder(
        2, encoder=[Dense(3, "tanh")], decoder=[], solver="lbfgs", max_iter=2, **ALL_EPOCHS
    ),
    PCA(2),
    PCA(0.9, whiten=True, correlation=True),
    Tuned(PCA(), cv=3),
    KernelDensity(bandwidth="silverman"),
    KernelDensity(bandwidth=2.0, kernel="epanechnikov"),
    ParametricDensity(shrinkage=0.1),
    ParametricDensity("t", fixed={"df": 4.0}),
    Tuned(ParametricDensity(), cv=3),
    KMeans(3, random_state=0),
    KMeans(2, covariance="pooled", random_state=0),
    StochasticKMeans(3, random_state=0),
    GaussianMixture(2, init_params="hierarchical"),
    GaussianMixture(2, covariance_type="sieve", init_params="hierarchical", keep_steps=True),
    PoissonMixture(2, init_params="hierarchical"),
]
EVERY_MODEL = REGRESSORS + CLASSIFIERS + WITHOUT_LABELS
every_model = pytest.mark.parametrize("model", EVERY_MODEL, ids=str)


def sample(model, n=40, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3)) * [1.0, 3.0, 0.5]
    if get_tags(model).input_tags.positive_only:
        X = np.abs(X)
    if is_classifier(model):
        return X, np.array(["a", "bb", "c"])[np.digitize(X[:, 0] + rng.normal(size=n), [-0.5, 0.5])]
    return X, X @ [1.0, -0.5, 2.0] + rng.normal(size=n)


def there_and_back(model, path, **kept):
    save(model, path, **kept)
    return load(path)


def without_tables(model):
    """A copy of a model as it is after loading: no losses row by row."""
    if isinstance(model, Tuned) and hasattr(model, "risk_"):
        fitted = dict(vars(model))
        model = clone(model)
        vars(model).update(fitted)
        model.risk_ = dataclasses.replace(model.risk_, table=None)
        model.best_estimator_ = without_tables(model.best_estimator_)
    if isinstance(model, KernelClassifier | KernelRegressor | Network):
        again = clone(model)
        vars(again).update(
            {
                name: part
                for name, part in vars(model).items()
                if not isinstance(getattr(type(model), name, None), cached_property)
            }
        )
        return again
    if isinstance(model, BaggedPathMixin | KMeans | StochasticKMeans):
        fitted = {name: part for name, part in vars(model).items() if name not in ROW_BY_ROW}
        model = clone(model)
        vars(model).update(fitted)
        if hasattr(model, "risk_"):
            model.risk_ = dataclasses.replace(model.risk_, table=None)
            model.risk_curve_ = dataclasses.replace(model.risk_curve_, estimate=model.risk_)
    return model


def test_every_learner_has_a_model_here():
    covered = {type(model) for model in EVERY_MODEL}
    assert set(learners()) <= covered


def test_every_line_of_the_registry_names_a_class():
    for name in HOMES:
        assert inspect.isclass(registered(name))
        assert registered(name).__name__ == name


def test_every_concrete_loss_and_every_splitter_known_to_plans_is_registered():
    public = [getattr(losses, name) for name in losses.__all__]
    kinds = [
        thing
        for thing in public
        if inspect.isclass(thing)
        and issubclass(thing, losses.Loss | losses.MarginLoss)
        and not inspect.isabstract(thing)
        and "name" in vars(thing)
    ]
    assert len(kinds) >= 13
    assert all(registered(kind.__name__) is kind for kind in kinds)
    assert set(KINDS) <= set(HOMES)


@every_model
@pytest.mark.parametrize("frame", [np.asarray, pd.DataFrame], ids=["array", "frame"])
def test_a_fitted_model_comes_back_to_the_last_bit(model, frame, tmp_path):
    X, y = sample(model)
    X = frame(X)
    if isinstance(X, pd.DataFrame):
        X.columns = ["width", "Größe", "a\x00"]  # text is kept exactly, trailing NUL and all
    fitted = clone(model).fit(X, y)
    again = there_and_back(fitted, tmp_path / "model")
    assert_same(without_tables(fitted), without_tables(again))
    ways = ("predict", "transform", "score_samples")
    method = next(way for way in ways if hasattr(fitted, way))
    assert_array_equal(getattr(again, method)(X), getattr(fitted, method)(X), strict=True)
    if is_classifier(model):
        score = "predict_proba" if hasattr(fitted, "predict_proba") else "decision_function"
        assert_array_equal(getattr(again, score)(X), getattr(fitted, score)(X), strict=True)
    refitted = clone(again).fit(X, y)
    assert_array_equal(getattr(refitted, method)(X), getattr(fitted, method)(X), strict=True)


@every_model
def test_an_unfitted_model_comes_back(model, tmp_path):
    again = there_and_back(model, tmp_path / "model")
    assert_same(model, again)
    assert summary(model).endswith("not fitted")


@pytest.mark.parametrize("labels", [["x", "yyy"], [3, 7], [False, True], [-1.0, 1.0]], ids=str)
@pytest.mark.parametrize("dtype", [None, object], ids=["plain", "object"])
def test_labels_of_all_kinds_come_back(labels, dtype, tmp_path):
    X, _ = sample(Ridge())
    if dtype is object:
        labels = [str(label) for label in labels]
    y = np.array(labels, dtype=dtype)[(X[:, 0] > 0).astype(int)]
    fitted = LinearDiscriminantAnalysis().fit(X, y)
    again = there_and_back(fitted, tmp_path / "model")
    assert_same(fitted, again)
    assert_array_equal(again.predict(X), fitted.predict(X), strict=True)


def test_several_outputs_come_back(tmp_path):
    X, y = sample(Ridge())
    for model in (Baseline(), LinearRegression(), Ridge()):
        fitted = model.fit(X, np.column_stack([y, -y]))
        again = there_and_back(fitted, tmp_path / "model")
        assert_same(fitted, again)
        assert_array_equal(again.predict(X), fitted.predict(X), strict=True)


@pytest.mark.parametrize("model", [Ridge(), LinearDiscriminantAnalysis()], ids=str)
def test_an_average_of_fold_models_comes_back(model, tmp_path):
    X, y = sample(model, n=60)
    chosen = select([model], X, y, refit="average", random_state=0, cv=3)
    assert isinstance(chosen.model, FoldAverageRegressor | FoldAverageClassifier)
    again = there_and_back(chosen.model, tmp_path / "model")
    assert_same(chosen.model, again)
    assert_array_equal(again.predict(X), chosen.model.predict(X), strict=True)


SPLITTERS = [
    GroupKFold(2),
    GroupShuffleSplit(2, test_size=0.5, random_state=1),
    KFold(3, shuffle=True, random_state=5),
    LeaveOneGroupOut(),
    LeaveOneOut(),
    LeavePGroupsOut(1),
    LeavePOut(2),
    PredefinedSplit([0, 0, 1, 1, -1, 0, 1, 1]),
    RepeatedKFold(n_splits=2, n_repeats=3, random_state=1),
    RepeatedStratifiedKFold(n_splits=2, n_repeats=3, random_state=1),
    ShuffleSplit(2, test_size=3, random_state=1),
    StratifiedGroupKFold(2),
    StratifiedKFold(2),
    StratifiedShuffleSplit(2, train_size=0.5, random_state=1),
    TimeSeriesSplit(2, gap=1),
]


@pytest.mark.parametrize("cv", SPLITTERS, ids=lambda cv: type(cv).__name__)
def test_splitters_come_back(cv, tmp_path):
    again = there_and_back(Tuned(Ridge(), cv=cv), tmp_path / "model").cv
    assert_same(cv, again)
    X, y = np.zeros((8, 1)), np.arange(8) % 2
    groups = np.arange(8) // 2 if "Group" in type(cv).__name__ else None
    assert_same([*again.split(X, y, groups)], [*cv.split(X, y, groups)])


def test_every_registered_splitter_is_tested():
    names = {name for name in HOMES if HOMES[name] == "sklearn.model_selection"}
    assert {type(cv).__name__ for cv in SPLITTERS} == names


def test_given_splits_and_plans_come_back(tmp_path):
    splits = [(np.arange(5), np.arange(5, 8)), ([0, 1], [2])]
    assert_same(there_and_back(Tuned(Ridge(), cv=splits), tmp_path / "model").cv, splits)
    plan = Plan.of(3, np.zeros((6, 1)), np.arange(6.0))
    assert plan.n_splits == 3  # now it has something cached, which is not kept
    again = there_and_back(Tuned(Ridge(), cv=plan), tmp_path / "model").cv
    assert again.fingerprint == plan.fingerprint


LOSSES = [
    losses.Asymmetric(1, 4, positive="sick").for_classes(["sick", "well"]),
    losses.Asymmetric(a=2.0, b=np.float64(0.5), positive=np.str_("yes")),
    losses.Costs([[0, 5], [1, 0]], classes=["good", "bad"]).for_classes(["bad", "good"]),
    losses.Costs([[0, 5], [1, 0]]),
    losses.Quantile(0.1),
    losses.Hinge(),
]


@pytest.mark.parametrize("loss", LOSSES, ids=str)
def test_losses_come_back_with_the_order_of_their_classes(loss, tmp_path):
    again = there_and_back(Tuned(Ridge(), loss=loss), tmp_path / "model").loss
    assert again == loss
    assert_same(vars(loss), vars(again))


def test_a_tuned_model_keeps_its_risk_but_no_losses(tmp_path):
    X, y = sample(Ridge())
    fitted = Tuned(Ridge(), cv=5, values=[1.0]).fit(X, y)
    assert fitted.risk_.interval is not None
    again = there_and_back(fitted, tmp_path / "model").risk_
    kept = [field.name for field in dataclasses.fields(again) if field.name != "table"]
    assert_same([getattr(fitted.risk_, name) for name in kept], [getattr(again, n) for n in kept])
    assert again.table is None
    assert (str(again), repr(again)) == (str(fitted.risk_), repr(fitted.risk_))


def test_the_size_of_a_file_does_not_depend_on_the_number_of_rows(tmp_path):
    sizes = []
    for n in (50, 5000):
        X, y = sample(Ridge(), n=n)
        save(Tuned(Ridge(), cv=LeaveOneOut(), values=[1.0, 2.0]).fit(X, y), tmp_path / "model")
        sizes.append((tmp_path / "model").stat().st_size)
    assert abs(sizes[1] - sizes[0]) < 100  # a few numbers are written with more digits


def test_what_is_not_kept_is_a_parameter():
    for name, left_out in NOT_KEPT.items():
        assert set(left_out) <= set(inspect.signature(registered(name)).parameters)


def test_the_cache_of_a_pipeline_is_not_kept(tmp_path):
    again = there_and_back(make_pipeline(Ridge(), memory="/tmp/cache"), tmp_path / "model")
    assert again.memory is None


def test_meta_is_kept_beside_the_model(tmp_path):
    X, y = sample(Ridge())
    risk = Tuned(Ridge(), values=[1.0], cv=3).fit(X, y).risk_
    meta = {"target": "price", "kinds": {"a": "number", "b": ["x", None]}, "risk": risk}
    save(Ridge().fit(X, y), tmp_path / "model", meta=meta)
    found = read_model_file(tmp_path / "model")
    assert_same(found.meta, {**meta, "risk": dataclasses.replace(risk, table=None)})
    assert (found.summary, found.written_by[:9]) == ("Ridge, 3 features", "empirisk ")
    save(Ridge(), tmp_path / "model")
    assert read_model_file(tmp_path / "model").meta == {}
    with pytest.raises(ParameterError, match="give a dict"):
        save(Ridge(), tmp_path / "model", meta=[1])


@pytest.mark.parametrize(
    ("model", "expected"),
    [
        (Tuned(Ridge(), cv=3, values=[1.0]), "Tuned(Ridge), 3 features"),
        (make_pipeline(Ridge()), "Ridge, 3 features"),
        (LinearDiscriminantAnalysis(), "LinearDiscriminantAnalysis, 3 features, 3 classes"),
    ],
    ids=str,
)
def test_a_summary_is_for_a_person(model, expected):
    X, y = sample(model)
    assert summary(clone(model).fit(X, y)) == expected


def test_one_feature_is_one_feature():
    assert summary(Ridge().fit([[1.0], [2.0]], [1.0, 2.0])) == "Ridge, 1 feature"


def test_a_file_loads_in_a_process_that_has_imported_nothing(tmp_path):
    X, y = sample(Ridge())
    fitted = Tuned(Ridge(), cv=3).fit(X, y)
    save(fitted, tmp_path / "model")
    program = (
        "import sys; from empirisk.model_file.load import load; "
        "print(load(sys.argv[1]).predict([[1.0, 2.0, 3.0]])[0].hex())"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, tmp_path / "model"], capture_output=True, text=True
    )
    assert done.stdout.strip() == fitted.predict([[1.0, 2.0, 3.0]])[0].hex(), done.stderr
