# Logistic models by R's glm, nnet::multinom and glmnet, written as JSON.
#   Rscript logistic_models.R > logistic_models.json
library(MASS)  # birthwt (Hosmer & Lemeshow 1989), profile intervals
library(nnet)
library(glmnet)

numbers <- function(x) paste0("[", paste(sprintf("%.17g", as.numeric(x)), collapse = ", "), "]")
entry <- function(name, x) cat(sprintf("  \"%s\": %s,\n", name, numbers(x)))

columns <- c("age", "lwt", "smoke", "ht", "ui", "ptl")
X <- as.matrix(birthwt[, columns])
n <- nrow(X)
unit <- X %*% diag(1 / c(10, 50, 1, 1, 1, 1))
weight <- 1 + (seq_len(n) %% 3)

cat("{\n")
cat(sprintf("  \"source\": \"R %s, MASS %s, nnet %s, glmnet %s\",\n", getRversion(),
            packageVersion("MASS"), packageVersion("nnet"), packageVersion("glmnet")))
for (j in seq_along(columns)) entry(columns[j], X[, j])
entry("low", birthwt$low)
entry("race", birthwt$race)
entry("weight", weight)

exact <- glm.control(epsilon = 1e-15, maxit = 100)
fit <- glm(low ~ age + lwt + smoke + ht + ui + ptl, binomial, birthwt, control = exact)
entry("glm coef", coef(fit))
entry("glm se", summary(fit)$coefficients[, 2])
entry("glm deviance", deviance(fit))
entry("glm profile lower", suppressMessages(confint(fit))[, 1])
entry("glm profile upper", suppressMessages(confint(fit))[, 2])
weighted <- glm(low ~ age + lwt + smoke + ht + ui + ptl, binomial, birthwt, weights = weight,
                control = exact)
entry("glm weighted coef", coef(weighted))
entry("glm weighted se", summary(weighted)$coefficients[, 2])
entry("glm weighted profile lower", suppressMessages(confint(weighted))[, 1])
entry("glm weighted profile upper", suppressMessages(confint(weighted))[, 2])

# The exact ends of profile intervals: the deviance of the best fit at a held coefficient.
end <- function(fit, j, side) {
  Z <- model.matrix(fit)
  z2 <- qchisq(0.95, 1)
  rise <- function(t) {
    held <- glm.fit(Z[, -j], fit$y, weights = fit$prior.weights, offset = Z[, j] * t,
                    family = binomial(), control = exact)
    held$deviance - deviance(fit) - z2
  }
  error <- summary(fit)$coefficients[j, 2]
  best <- coef(fit)[j]
  uniroot(rise, sort(c(best, best + side * 4 * error)), tol = 1e-12 * error)$root
}
for (side in c(-1, 1)) {
  name <- if (side < 0) "lower" else "upper"
  entry(paste("glm exact", name), sapply(1:7, function(j) end(fit, j, side)))
  entry(paste("glm weighted exact", name), sapply(1:7, function(j) end(weighted, j, side)))
}

scaled <- data.frame(unit, race = factor(birthwt$race))
names(scaled) <- c(columns, "race")
many <- multinom(race ~ ., scaled, maxit = 10000, reltol = 1e-16, abstol = 1e-16, trace = FALSE,
                 Hess = TRUE)
entry("multinom coef", t(coef(many)))
entry("multinom se", t(summary(many)$standard.errors))
entry("multinom deviance", deviance(many))

for (alpha in c(0, 0.5, 1)) {
  two <- glmnet(unit, birthwt$low, "binomial", alpha = alpha, lambda = 0.02, standardize = FALSE,
                thresh = 1e-20, maxit = 1e7)
  entry(sprintf("glmnet binomial %g", alpha), as.matrix(coef(two)))
  three <- glmnet(unit, factor(birthwt$race), "multinomial", alpha = alpha, lambda = 0.02,
                  standardize = FALSE, thresh = 1e-20, maxit = 1e7)
  entry(sprintf("glmnet multinomial %g", alpha), sapply(coef(three), as.matrix))
}
cat("  \"n\": 189\n}\n")
