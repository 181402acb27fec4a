"""Nearest neighbours: what they say beside a naive twin, scikit-learn, and their own laws."""

from copy import deepcopy

import numpy as np
import pytest
import sklearn.neighbors as peers
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.model_selection import GridSearchCV, KFold, LeaveOneOut
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from empirisk import (
    Encoder,
    KNeighborsClassifier,
    KNeighborsRegressor,
    Ridge,
    Tuned,
    draw_voronoi,
    risk,
    select,
)
from empirisk.runtime.errors import DataError, ParameterError
from empirisk.selection.candidates import settled


def data(n=150, p=3, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p)) * [1.0, 5.0, 0.2][:p]
    y = X[:, 0] + np.sin(X[:, 1]) + 0.3 * rng.normal(size=n)
    return X, y, np.digitize(y, [-0.7, 0.7])


def naive_shares(X, weight, x, k, weights):
    """The share of each row: copies are taken nearest first until there are k."""
    distance = np.sqrt(((X - x) ** 2).sum(axis=1))
    share, left = np.zeros(len(X)), float(k)
    for i in np.argsort(distance, kind="stable"):
        share[i] = min(weight[i], left)
        left -= share[i]
    if weights == "distance":
        zero = (distance == 0) & (share > 0)
        share[share > 0] /= 1.0 if zero.any() else distance[share > 0]
        share = share * zero if zero.any() else share
    return share / share.sum()


@pytest.mark.parametrize("weights", ["uniform", "distance"])
@pytest.mark.parametrize("kind", ["none", "counts", "fractions"])
def test_neighbours_say_what_the_naive_twin_says(weights, kind):
    X, y, labels = data()
    rng = np.random.default_rng(1)
    weight = {
        "none": np.ones(150),
        "counts": rng.integers(0, 4, 150).astype(float),
        "fractions": rng.uniform(0.05, 2, 150),
    }[kind]
    points = np.concatenate([X[:20], rng.normal(size=(20, 3))])
    regressor = KNeighborsRegressor(7, weights=weights).fit(X, y, sample_weight=weight)
    classifier = KNeighborsClassifier(7, weights=weights).fit(X, labels, sample_weight=weight)
    shares = np.array([naive_shares(X, weight, x, 7, weights) for x in points])
    # Sums of seven terms or so in another order.
    assert_allclose(regressor.predict(points), shares @ y, rtol=1e-12)
    found = regressor.conditional_weights(points)
    assert_allclose(found.toarray(), shares[:, weight > 0], atol=1e-14)
    assert_allclose(found @ regressor.y_train_, regressor.predict(points), rtol=1e-12)
    one_hot = labels[:, None] == np.arange(3)
    assert_allclose(classifier.predict_proba(points), shares @ one_hot, atol=1e-14)
    assert_allclose(
        classifier.conditional_weights(points) @ (classifier.y_train_[:, None] == np.arange(3)),
        classifier.predict_proba(points),
        atol=1e-14,
    )


@pytest.mark.parametrize(
    "how",
    [
        {},
        {"weights": "distance"},
        {"weights": lambda distance: np.exp(-distance)},
        {"weights": lambda distance: 1 - distance / (2 * distance[:, -1:])},  # goes by k
        {"p": 1},
        {"p": 1.5, "weights": "distance"},
        {"metric": "chebyshev", "algorithm": "kd_tree"},
        {"metric": "minkowski", "p": 3, "metric_params": {"w": [1.0, 0.2, 3.0]}},
    ],
)
def test_predictions_are_those_of_scikit_learn(how):
    X, y, labels = data()
    points = data(seed=1)[0]
    own = {**how, "algorithm": "auto"}
    for ours, theirs, target in (
        (KNeighborsClassifier, peers.KNeighborsClassifier, labels),
        (KNeighborsRegressor, peers.KNeighborsRegressor, y),
    ):
        one = ours(6, **deepcopy(own)).fit(X, target)
        other = theirs(6, **deepcopy(how)).fit(X, target)  # writes into metric_params
        # Sums of six terms in another order.
        assert_allclose(one.predict(points), other.predict(points), rtol=1e-12)
        for ask in ((points,), ()):
            distances, rows = one.kneighbors(*ask)
            expected, places = other.kneighbors(*ask)
            assert_allclose(distances, expected, rtol=1e-12)
            assert_array_equal(rows, places)
        if target is labels:
            assert_allclose(one.predict_proba(points), other.predict_proba(points), atol=1e-14)


