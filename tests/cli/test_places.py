"""Where model and report go."""

import pytest

from empirisk.cli.places import Places, safe_stem
from empirisk.runtime.errors import ParameterError


@pytest.mark.parametrize(
    ("file", "stem"),
    [
        ("a/b/sales.csv", "sales"),
        ("sales.csv.gz", "sales"),
        ("sales.2023.csv", "sales.2023"),
        ("sales.2023.CSV.gz", "sales.2023"),
        ("sales.2023.gz", "sales.2023"),
        ("sales.2023", "sales.2023"),
        ("v1.2 sales.parquet", "v1.2_sales"),
        ("../..", "table"),
        ("*.csv", "table"),
        ("x;rm -rf $HOME.csv", "x_rm_-rf_HOME"),
        ("мир.csv", "мир"),
        (".csv", "table"),
        ("plain", "plain"),
    ],
)
def test_the_name_is_safe_whatever_the_file_is_called(file, stem):
    assert safe_stem(file) == stem


def test_the_data_are_not_overwritten(tmp_path):
    with pytest.raises(ParameterError, match="would overwrite the data"):
        Places.of(str(tmp_path / "table.html"), str(tmp_path))


def test_what_is_not_a_folder_is_refused_before_the_work(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(OSError, match="wanted a folder"):
        Places.of("t.csv", str(tmp_path / "file" / "deeper"))
