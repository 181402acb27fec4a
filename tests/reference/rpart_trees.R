# Trees and cost-complexity tables of R's rpart, for tests/reference/test_rpart.py.
# Rscript tests/reference/rpart_trees.R > tests/reference/rpart_trees.json
library(rpart)
library(jsonlite)

control <- function(minsplit, minbucket, cp = 0)
  rpart.control(minsplit = minsplit, minbucket = minbucket, cp = cp, xval = 0,
                maxcompete = 0, maxsurrogate = 0, usesurrogate = 0)

described <- function(fit) {
  frame <- fit$frame
  splits <- if (is.null(fit$splits)) NULL else unname(fit$splits[, "index"])
  list(var = as.character(frame$var), n = frame$n, dev = frame$dev, threshold = splits,
       cp = unname(fit$cptable[, "CP"]), nsplit = unname(fit$cptable[, "nsplit"]),
       rel_error = unname(fit$cptable[, "rel error"]))
}

folder <- "src/empirisk/data/datasets/"
mpg <- na.omit(read.csv(paste0(folder, "auto_mpg.csv"), comment.char = "#"))
mpg <- mpg[, c("mpg", "displacement", "horsepower", "weight", "acceleration")]
loss <- matrix(c(0, 1, 4, 1, 0, 1, 4, 1, 0), 3, byrow = TRUE)
result <- list(
  version = paste("R", getRversion(), "rpart", packageVersion("rpart")),
  iris_gini = described(rpart(Species ~ ., iris, control = control(10, 5))),
  iris_information = described(rpart(Species ~ ., iris, control = control(10, 5),
                                     parms = list(split = "information"))),
  iris_loss = described(rpart(Species ~ ., iris, control = control(10, 5),
                              parms = list(loss = loss))),
  mpg_anova = described(rpart(mpg ~ ., mpg, control = control(20, 7))),
  mpg_pruned = described(rpart(mpg ~ ., mpg, control = control(20, 7, 0.01)))
)
cat(toJSON(result, digits = 17, auto_unbox = TRUE, pretty = TRUE))
