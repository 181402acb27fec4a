"""The bundled tables: the published numbers come out, and each file carries its terms."""

import csv
import gzip
import importlib
import sys
import tomllib
import zipfile
from collections import Counter
from datetime import date, timedelta
from fnmatch import fnmatch
from hashlib import sha256
from importlib.resources import files
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from sklearn.datasets import load_digits

from empirisk.data import datasets
from empirisk.data.datasets.catalogue import CATALOGUE
from empirisk.data.read import read_table
from empirisk.data.table import Table
from empirisk.runtime.errors import ParameterError

SIX_DECIMALS = 6e-7  # the references are printed with six decimals
FOLDER = files("empirisk.data.datasets")
every_table = pytest.mark.parametrize("name", datasets.names())


def arrow(name):
    return pa.table(getattr(datasets, name)())


def numbers(name, column):
    return np.array(arrow(name)[column].drop_null().to_pylist(), dtype=float)


def counts(name, column):
    return Counter(arrow(name)[column].to_pylist())


def plain_rows(name):
    """The cells as text, by Python's own reader."""
    opened = gzip.open if datasets.path(name).suffix == ".gz" else open
    with opened(datasets.path(name), "rt", encoding="ascii", newline="") as lines:
        return list(csv.reader(lines, strict=True))


def parsed(cell, kind):
    if cell == "":
        return None
    readers = {"number": float, "boolean": {"true": True, "false": False}.__getitem__}
    return {**readers, "date": date.fromisoformat}.get(kind, str)(cell)


# Files and catalogue


def test_every_data_file_has_an_entry_and_every_entry_a_file():
    data = {file.name for file in FOLDER.iterdir() if not file.name.startswith("__")}
    assert data - {"catalogue.py"} == {about.file for about in CATALOGUE.values()}


@every_table
def test_the_file_is_the_one_of_the_catalogue(name):
    assert sha256(datasets.path(name).read_bytes()).hexdigest() == datasets.describe(name).sha256


@every_table
def test_source_licence_and_changes_are_stated(name):
    about = datasets.describe(name)
    assert about.licence.startswith(("CC BY 4.0 (https://", "CC0 1.0 (https://", "no licence is"))
    assert any(str(year) in about.source for year in range(1985, 2026))
    assert about.changes
    # CC BY 4.0 asks for a way back to the source
    assert "https://doi.org/10." in about.source or not about.licence.startswith("CC")


def test_the_files_stay_small():
    assert sum(len((FOLDER / about.file).read_bytes()) for about in CATALOGUE.values()) < 300_000


def test_the_wheel_takes_every_data_file():
    pyproject = Path(__file__).parents[2] / "pyproject.toml"
    given = tomllib.loads(pyproject.read_text())["tool"]["setuptools"]["package-data"]
    patterns = given.get("empirisk.data.datasets", [])
    for about in CATALOGUE.values():
        assert any(fnmatch(about.file, pattern) for pattern in patterns), about.file


def test_a_package_inside_a_zip_file_gives_the_same_tables(tmp_path, monkeypatch):
    archive = tmp_path / "zipped.zip"
    with zipfile.ZipFile(archive, "w") as target:
        for file in FOLDER.iterdir():
            if file.is_file():
                target.writestr(f"zipped_datasets/{file.name}", file.read_bytes())
    monkeypatch.syspath_prepend(archive)
    zipped = importlib.import_module("zipped_datasets")
    try:
        assert str(archive) in zipped.__file__
        assert not zipped.path("penguins").is_relative_to(Path(datasets.__file__).parent)
        assert zipped.path("penguins") == zipped.path("penguins")
        assert zipped.penguins() == datasets.penguins()
    finally:
        sys.modules.pop("zipped_datasets")


# Interface


def test_there_is_one_loader_per_table():
    assert set(datasets.__all__) == {"names", "describe", "path", *datasets.names()}


def test_an_unknown_name_is_told_the_known_ones():
    for ask in (datasets.describe, datasets.path):
        with pytest.raises(ParameterError, match=r"'titanik'; there are auto_mpg, .*read_table"):
            ask("titanik")


