"""The line that says that kernels are being compiled, and how far that is: seconds without a word look like a hang."""
from __future__ import annotations

import atexit
import contextlib
import sys
from collections.abc import Callable, Iterator

__all__ = ["announce", "counted"]

_announced: list[str] = []
_counts: list[Callable[[], tuple[int, int]]] = []


@contextlib.contextmanager
def counted(count: Callable[[], tuple[int, int]]) -> Iterator[None]:
    """What is announced inside is part of a larger work; `count` says how many kernels of how many are done."""
    _counts.append(count)
    try:
        yield
    finally:
        _counts.remove(count)


def announce(dispatcher) -> None:
    """One line on the terminal that moves on with every kernel; in a log, one line in all."""
    if sys.stderr is None:
        return
    name = f"{dispatcher.__module__.rpartition('.')[2]}.{dispatcher.__name__}"
    if sys.stderr.isatty():
        done, wanted = _counts[-1]() if _counts else (0, 0)
        part = f" ({done} of {wanted} done)" if wanted else ""
        sys.stderr.write(f"\r\x1b[Kopspace_ctrl: compiling {name}{part}, which is kept for the next start ...")
        if not _announced:
            atexit.register(sys.stderr.write, "\r\x1b[K")
    elif not _announced:
        number = f"{_counts[-1]()[1]} " if _counts else ""
        sys.stderr.write(f"opspace_ctrl: compiling {number}kernels, which are kept for the next start ...\n")
    sys.stderr.flush()
    _announced.append(name)
