"""Principal component analysis."""

from collections.abc import Sequence
from typing import Any, ClassVar, Literal, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from empirisk.learners.unsupervised.encoder_decoder import EncoderDecoderMixin
from empirisk.learners.unsupervised.explained_variance import ExplainedVarianceMixin
from empirisk.learners.unsupervised.held_out_entries import entry_losses
from empirisk.learners.unsupervised.number_of_components import checked_number, settled_number
from empirisk.learners.unsupervised.pca_path import PCAPath
from empirisk.learners.unsupervised.pca_soundness import check_loaded_pca
from empirisk.learners.unsupervised.pca_streaming import StreamingMixin
from empirisk.learners.unsupervised.probabilistic_pca import ProbabilisticMixin
from empirisk.learners.unsupervised.ways_to_axes import ScaledAxes, copies, scaled_axes
from empirisk.losses import HeldOutEntries, Loss
from empirisk.risk.axis import Axis, Output
from empirisk.runtime.arrays import Floats
from empirisk.runtime.conversion import numbers
from empirisk.runtime.errors import DataError
from empirisk.runtime.parallel import one_blas_thread
from empirisk.runtime.validation import check_predict, check_rows
from empirisk.solvers.principal_axes import Normalizer

Solver = Literal["auto", "full", "covariance_eigh", "gram", "arpack", "randomized"]

MOST_COMPONENTS = 20


