# Posteriors of naive Bayes by R's e1071, written as JSON; variances there are divided by n - 1.
#   Rscript naive_bayes.R > naive_bayes.json
library(e1071)
library(MASS)  # birthwt (Hosmer & Lemeshow 1989), survey (Venables & Ripley 1994), with missing cells

strings <- function(x) ifelse(is.na(x), "null", paste0("\"", as.character(x), "\""))
numbers <- function(x) ifelse(is.na(x), "null", sprintf("%.17g", as.numeric(x)))
listed <- function(x) paste0("[", paste(x, collapse = ", "), "]")
cells <- function(x) listed(if (is.factor(x)) strings(x) else numbers(x))

set <- function(name, data, target, laplace, last = FALSE) {
  fit <- naiveBayes(data[names(data) != target], data[[target]], laplace = laplace)
  raw <- predict(fit, data[names(data) != target], type = "raw")
  cat(sprintf("  \"%s\": {\n    \"laplace\": %g,\n    \"columns\": {\n", name, laplace))
  columns <- setdiff(names(data), target)
  lines <- sprintf("      \"%s\": %s", columns, sapply(data[columns], cells))
  cat(paste(lines, collapse = ",\n"), "\n    },\n")
  cat(sprintf("    \"y\": %s,\n", listed(strings(data[[target]]))))
  cat(sprintf("    \"classes\": %s,\n", listed(strings(colnames(raw)))))
  rows <- apply(raw, 1, function(row) listed(numbers(row)))
  cat(sprintf("    \"posterior\": %s\n  }%s\n", listed(rows), if (last) "" else ","))
}

weights <- transform(birthwt, low = factor(low), race = factor(race), smoke = factor(smoke),
                     ht = factor(ht), ui = factor(ui))
weights$bwt <- NULL
habits <- survey[!is.na(survey$Sex), ]

cat("{\n")
cat(sprintf("  \"source\": \"R %s, e1071 %s, MASS %s\",\n", getRversion(), packageVersion("e1071"),
            packageVersion("MASS")))
set("iris", iris, "Species", 0)
set("birthwt", weights, "low", 0)
set("birthwt smoothed", weights, "low", 2.5)
set("survey", habits, "Sex", 1)
set("survey of exercise", survey, "Exer", 1, last = TRUE)
cat("}\n")
