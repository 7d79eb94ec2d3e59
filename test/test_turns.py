# SPDX-License-Identifier: Apache-2.0
"""A thread that prepares something gives way every TURN, and leaves the interpreter as it found it."""

import sys

import pytest

from opspace_ctrl import OperationalSpace, load_robot, turns


@pytest.fixture
def pauses(monkeypatch):
    """Pauses that were made, on a clock that goes on by 0.3 TURN whenever it is looked at."""
    made, now = [], iter(range(1_000_000))
    monkeypatch.setattr(turns, "perf_counter", lambda: next(now) * turns.TURN * 0.3)
    monkeypatch.setattr(turns, "sleep", made.append)
    return made


def nothing() -> None:
    """A call and a return: two looks at the clock."""


def test_gives_way_between_calls_and_never_outside(pauses):
    counts = []
    for calls in (30, 60):
        pauses.clear()
        with turns.giving_way():
            for _ in range(calls):
                nothing()
        counts.append(len(pauses))
        assert set(pauses) == {turns.PAUSE}
        nothing()
        assert len(pauses) == counts[-1]
    assert counts[1] - counts[0] == 15  # sixty looks more, and at every fourth a TURN has passed


def test_no_pause_while_something_is_timed(pauses):
    with turns.giving_way():
        before = len(pauses)
        with turns.without_pause():
            inside = len(pauses)
            for _ in range(30):
                nothing()
            assert len(pauses) == inside
        nothing()
        nothing()
        nothing()
        assert len(pauses) > inside >= before


def test_the_interpreter_is_left_as_it_was():
    usual = sys.getswitchinterval()
    assert sys.getprofile() is None
    with pytest.raises(KeyError):
        with turns.giving_way():
            assert sys.getprofile() is not None
            assert sys.getswitchinterval() == pytest.approx(min(turns.TURN, usual))
            raise KeyError
    assert sys.getprofile() is None
    assert sys.getswitchinterval() == pytest.approx(usual)


def test_a_thread_that_is_profiled_stays_so(pauses):
    seen = []

    def profiler(frame, event, argument) -> None:
        seen.append(event)

    sys.setprofile(profiler)
    try:
        with turns.giving_way():
            nothing()
            assert sys.getprofile() is profiler
        assert sys.getprofile() is profiler
    finally:
        sys.setprofile(None)
    assert seen and not pauses


def test_setting_tasks_gives_way(pauses):
    ospace = OperationalSpace(load_robot("arm7"), ["tool"])
    assert not pauses
    ospace.tasks = ["link4"]
    assert pauses
