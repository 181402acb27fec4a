"""KMeans beside a plain Lloyd, scikit-learn, and what must hold of any start."""

import numpy as np
import pytest
import sklearn.cluster as peers
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import load_digits
from sklearn.exceptions import NotFittedError

from clumped_rows import IRIS, clumps
from empirisk import KMeans, StochasticKMeans, Tuned
from empirisk.learners.unsupervised.placed_rows import NUMBERS_TO_SHARE
from empirisk.losses import Reconstruction
from empirisk.risk.out_of_fold import out_of_fold
from empirisk.risk.problem import Problem
from empirisk.runtime.errors import ConvergenceWarning, DataError, ParameterError
from tolerances import LAST_BITS, SUMMED


def plain_lloyd(X, centres, weight=None, *, max_iter=300):
    """Every distance in every iteration, until no row moves; no cluster may become empty."""
    weight = np.ones(len(X)) if weight is None else weight
    labels, centres = None, centres.copy()
    for t in range(1, max_iter + 1):  # noqa: B007
        square = ((X[:, None] - centres) ** 2).sum(axis=2)
        before, labels = labels, square.argmin(axis=1)
        for k in range(len(centres)):
            centres[k] = np.average(X[labels == k], axis=0, weights=weight[labels == k])
        if before is not None and (before == labels).all():
            break
    return labels, centres, t


SHAPES = [
    (3000, 2, 25, 4.0),
    (3000, 2, 25, 0.0),
    (1500, 7, 9, 1.0),
    (700, 20, 50, 0.5),
    (900, 1, 6, 3.0),
    (5000, 3, 4, 2.0),  # several blocks
]


@pytest.mark.parametrize(("n", "p", "k", "apart"), SHAPES)
@pytest.mark.parametrize("weighted", [False, True])
def test_bounds_change_no_label_of_plain_lloyd(n, p, k, apart, weighted):
    X = clumps(n, p, k, apart=apart)
    rng = np.random.default_rng(0)
    weight = rng.uniform(0.1, 3.0, size=n) if weighted else np.ones(n)
    start = X[np.random.default_rng(1).permutation(n)[:k]]
    labels, centres, n_iter = plain_lloyd(X, start, weight)
    model = KMeans(k, init=start, criterion="stability").fit(X, sample_weight=weight)
    assert_array_equal(model.labels_, labels)
    assert_allclose(model.cluster_centers_, centres, rtol=1e-12, atol=1e-12)  # sums in other orders
    assert model.n_iter_ == n_iter


@pytest.mark.parametrize("tol", [1e-4, 1e-2, 0.0])
def test_from_the_same_start_it_is_scikit_learns(tol):
    X = load_digits().data
    start = X[np.random.default_rng(0).permutation(len(X))[:10]]
    ours = KMeans(10, init=start, tol=tol).fit(X)
    peer = peers.KMeans(10, init=start, n_init=1, tol=tol).fit(X)
    assert_array_equal(ours.labels_, peer.labels_)
    assert ours.n_iter_ == peer.n_iter_
    assert ours.inertia_ == pytest.approx(peer.inertia_, rel=SUMMED)
    assert_allclose(ours.transform(X[:50]), peer.transform(X[:50]), rtol=1e-9)  # theirs cancels
    assert_array_equal(ours.predict(X), peer.predict(X))
    assert ours.score(X) == pytest.approx(peer.score(X), rel=SUMMED)
    assert list(ours.get_feature_names_out()) == list(peer.get_feature_names_out())


def test_max_iter_is_as_in_scikit_learn():
    X = clumps(2000, 4, 8, apart=1.0)
    ours = KMeans(8, init=X[:8], max_iter=3).fit(X)
    peer = peers.KMeans(8, init=X[:8], n_init=1, max_iter=3).fit(X)
    assert (ours.n_iter_, ours.converged_) == (3, False)
    assert_array_equal(ours.labels_, peer.labels_)
    assert_allclose(ours.cluster_centers_, peer.cluster_centers_, rtol=SUMMED)


