# Cross-validated trees of rpart for benchmarks/trees.py: Rscript rpart_server.R FOLDER ROWS COLUMNS
# FOLDER/data.bin holds columns of doubles: the target, the fold of each row, the features. Each line
# that comes grows and prunes once, writes the table to FOLDER/table.bin, and answers with the
# seconds that it took.
library(rpart)
given <- commandArgs(trailingOnly = TRUE)
n <- as.integer(given[2])
p <- as.integer(given[3])
columns <- matrix(readBin(file.path(given[1], "data.bin"), "double", n * (p + 2)), n)
data <- as.data.frame(columns[, -2])
names(data)[1] <- "y"
control <- rpart.control(minsplit = 20, minbucket = 7, cp = 0, xval = as.integer(columns[, 2]),
                         maxcompete = 0, maxsurrogate = 0, usesurrogate = 0)
asked <- file("stdin", "r")
while (length(readLines(asked, n = 1)) > 0) {
  time <- system.time(fit <- rpart(y ~ ., data, method = "anova", control = control))
  writeBin(as.vector(fit$cptable[, c("CP", "xerror")]), file.path(given[1], "table.bin"))
  cat(time[["user.self"]], "\n")
  flush(stdout())
}
