"""Whether a PCA that was read from a file is one that a fit can have left."""

from typing import Any

import numpy as np

from empirisk.learners.soundness import is_floats, require

SPECTRA = "singular_values_", "explained_variance_", "explained_variance_ratio_", "_squares"


def check_loaded_pca(pca: Any) -> None:
    """Complain of parts of a fitted PCA that do not go together; one not fitted has none."""
    if any(name.startswith("_moments_") for name in vars(pca)):
        _check_moments(pca)
    if not hasattr(pca, "components_"):
        return
    k, p = _shape(pca)
    for name in SPECTRA:
        require(_is_array(pca, name, (k,)) and (getattr(pca, name) >= 0).all(), pca, name)
        require((np.diff(getattr(pca, name)) <= 0).all(), pca, f"the order of {name}")
    require(np.isfinite(pca._squares).all(), pca, "_squares")
    for name in ("mean_", "scale_"):
        require(_is_array(pca, name, (p,)) and np.isfinite(getattr(pca, name)).all(), pca, name)
    require((pca.scale_ > 0).all(), pca, "scale_")
    for name, least in (("_unit", 0.0), ("_weight", 1.0)):
        require(_is_number(pca, name) and least < getattr(pca, name) < np.inf, pca, name)
    for name, most in (("_dropped", np.finfo(float).max), ("noise_variance_", np.inf)):
        require(_is_number(pca, name) and 0 <= getattr(pca, name) <= most, pca, name)
    rows = getattr(pca, "n_samples_", None)
    require(isinstance(rows, int) and rows >= 1, pca, "n_samples_")
    require(isinstance(getattr(pca, "svd_solver_", None), str), pca, "svd_solver_")


def _check_moments(pca: Any) -> None:
    """Those of rows that came in pieces, to which further ones can be added."""
    p: Any = getattr(pca, "n_features_in_", None)
    require(
        isinstance(p, int) and _is_array(pca, "_moments_scatter", (p, p)), pca, "_moments_scatter"
    )
    S = pca._moments_scatter
    require(np.isfinite(S).all() and (np.diagonal(S) >= 0).all(), pca, "_moments_scatter")
    for name in ("_moments_mean", "_moments_shift", "_moments_unit"):
        require(_is_array(pca, name, (p,)) and np.isfinite(getattr(pca, name)).all(), pca, name)
    require((pca._moments_unit > 0).all(), pca, "_moments_unit")
    require(
        _is_number(pca, "_moments_weight") and 0 < pca._moments_weight < np.inf, pca, "its weight"
    )
    rows = getattr(pca, "_moments_rows", None)
    require(isinstance(rows, int) and rows >= 1, pca, "_moments_rows")


def _shape(pca: Any) -> tuple[int, int]:
    """Numbers of components and columns, on which all parts must agree."""
    V = pca.components_
    require(is_floats(V, (None, None)) and np.isfinite(V).all(), pca, "components_")
    k, p = V.shape
    require(k == getattr(pca, "n_components_", None), pca, "n_components_")
    require(p == getattr(pca, "n_features_in_", None) and k <= p, pca, "n_features_in_")
    # Rounding errors of an axis are far below; what is no set of axes would not decode its codes.
    require(np.abs(V @ V.T - np.eye(k)).max(initial=0.0) < 1e-6, pca, "components_")
    return k, p


def _is_array(pca: Any, name: str, shape: tuple[int, ...]) -> bool:
    value: Any = getattr(pca, name, None)
    return is_floats(value, shape) and not np.isnan(value).any()


def _is_number(pca: Any, name: str) -> bool:
    value = getattr(pca, name, None)
    return isinstance(value, float) and not np.isnan(value)
