"""The bootstrap: of any statistic, of a risk, of a classifier's votes."""
