"""The distances of nearest neighbours: standardised, estimated, given, and of any size."""

import numpy as np
import pytest
import sklearn.neighbors as peers
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from empirisk import (
    Encoder,
    KNeighborsClassifier,
    KNeighborsRegressor,
    Ridge,
    select,
)
from empirisk.runtime.errors import ParameterError
from empirisk.selection.candidates import settled
from neighbor_rows import data
from tolerances import LAST_BITS, SUMMED


def test_standardize_is_a_scaler_before_it():
    X, y, _ = data()
    points = data(seed=1)[0]
    peer = make_pipeline(StandardScaler(), peers.KNeighborsRegressor(4)).fit(X, y)
    model = KNeighborsRegressor(4, standardize=True).fit(X, y)
    assert_allclose(model.predict(points), peer.predict(points), rtol=SUMMED)
    other = KNeighborsRegressor(4, standardize=True).fit(X * [1e200, 1.0, 1e-150], y)
    assert_array_equal(other.predict(points * [1e200, 1.0, 1e-150]), model.predict(points))


@pytest.mark.parametrize("given", ["V", "VI", "estimated"])
def test_mahalanobis_is_that_of_scikit_learn(given):
    X, y, _ = data()
    points = data(seed=1)[0]
    V = np.cov(X.T, ddof=0)
    VI = np.linalg.inv(V)
    params = {"V": {"V": V}, "VI": {"VI": VI}, "estimated": None}[given]
    model = KNeighborsRegressor(4, metric="mahalanobis", metric_params=params).fit(X, y)
    peer = peers.NearestNeighbors(
        n_neighbors=4, algorithm="brute", metric="mahalanobis", metric_params={"VI": VI}
    ).fit(X)
    distances, rows = model.kneighbors(points)
    expected, places = peer.kneighbors(points)
    assert_allclose(distances, expected, rtol=1e-10)  # condition number of V about 1e3
    assert_array_equal(rows, places)


@pytest.mark.parametrize("given", ["V", "VI"])
def test_a_given_mahalanobis_distance_does_not_depend_on_the_units_of_columns(given):
    X, y, _ = data()
    points, units = data(seed=1)[0], np.array([1e9, 1.0, 1e-8])
    M = np.cov(X.T)
    M, of_units = (M, M * units * units[:, None])
    if given == "VI":
        M = np.linalg.inv(M)
        of_units = M / units / units[:, None]
    model = KNeighborsRegressor(4, metric="mahalanobis", metric_params={given: M}).fit(X, y)
    distances, rows = model.kneighbors(points)
    model.set_params(metric_params={given: of_units}).fit(X * units, y)
    found, same = model.kneighbors(points * units)
    assert_array_equal(same, rows)
    assert_allclose(found, distances, rtol=SUMMED)
    size = np.sqrt(np.diagonal(of_units))
    slanted, indefinite = of_units.copy(), of_units.copy()
    slanted[1, 2] += 0.1 * size[1] * size[2]
    indefinite[0, 2] = indefinite[2, 0] = 2 * size[0] * size[2]
    for wrong, message in ((indefinite, "positive definite"), (slanted, "symmetric")):
        with pytest.raises(ParameterError, match=message):
            model.set_params(metric_params={given: wrong}).fit(X * units, y)


def test_estimated_mahalanobis_counts_copies_and_ignores_units():
    X, y, _ = data()
    weight = np.random.default_rng(1).integers(0, 4, len(y))
    copies = np.repeat(np.arange(len(y)), weight)
    model = KNeighborsRegressor(4, metric="mahalanobis")
    one = model.fit(X, y, sample_weight=weight).predict(X)
    assert_allclose(model.fit(X[copies], y[copies]).predict(X), one, rtol=SUMMED)
    mix = np.array([[2.0, 1.0, 0.0], [0.0, 3.0, 5.0], [1.0, 0.0, 1.0]])
    assert_allclose(model.fit(X[copies] @ mix, y[copies]).predict(X @ mix), one, rtol=SUMMED)


def test_columns_are_standardised_among_candidates_unless_told_otherwise():
    X, _, labels = data()
    for given, expected in ((None, True), (False, False), (True, True)):
        learner = KNeighborsClassifier(standardize=given)
        chosen = select([learner, make_pipeline(Encoder(), learner)], X, labels, random_state=0)
        model = chosen.model[-1] if hasattr(chosen.model, "steps") else chosen.model
        if isinstance(model, KNeighborsClassifier):
            assert model.standardize is expected
        assert learner.standardize is given
    rivals = settled({"bare": KNeighborsRegressor(), "ridge": Ridge()})
    assert rivals["bare"].standardize is True
    assert settled({"bare": KNeighborsRegressor(standardize=False)})["bare"].standardize is False


