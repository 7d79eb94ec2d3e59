# SPDX-License-Identifier: Apache-2.0
"""Move the elbow and keep the tool where it is: a new posture acts in the null space of the task."""

import numpy as np

from opspace_ctrl import Controller, PoseTask, Posture, Simulator


def main() -> tuple[float, float]:
    """How far the first joint has turned [rad], and how far the tool has moved meanwhile at most [m]."""
    home = [0.0, 0.35, 0.0, 1.55, 0.0, 1.24, 0.0]
    robot = Simulator("arm7", initial_positions=home, joint_friction=False)
    elbow = Posture(
        joints=["joint3"], positions=[0.0], stiffness=[50.0]
    )  # of the other joints none
    controller = Controller(robot.model, [PoseTask("tool", stiffness=900.0)], elbow)
    controller.activate(robot.q, robot.v, robot.time)
    start, _ = controller.pose("tool")
    before = robot.q.copy()
    # joint3 turns the elbow about the line from shoulder to wrist; the others follow as the tool needs
    controller.posture(["joint3"], [0.6], None, robot.time)
    most = 0.0
    while robot.time < 6.0:
        robot.step(controller.tick(robot.q, robot.v, robot.time))
        most = max(most, float(np.linalg.norm(controller.pose("tool")[0] - start)))
    turned = float(np.abs(robot.q - before).max())
    print(f"a joint has turned by {turned:.2f} rad, the tool moved by {1e3 * most:.3f} mm")
    return turned, most


if __name__ == "__main__":
    main()
