# SPDX-License-Identifier: Apache-2.0
"""A shipped parameter file and the same controller written in Python give the same torques, bit for bit."""

from __future__ import annotations

from dataclasses import fields, replace

import numpy as np
import pytest
from helpers.published_arms import published_arm
from helpers.support import load_quietly, urdf_path

from opspace_ctrl import (
    CenterOfMassTask,
    Contact,
    Controller,
    OrientationTask,
    PoseTask,
    Posture,
    Simulator,
    load_robot,
)
from opspace_ctrl.control.options import Compensation, Limits
from opspace_ctrl.control.safety.settings import SafetySettings
from opspace_ctrl.data import shipped_path
from opspace_ctrl.parameter_file import node_parameters
from opspace_ctrl.sim.settings import simulator_settings

TICKS = 400
FRICTION = Compensation(friction=True)


def arm7():
    tool = PoseTask(
        "tool",
        frame="tool",
        law="inertia",
        stiffness=900.0,
        integral=7.0,
        speed=0.5,
        acceleration=2.0,
        angular_speed=1.5,
        angular_acceleration=8.0,
        error_clip=0.02,
        error_clip_angle=0.2,
    )
    model = load_robot("arm7")
    return Controller(
        model,
        [tool],
        Posture(stiffness=50.0),
        joints=[f"joint{i}" for i in range(1, 8)],
        compensation=FRICTION,
        limits=Limits(torque_rate=1000.0),
        safety=SafetySettings(safe_command="damping", last_command="zero", state_timeout=0.02),
    )


def arm7_velocity():
    tool = PoseTask("tool", frame="tool", stiffness=400.0)
    return Controller(
        load_robot("arm7"),
        [tool],
        mode="velocity",
        joints=[f"joint{i}" for i in range(1, 8)],
        limits=Limits(velocity_rate=10.0, velocity_scale=1.0),
    )


def panda():
    hand = PoseTask(
        "hand",
        frame="panda_hand_tcp",
        stiffness=(400.0,),
        integral=4.0,
        speed=0.3,
        acceleration=1.0,
        angular_speed=1.0,
        angular_acceleration=4.0,
        error_clip=0.05,
        error_clip_angle=0.3,
        jump=0.5,
    )
    return Controller(
        load_quietly(urdf_path("panda"), "fixed"),
        [hand],
        Posture(stiffness=30.0),
        joints=[*(f"panda_joint{i}" for i in range(1, 8)), "panda_finger_joint1"],
        limits=Limits(torque_rate=900.0, effort_scale=0.9),
        safety=SafetySettings(safe_command="damping", last_command="zero", position_margin=0.05),
    )


def humanoid(model, trunk, hands, feet, gains, soles, tolerances=(5e-5, 5e-4), **options):
    """Stands on both feet; what asimo and G1 have in common. Tolerances: of com [m] and trunk [rad]."""
    left, right = (
        PoseTask(
            f"{side}_hand",
            frame=frame,
            level=2,
            **gains,
            speed=0.3,
            acceleration=1.0,
            angular_speed=1.0,
            angular_acceleration=3.0,
            error_clip=0.05,
            error_clip_angle=0.3,
        )
        for side, frame in zip(("left", "right"), hands)
    )
    centre = CenterOfMassTask(
        "com",
        level=1,
        stiffness=40.0,
        integral=1.5,
        integral_tolerance=tolerances[0],
        speed=0.1,
        acceleration=0.2,
        error_clip=0.03,
    )
    upright = OrientationTask(
        "trunk",
        frame=trunk,
        level=1,
        stiffness=60.0,
        integral=1.9,
        integral_tolerance_angle=tolerances[1],
        angular_speed=0.5,
        angular_acceleration=1.0,
        error_clip_angle=0.2,
    )
    return Controller(
        model,
        [centre, upright, left, right],
        Posture(stiffness=60.0),
        [
            Contact(f"{side}_foot", frame=frame, friction=0.6, minimum_force=10.0, **soles)
            for side, frame in zip(("left", "right"), feet)
        ],
        internal_forces="balanced",
        limits=Limits(ramp=0.3),
        safety=SafetySettings(safe_command="gravity", last_command="zero"),
        **options,
    )


def asimo():
    hands = {"integral_tolerance": 1e-4, "integral_tolerance_angle": 1.5e-3}
    return humanoid(
        load_robot("asimo"),
        "torso",
        ("", ""),
        ("", ""),
        {"stiffness": 900.0, "integral": 7.0, **hands},
        {"front": 0.13, "back": 0.09, "left": 0.055, "right": 0.055},
        tolerances=(1e-4, 2e-3),
        compensation=FRICTION,
    )


def g1():
    return humanoid(
        load_quietly(urdf_path("g1_29dof_rev_1_0"), "floating"),
        "torso_link",
        ("left_rubber_hand", "right_rubber_hand"),
        ("left_ankle_roll_link", "right_ankle_roll_link"),
        {"stiffness": 200.0, "integral": 2.0},
        {"front": 0.12, "back": 0.05, "left": 0.03, "right": 0.03},
    )


