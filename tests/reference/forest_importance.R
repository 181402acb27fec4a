# Permutation importance of R's ranger and randomForest, for tests/reference/test_forest_importance.py.
# Rscript tests/reference/forest_importance.R > tests/reference/forest_importance.json
# Mean and standard deviation over seeds of the unscaled importance of each feature.
suppressMessages({library(ranger); library(randomForest); library(jsonlite)})

folder <- "src/empirisk/data/datasets/"
mpg <- na.omit(read.csv(paste0(folder, "auto_mpg.csv"), comment.char = "#"))
mpg <- mpg[, c("mpg", "displacement", "horsepower", "weight", "acceleration")]
seeds <- 1:20
trees <- 300

by_ranger <- function(formula, data, nodesize) sapply(seeds, function(seed)
  ranger(formula, data, num.trees = trees, mtry = 2, min.node.size = nodesize,
         importance = "permutation", scale.permutation.importance = FALSE, seed = seed,
         num.threads = 1)$variable.importance)

by_random_forest <- function(formula, data, nodesize) sapply(seeds, function(seed) {
  set.seed(seed)
  fit <- randomForest(formula, data, ntree = trees, mtry = 2, nodesize = nodesize,
                      importance = TRUE)
  importance(fit, type = 1, scale = FALSE)[, 1]
})

described <- function(found)
  list(feature = rownames(found), mean = unname(rowMeans(found)), sd = unname(apply(found, 1, sd)))

result <- list(
  version = paste("R", getRversion(), "ranger", packageVersion("ranger"),
                  "randomForest", packageVersion("randomForest")),
  trees = trees, seeds = length(seeds),
  iris_ranger = described(by_ranger(Species ~ ., iris, 1)),
  iris_random_forest = described(by_random_forest(Species ~ ., iris, 1)),
  mpg_ranger = described(by_ranger(mpg ~ ., mpg, 5)),
  mpg_random_forest = described(by_random_forest(mpg ~ ., mpg, 5))
)
cat(toJSON(result, digits = 12, auto_unbox = TRUE, pretty = TRUE))
