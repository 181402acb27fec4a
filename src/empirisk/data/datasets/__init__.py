"""Small real tables that come with the library, each with its source and licence.

Each loader returns a `Table`; `path` is the file itself, plain CSV in which a blank cell is a
missing value; `describe` says what the columns mean and whose the data are.
"""

import atexit
from contextlib import ExitStack
from functools import cache
from importlib.resources import as_file, files
from pathlib import Path

from empirisk.data.datasets.catalogue import CATALOGUE, Description
from empirisk.data.read import read_table
from empirisk.data.table import Source, Table
from empirisk.runtime.errors import ParameterError

__all__ = [
    "auto_mpg",
    "bike_sharing",
    "describe",
    "digits",
    "faithful",
    "heart_disease",
    "names",
    "path",
    "penguins",
]

# A package imported from a zip file has no files: they are unpacked until the process ends.
_unpacked = ExitStack()
atexit.register(_unpacked.close)


def names() -> list[str]:
    """The names of the bundled tables.

    Examples
    --------
    >>> from empirisk import datasets
    >>> datasets.names()
    ['auto_mpg', 'bike_sharing', 'digits', 'faithful', 'heart_disease', 'penguins']
    """
    return sorted(CATALOGUE)


def describe(name: str) -> Description:
    """What a bundled table holds, what is predicted from it, its source and its licence.

    Parameters
    ----------
    name : str
        One of `names()`.

    Examples
    --------
    >>> from empirisk import datasets
    >>> about = datasets.describe("penguins")
    >>> about.task, about.target, about.columns["bill_depth_mm"].meaning
    ('classification', 'species', 'depth of the bill in mm')
    >>> print(datasets.describe("faithful"))
    faithful: 272 eruptions of the geyser Old Faithful in Yellowstone National Park
    272 rows, 2 columns, 0 missing cells; density
      eruptions  number    length of the eruption in minutes
      waiting    number    minutes until the next eruption
    source: ...
    """
    if name not in CATALOGUE:
        raise ParameterError(
            f"there is no bundled table {name!r}; there are {', '.join(names())}. "
            "A file of your own is read by read_table"
        )
    return CATALOGUE[name]


@cache
def path(name: str) -> Path:
    """The file of a bundled table: CSV with a header, a missing value being a blank cell.

    Examples
    --------
    >>> from empirisk import datasets
    >>> datasets.path("penguins").name
    'penguins.csv'
    >>> with datasets.path("penguins").open() as lines:
    ...     print(*(next(lines) for _ in range(5)), sep="")
    species,island,bill_length_mm,bill_depth_mm,flipper_length_mm,body_mass_g,sex,year
    Adelie,Torgersen,39.1,18.7,181,3750,male,2007
    Adelie,Torgersen,39.5,17.4,186,3800,female,2007
    Adelie,Torgersen,40.3,18.0,195,3250,female,2007
    Adelie,Torgersen,,,,,,2007
    """
    return _unpacked.enter_context(as_file(files(__name__) / describe(name).file))


def auto_mpg() -> Table:
    """Fuel consumption of cars: 398 rows, 9 columns, for the regression of `mpg`.

    Numbers, one category (`origin`) and one text (`car_name`); `horsepower` is missing 6 times.

    Source: Quinlan (1993), Auto MPG, UCI Machine Learning Repository, doi 10.24432/C5859H.
    Licence: CC BY 4.0.

    Examples
    --------
    >>> from empirisk import datasets
    >>> datasets.auto_mpg().shape
    (398, 9)
    """
    return _load("auto_mpg")


def bike_sharing() -> Table:
    """Bicycles hired per day: 731 rows, 10 columns, for the regression of `rentals`.

    A date, categories (`season`, `weather`), booleans and numbers; the days follow one another,
    so neighbouring rows are dependent. One `humidity` is missing.

    Source: Fanaee-T (2013), Bike Sharing, UCI Machine Learning Repository, doi 10.24432/C5W894;
    the hours joined to days. Licence: CC BY 4.0.

    Examples
    --------
    >>> from empirisk import datasets
    >>> datasets.bike_sharing().shape
    (731, 10)
    """
    return _load("bike_sharing")


def digits() -> Table:
    """Images of handwritten digits: 1797 rows, 65 columns, for the classification of `digit`.

    64 pixels from 0 to 16, row by row (`pixel_0_0` to `pixel_7_7`); ten classes, labelled by the
    words '0' to '9'; nothing missing.

    Source: Alpaydin and Kaynak (1998), Optical Recognition of Handwritten Digits, UCI Machine
    Learning Repository, doi 10.24432/C50P49; the test part, as in scikit-learn.
    Licence: CC BY 4.0.

    Examples
    --------
    >>> from empirisk import datasets
    >>> table = datasets.digits()
    >>> table.shape, table["digit"].levels.tolist()
    ((1797, 65), ['0', '1', '2', '3', '4', '5', '6', '7', '8', '9'])
    """
    return _load("digits")


def faithful() -> Table:
    """Eruptions of the geyser Old Faithful: 272 rows, 2 columns, for the density of either.

    The length of an eruption (`eruptions`) and the time to the next (`waiting`), in minutes; each
    has two modes. Nothing missing.

    Source: Härdle (1991) and Azzalini and Bowman (1990), as R's datasets::faithful.
    Licence: none is stated; the table is a list of measured times.

    Examples
    --------
    >>> from empirisk import datasets
    >>> datasets.faithful().shape
    (272, 2)
    """
    return _load("faithful")


def heart_disease() -> Table:
    """Patients of four hospitals: 920 rows, 15 columns, for the classification of `disease`.

    Numbers, categories and booleans with 1932 missing cells: which examinations were made depends
    on the `hospital`. Two rows repeat another.

    Source: Janosi, Steinbrunn, Pfisterer and Detrano (1989), Heart Disease, UCI Machine Learning
    Repository, doi 10.24432/C52P4X. Licence: CC BY 4.0.

    Examples
    --------
    >>> from empirisk import datasets
    >>> datasets.heart_disease().shape
    (920, 15)
    """
    return _load("heart_disease")


def penguins() -> Table:
    """Penguins of three species: 344 rows, 8 columns, for the classification of `species`.

    Four measurements, three categories and the year; 19 cells are missing.

    Source: Horst, Hill and Gorman (2020), palmerpenguins, doi 10.5281/zenodo.3960218;
    Gorman, Williams and Fraser (2014). Licence: CC0 1.0.

    Examples
    --------
    >>> from empirisk import datasets
    >>> datasets.penguins()
    Table of 344 rows, 8 columns
      species            category  0 missing   Adelie, Gentoo, Chinstrap
      island             category  0 missing   Torgersen, Biscoe, Dream
      bill_length_mm     number    2 missing   39.1, 39.5, 40.3
      bill_depth_mm      number    2 missing   18.7, 17.4, 18
      flipper_length_mm  number    2 missing   181, 186, 195
      body_mass_g        number    2 missing   3750, 3800, 3250
      sex                category  11 missing  male, female
      year               number    0 missing   2007, 2008, 2009
    """
    return _load("penguins")


def _load(name: str) -> Table:
    about = describe(name)
    kinds = {column: kind for column, (kind, _) in about.columns.items()}
    # No word is a mark for missing here, only the blank cell.
    table = read_table(path(name), kinds=kinds, missing=())
    notes = (f"source: {about.source}", f"licence: {about.licence}")
    return Table(table.columns, Source(f"the bundled table {name}", notes=notes))
