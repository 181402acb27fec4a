"""Nearest neighbours: what they say beside a naive twin, scikit-learn, and their own laws."""

import pickle
from copy import deepcopy

import numpy as np
import pytest
import sklearn.neighbors as peers
from numpy.testing import assert_allclose, assert_array_equal, assert_equal
from sklearn.model_selection import GridSearchCV, KFold, LeaveOneOut

from empirisk import (
    KNeighborsClassifier,
    KNeighborsRegressor,
    Tuned,
    draw_voronoi,
    risk,
)
from empirisk.runtime.errors import DataError, ParameterError
from neighbor_rows import data
from tolerances import LAST_BITS, SUMMED


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
    assert_allclose(found.toarray(), shares[:, weight > 0], rtol=0, atol=LAST_BITS)
    assert_allclose(found @ regressor.y_train_, regressor.predict(points), rtol=SUMMED)
    one_hot = labels[:, None] == np.arange(3)
    assert_allclose(classifier.predict_proba(points), shares @ one_hot, rtol=0, atol=LAST_BITS)
    assert_allclose(
        classifier.conditional_weights(points) @ (classifier.y_train_[:, None] == np.arange(3)),
        classifier.predict_proba(points),
        rtol=0,
        atol=LAST_BITS,
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
            assert_allclose(distances, expected, rtol=SUMMED)
            assert_array_equal(rows, places)
        if target is labels:
            assert_allclose(
                one.predict_proba(points), other.predict_proba(points), rtol=0, atol=LAST_BITS
            )


@pytest.mark.parametrize("mode", ["connectivity", "distance"])
def test_the_graph_of_neighbours_is_that_of_scikit_learn(mode):
    X, y, _ = data()
    ours, theirs = KNeighborsRegressor(3).fit(X, y), peers.KNeighborsRegressor(3).fit(X, y)
    for ask in [(), (X[:7],), (X[:7], 2)]:
        expected = theirs.kneighbors_graph(*ask, mode=mode).toarray()
        # distances of rows to themselves are zero here, and up to 1e-8 by dot products there
        assert_allclose(
            ours.kneighbors_graph(*ask, mode=mode).toarray(), expected, rtol=0, atol=1e-07
        )
    with pytest.raises(ParameterError, match="choose 'connectivity' or 'distance'"):
        ours.kneighbors_graph(mode="graph")


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
        assert_allclose(model.predict_cdf(points[i : i + 1], found[i])[0], at, rtol=LAST_BITS)
    assert_array_equal(model.predict_quantile(points), found[:, 3])
    assert_array_equal(model.predict_cdf(points, [-np.inf, np.inf]), [[0.0, 1.0]] * 30)
    median = KNeighborsRegressor(3).fit([[0], [1], [2]], [5.0, 1.0, 3.0])
    assert median.predict_quantile([[1]], 0.5) == [3.0]
    with pytest.raises(ParameterError, match="from 0 to 1"):
        model.predict_quantile(points, 1.5)
    with pytest.raises(DataError, match="number"):
        model.predict_cdf(points, np.nan)
    with pytest.raises(ParameterError, match="q is 'half'"):
        model.predict_quantile(points, "half")
    with pytest.raises(DataError, match="y is 'half'"):
        model.predict_cdf(points, "half")


def test_nothing_that_a_function_gives_is_nan():
    X, y, _ = data(40)
    model = KNeighborsRegressor(4, weights=lambda distance: 0 * distance).fit(X, y)
    assert_allclose(model.predict(X), KNeighborsRegressor(4).fit(X, y).predict(X), rtol=LAST_BITS)
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
            assert_allclose(shares.sum(axis=1), 1.0, rtol=LAST_BITS)


def test_means_of_the_largest_numbers_are_finite():
    X, largest = np.arange(20.0)[:, None], np.finfo(np.float64).max
    model = KNeighborsRegressor(6, weights="distance")
    # Means of six terms.
    assert_allclose(model.fit(X, np.full(20, largest)).predict(X + 0.3), largest, rtol=1e-15)
    halves = model.fit(X, np.where(X[:, 0] < 10, -largest, largest)).predict([[9.5], [2.5]])
    assert_allclose(halves, [0.0, -largest], rtol=LAST_BITS)


@pytest.mark.parametrize(
    ("how", "words"),
    [
        ({"n_neighbors": 0}, "n_neighbors is 0"),
        ({"n_neighbors": 2.5}, "n_neighbors is 2.5"),
        ({"weights": "near"}, "'uniform', 'distance'"),
        ({"algorithm": "octree"}, "kd_tree"),
        ({"leaf_size": 0}, "leaf_size is 0"),
        ({"metric": "cosinus"}, "mahalanobis"),
        ({"metric": ["euclidean"]}, "mahalanobis"),
        ({"p": 0.5}, "p is 0.5"),
        ({"metric_params": {"V": np.eye(3)}}, "metric_params"),
        ({"metric": "mahalanobis", "metric_params": {"V": np.eye(2)}}, "symmetric matrix"),
        ({"metric": "mahalanobis", "metric_params": {"V": -np.eye(3)}}, "positive definite"),
        ({"metric_params": {"w": [1.0]}}, "a weight for each column"),
        ({"metric_params": {"w": "balanced"}}, "'w'. is 'balanced'; give numbers"),
        ({"metric": "mahalanobis", "metric_params": {"V": "unit"}}, "'V'. is 'unit'; give numbers"),
        ({"standardize": "yes"}, "standardize is 'yes'"),
    ],
)
def test_settings_are_checked(how, words):
    X, y, _ = data(20)
    with pytest.raises(ParameterError, match=words):
        KNeighborsRegressor(**how).fit(X, y)


@pytest.mark.parametrize("new", [{"weights": "distance"}, {"n_neighbors": 2}, {"weights": np.exp}])
def test_parameters_that_are_changed_after_a_fit_hold_from_then_on(new):
    X, y, labels = data(40)
    for learner, target in ((KNeighborsRegressor, y), (KNeighborsClassifier, labels)):
        model = learner(5).fit(X, target)
        model.predict(X)
        model.set_params(**new)
        fitted = learner(**{"n_neighbors": 5, **new}).fit(X, target)
        for one in (model, pickle.loads(pickle.dumps(model))):
            assert_array_equal(one.predict(X + 0.1), fitted.predict(X + 0.1))
            shares = fitted.conditional_weights(X + 0.1).toarray()
            assert_array_equal(one.conditional_weights(X + 0.1).toarray(), shares)
        for wrong in ({"n_neighbors": 0}, {"weights": "near"}):
            with pytest.raises(ParameterError, match=next(iter(wrong))):
                learner(5).fit(X, target).set_params(**wrong).predict(X)


def test_weights_may_be_next_to_nothing():
    X, y, _ = data(40)
    model = KNeighborsRegressor(5).fit(X, y, sample_weight=np.full(40, 1e-310))
    # All rows together make no single copy; such weights have some 13 digits.
    assert_allclose(model.predict(X), y.mean(), rtol=0, atol=1e-10)


def test_too_many_neighbours_are_all_rows_or_refused():
    X, y, _ = data(10)
    model = KNeighborsRegressor(50).fit(X, y)
    assert_allclose(model.predict(X), y.mean(), rtol=LAST_BITS)
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
    for weight in (1e38, 1e305):  # more copies than integers count
        values = learner.axis_values(X, y, np.full(100, weight), n_train=90)
        assert (values[0], values[-1]) == (1, 2**53)
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
    assert_allclose(model.predict(points), y[:3].mean(), rtol=LAST_BITS)
    if how.get("metric") == "manhattan":
        assert_allclose(distances, np.abs(points).sum(axis=1)[:, None] * np.ones(3), rtol=LAST_BITS)


@pytest.mark.parametrize(
    "how",
    [
        {},
        {"p": 1},
        {"p": np.inf},
        {"p": 3},
        {"metric": "l2"},
        {"metric": "cityblock", "algorithm": "brute"},
        {"p": 2, "metric_params": {"w": [1.0, 0.2, 3.0]}},
        {"metric": "mahalanobis", "metric_params": {"VI": np.eye(3)}, "algorithm": "brute"},
    ],
)
def test_the_metric_is_told_as_in_scikit_learn(how):
    X, y, _ = data()
    ours = KNeighborsRegressor(weights=None, **deepcopy(how)).fit(X, y)
    theirs = peers.KNeighborsRegressor(weights=None, **deepcopy(how)).fit(X, y)
    assert ours.effective_metric_ == theirs.effective_metric_
    assert_equal(ours.effective_metric_params_, theirs.effective_metric_params_)
    assert_allclose(ours.predict(X[:9]), theirs.predict(X[:9]), rtol=1e-12)  # sums of five
