# SPDX-License-Identifier: Apache-2.0
"""The loop behind the page: a controller with its gates, and the simulated robot that it moves, in real time.

It has a thread of its own in a process of its own (`process`): what a browser does cannot delay it. The clocks that the
gates see are those of the simulation, so that a busy machine slows the robot down and closes no gate.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import replace
from time import monotonic, perf_counter_ns, sleep
from typing import Any

import numpy as np

from ..control.controller import Controller
from ..control.safety.fields import ADVISORY, READY, REFUSED
from ..control.safety.guarded import GuardedController
from ..control.safety.state_gate import StateGate
from ..control.safety.words import gates_in_words
from ..control.settings import ControllerSettings, Mode
from ..dynamics import frame_pose
from ..errors import SimulationError, TargetError
from ..model import Model
from ..nodes.pacing import Pacer
from ..sim.joint_index import coordinate_names
from ..sim.plant.plant import Measurement, Plant
from ..sim.settings import SimulatorSettings
from ..sim.simulator import Simulator
from .rows import Ring

__all__ = ["Loop"]

EPOCH = 1_000_000_000  # [ns] the stamp of time zero: 0 stands for no stamp
ROWS = 200.0  # rows a second
CATCH_UP = 0.1  # [s] that is made up for at most
PAUSED = 0.005  # [s] between two looks while it stands
ANSWER = 10.0  # [s] that another thread waits for the loop


class Loop:
    """Controller and robot.

    Args:
        model: The robot.
        settings: Of the controller.
        simulation: Of the simulator.
        ring: Where rows go.

    Attributes:
        controller, plant, gate: See there.
        pacer: When turns are due, and what was late.
        is_ended: Set to end `run`.
        failure: Why the simulation stands; `tell` gets it, and "" when it goes on.

    Raises:
        OpspaceError: The settings do not fit the robot.
    """

    def __init__(
        self, model: Model, settings: ControllerSettings, simulation: SimulatorSettings, ring: Ring
    ):
        self.model, self._ring = model, ring
        self.plant = Plant(
            Simulator.from_settings(model, simulation),
            commands=settings.commands,
            timeout_action="damping",
        )
        self.controller = Controller.from_settings(model, settings)
        self.controller.prepare()
        self.methods = self.controller.methods()
        self.gate = StateGate(model, settings.safety, is_simulated=True)
        self.guarded = GuardedController(self.controller, self.gate)
        self._names = tuple(coordinate_names(model))
        self._order = np.array([self.controller.joints.index(name) for name in self._names])
        step = simulation.step
        self.pacer = Pacer(step, 1.0, True, CATCH_UP)
        self._every = max(1, round(1.0 / (ROWS * step)))
        self._tasks: deque[tuple[Callable[[], Any], Future[Any]]] = deque()
        self._origin = 0.0  # simulated time of the gates at the simulator's zero [s]
        self._turns, self._ticks, self._tick_ns, self._tick_most, self._trip = 0, 0, 0, 0, 0
        self._late = 0.0
        self.is_ended = self.is_paused = False
        self.failure = ""
        self.tell: Callable[[str], object] = lambda text: None
        frame_pose(model, model.neutral(), model.frame_names[0])  # nothing is compiled later
        self._activate()

    def _activate(self) -> None:
        self._take(self.plant.measure())
        self._send(self.guarded.activate(self._now(), self._now()))

    def _now(self) -> int:
        """The time that gates, controller and targets go by [ns]."""
        return EPOCH + round(1e9 * (self._origin + self.plant.simulator.time))

    # ---- the loop's thread ----

    def run(self) -> None:
        """Turn after turn when they are due, until `is_ended`."""
        self.pacer.start(monotonic())
        while not self.is_ended:
            while self._tasks:
                _do(*self._tasks.popleft())
            if self.is_paused or self.failure:
                sleep(PAUSED)
                self.pacer.start(monotonic())
                continue
            delay = self.pacer.delay(monotonic())
            if delay > 0.0:
                sleep(delay)
                continue
            self.pacer.begin(monotonic())
            self._late = max(self._late, self.pacer.late)
            try:
                self.turn()
            except SimulationError as error:
                self.failure = f"the simulation stands: {error}; Reset begins again"
                self.tell(self.failure)

    def turn(self) -> None:
        """One step of the robot with the command to what it measured."""
        start = perf_counter_ns()
        self._take(self.plant.measure())
        self._trip = max(self._trip, perf_counter_ns() - start)
        self.plant.step()
        self._turns += 1
        if self._turns % self._every == 0:
            self._tell()

    def _take(self, measured: list[Measurement]) -> None:
        now, gate, guarded = self._now(), self.gate, self.guarded
        for each in measured:
            stamp = EPOCH + round(1e9 * (self._origin + each.stamp))
            if each.base_pose is not None and each.base_twist is not None:
                gate.odometry(each.base_pose, each.base_twist, stamp, "", now, now)
            verdict = gate.joint_states(
                self._names, each.positions, each.velocities, stamp, now, now
            )
            if verdict in (READY, REFUSED):
                self._command(verdict)
        if not measured:
            self._send(guarded.watch(now, now))

    def _command(self, verdict: int) -> None:
        now, start = self._now(), perf_counter_ns()
        tau = self.guarded.answer(verdict, now, now)
        taken = perf_counter_ns() - start
        self._ticks += 1
        self._tick_ns += taken
        self._tick_most = max(self._tick_most, taken)
        self._send(tau)

    def _send(self, tau: np.ndarray | None) -> None:
        if tau is not None:
            self.plant.command(tau[self._order])

    def _tell(self) -> None:
        """Write a row."""
        row, controller, plant = self._ring.next_row(), self.controller, self.plant
        simulator, report = plant.simulator, controller.report
        law, gate = report.law, self.gate
        row["time"] = self._origin + simulator.time
        row["turns"], row["missed"] = self._turns, self.pacer.overruns
        row["late"], row["trip"] = 1e6 * self._late, 1e-3 * self._trip
        row["tick"] = 1e-3 * self._tick_ns / max(self._ticks, 1)
        row["tick_most"] = 1e-3 * self._tick_most
        row["q"], row["v"], row["effort"] = simulator.q, simulator.v, simulator.tau
        row["scale"], row["damped"] = report.scale, report.damped
        row["level"] = law.level_torque * report.scale[:, None]
        row["pose"], row["target"], row["error"] = law.pose, law.target, law.error
        row["wrench"], row["margin"] = report.contact_wrench, report.margins
        row["gates"] = gate.closed
        row["method"] = self.methods.index(controller.method)
        row["residual"], row["switches"] = controller.method_residual, controller.switches
        self._ring.publish()
        self._ticks, self._tick_ns, self._tick_most, self._trip, self._late = 0, 0, 0, 0, 0.0

    # ---- for other threads ----

    def do(self, task: Callable[[], Any]) -> Any:
        """Have the loop's thread do something between two turns; returns or raises what it does."""
        future: Future[Any] = Future()
        self._tasks.append((task, future))
        return future.result(ANSWER)

    def moment(self) -> float:
        """The controller's time of the newest state [s].

        Raises:
            TargetError: A gate is closed, and why.
        """
        gate = self.gate
        if gate.must_restart:
            reason = gates_in_words(gate, gate.closed & ~ADVISORY) or "the next state opens it"
            raise TargetError(f"targets are taken only while no gate is closed: {reason}")
        return gate.time

    def apply(self, settings: ControllerSettings) -> None:
        """Change settings while it runs, all or none.

        Raises:
            OpspaceError: They cannot change, or do not fit the robot.
        """
        self.controller.apply(settings, self.do)
        self.do(lambda: self.gate.configure(settings.safety))

    def change_mode(self, mode: Mode) -> None:
        """Another mode is another controller, which begins where the robot is.

        Raises:
            OpspaceError: It is none, or the tasks do not fit it.
        """
        other = Controller.from_settings(self.model, replace(self.controller.settings, mode=mode))
        other.prepare()

        def exchange() -> None:
            self.guarded.deactivate()
            if other.settings.commands != self.controller.settings.commands:
                self.plant.take_commands_of(other.settings.commands)
            self.controller, self.guarded = other, GuardedController(other, self.gate)
            self._send(self.guarded.activate(self._now(), self._now()))

        self.do(exchange)

    def reset(self) -> None:
        """The robot goes back to its start, at rest; faults end, gates open."""

        def begin_again() -> None:
            self._origin += self.plant.simulator.time + self.plant.simulator.settings.step
            self.plant.clear_injected()
            self.plant.simulator.reset()
            self.plant.reset()
            self.failure = ""
            self.tell("")
            # another gate: to this one the robot would have jumped
            self.gate = StateGate(self.model, self.controller.settings.safety, is_simulated=True)
            self.guarded = GuardedController(self.controller, self.gate)
            self._activate()

        self.do(begin_again)


def _do(task: Callable[[], Any], future: Future[Any]) -> None:
    try:
        future.set_result(task())
    except Exception as error:  # belongs to the thread that asked
        future.set_exception(error)
