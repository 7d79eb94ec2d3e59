# SPDX-License-Identifier: Apache-2.0
"""A thread that prepares something lets a loop beside it have the interpreter, often enough for the loop's period."""

import contextlib
import sys
import threading
from collections.abc import Iterator
from time import perf_counter, sleep

TURN = 1e-4  # [s] after which the thread that prepares gives way, at its next call of whatever function
PAUSE = 1e-4  # [s] for which it does: long enough for a thread that waits to be awake
_lock = threading.Lock()
_usual: list[
    float
] = []  # Python's own turn before the first of those that are inside came; one entry for each


@contextlib.contextmanager
def giving_way() -> Iterator[None]:
    """Let this thread give way every TURN while it is inside, whatever it calls.

    Python's own turns (`sys.setswitchinterval`) do not do it, however short: a thread that waits asks for the lock when
    its turn has passed without a change of hands, and each call that releases the lock for a moment, as NumPy's on
    longer arrays and all of numpy.linalg do, wakes it and takes the lock back before it is awake; its turn begins anew.
    So the thread sleeps, and it looks at the clock wherever it calls something or returns (`sys.setprofile`, which is
    the thread's own). A single call into C may still last longer. A thread that is being profiled already stays so.

    Python's turns are as short meanwhile, for the other way round: beside a thread that never sleeps each pause would
    last 5 ms.
    """
    began = perf_counter()

    def look(frame, event, argument) -> None:
        nonlocal began
        if perf_counter() - began > TURN:
            sleep(PAUSE)
            began = perf_counter()

    if sys.getprofile() is not None:
        yield
        return
    with _short_turns():
        sys.setprofile(look)
        try:
            yield
        finally:
            sys.setprofile(None)


@contextlib.contextmanager
def _short_turns() -> Iterator[None]:
    """Let Python's threads change hands every TURN at the latest; several may be inside at a time."""
    with _lock:
        _usual.append(_usual[0] if _usual else sys.getswitchinterval())
        sys.setswitchinterval(min(TURN, _usual[0]))
    try:
        yield
    finally:
        with _lock:
            before = _usual.pop()
            if not _usual:
                sys.setswitchinterval(before)


@contextlib.contextmanager
def without_pause() -> Iterator[None]:
    """Do not look at the clock while this lasts: for a timing, which must be short."""
    before = sys.getprofile()
    sys.setprofile(None)
    try:
        yield
    finally:
        sys.setprofile(before)
