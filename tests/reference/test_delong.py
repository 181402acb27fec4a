"""AUC and its error beside the R package pROC."""

import json
from pathlib import Path

import numpy as np
from numpy.testing import assert_allclose

from empirisk import datasets
from empirisk.risk import measures
from tolerances import LAST_BITS, SUMMED

REFERENCE = json.loads(Path(__file__).with_name("proc_delong.json").read_text())


def columns():
    table = datasets.heart_disease()
    names = ("age", "max_heart_rate", "st_depression")
    values = np.column_stack([table[name].numbers() for name in names])
    known = np.isfinite(values).all(axis=1)
    score = dict(zip(names, values[known].T * np.array([[1], [-1], [1]]), strict=True))
    return np.asarray(table["disease"].values())[known].astype(str), score


def test_areas_and_variances_are_those_of_proc():
    y, score = columns()
    assert len(y) == REFERENCE["rows"]
    found = {name: measures.auc(y, column) for name, column in score.items()}
    found["first_40"] = measures.auc(y[:40], score["st_depression"][:40])
    for name, area in found.items():
        assert_allclose(area.value, REFERENCE["auc"][name], rtol=LAST_BITS)
        # pROC sums in another order: fourteen digits printed, twelve agree.
        assert_allclose(area.standard_error**2, REFERENCE["variance"][name], rtol=1e-11)


def test_the_paired_difference_is_delongs_test():
    y, score = columns()
    age, rate = (measures.auc(y, score[name]) for name in ("age", "max_heart_rate"))
    difference = age - rate
    variances = REFERENCE["variance"]
    expected = variances["age"] + variances["max_heart_rate"]
    expected -= 2 * REFERENCE["covariance_age_max_heart_rate"]
    assert_allclose(difference.standard_error**2, expected, rtol=SUMMED)
    z = difference.value / difference.standard_error
    assert_allclose(z, REFERENCE["z_age_minus_max_heart_rate"], rtol=SUMMED)
