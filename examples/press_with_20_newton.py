# SPDX-License-Identifier: Apache-2.0
"""Press on a table with 20 N: the tool's z axis is controlled by force, everything else by motion."""

import numpy as np

from opspace_ctrl import Controller, PoseTask, Simulator

HOME = [0.0, 0.35, 0.0, 1.55, 0.0, 1.24, 0.0]
TABLE = 0.3  # [m]


def main() -> float:
    """The force on the table when all is at rest [N]."""
    robot = Simulator("arm7", initial_positions=HOME, contacts=["tool"], ground_height=TABLE)
    tool = PoseTask("tool", stiffness=400.0, speed=0.1)
    controller = Controller(robot.model, [tool])
    controller.activate(robot.q, robot.v, robot.time)
    position, quaternion = controller.pose("tool")
    above = np.array([position[0], position[1], TABLE + 0.02])
    controller.target_pose("tool", above, quaternion, robot.time)
    while robot.time < 6.0:  # the motion to the table
        robot.step(controller.tick(robot.q, robot.v, robot.time))
    # now z is a force: first the tool sinks, then it presses
    controller.tasks = [PoseTask("tool", stiffness=400.0, force_axes=["z"], force_damping=20.0)]
    forces = []
    while robot.time < 10.0:
        controller.target_wrench("tool", [0.0, 0.0, -20.0, 0.0, 0.0, 0.0], robot.time)
        robot.step(controller.tick(robot.q, robot.v, robot.time))
        forces.append(robot.contact_forces()["tool"][2])
    print(f"the table feels {np.mean(forces[-500:]):.2f} N; wanted were 20 N")
    return float(np.mean(forces[-500:]))


if __name__ == "__main__":
    main()
