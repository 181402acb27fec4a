"""Fisher's coordinates: directions in which class means lie apart for the spread within classes.

With the covariance within classes W, whitened so that it is the identity, and that between them,

    B = sum_k pi_k (m_k - m)(m_k - m)',    m = sum_k pi_k m_k,

the first direction u maximises u'Bu / u'Wu, the second does so among those uncorrelated with the
first within classes, and so on. At most K - 1 of these ratios are above 0, and no other direction
matters to the linear rule (Fisher 1936, Rao 1948).
"""

from typing import NamedTuple

import numpy as np

from empirisk.runtime.arrays import Floats


class FisherCoordinates(NamedTuple):
    """Coordinates (x - m)' scalings, and the separability u'Bu / u'Wu of each."""

    scalings: Floats  # (p, coordinates)
    separability: Floats  # (coordinates,), falling


def fisher_coordinates(
    whitening: Floats, mean: Floats, priors: Floats, tol: float
) -> FisherCoordinates:
    """From a matrix that whitens within classes, class means and shares.

    Of ratios whose square root is at most tol times that of the first no direction is kept, other
    than the first. The mean of the last class has coordinates that are not negative.
    """
    apart = mean - mean[:1]
    about = apart - priors @ apart
    weighted = about * np.sqrt(priors)[:, None]
    if whitening.shape[1] == 0:  # no column varies
        return FisherCoordinates(np.zeros((mean.shape[1], 1)), np.zeros(1))
    _, root, directions = np.linalg.svd(weighted @ whitening, full_matrices=False)
    most = min(len(mean) - 1, mean.shape[1])
    kept = max(1, int((root[:most] > tol * root[0]).sum()))
    scalings = whitening @ directions[:kept].T
    scalings *= np.where(about[-1] @ scalings < 0, -1.0, 1.0)
    return FisherCoordinates(scalings, np.square(root[:kept]))
