"""The steps of EM for mixtures, over rows in tiles."""
