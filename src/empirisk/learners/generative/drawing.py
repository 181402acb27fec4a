"""Pictures of Gaussian classes: regions with ellipses, and Fisher's coordinates beside PCA's."""

import warnings
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from empirisk.charts.axes import as_written
from empirisk.charts.class_ellipses import draw_class_ellipses
from empirisk.charts.coordinates import draw_coordinates
from empirisk.charts.panels import panels
from empirisk.learners.generative.gaussian_classifier import GaussianClassifier
from empirisk.learners.generative.lda import LinearDiscriminantAnalysis
from empirisk.risk.decision_boundary import draw_decision_boundary, given_labels
from empirisk.runtime.arrays import Array, Floats
from empirisk.runtime.errors import DataError, EmpiriskWarning, ParameterError
from empirisk.runtime.parallel import one_blas_thread
from empirisk.runtime.scalars import is_number
from empirisk.runtime.validation import check_predict

MOST_COORDINATES = 2
IN_A_LINE = 5  # classes in the legend


def draw_gaussian_classes(
    classifier: Any,
    X: Any,
    y: Any = None,
    *,
    share: float = 0.9,
    resolution: int = 200,
    ax: Any = None,
) -> Any:
    """Draw the decision regions of Gaussian classes of two features, with an ellipse for each.

    Parameters
    ----------
    classifier : fitted classifier of two features
        A LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis or
        RegularizedDiscriminantAnalysis, or a Tuned one.
    X : array, frame or table with two columns of numbers
        The part of the plane that is drawn.
    y : labels, optional
        The true classes of the rows of X, which are then drawn; a cross where the rule is wrong.
    share : float between 0 and 1
        Of the rows of its class that an ellipse holds, if the class is Gaussian as fitted.
    resolution : int
        Points on a side of the grid at which the classifier is asked.
    ax : Axes, optional

    Returns
    -------
    Axes

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from empirisk import QuadraticDiscriminantAnalysis
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> X = X.iloc[:, 2:]
    >>> ax = draw_gaussian_classes(QuadraticDiscriminantAnalysis().fit(X, y), X, y)
    >>> ax.get_xlabel()
    'petal length (cm)'
    """
    classifier = getattr(classifier, "best_estimator_", classifier)
    if not isinstance(classifier, GaussianClassifier):
        raise ParameterError(
            f"the classifier is {type(classifier).__name__}, which has no Gaussian classes: give "
            "a LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis or "
            "RegularizedDiscriminantAnalysis"
        )
    if not (is_number(share) and 0 < share < 1):
        raise ParameterError(f"share is {share!r}; it must lie between 0 and 1, such as 0.9")
    ax = draw_decision_boundary(classifier, X, y, resolution=resolution, ax=ax)
    densities = classifier._densities
    unit = np.ldexp(1.0, densities.unit)
    roots = [unit[:, None] * densities.root(k) for k in range(len(densities.mean))]
    return draw_class_ellipses(densities.mean * unit, roots, share, ax=ax)


def draw_fisher_coordinates(lda: Any, X: Any, y: Any) -> Any:
    """Scatter the rows in the first two of Fisher's coordinates, beside the first two of PCA.

    Fisher's directions look for distance between class means relative to the spread within
    classes, principal components for variance whatever the class, of columns with unit variance.
    The title of each panel says what the classes are separated by: B/W, summed over the
    coordinates shown.

    Parameters
    ----------
    lda : fitted LinearDiscriminantAnalysis, or a Tuned one
    X : rows
        Those with missing values (NaN) have no coordinates and are left out, with a warning.
    y : their labels

    Returns
    -------
    Figure

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> figure = draw_fisher_coordinates(LinearDiscriminantAnalysis().fit(X, y), X, y)
    >>> [ax.get_title() for ax in figure.axes]
    ['Fisher: B/W = 32.5', 'PCA: B/W = 17.7']
    """
    lda = getattr(lda, "best_estimator_", lda)
    if not isinstance(lda, LinearDiscriminantAnalysis):
        raise ParameterError(
            f"{type(lda).__name__} has no Fisher coordinates: give a LinearDiscriminantAnalysis"
        )
    check_is_fitted(lda)
    rows = check_predict(lda, X, allow_nan=True)
    labels = given_labels(y, len(rows))
    with one_blas_thread():
        fisher = np.asarray(lda.transform(X))[:, :MOST_COORDINATES]
    rows, labels, fisher = _complete(rows, labels, fisher)
    classes, codes = np.unique(labels, return_inverse=True)
    if not np.isin(classes, lda.classes_).all():
        raise DataError(f"y has labels that the model does not know; it knows {lda.classes_}")
    names = [str(label) for label in classes]
    figure, ((left, right),) = panels([2])
    with one_blas_thread():
        principal = principal_coordinates(rows)[:, : fisher.shape[1]]
    for ax, found, what, short in (
        (left, fisher, "Fisher", "coordinate"),
        (right, principal, "PCA", "component"),
    ):
        title = f"{what}: B/W = {separability(found, codes):.3g}"
        draw_coordinates(found, codes, names, [f"{short} 1", f"{short} 2"], title, ax=ax)
    if fisher.shape[1] > 1:  # in one coordinate each class has its own line, and its name there
        # The points of each class: Matplotlib by itself leaves out names such as "_a" and "".
        shown = {"loc": "outside lower center", "ncols": IN_A_LINE}
        as_written(figure.legend(left.collections, names, **shown))
    return figure


def _complete(rows: Floats, labels: Array, fisher: Floats) -> tuple[Floats, Array, Floats]:
    """The rows without missing values, their labels and coordinates."""
    known = ~np.isnan(rows).any(axis=1)
    if known.all():
        return rows, labels, fisher
    if not known.any():
        raise DataError("every row of X has missing values (NaN), and none has coordinates")
    warnings.warn(
        f"{(~known).sum()} of {len(rows)} rows have missing values (NaN), and so no coordinates: "
        "they are not drawn",
        EmpiriskWarning,
        stacklevel=3,
    )
    return rows[known], labels[known], fisher[known]


def principal_coordinates(X: Floats) -> Floats:
    """Of columns with mean 0 and variance 1, by the singular value decomposition."""
    scale = np.abs(X).max(axis=0)
    X = X / np.where(scale > 0, scale, 1.0)
    centred = X - X.mean(axis=0)
    deviation = centred.std(axis=0)
    standardised = centred / np.where(deviation > 0, deviation, 1.0)
    left, root, _ = np.linalg.svd(standardised, full_matrices=False)
    return left * root


def separability(coordinates: Floats, codes: Any) -> float:
    """trace(W^-1 B): the variance between classes over that within, summed over uncorrelated
    directions."""
    n, K = len(codes), int(codes.max()) + 1
    count = np.bincount(codes, minlength=K)
    means = np.stack([coordinates[codes == k].mean(axis=0) for k in range(K)])
    about = means - coordinates.mean(axis=0)
    between = (about * count[:, None]).T @ about / n
    away = coordinates - means[codes]
    within = away.T @ away / n
    return float(np.trace(np.linalg.pinv(within, hermitian=True) @ between))
