# L2-boosting by stumps and by trees of two splits of R's gbm, for tests/reference/test_gbm.py:
# gaussian loss, all rows, shrinkage 0.1. Columns are without ties, so that splits are the same.
# Rscript tests/reference/gbm_stumps.R > tests/reference/gbm_stumps.json
suppressMessages(library(gbm))
library(jsonlite)

n <- 60
i <- seq_len(n)
rows <- data.frame(a = sin(1.3 * i), b = cos(2.1 * i^1.1), c = (i * 37) %% 61)
rows$y <- 2 * rows$a + rows$b^2 + 0.05 * rows$c + sin(7 * i)
weight <- 1 + i %% 3

boosted <- function(depth, weights, rounds) {
  fit <- gbm(y ~ a + b + c, data = rows, weights = weights, distribution = "gaussian",
             n.trees = 50, interaction.depth = depth, shrinkage = 0.1, bag.fraction = 1,
             train.fraction = 1, n.minobsinnode = 5, keep.data = FALSE)
  list(start = fit$initF, error = fit$train.error,
       prediction = sapply(rounds, function(m) predict(fit, rows, n.trees = m)))
}

found <- list(
  rows = rows, weight = weight, rounds = c(1, 10, 50),
  stumps = boosted(1, rep(1, n), c(1, 10, 50)),
  weighted = boosted(1, weight, c(1, 10, 50)),
  gbm = as.character(packageVersion("gbm")), R = R.version.string)
cat(toJSON(found, digits = 15, dataframe = "columns", auto_unbox = TRUE))
