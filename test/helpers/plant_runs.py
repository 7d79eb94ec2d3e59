# SPDX-License-Identifier: Apache-2.0
"""Short runs of the shipped arm on its bus, held by a plain joint controller."""

import numpy as np

from opspace_ctrl import bias_forces, load_robot
from opspace_ctrl.sim.plant.faults import load_faults
from opspace_ctrl.sim.plant.plant import Plant
from opspace_ctrl.sim.simulator import Simulator

ARM = load_robot("arm7")
HOME = np.array([0.0, 0.35, 0.0, 1.55, 0.0, 1.24, 0.0])
STIFFNESS = np.array([200.0, 200.0, 100.0, 100.0, 20.0, 10.0, 2.0])


def hold_home(measurement):
    """Efforts that pull the arm to HOME."""
    q, v = measurement.positions, measurement.velocities
    effort = bias_forces(ARM, q, v) + STIFFNESS * (HOME - q) - 0.1 * STIFFNESS * v
    return np.clip(effort, -ARM.effort_limits, ARM.effort_limits)


def make_plant(faults="", **options):
    """The arm, 5 cm or so beside HOME, so that it moves."""
    start = HOME + [0.1, -0.1, 0.1, -0.1, 0.1, -0.1, 0.1]
    simulator = Simulator(ARM, initial_positions=list(start))
    return Plant(simulator, load_faults(faults), **options)


def run(plant, steps, controller=hold_home):
    """The loop of a robot and its controller; (q, v, measured positions, applied efforts), a row a step."""
    rows = []
    for _ in range(steps):
        measured = plant.measure()
        for measurement in measured:
            plant.command(controller(measurement))
        q, v = plant.simulator.q.copy(), plant.simulator.v.copy()
        seen = measured[-1].positions if measured else np.full(7, np.nan)
        plant.step()
        rows.append(np.concatenate([q, v, seen, plant.simulator.tau]))
    return np.array(rows)
