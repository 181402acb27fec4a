# Linear support vector machines by R's e1071 (libsvm), written as JSON.
#   Rscript linear_svm.R > linear_svm.json
library(MASS)  # Pima.tr (Smith et al. 1988)
library(e1071)

numbers <- function(x) paste0("[", paste(sprintf("%.17g", as.numeric(x)), collapse = ", "), "]")
entry <- function(name, x) cat(sprintf("  \"%s\": %s,\n", name, numbers(x)))

columns <- c("npreg", "glu", "bp", "skin", "bmi", "ped", "age")
# About zero and of size 1, in numbers of few digits: libsvm rounds products of rows to float32.
X <- sweep(as.matrix(Pima.tr[, columns]), 2, c(4, 128, 72, 32, 32, 0.5, 32))
X <- round(X %*% diag(1 / c(4, 32, 16, 8, 8, 0.25, 8)) * 16) / 16
# The first label that comes is the positive one: those with diabetes first.
first <- order(Pima.tr$type != "Yes")
X <- X[first, ]
diabetes <- as.numeric(Pima.tr$type[first] == "Yes")

cat("{\n")
cat(sprintf("  \"source\": \"R %s, MASS %s, e1071 %s\",\n", getRversion(),
            packageVersion("MASS"), packageVersion("e1071")))
for (j in seq_along(columns)) entry(columns[j], X[, j])
entry("diabetes", diabetes)

machine <- function(...) svm(X, factor(diabetes, levels = c(1, 0)), type = "C-classification",
                             kernel = "linear", scale = FALSE, tolerance = 1e-8, ...)
report <- function(name, fit) {
  entry(paste(name, "coef"), t(fit$coefs) %*% fit$SV)
  entry(paste(name, "intercept"), -fit$rho)
  entry(paste(name, "support vectors"), sort(fit$index))
}
for (cost in c(0.1, 1, 10)) report(sprintf("C = %g", cost), machine(cost = cost))
report("class weights", machine(cost = 1, class.weights = c("1" = 2, "0" = 1)))
cat(sprintf("  \"n\": %d\n}\n", nrow(X)))
