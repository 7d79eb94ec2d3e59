# SPDX-License-Identifier: Apache-2.0
"""Pull the tool where a joint's limit does not let it go: the joint stops before its limit, the task gives way."""

import numpy as np

from opspace_ctrl import Controller, PositionTask, Simulator
from opspace_ctrl.control.options import Limits


def main() -> float:
    """The least distance of any joint from its limits [rad]."""
    robot = Simulator("arm7", initial_positions=[0.0, 0.35, 0.0, 1.55, 0.0, 1.24, 0.0])
    controller = Controller(
        robot.model, [PositionTask("tool", stiffness=400.0)], limits=Limits(margin=0.05)
    )
    controller.activate(robot.q, robot.v, robot.time)
    position, _ = controller.pose("tool")
    controller.target_pose("tool", position * [-1.0, 1.0, 0.3], None, robot.time)  # behind the arm
    lower, upper = robot.model.position_limits.T
    least = np.inf
    while robot.time < 8.0:
        robot.step(controller.tick(robot.q, robot.v, robot.time))
        least = min(least, float(np.minimum(robot.q - lower, upper - robot.q).min()))
    print(f"no joint came nearer to its limit than {least:.3f} rad; 0.05 rad are kept")
    return least


if __name__ == "__main__":
    main()
