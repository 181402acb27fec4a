"""Numbers of few digits, as sentences give standard errors and what goes with them."""


def few_digits(value: float, digits: int) -> str:
    """So many significant digits of a number; below a million without an exponent.

    Examples
    --------
    >>> few_digits(217.3, 1), few_digits(3171.8, 3), few_digits(0.00312, 1), few_digits(2.53e9, 2)
    ('200', '3170', '0.003', '2.5e+09')
    """
    return f"{float(f'{value:.{digits}g}'):g}"


def give_or_take(value: float, error: float, digits: int = 3) -> str:
    """A number and its standard error, of which one digit is enough.

    Examples
    --------
    >>> give_or_take(5406.2, 217.3, 4), give_or_take(0.4871, 0.0412)
    ('5406 ± 200', '0.487 ± 0.04')
    """
    return f"{few_digits(value, digits)} ± {few_digits(error, 1)}"