def test_criteria_stop_one_after_the_other():
    X = clumps(4000, 5, 20, apart=0.5)
    start = {"init": X[:20], "keep_steps": True}
    stable = KMeans(20, criterion="stability", **start).fit(X)
    share = KMeans(20, criterion="unchanged", tol=0.02, **start).fit(X)
    movement = KMeans(20, tol=1e-2, **start).fit(X)
    assert max(share.n_iter_, movement.n_iter_) < stable.n_iter_
    assert stable.trajectory_.moved[-1] == 0
    assert share.trajectory_.moved[-1] <= 0.02 < share.trajectory_.moved[-2]
    centres = movement.trajectory_.centers
    moves = ((centres[1:] - centres[:-1]) ** 2).sum(axis=(1, 2))
    assert (moves > 1e-2 * X.var(axis=0).mean()).all()  # the last move is after the last centres
    for model in (stable, share, movement):  # all go the same way
        n = model.n_iter_
        assert_array_equal(model.trajectory_.assigned, stable.trajectory_.assigned[:n])


def test_weights_are_copies_from_a_given_start_and_from_a_drawn_one():
    X = clumps(400, 3, 5, apart=2.0)
    weight = np.random.default_rng(0).integers(0, 4, size=400)
    copies = np.repeat(np.arange(400), weight)
    for init in (X[:5], "k-means++"):
        weighted = KMeans(5, init=init, n_init=3, random_state=0).fit(X, sample_weight=weight)
        repeated = KMeans(5, init=init, n_init=3, random_state=0).fit(X[copies])
        assert_allclose(weighted.cluster_centers_, repeated.cluster_centers_, rtol=SUMMED)
        assert weighted.inertia_ == pytest.approx(repeated.inertia_, rel=SUMMED)
        assert_array_equal(weighted.labels_[copies], repeated.labels_)
        assert_array_equal(weighted.labels_, weighted.predict(X))  # rows of weight 0 too


def test_rows_are_drawn_in_proportion_to_their_weights():
    """A random row, drawn 1000 times: all four counts are within 4.5 deviations of their means
    but for one choice of seeds in 30,000."""
    weight = np.array([1.0, 2.0, 3.0, 4.0])
    X = np.arange(4.0)[:, None] ** 3
    draws = [
        KMeans(1, init="random", n_init=1, max_iter=1, random_state=seed, keep_steps=True)
        .fit(X, sample_weight=weight)
        .trajectory_.centers[0, 0, 0]
        for seed in range(1000)
    ]
    counts = np.array([(np.rint(draws) == x).sum() for x in X[:, 0]])
    share = weight / 10
    assert counts.sum() == 1000
    assert (np.abs(counts - 1000 * share) < 4.5 * np.sqrt(1000 * share * (1 - share))).all()


def test_an_empty_cluster_goes_to_the_row_furthest_from_its_centre():
    X = np.array([[0.0], [1.0], [2.0], [10.0], [11.0], [30.0]])
    # The third centre gets no row; 30 is furthest from the mean of its cluster, (10 + 11 + 30) / 3.
    model = KMeans(3, init=[[1.0], [12.0], [500.0]], criterion="stability", keep_steps=True).fit(X)
    assert_allclose(model.trajectory_.centers[1], [[1.0], [17.0], [30.0]], rtol=SUMMED)
    assert_array_equal(model.labels_, [0, 0, 0, 1, 1, 2])
    two = KMeans(4, init=[[1.0], [12.0], [500.0], [600.0]], criterion="stability", keep_steps=True)
    # Then, with a centre on 30, the next one is 10, at distance 7 of 17.
    assert_allclose(two.fit(X).trajectory_.centers[1], [[1.0], [17.0], [30.0], [10.0]], rtol=SUMMED)


def test_fewer_different_rows_than_clusters_are_named():
    X = np.repeat([[0.1, 0.7], [1.3, 1.1], [5.0, 0.3]], 7, axis=0)
    with pytest.warns(ConvergenceWarning, match="3 of n_clusters=5"):
        model = KMeans(5, random_state=0).fit(X)
    assert model.inertia_ == pytest.approx(0.0, abs=LAST_BITS**2)  # squared distances
    assert np.isfinite(model.cluster_centers_).all()