@pytest.mark.parametrize(
    "how",
    [
        {"metric": "minkowski", "metric_params": {"w": [1.0, 2.0, 0.5]}},
        {"metric": "minkowski", "p": 3, "metric_params": {"w": [1.0, 2.0, 0.5]}},
        {"metric": "mahalanobis", "metric_params": {"V": np.diag([1.0, 2.0, 0.5]) + 0.3}},
        {"metric": "mahalanobis", "metric_params": {"VI": np.diag([1.0, 2.0, 0.5]) + 0.3}},
    ],
)
def test_given_metrics_of_extreme_or_far_rows_find_the_same_neighbours(how):
    rng = np.random.default_rng(5)
    X, y, T = rng.normal(size=(200, 3)), rng.normal(size=200), rng.normal(size=(30, 3))
    distances, rows = KNeighborsRegressor(4, **how).fit(X, y).kneighbors(T)
    for size in (1e200, 1e-200):
        model = KNeighborsRegressor(4, weights="distance", **how).fit(X * size, y)
        found, same = model.kneighbors(T * size)
        assert (same == rows).all()
        # a few roundings, of powers too
        np.testing.assert_allclose(found / size, distances, rtol=1e-12)
        assert np.isfinite(model.predict(T * size)).all()
    X, T = np.rint(X * 2**20) / 2**20, np.rint(T * 2**20) / 2**20  # exact beside 1e9
    near = KNeighborsRegressor(4, **how).fit(X, y).kneighbors(T)
    far = KNeighborsRegressor(4, **how).fit(X + 1e9, y).kneighbors(T + 1e9)
    assert (near[1] == far[1]).all()
    np.testing.assert_allclose(far[0], near[0], rtol=SUMMED)


@pytest.mark.parametrize("how", [{"standardize": True}, {"metric": "mahalanobis"}])
def test_ties_of_whole_numbers_are_ties_when_the_metric_is_estimated(how):
    """Moments over copies are rounded otherwise than over weights; no tie may hang on that."""
    rng = np.random.default_rng(2)
    X, T = rng.integers(0, 6, (120, 2)) * 1.0, rng.integers(0, 6, (40, 2)) * 1.0
    y, weight = rng.normal(size=120), rng.integers(0, 4, 120)
    copies = np.repeat(np.arange(120), weight)
    for k in (1, 5, 40):
        weighted = KNeighborsRegressor(k, **how).fit(X, y, sample_weight=weight)
        copied = KNeighborsRegressor(k, **how).fit(X[copies], y[copies])
        # sums of at most 40 targets in one order: a few roundings
        np.testing.assert_allclose(weighted.predict(T), copied.predict(T), rtol=0, atol=1e-12)
    model = KNeighborsRegressor(40, **how).fit(X, y)
    distances, rows = model.kneighbors(T)
    same = distances[:, 1:] == distances[:, :-1]
    assert (rows[:, 1:] > rows[:, :-1])[same].all()
    # Rounding is 1e-15 of a distance, and no two others agree to nine digits.
    nearly = np.isclose(distances[:, 1:], distances[:, :-1], rtol=1e-9, atol=0)
    assert (same == nearly).all()


@pytest.mark.parametrize("algorithm", ["auto", "brute", "kd_tree"])
def test_distances_of_any_size_are_right(algorithm):
    """Where squares or higher powers of the differences overflow or vanish."""
    X, y, _ = data(200)
    points = np.random.default_rng(5).normal(size=(40, X.shape[1]))
    for power in (2, 3, 10, 300):
        model = KNeighborsRegressor(4, p=power, algorithm=algorithm)
        largest = np.abs(points[:, None] - X).max(axis=2)
        parts = np.abs(points[:, None] - X) / largest[:, :, None]
        all_distances = largest * (parts**power).sum(axis=2) ** (1 / power)
        expected = np.sort(all_distances, axis=1)[:, :4]
        for scale in (1e-200, 1e-40, 1.0, 1e40, 1e200):
            found, _ = model.fit(X * scale, y).kneighbors(points * scale)
            assert_allclose(found / scale, expected, rtol=SUMMED)
        for scale in (1.0, 1e-200):
            away, _ = model.fit(X * scale, y).kneighbors(np.full((40, X.shape[1]), 1e160))
            assert_allclose(away / 1e160, X.shape[1] ** (1 / power), rtol=LAST_BITS)


def test_rows_that_differ_by_less_than_can_be_squared():
    X = np.column_stack([np.arange(30.0) * 1e-170, np.ones(30)])
    model = KNeighborsRegressor(2).fit(X, np.arange(30.0))
    assert_allclose(model.predict(X[:-1] + [4e-171, 0.0]), np.arange(29) + 0.5, rtol=LAST_BITS)