def test_standardize_is_a_scaler_before_it():
    X, y, _ = data()
    points = data(seed=1)[0]
    peer = make_pipeline(StandardScaler(), peers.KNeighborsRegressor(4)).fit(X, y)
    model = KNeighborsRegressor(4, standardize=True).fit(X, y)
    assert_allclose(model.predict(points), peer.predict(points), rtol=1e-12)
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


def test_estimated_mahalanobis_counts_copies_and_ignores_units():
    X, y, _ = data()
    weight = np.random.default_rng(1).integers(0, 4, len(y))
    copies = np.repeat(np.arange(len(y)), weight)
    model = KNeighborsRegressor(4, metric="mahalanobis")
    one = model.fit(X, y, sample_weight=weight).predict(X)
    assert_allclose(model.fit(X[copies], y[copies]).predict(X), one, rtol=1e-9)
    mix = np.array([[2.0, 1.0, 0.0], [0.0, 3.0, 5.0], [1.0, 0.0, 1.0]])
    assert_allclose(model.fit(X[copies] @ mix, y[copies]).predict(X @ mix), one, rtol=1e-9)


def test_of_rows_at_one_distance_the_earlier_count():
    X, y = [[0.0], [2.0], [2.0], [0.0]], [1.0, 2.0, 3.0, 4.0]
    for algorithm in ("kd_tree", "brute"):
        model = KNeighborsRegressor(3, algorithm=algorithm).fit(X, y)
        assert_array_equal(model.kneighbors([[1.0]], return_distance=False), [[0, 1, 2]])
        assert model.predict([[1.0]]) == [2.0]
    classifier = KNeighborsClassifier(2).fit([[0.0], [1.0]], ["b", "a"])
    assert classifier.predict([[0.2]]) == ["a"]  # of classes with the same share the first


def test_the_same_scores_as_grid_search_for_all_k():
    X, y, labels = data()
    folds = KFold(5, shuffle=True, random_state=0)
    values = list(range(1, 41))
    for ours, theirs, target, scoring in (
        (KNeighborsRegressor(), peers.KNeighborsRegressor(), y, "neg_mean_squared_error"),
        (KNeighborsClassifier(), peers.KNeighborsClassifier(), labels, "accuracy"),
    ):
        tuned = Tuned(ours, values=values, cv=folds).fit(X, target)
        search = GridSearchCV(theirs, {"n_neighbors": values}, scoring=scoring, cv=folds)
        scores = search.fit(X, target).cv_results_["mean_test_score"]
        expected = -scores if target is y else 1 - scores
        # Folds of equal size; sums of up to 40 terms in another order.
        assert_allclose(tuned.path_.risk, expected, rtol=1e-12, atol=1e-12)
        assert tuned.best_estimator_.n_neighbors == tuned.best_value_


@pytest.mark.parametrize("how", [{}, {"standardize": True}, {"weights": "distance", "p": 1}])
@pytest.mark.parametrize("cv", [LeaveOneOut(), KFold(4)])
def test_a_plan_is_answered_as_a_whole(how, cv):
    X, y, _ = data(60)
    learner = KNeighborsRegressor(**how)
    problem = risk.Problem.of(learner, X, y)
    values = [1, 2, 10, 45, 7, 59]  # beyond the rows of a training part all of them count
    one = risk.out_of_fold(learner, problem, problem.plan(cv), values=values)
    other = risk.out_of_fold(learner, problem, problem.plan(cv), values=values, rung="generic")
    assert (one.rung, other.rung) == ("plan", "generic")
    assert_array_equal(one.losses, other.losses)


def test_splits_that_are_no_partition_are_fitted_one_by_one():
    X, y, _ = data(40)
    found = risk.out_of_fold(
        KNeighborsRegressor(),
        risk.Problem.of(KNeighborsRegressor(), X, y),
        risk.Problem.of(KNeighborsRegressor(), X, y).plan([(np.arange(30), np.arange(30, 40))]),
        values=[1, 2],
    )
    assert found.rung == "path"
    assert "complements" in found.why


