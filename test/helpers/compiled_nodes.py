# SPDX-License-Identifier: Apache-2.0
"""Compiles what the nodes of a live test need before it starts them: nobody waits for a process that compiles."""

from opspace_ctrl.control.controller import Controller
from opspace_ctrl.control.settings import controller_settings
from opspace_ctrl.data import shipped_path
from opspace_ctrl.model import load_robot
from opspace_ctrl.parameter_file import node_parameters
from opspace_ctrl.sim.settings import simulator_settings
from opspace_ctrl.sim.simulator import Simulator


def parameters(robot, node):
    """Those of a shipped robot's file."""
    return node_parameters(shipped_path("config", f"{robot}.yaml"), node)


def compile_simulator(robot):
    simulator = Simulator.from_settings(
        robot, simulator_settings(parameters(robot, "opspace_simulator"))
    )
    simulator.step(simulator.hold())
    simulator.frame_wrench(simulator.model.frame_names[-1])
    return simulator


def compile_controller(robot):
    simulator = compile_simulator(robot)
    controller = Controller.from_settings(
        load_robot(robot), controller_settings(parameters(robot, "opspace_controller"))
    )
    controller.prepare()
    controller.activate(simulator.q, simulator.v, 0.0)
    controller.tick(simulator.q, simulator.v, 0.001)