def free_flyer():
    limits = {
        "integral": 7.0,
        "speed": 0.25,
        "acceleration": 0.75,
        "angular_speed": 0.5,
        "angular_acceleration": 1.0,
    }
    return Controller(
        load_robot("free_flyer"),
        [
            PoseTask("left_tool", level=1, stiffness=900.0, **limits),
            PoseTask("right_tool", level=1, stiffness=900.0, **limits),
        ],
        Posture(stiffness=10.0),
        compensation=FRICTION,
        safety=SafetySettings(safe_command="damping", last_command="zero"),
    )


WIDE = (0.05, 0.3)  # error_clip [m] and error_clip_angle [rad] of arms that are light at the wrist


def arm(name, frame, posture, clips=(0.03, 0.2), kp=800.0, integral=5.0, **limits):
    """The files of arms are alike."""
    numbers = {
        "stiffness": kp,
        "integral": integral,
        "speed": 0.25,
        "acceleration": 1.0,
        "angular_speed": 0.8,
        "angular_acceleration": 4.0,
        "error_clip": clips[0],
        "error_clip_angle": clips[1],
        "jump": 0.5,
    }
    frames = {"tool": frame} if isinstance(frame, str) else frame
    model = published_arm(name)
    return Controller(
        model,
        [PoseTask(task, frame=each, **numbers) for task, each in frames.items()],
        Posture(positions=posture, stiffness=50.0),
        joints=model.joint_names,
        compensation=FRICTION,
        limits=Limits(effort_scale=0.9, **limits),
        safety=SafetySettings(safe_command="damping", last_command="zero"),
    )


def fr3():
    posture = [0.0, -0.7854, 0.0, -2.3562, 0.0, 1.5708, 0.7854]
    return arm("fr3", "fr3_hand_tcp", posture, WIDE, torque_rate=900.0)


UR_HOME = [0.0, -1.5708, 1.5708, -1.5708, -1.5708, 0.0]


def ur5e():
    return arm("ur5e", "tool0", UR_HOME, kp=400.0, integral=4.0)


def two_arms():
    frames = {"left_tool": "left_tool0", "right_tool": "right_tool0"}
    return arm("two_arms", frames, 2 * UR_HOME, kp=400.0, integral=4.0)


def iiwa14():
    return arm("iiwa14", "lbr_link_ee", [0.0, 0.5, 0.0, -1.3, 0.0, 1.3, 0.0])


def gen3():
    posture = [0.0, 0.2618, 3.1416, -2.2689, 0.0, 0.9599, 1.5708]
    return arm("gen3", "end_effector_link", posture, WIDE)


def openarm():
    posture = [0.3, 0.3, 0.0, 1.5, 0.0, 0.0, 0.0]
    return arm("openarm", "openarm_right_hand_tcp", posture, WIDE)


CASES = {
    each.__name__: each
    for each in (
        arm7,
        arm7_velocity,
        panda,
        asimo,
        g1,
        free_flyer,
        fr3,
        ur5e,
        two_arms,
        iiwa14,
        gen3,
        openarm,
    )
}
# no controllers of ours; two namespaces, which test_config.py compares with ur5e.yaml
OTHERS = {"arm7_controllers", "faults_example", "task_frames", "two_namespaces"}


def test_every_shipped_file_of_a_controller_is_compared():
    shipped = {path.stem for path in shipped_path("config", "arm7.yaml").parent.glob("*.yaml")}
    assert shipped == {*CASES, *OTHERS}


@pytest.mark.parametrize("name", CASES)
def test_the_file_and_the_same_in_python_give_bit_identical_ticks(name):
    mine = CASES[name]()
    # those that name a robot are also loaded by it
    model = None if name in ("arm7", "arm7_velocity", "asimo", "free_flyer") else mine.model
    of_file = Controller.from_file(f"{name}.yaml", model)
    for each in fields(mine.settings):
        if each.name not in ("robot", "node"):
            assert getattr(mine.settings, each.name) == getattr(of_file.settings, each.name)
    # auto decides by a timing, and what is measured of a robot at the start is measured by the method
    chosen = mine.method
    mine, of_file = (
        Controller.from_settings(each.model, replace(each.settings, method=chosen))
        for each in (mine, of_file)
    )
    values = node_parameters(shipped_path("config", f"{name}.yaml"), "opspace_simulator")
    robot, rng = (
        Simulator.from_settings(mine.model, simulator_settings(values)),
        np.random.default_rng(1),
    )
    for controller in (mine, of_file):
        controller.activate(robot.q, robot.v, robot.time)
    for k in range(TICKS):
        if k % 100 == 20:
            for task in mine.task_names:
                position, quaternion = mine.pose(task)
                goal = position + 0.02 * rng.normal(size=3)
                for controller in (mine, of_file):
                    controller.target_pose(task, goal, quaternion, robot.time)
        if k == 250:
            for controller in (mine, of_file):
                controller.target_twist(
                    mine.task_names[-1], [0.02, 0.01, 0.0, 0.0, 0.0, 0.1], robot.time
                )
        tau = mine.tick(robot.q, robot.v, robot.time)
        assert tau.tobytes() == of_file.tick(robot.q, robot.v, robot.time).tobytes(), k
        robot.step(tau if mine.settings.commands == "effort" else robot.servo(tau))
    assert np.abs(tau).max() > 0.0
    for kind in ("gravity", "damping"):
        safe = mine.safe_command(kind, robot.q, robot.v)
        assert safe.tobytes() == of_file.safe_command(kind, robot.q, robot.v).tobytes()
