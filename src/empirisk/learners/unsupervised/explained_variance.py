"""What the principal components explain: with how much certainty, and in pictures."""

import warnings
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from empirisk.charts.biplot import draw_biplot
from empirisk.charts.loadings import draw_loadings
from empirisk.charts.scree import draw_scree
from empirisk.learners.unsupervised.ways_to_axes import scaled_axes
from empirisk.risk.resampling.bootstrap import bootstrap
from empirisk.risk.resampling.replicates import Bootstrap
from empirisk.runtime.arrays import Floats
from empirisk.runtime.column_names import shown_names
from empirisk.runtime.errors import EmpiriskWarning, ParameterError
from empirisk.runtime.targets import check_weights
from empirisk.runtime.validation import check_predict
from empirisk.solvers.principal_axes import PrincipalAxes


class ExplainedVarianceMixin:
    """Loadings, scree plot, biplot, and bootstrap intervals of the variance explained."""

    def bootstrap_explained_variance(
        self: Any,
        X: Any,
        *,
        n_resamples: int = 999,
        sample_weight: Any = None,
        groups: Any = None,
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> Bootstrap:
        """How the shares of variance would vary over samples like the training rows.

        Of the axes in the order of their variance in each resample. Where the variances are well
        apart, 95 % intervals of 100 rows covered in simulations 96 % of the time by "percentile",
        92 % by "bca". Where some are equal the bootstrap fails (Beran & Srivastava 1985), 22 % and
        60 %: the order of the axes is by chance. A warning names components that are closer to
        each other than two standard errors, l_k sqrt(2 / n) each (North et al. 1982).

        Parameters
        ----------
        X : the training rows
        n_resamples, sample_weight, groups, n_jobs, random_state
            As in `bootstrap`.

        Returns
        -------
        Bootstrap
            Its value are the shares, `explained_variance_ratio_`; `interval(method, level)` gives
            both ends for each.

        References
        ----------
        R. Beran and M. S. Srivastava (1985), Bootstrap tests and confidence regions for functions
        of a covariance matrix.
        G. R. North, T. L. Bell, R. F. Cahalan and F. J. Moeng (1982), Sampling errors in the
        estimation of empirical orthogonal functions.

        Examples
        --------
        >>> from empirisk import PCA
        >>> rng = np.random.default_rng(0)
        >>> X = rng.normal(size=(100, 3)) * [3.0, 1.0, 0.3]
        >>> pca = PCA(n_components=2).fit(X)
        >>> result = pca.bootstrap_explained_variance(X, n_resamples=99, random_state=0)
        >>> low, high = result.interval("percentile")
        >>> bool((low < pca.explained_variance_ratio_).all() and (result.value < high).all())
        True
        """
        rows = np.asarray(check_predict(self, X))
        weight = check_weights(sample_weight, len(rows))
        _warn_of_close_variances(self, rows, weight)

        def shares_of_variance(rows: Floats, sample_weight: Floats) -> Floats:
            return _shares(self, rows, sample_weight)

        return bootstrap(
            rows, shares_of_variance,
            n_resamples=n_resamples, sample_weight=weight, groups=groups, n_jobs=n_jobs,
            random_state=random_state,
        )  # fmt: skip

    @property
    def loadings_(self: Any) -> Floats:
        """Axes times standard deviations, (p, n_components_).

        What a column changes by when a component changes by one of its standard deviations; with
        `correlation=True`, their correlation.
        """
        check_is_fitted(self)
        deviation = np.sqrt(self._squares / (self._weight - 1)) * self._unit
        return self.components_.T * deviation

    def plot_scree(self: Any, explained: Bootstrap | None = None, *, ax: Any = None) -> Any:
        """The share of the variance of each component, and of all up to it.

        Parameters
        ----------
        explained : Bootstrap, optional
            What `bootstrap_explained_variance` returned, for 95 % intervals.
        ax : Axes, optional
        """
        check_is_fitted(self)
        if not (explained is None or isinstance(explained, Bootstrap)):
            raise ParameterError(
                f"explained is a {type(explained).__name__}; give what "
                "bootstrap_explained_variance returned, or None"
            )
        ends = None if explained is None else explained.interval("percentile")
        return draw_scree(self.explained_variance_ratio_, ends=ends, ax=ax)

    def plot_biplot(
        self: Any, X: Any, components: tuple[int, int] = (1, 2), *, ax: Any = None
    ) -> Any:
        """Rows as points and columns as arrows, in the plane of two components.

        Parameters
        ----------
        X : the rows
        components : (int, int)
            Which two, counted from 1.
        ax : Axes, optional
        """
        scores = self.encode(X)
        if len(set(components)) != 2 or not set(components) <= set(range(1, scores.shape[1] + 1)):
            raise ParameterError(
                f"components is {components!r}; give two different numbers from 1 to "
                f"{self.n_components_}, of which this PCA must have two at least"
            )
        places = [number - 1 for number in components]
        shares = self.explained_variance_ratio_
        labels = [f"component {j + 1} ({100 * shares[j]:.1f} %)" for j in places]
        arrows, names = self.loadings_[:, places], shown_names(self, self.n_features_in_)
        return draw_biplot(scores[:, places], arrows, names, (labels[0], labels[1]), ax=ax)

    def plot_loadings(self: Any, *, ax: Any = None) -> Any:
        """The loadings as a matrix of colours."""
        return draw_loadings(self.loadings_, shown_names(self, self.n_features_in_), ax=ax)


def _shares(pca: Any, rows: Floats, weight: Floats) -> Floats:
    """The shares of variance of rows so many times; 0 for axes that fewer rows do not have."""
    axes = _axes(pca, rows, weight, pca.n_components_)
    shares, total = np.zeros(pca.n_components_), axes.squares.sum() + axes.dropped
    shares[: len(axes.squares)] = axes.squares / (total if total > 0 else 1.0)
    return shares


def _axes(pca: Any, rows: Floats, weight: Floats, number: int) -> PrincipalAxes:
    kept = weight > 0
    rows, weight = np.ascontiguousarray(rows[kept]), weight[kept]
    most = min(rows.shape) - (pca.svd_solver == "arpack")
    return scaled_axes(pca, rows, weight, min(number, most)).axes


def _warn_of_close_variances(pca: Any, rows: Floats, weight: Floats) -> None:
    squares = _axes(pca, rows, weight, pca.n_components_ + 1).squares
    errors = squares[:-1] * np.sqrt(2 / np.sum(weight))
    close = 1 + np.flatnonzero(squares[:-1] - squares[1:] < 2 * errors)
    if len(close):
        pairs = ", ".join(f"{k} and {k + 1}" for k in close[:3]) + ", ..." * (len(close) > 3)
        warnings.warn(
            f"the variances of components {pairs} are closer than two of their standard errors: "
            "bootstrap intervals of these are not to be trusted",
            EmpiriskWarning,
            stacklevel=3,
        )
