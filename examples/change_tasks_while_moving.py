# SPDX-License-Identifier: Apache-2.0
"""Give the arm another task while it moves: from a whole pose to a position, without a step in torque."""

import numpy as np

from opspace_ctrl import Controller, PoseTask, PositionTask, Simulator


def main() -> tuple[float, float]:
    """Largest change of a torque in one tick before the change of tasks, and about it [Nm]."""
    robot = Simulator("arm7", initial_positions=[0.0, 0.35, 0.0, 1.55, 0.0, 1.24, 0.0])
    controller = Controller(robot.model, [PoseTask("tool", stiffness=400.0)])
    controller.activate(robot.q, robot.v, robot.time)
    position, quaternion = controller.pose("tool")
    controller.target_pose("tool", position + [0.0, 0.2, 0.1], quaternion, robot.time)
    torques = []
    while robot.time < 3.0:
        if abs(robot.time - 0.5) < 1e-6:
            controller.tasks = [PositionTask("tool", stiffness=400.0)]
        torques.append(controller.tick(robot.q, robot.v, robot.time).copy())
        robot.step(torques[-1])
    steps = np.abs(np.diff(torques, axis=0)).max(axis=1)
    found = float(steps[:480].max()), float(steps[480:1000].max())
    print(f"largest step of a torque: {found[0]:.3f} Nm before, {found[1]:.3f} Nm about the change")
    return found


if __name__ == "__main__":
    main()
