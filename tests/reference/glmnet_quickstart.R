# The vignette's data with numbers of glmnet run to the end, and those that the vignette prints:
#   Rscript glmnet_quickstart.R > glmnet_quickstart.json
suppressMessages(library(glmnet))
data(QuickStartExample)
x <- QuickStartExample$x; y <- as.numeric(QuickStartExample$y)
lambda <- c(0.5, 0.1, 0.05)
fit <- glmnet(x, y, lambda = lambda, thresh = 1e-20, maxit = 1e7)
start <- glmnet(x, y)
show <- function(v) if (is.matrix(v)) paste0("[", paste(apply(v, 1, show), collapse = ",\n  "), "]") else
  paste0("[", paste(sprintf("%.15g", v), collapse = ","), "]")
cat(sprintf('{\n "source": "R %s, glmnet %s, tests/reference/glmnet_quickstart.R; printed: its vignette, glmnet.pdf of version 4.1-8",\n',
            getRversion(), packageVersion("glmnet")))
cat(sprintf(' "x": %s,\n "y": %s,\n "lambda": %s,\n "coef": %s,\n "intercept": %s,\n "predictions": %s,\n',
            show(x), show(y), show(lambda), show(t(as.matrix(fit$beta))), show(as.numeric(fit$a0)),
            show(t(predict(fit, x[1:5, ])))))
cat(sprintf(' "path_start": {"lambda": %s, "df": %s, "deviance": %s},\n', show(start$lambda[1:6]),
            show(start$df[1:6]), show(start$dev.ratio[1:6])))
cat(' "printed": {
  "lambda_0.5_intercept_and_nonzero": [0.261311, 1.005547, 0.267714, -0.4476485, 0.2379287, -0.8230862, -0.5553678],
  "lambda_0.1_first_seven": [1.320597195, 0, 0.675110234, 0, -0.817411518, 0.521436671, 0.004829335],
  "lambda_0.05_predictions": [-1.3362652, 2.5894245, 0.5872868, 2.0977222, 1.643628]
 }
}
')
