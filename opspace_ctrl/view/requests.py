# SPDX-License-Identifier: Apache-2.0
"""What a page may ask of the loop: the words that pass between the two processes, and nothing else."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ..control.settings import controller_settings
from ..dynamics import frame_pose
from ..errors import TargetError, listed, quoted
from ..sim.plant.faults import parse_faults
from ..sim.plant.timetable import Activity
from .loop import Loop

__all__ = ["NAMES", "Requests"]

NAMES = (
    "target",
    "trajectory",
    "hold",
    "hold_task",
    "stop",
    "release",
    "reset",
    "settings",
    "mode",
    "posture",
    "push",
    "fault",
    "clear_faults",
    "armature",
    "pause",
    "speed",
)
SLOWEST, FASTEST = 0.01, 1.0  # of simulated time
LONGEST_PUSH = 0.3  # [s]: whoever pushes on says so again


class Requests:
    """Requests to a loop by name; each returns nothing, or raises an OpspaceError that says why not."""

    def __init__(self, loop: Loop):
        self._loop = loop
        self._armature: dict[str, list[Activity]] = {}  # the faults that `armature` has set

    def answer(self, name: str, arguments: Sequence[Any]) -> None:
        """Do what a request of this name asks for.

        Raises:
            TargetError: There is no such request.
        """
        if name not in NAMES:
            raise TargetError(f"no request {quoted(name)}; valid are {listed(NAMES)}")
        getattr(self, name)(*arguments)

    def target(self, task: str, position: Any, quaternion: Any) -> None:
        """Move a task to a pose, within its limits of speed; None leaves a part as it is."""
        loop = self._loop
        with loop.guarded.lock:
            loop.controller.target_pose(task, position, quaternion, loop.moment())

    def trajectory(
        self, task: str, times: Any, positions: Any, quaternions: Any, twists: Any
    ) -> None:
        """Move a task through way points at times from now."""
        loop = self._loop
        with loop.guarded.lock:
            controller, moment = loop.controller, loop.moment()
            controller.trajectory(task, times, positions, quaternions, moment, twists)

    def hold(self) -> None:
        """Every task stays where it is."""
        loop, gate = self._loop, self._loop.gate
        loop.moment()
        loop.do(lambda: loop.controller.hold(gate.q, gate.v, gate.time))

    def hold_task(self, task: str) -> None:
        """Bring one task to rest."""
        loop = self._loop
        with loop.guarded.lock:
            loop.controller.stop(task, loop.moment())

    def stop(self) -> None:
        """Emergency stop: safe commands until `release`."""
        self._loop.gate.stop()

    def release(self) -> None:
        """Let the stop go, and open the gates whose fault is gone."""
        self._loop.do(self._loop.gate.open_all)

    def reset(self) -> None:
        """The robot goes back to where it began."""
        self._loop.reset()

    def settings(self, changes: Mapping[str, Any]) -> None:
        """Change parameters by the names that ROS has for them, all or none."""
        loop = self._loop
        before = loop.controller.settings
        after = controller_settings({**before.values, **changes})
        loop.apply(replace(after, robot=before.robot, node=before.node))

    def mode(self, name: Any) -> None:
        """tasks, gravity, raw or velocity."""
        self._loop.change_mode(name)

    def posture(self, joints: Sequence[str], positions: Sequence[float]) -> None:
        """Approach a posture of some joints."""
        loop = self._loop
        with loop.guarded.lock:
            loop.controller.posture(joints, positions, None, loop.moment())

    def push(self, frame: str, force: Any, point: Any) -> None:
        """A force (3,) [N] acts at a point (3,) [m] of a frame, world axes, for a short while."""
        loop = self._loop

        def act() -> None:
            simulator = loop.plant.simulator
            position, _ = frame_pose(loop.model, simulator.q, frame)
            torque = np.cross(np.asarray(point, float) - position, force)
            simulator.push(frame, np.concatenate([force, torque]), LONGEST_PUSH)

        loop.do(act)

    def fault(self, entry: Mapping[str, Any]) -> None:
        """A fault of the simulator, as `opspace hil` has them; its times count from now."""
        schedule = parse_faults(dict(entry))
        self._loop.do(lambda: self._loop.plant.inject(schedule))

    def clear_faults(self) -> None:
        """End all faults."""
        self._loop.do(self._loop.plant.clear_injected)

    def armature(self, joint: str, added: float) -> None:
        """Rotor inertia [kg m^2 or kg] that a joint of the robot has more than in the model, instead of the last."""
        schedule = parse_faults({"kind": "armature", "joints": joint, "added": added})
        plant = self._loop.plant
        plant.check(schedule)

        def exchange() -> None:
            for activity in self._armature.pop(joint, ()):
                plant.end(activity)
            self._armature[joint] = plant.inject(schedule)

        self._loop.do(exchange)

    def pause(self, is_paused: bool) -> None:
        """Stand, or go on."""
        self._loop.is_paused = bool(is_paused)

    def speed(self, factor: float) -> None:
        """How fast time goes, 1: as it is."""
        self._loop.pacer.factor = float(np.clip(factor, SLOWEST, FASTEST))
