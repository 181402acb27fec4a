# Numbers of glmnet for tests/reference/test_glmnet.py:  Rscript glmnet_paths.R > glmnet_paths.json
# y has mean 0 and variance 1 (divisor n): glmnet scales y so, and its L2 penalty then depends on it.
suppressMessages(library(glmnet))
set.seed(1)
n <- 25; p <- 6
x <- matrix(rnorm(n * p), n, p); x[, 2] <- x[, 2] + x[, 1]; x <- round(x, 3)
y <- x[, 1] - 2 * x[, 3] + 0.5 * x[, 6] + rnorm(n); y <- y - mean(y); y <- y / sqrt(mean(y^2))
w <- rep(1:5, 5); factor <- c(0, 1, 1, 2, 0.5, 1.5)
lambda <- c(0.5, 0.2, 0.05, 0.01)
path <- function(...) {
  fit <- glmnet(x, y, standardize = FALSE, lambda = lambda, thresh = 1e-20, maxit = 1e7, ...)
  list(coef = as.matrix(fit$beta), intercept = as.numeric(fit$a0), df = fit$df)
}
show <- function(v) if (is.matrix(v)) paste0("[", paste(apply(v, 1, show), collapse = ","), "]") else
  paste0("[", paste(sprintf("%.15g", v), collapse = ","), "]")
one <- function(name, r) sprintf('  "%s": {"coef": %s, "intercept": %s, "df": %s}', name,
                                 show(t(r$coef)), show(r$intercept), show(r$df))
cat(sprintf('{\n "source": "R %s, glmnet %s, tests/reference/glmnet_paths.R",\n',
            getRversion(), packageVersion("glmnet")))
cat(sprintf(' "x": %s,\n "y": %s,\n "weights": %s,\n "penalty_factor": %s,\n "lambda": %s,\n "results": {\n',
            show(x), show(y), show(w), show(factor), show(lambda)))
cat(paste(c(one("lasso", path()), one("elastic_net", path(alpha = 0.3)),
  one("positive", path(lower.limits = 0)), one("weights", path(weights = w)),
  one("penalty_factor", path(penalty.factor = factor))), collapse = ",\n"), "\n }\n}\n")
