# R's own principal components of data sets that come with R, as in tests/reference/prcomp.json:
#   Rscript tests/reference/prcomp.R > tests/reference/prcomp.json
# prcomp goes by singular values with divisor n - 1, princomp by the covariance with divisor n.
numbers <- function(x) paste0("[", paste(format(x, digits = 17, trim = TRUE, scientific = FALSE), collapse = ", "), "]")
rows <- function(X) paste0("[", paste(apply(X, 1, numbers), collapse = ", "), "]")
entry <- function(name, X, scale) {
  X <- as.matrix(X)
  p <- prcomp(X, scale. = scale)
  q <- princomp(X, cor = scale)
  paste0('"', name, '": {"X": ', rows(X), ', "correlation": ', tolower(scale),
         ', "prcomp_sdev": ', numbers(p$sdev), ', "prcomp_rotation": ', rows(p$rotation),
         ', "prcomp_scores": ', rows(p$x[1:3, ]), ', "princomp_sdev": ', numbers(q$sdev), "}")
}
cat("{\n", '"source": "', R.version.string, ', stats::prcomp and stats::princomp",\n',
    paste(c(entry("USArrests", USArrests, TRUE), entry("iris", iris[, 1:4], FALSE)), collapse = ",\n"),
    "\n}\n", sep = "")
