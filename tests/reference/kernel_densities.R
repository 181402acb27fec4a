# Bandwidths and kernel estimates of R on data sets that come with R, as in kernel_densities.json:
#   Rscript tests/reference/kernel_densities.R > tests/reference/kernel_densities.json
# bw.SJ and bw.ucv count pairs in nb bins, here fine ones. Packages MASS and ks.
suppressMessages({library(MASS); library(ks)})
numbers <- function(x) paste0("[", paste(format(x, digits = 15, trim = TRUE), collapse = ", "), "]")
entry <- function(name, x)
  paste0('"', name, '": {"x": ', numbers(x), ', "sheather_jones": ', format(bw.SJ(x, nb = 20000), digits = 15),
         ', "ucv": ', format(suppressWarnings(bw.ucv(x, nb = 20000)), digits = 15), "}")
x <- faithful$eruptions; y <- faithful$waiting
at <- c(1.5, 2, 3, 4, 4.5, 5.5)
fine <- density(x, bw = 0.2, n = 2^15, from = 1, to = 6)
H <- matrix(c(0.04, 0.3, 0.3, 9), 2)
points <- rbind(c(2, 50), c(4, 80), c(3, 65))
here <- c(1.7, 3, 4.4)
near <- function(x0) dnorm((x - x0) / 0.25)
cat("{\n", '"source": "', R.version.string, ', stats::bw.SJ, bw.ucv, density, lm; ks::kde",\n',
    paste(c(entry("precip", as.vector(precip)), entry("geyser", geyser$duration),
            entry("faithful", x), entry("galaxies", galaxies / 1000)), collapse = ",\n"), ",\n",
    '"waiting": ', numbers(y), ",\n",
    '"density": {"bandwidth": 0.2, "at": ', numbers(at), ', "f": ', numbers(approx(fine$x, fine$y, xout = at)$y), "},\n",
    '"kde": {"H": [[0.04, 0.3], [0.3, 9]], "at": [[2, 50], [4, 80], [3, 65]], "f": ',
    numbers(kde(faithful, H = H, eval.points = points, binned = FALSE)$estimate), "},\n",
    '"regression": {"bandwidth": 0.25, "at": ', numbers(here), ', "mean": ',
    numbers(sapply(here, function(x0) weighted.mean(y, near(x0)))), ', "line": ',
    numbers(sapply(here, function(x0) coef(lm(y ~ I(x - x0), weights = near(x0)))[1])), "}\n}\n", sep = "")
