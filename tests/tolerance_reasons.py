"""Finds the tolerances of a test file that stand without a reason."""

import ast
from collections.abc import Iterator
from itertools import takewhile

WITH_DEFAULT = {"assert_allclose", "allclose", "isclose"}  # an rtol that is not given is not zero
COMPARISONS = WITH_DEFAULT | {"approx"}
TOLERANCES = {"rtol", "atol", "rel", "abs"}
SIZES = {"abs", "absolute", "norm"}


def without_reason(source: str) -> list[int]:
    """The lines on which a comparison has no tolerance, or one whose reason is not told.

    The reason is a comment in the statement or right above it, or above others with a tolerance
    right before it; a tolerance with a name has its reason where the name is given its value.
    """
    lines = source.splitlines()
    tree = ast.parse(source)
    told = names_with_reason(tree, lines)
    return sorted({line for body in bodies(tree) for line in bare_lines(body, lines, told)})


def bodies(tree: ast.AST) -> Iterator[list[ast.stmt]]:
    """Every list of statements."""
    for node in ast.walk(tree):
        for name in ("body", "orelse", "finalbody"):
            if isinstance(body := getattr(node, name, None), list):
                yield body


def bare_lines(body: list[ast.stmt], lines: list[str], told: set[str]) -> Iterator[int]:
    """The lines without a reason in one list of statements, not in the lists below it."""
    reason_above = False
    for statement in body:
        found = [node for node in own_nodes(statement) if has_tolerance(node)]
        reason_above = bool(found) and (reason_above or has_comment(statement, lines))
        for node in found:
            if relies_on_default(node) or not (
                reason_above or all(is_told(value, told) for value in tolerances(node))
            ):
                yield node.lineno


def own_nodes(statement: ast.stmt) -> Iterator[ast.AST]:
    """The expressions of a statement, without those of the statements inside it."""
    waiting: list[ast.AST] = [statement]
    while waiting:
        node = waiting.pop()
        yield node
        waiting += [
            child for child in ast.iter_child_nodes(node) if not isinstance(child, ast.stmt)
        ]


def has_tolerance(node: ast.AST) -> bool:
    """Whether it compares numbers up to something."""
    if isinstance(node, ast.Call):
        given = {keyword.arg for keyword in node.keywords}
        checks = name_of(node).startswith("assert") and given & {"rtol", "atol"}
        return name_of(node) in COMPARISONS or bool(checks)
    return is_small_size(node)


def is_small_size(node: ast.AST) -> bool:
    """Whether it is |a - b| < number, however the size is taken."""
    if not isinstance(node, ast.Compare) or not isinstance(node.ops[-1], ast.Lt | ast.LtE):
        return False
    calls = [part for part in ast.walk(node.left) if isinstance(part, ast.Call)]
    return any(name_of(call) in SIZES for call in calls) and has_number(node.comparators[-1])


def relies_on_default(node: ast.AST) -> bool:
    """Whether it compares up to a tolerance that stands nowhere in the test."""
    if not isinstance(node, ast.Call) or name_of(node) not in COMPARISONS:
        return False
    given = {keyword.arg for keyword in node.keywords}
    if None in given or len(node.args) > 2:
        return False
    return "rtol" not in given if name_of(node) in WITH_DEFAULT else not given & {"rel", "abs"}


def tolerances(node: ast.AST) -> list[ast.expr]:
    """What it compares up to."""
    if isinstance(node, ast.Compare):
        return [node.comparators[-1]]
    assert isinstance(node, ast.Call)
    return [k.value for k in node.keywords if k.arg in TOLERANCES]


def is_told(value: ast.expr, told: set[str]) -> bool:
    """Whether a tolerance is made of names with a reason, or is zero."""
    if has_number(value):
        return False
    return all(part.id in told for part in ast.walk(value) if isinstance(part, ast.Name))


def has_number(value: ast.expr) -> bool:
    """Whether a fraction is written out in it; larger numbers are multiples, and zero is exact."""
    parts = [part.value for part in ast.walk(value) if isinstance(part, ast.Constant)]
    return any(isinstance(part, float) and 0 < part < 1 for part in parts)


def names_with_reason(tree: ast.AST, lines: list[str]) -> set[str]:
    """Names that are imported, given by a caller, or given a value beside a comment."""
    told = set(dir(__builtins__) if not isinstance(__builtins__, dict) else __builtins__)
    for node in ast.walk(tree):
        if isinstance(node, ast.Import | ast.ImportFrom):
            told |= {(alias.asname or alias.name).split(".")[0] for alias in node.names}
        elif isinstance(node, ast.arg):
            told.add(node.arg)
        elif isinstance(node, ast.Assign) and (
            has_comment(node, lines) or not has_number(node.value)
        ):
            told |= {part.id for part in ast.walk(node) if isinstance(part, ast.Name)}
        elif isinstance(node, ast.For | ast.comprehension):
            told |= {part.id for part in ast.walk(node.target) if isinstance(part, ast.Name)}
    return told


def has_comment(statement: ast.stmt, lines: list[str]) -> bool:
    """Whether a comment stands in a statement or right above it."""
    end = statement.end_lineno
    if isinstance(statement, ast.With | ast.For | ast.If | ast.FunctionDef | ast.ClassDef):
        end = statement.body[0].lineno - 1
    inside = lines[statement.lineno - 1 : end]
    above = takewhile(lambda line: line.strip().startswith("#"), lines[statement.lineno - 2 :: -1])
    return any("# " in line for line in inside) or any(True for _ in above)


def name_of(call: ast.Call) -> str:
    """The last word of what is called."""
    return ast.unparse(call.func).rsplit(".", 1)[-1]
