import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.datasets import load_iris, make_moons
from sklearn.ensemble import (
    AdaBoostClassifier,
    BaggingClassifier,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.linear_model import RidgeClassifier
from sklearn.tree import DecisionTreeClassifier

from empirisk.risk import draw_growing_boundaries
from empirisk.risk.bagging import growing_boundaries as module
from empirisk.runtime.errors import DataError, ParameterError


@pytest.fixture
def regions(monkeypatch):
    """The codes of classes that are drawn, in order."""
    drawn = []
    original = module.draw_regions

    def spy(x, y, codes, *args, **keywords):
        drawn.append((x, y, codes))
        return original(x, y, codes, *args, **keywords)

    monkeypatch.setattr(module, "draw_regions", spy)
    return drawn


def moons():
    return make_moons(80, noise=0.3, random_state=0)


def test_all_members_predict_what_the_ensemble_does_and_fewer_what_a_smaller_one_does(regions):
    X, y = moons()
    labels = np.array(["moon", "sun"])[y]
    tree = DecisionTreeClassifier(random_state=0).fit(X, labels)
    small, large = (RandomForestClassifier(B, random_state=0).fit(X, labels) for B in (5, 20))
    bag = BaggingClassifier(n_estimators=20, random_state=0).fit(X, labels)
    figure = draw_growing_boundaries([tree, large, bag], X, labels, numbers=(5, 20), resolution=25)
    assert [ax.get_title() for ax in figure.axes] == [
        "DecisionTreeClassifier",
        "RandomForestClassifier, 5 members",
        "RandomForestClassifier, 20 members",
        "BaggingClassifier, 5 members",
        "BaggingClassifier, 20 members",
    ]
    expected = {0: tree, 1: small, 2: large, 4: bag}  # the first five trees have the same seeds
    for i, model in expected.items():
        x, y_, codes = regions[i]
        plane = np.column_stack([np.tile(x, 25), np.repeat(y_, 25)])
        assert_array_equal(np.array(["moon", "sun"])[codes.ravel()], model.predict(plane))


def test_frames_several_classes_votes_and_other_classifiers():
    X, y = load_iris(return_X_y=True, as_frame=True)
    X = X.iloc[:, 2:]
    learners = [
        BaggingClassifier(RidgeClassifier()),
        AdaBoostClassifier(n_estimators=3),
        RandomForestClassifier(),
    ]
    figure = draw_growing_boundaries(learners, X, y, numbers=[3, 1], resolution=10, random_state=0)
    titles = [ax.get_title() for ax in figure.axes]
    assert titles[0] == "BaggingClassifier, 1 member"
    assert titles[2] == "AdaBoostClassifier"
    assert len(titles) == 5
    assert figure.axes[0].get_xlabel() == "petal length (cm)"
    assert figure.axes[0].get_legend() is not None
    assert figure.axes[1].get_legend() is None
    assert not hasattr(learners[0], "estimators_")  # what is given is not changed


def test_the_same_seed_draws_the_same_picture(regions):
    X, y = moons()
    for _ in range(2):
        draw_growing_boundaries(
            [RandomForestClassifier()], X, y, numbers=(4,), resolution=15, random_state=1
        )
    assert_array_equal(regions[0][2], regions[1][2])


def test_what_cannot_be_drawn_is_refused():
    X, y = moons()
    forest = RandomForestClassifier(5).fit(X, y)
    with pytest.raises(DataError, match="fitted with 5 members, and 9 are to be drawn"):
        draw_growing_boundaries([forest], X, y, numbers=(9,))
    with pytest.raises(ParameterError, match="RandomForestRegressor is no classifier"):
        draw_growing_boundaries([RandomForestRegressor()], X, y)
    with pytest.raises(ParameterError, match="1 or more"):
        draw_growing_boundaries([forest], X, y, numbers=(0, 2))
    with pytest.raises(ParameterError, match="RandomForestClassifier; give a list of classifiers"):
        draw_growing_boundaries(forest, X, y)
    with pytest.raises(ParameterError, match="classifiers is empty"):
        draw_growing_boundaries([], X, y)
    wide = np.column_stack([X, X])
    with pytest.raises(DataError, match="two features"):
        draw_growing_boundaries([RandomForestClassifier()], wide, y, numbers=(2,))
