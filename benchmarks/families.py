"""All benchmarks: importing a family enters its benchmarks."""

from importlib import import_module

from benchmarks.case import BENCHMARKS, Benchmark

FAMILIES = (
    "linear",
    "bases",
    "lasso",
    "logistic",
    "margin",
    "clusters",
    "densities",
    "discriminants",
    "naive_bayes",
    "neighbors",
    "linear_trees",
    "trees",
    "forests",
    "bagging",
    "ada_boost",
    "stagewise",
    "boosting",
    "networks",
    "network_memory",
    "lenet_accuracy",
    "plug_in",
    "principal_components",
    "encoding",
    "reading",
    "measures",
    "mixtures",
    "bootstrap",
    "risk_room",
    "shapley",
    "imports",
)


def load_families() -> dict[str, Benchmark]:
    """Every benchmark by name."""
    for family in FAMILIES:
        import_module(f"benchmarks.{family}")
    return BENCHMARKS


def family_of(name: str) -> str:
    """The file that a benchmark is in, in words; none of a table of digits."""
    entry = load_families().get(name)
    module = "" if entry is None else entry.build.__module__.rpartition(".")[2]
    return module.replace("_", " ").capitalize()
