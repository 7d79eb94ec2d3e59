# SPDX-License-Identifier: Apache-2.0
"""One direction of the robot's bus on simulated time: messages are delayed, lost, doubled and swapped."""

from collections import deque
from typing import Any, NamedTuple

from .timetable import Activity

__all__ = ["Channel"]

SAME_TIME = 1e-9  # [s]: times are sums of steps
LONGEST_HOLD = 0.1  # [s]: a message that waits to be overtaken leaves after this all the same


class _Held(NamedTuple):
    """A message that waits to be overtaken."""

    message: Any
    copies: int
    due: float
    latest: float  # when it leaves though nothing has overtaken it
    overtaken: list[Activity]  # the faults that ordered it


class Channel:
    """A first-in first-out channel whose faults are those that act when a message is sent.

    A message sent at t arrives at t plus the delays, but never before the one sent before it: order is kept unless
    `reorder` swaps two neighbours. A swapped message waits for the next one and arrives right after it; a
    neighbour of a waiting message is not swapped itself, so that a share p / (1 + p) of the messages is overtaken.

    Attributes:
        faults: The activities that act now; set by whoever owns the timetable.
        sent, delivered, lost: Numbers of messages so far; duplicates are delivered but not sent.
    """

    def __init__(self, side: str):
        self.side = side
        self.faults: list[Activity] = []
        self.sent = self.delivered = self.lost = 0
        self._queue: deque[tuple[float, Any]] = deque()
        self._last_due = -float("inf")
        self._held: _Held | None = None

    def clear(self) -> None:
        """Forget the messages on their way; the numbers stay."""
        self._queue.clear()
        self._held, self._last_due = None, -float("inf")

    def send(self, message: Any, time: float) -> None:
        """Put a message on the channel at this time [s]."""
        self.sent += 1
        if not self.faults and self._held is None:
            self._enqueue(message, time)
            return
        if self._is_lost():
            self.lost += 1
            return
        due = time + self._delay()
        copies = 1
        for activity in self._struck("duplicate"):
            activity.count("duplicated")
            copies = 2
        overtaken = self._struck("reorder")
        if overtaken and self._held is None:
            self._held = _Held(message, copies, due, time + LONGEST_HOLD, overtaken)
            return
        for _ in range(copies):
            self._enqueue(message, due)
        if self._held is not None:
            for activity in self._held.overtaken:
                activity.count("reordered")
            self._release()

    def receive(self, time: float) -> list[Any]:
        """The messages that have arrived by this time, in the order of their arrival."""
        if self._held is not None and time >= self._held.latest - SAME_TIME:
            self._release()
        arrived = []
        while self._queue and self._queue[0][0] <= time + SAME_TIME:
            arrived.append(self._queue.popleft()[1])
        self.delivered += len(arrived)
        return arrived

    def _enqueue(self, message: Any, due: float) -> None:
        self._last_due = max(self._last_due, due)
        self._queue.append((self._last_due, message))

    def _release(self) -> None:
        held, self._held = self._held, None
        assert held is not None
        for _ in range(held.copies):
            self._enqueue(held.message, held.due)

    def _of(self, kind: str) -> list[Activity]:
        return [activity for activity in self.faults if activity.fault.kind == kind]

    def _is_lost(self) -> bool:
        for activity in self._of("loss"):
            activity.count("lost")
            return True
        dropped = self._struck("drop")
        for activity in dropped:
            activity.count("dropped")
        return bool(dropped)

    def _struck(self, kind: str) -> list[Activity]:
        """Draw for every fault of a kind; those that struck."""
        return [
            activity
            for activity in self._of(kind)
            if activity.rng[self.side].random() < activity.fault.values["probability"]
        ]

    def _delay(self) -> float:
        """The delays [s] of all latency and jitter faults, added."""
        total = 0.0
        for activity in self.faults:
            kind, values = activity.fault.kind, activity.fault.values
            if kind == "latency":
                total += values["delay"]
            elif kind == "jitter":
                total += values["spread"] * activity.rng[self.side].random()
            else:
                continue
            activity.count("delayed")
        return total
