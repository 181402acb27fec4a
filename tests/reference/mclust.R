# Log-likelihood, BIC and ICL of Gaussian mixtures by mclust 6.x, at its defaults.
# Rscript tests/reference/mclust.R > tests/reference/mclust.json
suppressMessages({library(mclust); library(jsonlite)})
data(diabetes, package = "mclust"); data(acidity, package = "mclust")
sets <- list(faithful = as.matrix(faithful), diabetes = as.matrix(diabetes[, 2:4]),
             acidity = as.matrix(acidity), iris = as.matrix(iris[, 1:4]))
# mclust's names of what scikit-learn calls full, tied, diag and spherical
names_of <- function(p) if (p == 1) list(full = "V", tied = "E") else
  list(full = "VVV", tied = "EEE", diag = "VVI", spherical = "VII")
fits <- list()
for (set in names(sets)) {
  X <- sets[[set]]
  for (type in names(names_of(ncol(X)))) for (G in 2:6) {
    if (G == 6 && set != "iris") next
    model <- names_of(ncol(X))[[type]]
    fit <- tryCatch(Mclust(X, G = G, modelNames = model, verbose = FALSE), error = function(e) NULL)
    if (is.null(fit) || is.na(fit$loglik)) next
    # Mclust reports the likelihood of its last E-step: here that of the parameters themselves
    at <- estep(X, modelName = fit$modelName, parameters = fit$parameters)
    bic_at <- 2 * at$loglik - fit$df * log(nrow(X))
    fits[[length(fits) + 1]] <- list(
      data = unbox(set), covariance_type = unbox(type), n_components = unbox(G),
      log_likelihood = unbox(fit$loglik), df = unbox(fit$df), bic = unbox(fit$bic),
      icl = unbox(icl(fit)), log_likelihood_at = unbox(at$loglik), bic_at = unbox(bic_at),
      icl_at = unbox(bic_at + 2 * sum(log(apply(at$z, 1, max)))), weights = fit$parameters$pro,
      means = matrix(fit$parameters$mean, ncol = G),  # a column for each component
      variance = if (type == "full" && ncol(X) > 1) fit$parameters$variance$sigma else NULL)
  }
}
out <- list(source = unbox(paste("R", getRversion(), "mclust", packageVersion("mclust"), "Mclust()")),
            acidity = as.vector(sets$acidity), diabetes = sets$diabetes, fits = fits)
cat(toJSON(out, digits = 12))
