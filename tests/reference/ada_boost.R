# AdaBoost.M1 and SAMME in their textbook form around R's rpart, for tests/reference/test_ada_boost.py.
# Rscript tests/reference/ada_boost.R > tests/reference/ada_boost.json
library(rpart)
library(jsonlite)

boosted <- function(X, y, rounds, depth, split) {
  K <- nlevels(y)
  w <- rep(1 / length(y), length(y))
  data <- cbind(X, y = y)
  control <- rpart.control(minsplit = 2, minbucket = 1, cp = -1, maxdepth = depth, xval = 0,
                           maxcompete = 0, maxsurrogate = 0)
  errors <- weights <- c()
  votes <- matrix(0, length(y), K)
  for (t in 1:rounds) {
    data$w <- w
    tree <- rpart(y ~ . - w, data, weights = w, control = control, method = "class",
                  parms = list(split = split))
    says <- predict(tree, data, type = "class")
    wrong <- says != y
    error <- sum(w[wrong]) / sum(w)
    weight <- log((1 - error) / error) + log(K - 1)
    votes[cbind(seq_along(y), as.integer(says))] <-
      votes[cbind(seq_along(y), as.integer(says))] + weight
    w <- w * exp(weight * wrong)
    w <- w / sum(w)
    errors <- c(errors, error)
    weights <- c(weights, weight)
  }
  list(errors = errors, weights = weights, first_votes = votes[1:20, ] / sum(weights),
       training_error = mean(max.col(votes, "first") != as.integer(y)))
}

folder <- "src/empirisk/data/datasets/"
mpg <- na.omit(read.csv(paste0(folder, "auto_mpg.csv"), comment.char = "#"))
X <- mpg[, c("displacement", "horsepower", "weight", "acceleration")]
two <- factor(mpg$mpg > 22)
three <- cut(mpg$mpg, c(0, 19, 26, 99))
result <- list(
  version = paste("R", getRversion(), "rpart", packageVersion("rpart")),
  two_gini = boosted(X, two, 10, 1, "gini"),
  two_deep = boosted(X, two, 6, 2, "gini"),
  three_gini = boosted(X, three, 10, 1, "gini"),
  three_deep = boosted(X, three, 6, 2, "gini")
)
cat(toJSON(result, digits = 17, auto_unbox = TRUE, pretty = TRUE))
