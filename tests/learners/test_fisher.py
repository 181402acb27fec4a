"""Fisher's coordinates, shrinkage by the data, and the pictures of Gaussian classes."""

import numpy as np
import pandas as pd
import pytest
import sklearn.discriminant_analysis as peers
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.covariance import ledoit_wolf, oas
from sklearn.linear_model import Ridge

from empirisk import (
    LinearDiscriminantAnalysis,
    QuadraticDiscriminantAnalysis,
    RegularizedDiscriminantAnalysis,
    Tuned,
    draw_fisher_coordinates,
    draw_gaussian_classes,
    risk,
)
from empirisk.runtime.errors import DataError, EmpiriskWarning, ParameterError, RankWarning
from tolerances import LAST_BITS, SOLVED, SUMMED


def sample(n=120, p=5, n_classes=4, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.arange(n) % n_classes)
    mix = np.eye(p) + 0.3 * rng.normal(size=(p, p))
    return rng.normal(size=(n, p)) @ mix + 2 * rng.normal(size=(n_classes, p))[y], y


def same_up_to_sign(one, other, **tolerance):
    assert_allclose(one * np.sign((one * other).sum(axis=0)), other, **tolerance)


@pytest.mark.parametrize("n_classes", [2, 3, 4])
@pytest.mark.parametrize("priors", [False, True])
def test_coordinates_are_those_of_scikit_learn(n_classes, priors):
    X, y = sample(n_classes=n_classes)
    priors = np.arange(1, n_classes + 1) / np.arange(1, n_classes + 1).sum() if priors else None
    ours = LinearDiscriminantAnalysis(priors=priors).fit(X, y)
    twin = peers.LinearDiscriminantAnalysis(priors=priors).fit(X, y)
    # Separabilities differ by more than a tenth: nine digits of the directions.
    same_up_to_sign(ours.transform(X), twin.transform(X), rtol=1e-8, atol=1e-9)
    same_up_to_sign(ours.scalings_, twin.scalings_[:, : n_classes - 1], rtol=1e-8, atol=1e-9)
    assert_allclose(ours.explained_variance_ratio_, twin.explained_variance_ratio_, rtol=SUMMED)
    assert ours.transform(X).shape == (120, n_classes - 1)


def test_fewer_components_are_the_first_of_all():
    X, y = sample()
    every = LinearDiscriminantAnalysis().fit(X, y)
    two = LinearDiscriminantAnalysis(n_components=2).fit(X, y)
    assert_array_equal(two.transform(X), every.transform(X)[:, :2])
    assert_array_equal(two.separability_, every.separability_[:2])
    assert_array_equal(two.predict_proba(X), every.predict_proba(X))  # the rule uses all
    assert list(two.get_feature_names_out()) == [
        "lineardiscriminantanalysis0",
        "lineardiscriminantanalysis1",
    ]
    frame = two.set_output(transform="pandas").transform(X)
    assert list(frame.columns) == list(two.get_feature_names_out())


@pytest.mark.parametrize("n_components", [0, 4, 1.5, True, "all"])
def test_a_wrong_number_of_components_is_refused(n_components):
    X, y = sample()
    with pytest.raises(ParameterError, match="n_components"):
        LinearDiscriminantAnalysis(n_components=n_components).fit(X, y)


@pytest.mark.parametrize("shrinkage", [None, 0.3, "auto"])
def test_the_last_class_lies_on_the_positive_side(shrinkage):
    X, y = sample()
    lda = LinearDiscriminantAnalysis(shrinkage=shrinkage).fit(X, y)
    eigen = LinearDiscriminantAnalysis(shrinkage=shrinkage, solver="eigen").fit(X, y)
    assert (lda.transform(lda.means_[-1:]) >= 0).all()
    assert_allclose(lda.scalings_, eigen.scalings_, rtol=SUMMED, atol=SUMMED)


def test_class_means_on_a_line_have_one_coordinate():
    rng = np.random.default_rng(0)
    away = rng.normal(size=(20, 3))
    X = np.concatenate([k * np.array([1.0, 2.0, 0.0]) + np.r_[away, -away] for k in range(4)])
    lda = LinearDiscriminantAnalysis().fit(X, np.repeat(np.arange(4), 40))
    assert lda.scalings_.shape == (3, 1)


def test_classes_with_equal_means_have_a_coordinate_that_separates_nothing():
    away = np.random.default_rng(0).normal(size=(20, 3))
    X, y = np.concatenate([away, -away, 2 * away, -2 * away]), np.repeat([0, 1], 40)
    lda = LinearDiscriminantAnalysis().fit(X, y)
    assert_allclose(lda.separability_, 0, rtol=0, atol=LAST_BITS**2)  # squared distances
    assert np.isfinite(lda.transform(X)).all()


