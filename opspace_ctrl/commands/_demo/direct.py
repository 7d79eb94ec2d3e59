# SPDX-License-Identifier: Apache-2.0
"""The demo in one process, without ROS: the same controller, the same simulated robot, the same settings."""

from collections.abc import Callable
from time import perf_counter

import numpy as np

from opspace_ctrl import Controller, Simulator, frame_pose

from ...parameter_file import node_parameters
from ...sim.settings import simulator_settings
from .._interrupt import Interruption
from .record import Record
from .scenario import Scenario, waypoints

__all__ = ["DELAY", "follow"]

DELAY = "computation"
SIMULATOR = "opspace_simulator"
LEAD = 1.5  # [s] of standing still before the figure begins: the controller's ramp
SHOWN_EVERY = 0.2  # [s] simulated


def follow(scenario: Scenario, show: Callable[[Record], None], stop: Interruption) -> Record | None:
    """Run the scenario; `show` gets the newest rows from time to time. None if it was interrupted."""
    record = None
    with stop.ending_at_once():  # it may compile for minutes
        record = _followed(scenario, show)
    return record


def _followed(scenario: Scenario, show: Callable[[Record], None]) -> Record:
    robot = Simulator.from_settings(
        scenario.load(), simulator_settings(node_parameters(scenario.parameters, SIMULATOR))
    )
    controller = Controller.from_file(scenario.parameters, robot.model)
    controller.prepare()
    centre = scenario.place(robot.model, robot.q)
    _, quaternion = frame_pose(robot.model, robot.q, scenario.moved_frame)
    residuals: list[float] = []
    rows: list[tuple] = []  # time of the figure [s], state, efforts, computing time [us], when [s]

    def record(last: int = 0) -> Record:
        """All rows, or the last few."""
        time, q, torque, delay, wall = (np.array(column) for column in zip(*rows[-last:]))
        return Record(scenario, robot.model, time, q, torque, delay, wall, centre, tuple(residuals))

    controller.method = scenario.methods[0]
    controller.activate(robot.q, robot.v, robot.time)
    times, positions, velocities = waypoints(scenario, centre)
    controller.trajectory(
        scenario.task,
        LEAD + times,
        positions,
        np.tile(quaternion, (len(times), 1)),
        0.0,
        twists=np.hstack([velocities, np.zeros_like(velocities)]),
    )
    step, begin = robot.settings.step, LEAD + scenario.lap
    steps, every = round((begin + scenario.seconds) / step), round(SHOWN_EVERY / step)
    for k in range(steps):
        time = robot.time - begin
        if controller.method != scenario.method_at(time):
            controller.method = scenario.method_at(time)
        if scenario.is_pushed(time) and not scenario.is_pushed(time - step):
            wrench = np.concatenate([scenario.push, np.zeros(3)])
            robot.push(scenario.moved_frame, wrench, scenario.push_end - scenario.push_start)
        start = perf_counter()
        command = controller.tick(robot.q, robot.v, robot.time)
        delay = 1e6 * (perf_counter() - start)
        torque = command if controller.settings.commands == "effort" else robot.servo(command)
        if controller.switches > 1 + len(residuals):  # the first was before the figure
            residuals.append(controller.method_residual)
        rows.append((time, robot.q.copy(), torque.copy(), delay, start))
        robot.step(torque)
        if k % every == 0:
            show(record(last=500))
    return record().figure_only()
