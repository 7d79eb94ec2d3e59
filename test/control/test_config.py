# SPDX-License-Identifier: Apache-2.0
"""Each shipped parameter file: it loads, fits its robot, holds it, and moves it where it should."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import numpy as np
import pytest
from helpers.published_arms import published_arm
from helpers.support import load_quietly, urdf_path

from opspace_ctrl import frame_pose, load_robot
from opspace_ctrl.control.controller import Controller
from opspace_ctrl.control.settings import controller_settings
from opspace_ctrl.data import shipped_path
from opspace_ctrl.errors import ParameterFileError
from opspace_ctrl.osim import methods
from opspace_ctrl.parameter_file import node_parameters
from opspace_ctrl.parameters import checked
from opspace_ctrl.sim.settings import SIMULATOR_TABLE, simulator_settings
from opspace_ctrl.sim.simulator import Simulator

SHIPPED = {
    "arm7": None,
    "asimo": None,
    "free_flyer": None,
    "panda": "panda",
    "g1": "g1_29dof_rev_1_0",
}
ARMS = ("fr3", "ur5e", "iiwa14", "gen3", "openarm", "two_arms")  # on models of `published_arms`
SHIPPED |= dict.fromkeys(ARMS)
STANDING = ("asimo", "g1")
# [N] on the tool, three seconds long
PUSHED = dict.fromkeys(("arm7", "panda", "fr3", "ur5e", "iiwa14", "gen3"), 10.0) | {"openarm": 5.0}
FRAME = {
    "arm7": "tool",
    "free_flyer": "left_tool",
    "panda": "panda_hand_tcp",
    "asimo": "left_hand",
    "g1": "left_rubber_hand",
    "fr3": "fr3_hand_tcp",
    "ur5e": "tool0",
    "iiwa14": "lbr_link_ee",
    "gen3": "end_effector_link",
    "openarm": "openarm_right_hand_tcp",
    "two_arms": "left_tool0",
}
TASK = {
    "arm7": "tool",
    "free_flyer": "left_tool",
    "panda": "hand",
    "asimo": "left_hand",
    "g1": "left_hand",
    **dict.fromkeys(ARMS, "tool"),
    "two_arms": "left_tool",
}


@cache
def parameters(name, node):
    return node_parameters(shipped_path("config", f"{name}.yaml"), node)


@cache
def model_of(name):
    if name in ARMS:
        return published_arm(name)
    base = parameters(name, "opspace_controller").get("base", "fixed")
    return (
        load_robot(name) if SHIPPED[name] is None else load_quietly(urdf_path(SHIPPED[name]), base)
    )


def loop_of(name, **changes):
    """The shipped controller on the shipped simulation."""
    model, given = (
        model_of(name),
        {**parameters(name, "opspace_controller"), "method": "sparse_ltdl", **changes},
    )
    simulation = checked(SIMULATOR_TABLE, parameters(name, "opspace_simulator"))
    simulator = Simulator.from_settings(model, simulator_settings(simulation))
    controller = Controller.from_settings(model, controller_settings(given))
    controller.activate(simulator.q.copy(), simulator.v.copy(), simulator.time)
    return controller, simulator


def run(controller, simulator, seconds):
    order = [controller.joints.index(name) for name in controller.model.joint_names]
    margins = np.inf
    for _ in range(round(seconds / simulator.settings.step)):
        simulator.step(controller.tick(simulator.q, simulator.v, simulator.time)[order])
        if controller.report.contacts:
            margins = min(margins, controller.report.law.worst_margin)
    return margins


def test_every_controller_file_is_tested():
    files = {
        path.stem
        for path in Path(shipped_path("config", "arm7.yaml")).parent.glob("*.yaml")
        if "opspace_controller:" in path.read_text()
    }
    assert files == {*SHIPPED, "two_namespaces", "arm7_velocity"}  # the last in test_velocity.py


@pytest.mark.parametrize("side", ["left", "right"])
def test_a_namespace_has_a_controller_of_its_own(side):
    """Each section fits its arm, and is the UR5e's file with other names."""
    path = shipped_path("config", "two_namespaces.yaml")
    given = node_parameters(path, f"/{side}/opspace_controller")
    settings = controller_settings(given)
    settings.check_robot(published_arm("ur5e", f"{side}_"))
    alone = parameters("ur5e", "opspace_controller")
    unprefixed = {
        key: [str(each).removeprefix(f"{side}_") for each in value]
        if key == "joints"
        else value.removeprefix(f"{side}_")
        if key == "tool.frame"
        else value
        for key, value in given.items()
    }
    assert unprefixed == alone
    with pytest.raises(ParameterFileError, match="several namespaces"):
        node_parameters(path, "opspace_controller")


