# SPDX-License-Identifier: Apache-2.0
"""`Simulator.from_file`: the robot of a parameter file, as the node would simulate it."""

from __future__ import annotations

import numpy as np
import pytest

from opspace_ctrl import Controller, Simulator
from opspace_ctrl.errors import ParameterFileError

FILE = """
opspace_controller:
  ros__parameters: {robot: arm7, tasks: [tool]}
opspace_simulator:
  ros__parameters: {robot: arm7, step: 0.002, initial_positions: [0.0, 0.35, 0.0, 1.55, 0.0, 1.24, 0.0]}
"""


def test_a_file_of_ones_own_moves_its_robot(tmp_path):
    """Two lines, and a target is reached."""
    path = tmp_path / "mine.yaml"
    path.write_text(FILE)
    controller = Controller.from_file(path)
    robot = Simulator.from_file(path, controller.model)
    assert robot.settings.step == 0.002 and robot.q[3] == 1.55
    controller.activate(robot.q, robot.v, robot.time)
    position, quaternion = controller.pose("tool")
    controller.target_pose("tool", position + [0.0, 0.05, 0.0], quaternion, robot.time)
    while robot.time < 4.0:
        robot.step(controller.tick(robot.q, robot.v, robot.time))
    assert np.linalg.norm(controller.pose("tool")[0] - position - [0.0, 0.05, 0.0]) < 0.01


def test_a_shipped_file_is_found_by_its_name():
    controller = Controller.from_file("asimo.yaml")
    robot = Simulator.from_file("asimo.yaml", controller.model)
    assert len(robot.settings.contacts) == 8 and np.any(robot.q[7:] != 0.0)


def test_what_is_no_file_or_has_no_simulator_is_refused_by_name(tmp_path):
    model = Controller.from_file("arm7.yaml").model
    path = tmp_path / "half.yaml"
    path.write_text(FILE.partition("opspace_simulator")[0])
    with pytest.raises(ParameterFileError, match="opspace_simulator"):
        Simulator.from_file(path, model)
    with pytest.raises(ParameterFileError, match="7 is no path"):
        Simulator.from_file(7, model)
