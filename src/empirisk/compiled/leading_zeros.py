"""Numbers that are written like identifiers, 007, 0x1F or +49, found in raw text.

Arrow reads 007 as 7, 0x1F as 31 and +49 as 49, and afterwards nobody can tell. So whole pieces of a
file are searched for such fields first: quickly for a sign of one, and only then field by field.
"""

import numpy as np

from empirisk.compiled.decorator import compiled

_ZERO, _NINE, _MINUS, _PLUS, _POINT, _QUOTE, _BLANK, _LINE_FEED, _RETURN = b'09-+." \n\r'
_X, _SMALL_X = b"Xx"
_STRETCH = 1024


@compiled
def has_candidates(characters, delimiter):
    """Whether a zero before a digit or an x, or a plus, may begin a field: worth an exact search.

    It goes over a thousand characters at a time without branches, many of them in one instruction,
    and looks closer only if there is a sign: a zero of 2020-09-25 or 1e-05 is none.
    """
    n = characters.size
    for i in range(min(2, n - 1)):
        if is_candidate(characters, delimiter, i):
            return True
    for first in range(2, n - 1, _STRETCH):
        last = min(first + _STRETCH, n - 1)
        here, after = characters[first:last], characters[first + 1 : last + 1]
        before, earlier = characters[first - 1 : last - 1], characters[first - 2 : last - 2]
        sign = False
        for i in range(here.size):
            digit = np.uint8(after[i] - np.uint8(_ZERO)) < np.uint8(10)
            digit |= (after[i] == _X) | (after[i] == _SMALL_X)
            begins = ((before[i] < _ZERO) & (before[i] != _POINT)) | (before[i] == delimiter)
            negative = ((earlier[i] < _ZERO) & (earlier[i] != _POINT)) | (earlier[i] == delimiter)
            zero = (here[i] == _ZERO) & digit & ((before[i] != _MINUS) | negative)
            sign |= (zero | (here[i] == _PLUS)) & begins
        if sign:
            for i in range(first, last):
                if is_candidate(characters, delimiter, i):
                    return True
    return False


@compiled
def is_candidate(characters, delimiter, i):
    """Whether the character at i, which another follows, may begin such a field."""
    if characters[i] == _PLUS:
        return begins_after(characters, delimiter, i - 1)
    return characters[i] == _ZERO and may_begin(characters, delimiter, i)


@compiled
def may_begin(characters, delimiter, i):
    """Whether the zero at i is before a digit or an x, and after no number, point or 1e-."""
    if not goes_on(characters[i + 1]):
        return False
    j = i - 2 if i > 0 and characters[i - 1] == _MINUS else i - 1
    return begins_after(characters, delimiter, j)


@compiled
def goes_on(after):
    """Whether a zero before this character is one of 007 or 0x1F."""
    return _ZERO <= after <= _NINE or after in (_X, _SMALL_X)


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
            if ((c == _ZERO and goes_on(after)) or c == _PLUS) and column < found.size:
                found[column] = True
