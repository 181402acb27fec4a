"""Errors and warnings are what users of scikit-learn catch already."""

import subprocess
import sys
import warnings

import pytest
from sklearn import exceptions

from empirisk.runtime import errors


def test_filters_of_scikit_learns_convergence_warning_hear_ours():
    assert issubclass(errors.ConvergenceWarning, exceptions.ConvergenceWarning)
    assert issubclass(errors.ConvergenceWarning, errors.EmpiriskWarning)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", exceptions.ConvergenceWarning)
        warnings.warn("not converged", errors.ConvergenceWarning)


def test_the_errors_of_the_library_are_known_before_scikit_learn_is_imported():
    program = "import empirisk.runtime.errors, sys; print('sklearn' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.stdout.strip() == "False", done.stderr


def test_a_name_that_is_no_error_is_an_attribute_error():
    with pytest.raises(AttributeError, match="NoSuchError"):
        _ = errors.NoSuchError