@every_table
def test_the_docstring_says_size_target_and_licence(name):
    about, text = datasets.describe(name), getattr(datasets, name).__doc__
    assert f"{about.rows} rows, {len(about.columns)} columns" in text
    assert about.task in text
    assert about.target is None or f"`{about.target}`" in text
    assert f"Licence: {about.licence.split(' (')[0]}." in text or "Licence: none" in text


@every_table
def test_the_description_reads_well(name):
    about = datasets.describe(name)
    lines = str(about).splitlines()
    assert lines[0].startswith(f"{name}: ")
    assert len(lines) == len(about.columns) + 5
    assert about.target is None or about.target in about.columns


@every_table
def test_shape_and_missing_cells_are_as_described(name):
    about, table = datasets.describe(name), arrow(name)
    assert table.column_names == list(about.columns)
    assert table.num_rows == about.rows
    assert sum(column.null_count for column in table.columns) == about.missing
    assert about.target is None or table[about.target].null_count == 0


@every_table
def test_a_loader_gives_a_table_of_the_kinds_described(name):
    table = getattr(datasets, name)()
    assert isinstance(table, Table)
    assert table.kinds == {c: kind for c, (kind, _) in datasets.describe(name).columns.items()}


@every_table
def test_the_table_carries_its_source_and_licence(name):
    about, shown = datasets.describe(name), str(getattr(datasets, name)().source)
    assert about.source in shown
    assert about.licence in shown


@every_table
def test_the_file_read_as_any_other_gives_the_same_table(name):
    """But for two targets: labels that look like numbers, and labels that look like truths."""
    other = {"digits": {"digit": "category"}, "heart_disease": {"disease": "category"}}
    table = read_table(datasets.path(name), kinds=other.get(name))
    assert table == getattr(datasets, name)()


@every_table
def test_the_table_is_the_plain_file(name):
    header, *rows = plain_rows(name)
    table = arrow(name)
    assert header == table.column_names
    for j, (kind, _) in enumerate(datasets.describe(name).columns.values()):
        assert table[j].to_pylist() == [parsed(row[j], kind) for row in rows]


# Published numbers


def test_auto_mpg():
    assert numbers("auto_mpg", "mpg").mean() == pytest.approx(23.514573, abs=SIX_DECIMALS)
    assert arrow("auto_mpg")["horsepower"].null_count == 6
    assert counts("auto_mpg", "origin") == {"USA": 249, "Europe": 70, "Japan": 79}


def test_bike_sharing_has_the_daily_numbers_of_its_source():
    """The daily file of the source: mean and standard deviation of its columns."""
    published = {
        "temperature": (0.495385, 0.183051),
        "feels_like": (0.474354, 0.162961),
        "humidity": (0.627894, 0.142429),
        "windspeed": (0.190486, 0.077498),
        "rentals": (4504.348837, 1937.211452),
    }
    for column, reference in published.items():
        values = numbers("bike_sharing", column)
        values = np.append(values, np.zeros(731 - len(values)))  # the blank is a 0 there
        # daily values have six decimals as well
        assert (values.mean(), values.std(ddof=1)) == pytest.approx(reference, abs=1.2e-6)
    assert counts("bike_sharing", "weather") == {"clear": 463, "mist": 247, "rain or snow": 21}
    assert numbers("bike_sharing", "rentals").sum() == 3_292_679


def test_bike_sharing_holds_every_day_of_two_years():
    table = arrow("bike_sharing")
    days = table["date"].to_pylist()
    assert days == [date(2011, 1, 1) + timedelta(i) for i in range(731)]
    assert days[-1] == date(2012, 12, 31)
    for day, holiday, working in zip(
        days, table["holiday"].to_pylist(), table["working_day"].to_pylist(), strict=True
    ):
        assert working == (day.weekday() < 5 and not holiday)


