# SPDX-License-Identifier: Apache-2.0
"""Shipped parameter files at work: controller and simulator of a robot in one process, with its dry friction."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
from scipy.spatial.transform import Rotation

from helpers.control_cases import robot as model_of
from opspace_ctrl import Simulator
from opspace_ctrl.control.controller import Controller
from opspace_ctrl.control.settings import controller_settings
from opspace_ctrl.data import shipped_path
from opspace_ctrl.parameter_file import node_parameters
from opspace_ctrl.sim.settings import simulator_settings

SETTLING = 12.0  # [s] in which a robot comes to rest on its target


class ShippedLoop:
    """A robot under its shipped files, or others of its own; `values` replace parameters of the controller.

    Attributes:
        robot, controller: The two.
        law: Memory of the controller.
    """

    def __init__(self, name: str, path: Path | None = None, **values):
        path = path or shipped_path("config", f"{name}.yaml")
        given = node_parameters(path, "opspace_controller") | values
        start = node_parameters(path, "opspace_simulator") | {"robot": ""}
        self.robot = Simulator.from_settings(model_of(name), simulator_settings(start))
        self.controller = Controller.from_settings(self.robot.model, controller_settings(given))
        self.law = self.controller._core.law
        self.controller.activate(self.robot.q, self.robot.v, self.robot.time)
        self.run(1.5)  # the ramp, and a little

    def run(self, seconds: float, before: Callable[[], object] | None = None) -> ShippedLoop:
        """Let time pass; `before` is called before each step."""
        robot, tick = self.robot, self.controller.tick
        for _ in range(round(seconds / robot.settings.step)):
            if before is not None:
                before()
            robot.step(tick(robot.q, robot.v, robot.time))
        return self

    def move(self, task: str, shift, turn=(0.0, 0.0, 0.0), home=None) -> None:
        """Send a task to a pose: `shift` [m] and `turn` (a rotation vector, rad) away from `home`, or where it is."""
        position, quaternion = self.controller.pose(task) if home is None else home
        rotation = Rotation.from_rotvec(turn) * Rotation.from_quat(quaternion)
        self.controller.target_pose(task, position + shift, rotation.as_quat(), self.robot.time)

    def errors(self, *tasks: str) -> tuple[float, float]:
        """Largest error of these tasks [mm, degrees]."""
        found = np.array([self.controller.error(task) for task in tasks])
        linear, angular = np.linalg.norm(found.reshape(-1, 2, 3), axis=2).max(axis=0)
        return 1e3 * linear, np.degrees(angular)

    def travel(self, seconds: float) -> float:
        """Let time pass; by how much the joint that moves most has moved to and fro meanwhile [rad or m]."""
        base = self.robot.model.nv - self.law.k
        low = high = self.robot.q[base and base + 1 :].copy()
        for _ in range(round(seconds / 0.01)):
            self.run(0.01)
            q = self.robot.q[base and base + 1 :]
            low, high = np.minimum(low, q), np.maximum(high, q)
        return float((high - low).max())


def random_moves(
    loop: ShippedLoop,
    tasks: tuple[str, ...],
    count: int,
    seed: int = 0,
    size: float = 1.0,
    settling: float = SETTLING,
) -> np.ndarray:
    """(count, 2) largest errors [mm, degrees] at rest after random moves about where the tasks are.

    Up to 0.12 m and 0.4 rad away, times `size`, each in a random direction; settling: time for each [s].
    """
    rng, home = np.random.default_rng(seed), {task: loop.controller.pose(task) for task in tasks}
    found = []
    for _ in range(count):
        for task in tasks:
            shift, turn = rng.normal(size=3), rng.normal(size=3)
            shift *= size * 0.12 * rng.uniform() ** (1 / 3) / np.linalg.norm(shift)
            turn *= size * 0.4 * rng.uniform() / np.linalg.norm(turn)
            loop.move(task, shift, turn, home[task])
        loop.run(settling)
        found.append(loop.errors(*tasks))
    return np.array(found)
