"""Limits of time hold for our own work at its next look at the clock."""

import threading

import numpy as np
import pytest

from empirisk.runtime.deadlines import call_with_timeout, check_deadline, deadline, time_left
from empirisk.runtime.errors import DeadlineError, ParameterError

LONG = 3600.0


def test_without_a_deadline_time_is_unlimited():
    assert time_left() == np.inf
    check_deadline()


def test_a_deadline_that_has_passed_is_an_error_that_says_what_to_do():
    with deadline(0), pytest.raises(DeadlineError, match="allow more"):
        check_deadline()
    check_deadline()  # it ended with its block


@pytest.mark.parametrize("outer, inner", [(0, LONG), (LONG, 0), (0, None)])
def test_of_nested_deadlines_the_earlier_holds(outer, inner):
    with deadline(outer), deadline(inner), pytest.raises(DeadlineError):
        check_deadline()


def test_after_an_inner_deadline_the_outer_holds_again():
    with deadline(LONG):
        with pytest.raises(KeyError), deadline(0):
            raise KeyError
        check_deadline()
        assert 0 < time_left() <= LONG
    with deadline(None):
        assert time_left() == np.inf


def test_a_deadline_holds_in_its_own_thread_only():
    seen = []
    with deadline(0):
        thread = threading.Thread(target=lambda: seen.append(time_left()))
        thread.start()
        thread.join()
    assert seen == [np.inf]


@pytest.mark.parametrize("seconds", [-1, float("nan"), "1 min"])
def test_a_limit_that_makes_no_sense_is_refused(seconds):
    with pytest.raises(ParameterError, match="seconds"), deadline(seconds):
        pass
    with pytest.raises(ParameterError, match="seconds"):
        call_with_timeout(abs, 1, seconds=seconds)
