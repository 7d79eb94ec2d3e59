# SPDX-License-Identifier: Apache-2.0
"""The loop: a state arrives, efforts leave. One thread owns the controller while it runs.

Other threads hand over jobs (new settings, hold, a changed lifecycle state), which run between two ticks; a tick comes
first. What the loop does while no state arrives is to watch the time, so that the gates close.
"""

import threading
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future
from functools import partial
from time import monotonic_ns
from typing import Any

import numpy as np
from nav_msgs.msg import Odometry
from sensor_msgs.msg import JointState

from ..control.safety.door import NOMINAL
from ..control.safety.fields import DROPPED, READY, REFUSED, TAKEN
from ..control.safety.guarded import GuardedController
from . import privileges, qos
from .black_box import BlackBox
from .cdr import JointStateReader, OdometryReader
from .commands import Commands
from .hearing import unheard
from .statistics import LoopStatistics
from .waiting import make_waiter

__all__ = ["ControlLoop"]

JOB = 60.0  # [s] that a job may take before its caller gives up
MOST_BYTES = 131_072  # of a message of joint states or odometry; what is longer is none of a robot
LISTENING = 500_000  # [ns] after which the loop answers what it has heard, though more may wait
NONE = -1  # instead of a verdict: nothing has come


class ControlLoop:
    """Runs a controller on the states of the robot.

    Attributes:
        is_simulated: states are judged by a simulated clock.
        failure: what was raised in the loop and closed the gate `error` last, or "".
        unreadable: what was wrong with the last message that could not be read, or "".
        priority: what became of the thread's priority.
    """

    def __init__(
        self,
        node,
        guarded: GuardedController,
        commands: Commands,
        box: BlackBox,
        priority: int,
        is_simulated: bool,
        on_switch: Callable[[], None],
    ):
        """Make its subscriptions.

        Args:
            priority: Of the thread, see `privileges`.
            is_simulated: The node's clock is simulated.
            on_switch: Called in the loop's thread after a tick in which the method has changed.
        """
        self._node, self._guarded, self._commands, self._box = node, guarded, commands, box
        self._gate = gate = guarded.gate
        self._wanted_priority, self.is_simulated = priority, is_simulated
        self._on_switch, self._switches = on_switch, 0
        self._waiter = make_waiter(node)
        self._read_states, self._read_odom = JointStateReader(), OdometryReader()
        self._inlets: list[tuple[int, Callable[[bytes, int], int]]] = []
        if gate.has_base:  # first: joint states need it
            self._listen(Odometry, "odom", self._take_odom)
        self._listen(JointState, "joint_states", self._take_states)
        self._jobs: deque[tuple[Callable[[], Any], Future]] = deque()
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._run, name="control_loop", daemon=True)
        self.statistics = LoopStatistics()
        self.failure = self.unreadable = ""
        self._unsent: np.ndarray | None = None  # a command for which DDS had no room
        self._has_sent = False  # since the activation
        self.priority = "not started"

    def _listen(self, kind: type, topic: str, take: Callable[[bytes, int], int]) -> None:
        inlet = self._waiter.subscribe(kind, topic, qos.HEARD_STATES, raw=True)
        self._inlets.append((inlet, take))

    @property
    def is_active(self) -> bool:
        """Do efforts go out?"""
        return self._guarded.is_active

    # ---- from other threads ----

    def start(self) -> None:
        """Begin to take states; efforts go out only after `activate`."""
        self._thread.start()

    def end(self) -> None:
        """End the thread."""
        self._ended.set()
        self._waiter.wake()
        if self._thread.is_alive():
            self._thread.join(JOB)
        self._waiter.close()

    def do(self, job: Callable[[], Any]) -> Any:
        """Let the loop do something between two ticks, and return its result, or raise what it raises."""
        if not self._thread.is_alive():
            return job()
        future: Future = Future()
        self._jobs.append((job, future))
        self._waiter.wake()
        try:
            return future.result(JOB)
        finally:
            del future  # see `_do_job`

    def wake(self) -> None:
        """Let the loop look at the gates now."""
        self._waiter.wake()

    def activate(self) -> None:
        """Let efforts go out, from the newest state on."""
        self.do(self._activate)

    def deactivate(self) -> None:
        """Send the last command, and no more."""
        self.do(self._deactivate)

    def hear_the_unreliable(self) -> list[str]:
        """Subscribe with best effort where a publisher offers no more and so was never heard; the topics."""
        deaf = [
            inlet
            for inlet, stamp in self._heard()
            if not stamp
            and unheard(self._node, self._waiter.topic(inlet), self._waiter.policies(inlet))
        ]
        for inlet in deaf:
            self.do(partial(self._waiter.resubscribe, inlet, qos.UNRELIABLE_STATES))
        return [self._waiter.topic(inlet) for inlet in deaf]

    def _heard(self) -> list[tuple[int, int]]:
        """Each inlet, and the newest stamp that came."""
        stamps = (self._gate.base_stamp, self._gate.last_stamp)[-len(self._inlets) :]
        return [(inlet, stamp) for (inlet, _), stamp in zip(self._inlets, stamps)]

    # ---- the loop's thread ----

    def _run(self) -> None:
        self.priority = privileges.raise_priority(self._wanted_priority)
        while not self._ended.is_set():
            try:
                again = self._guarded.timeout() if self._unsent is None else NOMINAL
                self._waiter.wait(0.0 if self._jobs else again)
                self._step(monotonic_ns())
            except (
                Exception
            ) as error:  # whatever it is, the robot gets a safe command and the loop goes on
                self._fail(error)
        for _, future in self._jobs:
            future.cancel()

    def _step(self, arrival: int) -> None:
        verdict = self._collect()
        tau = self._guarded.answer(verdict, self._time(arrival), arrival)
        if tau is None:
            tau = self._unsent
        if tau is not None:
            self._send(tau, arrival)
        if self.is_active and verdict in (READY, REFUSED):
            end = monotonic_ns()
            self.statistics.tick(arrival, end)
            self._gate.computed(end - arrival)
            if self._guarded.controller.switches != self._switches:
                self._switches = self._guarded.controller.switches
                self._on_switch()
        if self._jobs:
            self._do_job()

    def _do_job(self) -> None:
        job, future = self._jobs.popleft()
        try:
            future.set_result(job())
        except Exception as error:  # for the caller to handle
            future.set_exception(error)
            # the error knows this frame: a circle, and nobody collects garbage while efforts go out
            del future

    def _collect(self) -> int:
        """Take what has arrived, in its order; what became of the newest state, see `StateGate.joint_states`."""
        verdict = DROPPED
        end = monotonic_ns() + LISTENING
        while True:
            new = max(self._take(inlet, take) for inlet, take in self._inlets)
            if new in (READY, REFUSED):
                verdict = new
            if new == NONE or monotonic_ns() > end:
                break
        self._waiter.renew()
        return verdict

    def _take(self, inlet: int, take: Callable[[bytes, int], int]) -> int:
        try:
            letter = self._waiter.take_short(inlet, MOST_BYTES)
            if letter is None:
                return NONE
            data, size = letter
            if size > MOST_BYTES:
                raise ValueError(f"a message of {size} bytes; valid are up to {MOST_BYTES}")
            return take(data, monotonic_ns())
        except Exception as error:  # bytes that are no such message: rclpy raises whatever it likes
            self.unreadable = f"{self._waiter.topic(inlet)}: {type(error).__name__}: {error}"
            return self._gate.unreadable("size", monotonic_ns())

    def _take_states(self, data: bytes, arrival: int) -> int:
        state = self._read_states(data)
        return self._gate.joint_states(
            state.names, state.position, state.velocity, state.stamp, arrival, self._time(arrival)
        )

    def _take_odom(self, data: bytes, arrival: int) -> int:
        base, gate = self._read_odom(data), self._gate
        verdict = gate.odometry(
            base.pose, base.twist, base.stamp, base.child_frame_id, arrival, self._time(arrival)
        )
        if verdict in (TAKEN, READY):
            gate.frame_id = base.frame_id
        return verdict

    def _send(self, tau: np.ndarray, arrival: int) -> None:
        """Send a command; what could not be sent is tried again, unless there is a newer one by then."""
        is_sent, was_unsent = self._commands.send(tau), self._unsent is not None
        self._unsent = None if is_sent else tau.copy()
        self._has_sent = self._has_sent or is_sent
        if was_unsent or not is_sent:
            self._guarded.left(self._commands.last if self._has_sent else None)
        if is_sent:
            self._box.note(arrival)

    def _time(self, steady: int) -> int:
        """The clock that states are judged by [ns]; a simulated one may lag behind the stamps it has reached."""
        if not self.is_simulated:
            return steady
        return max(self._node.get_clock().now().nanoseconds, self._gate.last_stamp)

    def _activate(self) -> None:
        self.failure, self._has_sent = "", False
        self.statistics.pause()
        arrival = monotonic_ns()
        tau = self._guarded.activate(self._time(arrival), arrival)
        if tau is not None:
            self._send(tau, arrival)

    def _deactivate(self) -> None:
        tau, self._unsent = self._guarded.deactivate(), None
        if tau is not None:
            self._commands.send_last(tau)

    def _fail(self, error: Exception) -> None:
        """Something that nobody expected: close the gate `error`, say so, and go on with a safe command."""
        text = f"{type(error).__name__}: {error}"
        if text != self.failure:
            self._node.get_logger().error(f"the control loop failed: {text}")
        self.failure = text
        self._gate.fail("error")
        self._waiter.wake()
        self._ended.wait(NOMINAL)  # what fails again and again must not keep a core busy
