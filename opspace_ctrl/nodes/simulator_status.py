# SPDX-License-Identifier: Apache-2.0
"""What the simulator says about itself once a second: on /diagnostics, and in the log what is wrong."""

from time import monotonic

from diagnostic_msgs.msg import DiagnosticArray
from rclpy.clock import Clock, ClockType
from rclpy.node import Node

from . import qos
from .messages import diagnostic, full_name
from .privileges import collect_garbage
from .robot_topics import RobotTopics
from .sending import send
from .simulation_loop import SimulationLoop

__all__ = ["SimulatorStatus"]

PERIOD = 1.0  # [s]


class SimulatorStatus:
    """Publishes the state of a loop; numbers are read while the loop runs, each by itself."""

    def __init__(self, node: Node, loop: SimulationLoop, topics: RobotTopics) -> None:
        self._node, self._loop, self._topics = node, loop, topics
        self._publisher = node.create_publisher(DiagnosticArray, "/diagnostics", qos.profile(10))
        # by the steady clock: simulated time may stand
        self._timer = node.create_timer(
            PERIOD, self.publish, clock=Clock(clock_type=ClockType.STEADY_TIME)
        )
        self._before: tuple[float, float] | None = None
        self._seen = (0, 0, 0)
        self._logged = ""

    def close(self) -> None:
        """Fall silent."""
        self._node.destroy_timer(self._timer)
        self._node.destroy_publisher(self._publisher)

    def publish(self) -> None:
        """Send the present status; the loop runs without the garbage collector, so it is the place to collect."""
        collect_garbage()
        level, text = self._verdict()
        self._log(level, text)
        message = DiagnosticArray(
            status=[
                diagnostic(
                    f"{full_name(self._node, self._node.get_name())}: simulation",
                    full_name(self._node, self._loop.plant.model.name),
                    level,
                    text,
                    self._values(),
                )
            ]
        )
        message.header.stamp = self._node.get_clock().now().to_msg()
        send(self._node, self._publisher, message)

    def _log(self, level: str, text: str) -> None:
        """What is wrong, when it begins."""
        logger = self._node.get_logger()
        if level != "ok" and text != self._logged:
            logger.error(text) if level == "error" else logger.warning(text)
        self._logged = text

    def _verdict(self) -> tuple[str, str]:
        loop, counters = self._loop, self._loop.plant.counters
        seen, self._seen = (
            self._seen,
            (counters["refused"], self._topics.refused_wrenches, loop.pacer.overruns),
        )
        refused, wrenches, overruns = (new - old for new, old in zip(self._seen, seen))
        unheard = self._topics.unheard()
        cases = (
            (loop.failure, "error", f"stopped: {loop.failure}"),
            (not loop.is_running, "ok", "inactive"),
            (refused, "warn", f"{refused} commands refused: {loop.refusal}"),
            (wrenches, "warn", f"{wrenches} wrenches refused: {self._topics.reason}"),
            (
                self._topics.other_clocks(),
                "warn",
                "the clock has another publisher, so that time jumps: give each simulator a clock of "
                "its own (remap /clock), or mode free",
            ),
            (unheard, "warn", unheard),
            (loop.is_paused, "ok", "paused"),
            (not counters["commands"], "ok", "holding its position until the first command"),
            (loop.is_waiting, "warn", "lock-step waits for a command"),
            (loop.plant.watchdog.is_tripped, "warn", f"no command: {loop.plant.watchdog.action}"),
            (overruns, "warn", "cycles begin late"),
        )
        return next(((level, text) for applies, level, text in cases if applies), ("ok", "running"))

    def _values(self) -> list[tuple[str, object]]:
        loop, now = self._loop, monotonic()
        plant, time = loop.plant, loop.plant.simulator.time
        before, self._before = self._before, (now, time)
        factor = (time - before[1]) / (now - before[0]) if before and now > before[0] else 0.0
        acting = [activity.fault.title for activity in plant.timetable.all if activity.acts]
        return [
            ("mode", loop.values["mode"]),
            ("forward_method", plant.simulator.forward_method),
            ("time", time),
            ("real_time_factor", factor),
            ("paused", loop.is_paused),
            ("holding", not plant.counters["commands"]),
            *plant.counters.items(),
            ("overruns", loop.pacer.overruns),
            ("skipped", loop.pacer.skipped),
            ("watchdog_acts", plant.watchdog.is_tripped),
            ("faults", "; ".join(acting)),
            ("last_refusal", loop.refusal),
            ("wrenches_refused", self._topics.refused_wrenches),
            ("last_wrench_refusal", self._topics.reason),
        ]
