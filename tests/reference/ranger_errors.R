# Standard errors of predictions by the infinitesimal jackknife of R's ranger, with what its trees
# drew and predict, for tests/reference/test_ranger_errors.py. With 20 rows or fewer ranger does not
# calibrate them.
# Rscript tests/reference/ranger_errors.R > tests/reference/ranger_errors.json
library(ranger)
library(jsonlite)

described <- function(formula, rows, new, ...) {
  fit <- ranger(formula, rows, num.trees = 150, keep.inbag = TRUE, seed = 1, num.threads = 1, ...)
  each <- predict(fit, new, predict.all = TRUE)$predictions
  found <- suppressWarnings(predict(fit, new, type = "se", se.method = "infjack"))
  list(counts = sapply(fit$inbag.counts, paste, collapse = ""), each = each,
       prediction = found$predictions, se = found$se)
}

few <- mtcars[seq(1, 32, 2), c("mpg", "wt", "hp", "qsec")]
new <- mtcars[seq(2, 12, 2), ]
flowers <- iris[seq(1, 150, 7), ]
other <- iris[c(51, 71, 107, 120, 134), ]
found <- list(
  regression = described(mpg ~ ., few, new, min.node.size = 3),
  half = described(mpg ~ ., few, new, sample.fraction = 0.5, min.node.size = 3),
  without = described(mpg ~ ., few, new, replace = FALSE, sample.fraction = 0.6),
  probability = described(Species ~ ., flowers, other, probability = TRUE),
  ranger = as.character(packageVersion("ranger")), R = R.version.string)
cat(toJSON(found, digits = 15, auto_unbox = TRUE))
