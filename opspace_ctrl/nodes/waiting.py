# SPDX-License-Identifier: Apache-2.0
"""Subscriptions served by a loop of one's own instead of an executor.

An executor's dispatch costs more than a control tick, so a loop waits on its subscriptions itself: a wait set, and
`take_message` when something has arrived. Both are private parts of rclpy (its own `wait_for_message` uses them), which
is why nothing outside this module touches them; without them the executor of the node delivers into queues instead.

rclpy's EventsExecutor (`rclpy.experimental`, 9.1.2) does not take its place: while it spins in one thread, another one
of the same process that publishes to one of its subscriptions stops for good at the first message, and the process can
only be killed; whoever runs this node beside others in one process would meet that.
"""

from __future__ import annotations

import ctypes
import threading
from collections import deque
from contextlib import suppress
from copy import copy
from time import monotonic
from typing import Any

from rclpy.node import Node
from rclpy.qos import QoSProfile
from rclpy.qos_overriding_options import QoSOverridingOptions, _declare_qos_parameters
from rclpy.subscription import Subscription

from .groups import ForgetfulGroup
from .hearing import advice
from .short_take import HAS_SHORT_TAKE, ShortTake

try:
    from rclpy.impl.implementation_singleton import rclpy_implementation as _rclpy

    HAS_WAIT_SET = all(
        hasattr(_rclpy, name) for name in ("WaitSet", "Subscription", "InvalidHandle")
    )
except ImportError:
    HAS_WAIT_SET = False

__all__ = ["HAS_WAIT_SET", "Waiter", "executor_waiter", "make_waiter"]

VERY_LONG = 1 << 20  # [bytes] of a message after which its subscription is made anew
RENEWAL = 1.0  # [s] between two of those, at least


def make_waiter(node: Node, side: Node | None = None) -> Waiter:
    """The quickest way to wait that this rclpy has; side: the node that subscribes instead (`side_node`)."""
    return _WaitSetWaiter(node, side) if HAS_WAIT_SET else executor_waiter(node)


def executor_waiter(node: Node) -> Waiter:
    """The way that needs no private part of rclpy: the node's executor must spin in another thread."""
    return _ExecutorWaiter(node)


class Waiter:
    """Waits on some subscriptions of a node. One thread calls `wait` and `take`; `wake` may be called from any.

    Inlets are numbered in the order of `subscribe`.

    The middleware keeps memory for messages: every place of a subscription's queue grows to the longest message that it
    ever held, and stays so. After a very long one `renew` makes the subscription anew, which gives all of it back.
    """

    def __init__(self, node: Node, side: Node | None = None):
        """Node: whose names and parameters are used; side: which subscribes, if it is another."""
        self._owner, self._node = node, side or node
        self._subscriptions: list[Any] = []
        self._swollen: set[str] = set()  # topics whose queues hold memory for a very long message
        self._renewed = 0.0

    def subscribe(self, message_type: type, topic: str, qos: QoSProfile, raw: bool = False) -> int:
        """Add a subscription and return its number; raw: `take` then returns the serialised message.

        Its policies can be overridden by the node's parameters `qos_overrides.*`. Not while another thread waits.
        """
        raise NotImplementedError

    def wait(self, timeout: float) -> None:
        """Return when something has arrived, when `wake` was called, or after `timeout` seconds, whichever is first."""
        raise NotImplementedError

    def take(self, inlet: int) -> Any | None:
        """The oldest message of an inlet that has not been taken, or None."""
        raise NotImplementedError

    def take_short(self, inlet: int, most: int) -> tuple[bytes, int] | None:
        """Likewise, of a raw inlet, with its size; no bytes if it has more than `most`."""
        letter = self._take_short(inlet, most)
        if letter is not None and letter[1] > VERY_LONG:
            self._swollen.add(self.topic(inlet))
        return letter

    def _take_short(self, inlet: int, most: int) -> tuple[bytes, int] | None:
        data = self.take(inlet)
        if data is None:
            return None
        return (data if len(data) <= most else b""), len(data)

    def renew(self) -> None:
        """Make a subscription anew whose queue has swollen, at most one in a second: it hears again a moment later.

        Only the thread that waits may do it.
        """
        if not self._swollen or monotonic() < self._renewed + RENEWAL:
            return
        topic, self._renewed = self._swollen.pop(), monotonic()
        for inlet in range(len(self._subscriptions)):
            if self.topic(inlet) == topic:
                self.resubscribe(inlet, self.policies(inlet))

    def wake(self) -> None:
        """End the present or the next `wait`; nothing after `close`."""
        raise NotImplementedError

    def topic(self, inlet: int) -> str:
        """The full name of an inlet's topic."""
        return self._subscriptions[inlet].topic_name

    def policies(self, inlet: int) -> QoSProfile:
        """What the inlet asks for; publishers that offer less are not heard."""
        return self._subscriptions[inlet].qos_profile

    def advice(self, *inlets: int) -> str:
        """A sentence on the first publisher of these that is not heard, "" if all are."""
        found = (advice(self._node, self.topic(inlet), self.policies(inlet)) for inlet in inlets)
        return next(filter(None, found), "")

    def resubscribe(self, inlet: int, qos: QoSProfile) -> None:
        """Subscribe to an inlet's topic anew with other policies; only the thread that waits may do it."""
        raise NotImplementedError

    def unsubscribe(self, inlet: int) -> None:
        """End a subscription; those after it move up. Only the thread that waits may do it."""
        overrides = f"qos_overrides.{self.topic(inlet)}.subscription."
        self._node.destroy_subscription(self._subscriptions.pop(inlet))
        # they are read-only, so that rclpy itself would keep those of every topic that ever was
        for name in [each for each in self._owner._parameters if each.startswith(overrides)]:
            del self._owner._parameters[name], self._owner._descriptors[name]

    def close(self) -> None:
        """Destroy the subscriptions. Not while another thread waits."""
        for subscription in self._subscriptions:
            self._node.destroy_subscription(subscription)
        self._subscriptions.clear()

    def _create(self, message_type, topic, qos, raw, callback, group=None) -> None:
        name, policies = self._owner.resolve_topic_name(topic), copy(qos)
        # writes what the parameters say into the policies
        _declare_qos_parameters(
            Subscription,
            self._owner,
            name,
            policies,
            QoSOverridingOptions.with_default_policies(),
        )
        self._subscriptions.append(
            self._node.create_subscription(
                message_type, name, callback, policies, callback_group=group, raw=raw
            )
        )

    def _recreate(self, inlet: int, qos: QoSProfile) -> None:
        old = self._subscriptions[inlet]
        given = (old.msg_type, old.topic_name, old.callback, qos)
        options = {"callback_group": old.callback_group, "raw": old.raw}
        self._node.destroy_subscription(old)  # first: two of one topic share the queue's memory
        self._subscriptions[inlet] = self._node.create_subscription(*given, **options)