def test_quantiles_invert_the_distribution_function():
    X, y, _ = data()
    model = KNeighborsRegressor(10, weights="distance").fit(X, y)
    points = data(30, seed=1)[0]
    levels = np.array([0.0, 0.1, 0.25, 0.5, 0.9, 1.0])
    found = model.predict_quantile(points, levels)
    assert found.shape == (30, 6)
    assert (np.diff(found, axis=1) >= 0).all()
    weights = model.conditional_weights(points).toarray()
    for i in range(30):
        at = np.array([(weights[i] * (y <= t)).sum() for t in found[i]])
        below = np.array([(weights[i] * (y < t)).sum() for t in found[i]])
        assert (at >= levels - 1e-12).all()  # sums of ten shares
        assert (below <= levels + 1e-12).all()
        assert_allclose(model.predict_cdf(points[i : i + 1], found[i])[0], at, atol=1e-14)
    assert_array_equal(model.predict_quantile(points), found[:, 3])
    assert_array_equal(model.predict_cdf(points, [-np.inf, np.inf]), [[0.0, 1.0]] * 30)
    median = KNeighborsRegressor(3).fit([[0], [1], [2]], [5.0, 1.0, 3.0])
    assert median.predict_quantile([[1]], 0.5) == [3.0]
    with pytest.raises(ParameterError, match="from 0 to 1"):
        model.predict_quantile(points, 1.5)
    with pytest.raises(DataError, match="number"):
        model.predict_cdf(points, np.nan)


def test_nothing_that_a_function_gives_is_nan():
    X, y, _ = data(40)
    model = KNeighborsRegressor(4, weights=lambda distance: 0 * distance).fit(X, y)
    assert_allclose(model.predict(X), KNeighborsRegressor(4).fit(X, y).predict(X), rtol=1e-14)
    bad = KNeighborsRegressor(4, weights=lambda distance: -distance).fit(X, y)
    with pytest.raises(ParameterError, match="finite numbers >= 0"):
        bad.predict(X)


def test_points_far_away_are_predicted():
    X, y, labels = data(300)
    far = np.array([[1e300, 0.0, 0.0], [-1e18, 1e18, 0.0]])
    for algorithm in ("kd_tree", "brute"):
        for weights in ("uniform", "distance"):
            how = {"algorithm": algorithm, "weights": weights}
            assert np.isfinite(KNeighborsRegressor(**how).fit(X, y).predict(far)).all()
            many = np.repeat(far, 20, axis=0)
            shares = KNeighborsClassifier(**how).fit(X, labels).predict_proba(many)
            assert_allclose(shares.sum(axis=1), 1.0, rtol=1e-14)


def test_means_of_the_largest_numbers_are_finite():
    X, largest = np.arange(20.0)[:, None], np.finfo(np.float64).max
    model = KNeighborsRegressor(6, weights="distance")
    # Means of six terms.
    assert_allclose(model.fit(X, np.full(20, largest)).predict(X + 0.3), largest, rtol=1e-15)
    halves = model.fit(X, np.where(X[:, 0] < 10, -largest, largest)).predict([[9.5], [2.5]])
    assert_allclose(halves, [0.0, -largest], rtol=1e-15)


@pytest.mark.parametrize(
    ("how", "words"),
    [
        ({"n_neighbors": 0}, "n_neighbors is 0"),
        ({"n_neighbors": 2.5}, "n_neighbors is 2.5"),
        ({"weights": "near"}, "'uniform', 'distance'"),
        ({"algorithm": "octree"}, "kd_tree"),
        ({"leaf_size": 0}, "leaf_size is 0"),
        ({"metric": "cosine"}, "mahalanobis"),
        ({"p": 0.5}, "p is 0.5"),
        ({"metric_params": {"V": np.eye(3)}}, "metric_params"),
        ({"metric": "mahalanobis", "metric_params": {"V": np.eye(2)}}, "symmetric matrix"),
        ({"metric": "mahalanobis", "metric_params": {"V": -np.eye(3)}}, "positive definite"),
        ({"metric_params": {"w": [1.0]}}, "a weight for each column"),
    ],
)
def test_settings_are_checked(how, words):
    X, y, _ = data(20)
    with pytest.raises(ParameterError, match=words):
        KNeighborsRegressor(**how).fit(X, y)


