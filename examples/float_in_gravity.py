# SPDX-License-Identifier: Apache-2.0
"""Gravity compensation only, as on the first power-on: the arm floats, and a push moves it."""

import numpy as np

from opspace_ctrl import Controller, Simulator


def main() -> tuple[float, float]:
    """How far 10 N for half a second move the arm [rad], and how far it drifts in 2 s before the push [rad]."""
    robot = Simulator("arm7", initial_positions=[0.0, 0.35, 0.0, 1.55, 0.0, 1.24, 0.0])
    controller = Controller(robot.model, mode="gravity")
    controller.activate(robot.q, robot.v, robot.time)
    start = robot.q.copy()
    while robot.time < 2.0:
        robot.step(controller.tick(robot.q, robot.v, robot.time))
    drift = float(np.abs(robot.q - start).max())
    robot.push("tool", [0.0, 10.0, 0.0, 0.0, 0.0, 0.0], duration=0.5)
    while robot.time < 4.0:
        robot.step(controller.tick(robot.q, robot.v, robot.time))
    moved = float(np.abs(robot.q - start).max())
    print(f"drift in 2 s: {drift:.1e} rad; a push of 10 N moved it by {moved:.2f} rad")
    return moved, drift


if __name__ == "__main__":
    main()
