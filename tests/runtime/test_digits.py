"""Numbers of few digits keep these digits, and have an exponent only where it is shorter."""

import pytest

from empirisk.runtime.digits import few_digits, give_or_take


@pytest.mark.parametrize(
    ("value", "digits", "said"),
    [
        (10.2, 1, "10"),
        (217.3, 1, "200"),
        (9.96, 2, "10"),
        (123_456.0, 2, "120000"),
        (1_234_567.0, 2, "1.2e+06"),
        (0.0, 1, "0"),
        (-41.0, 1, "-40"),
        (float("inf"), 1, "inf"),
        (float("nan"), 1, "nan"),
    ],
)
def test_digits_beyond_the_first_few_are_zeros(value, digits, said):
    assert few_digits(value, digits) == said


def test_an_error_has_one_digit():
    assert give_or_take(70.0, 10.2) == "70 ± 10"
