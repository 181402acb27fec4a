# Boosted stumps of R's gbm, for tests/reference/test_gbm.py.
# Rscript tests/reference/gbm_fits.R > tests/reference/gbm_fits.json
suppressMessages(library(gbm))
library(jsonlite)

folder <- "src/empirisk/data/datasets/"
mpg <- na.omit(read.csv(paste0(folder, "auto_mpg.csv"), comment.char = "#"))
mpg <- mpg[, c("mpg", "displacement", "horsepower", "weight", "acceleration")]
mpg$weight <- floor(mpg$weight / 50)  # no more values than bins
mpg$weights <- rep(1:3, length.out = nrow(mpg))

fitted_by <- function(distribution, formula, data, rounds, weights = rep(1, nrow(data))) {
  data$w <- weights
  fit <- gbm(formula, distribution = distribution, data = data, weights = w, n.trees = rounds,
             interaction.depth = 1, n.minobsinnode = 10, shrinkage = 0.1, bag.fraction = 1,
             train.fraction = 1)
  list(start = fit$initF, score = unname(predict(fit, data, n.trees = rounds)),
       variable = sapply(seq_len(rounds), function(t) fit$trees[[t]][[1]][1]),
       threshold = sapply(seq_len(rounds), function(t) fit$trees[[t]][[2]][1]))
}

own <- mpg ~ displacement + horsepower + weight + acceleration
mpg$heavy <- as.numeric(mpg$mpg > 22)
which <- heavy ~ displacement + horsepower + weight + acceleration
result <- list(
  version = paste("R", getRversion(), "gbm", packageVersion("gbm")),
  gaussian = fitted_by("gaussian", own, mpg, 30),
  weighted = fitted_by("gaussian", own, mpg, 30, mpg$weights),
  laplace = fitted_by("laplace", own, mpg, 30),
  bernoulli = fitted_by("bernoulli", which, mpg, 1)
)
cat(toJSON(result, digits = 17, auto_unbox = TRUE))