def test_digits_are_those_of_scikit_learn():
    X, y = load_digits(return_X_y=True)
    *pixels, digit = arrow("digits").columns
    np.testing.assert_array_equal(np.column_stack(pixels), X)
    assert digit.to_pylist() == [str(label) for label in y]
    # class sizes of the test part, as the source gives them
    sizes = [178, 182, 177, 183, 181, 182, 181, 179, 174, 180]
    assert counts("digits", "digit") == {str(k): size for k, size in enumerate(sizes)}


def test_faithful():
    """Means, and R's bw.nrd0 (0.9 min(sd, IQR / 1.34) n^(-1/5)), which feels every quartile."""
    for column, mean, bandwidth in (
        ("eruptions", 3.487783, 0.334777034463943),
        ("waiting", 70.897059, 3.98755882857918),
    ):
        x = numbers("faithful", column)
        spread = min(x.std(ddof=1), np.subtract(*np.quantile(x, [0.75, 0.25])) / 1.34)
        assert x.mean() == pytest.approx(mean, abs=SIX_DECIMALS)
        # double precision, some hundred terms
        assert 0.9 * spread * len(x) ** -0.2 == pytest.approx(bandwidth, rel=1e-12)


def test_heart_disease_has_the_moments_of_its_source():
    """Number of cells, mean and standard deviation over the four processed files."""
    published = {
        "age": (920, 53.510870, 9.424685),
        "blood_pressure": (861, 132.132404, 19.066070),
        "cholesterol": (890, 199.130337, 110.780810),
        "max_heart_rate": (865, 137.545665, 25.926276),
        "st_depression": (858, 0.878788, 1.091226),
        "vessels": (309, 0.676375, 0.935653),
    }
    for column, (cells, *reference) in published.items():
        values = numbers("heart_disease", column)
        not_measured = {"blood_pressure": 1, "cholesterol": 172}.get(column, 0)
        assert len(values) + not_measured == cells
        values = np.append(values, np.zeros(not_measured))  # zeros there, blanks here
        assert [values.mean(), values.std(ddof=1)] == pytest.approx(reference, abs=SIX_DECIMALS)


def test_heart_disease_has_the_counts_of_its_source():
    published = {
        "sex": {"female": 194, "male": 726},
        "chest_pain": {
            "typical angina": 46,
            "atypical angina": 174,
            "non-anginal": 204,
            "asymptomatic": 496,
        },
        "high_blood_sugar": {False: 692, True: 138, None: 90},
        "resting_ecg": {
            "normal": 551,
            "ST-T abnormality": 179,
            "ventricular hypertrophy": 188,
            None: 2,
        },
        "exercise_angina": {False: 528, True: 337, None: 55},
        "st_slope": {"up": 203, "flat": 345, "down": 63, None: 309},
        "thallium": {"normal": 196, "fixed defect": 46, "reversible defect": 192, None: 486},
    }
    for column, reference in published.items():
        assert counts("heart_disease", column) == reference
    table = arrow("heart_disease")
    pairs = zip(table["hospital"].to_pylist(), table["disease"].to_pylist(), strict=True)
    assert Counter(pairs) == {
        ("Cleveland", "no"): 164,
        ("Cleveland", "yes"): 139,
        ("Budapest", "no"): 188,
        ("Budapest", "yes"): 106,
        ("Switzerland", "no"): 8,
        ("Switzerland", "yes"): 115,
        ("Long Beach", "no"): 51,
        ("Long Beach", "yes"): 149,
    }


def test_two_patients_repeat_another():
    rows = plain_rows("heart_disease")[1:]
    assert len(rows) - len(set(map(tuple, rows))) == 2


def test_penguins():
    """R's summary of the table, printed with seven digits."""
    published = {
        "bill_length_mm": 43.92193,
        "bill_depth_mm": 17.15117,
        "flipper_length_mm": 200.9152,
        "body_mass_g": 4201.754,
    }
    for column, mean in published.items():
        # Half a unit of the last digit is 3e-7 of 17.15117, and less of the others.
        assert numbers("penguins", column).mean() == pytest.approx(mean, rel=3e-7)
    assert counts("penguins", "species") == {"Adelie": 152, "Chinstrap": 68, "Gentoo": 124}
    assert counts("penguins", "sex") == {"female": 165, "male": 168, None: 11}
