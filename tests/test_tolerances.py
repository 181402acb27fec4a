"""Every tolerance of the suite has its reason."""

from pathlib import Path
from textwrap import dedent

import pytest

from tolerance_reasons import without_reason

TESTS = Path(__file__).parent
FILES = sorted(TESTS.rglob("*.py"))


@pytest.mark.parametrize("file", FILES, ids=lambda file: str(file.relative_to(TESTS)))
def test_every_tolerance_has_its_reason(file):
    bare = [f"{file}:{line}" for line in without_reason(file.read_text(encoding="utf-8"))]
    assert not bare, "name the tolerance after its reason, or say it in a comment beside it"


@pytest.mark.parametrize(
    "source",
    [
        "assert_allclose(a, b, rtol=1e-9)",
        "assert_allclose(a, b)",
        "assert_allclose(a, b, atol=1e-9)  # printed with nine digits, but the rtol is not told",
        "assert a == approx(b)",
        "assert a == approx(b, abs=1e-9)",
        "assert np.abs(a - b).max() < 1e-9",
        "CLOSE = 1e-9\n\nassert_allclose(a, b, rtol=CLOSE)",
        "# of the data\nx = 1\nassert_allclose(a, b, rtol=1e-9)",
        "for a in b:\n    # of the first\n    x = a\n    assert_allclose(a, b, rtol=1e-9)",
    ],
)
def test_a_tolerance_without_a_reason_is_found(source):
    assert without_reason(source) == [source.count("\n") + 1]


@pytest.mark.parametrize(
    "source",
    [
        "assert_allclose(a, b, rtol=1e-9)  # printed with nine digits",
        """
        # Printed with nine digits.
        assert_allclose(a, b, rtol=1e-9)
        assert_allclose(c, d, rtol=1e-9)
        """,
        "CLOSE = 1e-9  # printed with nine digits\n\nassert_allclose(a, b, rtol=0, atol=2 * CLOSE)",
        "from tolerances import SUMMED\n\nassert a == approx(b, rel=SUMMED)",
        "assert_allclose(a, b, rtol=0, atol=0.0)",
        "def law(rtol):\n    assert_allclose(a, b, rtol=rtol)",
        "assert abs(a - b) < 5 * standard_error",
        "assert a < 0.5",
    ],
)
def test_a_reason_may_stand_beside_above_or_in_a_name(source):
    assert without_reason(dedent(source)) == []
