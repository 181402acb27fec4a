"""The interface of encoders and decoders, and the risk of what they lose."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.decomposition import PCA as Peer
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import KFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from empirisk import PCA, Tuned, compare, risk, select
from empirisk.learners.unsupervised.encoder_decoder import EncoderDecoderMixin
from empirisk.losses import Reconstruction, as_loss
from empirisk.risk.axis import Axis
from empirisk.risk.without_labels import FittedPath
from empirisk.runtime.errors import DataError, ParameterError, PlanError
from tolerances import SUMMED

X = np.random.default_rng(0).normal(size=(40, 5)) * [3, 2, 1, 1, 1] + 2


class Centroid(EncoderDecoderMixin, TransformerMixin, BaseEstimator):
    """The mean of the first columns, and of the others 0: a pair with a path of models."""

    axis = Axis(("columns",), larger="richer", scale="integer")

    def __init__(self, columns=1):
        self.columns = columns

    def fit(self, X, y=None):
        self.n_features_in_ = X.shape[1]
        self.point_ = np.where(np.arange(X.shape[1]) < self.columns, X.mean(axis=0), 0.0)
        return self

    def encode(self, X):
        return np.zeros(len(X), dtype=int)

    def decode(self, code):
        return self.point_[None].repeat(len(code), axis=0)

    def axis_values(self, X, y, sample_weight, *, n_train):
        return range(1, 6)

    def fit_path(self, X, y, sample_weight, values, *, n_classes=0):
        return FittedPath([Centroid(value).fit(X) for value in values])


def test_the_risk_is_the_mean_squared_distance_of_held_out_rows():
    cv = KFold(4, shuffle=True, random_state=0)
    found = PCA(2).reconstruction_risk(X, cv=cv)
    slow = np.empty(len(X))
    for train, test in cv.split(X):
        peer = Peer(2).fit(X[train])
        slow[test] = np.square(X[test] - peer.inverse_transform(peer.transform(X[test]))).sum(1)
    assert_allclose(found.value, slow.mean(), rtol=SUMMED)
    assert found.estimates == "the procedure at this n"
    assert found.interval[0] < found.value < found.interval[1]
    foreign = risk.cross_validate(Peer(2), X, None, cv=cv, loss="reconstruction")
    assert_allclose((found - foreign).value, 0, rtol=0, atol=SUMMED)


def test_along_the_axis_the_path_has_the_risk_of_each_value():
    path = PCA().reconstruction_path(X, [1, 3], cv=4)
    for k, value, training in zip((1, 3), path.risk, path.training_risk, strict=True):
        assert_allclose(value, PCA(k).reconstruction_risk(X, cv=4).value, rtol=SUMMED)
        pair = PCA(k).fit(X)
        assert_allclose(training, np.square(X - pair.reconstruct(X)).sum(1).mean(), rtol=SUMMED)
    assert path.chosen == 1


def test_a_fitted_pair_is_judged_on_new_rows():
    pair, new = PCA(2).fit(X[:20]), X[20:]
    found = risk.evaluate(pair, new, None, loss="reconstruction")
    assert found.estimates == "this model"
    assert_allclose(found.value, Reconstruction()(new, pair.reconstruct(new)).mean(), rtol=SUMMED)
    assert risk.evaluate(pair, new, None).loss == "entries"


def test_a_pair_without_a_shorter_way_has_a_path_of_models():
    tuned = Tuned(Centroid(), cv=4).fit(X)
    assert tuned.best_value_ == 5  # all means are 2
    assert_array_equal(tuned.reconstruct(X), tuned.best_estimator_.decode(tuned.encode(X)))
    with pytest.raises(ParameterError, match="'entries'"):
        Tuned(Centroid(), cv=4, loss="entries").fit(X)


def test_rivals_without_labels_are_compared_and_selected():
    rivals = compare({"two": PCA(2), "peer": Peer(2), "three": PCA(3)}, X, None, cv=4,
                     loss="reconstruction")  # fmt: skip
    assert rivals.ranking()[0] == "three"
    assert_allclose(rivals.difference("two", "peer").value, 0, rtol=0, atol=SUMMED)
    for honest in ("bootstrap", "nested"):
        chosen = select([PCA()], X, None, cv=3, honest=honest, random_state=0)
        assert chosen.cross_validated_risk.loss == "entries"
    with pytest.raises(ParameterError, match="averages predictions"):
        select([PCA()], X, None, refit="average")


def test_a_pipeline_is_judged_on_the_rows_that_its_last_step_meets():
    ours, foreign = (make_pipeline(StandardScaler(), last) for last in (PCA(2), Peer(2)))
    one, other = (risk.cross_validate(each, X, None, cv=4, loss="reconstruction")
                  for each in (ours, foreign))  # fmt: skip
    assert_allclose((one - other).value, 0, rtol=0, atol=SUMMED)
    Z = StandardScaler().fit_transform(X)
    tuned = Tuned(make_pipeline(StandardScaler(), PCA()), cv=4).fit(X)
    last = PCA(tuned.best_value_).fit(Z)
    assert_allclose(tuned.losses_of_rows(X), last.losses_of_rows(Z), rtol=SUMMED)
    assert_allclose(
        risk.evaluate(tuned, X, None).value, last.losses_of_rows(Z, "entries").mean(), rtol=SUMMED
    )
    with pytest.raises(ParameterError, match="the same steps"):
        compare([PCA(2), ours], X, None, loss="reconstruction")


def test_risks_of_other_rows_are_not_compared():
    one, other = (PCA(1).reconstruction_risk(rows, cv=4) for rows in (X, X + 1))
    with pytest.raises(PlanError, match="different"):
        one - other


def test_weights_are_copies_in_the_risk():
    weight = np.random.default_rng(1).integers(0, 3, size=len(X))
    kept = np.flatnonzero(weight)
    folds = [kept[::2], kept[1::2]]
    splits = [(folds[1], folds[0]), (folds[0], folds[1])]
    found = PCA(2).reconstruction_risk(X, cv=splits, sample_weight=weight)
    total = 0.0
    for train, test in splits:
        pair = PCA(2).fit(np.repeat(X[train], weight[train], axis=0))
        total += weight[test] @ pair.losses_of_rows(X[test])
    assert_allclose(found.value, total / weight.sum(), rtol=SUMMED)


def test_a_loss_of_labels_and_a_pair_do_not_go_together():
    with pytest.raises(DataError, match="y is None"):
        risk.cross_validate(PCA(1), X, None, loss="squared")
    with pytest.raises(ParameterError, match="encoder and decoder"):
        risk.cross_validate(LinearRegression(), X, X[:, 0], loss="reconstruction")


def test_the_loss_is_squared_distance_and_its_best_constant_the_mean():
    loss = as_loss("reconstruction")
    weight = np.arange(len(X))
    best = loss.best_constant(X, weight)
    assert_allclose(best, np.average(X, axis=0, weights=weight), rtol=SUMMED)
    assert_allclose(loss(X, best), np.linalg.norm(X - best, axis=1) ** 2, rtol=SUMMED)