class PCA(
    EncoderDecoderMixin,
    StreamingMixin,
    ProbabilisticMixin,
    ExplainedVarianceMixin,
    ClassNamePrefixFeaturesOutMixin,
    TransformerMixin,
    BaseEstimator,
):
    """Encode rows by K coordinates such that an affine decoder loses least: minimise

        1/n sum_i |x_i - g(e(x_i))|^2   over encoders e into K numbers and affine decoders g.

    The best pair is e(x) = V(x - m) and g(c) = m + V'c, with the mean m of the rows and the K
    principal axes in the rows of V: orthonormal, each in turn the direction of largest variance
    that is orthogonal to those before. The minimum is the sum of the variances (divisor n) along
    the axes that are left out (Pearson 1901; Eckart & Young 1936).

    Complexity axis: `n_components`; `Tuned(PCA())` chooses it by entries that are held out.

    Parameters
    ----------
    n_components : int, float between 0 and 1, "mle" or None
        K; or as many as explain this share of the variance; or the number of largest evidence if
        rows are Gaussian (Minka 2000); or all, min(n, p).
    copy : bool
        Accepted for scikit-learn's sake: X is never overwritten.
    whiten : bool
        Divide each coordinate by its standard deviation, which decoding takes back. Coordinates
        without variance are 0.
    svd_solver : {"auto", "full", "covariance_eigh", "gram", "arpack", "randomized"}
        How the axes are found. "full" by singular values; "covariance_eigh" from the covariance
        matrix of the columns, "gram" from the inner products of the rows, which is faster if there
        are fewer rows than columns; "arpack" and "randomized" look for the first few by iteration.
        "auto" takes one of the two matrices, or "full" where squaring would cost digits; only of
        very many (2,000 rows and columns or more) the first few, at most a tenth, are
        "randomized".
    tol : float
        Of "arpack".
    iterated_power, n_oversamples, power_iteration_normalizer
        Of "randomized": the number of power iterations, of random directions beside those wanted,
        and "QR", "LU" or "none" between iterations.
    random_state : int, RandomState or None
        Of "arpack" and "randomized".
    correlation : bool
        Divide each column by its standard deviation first: the axes are those of the correlation
        matrix, and do not depend on the units of the columns. A constant column stays 0. What is
        minimised is the loss in standard deviations; `reconstruct` and the reconstruction risk keep
        to the units of X.
    n_jobs : int, optional
        Threads over blocks of rows or columns; the result has the same bits for any number.

    Attributes
    ----------
    components_ : array of shape (n_components_, p)
        V; in each row the entry of largest size is positive, or the first of several.
    explained_variance_ : array of shape (n_components_,)
        Variances along the axes, divisor n - 1.
    explained_variance_ratio_ : array of shape (n_components_,)
        The same over the sum along all axes.
    singular_values_ : array of shape (n_components_,)
        Of the rows about their mean.
    mean_, scale_ : arrays of shape (p,)
        The latter the standard deviations with `correlation=True`, otherwise 1.
    n_components_, n_samples_ : int
        The latter counts a row of weight w as w rows.
    loadings_ : array of shape (p, n_components_)
        The axes times the standard deviations along them: with `correlation=True`, the correlations
        of columns and coordinates.
    noise_variance_ : float
        The mean variance along the axes left out.
    svd_solver_ : str
        How the axes were found.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Notes
    -----
    A row of weight w counts as w copies of it. What is found of float32 is float64, other than in
    scikit-learn; `get_covariance` and `score` of `whiten=True` are those without it. Variances of
    numbers beyond 1e±154 leave the range of floating-point numbers; `singular_values_` and
    `explained_variance_ratio_` do not.

    References
    ----------
    K. Pearson (1901), On lines and planes of closest fit to systems of points in space.
    C. Eckart and G. Young (1936), The approximation of one matrix by another of lower rank.
    T. Minka (2000), Automatic choice of dimensionality for PCA.

    Examples
    --------
    >>> X = [[1.0, 2.0], [2.0, 4.1], [3.0, 5.9], [4.0, 8.0]]
    >>> pca = PCA(n_components=1).fit(X)
    >>> pca.components_.round(3), pca.explained_variance_ratio_.round(4)
    (array([[0.451, 0.893]]), array([0.9999]))
    >>> pca.encode([[2.0, 4.0]]).round(2), pca.reconstruct([[2.0, 4.0]]).round(2)
    (array([[-1.12]]), array([[2., 4.]]))
    """

    axis: ClassVar[Axis | None] = Axis(("n_components",), larger="richer", scale="integer")
    feature_scaling: ClassVar[Literal["each", "common"] | None] = "common"

    def __init__(
        self,
        n_components: Any = None,
        *,
        copy: bool = True,
        whiten: bool = False,
        svd_solver: Solver = "auto",
        tol: float = 0.0,
        iterated_power: int | Literal["auto"] = "auto",
        n_oversamples: int = 10,
        power_iteration_normalizer: Normalizer = "auto",
        random_state: Any = None,
        correlation: bool = False,
        n_jobs: int | None = None,
    ) -> None:
        self.n_components = n_components
        self.copy = copy
        self.whiten = whiten
        self.svd_solver = svd_solver
        self.tol = tol
        self.iterated_power = iterated_power
        self.n_oversamples = n_oversamples
        self.power_iteration_normalizer = power_iteration_normalizer
        self.random_state = random_state
        self.correlation = correlation
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Find mean and axes of rows in memory.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, p)
            A sparse matrix is made dense, here and to encode.
        y : ignored
        sample_weight : array-like of shape (n,), optional
            A row of weight w counts as w copies of it.
        """
        rows, weight = check_rows(self, X, sample_weight, finite=False)
        self._forget()
        return self._take(self._axes(rows, weight, [self.n_components]), self.n_components)

    def encode(self, X: Any) -> Floats:
        """The coordinates of each row along the axes, (m, n_components_)."""
        rows = check_predict(self, X)
        with one_blas_thread():
            return self._standard(rows) @ self.components_.T * self._code_unit

    def decode(self, code: Any) -> Floats:
        """The point of each code."""
        check_is_fitted(self)
        code = numbers(code, self) if np.shape(code)[1:] != (0,) else np.asarray(code, dtype=float)
        if code.shape[1] != self.n_components_:
            raise DataError(
                f"codes have {code.shape[1]} coordinates; this PCA has {self.n_components_}"
            )
        with one_blas_thread():
            standard = (code / np.where(self._code_unit > 0, self._code_unit, np.inf)).dot(
                self.components_
            )
        return standard * (self.scale_ * self._unit) + self.mean_

    def transform(self, X: Any) -> Floats:
        """`encode`, as scikit-learn calls it."""
        return self.encode(X)

    def inverse_transform(self, X: Any) -> Floats:
        """`decode`, as scikit-learn calls it."""
        return self.decode(X)

    @property
    def own_loss(self) -> Loss:
        """By which `Tuned` judges: entries held out from their rows.

        Held-out rows would always prefer more components: with a further axis a row is projected
        on a larger space, which is never farther from it, whether the row trained or not.
        """
        return HeldOutEntries()

    def losses_of_rows(self, X: Any, output: Output = "reconstruction") -> Floats:
        """|x - g(e(x))|^2 of each row, or its "entries": see `losses.HeldOutEntries`."""
        if output != "entries":
            return super().losses_of_rows(X, output)
        standard = self._standard(check_predict(self, X))
        with one_blas_thread():
            return entry_losses(
                standard,
                self.components_,
                self._squares / (self._weight - 1),
                self._dropped / (self._weight - 1),
            )

    def axis_values(
        self, X: Floats, y: Any, sample_weight: Floats, *, n_train: int
    ) -> Sequence[int]:
        """1, 2, ..., 20, as far as an entry can be predicted from the others of its row."""
        most = min(MOST_COMPONENTS, X.shape[1] - 1, n_train - 2)
        return range(1, max(most, 1) + 1)

    def fit_path(
        self,
        X: Floats,
        y: Any,
        sample_weight: Floats,
        values: Sequence[Any],
        *,
        n_classes: int = 0,
    ) -> PCAPath:
        """All numbers of components from the axes of one fit."""
        return PCAPath(self, self._axes(X, sample_weight, values), values)

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "components_")

    def check_loaded(self) -> None:
        """Complain of a fitted state, read from a file, that no fit can have left."""
        check_loaded_pca(self)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = False
        tags.transformer_tags.preserves_dtype = ["float64"]
        tags.input_tags.sparse = True
        return tags

    def _axes(self, X: Floats, weight: Floats, values: Sequence[Any]) -> ScaledAxes:
        """The axes of the largest of some numbers of components."""
        n, p = copies(len(X), float(weight.sum())), X.shape[1]
        number = max(checked_number(value, n, p, self.svd_solver) for value in values)
        return scaled_axes(self, X, weight, number)

    def _take(self, found: ScaledAxes, n_components: Any) -> Self:
        """Become the pair of the first axes."""
        squares, weight = found.axes.squares, found.weight
        number = checked_number(n_components, found.rows, len(found.scale), self.svd_solver)
        kept = found.axes.first(settled_number(n_components, squares, weight, number))
        k, unit = len(kept.squares), found.unit
        total, others = kept.squares.sum() + kept.dropped, min(found.rows, len(found.scale)) - k
        self.n_features_in_ = len(found.scale)
        self.n_components_, self.n_samples_ = k, found.rows
        V = kept.directions
        self.components_ = V if V.base is None else V.copy()  # not with all others in memory
        self.mean_, self.scale_ = found.mean, found.scale
        self.singular_values_ = np.sqrt(kept.squares) * unit
        self.explained_variance_ratio_ = kept.squares / (total if total > 0 else 1.0)
        with np.errstate(over="ignore"):
            self.explained_variance_ = kept.squares / (weight - 1) * unit * unit
            noise = kept.dropped / others if others else 0.0
            self.noise_variance_ = float(np.float64(noise / (weight - 1)) * unit * unit)
        self.svd_solver_ = found.solver
        self._unit, self._weight = unit, weight
        self._squares, self._dropped = kept.squares.copy(), kept.dropped
        return self

    def _standard(self, rows: Floats) -> Floats:
        """Rows about the mean, in the units in which the axes were found."""
        return (rows - self.mean_) / (self.scale_ * self._unit)

    @property
    def _code_unit(self) -> Floats:
        """What a coordinate of standard rows is multiplied by to be one of the code."""
        if not self.whiten:
            return np.full(self.n_components_, self._unit)
        deviation = np.sqrt(self._squares / (self._weight - 1))
        alive = deviation > np.finfo(float).eps * deviation[:1]
        return np.divide(1.0, deviation, out=np.zeros_like(deviation), where=alive)

    @property
    def _n_features_out(self) -> int:
        return self.n_components_
