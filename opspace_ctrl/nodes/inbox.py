# SPDX-License-Identifier: Apache-2.0
"""Messages that anybody may send, as often and as long as he likes.

They come to a participant of their own (`side_node`), are taken by a thread of their own, one of each topic in a
millisecond, and judged by their length before Python sees them. What is left is delivered in the node's executor. So a
flood costs the loop and the emergency stop next to nothing: the middleware keeps the newest messages of each topic.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Iterable
from concurrent.futures import Future

from rclpy.node import Node
from rclpy.qos import QoSProfile

from .side_node import close_side_node, make_side_node
from .waiting import make_waiter

__all__ = ["Inbox"]

PACE = 1e-3  # [s] between two messages of a topic, at least
QUIET = 1.0  # [s] between two words about what failed
WAIT = 0.5  # [s] longest wait of the thread
LONGEST = 10.0  # [s] that its answer to the executor may take


class Inbox:
    """Subscriptions whose messages are delivered as bytes. Everything but its thread is the executor's."""

    def __init__(self, node: Node):
        """Node: whose names and parameters are used, and whose executor delivers."""
        self._node, self._side = node, make_side_node(node, "targets")
        self._waiter = make_waiter(node, self._side)
        self._readers: list[tuple[Callable[[bytes, int], None], int]] = []
        self._letters: list[tuple[bytes, int] | None] = []
        self._jobs: deque[tuple[Callable[[], object], Future]] = deque()
        self._guard = node.create_guard_condition(self._deliver)
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._run, name="inbox", daemon=True)

    def subscribe(
        self,
        message_type: type,
        topic: str,
        read: Callable[[bytes, int], None],
        qos: QoSProfile,
        most: int,
    ) -> None:
        """read: takes the bytes of a message and their number; no bytes if they are more than `most`."""

        def add() -> None:
            self._waiter.subscribe(message_type, topic, qos, raw=True)
            self._readers.append((read, most))
            self._letters.append(None)

        self._do(add)

    def forget(self, topics: Iterable[str]) -> None:
        """End the subscriptions to topics of these full names."""

        def remove() -> None:
            for inlet in reversed(range(len(self._readers))):
                if self._waiter.topic(inlet) in topics:
                    self._waiter.unsubscribe(inlet)
                    del self._readers[inlet], self._letters[inlet]

        self._do(remove)

    def start(self) -> None:
        """Begin to take messages."""
        self._thread.start()

    def close(self) -> None:
        """End the thread and the subscriptions."""
        self._ended.set()
        self._waiter.wake()
        self._thread.join(LONGEST)
        self._waiter.close()
        self._node.destroy_guard_condition(self._guard)
        close_side_node(self._side)

    def topics(self) -> list[tuple[str, QoSProfile]]:
        """The full name of each inlet's topic, and what is asked of its publishers."""
        waiter = self._waiter
        return [(waiter.topic(i), waiter.policies(i)) for i in range(len(self._readers))]

    def resubscribe(self, inlet: int, qos: QoSProfile) -> None:
        """Subscribe to a topic anew with other policies."""
        self._do(lambda: self._waiter.resubscribe(inlet, qos))

    def _do(self, job: Callable[[], object]) -> None:
        """Let the thread that waits do something, while nobody delivers."""
        if not self._thread.is_alive():
            job()
            return
        future: Future = Future()
        self._jobs.append((job, future))
        self._waiter.wake()
        try:
            future.result(LONGEST)
        finally:
            del future  # see `_do_job`

    def _run(self) -> None:
        while not self._ended.is_set():
            try:
                self._waiter.wait(WAIT)
                while self._jobs:
                    self._do_job(*self._jobs.popleft())
                if self._collect():
                    self._guard.trigger()
                self._waiter.renew()
            except Exception as error:  # the next message may be better
                text = f"the inbox failed: {type(error).__name__}: {error}"
                self._node.get_logger().error(text, throttle_duration_sec=QUIET)
            self._ended.wait(PACE)

    def _do_job(self, job: Callable[[], object], future: Future) -> None:
        try:
            future.set_result(job())
        except Exception as error:  # for the caller to handle
            future.set_exception(error)
            # the error knows this frame: a circle, and nobody collects garbage while efforts go out
            del future

    def _collect(self) -> bool:
        """Take one message of every topic whose last one was delivered; are there any?"""
        letters = self._letters
        for inlet, (_, most) in enumerate(self._readers):
            if letters[inlet] is None:
                letters[inlet] = self._waiter.take_short(inlet, most)
        return any(letter is not None for letter in letters)

    def _deliver(self) -> None:
        letters = self._letters
        for inlet, (read, _) in enumerate(self._readers):
            letter, letters[inlet] = letters[inlet], None
            if letter is not None:
                read(*letter)
