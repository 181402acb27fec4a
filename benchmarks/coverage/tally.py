"""What the training sets of a setting show: a few numbers for each method, kept as JSON."""

import ast
import json
import os
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
from scipy import stats

from benchmarks.coverage import few_features, one_feature, sets, sources
from benchmarks.coverage.sets import AUTO, LEVEL, NAIVE, PER_ROW, Judged, Locked, Setting
from benchmarks.record import plain
from empirisk.risk import estimate
from empirisk.risk.intervals import (
    cautions,
    coverage,
    degrees_of_freedom,
    fold_models,
    influence,
    interval,
    loss_table,
    no_information,
    other_loss,
    rare_losses,
    refits,
    timid,
)
from empirisk.risk.intervals.coverage import Coverage, Share
from empirisk.selection import after_selection

WANTED = 0.88
SURE = 0.95
# What decides the numbers; results of other versions of these files are not taken up again.
DECISIVE = (
    few_features, one_feature, sets, sources,
    cautions, coverage, degrees_of_freedom, estimate, fold_models, influence, interval, loss_table,
    no_information, other_loss, rare_losses, refits, timid, after_selection,
)  # fmt: skip


@dataclass(frozen=True)
class Line:
    """One method in one setting; shares with their Monte Carlo errors.

    `procedure` and `model` are coverages of the two risks, the first that of the expected risk of
    the procedure at this n; with `unflagged` only sets without a caution count. `relative_width`
    is to the per-row interval of the same sets. `seconds` are those of the CPU for an interval.
    """

    procedure: Share
    model: Share
    unflagged_procedure: Share
    unflagged_model: Share
    flagged: float
    lacking: float
    width: float
    relative_width: float
    bias: float
    seconds: float


@dataclass(frozen=True)
class Result:
    """A setting, its lines by method, and what is needed to trust and to repeat them."""

    name: str
    words: str
    n: int
    loss: str
    estimates: str
    risk: str
    expected_risk: float
    sets: int
    stamp: str
    date: str
    lines: dict[str, Line]

    @property
    def auto(self) -> Line:
        return self.lines[AUTO]

    @property
    def is_flagged(self) -> bool:
        """Whether the intervals of this setting come with a caution as a rule."""
        return self.auto.flagged >= 0.5

    @property
    def named(self) -> Share:
        """The coverage of what the estimates name, of the sets without a caution."""
        of_model = self.estimates == "this model"
        return self.auto.unflagged_model if of_model else self.auto.unflagged_procedure

    @property
    def verdict(self) -> str:
        """Whether 88 % are met or missed, where that is sure at 95 %, else "close"."""
        if self.is_flagged:
            return "flagged"
        unflagged = self.sets * (1 - self.auto.flagged - self.auto.lacking)
        low, high = exact_ends(self.named.value, round(unflagged))
        return "met" if low >= WANTED else "missed" if high < WANTED else "close"

    def as_json(self) -> str:
        return json.dumps(plain(asdict(self)), indent=1, allow_nan=False) + "\n"

    @classmethod
    def read(cls, file: Path) -> "Result":
        """From a file that `keep` wrote."""
        found = json.loads(file.read_text(encoding="utf-8"))
        lines = {method: _line(fields) for method, fields in found.pop("lines").items()}
        return cls(**found, lines=lines)


def tallied(setting: Setting, judged: Sequence[Judged]) -> Result:
    """All training sets of a setting in a few numbers."""
    risk = np.array([each.risk for each in judged])
    by_method = {method: _coverage(setting, method, judged, risk) for method in setting.methods}
    per_row = by_method[PER_ROW if PER_ROW in by_method else NAIVE]
    return Result(
        name=setting.name,
        words=setting.words,
        n=setting.n,
        loss=setting.loss,
        estimates="this model" if isinstance(setting, Locked) else "the procedure at this n",
        risk=setting.source.about,
        expected_risk=float(risk.mean()),
        sets=len(judged),
        stamp=stamp(),
        date=datetime.now(UTC).isoformat(timespec="seconds"),
        lines={
            method: _tallied_line(found, per_row, [each.found[method].seconds for each in judged])
            for method, found in by_method.items()
        },
    )


def exact_ends(share: float, n: int) -> tuple[float, float]:
    """The interval of Clopper and Pearson for a share of n.

    >>> low, high = exact_ends(0.9, 2000)
    >>> round(low, 4), round(high, 4)
    (0.886, 0.9128)
    """
    if not n:
        return 0.0, 1.0
    ends = stats.binomtest(round(share * n), n).proportion_ci(SURE)
    return float(ends.low), float(ends.high)


def keep(result: Result, folder: Path) -> None:
    """Write a result; the file appears whole or not at all."""
    folder.mkdir(parents=True, exist_ok=True)
    draft = folder / f".{result.name}.{os.getpid()}.tmp"
    draft.write_text(result.as_json(), encoding="utf-8")
    draft.replace(folder / f"{result.name}.json")


def kept(setting: Setting, folder: Path) -> Result | None:
    """The result of a setting, where this version of everything has found one."""
    file = folder / f"{setting.name}.json"
    if not file.exists():
        return None
    result = Result.read(file)
    same = (result.words, result.n, result.loss) == (setting.words, setting.n, setting.loss)
    return result if same and result.stamp == stamp() else None


def stamp() -> str:
    """A digest of the code that decides the numbers, without comments and docstrings."""
    whole = sha256()
    for module in DECISIVE:
        assert module.__file__ is not None
        tree = ast.parse(Path(module.__file__).read_bytes())
        for node in ast.walk(tree):
            if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
                node.value.value = ""
        whole.update(ast.dump(tree).encode())
    return whole.hexdigest()[:16]


def _coverage(
    setting: Setting, method: str, judged: Sequence[Judged], risk: np.ndarray[Any, Any]
) -> Coverage:
    found = [each.found[method] for each in judged]
    return Coverage(
        value=np.array([each.value for each in found]),
        low=np.array([each.low for each in found]),
        high=np.array([each.high for each in found]),
        flagged=np.array([each.flagged for each in found]),
        risk=risk,
        level=LEVEL,
        loss=setting.loss,
        about="training sets",
    )


def _tallied_line(found: Coverage, per_row: Coverage, seconds: Sequence[float]) -> Line:
    plain_sets = found.given & ~found.flagged
    both = found.given & per_row.given
    widths = [(each.high - each.low)[both].sum() for each in (found, per_row)]
    return Line(
        procedure=found.of_procedure,
        model=found.of_model,
        unflagged_procedure=Share.of(found.contains(found.expected_risk)[plain_sets]),
        unflagged_model=Share.of(found.contains(found.risk)[plain_sets]),
        flagged=float(found.flagged.mean()),
        lacking=float((~found.given).mean()),
        width=found.width,
        relative_width=float(widths[0] / widths[1]) if widths[1] > 0 else np.nan,
        bias=found.bias,
        seconds=float(np.mean(seconds)),
    )


def _line(fields: dict[str, Any]) -> Line:
    """Lists are shares; NaN was written as a word."""
    values: dict[str, Any] = {
        name: Share(*map(float, value)) if isinstance(value, list) else float(value)
        for name, value in fields.items()
    }
    return Line(**values)
