# SPDX-License-Identifier: Apache-2.0
"""A humanoid stands on both feet, shifts its weight and moves a hand, while somebody pushes it."""

import numpy as np

from opspace_ctrl import Controller, Simulator


def main() -> tuple[float, float]:
    """Largest error of the centre of mass [m], and the least margin of the soles (1: unloaded, 0: they tip)."""
    controller = Controller.from_file("asimo.yaml")
    robot = Simulator.from_file("asimo.yaml", controller.model)
    controller.activate(robot.q, robot.v, robot.time)
    com, hand = controller.pose("com"), controller.pose("left_hand")
    error, margin = 0.0, 1.0
    while robot.time < 6.0:
        if abs(robot.time - 1.0) < 1e-6:
            controller.target_pose("com", com[0] + [0.0, 0.03, 0.0], None, robot.time)
            controller.target_pose("left_hand", hand[0] + [0.05, 0.0, 0.1], hand[1], robot.time)
        if abs(robot.time - 4.0) < 1e-6:
            robot.push("torso", [15.0, 0.0, 0.0, 0.0, 0.0, 0.0], duration=0.2)
        robot.step(controller.tick(robot.q, robot.v, robot.time))
        error = max(error, float(np.linalg.norm(controller.error("com")[:3])))
        margin = min(margin, controller.report.law.worst_margin)
    print(
        f"centre of mass within {1e3 * error:.1f} mm of its reference, least margin of the soles {margin:.2f}"
    )
    return error, float(margin)


if __name__ == "__main__":
    main()
