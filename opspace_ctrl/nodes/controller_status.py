# SPDX-License-Identifier: Apache-2.0
"""What the controller says about itself on /diagnostics, once a second: gates, the loop, the tick."""

from collections.abc import Callable, Iterable
from time import monotonic_ns

import numpy as np
from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus
from rclpy.clock import Clock, ClockType
from rclpy.node import Node

from ..control.controller import Controller
from ..control.safety.settings import GATES
from ..control.safety.state_gate import StateGate, names_of
from ..control.safety.words import gates_in_words
from . import privileges, qos
from .commands import Commands
from .control_loop import ControlLoop
from .messages import diagnostic, full_name
from .sending import send
from .statistics import judge
from .targets import Targets

__all__ = ["ControllerStatus"]

PERIOD = 1.0  # [s]


class ControllerStatus:
    """Publishes three statuses: gates, loop and tick; numbers are read while the loop runs, each by itself."""

    def __init__(
        self,
        node: Node,
        controller: Controller,
        loop: ControlLoop,
        gate: StateGate,
        targets: Targets,
        commands: Commands,
        memory: str,
        each_second: Callable[[], None],
    ):
        """Memory: what became of locking it; each_second: what else is to be done at this rate."""
        self._node, self._controller, self._loop, self._gate = node, controller, loop, gate
        self._targets, self._commands = targets, commands
        self._memory, self._each_second = memory, each_second
        self._said, self._refused, self._ticks = "", 0, (0, monotonic_ns())
        self._publisher = node.create_publisher(DiagnosticArray, "/diagnostics", qos.profile(10))
        # by the steady clock: simulated time may stand
        self._timer = node.create_timer(
            PERIOD, self._on_timer, clock=Clock(clock_type=ClockType.STEADY_TIME)
        )

    def close(self) -> None:
        """Fall silent."""
        self._node.destroy_timer(self._timer)
        self._node.destroy_publisher(self._publisher)

    def _on_timer(self) -> None:
        self._each_second()
        self.publish()
        if not self._loop.is_active:
            privileges.collect_garbage()

    def publish(self) -> None:
        """Send the present status."""
        message = DiagnosticArray(status=[self._gates(), self._periodicity(), self._tick()])
        message.header.stamp = self._node.get_clock().now().to_msg()
        send(self._node, self._publisher, message)

    def _status(
        self, what: str, level: str, text: str, values: Iterable[tuple[str, object]]
    ) -> DiagnosticStatus:
        name = full_name(self._node, self._node.get_name())
        hardware = full_name(self._node, self._controller.model.name)
        return diagnostic(f"{name}: {what}", hardware, level, text, values)

    def _gates(self) -> DiagnosticStatus:
        loop, gate, targets = self._loop, self._gate, self._targets
        closed = names_of(gate.closed)
        new, self._refused = targets.refused - self._refused, targets.refused
        others = self._commands.others()
        cases = (
            (not loop.is_active, "ok", "inactive"),
            (
                gate.closed,
                "warn" if closed[:1] in (["target"], ["publishers"]) else "error",
                gates_in_words(gate, gate.closed),
            ),
            (new, "warn", f"{new} targets refused: {targets.reason}"),
            (
                others,
                "warn",
                f"efforts come from {others + 1} publishers: another controller drives the same robot",
            ),
        )
        level, text = next(
            ((level, text) for applies, level, text in cases if applies), ("ok", "active")
        )
        # of gates GateWatch warns, of targets who refuses them
        if text != self._said and level != "ok" and not (gate.closed or new):
            self._node.get_logger().warning(text)
        self._said = text
        odometry = (("odom_age", gate.odometry_age), ("unpaired", gate.unpaired))
        return self._status(
            "gates",
            level,
            text,
            (
                ("active", loop.is_active),
                ("gate", gate.gate),
                ("closed", " ".join(closed)),
                (
                    "state_age",
                    (monotonic_ns() - gate.arrival) * 1e-9 if gate.has_state else float("inf"),
                ),
                *(odometry if gate.has_base else ()),
                ("other_controllers", others),
                ("targets_refused", targets.refused),
                ("last_refusal", targets.reason),
                ("clipped_targets", " ".join(self._controller.report.clipped_targets)),
                ("repeated", gate.repeated),
                ("late", gate.late),
                ("foreign", gate.foreign),
                ("unreadable", loop.unreadable),
                ("failure", loop.failure),
                *(
                    (f"{what}.{name}", count)
                    for what, counts in (("faults", gate.fault_counts), ("closings", gate.closings))
                    for name, count in zip(GATES, counts.tolist())
                    if count
                ),
            ),
        )

    def _periodicity(self) -> DiagnosticStatus:
        loop, now = self._loop, monotonic_ns()
        summary = loop.statistics.summary(self._gate.period)
        before, self._ticks = self._ticks, (loop.statistics.ticks, now)
        numbers = {
            "periodicity.mean_error": abs(summary.rate - summary.expected)
            if summary.expected
            else 0.0,
            "periodicity.standard_deviation": summary.rate_deviation,
            "execution_time.mean_error": summary.mean,
            "execution_time.standard_deviation": summary.deviation,
        }
        # simulated time has no rate
        judged = {} if not loop.is_active or loop.is_simulated else numbers
        level, texts = judge(judged)
        return self._status(
            "loop",
            level,
            "; ".join(texts) or "regular",
            (
                ("rate", (self._ticks[0] - before[0]) / max(1, now - before[1]) * 1e9),
                ("expected_rate", summary.expected),
                ("ticks", loop.statistics.ticks),
                ("commands", self._commands.count),
                ("commands_lost", self._commands.lost),
                ("period_mean_us", summary.period_mean),
                ("period_deviation_us", summary.period_deviation),
                *numbers.items(),
                ("computation_p50_us", summary.median),
                ("computation_p99_us", summary.p99),
                ("computation_max_us", summary.longest),
                ("overruns", self._gate.overruns),
                ("thread", loop.priority),
                ("memory", self._memory),
            ),
        )

    def _tick(self) -> DiagnosticStatus:
        controller, report = self._controller, self._controller.report.as_dict()
        saturated = [name for name in report if name.endswith(".saturated")]
        limits = (
            (
                saturated,
                f"saturated: {', '.join(name.removesuffix('.saturated') for name in saturated)}",
            ),
            (report["is_damped"], "a level is damped near a singularity"),
            (
                report["worst_margin"] < 0.0,
                "a contact is beyond its friction, pressure or normal force",
            ),
        )
        texts = [text for applies, text in limits if applies]
        level = "warn" if texts and self._loop.is_active else "ok"
        return self._status(
            "tick",
            level,
            "; ".join(texts) or "within all limits",
            (
                ("method", controller.settings.method),
                ("method_in_use", controller.method),
                ("method_switches", controller.switches),
                ("method_residual", controller.method_residual),
                ("condition", _condition(controller.osim)),
                ("mode", controller.settings.mode),
                *report.items(),
            ),
        )


def _condition(matrix: np.ndarray) -> float:
    """Condition number of the operational-space inertia, its rows in units of their own response."""
    scale = np.sqrt(np.abs(matrix.diagonal()))
    scaled = np.array(matrix) / np.outer(scale, scale) if scale.all() else np.array(matrix)
    return (
        float(np.linalg.cond(scaled)) if scaled.size and np.isfinite(scaled).all() else float("nan")
    )
