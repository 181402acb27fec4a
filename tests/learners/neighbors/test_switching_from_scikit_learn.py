"""Code written for scikit-learn's nearest neighbours runs on ours, with the same answers."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_array
from sklearn import neighbors as peers
from sklearn.exceptions import DataConversionWarning
from sklearn.metrics import pairwise_distances
from sklearn.model_selection import cross_val_score
from sklearn.multioutput import MultiOutputClassifier

import empirisk
from empirisk import KNeighborsClassifier, KNeighborsRegressor, Tuned, load, risk, save
from empirisk.runtime.errors import DataError, ParameterError
from neighbor_rows import data
from tolerances import LAST_BITS, SUMMED

BOTH = ["KNeighborsClassifier", "KNeighborsRegressor"]
NAMES = [
    "braycurtis", "canberra", "correlation", "cosine", "hamming", "nan_euclidean", "sqeuclidean",
]  # fmt: skip
TRUTH = ["dice", "jaccard", "rogerstanimoto", "russellrao", "sokalsneath", "yule"]


def total_difference(x, z, power=1.0):
    return float((np.abs(x - z) ** power).sum())


def pair(name, X, y, **params):
    return (getattr(room, name)(**params).fit(X, y) for room in (empirisk, peers))


@pytest.mark.parametrize("weights", ["uniform", "distance"])
@pytest.mark.parametrize("name", BOTH)
def test_no_rows_are_the_training_rows_each_without_itself(name, weights):
    X, y, labels = data()
    X[3] = X[4]
    target = labels if name == BOTH[0] else y
    ours, peer = pair(name, X, target, n_neighbors=4, weights=weights)
    # Sums of four numbers.
    assert_allclose(ours.predict(None), peer.predict(None), rtol=SUMMED)
    assert_allclose(ours.score(None, target), peer.score(None, target), rtol=SUMMED)
    left_out = risk.leave_one_out(ours, X, target)
    loss = (ours.predict(None) != target) if name == BOTH[0] else (ours.predict(None) - target) ** 2
    assert_allclose(loss.mean(), left_out.value, rtol=SUMMED)


def test_a_row_of_weight_w_is_left_out_with_all_its_copies():
    X, y, _ = data(n=30)
    weight = np.random.default_rng(0).integers(1, 4, size=30)
    weighted = KNeighborsRegressor(4).fit(X, y, sample_weight=weight)
    for i in (0, 7):
        others = np.arange(30) != i
        without = KNeighborsRegressor(4).fit(X[others], y[others], sample_weight=weight[others])
        assert weighted.predict(None)[i] == without.predict(X[[i]])[0]
    assert_allclose(weighted.conditional_weights(None).sum(axis=1), 1.0, rtol=SUMMED)
    assert (weighted.conditional_weights(None).diagonal() == 0).all()


def test_a_single_row_has_no_other():
    with pytest.raises(DataError, match="X is None, and the only training row"):
        KNeighborsRegressor(1).fit([[1.0]], [2.0]).predict(None)


@pytest.mark.parametrize("name", BOTH)
def test_a_sparse_matrix_is_learned_from_as_the_array_that_it_stands_for(name):
    X, y, labels = data()
    X[X < 0.3] = 0.0
    target = labels if name == BOTH[0] else y
    cls = getattr(empirisk, name)
    dense, sparse = cls().fit(X, target), cls().fit(csr_array(X), target)
    assert_array_equal(sparse.predict(csr_array(X)), dense.predict(X))
    assert_array_equal(sparse.kneighbors(csr_array(X))[1], dense.kneighbors(X)[1])


@pytest.mark.parametrize("weights", ["uniform", "distance"])
@pytest.mark.parametrize("outputs", [1, 3])
def test_several_targets_are_predicted_as_scikit_learn_does(weights, outputs):
    X, y, labels = data()
    targets = np.column_stack([y, 1e3 * y**2, labels])[:, :outputs]
    ours, peer = pair(BOTH[1], X, targets, n_neighbors=4, weights=weights)
    for rows in (X[:20] + 0.1, None):
        found, wanted = ours.predict(rows), peer.predict(rows)
        assert found.shape == wanted.shape
        assert_allclose(found, wanted, rtol=SUMMED)  # sums of four numbers
    assert_allclose(ours.score(X, targets), peer.score(X, targets), rtol=SUMMED)


def test_several_targets_are_held_out_and_kept(tmp_path):
    X, y, _ = data()
    targets = np.column_stack([y, y**2])
    fast, slow = (
        risk.cross_validate(room.KNeighborsRegressor(3), X, targets, cv=4, random_state=0)
        for room in (empirisk, peers)
    )
    assert_allclose(fast.value, slow.value, rtol=SUMMED)
    tuned = Tuned(KNeighborsRegressor(), cv=4, values=[1, 5]).fit(X, targets)
    save(tuned, tmp_path / "model")
    assert_array_equal(load(tmp_path / "model").predict(X), tuned.predict(X))


def test_what_is_said_of_one_target_is_not_said_of_several():
    X, y, _ = data()
    model = KNeighborsRegressor().fit(X, np.column_stack([y, y]))
    with pytest.raises(DataError, match="fitted to 2 targets"):
        model.predict_quantile(X)
    with pytest.raises(DataError, match="fitted to 2 targets"):
        model.predict_cdf(X, 0.0)
    with pytest.raises(ParameterError, match="learns from one target, and y has 2 columns"):
        KNeighborsRegressor(metric="learned").fit(X, np.column_stack([y, y]))


def test_labels_in_columns_are_refused_with_what_to_do():
    X, _, labels = data()
    several = np.column_stack([labels, labels == 1])
    with pytest.raises(DataError, match=r"1d array, .* fit one for each column, as MultiOutput"):
        KNeighborsClassifier().fit(X, several)
    ours = MultiOutputClassifier(KNeighborsClassifier()).fit(X, several)
    peer = peers.KNeighborsClassifier().fit(X, several)
    assert_array_equal(ours.predict(X), peer.predict(X))


@pytest.mark.parametrize("metric", [*NAMES, total_difference])
@pytest.mark.parametrize("name", BOTH)
def test_distances_by_pairs_are_scikit_learns(name, metric):
    X, y, labels = data(n=60)
    X = {"hamming": X.round(1)}.get(metric, X)
    target = labels if name == BOTH[0] else y
    # Its ball tree is no place for "braycurtis", which knows no triangles.
    settings = {"n_neighbors": 4, "metric": metric, "weights": "distance", "algorithm": "brute"}
    ours, peer = pair(name, X[10:], target[10:], **settings)
    distances, rows = ours.kneighbors(X[:10])
    wanted, _ = peer.kneighbors(X[:10])
    assert_allclose(distances, wanted, rtol=SUMMED, atol=LAST_BITS)
    if metric != "hamming":  # which has ties, of which scikit-learn takes any
        assert_array_equal(rows, peer.kneighbors(X[:10])[1])
        assert_allclose(ours.predict(X[:10]), peer.predict(X[:10]), rtol=SUMMED)


@pytest.mark.filterwarnings("error")
def test_rows_of_zeros_and_opposite_rows_have_a_bray_curtis_distance():
    X = np.array([[0.0, 0.0, 0.0], [1.0, -2.0, 0.0], [-1.0, 2.0, 0.0], [0.0, 0.0, 5.0]])
    ours, peer = pair(BOTH[1], X, np.arange(4.0), n_neighbors=4, metric="braycurtis")
    distances, rows = ours.kneighbors(X)
    assert_allclose(distances, peer.kneighbors(X)[0], rtol=LAST_BITS)
    assert rows[0, 0] == 0
    assert distances.max() == 1
    some = KNeighborsRegressor(4, metric="braycurtis", metric_params={"w": [1.0, 3.0, 0.0]})
    some.metric_params["n_jobs"] = 1  # of `pairwise_distances`, not of columns
    distances, rows = some.fit(X, np.arange(4.0)).kneighbors([[2.0, 1.0, 7.0]])
    assert_array_equal(rows, [[2, 1, 0, 3]])
    assert_allclose(distances, [[6 / 12, 10 / 12, 1, 1]], rtol=LAST_BITS)


@pytest.mark.filterwarnings("error")
def test_bray_curtis_distances_are_those_of_the_cells_in_any_unit():
    X = np.array([[1.0, 2.0], [-3.0, 4.0], [5.0, -6.0], [0.0, 1.5]])
    distances, rows = KNeighborsRegressor(3, metric="braycurtis").fit(X, X).kneighbors()
    for unit in (1e-200, 2.9e307):  # sums of cells are beyond float64
        unlike = KNeighborsRegressor(4, metric="braycurtis").fit(X, X).kneighbors(X * unit)[0]
        assert_allclose(unlike, 1, rtol=LAST_BITS)
        found = KNeighborsRegressor(3, metric="braycurtis").fit(X * unit, X).kneighbors()
        assert_allclose(found[0], distances, rtol=SUMMED)
        assert_array_equal(found[1], rows)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("metric", TRUTH)
def test_distances_of_truth_values_are_scikit_learns_and_of_ties_the_earlier_is_nearer(metric):
    rng = np.random.default_rng(0)
    X, y = rng.random((80, 7)) < 0.5, rng.normal(size=80)
    ours, peer = pair(BOTH[1], X[20:], y[20:], n_neighbors=5, metric=metric)
    distances, rows = ours.kneighbors(X[:20])
    assert_allclose(distances, peer.kneighbors(X[:20])[0], rtol=0, atol=LAST_BITS)
    every = pairwise_distances(X[:20], X[20:], metric=metric)
    assert_array_equal(rows, np.argsort(every, axis=1, kind="stable")[:, :5])


def test_other_numbers_than_truths_are_said_once_to_be_one():
    X, y, _ = data(n=60)
    X[X < 0.3] = 0
    with pytest.warns(DataConversionWarning, match="asks whether a cell is 0") as said:
        distances, _ = KNeighborsRegressor(metric="jaccard").fit(X, y).kneighbors(X[:5])
    assert len(said) == 1
    wanted, _ = KNeighborsRegressor(metric="jaccard").fit(X != 0, y).kneighbors(X[:5] != 0)
    assert_array_equal(distances, wanted)


def test_parameters_of_a_distance_reach_it():
    X, y, _ = data(n=60)
    for metric, params in [
        (total_difference, {"power": 3.0}),
        ("seuclidean", {"V": [1.0, 9.0, 2.0]}),
    ]:
        ours, peer = pair(BOTH[1], X, y, metric=metric, metric_params=params)
        assert_allclose(ours.predict(X + 0.1), peer.predict(X + 0.1), rtol=SUMMED)
    with pytest.raises(ParameterError, match=r"metric is 'seuclidean' .* gives no distance"):
        KNeighborsRegressor(metric="seuclidean", metric_params={"v": 3}).fit(X, y)


def test_missing_cells_are_passed_over_by_nan_euclidean():
    X, y, _ = data(n=60)
    X[::3, 1] = np.nan
    ours, peer = pair(BOTH[1], X, y, metric="nan_euclidean")
    assert_allclose(ours.predict(X), peer.predict(X), rtol=SUMMED)
    assert_allclose(ours.predict(None), peer.predict(None), rtol=SUMMED)


def test_rows_by_pairs_are_held_out_from_one_search(tmp_path):
    X, _, labels = data(n=90)
    learner = KNeighborsClassifier(metric="cosine")
    peer = peers.KNeighborsClassifier(metric="cosine")
    fast, slow = (
        risk.cross_validate(each, X, labels, cv=5, random_state=0) for each in (learner, peer)
    )
    assert fast.value == slow.value
    save(learner.fit(X, labels), tmp_path / "model")
    assert_array_equal(load(tmp_path / "model").predict_proba(X), learner.predict_proba(X))


@pytest.mark.parametrize("scale", [1e-200, 1e200])
def test_angles_do_not_depend_on_the_size_of_numbers(scale):
    X, _, labels = data(n=60)
    one = KNeighborsClassifier(metric="cosine").fit(X, labels)
    far = KNeighborsClassifier(metric="cosine").fit(scale * X, labels)
    assert_array_equal(far.predict(scale * X), one.predict(X))


def test_a_metric_that_there_is_not_is_refused_with_those_that_there_are():
    X, y, _ = data(n=20)
    with pytest.raises(ParameterError, match=r"'euclid'; there are minkowski, .*cosine, .*fun"):
        KNeighborsRegressor(metric="euclid").fit(X, y)


@pytest.mark.parametrize("name", BOTH)
def test_distances_that_are_given_are_those_of_rows(name, tmp_path):
    X, y, labels = data(n=90)
    target = labels if name == BOTH[0] else y
    cls, D = getattr(empirisk, name), pairwise_distances(X)
    rows = cls(4, weights="distance").fit(X[20:], target[20:])
    given = cls(4, weights="distance", metric="precomputed").fit(D[20:, 20:], target[20:])
    assert_array_equal(given.kneighbors(D[:20, 20:])[1], rows.kneighbors(X[:20])[1])
    assert_array_equal(given.kneighbors()[1], rows.kneighbors()[1])
    assert_allclose(given.predict(D[:20, 20:]), rows.predict(X[:20]), rtol=SUMMED)
    found = cross_val_score(cls(metric="precomputed"), D, target)
    assert_allclose(found, cross_val_score(cls(), X, target), rtol=SUMMED)
    ours = risk.cross_validate(cls(metric="precomputed"), D, target, cv=5, random_state=0)
    wanted = risk.cross_validate(cls(), X, target, cv=5, random_state=0)
    assert_allclose(ours.value, wanted.value, rtol=SUMMED)
    save(given, tmp_path / "model")
    assert_array_equal(load(tmp_path / "model").predict(None), given.predict(None))


def test_distances_that_are_none_are_refused():
    X, y, _ = data(n=20)
    D = pairwise_distances(X)
    learner = KNeighborsRegressor(metric="precomputed")
    with pytest.raises(DataError, match=r"X has shape \(20, 3\); .* a square array"):
        learner.fit(X, y)
    with pytest.raises(DataError, match="rows can be held out in folds only"):
        risk.holdout(learner, D, y)
    with pytest.raises(DataError, match="what a graph of neighbours leaves out is far away"):
        learner.fit(csr_array(D), y)
    with pytest.raises(DataError, match="X has negative numbers"):
        learner.fit(D, y).predict(-D)
