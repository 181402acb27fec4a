# Forests of ranger for benchmarks/forests.py: Rscript ranger_server.R FOLDER ROWS COLUMNS NEW
# FOLDER/data.bin holds columns of doubles: the class, then the features, of the rows to fit and of
# NEW rows after them. The line "fit" grows a forest with two threads and answers with the seconds
# that R counted; the line "score" answers with the share of new rows that it predicts right.
library(ranger)
given <- commandArgs(trailingOnly = TRUE)
n <- as.integer(given[2])
p <- as.integer(given[3])
m <- as.integer(given[4])
columns <- matrix(readBin(file.path(given[1], "data.bin"), "double", (n + m) * (p + 1)), n + m)
X <- columns[seq_len(n), -1, drop = FALSE]
colnames(X) <- paste0("x", seq_len(p))
y <- factor(columns[seq_len(n), 1])
new <- columns[-seq_len(n), -1, drop = FALSE]
colnames(new) <- colnames(X)
asked <- file("stdin", "r")
while (length(line <- readLines(asked, n = 1)) > 0) {
  if (line == "fit") {
    time <- system.time(forest <- ranger(x = X, y = y, num.trees = 100, min.node.size = 1,
                                         num.threads = 2, oob.error = FALSE))
    cat(time[["elapsed"]], "\n")
  } else {
    found <- predict(forest, new, num.threads = 2)$predictions
    cat(mean(found == columns[-seq_len(n), 1]), "\n")
  }
  flush(stdout())
}
