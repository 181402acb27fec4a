# Cross-validated cost-complexity tables of R's rpart, for tests/learners/trees/test_pruning_table.py.
# Rscript tests/reference/rpart_tables.R > tests/reference/rpart_tables.json
library(rpart)
library(jsonlite)

folds <- function(n) rep(1:10, length.out = n)
table_of <- function(formula, data, minsplit, minbucket, ...) {
  control <- rpart.control(minsplit = minsplit, minbucket = minbucket, cp = 0,
                           xval = folds(nrow(data)), maxcompete = 0, maxsurrogate = 0,
                           usesurrogate = 0)
  fit <- rpart(formula, data, control = control, ...)
  table <- unname(fit$cptable)
  list(cp = table[, 1], nsplit = table[, 2], rel_error = table[, 3], xerror = table[, 4],
       xstd = table[, 5], printed = capture.output(printcp(fit)))
}

# Multiples of irrational numbers: no two splits of a node are equally good.
i <- 1:300
waves <- data.frame(a = (i * sqrt(2)) %% 1, b = (i * sqrt(3)) %% 1, c = (i * sqrt(5)) %% 1)
waves$y <- floor(4 * waves$a) + 3 * waves$b * waves$c + (i * sqrt(7)) %% 1
loss <- matrix(c(0, 1, 4, 1, 0, 1, 4, 1, 0), 3, byrow = TRUE)
result <- list(
  version = paste("R", getRversion(), "rpart", packageVersion("rpart")),
  waves = table_of(y ~ ., waves, 20, 7),
  iris = table_of(Species ~ ., iris, 10, 5),
  iris_information = table_of(Species ~ ., iris, 10, 5, parms = list(split = "information")),
  iris_loss = table_of(Species ~ ., iris, 10, 5, parms = list(loss = loss))
)
cat(toJSON(result, digits = 17, auto_unbox = TRUE, pretty = TRUE))