def test_a_singular_covariance_still_has_finite_coordinates():
    X, y = sample()
    with pytest.warns(RankWarning):
        lda = LinearDiscriminantAnalysis().fit(np.c_[X, X[:, 0], np.ones(120)], y)
    assert lda.rank_ == 5
    regular = LinearDiscriminantAnalysis().fit(X, y)
    assert regular.rank_ == 5
    # Condition numbers of about 10: 1e-12 seen.
    assert_allclose(lda.separability_, regular.separability_, rtol=1e-9)
    assert_allclose(
        lda.transform(np.c_[X, X[:, 0], np.ones(120)]), regular.transform(X), rtol=1e-9, atol=1e-10
    )


@pytest.mark.parametrize("power", [-200, 200])
def test_coordinates_do_not_depend_on_the_unit(power):
    X, y = sample()
    one = LinearDiscriminantAnalysis().fit(X, y)
    other = LinearDiscriminantAnalysis().fit(X * 10.0**power, y)
    assert_allclose(other.transform(X * 10.0**power), one.transform(X), rtol=SOLVED, atol=SOLVED)


def test_tuned_transforms_by_its_choice():
    X, y = sample()
    tuned = Tuned(LinearDiscriminantAnalysis(), values=[0.0, 0.1], cv=3)
    found = tuned.fit_transform(X, y)
    assert_array_equal(found, tuned.best_estimator_.transform(X))
    with pytest.raises(AttributeError):
        Tuned(QuadraticDiscriminantAnalysis()).fit_transform(X, y)


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("p", [1, 5, 40])
def test_ledoit_and_wolf_as_in_scikit_learn(n_classes, p):
    X, y = sample(p=p, n_classes=n_classes, n=60)
    X *= np.linspace(1, 100, p)
    ours = LinearDiscriminantAnalysis(shrinkage="auto", store_covariance=True).fit(X, y)
    twin = peers.LinearDiscriminantAnalysis("lsqr", "auto").fit(X, y)
    assert_allclose(ours.covariance_, twin.covariance_, rtol=SOLVED, atol=SUMMED)
    # Condition numbers up to 1e4 by the units of the columns, and log odds up to 1e2.
    assert_allclose(ours.predict_proba(X), twin.predict_proba(X), rtol=1e-7, atol=1e-9)


@pytest.mark.parametrize("how", ["auto", "oas"])
@pytest.mark.parametrize("p", [1, 5, 40])
def test_shrinkage_of_each_class_is_that_of_its_standardised_columns(how, p):
    X, y = sample(p=p, n_classes=3, n=60)
    lda = LinearDiscriminantAnalysis(shrinkage=how, store_covariance=True).fit(X, y)
    pooled = np.zeros((p, p))
    for k in range(3):
        own = X[y == k]
        scale = own.std(axis=0)
        covariance, share = (ledoit_wolf if how == "auto" else oas)(own / scale)
        # For one column scikit-learn's oas divides 0 by 0 on purpose; there is nothing to shrink.
        if p > 1:
            assert_allclose(lda.shrinkage_[k], share, rtol=SUMMED)
        pooled += np.outer(scale, scale) * covariance / 3
    assert_allclose(lda.covariance_, pooled, rtol=SOLVED)


@pytest.mark.parametrize("how", ["auto", "oas"])
def test_shrinkage_by_the_data_counts_a_weighted_row_as_copies(how):
    X, y = sample()
    weight = np.random.default_rng(1).integers(0, 4, len(y))
    copies = np.repeat(np.arange(len(y)), weight)
    one = LinearDiscriminantAnalysis(shrinkage=how).fit(X, y, weight)
    other = LinearDiscriminantAnalysis(shrinkage=how).fit(X[copies], y[copies])
    assert_allclose(one.shrinkage_, other.shrinkage_, rtol=SUMMED)
    assert_allclose(one.predict_proba(X), other.predict_proba(X), rtol=SUMMED, atol=SUMMED)
    tiny = LinearDiscriminantAnalysis(shrinkage=how).fit(X * 1e-200, y, weight)
    assert_allclose(tiny.shrinkage_, one.shrinkage_, rtol=SUMMED)


@pytest.mark.parametrize("how", ["auto", "oas"])
def test_shrinkage_by_the_data_from_blocks_has_the_same_bits(how):
    X, y = sample(n=9000)
    pieces = [(X[:10], y[:10]), (X[10:5000], y[10:5000]), (X[5000:], y[5000:])]
    whole = LinearDiscriminantAnalysis(shrinkage=how).fit(X, y)
    streamed = LinearDiscriminantAnalysis(shrinkage=how).fit_blocks(pieces)
    assert_array_equal(streamed.shrinkage_, whole.shrinkage_)
    assert_array_equal(streamed.predict_proba(X), whole.predict_proba(X))


