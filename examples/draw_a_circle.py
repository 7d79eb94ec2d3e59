# SPDX-License-Identifier: Apache-2.0
"""Draw a circle with the tool, as one trajectory of way points; a picture shows the path.

Run it with the name of a picture, such as circle.png.
"""

import sys

import numpy as np

from opspace_ctrl import Controller, PoseTask, Simulator

RADIUS, LAP = 0.08, 4.0  # [m], [s]


def main(picture: str = "") -> float:
    """Largest distance from the circle [m], once the arm is on it."""
    robot = Simulator("arm7", initial_positions=[0.0, 0.35, 0.0, 1.55, 0.0, 1.24, 0.0])
    controller = Controller(robot.model, [PoseTask("tool", stiffness=900.0, integral=7.0)])
    controller.activate(robot.q, robot.v, robot.time)
    centre = controller.pose("tool")[0] - [0.0, RADIUS, 0.0]

    def circle(t: np.ndarray) -> np.ndarray:
        """Positions (n, 3): it starts and ends slowly, by a turn that is smooth in time."""
        s = t / LAP
        turn = 2.0 * np.pi * (s - np.sin(2.0 * np.pi * s) / (2.0 * np.pi))
        return centre + RADIUS * np.column_stack([np.zeros_like(t), np.cos(turn), np.sin(turn)])

    times = np.linspace(0.05, LAP, 80)
    controller.trajectory("tool", times, circle(times), None, robot.time)
    path = []
    while robot.time < LAP + 1.0:
        robot.step(controller.tick(robot.q, robot.v, robot.time))
        path.append(controller.pose("tool")[0].copy())
    off = np.abs(np.linalg.norm(np.array(path) - centre, axis=1) - RADIUS)
    print(f"largest distance from the circle: {1e3 * off.max():.2f} mm")
    if picture:
        from matplotlib import pyplot as plt

        plt.plot(*np.array(path)[:, 1:].T)
        plt.axis("equal"), plt.xlabel("y [m]"), plt.ylabel("z [m]")
        plt.savefig(picture)
    return float(off.max())


if __name__ == "__main__":
    main(*sys.argv[1:2])