def test_too_many_neighbours_are_all_rows_or_refused():
    X, y, _ = data(10)
    model = KNeighborsRegressor(50).fit(X, y)
    assert_allclose(model.predict(X), y.mean(), rtol=1e-14)
    with pytest.raises(ParameterError, match="n_neighbors <= n_samples_fit"):
        model.kneighbors(X)


def test_the_grid_counts_copies_and_is_not_long():
    X, y, _ = data(100)
    learner = KNeighborsRegressor()
    assert list(learner.axis_values(X, y, np.ones(100), n_train=90)) == list(range(1, 19))
    assert list(learner.axis_values(X, y, np.full(100, 4.0), n_train=90)) == list(range(1, 38))
    for n in (10**4, 10**6):
        values = learner.axis_values(X, y, np.ones(100), n_train=n)
        values = learner.axis_values(X, y, np.full(100, n / 100), n_train=100)
        assert 50 <= len(values) <= 100
        assert (values[0], values[-1]) == (1, int(2 * np.sqrt(n)))
        assert (np.diff(values) > 0).all()


def test_the_voronoi_picture_has_a_cell_for_each_place():
    X, y, labels = data(40, 2)
    X[7] = X[3]
    for model in (
        KNeighborsClassifier(1, standardize=True).fit(X, labels),
        KNeighborsRegressor(1, metric="mahalanobis").fit(X, y),
    ):
        ax = draw_voronoi(model)
        cells = ax.collections[0].get_paths()
        assert len(cells) == 39
        points = np.random.default_rng(0).normal(size=(50, 2)) * [1.0, 5.0]
        rows = model.kneighbors(points, 1, return_distance=False)[:, 0]
        for point, row in zip(points, rows, strict=True):
            inside = [cell.contains_point(point) for cell in cells]
            own = [cell.contains_point(X[row]) for cell in cells]
            assert inside == own
    ax = risk.draw_decision_boundary(KNeighborsClassifier(5).fit(X, labels), X, labels)
    assert len(ax.get_legend().get_texts()) == 3
    with pytest.raises(ParameterError, match="polygons"):
        draw_voronoi(KNeighborsClassifier(p=1).fit(X, labels))
    with pytest.raises(DataError, match="two features"):
        draw_voronoi(KNeighborsClassifier().fit(data()[0], data()[2]))


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
    np.testing.assert_allclose(far[0], near[0], rtol=1e-12)


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
            assert_allclose(found / scale, expected, rtol=1e-12)
        for scale in (1.0, 1e-200):
            away, _ = model.fit(X * scale, y).kneighbors(np.full((40, X.shape[1]), 1e160))
            assert_allclose(away / 1e160, X.shape[1] ** (1 / power), rtol=1e-14)


def test_rows_that_differ_by_less_than_can_be_squared():
    X = np.column_stack([np.arange(30.0) * 1e-170, np.ones(30)])
    model = KNeighborsRegressor(2).fit(X, np.arange(30.0))
    assert_allclose(model.predict(X[:-1] + [4e-171, 0.0]), np.arange(29) + 0.5, rtol=1e-15)


@pytest.mark.parametrize(
    "how",
    [
        {"standardize": True},
        {"metric": "mahalanobis"},
        {"metric": "learned"},
        {"metric": "mahalanobis", "metric_params": {"V": np.eye(3)}},
        {"metric_params": {"w": [1.0, 2.0, 0.0]}},
        {"metric": "manhattan"},
    ],
    ids=str,
)
@pytest.mark.parametrize("far", [1e160, 1e250])
def test_seen_from_infinitely_far_away_the_first_rows_are_taken(how, far):
    """The points are more than 1e308 times as far away as the rows are from each other."""
    X, y, _ = data(60)
    X[:, 1] = 5.0
    points = np.array([[far, -far, far], [far, far, 0.0]])
    model = KNeighborsRegressor(3, **how).fit(X * 1e-200, y)
    distances, rows = model.kneighbors(points)
    assert_array_equal(rows, [[0, 1, 2]] * 2)
    assert_allclose(model.predict(points), y[:3].mean(), rtol=1e-15)
    if how.get("metric") == "manhattan":
        assert_allclose(distances, np.abs(points).sum(axis=1)[:, None] * np.ones(3), rtol=1e-15)
