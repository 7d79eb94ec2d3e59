"""Short turns of Python's threads: a loop beside a thread that prepares something waits little for the interpreter."""

import contextlib
import sys
import threading
from collections.abc import Iterator
from time import sleep

TURN = 5e-6  # [s] after which a thread gives way to one that waits; usually 5e-3
MOMENT = 1e-6  # [s] that is a sleep all the same: the system's shortest, some 50 us
_lock = threading.Lock()
_usual: list[
    float
] = []  # the interval before the first of those that are inside came; one entry for each


@contextlib.contextmanager
def short_turns() -> Iterator[None]:
    """Let threads give way after TURN at most while this lasts; several may be inside at a time."""
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


def give_way() -> None:
    """Let another thread have the interpreter now, where turns are short.

    Needed between calls that release the lock themselves, as those of numpy.linalg: each release wakes the thread that
    waits, but the lock is taken back before that is awake, and its TURN begins anew; so it may wait for all of them.
    """
    if _usual:
        sleep(MOMENT)
