# SPDX-License-Identifier: Apache-2.0
"""A control law of your own, of the quantities behind it: F = Lambda (Kp e - Kd xdot), posture in the null space."""

import numpy as np

from opspace_ctrl import OperationalSpace, Simulator, frame_pose


def main() -> float:
    """The distance that is left [m]."""
    home = np.array([0.0, 0.35, 0.0, 1.55, 0.0, 1.24, 0.0])
    robot = Simulator("arm7", initial_positions=home, joint_friction=False)
    ospace = OperationalSpace(robot.model, [("tool", "position")])
    goal = frame_pose(robot.model, home, "tool")[0] + [0.05, 0.1, 0.1]
    while robot.time < 8.0:
        q, v = robot.q, robot.v
        ospace.update(q, v)
        error = goal - frame_pose(robot.model, q, "tool")[0]
        acceleration = 100.0 * np.clip(error, -0.02, 0.02) - 20.0 * ospace.jacobian @ v
        force = ospace.inertia @ (acceleration - ospace.bias_acceleration)
        tau0 = 5.0 * (home - q) - 2.0 * v
        robot.step(ospace.torque(force, tau0) + ospace.bias_forces)
    left = float(np.linalg.norm(goal - frame_pose(robot.model, robot.q, "tool")[0]))
    print(f"{1e3 * left:.2f} mm are left; with dry friction it would be more: see integral action")
    return left


if __name__ == "__main__":
    main()
