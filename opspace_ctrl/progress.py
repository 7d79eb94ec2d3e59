"""The line that says that kernels are being compiled, and how far that is: seconds without a word look like a hang."""

from __future__ import annotations

import contextlib
import shutil
import sys
from collections.abc import Callable, Iterator
from time import monotonic

from .kernel_cache import is_writable

__all__ = ["counted", "shown"]

CLEAR = "\r\x1b[K"
_counts: list[tuple[Callable[[], tuple[int, int]], float]] = []
_line = {"is_there": False, "was_there": False}


@contextlib.contextmanager
def counted(count: Callable[[], tuple[int, int]]) -> Iterator[None]:
    """What is shown inside is part of a larger work; `count` says how many kernels of how many are done."""
    _counts.append((count, monotonic()))
    try:
        yield
    finally:
        _counts.pop()
        _clear()


@contextlib.contextmanager
def shown(dispatcher) -> Iterator[None]:
    """Say that a kernel is being compiled: a line on the terminal that moves on and goes away; in a log, one in all."""
    _say(f"{dispatcher.__module__.rpartition('.')[2]}.{dispatcher.__name__}")
    try:
        yield
    finally:
        if not _counts:
            _clear()


def _say(name: str) -> None:
    (count, start) = _counts[-1] if _counts else (lambda: (0, 1), 0.0)
    done, number = count()
    if _is_terminal():
        part = f"{done} of {number} kernels, {monotonic() - start:.0f} s: " if number > 1 else ""
        line = f"opspace_ctrl: compiling {part}{name}{', which is kept for the next start' if is_writable() else ''}"
        # a line that wraps could not be cleared
        _write(CLEAR + line[: shutil.get_terminal_size().columns - 1])
        _line["is_there"] = True
    elif not _line["was_there"]:
        what = f"{number} kernels" if number > 1 else "a kernel"
        _write(
            f"opspace_ctrl: compiling {what}{', kept for the next start' if is_writable() else ''} ...\n"
        )
    _line["was_there"] = True


def _clear() -> None:
    if _line["is_there"]:
        _write(CLEAR)
        _line["is_there"] = False


def _is_terminal() -> bool:
    try:
        return sys.stderr.isatty()
    except (AttributeError, ValueError):  # none, no file, or closed
        return False


def _write(text: str) -> None:
    """Whatever stands in for the terminal, it never stops the work."""
    with contextlib.suppress(AttributeError, OSError, ValueError):
        sys.stderr.write(text)
        sys.stderr.flush()
