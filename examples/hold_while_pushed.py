# SPDX-License-Identifier: Apache-2.0
"""Hold a pose while someone pushes: a soft and a stiff arm are pushed with 20 N for a second.

Run it with the name of a picture, such as hold.png, to draw how far each gave way.
"""

import sys

import numpy as np

from opspace_ctrl import Controller, PoseTask, Simulator

HOME = [0.0, 0.35, 0.0, 1.55, 0.0, 1.24, 0.0]


def pushed(stiffness: float) -> tuple[np.ndarray, np.ndarray]:
    """Times [s] and how far the tool is from where it should be [m], while 20 N push it sideways."""
    robot = Simulator("arm7", initial_positions=HOME)
    tool = PoseTask("tool", law="impedance", stiffness=[stiffness, 0.1 * stiffness])  # N/m, Nm/rad
    controller = Controller(robot.model, [tool])
    controller.activate(robot.q, robot.v, robot.time)
    start, _ = controller.pose("tool")
    times, away = [], []
    while robot.time < 5.0:
        if abs(robot.time - 1.5) < 1e-6:
            robot.push("tool", [0.0, 20.0, 0.0, 0.0, 0.0, 0.0], duration=1.0)
        robot.step(controller.tick(robot.q, robot.v, robot.time))
        times.append(robot.time)
        away.append(np.linalg.norm(controller.pose("tool")[0] - start))
    return np.array(times), np.array(away)


def main(picture: str = "") -> dict[float, float]:
    """The largest way that each stiffness [N/m] gives [m]."""
    runs = {stiffness: pushed(stiffness) for stiffness in (200.0, 1000.0)}
    for stiffness, (_, away) in runs.items():
        print(
            f"{stiffness:6.0f} N/m: gives way by {1e3 * away.max():.1f} mm, ends {1e3 * away[-1]:.1f} mm off"
        )
    if picture:
        from matplotlib import pyplot as plt

        for stiffness, (times, away) in runs.items():
            plt.plot(times, 1e3 * away, label=f"{stiffness:.0f} N/m")
        plt.xlabel("time [s]"), plt.ylabel("away from its place [mm]"), plt.legend()
        plt.savefig(picture)
    return {stiffness: float(away.max()) for stiffness, (_, away) in runs.items()}


if __name__ == "__main__":
    main(*sys.argv[1:2])
