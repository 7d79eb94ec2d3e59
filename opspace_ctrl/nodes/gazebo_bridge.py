# SPDX-License-Identifier: Apache-2.0
"""opspace_gazebo_bridge: Gazebo, behind ros_gz_bridge, as the robot that a controller expects.

    effort_controller/commands (Float64MultiArray) -> one Float64 topic a joint, with a watchdog
    gazebo/joint_states, gazebo/odom -> joint_states, odom: repeats dropped, joints in our order and under our names

In lock-step each command steps the paused world once; the next state is the answer. Without `joints`, where controllers
run inside Gazebo, odometry alone is relayed.
"""

import threading
import time
from collections.abc import Callable
from functools import partial
from typing import NoReturn

import numpy as np
from diagnostic_msgs.msg import DiagnosticArray
from nav_msgs.msg import Odometry
from rclpy.clock import Clock, ClockType
from rclpy.duration import Duration
from rclpy.node import Node
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64, Float64MultiArray

from ..parameters import checked
from . import qos
from .declared import NODE_OPTIONS, Declared
from .gazebo_forces import ForceGuard
from .gazebo_relay import Relay
from .gazebo_states import Pairing
from .gazebo_table import BRIDGE_TABLE, CONTROL, ODOMETRY, STATES, check_bridge
from .gazebo_watch import Watch
from .gazebo_words import Words
from .gazebo_world import ServiceWorld, World
from .messages import diagnostic, full_name, nanoseconds
from .runtime import DONE, LAST_WORD, leave, run
from .sending import send
from .waiting import make_waiter

__all__ = ["GazeboBridge", "main"]

NAME = "opspace_gazebo_bridge"
USAGE = """\
opspace_gazebo_bridge [--ros-args --params-file FILE ...]

Between a controller and Gazebo behind ros_gz_bridge: effort_controller/commands to a force topic a joint, states back.
`opspace gazebo ROBOT --out DIR` writes its parameter file.
"""
QUEUE = qos.profile(10)  # nothing that comes is overwritten before it is counted
LONGEST_WAIT = 0.05  # [s]


