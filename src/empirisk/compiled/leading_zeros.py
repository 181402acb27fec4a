"""Numbers that are written like identifiers, 007 or +49, found in raw text.

Arrow reads 007 as 7 and +49 as 49, and afterwards nobody can tell. So whole pieces of a file are
searched for such fields first: quickly for a sign of one, and only then field by field.
"""

import numpy as np

from empirisk.compiled.decorator import compiled

_ZERO, _NINE, _MINUS, _PLUS, _POINT, _QUOTE, _BLANK, _LINE_FEED, _RETURN = b'09-+." \n\r'
_STRETCH = 1024


@compiled
def has_candidates(characters, delimiter):
    """Whether a zero before a digit, or a plus, may begin a field: worth an exact search.

    It goes over a thousand characters at a time without branches, many of them in one instruction,
    and looks closer only if there is a sign.
    """
    for first in range(0, characters.size - 1, _STRETCH):
        last = min(first + _STRETCH, characters.size - 1)
        here, after = characters[first:last], characters[first + 1 : last + 1]
        # What stands before the first one of the stretch is looked at with the others below.
        before = characters[first : last - 1]
        sign = (here[0] == _ZERO) | (here[0] == _PLUS)
        for i in range(1, here.size):
            digit = np.uint8(after[i] - np.uint8(_ZERO)) < np.uint8(10)
            begins = (before[i - 1] < _ZERO) & (before[i - 1] != _POINT)
            begins |= before[i - 1] == delimiter
            sign |= (((here[i] == _ZERO) & digit) | (here[i] == _PLUS)) & begins
        if sign:
            for i in range(first, last):
                if characters[i] == _ZERO and may_begin(characters, delimiter, i):
                    return True
                if characters[i] == _PLUS and begins_after(characters, delimiter, i - 1):
                    return True
    return False


@compiled
def may_begin(characters, delimiter, i):
    """Whether the zero at i is before a digit, and after neither a number, a point nor 1e-."""
    if not _ZERO <= characters[i + 1] <= _NINE:
        return False
    j = i - 2 if i > 0 and characters[i - 1] == _MINUS else i - 1
    return begins_after(characters, delimiter, j)


@compiled
def begins_after(characters, delimiter, j):
    """Whether a field may begin after the character at j."""
    return (
        j < 0 or characters[j] == delimiter or (characters[j] < _ZERO and characters[j] != _POINT)
    )


@compiled
def mark_columns(characters, delimiter, found):
    """Set found[j] for each column j that has such a field."""
    column, quoted, at_start = 0, False, True
    for i in range(characters.size):
        c = characters[i]
        if c == _QUOTE:
            quoted = not quoted
        elif not quoted and c == delimiter:
            column, at_start = column + 1, True
        elif not quoted and c in (_LINE_FEED, _RETURN):
            column, at_start = 0, True
        elif at_start and c != _BLANK and c != _MINUS:
            at_start = False
            after = characters[i + 1] if i + 1 < characters.size else np.uint8(_LINE_FEED)
            zero = c == _ZERO and _ZERO <= after <= _NINE
            if (zero or c == _PLUS) and column < found.size:
                found[column] = True