@pytest.mark.parametrize("name", SHIPPED)
def test_a_shipped_file_names_only_what_exists(name):
    settings = controller_settings(parameters(name, "opspace_controller"))
    checked(SIMULATOR_TABLE, parameters(name, "opspace_simulator"))
    assert settings.tasks and settings.mode == "tasks"


@pytest.mark.parametrize("name", SHIPPED)
def test_the_robot_is_held_where_it_starts(name):
    controller, simulator = loop_of(name)
    start = simulator.q.copy()
    run(controller, simulator, 0.5)
    assert np.abs(controller.model.difference(start, simulator.q)).max() < 2e-3
    assert not controller.report.saturated.any() and not controller.report.damped.any()


@pytest.mark.parametrize("name", SHIPPED)
def test_a_hand_is_moved_to_its_target(name):
    controller, simulator = loop_of(name)
    run(controller, simulator, 0.4)
    task, frame = TASK[name], FRAME[name]
    goal = controller.pose(task)[0] + [0.04, 0.02, 0.05]
    controller.target_pose(task, goal, None, simulator.time)
    margin = run(controller, simulator, 1.6)
    assert np.linalg.norm(frame_pose(controller.model, simulator.q, frame)[0] - goal) < 6e-3
    assert np.abs(simulator.v).max() < 0.1
    if name in STANDING:
        assert margin > 0.2 and np.linalg.norm(controller.error("com")[:3]) < 5e-3


@pytest.mark.parametrize("name", SHIPPED)
def test_a_moving_robot_switches_through_all_methods_without_a_bump(name):
    controller, simulator = loop_of(name)
    run(controller, simulator, 0.2)
    goal = controller.pose(TASK[name])[0] + [0.04, 0.02, 0.05]
    controller.target_pose(TASK[name], goal, None, simulator.time)
    run(controller, simulator, 0.2)
    assert controller.methods() == methods(controller.model) and len(controller.methods()) >= 7
    for turn, method in enumerate(controller.methods(), 1):
        run(controller, simulator, 0.02)
        assert np.abs(simulator.v).max() > 1e-3
        controller.method = method
        run(controller, simulator, 0.002)
        assert (controller.method, controller.switches) == (method, turn)
        assert controller.method_residual < 1e-9


@pytest.mark.parametrize("name", STANDING)
def test_a_standing_robot_shifts_its_weight(name):
    controller, simulator = loop_of(name)
    run(controller, simulator, 0.4)
    before = controller.report.contact_wrench[:, 2].copy()
    goal = controller.pose("com")[0] + [0.0, 0.03, 0.0]
    controller.target_pose("com", goal, None, simulator.time)
    margin = run(controller, simulator, 2.0)
    after = controller.report.contact_wrench[:, 2]
    assert controller.pose("com")[0] == pytest.approx(goal, abs=4e-3) and margin > 0.2
    assert after[0] > before[0] + 30.0 and after[1] < before[1] - 30.0
    assert after.sum() == pytest.approx(9.81 * controller.model.total_mass, rel=1e-2)


@pytest.mark.parametrize("name", STANDING)
def test_a_standing_robot_survives_a_push(name):
    controller, simulator = loop_of(name)
    run(controller, simulator, 0.4)
    simulator.push(
        "torso" if name == "asimo" else "torso_link", [15.0, 10.0, 0.0, 0.0, 0.0, 0.0], 0.1
    )
    run(controller, simulator, 2.0)
    assert np.linalg.norm(controller.error("com")[:3]) < 1e-2 and np.abs(simulator.v).max() < 0.1


@pytest.mark.parametrize("axis", range(3))
@pytest.mark.parametrize("name, newtons", PUSHED.items())
def test_an_arm_yields_a_few_centimetres_to_a_push_and_comes_back(name, newtons, axis):
    """It does not swim away: the largest pull of a task, at its `error_clip`, is more than the push."""
    controller, simulator = loop_of(name)
    run(controller, simulator, 0.4)
    push = np.zeros(6)
    push[axis] = newtons
    simulator.push(FRAME[name], push, 3.0)
    for _ in range(30):
        run(controller, simulator, 0.1)
        assert np.linalg.norm(controller.error(TASK[name])[:3]) < 0.06
    run(controller, simulator, 3.0)
    assert np.linalg.norm(controller.error(TASK[name])[:3]) < 2e-4


def test_the_controllers_file_has_the_order_of_the_arm():
    path = shipped_path("config", "arm7_controllers.yaml")
    effort = node_parameters(path, "effort_controller")
    assert effort == {"joints": list(load_robot("arm7").joint_names), "interface_name": "effort"}
    manager = node_parameters(path, "controller_manager")
    assert (
        manager["effort_controller.type"] == "forward_command_controller/ForwardCommandController"
    )
    assert (
        manager["joint_state_broadcaster.type"] == "joint_state_broadcaster/JointStateBroadcaster"
    )