@pytest.mark.parametrize(
    ("init", "covariance"),
    [("k-means++", None), ("random", None), ("random_partition", None), ("k-means++", "pooled")],
)
def test_the_same_bits_for_every_n_jobs(init, covariance):
    X = clumps(14_000, 10, 6, apart=1.0)
    assert X.size >= NUMBERS_TO_SHARE  # otherwise one thread does all
    for n_init, rows in ((1, X), (3, X), (10, X[:300])):
        settings = {"init": init, "n_init": n_init, "covariance": covariance, "random_state": 0}
        one, two = (KMeans(6, **settings, max_iter=20, n_jobs=n).fit(rows) for n in (1, 2))
        assert_array_equal(one.cluster_centers_, two.cluster_centers_)
        assert_array_equal(one.labels_, two.labels_)
        assert one.inertia_ == two.inertia_
        assert_array_equal(one.transform(X), two.transform(X))


@pytest.mark.parametrize("factor", [1e200, 1e-200])
def test_units_are_not_felt(factor):
    one = KMeans(3, n_init=3, random_state=0).fit(IRIS)
    other = KMeans(3, n_init=3, random_state=0).fit(IRIS * factor)
    assert_array_equal(other.labels_, one.labels_)
    assert_allclose(other.cluster_centers_ / factor, one.cluster_centers_, rtol=SUMMED)
    assert_allclose(other.transform(IRIS * factor) / factor, one.transform(IRIS), rtol=SUMMED)
    assert_array_equal(other.predict(IRIS * factor), one.labels_)


def test_an_offset_is_not_felt():
    one = KMeans(3, n_init=3, random_state=0).fit(IRIS)
    other = KMeans(3, n_init=3, random_state=0).fit(IRIS + 1e9)
    assert_array_equal(other.labels_, one.labels_)
    assert other.inertia_ == pytest.approx(one.inertia_, rel=1e-6)  # IRIS + 1e9 has 7 digits left
    assert_array_equal(other.predict(IRIS + 1e9), one.labels_)


def test_a_row_far_away_takes_nobodys_precision():
    """Single precision cannot tell these apart next to 1e12; double precision does."""
    X = np.append(np.repeat([[0.0], [1.0], [2.0]], 30, axis=0), [[1e12]], axis=0)
    X[:90] += 1e-3 * np.random.default_rng(0).normal(size=(90, 1))
    model = KMeans(4, n_init=5, random_state=0).fit(X)
    assert len(np.unique(model.labels_[:90])) == 3
    assert_array_equal(model.labels_[:90:30], model.predict([[0.0], [1.0], [2.0]]))


@pytest.mark.parametrize("value", [0.0, 1e300, 1e-300, 1e9])
def test_rows_that_are_all_one_have_no_sum_of_squares(value):
    model = KMeans(1).fit(np.full((9, 2), value))
    assert model.inertia_ == 0
    assert_array_equal(model.cluster_centers_, [[value, value]])
    assert_array_equal(model.trajectory_.updated, 0)


def test_centres_given_far_away_are_put_among_the_rows():
    far = np.array([[1e300] * 4, [0.0] * 4, [-1e300] * 4])
    for factor in (1.0, 1e-200):
        model = KMeans(3, init=far, criterion="stability").fit(IRIS * factor)
        assert len(np.unique(model.labels_)) == 3


@pytest.mark.parametrize("learner", [KMeans(n_init=2), StochasticKMeans()], ids=str)
def test_the_path_is_the_generic_loop(learner):
    """The same seed for each split: all losses are equal, bit by bit."""
    problem = Problem.of(learner, IRIS, None, loss=Reconstruction()).designed(learner)
    plan = problem.plan(4, random_state=0)
    path, loop = (
        out_of_fold(learner, problem, plan, values=[1, 3, 5], rung=rung, random_state=0)
        for rung in ("path", "generic")
    )
    assert (path.rung, loop.rung) == ("path", "generic")
    assert_array_equal(path.losses, loop.losses)


@pytest.mark.filterwarnings("ignore:.* clusters have rows")
@pytest.mark.parametrize("seed", [0, 1, 3])
def test_rounding_of_a_mean_of_thousands_does_not_fill_empty_clusters(seed):
    X = np.random.default_rng(seed).choice([0.0, 1.0, 3.0], 3000)[:, np.newaxis]
    model = KMeans(n_clusters=5, n_init=1, max_iter=50, random_state=0).fit(X)
    assert model.converged_
    assert model.n_iter_ < 5


