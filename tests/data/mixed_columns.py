"""A column of each kind, with missing values."""

import datetime as dt

DAY = dt.datetime(2024, 2, 29, 12)
COLUMNS = {
    "count": [1, 2, None, 4],
    "size": [1.5, None, 2.0, 3.0],
    "city": ["Oslo", "Rome", "Rome", "Oslo"],
    "name": ["a", "b", "c", None],
    "smoker": [True, None, False, True],
    "day": [DAY, None, DAY + dt.timedelta(days=1), DAY],
    "none": [None, None, None, None],
}
KINDS = {
    "count": "number",
    "size": "number",
    "city": "category",
    "name": "text",
    "smoker": "boolean",
    "day": "date",
    "none": "number",
}
