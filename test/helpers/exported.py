# SPDX-License-Identifier: Apache-2.0
"""A controller in Python and the same in C, given the same; what each commands."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from helpers.control_cases import robot
from helpers.published_arms import TABLES, published_arm
from opspace_ctrl import Controller, Simulator
from opspace_ctrl.control.settings import controller_settings
from opspace_ctrl.data import shipped_path
from opspace_ctrl.errors import OpspaceError
from opspace_ctrl.export.controller import image_of
from opspace_ctrl.export.image import OPTIONAL, FieldRow
from opspace_ctrl.export.native import Library, Robot
from opspace_ctrl.parameter_file import node_parameters
from opspace_ctrl.sim.settings import simulator_settings

ROBOTS = ("arm7", "asimo", "free_flyer", "panda", "g1")
ARMS = (*TABLES, "two_arms")  # whose files name no robot
VELOCITY = "arm7_velocity"
NOTHING = 17  # the library's status
ALL = (*ROBOTS, *ARMS, VELOCITY)  # every shipped file of one controller


def shipped(name: str) -> Controller:
    """The controller of a shipped parameter file, with a method by name.

    The files say `auto`, which takes what is fastest at the moment; two controllers may then differ in their last bits.
    """
    values = node_parameters(shipped_path("config", f"{name}.yaml"), "opspace_controller")
    settings = replace(controller_settings(values), method="sparse_ltdl")
    own = published_arm(name) if name in ARMS else robot("arm7" if name == VELOCITY else name)
    return Controller.from_settings(own, settings)


def shipped_simulator(name: str) -> Simulator:
    """The simulated robot of a shipped parameter file."""
    values = node_parameters(shipped_path("config", f"{name}.yaml"), "opspace_simulator")
    return Simulator.from_settings(robot(name), simulator_settings(values))


class Both:
    """One controller twice; every call goes to both, and has to be answered alike."""

    def __init__(self, name: str, library: Library, seed: int = 1):
        self.python = shipped(name)
        self.model = self.python.model
        image = image_of(self.python)
        self.in_c = Robot(library, image.packed())
        self.live = [field for field in image.fields if field.is_live]
        self.values = dict(self.python.settings.values)
        self.rng = np.random.default_rng(seed)
        self.start = self.model.integrate(
            self.model.neutral(), 0.3 * self.rng.standard_normal(self.model.nv), 1.0
        )
        self.swing = 0.1 * self.rng.standard_normal(self.model.nv)
        self.time = 0.0

    def state(self) -> tuple[np.ndarray, np.ndarray, float]:
        """Of a motion, a millisecond after the last."""
        phase = 5.0 * self.time
        q = self.model.integrate(self.start, self.swing, np.sin(phase))
        return q, 5.0 * np.cos(phase) * self.swing, self.time

    def tick(self) -> tuple[bytes, bytes]:
        """Commands of both in the next state."""
        self.time += 0.001
        q, v, time = self.state()
        self.warm()
        assert self.in_c.tick(q, v, time) == 0
        return self.python.tick(q, v, time).tobytes(), self.in_c.tau.tobytes()

    def warm(self) -> None:
        """Repeat the last tick in C, now and then: nothing may come of it."""
        if self.rng.integers(3) == 0:
            assert self.in_c.call("warm") in (0, NOTHING)

    def run(self, count: int, every: int) -> Iterator[tuple[int, str]]:
        """Tick, with an event now and then; (tick, the last event) where the commands differ in a bit."""
        q, v, time = self.state()
        self.python.activate(q, v, time)
        assert self.in_c.call("activate", q, v, time) == 0
        targets = (self.pose, self.twist, self.method, self.way_points, self.posture, self.hold)
        events = (*targets, *(self.change,) * 3)
        last = "activate"
        for i in range(count):
            if i % every == every - 1:
                last = events[int(self.rng.integers(len(events)))]()
            expected, found = self.tick()
            if found != expected:
                yield i, last

    # ---- events ----

    def _task(self) -> tuple[str, int]:
        number = int(self.rng.integers(len(self.python.task_names)))
        return self.python.task_names[number], number

    def _quaternions(self, *shape: int) -> np.ndarray:
        found = self.rng.standard_normal((*shape, 4))
        return found / np.linalg.norm(found, axis=-1, keepdims=True)

    def pose(self) -> str:
        """A target pose, or a part of one."""
        task, number = self._task()
        position, quaternion = self.rng.uniform(-0.5, 0.5, 3), self._quaternions()
        if self.rng.integers(3) == 0:
            quaternion = None
        self.python.target_pose(task, position, quaternion, self.time)
        assert self.in_c.call("target_pose", number, position, quaternion, self.time) == 0
        return f"pose of {task}"

    def twist(self) -> str:
        """A target twist."""
        (task, number), twist = self._task(), self.rng.uniform(-0.5, 0.5, 6)
        self.python.target_twist(task, twist, self.time)
        assert self.in_c.call("target_twist", number, twist, self.time) == 0
        return f"twist of {task}"

    def way_points(self) -> str:
        """A trajectory, with twists or without."""
        (task, number), n = self._task(), int(self.rng.integers(1, 12))
        times = np.cumsum(self.rng.uniform(0.2, 0.5, n))
        positions, quaternions = self.rng.uniform(-0.5, 0.5, (n, 3)), self._quaternions(n)
        twists = self.rng.uniform(-0.2, 0.2, (n, 6)) if self.rng.integers(2) else None
        self.python.trajectory(task, times, positions, quaternions, self.time, twists)
        given = (number, n, times, positions, quaternions, twists, self.time)
        assert self.in_c.call("way_points", *given) == 0
        return f"{n} way points of {task}"

    def posture(self) -> str:
        """A posture of some joints."""
        positions = self.rng.uniform(-0.5, 0.5, len(self.python.joints))
        positions[self.rng.integers(2, size=len(positions)) == 0] = np.nan
        given = np.flatnonzero(~np.isnan(positions))
        names = [self.python.joints[j] for j in given]
        self.python.posture(names, positions[given], None, self.time)
        assert self.in_c.call("posture", positions, None, self.time) == 0
        return "posture"

    def method(self) -> str:
        """Another method."""
        name = self.python.methods()[int(self.rng.integers(len(self.python.methods())))]
        self.python.method = name
        assert self.in_c.call("use_method", name) == 0
        return name

    def change(self) -> str:
        """Another value of a live parameter, where Python takes it."""
        field = self.live[int(self.rng.integers(len(self.live)))]
        value, numbers = self._value(field)
        settings = self.python.settings
        try:
            self.python.apply(controller_settings({**settings.values, field.name: value}))
        except OpspaceError:
            return f"{field.name} refused"
        assert self.in_c.set(field.name, *numbers) == 0
        return f"{field.name} = {value}"

    def _value(self, field: FieldRow) -> tuple[Any, list[float]]:
        """A value near that of the file, as ROS has it and as the kernels have it."""
        choices, size = field.choices.split("|"), field.rows * field.columns
        if field.kind == "string":
            place = int(self.rng.integers(len(choices)))
            return choices[place], [place]
        if field.kind == "string_array":
            flags = self.rng.integers(2, size=size)
            return [each for each, flag in zip(choices, flags) if flag], flags.tolist()
        if field.kind == "bool":
            flag = bool(self.rng.integers(2))
            return flag, [flag]
        if field.kind == OPTIONAL and self.rng.integers(2):
            return [], [np.nan] * size
        usual = np.ravel(self.values[field.name])
        near = (usual[0] or 0.1 if len(usual) else 1.0) * self.rng.uniform(0.5, 1.5, size)
        near = np.clip(near, field.least, field.most)
        return (near.tolist() if field.kind.endswith("_array") else near[0]), near.tolist()

    def hold(self) -> str:
        """Stay where it is."""
        q, v, time = self.state()
        self.python.hold(q, v, time)
        assert self.in_c.call("hold", q, v, time) == 0
        return "hold"