def test_shrinkage_by_the_data_makes_more_columns_than_rows_regular():
    X, y = sample(n=24, p=40)
    for how in ("auto", "oas"):
        lda = LinearDiscriminantAnalysis(shrinkage=how).fit(X, y)  # without a warning
        assert ((lda.shrinkage_ > 0) & (lda.shrinkage_ <= 1)).all()
        assert np.isfinite(lda.predict_proba(X)).all()


def test_shrinkage_by_the_data_is_cross_validated_and_no_grid():
    X, y = sample()
    lda = LinearDiscriminantAnalysis(shrinkage="auto")
    problem = risk.Problem.of(lda, X, y, loss="log")
    plan = problem.plan(4)
    fast = risk.out_of_fold(lda, problem, plan)
    assert fast.rung == "path"
    assert "shrinkage of its own" in fast.why
    slow = risk.out_of_fold(lda, problem, plan, rung="generic")
    assert_allclose(fast.losses, slow.losses, rtol=SUMMED)
    with pytest.raises(ParameterError, match="number"):
        Tuned(lda, values=["auto", 0.1]).fit(X, y)


@pytest.mark.parametrize(
    "learner",
    [
        LinearDiscriminantAnalysis(),
        QuadraticDiscriminantAnalysis(),
        Tuned(RegularizedDiscriminantAnalysis(), values=[(0.5, 0.1)], cv=3),
    ],
    ids=str,
)
def test_ellipses_hold_their_share_of_the_class(learner):
    X, y = sample(p=2, n_classes=3)
    X = pd.DataFrame(X, columns=["width", "height"])
    model = learner.fit(X, y)
    ax = draw_gaussian_classes(model, X, y, share=0.8, resolution=20)
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("width", "height")
    ellipses = [line.get_xydata() for line in ax.lines if len(line.get_xdata()) > 10]
    assert len(ellipses) == 3
    model = getattr(model, "best_estimator_", model)
    covariance = model._densities.covariance
    for k, ellipse in enumerate(ellipses):
        away = ellipse - model.means_[k]
        inverse = np.linalg.inv(covariance if covariance.ndim == 2 else covariance[k])
        squared = np.einsum("ij,jl,il->i", away, inverse, away)
        assert_allclose(1 - np.exp(-squared / 2), 0.8, rtol=1e-9)  # chi-squared of 2 dimensions


def test_ellipses_are_refused_where_there_are_none():
    X, y = sample(p=2, n_classes=2)
    with pytest.raises(ParameterError, match="Ridge"):
        draw_gaussian_classes(Ridge().fit(X, y), X)
    with pytest.raises(ParameterError, match="share"):
        draw_gaussian_classes(LinearDiscriminantAnalysis().fit(X, y), X, share=1.0)
    wide, labels = sample()
    with pytest.raises(DataError, match="two features"):
        draw_gaussian_classes(LinearDiscriminantAnalysis().fit(wide, labels), wide)


@pytest.mark.parametrize("n_classes", [2, 4])
def test_coordinates_are_drawn_beside_principal_components(n_classes):
    X, y = sample(n_classes=n_classes)
    lda = LinearDiscriminantAnalysis().fit(X, y)
    figure = draw_fisher_coordinates(lda, X, y)
    fisher, principal = figure.axes
    shown = np.concatenate([points.get_offsets() for points in fisher.collections])
    order = np.argsort(y, kind="stable")
    assert_allclose(shown[:, 0], lda.transform(X)[order, 0], rtol=SUMMED)
    # Of what is shown: no two directions separate the classes better.
    of = [float(ax.get_title().split("= ")[1]) for ax in figure.axes]
    assert_allclose(of[0], lda.separability_[:2].sum(), rtol=1e-2)  # three digits are printed
    assert of[1] <= of[0]
    assert principal.get_xlabel() == "component 1"
    with pytest.raises(ParameterError, match="no Fisher coordinates"):
        draw_fisher_coordinates(QuadraticDiscriminantAnalysis().fit(X, y), X, y)
    with pytest.raises(DataError, match="does not know"):
        draw_fisher_coordinates(lda, X, y + 1)


def test_rows_without_coordinates_are_not_drawn_and_counted():
    X, y = sample(n_classes=4)
    lda = LinearDiscriminantAnalysis().fit(X, y)
    holes = X.copy()
    holes[::5, 1] = np.nan
    known = ~np.isnan(holes[:, 1])
    with pytest.warns(EmpiriskWarning, match=f"{(~known).sum()} of {len(X)} rows"):
        figure = draw_fisher_coordinates(lda, holes, y)
    wanted = draw_fisher_coordinates(lda, X[known], y[known])
    assert [ax.get_title() for ax in figure.axes] == [ax.get_title() for ax in wanted.axes]
    with pytest.raises(DataError, match="every row"):
        draw_fisher_coordinates(lda, X * np.nan, y)
