# Linear and quadratic discriminant analysis of R's MASS, for tests/reference/test_discriminants.py:
# maximum likelihood and moments, plug-in posteriors, leave-one-out, coordinates. Sets: iris, the
# Pima women, the crabs (five measures that nearly depend on each other), and rows made here.
# Rscript tests/reference/discriminants.R > tests/reference/discriminants.json
library(MASS)
library(jsonlite)

n <- 90
i <- seq_len(n)
made <- data.frame(a = sin(1.3 * i) + (i %% 3), b = cos(2.1 * i^1.1) * (1 + i %% 3),
                   c = 1000 + sin(7 * i) - 0.5 * (i %% 3))
sets <- list(
  iris = list(x = as.matrix(iris[, 1:4]), y = as.character(iris$Species)),
  pima = list(x = as.matrix(Pima.tr[, 1:7]), y = as.character(Pima.tr$type)),
  crabs = list(x = as.matrix(crabs[, 4:8]), y = paste0(crabs$sp, crabs$sex)),
  made = list(x = as.matrix(made), y = letters[1 + (i * i) %% 3 + (i %% 10 == 0)])
)

rules <- function(set, priors) {
  x <- set$x
  y <- factor(set$y)
  shown <- seq(1, length(y), 10)
  K <- nlevels(y)
  prior <- if (priors == "given") (seq_len(K)) / sum(seq_len(K)) else as.vector(table(y) / length(y))
  posterior <- function(fit) unname(predict(fit, x[shown, ], method = "plug-in")$posterior)
  linear <- lda(x, y, prior, method = "mle")
  unbiased <- lda(x, y, prior, method = "moment")
  quadratic <- qda(x, y, prior, method = "mle")
  list(
    prior = prior,
    lda = posterior(linear), lda_unbiased = posterior(unbiased),
    qda = posterior(quadratic), qda_unbiased = posterior(qda(x, y, prior, method = "moment")),
    lda_left_out = unname(lda(x, y, prior, method = "mle", CV = TRUE)$posterior[shown, ]),
    qda_left_out = unname(qda(x, y, prior, method = "mle", CV = TRUE)$posterior[shown, ]),
    scaling = unname(unbiased$scaling), separation = unbiased$svd
  )
}

found <- lapply(sets, function(set) {
  list(x = unname(set$x), y = set$y, estimated = rules(set, "estimated"), given = rules(set, "given"))
})
found$MASS <- as.character(packageVersion("MASS"))
found$R <- R.version.string
cat(toJSON(found, digits = I(15), auto_unbox = TRUE))