class GazeboBridge(Node):
    """The node; callbacks and diagnostics in the executor, messages in a thread of its own.

    Args:
        make_world: makes the world's control where a mode needs it; the service of ros_gz_bridge unless given.
    """

    def __init__(self, make_world: Callable[[Node], World] | None = None) -> None:
        super().__init__(NAME, **NODE_OPTIONS)
        self.finished, self.exit_code = False, DONE
        self._declared = Declared(self)
        checked(BRIDGE_TABLE, self._declared.given)
        self._declared.declare(BRIDGE_TABLE)
        self._declared.complete()
        self._settings = settings = self._declared.values
        force_topics = check_bridge(settings)
        needs_world = settings["lockstep"] or settings["run_on_command"]
        self._world = (make_world or self._service_world)(self) if needs_world else None
        self._pairing = Pairing(settings["floating"])
        self._relay = Relay(settings)
        self._watch = Watch()
        self._guard = ForceGuard(settings, self._watch)
        self._words = Words(self._watch, self._guard, self._pairing, self._relay)
        self._last: tuple[JointState, Odometry | None] | None = None
        self._last_forces = np.zeros(len(settings["joints"]))
        self._request: Callable[[], None] = _nothing  # what the world was last asked for
        self._sent_at = 0.0
        self._resent = 0
        self._complaint, self._said = "", ""
        self._has_run = self._ready = self._stopping = False
        self._declared.accept = self._accept
        self._make_topics(force_topics)
        self._thread = threading.Thread(target=self._loop, name="relay", daemon=True)
        self._thread.start()

    def end(self) -> None:
        """Stop the thread and leave no force behind."""
        self._stopping = True
        self._waiter.wake()
        self._thread.join()
        self._send(np.zeros(len(self._forces)))
        deadline = time.monotonic() + LAST_WORD
        for publisher in self._forces:
            publisher.wait_for_all_acked(Duration(seconds=max(0.0, deadline - time.monotonic())))
        self._waiter.close()

    def _service_world(self, node: Node) -> World:
        return ServiceWorld(node, CONTROL, self._complain)

    def _accept(self, values, names) -> None:
        self._guard.settings = self._settings = values

    def _make_topics(self, force_topics: list[str]) -> None:
        self._waiter = make_waiter(self)
        self._odometry_inlet = self._waiter.subscribe(Odometry, ODOMETRY, QUEUE)
        self._state_inlet = self._waiter.subscribe(JointState, STATES, QUEUE)
        self._command_inlet = self._waiter.subscribe(
            Float64MultiArray, "effort_controller/commands", QUEUE
        )
        self._forces = [
            self.create_publisher(Float64, topic, qos.COMMANDS) for topic in force_topics
        ]
        if self._forces:
            self._states = self.create_publisher(JointState, "joint_states", qos.STATES)
        self._odometry = self.create_publisher(Odometry, "odom", qos.STATES)
        self._diagnostics = self.create_publisher(DiagnosticArray, "/diagnostics", qos.profile(10))
        # by the steady clock: simulated time stands while the world does
        self._timer = self.create_timer(
            1.0, self._report, clock=Clock(clock_type=ClockType.STEADY_TIME)
        )

    # ---- the relay's thread ----

    def _loop(self) -> None:
        """Relay until `end`."""
        while not self._stopping:
            self._waiter.wait(min(LONGEST_WAIT, self._settings["resend"]))
            try:
                self._turn(time.monotonic())
            except Exception as error:  # the thread must live, for the watchdog is in it
                self._complain(f"{type(error).__name__}: {error}")

    def _turn(self, now: float) -> None:
        """Handle what has come, and what has not."""
        waiter, guard = self._waiter, self._guard
        while (message := waiter.take(self._odometry_inlet)) is not None:
            stamp = nanoseconds(message.header.stamp)
            if self._forces:
                self._hand_on(self._pairing.odometry(stamp, message), now)
            else:
                self._hand_on_odometry(stamp, message, now)
        while (message := waiter.take(self._state_inlet)) is not None:
            stamp = nanoseconds(message.header.stamp)
            if self._watch.heard(stamp, now):
                self._has_run = False
            self._hand_on(self._pairing.state(stamp, message), now)
        while (message := waiter.take(self._command_inlet)) is not None:
            self._command(message, now)
        if guard.bites(now):
            self._fall_back()
        if guard.is_silent(now):
            self._ready = False  # whoever comes back must be found again
            return
        self._insist(now)
        if guard.is_waiting and now - self._sent_at >= self._settings["resend"]:
            self._resent += self._sent_at > 0.0
            self._publish(now)

    def _command(self, message: Float64MultiArray, now: float) -> None:
        if not self._is_ready():
            return
        forces = self._guard.command(message.data, now)
        if forces is None:
            return
        self._send(forces)
        if self._world is None:
            return
        if self._settings["lockstep"]:
            if self._settings["settle"]:
                time.sleep(self._settings["settle"])
            self._ask(partial(self._world.step, self._settings["steps"]), now)
        elif not self._has_run:
            self._ask(self._world.run, now)
            self._has_run = True

    def _ask(self, request: Callable[[], None], now: float) -> None:
        """Ask the world for something that moves its time."""
        request()
        self._request = request
        self._watch.asked(now)

    def _insist(self, now: float) -> None:
        """Ask a world again that did not obey, and step one that must move before it says where its base is."""
        patience = self._settings["resend"]
        if self._world is None or not self._is_ready():
            return
        if self._watch.is_disobeyed(patience):
            self._send(self._last_forces)  # they may have been lost with the request
            self._ask(self._request, now)
        elif self._pairing.lacks_odometry and self._watch.stood() > patience:
            self._ask(partial(self._world.step, 1), now)

    def _is_ready(self) -> bool:
        """May the world be moved? Not before every force and request would arrive: none may be lost."""
        if not self._ready:
            self._ready = not self._lacking()
        return self._ready

    def _lacking(self) -> str:
        """What would not arrive in Gazebo, "" if everything would."""
        if self._world is None:
            return ""
        if not self._world.is_ready():
            return "the world's control is not there: does ros_gz_bridge offer its service?"
        deaf = [force.topic_name for force in self._forces if not force.get_subscription_count()]
        return f"Gazebo does not listen to {deaf[0]}" if deaf else ""

    def _send(self, forces: np.ndarray) -> None:
        self._last_forces = forces
        for publisher, force in zip(self._forces, forces.tolist()):
            send(self, publisher, Float64(data=force))

    def _fall_back(self) -> None:
        forces = self._guard.fallback(self._relay.velocities)
        if forces is not None:
            self._send(forces)

    def _hand_on(self, pair: tuple[JointState, Odometry | None] | None, now: float) -> None:
        """Send a pair on; None: Gazebo repeated itself, or the other half has not come yet."""
        if pair is None:
            return
        joints = self._relay.joints(pair[0])
        odometry = pair[1] and self._relay.odometry(pair[1])
        if joints is None or (odometry is None and pair[1] is not None):
            self._complain(self._relay.problem)
            return
        self._last = joints, odometry
        self._publish(now)
        self._guard.state(nanoseconds(joints.header.stamp) * 1e-9)
        if self._guard.tripped and self._settings["timeout_action"] == "damping":
            self._fall_back()

    def _hand_on_odometry(self, stamp: int, message: Odometry, now: float) -> None:
        """Send odometry on, where controllers inside Gazebo send the joint states."""
        self._watch.heard(stamp, now)
        odometry = self._relay.odometry(message)
        if odometry is not None:
            send(self, self._odometry, odometry)

    def _publish(self, now: float) -> None:
        """Send the last state, unless nothing could be done about it yet: then it is tried again."""
        if not self._is_ready() or self._last is None:
            return
        joints, odometry = self._last
        if odometry is not None:
            send(self, self._odometry, odometry)
        send(self, self._states, joints)
        self._sent_at = now

    # ---- the executor's thread ----

    def _complain(self, text: str) -> None:
        self._complaint = text
        self.get_logger().warning(text, throttle_duration_sec=5.0)

    def _report(self) -> None:
        """Diagnostics, once a second; while the watchdog has bitten, its forces again for a Gazebo that came back."""
        unheard = self._waiter.advice(self._command_inlet, self._state_inlet, self._odometry_inlet)
        if unheard:
            self._complain(unheard)
        level, text, values = self._words(
            time.monotonic(),
            self._settings,
            "" if self._is_ready() else self._lacking(),
            self._has_run,
        )
        if text != self._said:  # each change is logged
            log = self.get_logger()
            log.info(text) if level == "ok" else log.warning(text)
            self._said = text
        name = full_name(self, self.get_name())
        values |= {"resent": self._resent, "last_complaint": self._complaint}
        message = DiagnosticArray(
            status=[
                diagnostic(
                    f"{name}: relay",
                    full_name(self, self._settings["model"]),
                    level,
                    text,
                    values.items(),
                )
            ]
        )
        message.header.stamp = self.get_clock().now().to_msg()
        send(self, self._diagnostics, message)
        if self._guard.tripped:
            self._fall_back()


def _nothing() -> None:
    """Nothing was asked for yet."""


def main(
    arguments: list[str] | None = None, make_world: Callable[[Node], World] | None = None
) -> NoReturn:
    """Run the node and end the process; the exit codes are those of `runtime`."""
    leave(run(lambda stop: GazeboBridge(make_world), arguments, USAGE))


if __name__ == "__main__":
    main()
