# SPDX-License-Identifier: Apache-2.0
"""Ask for more than the arm can reach: it stretches, goes through the singularity, and torques stay bounded.

Run it with the name of a picture, such as stretched.png.
"""

import sys

import numpy as np

from opspace_ctrl import Controller, PoseTask, Simulator


def main(picture: str = "") -> tuple[float, float]:
    """Largest share of an effort limit, and largest joint speed [rad/s]."""
    robot = Simulator("arm7", initial_positions=[0.0, 0.35, 0.0, 1.55, 0.0, 1.24, 0.0])
    controller = Controller(robot.model, [PoseTask("tool", stiffness=400.0, speed=0.4)])
    controller.activate(robot.q, robot.v, robot.time)
    position, quaternion = controller.pose("tool")
    controller.target_pose(
        "tool", position + [1.5, 0.0, 0.5], quaternion, robot.time
    )  # out of reach
    shares, speeds, values = [], [], []
    while robot.time < 8.0:
        if abs(robot.time - 5.0) < 1e-6:  # and back again
            controller.target_pose("tool", position, quaternion, robot.time)
        tau = controller.tick(robot.q, robot.v, robot.time)
        robot.step(tau)
        shares.append(np.abs(tau / robot.model.effort_limits).max())
        speeds.append(np.abs(robot.v).max())
        values.append(np.linalg.eigvalsh(controller.osim)[0])
    print(f"least eigenvalue of J H^-1 J^T: {min(values):.2e} (at the start {values[0]:.2e})")
    print(f"largest torque: {max(shares):.0%} of its limit; largest speed {max(speeds):.2f} rad/s")
    if picture:
        from matplotlib import pyplot as plt

        time = robot.settings.step * np.arange(len(shares))
        plt.plot(time, shares, label="torque, share of its limit")
        plt.plot(time, values / np.max(values), label="least eigenvalue, share of its largest")
        plt.xlabel("time [s]"), plt.legend(), plt.savefig(picture)
    return float(max(shares)), float(max(speeds))


if __name__ == "__main__":
    main(*sys.argv[1:2])
