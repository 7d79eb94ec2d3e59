# SPDX-License-Identifier: Apache-2.0
"""SIGINT, SIGTERM, SIGHUP, noted instead of raised: a command that has started processes ends them in order."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from types import FrameType, TracebackType

__all__ = ["INTERRUPTED", "Interruption"]

INTERRUPTED = 130  # 128 + SIGINT, as shells report it
SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)  # the last: the terminal was closed


class Interruption:
    """A context in which the signals only set `requested`; whoever waits, waits with `wait` and looks.

    Nothing is raised, so that no signal can come between a process's start and the note of its id. As the first thing
    of a command it also covers the imports that follow.

    Attributes:
        keep: leave the handlers in place at the end, for a process that has nothing else to do: a late signal then
            changes nothing any more.
    """

    def __init__(self, keep: bool = False) -> None:
        self.keep = keep
        self._event = threading.Event()
        self._number = 0
        self._raises = False
        self._before: dict[int, object] = {}

    @property
    def requested(self) -> bool:
        """Has a signal come?"""
        return self._event.is_set()

    @property
    def exit_code(self) -> int:
        """As shells report an end by a signal: 128 + its number; 0 if none has come."""
        return 128 + self._number if self._number else 0

    def wait(self, seconds: float) -> bool:
        """Wait for so long, or until a signal comes; whether one has."""
        return self._event.wait(seconds)

    @contextmanager
    def ending_at_once(self) -> Iterator[None]:
        """What is done here ends when a signal comes: compiling, say, which looks at nothing for minutes.

        It is for what starts no process that somebody would have to end.
        """
        with suppress(KeyboardInterrupt):
            self._raises = True
            try:
                yield
            finally:
                self._raises = False

    def __enter__(self) -> Interruption:
        if threading.current_thread() is threading.main_thread():
            # by nohup, whose word counts
            is_detached = signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
            self._before = {
                number: signal.signal(number, self._note)
                for number in SIGNALS
                if not (number is signal.SIGHUP and is_detached)
            }
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if not self.keep:
            for number, handler in self._before.items():
                signal.signal(number, handler)  # type: ignore[arg-type]

    def _note(self, number: int, frame: FrameType | None) -> None:
        self._number = self._number or number  # the first is why it ends
        self._event.set()
        if self._raises:
            self._raises = False
            raise KeyboardInterrupt
