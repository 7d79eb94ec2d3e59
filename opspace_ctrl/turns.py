"""Short turns of Python's threads: a loop beside a thread that prepares something waits little for the interpreter."""

from __future__ import annotations

import contextlib
import sys
import threading
from collections.abc import Iterator

__all__ = ["TURN", "short_turns"]

TURN = 1e-4  # [s] after which a thread gives way to one that waits; usually 5e-3
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
