"""Whether an estimate lies within five of its standard errors."""

SIGMAS = 5  # of a statistical test with fixed seed: it fails with probability 6e-7


def within(estimate, truth):
    assert estimate.standard_error > 0
    assert abs(estimate.value - truth) < SIGMAS * estimate.standard_error
