"""The smallest learner with what `BaggedPathMixin` asks for: bagged trees of scikit-learn."""

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor
from sklearn.utils.validation import validate_data

from empirisk.risk.axis import Axis
from empirisk.risk.bagging.path import BaggedPathMixin


class BaggedTrees(BaggedPathMixin, BaseEstimator):
    """Whole groups are drawn, with replacement, as many as there are."""

    axis = Axis(("max_features",), "richer", "integer")
    fits = 0  # of all instances

    def __init__(self, n_estimators=10, max_features=None, bootstrap=True, random_state=None):
        self.n_estimators = n_estimators
        self.max_features = max_features
        self.bootstrap = bootstrap
        self.random_state = random_state

    def axis_values(self, X, y, sample_weight, *, n_train):
        return [1, X.shape[1]]

    def fit_design(self, X, y, sample_weight, groups, *, n_classes, bag=None):
        type(self).fits += 1
        self.classes_ = np.arange(n_classes)
        self.n_features_in_ = X.shape[1]
        unit = np.arange(len(X)) if groups is None else groups
        U = int(unit.max()) + 1
        rng = np.random.RandomState(self.random_state)
        self.estimators_, self.estimators_samples_ = [], []
        for _ in range(self.n_estimators):
            drawn = rng.randint(U, size=U) if self.bootstrap else np.arange(U)
            counts = np.bincount(drawn, minlength=U)[unit]
            kind = DecisionTreeClassifier if n_classes else DecisionTreeRegressor
            # A generator of its own: what is drawn next does not depend on max_features.
            tree = kind(max_features=self.max_features, random_state=rng.randint(2**31))
            tree.fit(X, y, sample_weight=counts * sample_weight * self._factors(y))
            self.estimators_.append(tree)
            self.estimators_samples_.append(np.repeat(np.arange(len(X)), counts))
            if bag is not None:
                rows = bag.left_out(counts)
                scores = np.zeros((0, n_classes)) if n_classes else np.zeros(0)
                bag.add(rows, self._scores(tree, X[rows]) if len(rows) else scores)
        return self

    def _factors(self, y):
        return 1.0

    def _scores(self, tree, X):
        return tree.predict_proba(X) if len(self.classes_) else tree.predict(X)

    def predict_design(self, X, output):
        scores = np.mean([self._scores(tree, X) for tree in self.estimators_], axis=0)
        return scores.argmax(axis=1) if len(self.classes_) and output == "value" else scores

    def predict(self, X):
        X = validate_data(self, X, reset=False)
        found = self.predict_design(X, "value")
        return self.classes_[found] if len(self.classes_) else found


class BaggedTreesRegressor(RegressorMixin, BaggedTrees):
    def fit(self, X, y, sample_weight=None, groups=None):
        X, y = validate_data(self, X, y)
        weight = np.ones(len(y)) if sample_weight is None else sample_weight
        codes = None if groups is None else np.unique(groups, return_inverse=True)[1]
        return self.fit_design(X, y, weight, codes, n_classes=0)


class BaggedTreesClassifier(ClassifierMixin, BaggedTrees):
    def __init__(
        self,
        n_estimators=10,
        max_features=None,
        bootstrap=True,
        random_state=None,
        class_weight=None,
    ):
        super().__init__(n_estimators, max_features, bootstrap, random_state)
        self.class_weight = class_weight

    def for_classes(self, labels):
        if self.class_weight is None:
            return self
        by_code = {k: self.class_weight[label] for k, label in enumerate(labels)}
        return type(self)(**{**self.get_params(), "class_weight": by_code})

    def _factors(self, y):
        if self.class_weight is None:
            return 1.0
        return np.array([self.class_weight[k] for k in range(len(self.classes_))])[y]

    def fit(self, X, y, sample_weight=None, groups=None):
        X, y = validate_data(self, X, y)
        classes, codes = np.unique(y, return_inverse=True)
        weight = np.ones(len(y)) if sample_weight is None else sample_weight
        units = None if groups is None else np.unique(groups, return_inverse=True)[1]
        own, self.class_weight = self.class_weight, self.for_classes(classes).class_weight
        self.fit_design(X, codes, weight, units, n_classes=len(classes))
        self.class_weight, self.classes_ = own, classes
        return self
