# Nearest neighbours and Gower's dissimilarities of R, written as JSON.
#   Rscript neighbors.R > neighbors.json
library(cluster)
out <- function(...) paste0("[", paste(sprintf("%.15g", c(...)), collapse = ", "), "]")
set.seed(1)
X <- matrix(round(rnorm(300), 6), 100)  # no two distances are equal
y <- as.integer(X[, 1] + X[, 2]^2 + rnorm(100) > 0.5)
Z <- matrix(round(rnorm(60), 6), 20)
k5 <- class::knn(X, Z, factor(y), k = 5, prob = TRUE)
cv <- sapply(c(1, 3, 7, 15), function(k) mean(as.integer(as.character(class::knn.cv(X, factor(y), k = k))) != y))
means <- FNN::knn.reg(X, Z, X[, 1] + X[, 3], k = 4)$pred
table <- data.frame(age = c(23, 35, NA, 51, 44, 29), height = c(1.7, 1.82, 1.65, NA, 1.91, 1.75),
                    hair = factor(c("dark", "fair", "fair", "red", NA, "dark")))
gower <- as.matrix(daisy(table, metric = "gower"))
cat('{\n "source": "R', as.character(getRversion()), 'class', as.character(packageVersion("class")), 'knn, knn.cv; FNN', as.character(packageVersion("FNN")), 'knn.reg; cluster', as.character(packageVersion("cluster")), 'daisy; tests/reference/neighbors.R",\n')
cat(' "X":', out(t(X)), ',\n "y":', out(y), ',\n "Z":', out(t(Z)), ',\n')
cat(' "knn":', out(as.integer(as.character(k5))), ',\n "prob":', out(attr(k5, "prob")), ',\n')
cat(' "cv_k": [1, 3, 7, 15],\n "cv_error":', out(cv), ',\n "knn_reg":', out(means), ',\n')
cat(' "gower":', out(t(gower)), '\n}\n')
