# SPDX-License-Identifier: Apache-2.0
"""Which stiffness survives 2 ms of delay? A step of 2 cm for several, with the efforts two milliseconds late.

Run it with the name of a picture, such as delay.png.
"""

import sys
from collections import deque

import numpy as np

from opspace_ctrl import Controller, PositionTask, Simulator


def step_response(stiffness: float, delay: int = 2) -> np.ndarray:
    """Distance from the target [m] over two seconds; delay in ticks of 1 ms."""
    robot = Simulator("arm7", initial_positions=[0.0, 0.35, 0.0, 1.55, 0.0, 1.24, 0.0])
    fast = {"speed": 100.0, "acceleration": 1e4, "error_clip": 1.0}  # a step, not a motion
    controller = Controller(robot.model, [PositionTask("tool", stiffness=stiffness, **fast)])
    controller.activate(robot.q, robot.v, robot.time)
    goal = controller.pose("tool")[0] + [0.0, 0.02, 0.0]
    late = deque([controller.tick(robot.q, robot.v, robot.time).copy()] * delay)
    error = []
    while robot.time < 3.5:
        if abs(robot.time - 1.5) < 1e-6:
            controller.target_pose("tool", goal, None, robot.time)
        late.append(controller.tick(robot.q, robot.v, robot.time).copy())
        robot.step(late.popleft())
        error.append(np.linalg.norm(goal - controller.pose("tool")[0]))
    return np.array(error[1500:])


def main(picture: str = "") -> dict[float, float]:
    """{stiffness [1/s^2]: swing in the last half second [m]}."""
    runs = {k: step_response(k) for k in (100.0, 800.0, 40000.0)}
    for k, error in runs.items():
        print(f"{k:7.0f} 1/s^2: swing at the end {1e3 * np.ptp(error[-500:]):.3f} mm")
    if picture:
        from matplotlib import pyplot as plt

        for k, error in runs.items():
            plt.plot(1e-3 * np.arange(len(error)), 1e3 * error, label=f"{k:.0f} 1/s^2")
        plt.xlabel("time [s]"), plt.ylabel("error [mm]"), plt.legend(), plt.savefig(picture)
    return {k: float(np.ptp(error[-500:])) for k, error in runs.items()}


if __name__ == "__main__":
    main(*sys.argv[1:2])
