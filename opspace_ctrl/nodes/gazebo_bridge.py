"""opspace_gazebo_bridge: Gazebo, behind ros_gz_bridge, as the robot that a controller expects.

    effort_controller/commands (Float64MultiArray) -> one Float64 topic a joint, with a watchdog
    gazebo/joint_states, gazebo/odom -> joint_states, odom: repeats dropped, joints in our order and under our names

In lock-step each command steps the paused world once; the next state is the answer.
"""

from __future__ import annotations

import sys
import threading
import time
from array import array
from collections.abc import Callable

import numpy as np
from diagnostic_msgs.msg import DiagnosticArray
from nav_msgs.msg import Odometry
from rclpy.clock import Clock, ClockType
from rclpy.duration import Duration
from rclpy.node import Node
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64, Float64MultiArray

from . import qos
from .declared import NODE_OPTIONS, Declared
from .gazebo_forces import ForceGuard
from .gazebo_states import BaseTwist, JointSelection, Pairing
from .gazebo_table import BRIDGE_TABLE, CONTROL, ODOMETRY, STATES, check_bridge
from .gazebo_world import ServiceWorld, World
from .messages import diagnostic, nanoseconds, quaternion_of, twist_of, vector_of
from .runtime import DONE, LAST_WORD, run
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
        self._declared.declare(BRIDGE_TABLE)
        self._declared.complete()
        self._settings = settings = self._declared.values
        force_topics = check_bridge(settings)
        needs_world = settings["lockstep"] or settings["run_on_command"]
        self._world = (make_world or self._service_world)(self) if needs_world else None
        self._guard = ForceGuard(settings)
        self._declared.accept = self._accept
        self._make_relay()
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

    def _make_relay(self) -> None:
        settings = self._settings
        self._pairing = Pairing(settings["floating"])
        self._select = JointSelection(
            settings["gazebo_joints"] or settings["joints"], settings["offsets"]
        )
        self._twist = BaseTwist(settings["step"]) if settings["twist"] == "difference" else None
        self._velocities = np.zeros(0)
        self._last: tuple[JointState, Odometry | None] | None = None
        self._sent_at = 0.0
        self._rejected = 0
        self._resent = 0
        self._complaint = ""
        self._has_run = self._ready = self._stopping = False

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
        self._states = self.create_publisher(JointState, "joint_states", qos.STATES)
        self._odometry = self.create_publisher(Odometry, "odom", qos.STATES)
        self._diagnostics = self.create_publisher(DiagnosticArray, "/diagnostics", qos.profile(10))
        # by the steady clock: simulated time stands while the world does
        self._timer = self.create_timer(
            1.0, self._report, clock=Clock(clock_type=ClockType.STEADY_TIME)
        )

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
            self._relay(self._pairing.odometry(nanoseconds(message.header.stamp), message), now)
        while (message := waiter.take(self._state_inlet)) is not None:
            self._relay(self._pairing.state(nanoseconds(message.header.stamp), message), now)
        while (message := waiter.take(self._command_inlet)) is not None:
            self._command(message, now)
        if guard.bites(now):
            self._fall_back()
        is_overdue = guard.is_waiting and now - self._sent_at >= self._settings["resend"]
        if is_overdue and not guard.is_silent(now):
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
            self._world.step(self._settings["steps"])
        elif not self._has_run:
            self._world.run()
            self._has_run = True

    def _is_ready(self) -> bool:
        """May the world be moved? Not before every force and request would arrive: none may be lost."""
        if not self._ready:
            self._ready = self._world is None or (
                self._world.is_ready()
                and all(force.get_subscription_count() for force in self._forces)
            )
        return self._ready

    def _send(self, forces: np.ndarray) -> None:
        for publisher, force in zip(self._forces, forces.tolist()):
            publisher.publish(Float64(data=force))

    def _fall_back(self) -> None:
        forces = self._guard.fallback(self._velocities)
        if forces is not None:
            self._send(forces)

    def _relay(self, pair: tuple[JointState, Odometry | None] | None, now: float) -> None:
        """Send a pair on; None: Gazebo repeated itself, or the other half has not come yet."""
        if pair is None:
            self._guard.heard(now)
            return
        state, odometry = pair
        selected = self._select(state.name, state.position, state.velocity)
        if selected is None or (odometry is not None and not _is_finite(odometry)):
            self._rejected += 1
            self._complain(self._select.problem or "a pose of the base is not finite")
            return
        positions, self._velocities = selected
        # no effort: Gazebo does not measure it
        joints = JointState(
            name=self._settings["joints"],
            position=_doubles(positions),
            velocity=_doubles(self._velocities),
        )
        joints.header.stamp = state.header.stamp
        self._last = joints, odometry and self._completed(odometry)
        self._publish(now)
        self._guard.state(nanoseconds(state.header.stamp) * 1e-9, now)
        if self._guard.tripped and self._settings["timeout_action"] == "damping":
            self._fall_back()

    def _completed(self, odometry: Odometry) -> Odometry:
        """The odometry under our frame names, its twist that of one step."""
        odometry.header.frame_id = self._settings["odom_frame"]
        odometry.child_frame_id = self._settings["base_frame"]
        if self._twist is not None:
            pose, twist = odometry.pose.pose, odometry.twist.twist
            values = self._twist(
                nanoseconds(odometry.header.stamp),
                vector_of(pose.position),
                quaternion_of(pose.orientation),
                twist_of(twist),
            ).tolist()
            twist.linear.x, twist.linear.y, twist.linear.z = values[:3]
            twist.angular.x, twist.angular.y, twist.angular.z = values[3:]
        return odometry

    def _publish(self, now: float) -> None:
        """Send the last state, unless nothing could be done about it yet: then it is tried again."""
        if not self._is_ready() or self._last is None:
            return
        joints, odometry = self._last
        if odometry is not None:
            self._odometry.publish(odometry)
        self._states.publish(joints)
        self._sent_at = now

    def _complain(self, text: str) -> None:
        self._complaint = text
        self.get_logger().warning(text, throttle_duration_sec=5.0)

    def _report(self) -> None:
        """Diagnostics, once a second; while the watchdog has bitten, its forces again for a Gazebo that came back."""
        guard, pairing = self._guard, self._pairing
        if self._last is None:
            level, text = "warn", "no state from Gazebo yet"
        elif not self._ready:
            level, text = (
                "warn",
                "Gazebo does not listen to all forces, or its world cannot be controlled yet",
            )
        elif guard.tripped:
            level, text = "warn", f"no command: {self._settings['timeout_action']}"
        elif guard.counters["refused"] or self._rejected:
            level, text = "warn", guard.reason or self._complaint
        else:
            level, text = "ok", "relaying"
        values = [
            *guard.counters.items(),
            ("repeats", pairing.repeats),
            ("unpaired", pairing.unpaired),
            ("rejected_states", self._rejected),
            ("resent", self._resent),
            ("last_refusal", guard.reason),
            ("last_complaint", self._complaint),
        ]
        message = DiagnosticArray(
            status=[diagnostic(f"{self.get_name()}: relay", "gazebo", level, text, values)]
        )
        message.header.stamp = self.get_clock().now().to_msg()
        self._diagnostics.publish(message)
        if guard.tripped:
            self._fall_back()


def _doubles(values: np.ndarray) -> array:
    return array("d", values.tobytes())


def _is_finite(odometry: Odometry) -> bool:
    pose = odometry.pose.pose
    return bool(np.isfinite([*vector_of(pose.position), *quaternion_of(pose.orientation)]).all())


def main(
    arguments: list[str] | None = None, make_world: Callable[[Node], World] | None = None
) -> int:
    """Run the node; the exit codes are those of `runtime`."""
    return run(lambda stop: GazeboBridge(make_world), arguments, USAGE)


if __name__ == "__main__":
    sys.exit(main())