class _NotTheExecutor(ForgetfulGroup):
    """The group of entities that no executor may serve."""

    def can_execute(self, entity) -> bool:
        return False

    def beginning_execution(self, entity) -> bool:
        return False

    def ending_execution(self, entity) -> None:
        pass


class _WaitSetWaiter(Waiter):
    """Waits in rcl itself."""

    def __init__(self, node: Node, side: Node | None = None):
        super().__init__(node, side)
        self._group = _NotTheExecutor()
        self._guard = self._node.create_guard_condition(_nothing, callback_group=self._group)
        self._short_take = ShortTake() if HAS_SHORT_TAKE else None
        self._handles: list[Any] = []
        self._pointers: list[ctypes.c_void_p] = []
        self._types: list[tuple[type, bool]] = []
        self._make_set()

    def subscribe(self, message_type: type, topic: str, qos: QoSProfile, raw: bool = False) -> int:
        self._create(message_type, topic, qos, raw, _nothing, self._group)
        self._handles.append(self._subscriptions[-1].handle)
        self._pointers.append(ctypes.c_void_p(self._handles[-1].pointer))
        self._types.append((message_type, raw))
        self._make_set()
        return len(self._handles) - 1

    def resubscribe(self, inlet: int, qos: QoSProfile) -> None:
        self._recreate(inlet, qos)
        handle = self._handles[inlet] = self._subscriptions[inlet].handle
        self._pointers[inlet] = ctypes.c_void_p(handle.pointer)

    def unsubscribe(self, inlet: int) -> None:
        del self._handles[inlet], self._pointers[inlet], self._types[inlet]
        super().unsubscribe(inlet)
        self._make_set()

    def _make_set(self) -> None:
        self._set = _rclpy.WaitSet(len(self._handles), 1, 0, 0, 0, 0, self._node.context.handle)  # type: ignore[arg-type]

    def wait(self, timeout: float) -> None:
        wait_set = self._set
        wait_set.clear_entities()  # rcl_wait strikes out what was not ready, so everything is added again
        for handle in self._handles:
            wait_set.add_subscription(handle)
        wait_set.add_guard_condition(self._guard.handle)
        wait_set.wait(max(0, int(timeout * 1e9)))

    def take(self, inlet: int) -> Any | None:
        taken = self._handles[inlet].take_message(*self._types[inlet])
        return None if taken is None else taken[0]

    def _take_short(self, inlet: int, most: int) -> tuple[bytes, int] | None:
        if self._short_take is None:
            return super()._take_short(inlet, most)
        return self._short_take(self._pointers[inlet], most)

    def wake(self) -> None:
        with suppress(_rclpy.InvalidHandle):  # closed meanwhile: nobody waits any more
            self._guard.trigger()

    def close(self) -> None:
        self._handles.clear()
        self._pointers.clear()
        self._types.clear()
        if self._short_take is not None:
            self._short_take.close()
        self._node.destroy_guard_condition(self._guard)
        super().close()


class _ExecutorWaiter(Waiter):
    """Lets the node's executor deliver, and waits for an event."""

    def __init__(self, node: Node):
        super().__init__(node)
        self._queues: list[deque] = []
        self._arrived = threading.Event()

    def subscribe(self, message_type: type, topic: str, qos: QoSProfile, raw: bool = False) -> int:
        queue: deque = deque(maxlen=max(1, qos.depth))
        self._queues.append(queue)
        self._create(message_type, topic, qos, raw, lambda message: self._deliver(queue, message))
        return len(self._queues) - 1

    def resubscribe(self, inlet: int, qos: QoSProfile) -> None:
        self._recreate(inlet, qos)

    def unsubscribe(self, inlet: int) -> None:
        del self._queues[inlet]
        super().unsubscribe(inlet)

    def _deliver(self, queue: deque, message: Any) -> None:
        queue.append(message)
        self._arrived.set()

    def wait(self, timeout: float) -> None:
        self._arrived.wait(max(0.0, timeout))
        self._arrived.clear()

    def take(self, inlet: int) -> Any | None:
        try:
            return self._queues[inlet].popleft()
        except IndexError:
            return None

    def wake(self) -> None:
        self._arrived.set()


def _nothing(*_) -> None:
    """A callback that is never called: `take` fetches the message."""
