"""Whether a PCA that was read from a file is one that a fit can have left."""

from typing import Any

import numpy as np

from empirisk.runtime.errors import DataError

SPECTRA = "singular_values_", "explained_variance_", "explained_variance_ratio_", "_squares"


def check_loaded_pca(pca: Any) -> None:
    """Complain of parts of a fitted PCA that do not go together; one not fitted has none."""
    if any(name.startswith("_moments_") for name in vars(pca)):
        _check_moments(pca)
    if not hasattr(pca, "components_"):
        return
    k, p = _shape(pca)
    for name in SPECTRA:
        _require(_is_array(pca, name, (k,)) and (getattr(pca, name) >= 0).all(), name)
        _require((np.diff(getattr(pca, name)) <= 0).all(), f"the order of {name}")
    _require(np.isfinite(pca._squares).all(), "_squares")
    for name in ("mean_", "scale_"):
        _require(_is_array(pca, name, (p,)) and np.isfinite(getattr(pca, name)).all(), name)
    _require((pca.scale_ > 0).all(), "scale_")
    for name, least in (("_unit", 0.0), ("_weight", 1.0)):
        _require(_is_number(pca, name) and least < getattr(pca, name) < np.inf, name)
    for name, most in (("_dropped", np.finfo(float).max), ("noise_variance_", np.inf)):
        _require(_is_number(pca, name) and 0 <= getattr(pca, name) <= most, name)
    rows = getattr(pca, "n_samples_", None)
    _require(isinstance(rows, int) and rows >= 1, "n_samples_")
    _require(isinstance(getattr(pca, "svd_solver_", None), str), "svd_solver_")


def _check_moments(pca: Any) -> None:
    """Those of rows that came in pieces, to which further ones can be added."""
    p: Any = getattr(pca, "n_features_in_", None)
    _require(isinstance(p, int) and _is_array(pca, "_moments_scatter", (p, p)), "_moments_scatter")
    S = pca._moments_scatter
    _require(np.isfinite(S).all() and (np.diagonal(S) >= 0).all(), "_moments_scatter")
    for name in ("_moments_mean", "_moments_shift", "_moments_unit"):
        _require(_is_array(pca, name, (p,)) and np.isfinite(getattr(pca, name)).all(), name)
    _require((pca._moments_unit > 0).all(), "_moments_unit")
    _require(_is_number(pca, "_moments_weight") and 0 < pca._moments_weight < np.inf, "its weight")
    rows = getattr(pca, "_moments_rows", None)
    _require(isinstance(rows, int) and rows >= 1, "_moments_rows")


def _shape(pca: Any) -> tuple[int, int]:
    """Numbers of components and columns, on which all parts must agree."""
    V = pca.components_
    floats = isinstance(V, np.ndarray) and V.ndim == 2 and V.dtype == np.float64
    _require(floats and np.isfinite(V).all(), "components_")
    k, p = V.shape
    _require(k == getattr(pca, "n_components_", None), "n_components_")
    _require(p == getattr(pca, "n_features_in_", None) and k <= p, "n_features_in_")
    # Rounding errors of an axis are far below; what is no set of axes would not decode its codes.
    _require(np.abs(V @ V.T - np.eye(k)).max(initial=0.0) < 1e-6, "components_")
    return k, p


def _is_array(pca: Any, name: str, shape: tuple[int, ...]) -> bool:
    value: Any = getattr(pca, name, None)
    floats = isinstance(value, np.ndarray) and value.dtype == np.float64
    return floats and value.shape == shape and not np.isnan(value).any()


def _is_number(pca: Any, name: str) -> bool:
    value = getattr(pca, name, None)
    return isinstance(value, float) and not np.isnan(value)


def _require(sound: Any, what: str) -> None:
    if not sound:
        raise DataError(
            f"{what} of this PCA is not what a fit leaves: the file is damaged or was changed; "
            "save the model again"
        )