@pytest.mark.filterwarnings("ignore:.* clusters have rows")
def test_the_default_grid_is_one_that_folds_have_rows_for():
    for X in (IRIS[:6], np.repeat(IRIS[[0, 60, 120]], 4, axis=0)):
        assert Tuned(KMeans(random_state=0)).fit(X).best_value_ >= 2


def test_codes_and_centroids():
    model = KMeans(4, random_state=0).fit(IRIS)
    code = model.encode(IRIS)
    assert code.dtype == np.int32
    assert_array_equal(model.decode(code), model.reconstruct(IRIS))
    for wrong in ([4], [-1], [0.5], [[0]]):
        with pytest.raises(DataError, match=r"0\.\.3"):
            model.decode(wrong)
    with pytest.raises(NotFittedError):
        KMeans(4).decode(code)


def test_tuned_chooses_by_rows_held_out():
    X = clumps(300, 2, 4, apart=8.0, seed=3)
    tuned = Tuned(KMeans(n_init=3, random_state=0), values=[1, 2, 3, 4, 5, 6], cv=5, rule="one_se")
    tuned.fit(X)
    assert tuned.best_value_ >= 4
    risk = tuned.path_.risk
    assert risk[0] > 5 * risk[3] > 0
    assert KMeans(4, random_state=0).reconstruction_risk(X, cv=5).value > 0


def test_pictures_of_steps():
    model = KMeans(3, init=IRIS[:3], keep_steps=True).fit(IRIS)
    ax = model.trajectory_.plot()
    assert len(ax.lines) == 3
    figure = model.trajectory_.plot_steps(IRIS, most=4)
    assert len(figure.axes) == 4
    assert figure.axes[0].get_title().startswith("iteration 1: W = ")
    assert figure.axes[-1].get_title().startswith(f"iteration {model.n_iter_}: ")
    for settings in ({"covariance": "pooled"}, {"n_init": 3}):
        model = KMeans(3, keep_steps=True, random_state=0, **settings).fit(IRIS * 1e200)
        last = model.trajectory_.plot_steps(IRIS * 1e200).axes[-1].collections[0]
        assert_array_equal(last.get_array(), model.labels_)
    with pytest.raises(DataError, match="keep_steps"):
        KMeans(3).fit(IRIS).trajectory_.plot_steps(IRIS)
    with pytest.raises(DataError, match="fitted to 4"):
        model.trajectory_.plot_steps(IRIS[:, :2])
    with pytest.raises(DataError, match="one column"):
        KMeans(3, keep_steps=True).fit(IRIS[:, :1]).trajectory_.plot_steps(IRIS[:, :1])


WRONG = [
    ({"n_clusters": 0}, "n_clusters"),
    ({"n_clusters": 151}, "n_samples=150 should be >= n_clusters=151"),
    ({"n_init": 0}, "n_init"),
    ({"max_iter": 0}, "max_iter"),
    ({"tol": -1.0}, "tol"),
    ({"algorithm": "full"}, "algorithm"),
    ({"criterion": "change"}, "criterion"),
    ({"init": "k-means"}, "init"),
    ({"init": np.zeros((2, 4))}, "init has shape"),
    ({"covariance": "full"}, "covariance"),
    ({"covariance": np.eye(3)}, "covariance has shape"),
    ({"covariance": 1e-200 * np.triu(np.ones((4, 4)))}, "symmetric"),
    ({"covariance": np.full((4, 4), np.nan)}, "NaN"),
    ({"covariance": -np.eye(4)}, "covariance is .*not positive definite"),
    ({"keep_steps": "no"}, "keep_steps"),
]


@pytest.mark.parametrize(("settings", "named"), WRONG, ids=lambda x: str(x)[:30])
def test_wrong_parameters_are_named(settings, named):
    with pytest.raises(ParameterError, match=named):
        KMeans(**settings).fit(IRIS)


def test_verbose_speaks_on_stderr(capsys):
    KMeans(3, n_init=2, verbose=1, random_state=0).fit(IRIS)
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.count("iterations") == 2
