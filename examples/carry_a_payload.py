# SPDX-License-Identifier: Apache-2.0
"""Pick up one kilogram: what the tool sags without telling the controller, and with it."""

from dataclasses import replace

import numpy as np

from opspace_ctrl import Controller, PoseTask, Simulator
from opspace_ctrl.control.options import Payload


def sag(told: bool) -> float:
    """How far below its target the tool rests [m] with a load of 1 kg."""
    robot = Simulator("arm7", initial_positions=[0.0, 0.35, 0.0, 1.55, 0.0, 1.24, 0.0])
    controller = Controller(robot.model, [PoseTask("tool", stiffness=400.0)])
    controller.activate(robot.q, robot.v, robot.time)
    robot.push("tool", [0.0, 0.0, -9.81, 0.0, 0.0, 0.0], duration=np.inf)  # the load's weight
    if told:
        controller.apply(replace(controller.settings, payload=Payload(mass=1.0, frame="tool")))
    while robot.time < 4.0:
        robot.step(controller.tick(robot.q, robot.v, robot.time))
    return float(controller.error("tool")[2])


def main() -> tuple[float, float]:
    """Sag without and with the payload [m]."""
    found = sag(told=False), sag(told=True)
    print(
        f"the tool sags by {1e3 * found[0]:.2f} mm; by {1e3 * found[1]:.2f} mm if the payload is known"
    )
    return found


if __name__ == "__main__":
    main()
