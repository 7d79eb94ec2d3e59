"""The loop: a state arrives, efforts leave. One thread owns the controller while it runs.

Other threads hand over jobs (new settings, hold, a changed lifecycle state), which run between two ticks; a tick comes
first. What the loop does while no state arrives is to watch the time, so that the gates close.
"""

from __future__ import annotations

import struct
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

from ..control.controller import Controller
from ..control.safety.gates import BIT, Safety
from ..control.safety.guard import Guard
from . import privileges, qos
from .cdr import JointStateReader, OdometryReader
from .commands import Commands
from .intake import Intake
from .statistics import LoopStatistics
from .waiting import make_waiter

__all__ = ["ControlLoop"]

WATCH = 0.1  # [s] longest wait; also between two safe commands while no state arrives
NOTHING = ("", 0.0)
JOB = 60.0  # [s] that a job may take before its caller gives up


class ControlLoop:
    """Runs a controller on the states of the robot.

    Attributes:
        is_active: efforts go out.
        is_simulated: states are judged by a simulated clock.
        lock: held while targets are taken, and while the controller starts again.
        failure: what the controller raised, or "": then zeros are sent until the loop is deactivated.
        priority: what became of the thread's priority.
    """

    def __init__(
        self,
        node,
        controller: Controller,
        intake: Intake,
        safety: Safety,
        guard: Guard,
        commands: Commands,
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
        self._node, self._controller, self._intake = node, controller, intake
        self._safety, self._guard, self._commands = safety, guard, commands
        self._wanted_priority, self.is_simulated = priority, is_simulated
        self._on_switch, self._switches = on_switch, 0
        self._waiter = make_waiter(node)
        self._states = self._waiter.subscribe(JointState, "joint_states", qos.STATES, raw=True)
        self._odom = None
        if intake.is_floating:
            self._odom = self._waiter.subscribe(Odometry, "odom", qos.STATES, raw=True)
        self._read_states, self._read_odom = JointStateReader(), OdometryReader()
        self._jobs: deque[tuple[Callable[[], Any], Future]] = deque()
        self._seen = 0.0  # when the newest joint states came, by the clock they are judged by [s]
        self._has_state = False  # a whole state has come
        self._sent = NOTHING  # the newest safe command, and when it was sent [s]
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._run, name="control_loop", daemon=True)
        self.lock = threading.Lock()
        self.statistics = LoopStatistics()
        self.is_active, self.failure, self.priority = False, "", "not started"

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
        return future.result(JOB)

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
        unheard = [
            inlet
            for inlet, stamp in self._heard()
            if not stamp
            and self._waiter.is_reliable(inlet)
            and any(
                info.qos_profile.reliability == qos.UNRELIABLE_STATES.reliability
                for info in self._node.get_publishers_info_by_topic(self._waiter.topic(inlet))
            )
        ]
        for inlet in unheard:
            self.do(partial(self._waiter.resubscribe, inlet, qos.UNRELIABLE_STATES))
        return [self._waiter.topic(inlet) for inlet in unheard]

    def _heard(self) -> list[tuple[int, int]]:
        """Each inlet, and the newest stamp that came."""
        odometry = [] if self._odom is None else [(self._odom, self._intake.odometry.stamp)]
        return [(self._states, self._intake.stamps.last), *odometry]

    # ---- the loop's thread ----

    def _run(self) -> None:
        self.priority = privileges.raise_priority(self._wanted_priority)
        while not self._ended.is_set():
            try:
                self._waiter.wait(self._timeout())
                self._step(monotonic_ns())
            except (
                Exception
            ) as error:  # whatever it is, the robot gets a safe command and the loop goes on
                self._fail(error)
        for _, future in self._jobs:
            future.cancel()

    def _step(self, arrival: int) -> None:
        try:
            is_ready, fault = self._collect(arrival)
        except (ValueError, struct.error):  # bytes that are no such message
            is_ready, fault = False, "size"
        if is_ready or fault:
            self._answer(arrival, BIT.get(fault, 0))
        else:
            self._watch(arrival)
        if self._jobs:
            job, future = self._jobs.popleft()
            try:
                future.set_result(job())
            except Exception as error:  # for the caller to handle
                future.set_exception(error)

    def _collect(self, arrival: int) -> tuple[bool, str]:
        """Take what has arrived: is a state ready, and what was wrong?"""
        is_ready, fault = False, ""
        if self._odom is not None:
            data = self._waiter.take(self._odom)
            if data is not None:
                is_ready, fault = self._intake.odom(self._read_odom(data), arrival)
                self._safety.odom(self._intake.odometry.stamp * 1e-9)
        data = self._waiter.take(self._states)
        if data is not None:
            is_ready, fault = self._intake.joint_states(self._read_states(data), arrival)
            self._seen = self._time(arrival * 1e-9)
        return is_ready, fault

    def _answer(self, arrival: int, faults: int) -> None:
        """A state is there, or a message that should have brought one: send efforts, or what the gates permit."""
        intake, safety, steady = self._intake, self._safety, arrival * 1e-9
        if not faults:
            self._has_state = self._has_state or intake.odometry_age < np.inf
            faults = self._guard.faults(intake.q, intake.v)
        if intake.state_age <= self._oldest():  # some joints may come more rarely than others
            safety.state(intake.stamps.last * 1e-9, self._time(steady), steady, faults)
        is_blocked = safety.check(self._time(steady), steady)
        if not self.is_active:
            return
        if is_blocked or self.failure or (safety.must_restart and not self._restart()):
            self._send_safe(steady)
        else:
            tau = self._controller.tick(intake.q, intake.v, intake.time)
            if self._controller.is_finite:
                self._commands.send(tau)
                self._sent = NOTHING
            else:  # tau is that of the tick before, which must not stand
                safety.failed()
                safety.check(self._time(steady), steady)
                self._send_safe(steady)
        end = monotonic_ns()
        self.statistics.tick(arrival, end)
        safety.computed((end - arrival) * 1e-9)
        if self._controller.switches != self._switches:
            self._switches = self._controller.switches
            self._on_switch()

    def _restart(self) -> bool:
        """Let the controller start again where the robot is, unless a target is just being taken."""
        if not self.lock.acquire(blocking=False):
            return False
        try:
            self._controller.activate(self._intake.q, self._intake.v, self._intake.time)
        finally:
            self.lock.release()
        self._safety.restarted()
        return True

    def _watch(self, arrival: int) -> None:
        """Nothing has come: close the gates whose time it is, and keep sending what they permit."""
        steady = arrival * 1e-9
        time = self._time(steady)
        if self._intake.is_waiting and time - self._seen > self._safety.settings.odom_timeout:
            self._intake.give_up_waiting()
            self._answer(arrival, 0)
            return
        is_blocked = self._safety.check(time, steady)
        if self.is_active and (is_blocked or self.failure):
            kind, sent = self._sent
            if kind != self._safety.command(steady) or steady - sent >= WATCH:
                self._send_safe(steady)

    def _send_safe(self, steady: float) -> None:
        """What the closed gates permit; nothing before the first state, for the robot may be holding itself."""
        if not self._has_state:
            return
        kind = "zero" if self.failure else self._safety.command(steady)
        self._sent = (kind, steady)
        intake = self._intake
        self._commands.send(self._controller.safe_command(kind, intake.q, intake.v, intake.time))

    def _time(self, steady: float) -> float:
        """The clock that states are judged by [s]; a simulated one may be told later than the stamps it has reached."""
        if not self.is_simulated:
            return steady
        return max(self._node.get_clock().now().nanoseconds, self._intake.stamps.last) * 1e-9

    def _oldest(self) -> float:
        """How much older than the newest a joint may be [s]."""
        settings = self._safety.settings
        return max(settings.state_timeout, settings.state_periods * self._safety.period)

    def _timeout(self) -> float:
        """How long to wait for the next state [s]."""
        if self._jobs:
            return 0.0
        return min(WATCH, 0.5 * self._oldest()) if self.is_active else WATCH

    def _activate(self) -> None:
        intake, safety = self._intake, self._safety
        self.failure = ""
        safety.begin()
        self.statistics.pause()
        self.is_active = True
        if self._has_state and not intake.is_waiting:
            if intake.is_floating:
                safety.odom(intake.odometry.stamp * 1e-9)
            safety.state(intake.stamp * 1e-9, self._seen, intake.stamps.arrival * 1e-9)
            arrival = monotonic_ns()
            steady = arrival * 1e-9
            if not safety.check(self._time(steady), steady):
                # in lock-step nothing more comes until the newest state is answered
                self._answer(arrival, 0)

    def _deactivate(self) -> None:
        if not self.is_active:
            return
        self.is_active = False
        if not self._has_state:
            return
        intake = self._intake
        kind = "zero" if self.failure else self._safety.last_command()
        self._commands.send_last(
            self._controller.safe_command(kind, intake.q, intake.v, intake.time)
        )

    def _fail(self, error: Exception) -> None:
        if not self.failure:
            self._node.get_logger().error(
                f"the control loop failed: {type(error).__name__}: {error}"
            )
        self.failure = f"{type(error).__name__}: {error}"
        if self.is_active:
            self._commands.send(np.zeros(len(self._commands.last)))
        self._ended.wait(WATCH)  # what fails again and again must not keep a core busy
