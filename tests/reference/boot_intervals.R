# Intervals of R's package boot (Canty & Ripley, after Davison & Hinkley 1997), written as JSON.
#   Rscript boot_intervals.R > boot_intervals.json
# Made with R 4.2.2 and boot 1.3-28.1.
library(boot)

# Efron's law school data: LSAT score and grade point average of 15 schools (Efron 1979).
lsat <- c(576, 635, 558, 578, 666, 580, 555, 661, 651, 605, 653, 575, 545, 572, 594)
gpa <- c(3.39, 3.30, 2.81, 3.03, 3.44, 3.07, 3.00, 3.43, 3.36, 3.13, 3.12, 2.74, 2.76, 2.88, 2.96)
law <- cbind(lsat, gpa)

numbers <- function(x) paste0("[", paste(sprintf("%.17g", x), collapse = ", "), "]")
entry <- function(name, x) cat(sprintf("  \"%s\": %s,\n", name, numbers(x)))
ends <- function(boot.out, level, type, ...) {
  found <- boot.ci(boot.out, conf = level, type = type, ...)
  tail(as.numeric(found[[4]]), 2)
}
correlation <- function(data, i) cor(data[i, 1], data[i, 2])
mean.and.variance <- function(data, i) c(mean(data[i]), var(data[i]) / length(i))

cat("{\n")
entry("lsat", lsat)
entry("gpa", gpa)

# 499 replicates: (B + 1) alpha is not whole at level 0.9123, and the ends are interpolated.
set.seed(1)
few <- boot(law, correlation, R = 499)
# boot takes what leaving out a row changes about the value; Efron's acceleration (1987) is about the
# mean of the values with a row left out.
jackknife <- empinf(data = law, statistic = correlation, type = "jack", stype = "i")
jackknife <- jackknife - mean(jackknife)
entry("replicates", few$t[, 1])
entry("value", few$t0)
entry("jackknife_influence", jackknife)
for (level in c(0.9, 0.9123)) {
  entry(sprintf("percentile %g", level), ends(few, level, "perc"))
  entry(sprintf("basic %g", level), ends(few, level, "basic"))
  entry(sprintf("bca %g", level), ends(few, level, "bca", L = jackknife))
}

# The mean of the LSAT scores, studentised.
set.seed(2)
means <- boot(lsat, mean.and.variance, R = 499)
entry("mean_replicates", means$t[, 1])
entry("mean_variances", means$t[, 2])
entry("mean_value", means$t0)
entry("studentised 0.9", ends(means, 0.9, "stud"))

# The same with many replicates, from the beginning to the end.
set.seed(3)
many <- boot(law, correlation, R = 99999)
entry("many standard_error", sd(many$t[, 1]))
entry("many percentile 0.9", ends(many, 0.9, "perc"))
entry("many bca 0.9", ends(many, 0.9, "bca", L = jackknife))
set.seed(4)
many <- boot(lsat, mean.and.variance, R = 99999)
entry("many studentised 0.9", ends(many, 0.9, "stud"))
cat("  \"source\": \"R 4.2.2, boot 1.3-28.1, boot_intervals.R\"\n}\n")
