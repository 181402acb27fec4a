# R's maximum likelihood for densities on the line, as in tests/reference/fitdistr.json:
#   Rscript tests/reference/fitdistr.R > tests/reference/fitdistr.json
# MASS::fitdistr on data sets that come with R and MASS. Where it searches, it is started again from where it ended, and told
# to stop late.
suppressMessages(library(MASS))
numbers <- function(x) paste0("[", paste(format(x, digits = 17, trim = TRUE, scientific = FALSE), collapse = ", "), "]")
late <- list(reltol = 1e-15, maxit = 10000)
found <- function(x, ...) {
  fit <- suppressWarnings(fitdistr(x, ...))
  paste0('"estimate": {', paste0('"', names(fit$estimate), '": ', format(fit$estimate, digits = 17, trim = TRUE), collapse = ", "),
         '}, "log_likelihood": ', format(fit$loglik, digits = 17))
}
searched <- function(x, density, start, ...) {
  for (i in 1:5) start <- as.list(suppressWarnings(fitdistr(x, density, start, control = late, ...))$estimate)
  found(x, density, start, control = late, ...)
}
entry <- function(name, data, x, text) paste0('"', name, '": {"data": "', data, '", "x": ', numbers(x), ", ", text, "}")
shape <- rock$shape
entries <- c(
  entry("norm", "datasets::precip", precip, found(precip, "normal")),
  entry("lognorm", "datasets::rivers", rivers, found(rivers, "lognormal")),
  entry("expon", "datasets::rivers", rivers, found(rivers, "exponential")),
  entry("gamma", "datasets::rivers", rivers, searched(rivers / 100, "gamma", list(shape = 2, rate = 1))),
  entry("weibull_min", "datasets::rivers", rivers, searched(rivers, "weibull", list(shape = 1, scale = 500))),
  entry("beta", "datasets::rock$shape", shape, searched(shape, "beta", list(shape1 = 2, shape2 = 8))),
  entry("cauchy", "MASS::chem", chem, searched(chem, "cauchy", list(location = 3, scale = 1))),
  entry("logistic", "datasets::precip", precip, searched(precip, "logistic", list(location = 35, scale = 8))),
  entry("t", "MASS::chem, 3 degrees of freedom", chem, searched(chem, "t", list(m = 3, s = 1), df = 3)))
cat("{\n", '"source": "', R.version.string, ", MASS ", format(packageVersion("MASS")), ', fitdistr",\n',
    paste(entries, collapse = ",\n"), "\n}\n", sep = "")
